/* A stand-in for libcuda that records calls: the functions this project uses, with the signatures of CUDA's header.
 *
 * No GPU: memory is the host's, kernels are not run, the linker makes a file that only begins like machine code. What
 * it does is told by the environment, read at every call:
 *   RECORDING_CUDA_LOG           file that every call is appended to, one line each
 *   RECORDING_CUDA_DEVICES       compute capabilities of the devices, "9.0,8.6"; empty: no device
 *   RECORDING_CUDA_FAIL          "cuMemAlloc=2": the function fails with that status
 *   RECORDING_CUDA_REFUSE_CUBIN  status with which machine code is refused
 *   RECORDING_CUDA_REFUSE_TARGET set: the linker refuses to be told a target
 *   RECORDING_CUDA_INFO          what the linker says of code that it made
 *   RECORDING_CUDA_PARAMS        sizes of a kernel's parameters, "8,4": their bytes are recorded in hexadecimal
 *   RECORDING_CUDA_CAPTURING     set: streams are being captured
 */
#include <stdint.h>

#define RECORDING "RECORDING_CUDA_"
#include "recording.h"

typedef int CUresult;
typedef unsigned long long CUdeviceptr;

static _Thread_local void *current_context;
static int functions;

static const struct { int code; const char *name, *text; } errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};

/* The compute capability of a device, 90 for 9.0; 0 where there is none. */
static int capability(int index) {
    const char *at = setting(RECORDING "DEVICES");
    for (; *at; index--) {
        if (index == 0) return 10 * atoi(at) + atoi(strchr(at, '.') + 1);
        size_t length = strcspn(at, ",");
        at += length + (at[length] == ',');
    }
    return 0;
}

static int device_count(void) {
    int count = 0;
    while (capability(count)) count++;
    return count;
}

static int current_device(void) { return current_context ? (int)((size_t)current_context - 0x100) : -1; }

CUresult cuGetErrorName(CUresult error, const char **text) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == error) return *text = errors[i].name, 0;
    return *text = NULL, 1;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == error) return *text = errors[i].text, 0;
    return *text = NULL, 1;
}

CUresult cuInit(unsigned int flags) {
    record("cuInit %u", flags);
    return injected("cuInit");
}

CUresult cuDeviceGetCount(int *count) {
    *count = device_count();
    return injected("cuDeviceGetCount");
}

CUresult cuDeviceGet(int *device, int ordinal) {
    record("cuDeviceGet %d", ordinal);
    *device = ordinal;
    return injected("cuDeviceGet");
}

CUresult cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 75 ? capability(device) / 10 : attribute == 76 ? capability(device) % 10 : 0;
    return injected("cuDeviceGetAttribute");
}

CUresult cuDeviceGetName(char *name, int length, int device) {
    snprintf(name, (size_t)length, "NVIDIA H200 %d", device);
    return injected("cuDeviceGetName");
}

CUresult cuDevicePrimaryCtxRetain(void **context, int device) {
    record("cuDevicePrimaryCtxRetain %d", device);
    *context = (void *)(size_t)(0x100 + device);
    return injected("cuDevicePrimaryCtxRetain");
}

CUresult cuCtxSetCurrent(void *context) {
    record("cuCtxSetCurrent %p", context);
    if (injected("cuCtxSetCurrent")) return injected("cuCtxSetCurrent");
    current_context = context;
    return 0;
}

CUresult cuCtxGetCurrent(void **context) {
    *context = current_context;
    return injected("cuCtxGetCurrent");
}

CUresult cuCtxSynchronize(void) {
    record("cuCtxSynchronize device %d", current_device());
    return injected("cuCtxSynchronize");
}

/* Code ------------------------------------------------------------------------------------------- */

struct linker {
    char *info, *error;
    size_t info_size, error_size;
    int target;
    char cubin[128];
};

CUresult cuLinkCreate_v2(unsigned int count, int *options, void **values, struct linker **state) {
    struct linker *made = calloc(1, sizeof *made);
    char text[256] = "";
    for (unsigned int i = 0; i < count; i++) {
        size_t at = strlen(text);
        size_t value = (size_t)values[i];
        snprintf(text + at, sizeof text - at, " %d", options[i]);
        if (options[i] == 3) made->info = values[i];
        if (options[i] == 4) made->info_size = value;
        if (options[i] == 5) made->error = values[i];
        if (options[i] == 6) made->error_size = value;
        if (options[i] == 9) made->target = (int)value;
    }
    record("cuLinkCreate options%s target %d device %d", text, made->target, current_device());
    CUresult status = injected("cuLinkCreate");
    if (!status && made->target && *setting(RECORDING "REFUSE_TARGET")) status = 1;
    if (status) {
        free(made);
        return status;
    }
    *state = made;
    return 0;
}

static CUresult complain(struct linker *state, CUresult status) {
    if (status && state->error) snprintf(state->error, state->error_size, "ptxas says no at line 7");
    return status;
}

CUresult cuLinkAddData_v2(struct linker *state, int type, void *data, size_t size, const char *name,
                          unsigned int count, int *options, void **values) {
    int ends = size && ((char *)data)[size - 1] == 0;
    record("cuLinkAddData type %d size %zu %s name %s options %u%s", type, size, ends ? "ended" : "open", name, count,
           options || values ? " given" : "");
    snprintf(state->cubin, sizeof state->cubin, "%cELF machine code of %zu bytes", 0x7f, size);
    return complain(state, injected("cuLinkAddData"));
}

CUresult cuLinkComplete(struct linker *state, void **cubin, size_t *size) {
    record("cuLinkComplete");
    *cubin = state->cubin;
    *size = strlen(state->cubin);
    if (state->info) snprintf(state->info, state->info_size, "%s", setting(RECORDING "INFO"));
    return complain(state, injected("cuLinkComplete"));
}

/* What the linker made goes with it. */
CUresult cuLinkDestroy(struct linker *state) {
    record("cuLinkDestroy");
    memset(state, 0xee, sizeof *state);
    free(state);
    return 0;
}

CUresult cuModuleLoadDataEx(void **module, const void *image, unsigned int count, int *options, void **values) {
    int is_elf = memcmp(image, "\177ELF", 4) == 0;
    int is_ptx = !is_elf && strstr(image, ".version") != NULL;
    record("cuModuleLoadDataEx %s device %d", is_elf ? (const char *)image + 1 : is_ptx ? "PTX" : "unknown",
           current_device());
    CUresult status = injected("cuModuleLoadDataEx");
    if (!status && is_elf) status = atoi(setting(RECORDING "REFUSE_CUBIN"));
    if (!status && !is_elf && !is_ptx) status = 200;
    for (unsigned int i = 0; status && i < count; i++)
        if (options[i] == 5) strcpy(values[i], is_ptx ? "ptxas application ptx input, line 3; error" : "");
    if (!status) *module = (void *)0x1000;
    return status;
}

CUresult cuModuleGetFunction(void **function, void *module, const char *name) {
    record("cuModuleGetFunction %p %s", module, name);
    if (injected("cuModuleGetFunction")) return injected("cuModuleGetFunction");
    *function = (void *)(size_t)(0x2000 + 16 * functions++);
    return 0;
}

CUresult cuFuncSetAttribute(void *function, int attribute, int value) {
    record("cuFuncSetAttribute %p %d %d", function, attribute, value);
    if (value + atoi(setting(RECORDING "OWN_SHARED")) > 227 * 1024) return 1;
    return injected("cuFuncSetAttribute");
}

/* Bytes of shared memory that every kernel has of its own. */
CUresult cuFuncGetAttribute(int *value, int attribute, void *function) {
    record("cuFuncGetAttribute %p %d", function, attribute);
    *value = attribute == 1 ? atoi(setting(RECORDING "OWN_SHARED")) : 0;
    return injected("cuFuncGetAttribute");
}

/* Launching -------------------------------------------------------------------------------------- */

struct config {
    unsigned int grid[3], block[3], shared_bytes;
    void *stream;
    const struct attribute {
        int id;
        char filling[4];
        union {
            char bytes[64];
            int number;
        } value;
    } *attributes;
    unsigned int count;
};

static CUresult launch(const char *name, void *function, const struct config *c, void **parameters, void **extra) {
    record("%s %p grid %u %u %u block %u %u %u shared %u stream %p extra %p device %d", name, function, c->grid[0],
           c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared_bytes, c->stream, (void *)extra,
           current_device());
    for (unsigned int i = 0; i < c->count; i++) {
        const struct attribute *a = &c->attributes[i];
        int rest = 0;
        for (size_t at = sizeof a->value.number; at < sizeof a->value.bytes; at++) rest |= a->value.bytes[at];
        record("attribute %d value %d rest %d", a->id, a->value.number, rest);
    }
    record_parameters(parameters);
    return injected(name);
}

CUresult cuLaunchKernel(void *function, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                        unsigned int by, unsigned int bz, unsigned int shared, void *stream, void **parameters,
                        void **extra) {
    struct config config = {{gx, gy, gz}, {bx, by, bz}, shared, stream, NULL, 0};
    return launch("cuLaunchKernel", function, &config, parameters, extra);
}

CUresult cuLaunchKernelEx(const struct config *config, void *function, void **parameters, void **extra) {
    return launch("cuLaunchKernelEx", function, config, parameters, extra);
}

CUresult cuTensorMapEncodeTiled(void *map, int type, unsigned int rank, void *address, const uint64_t *dims,
                                const uint64_t *strides, const unsigned int *box, const unsigned int *steps,
                                int interleave, int swizzle, int promotion, int fill) {
    char text[512];
    int at = snprintf(text, sizeof text, "rank %u at %p dims", rank, address);
    (void)type, (void)interleave, (void)fill;
    for (unsigned int i = 0; i < rank; i++) at += sprintf(text + at, " %llu", (unsigned long long)dims[i]);
    at += sprintf(text + at, " strides");
    for (unsigned int i = 0; i + 1 < rank; i++) at += sprintf(text + at, " %llu", (unsigned long long)strides[i]);
    at += sprintf(text + at, " box");
    for (unsigned int i = 0; i < rank; i++) at += sprintf(text + at, " %u", box[i]);
    at += sprintf(text + at, " steps");
    for (unsigned int i = 0; i < rank; i++) at += sprintf(text + at, " %u", steps[i]);
    record("cuTensorMapEncodeTiled %s swizzle %d promotion %d", text, swizzle, promotion);
    memset(map, 0, 128);
    return injected("cuTensorMapEncodeTiled");
}

CUresult cuStreamIsCapturing(void *stream, int *status) {
    record("cuStreamIsCapturing %p", stream);
    *status = *setting(RECORDING "CAPTURING") ? 1 : 0;
    return injected("cuStreamIsCapturing");
}

/* Memory ----------------------------------------------------------------------------------------- */

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t size) {
    record("cuMemAlloc %zu device %d", size, current_device());
    if (injected("cuMemAlloc")) return injected("cuMemAlloc");
    *pointer = (CUdeviceptr)(size_t)aligned_alloc(256, (size + 255) / 256 * 256);
    return *pointer ? 0 : 2;
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
    record("cuMemFree");
    free((void *)(size_t)pointer);
    return injected("cuMemFree");
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr target, const void *source, size_t size) {
    record("cuMemcpyHtoD %zu", size);
    if (injected("cuMemcpyHtoD")) return injected("cuMemcpyHtoD");
    memcpy((void *)(size_t)target, source, size);
    return 0;
}

CUresult cuMemcpyDtoH_v2(void *target, CUdeviceptr source, size_t size) {
    record("cuMemcpyDtoH %zu", size);
    if (injected("cuMemcpyDtoH")) return injected("cuMemcpyDtoH");
    memcpy(target, (void *)(size_t)source, size);
    return 0;
}

/* The number of the device is in bits 40 and up of a pointer. */
CUresult cuPointerGetAttribute(void *data, int attribute, CUdeviceptr pointer) {
    record("cuPointerGetAttribute %d", attribute);
    *(int *)data = (int)(pointer >> 40 & 7);
    return injected("cuPointerGetAttribute");
}

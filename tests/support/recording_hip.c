/* A stand-in for libamdhip64 that records calls: the functions this project uses, with the signatures of HIP's header.
 *
 * No GPU: memory is the host's, kernels are not run. What it does is told by the environment, read at every call:
 *   RECORDING_HIP_LOG      file that every call is appended to, one line each
 *   RECORDING_HIP_DEVICES  architectures of the devices, "gfx942,gfx950"; empty: no device
 *   RECORDING_HIP_FAIL     "hipMalloc=2": the function fails with that status
 *   RECORDING_HIP_PARAMS   sizes of a kernel's parameters, "8,4": their bytes are recorded in hexadecimal
 */
#define RECORDING "RECORDING_HIP_"
#include "recording.h"

typedef int hipError_t;
typedef int hipDevice_t;
typedef void *hipModule_t, *hipFunction_t, *hipStream_t;
typedef int hipMemcpyKind;
typedef int hipStreamCaptureStatus;

static _Thread_local int current_device;
static int functions;

static const struct { int code; const char *name, *text; } errors[] = {
    {0, "hipSuccess", "no error"},
    {1, "hipErrorInvalidValue", "invalid argument"},
    {2, "hipErrorOutOfMemory", "out of memory"},
    {3, "hipErrorNotInitialized", "initialization error"},
    {100, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {101, "hipErrorInvalidDevice", "invalid device ordinal"},
    {200, "hipErrorInvalidImage", "device kernel image is invalid"},
    {209, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"},
    {500, "hipErrorNotFound", "named symbol not found"},
    {700, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {719, "hipErrorLaunchFailure", "unspecified launch failure"},
};

static int device_arch(int index, char *out, size_t size) {
    const char *at = setting(RECORDING "DEVICES");
    for (; *at; index--) {
        size_t length = strcspn(at, ",");
        if (index == 0) {
            snprintf(out, size, "%.*s", (int)length, at);
            return 1;
        }
        at += length + (at[length] == ',');
    }
    return 0;
}

static int device_count(void) {
    char arch[64];
    int count = 0;
    while (device_arch(count, arch, sizeof arch)) count++;
    return count;
}

const char *hipGetErrorName(hipError_t error) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == error) return errors[i].name;
    return "hipErrorUnknown";
}

const char *hipGetErrorString(hipError_t error) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == error) return errors[i].text;
    return "unknown error";
}

hipError_t hipInit(unsigned int flags) {
    record("hipInit %u", flags);
    return injected("hipInit");
}

hipError_t hipGetDeviceCount(int *count) {
    *count = device_count();
    record("hipGetDeviceCount -> %d", *count);
    if (injected("hipGetDeviceCount")) return injected("hipGetDeviceCount");
    return *count ? 0 : 100;
}

hipError_t hipGetDevice(int *device) {
    *device = current_device;
    record("hipGetDevice -> %d", current_device);
    return injected("hipGetDevice");
}

hipError_t hipSetDevice(int device) {
    record("hipSetDevice %d", device);
    if (injected("hipSetDevice")) return injected("hipSetDevice");
    if (device < 0 || device >= device_count()) return 101;
    current_device = device;
    return 0;
}

/* Only the place of gcnArchName matters; the rest of hipDeviceProp_tR0600 stays zero but for the name at its start. */
hipError_t hipGetDevicePropertiesR0600(void *properties, int device) {
    char arch[64];
    record("hipGetDeviceProperties %d", device);
    if (injected("hipGetDeviceProperties")) return injected("hipGetDeviceProperties");
    if (!device_arch(device, arch, sizeof arch)) return 101;
    memset(properties, 0, 1472);
    strcpy((char *)properties, "AMD Instinct");
    snprintf((char *)properties + 1160, 256, "%s:sramecc+:xnack-", arch);
    return 0;
}

hipError_t hipDeviceGetName(char *name, int length, hipDevice_t device) {
    record("hipDeviceGetName %d", device);
    snprintf(name, (size_t)length, "AMD Instinct %d", device);
    return injected("hipDeviceGetName");
}

hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
    int is_elf = memcmp(image, "\177ELF", 4) == 0;
    record("hipModuleLoadData %s", is_elf ? "ELF" : "unknown");
    if (injected("hipModuleLoadData")) return injected("hipModuleLoadData");
    if (!is_elf) return 200;
    *module = (void *)0x1000;
    return 0;
}

hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name) {
    record("hipModuleGetFunction %p %s", module, name);
    if (injected("hipModuleGetFunction")) return injected("hipModuleGetFunction");
    *function = (void *)(size_t)(0x2000 + 16 * functions++);
    return 0;
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                 unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                 unsigned int shared_bytes, hipStream_t stream, void **parameters, void **extra) {
    record("hipModuleLaunchKernel %p grid %u %u %u block %u %u %u shared %u stream %p extra %p device %d", function,
           grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, (void *)extra, current_device);
    record_parameters(parameters);
    return injected("hipModuleLaunchKernel");
}

hipError_t hipMalloc(void **pointer, size_t size) {
    record("hipMalloc %zu device %d", size, current_device);
    if (injected("hipMalloc")) return injected("hipMalloc");
    *pointer = aligned_alloc(256, (size + 255) / 256 * 256);
    return *pointer ? 0 : 2;
}

hipError_t hipFree(void *pointer) {
    record("hipFree");
    free(pointer);
    return injected("hipFree");
}

hipError_t hipMemcpy(void *target, const void *source, size_t size, hipMemcpyKind kind) {
    record("hipMemcpy %zu kind %d", size, kind);
    if (injected("hipMemcpy")) return injected("hipMemcpy");
    memcpy(target, source, size);
    return 0;
}

hipError_t hipDeviceSynchronize(void) {
    record("hipDeviceSynchronize device %d", current_device);
    return injected("hipDeviceSynchronize");
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *status) {
    record("hipStreamIsCapturing %p", stream);
    *status = *setting(RECORDING "CAPTURING") ? 1 : 0;
    return injected("hipStreamIsCapturing");
}

/* hipPointerAttribute_t begins with the kind of memory (2 is the device's) and the number of its device. */
hipError_t hipPointerGetAttributes(void *attributes, const void *pointer) {
    record("hipPointerGetAttributes");
    ((int *)attributes)[0] = 2;
    ((int *)attributes)[1] = (int)((size_t)pointer >> 40 & 7);
    return injected("hipPointerGetAttributes");
}

/* Only that it is asked for: a cache-emptying fill of hundreds of megabytes would take its time here. */
hipError_t hipMemsetAsync(void *target, int value, size_t size, hipStream_t stream) {
    record("hipMemsetAsync %zu value %d stream %p%s", size, value, stream, target ? "" : " nowhere");
    return injected("hipMemsetAsync");
}

/* An event remembers how many were recorded before it, so a millisecond passes from each to the next. */
static int events_recorded;

hipError_t hipEventCreateWithFlags(int **event, unsigned int flags) {
    record("hipEventCreateWithFlags %u", flags);
    *event = calloc(1, sizeof **event);
    return injected("hipEventCreateWithFlags");
}

hipError_t hipEventRecord(int *event, hipStream_t stream) {
    record("hipEventRecord stream %p", stream);
    *event = ++events_recorded;
    return injected("hipEventRecord");
}

hipError_t hipEventElapsedTime(float *milliseconds, const int *before, const int *after) {
    record("hipEventElapsedTime");
    *milliseconds = (float)(*after - *before);
    return injected("hipEventElapsedTime");
}

hipError_t hipEventDestroy(int *event) {
    record("hipEventDestroy");
    free(event);
    return 0;
}

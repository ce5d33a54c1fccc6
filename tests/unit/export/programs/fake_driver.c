/* A driver library that prints what it is asked for: CUDA's functions, or HIP's with -DHIP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int kernel;

static int fail(const char *name) {
    const char *wanted = getenv("FAIL");
    return wanted != NULL && strcmp(wanted, name) == 0 ? 700 : 0;
}

static int load(void **module, const void *image) {
    printf("load %.2s\n", (const char *)image + (*(const char *)image == 0x7f));
    *module = &kernel;
    return fail("load");
}

static int get_function(void **function, void *module, const char *name) {
    printf("function %s %s\n", name, module == &kernel ? "of the module" : "of nothing");
    *function = &kernel;
    return fail("function");
}

static int launch(void *function, const unsigned *extents, unsigned shared, void *stream, void **arguments) {
    printf("launch %d grid %u %u %u block %u %u %u shared %u stream %p first %.1f\n", function == &kernel, extents[0],
        extents[1], extents[2], extents[3], extents[4], extents[5], shared, stream, **(float **)arguments[0]);
    return fail("launch");
}

#ifdef HIP
static int device = 3;
int hipInit(unsigned flags) { return (int)flags; }
int hipGetDevice(int *found) { return *found = device, 0; }
int hipSetDevice(int wanted) {
    printf("device %d\n", wanted);
    device = wanted;
    return wanted > 8 ? 101 : 0;
}
int hipModuleLoadData(void **module, const void *image) { return load(module, image); }
int hipModuleUnload(void *module) { return printf("unload %d\n", module == &kernel), 0; }
int hipModuleGetFunction(void **function, void *module, const char *name) { return get_function(function, module, name); }
int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
    unsigned shared, void *stream, void **arguments, void **extra) {
    unsigned extents[6] = {gx, gy, gz, bx, by, bz};
    return extra != NULL ? 1 : launch(function, extents, shared, stream, arguments);
}
const char *hipGetErrorName(int code) { return code == 700 ? "hipErrorIllegalAddress" : "hipErrorOther"; }
const char *hipGetErrorString(int code) { return code == 700 ? "an illegal access" : "something else"; }
#else
static int context;
static void *current;
int cuInit(unsigned flags) { return (int)flags; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, ordinal > 8 ? 101 : 0; }
int cuDevicePrimaryCtxRetain(void **found, int device) { return printf("retain %d\n", device), *found = &context, 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { return printf("release %d\n", device), 0; }
int cuCtxGetCurrent(void **found) { return *found = current, 0; }
int cuCtxPushCurrent_v2(void *wanted) { return printf("push\n"), current = wanted, 0; }
int cuCtxPopCurrent_v2(void **popped) { return printf("pop\n"), *popped = current, current = NULL, 0; }
int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
    if (count == 2 && options[0] == 5)
        strcpy(values[0], "what ptxas says");
    return load(module, image);
}
int cuModuleUnload(void *module) { return printf("unload %d\n", module == &kernel), 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) { return get_function(function, module, name); }
int cuFuncSetAttribute(void *function, int attribute, int value) {
    return printf("attribute %d %d of %d\n", attribute, value, function == &kernel), 0;
}
int cuFuncGetAttribute(int *value, int attribute, void *function) {
    return printf("read attribute %d of %d\n", attribute, function == &kernel), *value = 0, 0;
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
    unsigned shared, void *stream, void **arguments, void **extra) {
    unsigned extents[6] = {gx, gy, gz, bx, by, bz};
    return extra != NULL ? 1 : launch(function, extents, shared, stream, arguments);
}
struct launch_attribute {
    int id, filling;
    union {
        long long words[8];
        int number;
    } value;
};
struct launch_config {
    unsigned extents[6], shared;
    void *stream;
    struct launch_attribute *attributes;
    unsigned count;
};
int cuLaunchKernelEx(const struct launch_config *config, void *function, void **arguments, void **extra) {
    for (unsigned i = 0; i < config->count; i++)
        printf("with attribute %d = %d\n", config->attributes[i].id, config->attributes[i].value.number);
    return extra != NULL ? 1 : launch(function, config->extents, config->shared, config->stream, arguments);
}
int cuGetErrorName(int code, const char **text) { return *text = code == 700 ? "CUDA_ERROR_ILLEGAL" : "CUDA_ERROR", 0; }
int cuGetErrorString(int code, const char **text) { return *text = code == 700 ? "an illegal access" : "other", 0; }
#endif

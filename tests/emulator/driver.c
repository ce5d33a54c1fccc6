/* A stand-in for libamdhip64 whose kernels run: memory and launches are asked of functions that the emulator gives. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef int hipError_t;

struct hooks {
    void *(*allocate)(size_t size);
    void (*release)(void *pointer);
    void *(*load)(const void *image);
    void *(*function)(void *module, const char *name);
    int (*launch)(void *function, const unsigned *grid_and_block, unsigned shared_bytes, void **parameters);
};
static struct hooks hooks;
static char arch[64];

void emulator_install(const struct hooks *given, const char *name) {
    hooks = *given;
    snprintf(arch, sizeof arch, "%s", name);
}

const char *hipGetErrorName(hipError_t error) { return error ? "hipErrorLaunchFailure" : "hipSuccess"; }
const char *hipGetErrorString(hipError_t error) { return error ? "the emulator found a fault" : "no error"; }
hipError_t hipInit(unsigned flags) { return (int)(flags & 0); }
hipError_t hipGetDeviceCount(int *count) { *count = 1; return 0; }
hipError_t hipGetDevice(int *device) { *device = 0; return 0; }
hipError_t hipSetDevice(int device) { return device ? 101 : 0; }

hipError_t hipGetDevicePropertiesR0600(void *properties, int device) {
    memset(properties, 0, 1472);
    snprintf((char *)properties + 1160, 256, "%s:sramecc+:xnack-", arch);
    return device ? 101 : 0;
}

hipError_t hipDeviceGetName(char *name, int length, int device) {
    snprintf(name, (size_t)length, "emulated %s", arch);
    return device ? 101 : 0;
}

hipError_t hipModuleLoadData(void **module, const void *image) {
    *module = hooks.load(image);
    return *module ? 0 : 200;
}

hipError_t hipModuleGetFunction(void **function, void *module, const char *name) {
    *function = hooks.function(module, name);
    return *function ? 0 : 500;
}

hipError_t hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,
                                 void **parameters, void **extra) {
    const unsigned sizes[6] = {grid_x, grid_y, grid_z, block_x, block_y, block_z};
    (void)stream;
    return extra ? 1 : hooks.launch(function, sizes, shared_bytes, parameters);
}

hipError_t hipMalloc(void **pointer, size_t size) {
    *pointer = hooks.allocate(size);
    return *pointer ? 0 : 2;
}

hipError_t hipExtMallocWithFlags(void **pointer, size_t size, unsigned flags) {
    (void)flags;
    return hipMalloc(pointer, size);
}

hipError_t hipFree(void *pointer) {
    if (pointer) hooks.release(pointer);
    return 0;
}

hipError_t hipMemcpy(void *target, const void *source, size_t size, int kind) {
    memcpy(target, source, size);
    return kind < 0;
}

hipError_t hipMemsetAsync(void *target, int value, size_t size, void *stream) {
    memset(target, value, size);
    return stream == (void *)1;
}

hipError_t hipDeviceSynchronize(void) { return 0; }
hipError_t hipStreamSynchronize(void *stream) { return stream == (void *)1; }

hipError_t hipStreamIsCapturing(void *stream, int *status) {
    *status = 0;
    return stream == (void *)1;
}

hipError_t hipPointerGetAttributes(void *attributes, const void *pointer) {
    ((int *)attributes)[0] = 2;
    ((int *)attributes)[1] = 0;
    return pointer == NULL;
}

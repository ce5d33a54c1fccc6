/* An NVIDIA GPU, through the driver library alone. It is opened at run time: nothing of CUDA is needed to build this. */

enum { OWN_SHARED = 1, MAX_DYNAMIC_SHARED = 8, LARGE_CLUSTERS = 14, JIT_ERROR_LOG = 5, JIT_ERROR_LOG_BYTES = 6 };

struct driver_table {
    int (*cuInit)(unsigned int);
    int (*cuDeviceGet)(int *, int);
    int (*cuDevicePrimaryCtxRetain)(void **, int);
    int (*cuDevicePrimaryCtxRelease_v2)(int);
    int (*cuCtxGetCurrent)(void **);
    int (*cuCtxPushCurrent_v2)(void *);
    int (*cuCtxPopCurrent_v2)(void **);
    int (*cuModuleLoadDataEx)(void **, const void *, unsigned int, int *, void **);
    int (*cuModuleUnload)(void *);
    int (*cuModuleGetFunction)(void **, void *, const char *);
    int (*cuFuncSetAttribute)(void *, int, int);
    int (*cuFuncGetAttribute)(int *, int, void *);
    int (*cuLaunchKernel)(void);
    int (*cuGetErrorName)(int, const char **);
    int (*cuGetErrorString)(int, const char **);
#ifdef TENSOR_MAP_ENCODE
    int (*cuTensorMapEncodeTiled)(void);
#endif
#ifdef DRIVER_LAUNCH_EX
    int (*cuLaunchKernelEx)(void);
#endif
};

static struct driver_table driver;

static const struct entry driver_entries[] = {
    ENTRY(cuInit),
    ENTRY(cuDeviceGet),
    ENTRY(cuDevicePrimaryCtxRetain),
    ENTRY(cuDevicePrimaryCtxRelease_v2),
    ENTRY(cuCtxGetCurrent),
    ENTRY(cuCtxPushCurrent_v2),
    ENTRY(cuCtxPopCurrent_v2),
    ENTRY(cuModuleLoadDataEx),
    ENTRY(cuModuleUnload),
    ENTRY(cuModuleGetFunction),
    ENTRY(cuFuncSetAttribute),
    ENTRY(cuFuncGetAttribute),
    ENTRY(cuLaunchKernel),
    ENTRY(cuGetErrorName),
    ENTRY(cuGetErrorString),
#ifdef TENSOR_MAP_ENCODE
    ENTRY(cuTensorMapEncodeTiled),
#endif
#ifdef DRIVER_LAUNCH_EX
    ENTRY(cuLaunchKernelEx),
#endif
};

static const char *const driver_libraries[] = {"libcuda.so.1", "libcuda.so"};

static int device_handle;
static void *context;
static void *module;
static _Thread_local int pushed;

static void explain_driver(int32_t code) {
    const char *name = NULL, *meaning = NULL;
    if (driver.cuGetErrorName == NULL || driver.cuGetErrorName(code, &name) != 0)
        name = "unknown error";
    if (driver.cuGetErrorString == NULL || driver.cuGetErrorString(code, &meaning) != 0)
        meaning = "";
    snprintf(text, sizeof text, "the driver says %s: %s (%d)", name, meaning, (int)code);
}

static int32_t device_enter(void) {
    void *current = NULL;
    int code = driver.cuCtxGetCurrent(&current);
    pushed = 0;
    if (code == 0 && current != context) {
        code = driver.cuCtxPushCurrent_v2(context);
        pushed = code == 0;
    }
    return failed_driver(code);
}

static void device_leave(void) {
    void *popped;
    if (pushed)
        driver.cuCtxPopCurrent_v2(&popped);
    pushed = 0;
}

static int32_t load_image(void) {
    static char log[4096];
    int options[2] = {JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES};
    void *values[2] = {log, (void *)(uintptr_t)sizeof log};
    int code = driver.cuModuleLoadDataEx(&module, image, 2, options, values);
    if (code != 0) {
        int32_t status = failed_driver(code);
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "\n%.*s", (int)(sizeof text - length - 2), log);
        return status;
    }
    for (size_t i = 0; i < KERNELS; i++) {
        code = driver.cuModuleGetFunction(kernels[i].handle, module, kernels[i].name);
        if (code != 0)
            return failed_driver(code);
        /* Allowed all the dynamic shared memory there is beside the kernel's own. */
        int own = 0;
        if (driver.cuFuncSetAttribute(*kernels[i].handle, MAX_DYNAMIC_SHARED, SHARED_BYTES) != 0 &&
            driver.cuFuncGetAttribute(&own, OWN_SHARED, *kernels[i].handle) == 0)
            driver.cuFuncSetAttribute(*kernels[i].handle, MAX_DYNAMIC_SHARED, SHARED_BYTES - own);
        /* And clusters of more than eight blocks, which GPUs without clusters do not know. */
        driver.cuFuncSetAttribute(*kernels[i].handle, LARGE_CLUSTERS, 1);
    }
    memcpy(&DRIVER_LAUNCH, &driver.cuLaunchKernel, sizeof DRIVER_LAUNCH);
#ifdef TENSOR_MAP_ENCODE
    memcpy(&TENSOR_MAP_ENCODE, &driver.cuTensorMapEncodeTiled, sizeof TENSOR_MAP_ENCODE);
#endif
#ifdef DRIVER_LAUNCH_EX
    memcpy(&DRIVER_LAUNCH_EX, &driver.cuLaunchKernelEx, sizeof DRIVER_LAUNCH_EX);
#endif
    return 0;
}

static int32_t device_load(int32_t device) {
    int32_t status =
        open_library(&driver, driver_entries, COUNT(driver_entries), driver_libraries, COUNT(driver_libraries));
    if (status != 0)
        return status;
    int code = driver.cuInit(0);
    if (code == 0)
        code = driver.cuDeviceGet(&device_handle, device);
    if (code == 0)
        code = driver.cuDevicePrimaryCtxRetain(&context, device_handle);
    if (code != 0)
        return failed_driver(code);
    status = device_enter();
    if (status == 0)
        status = load_image();
    device_leave();
    if (status != 0)
        driver.cuDevicePrimaryCtxRelease_v2(device_handle);
    return status;
}

static void device_unload(void) {
    if (device_enter() == 0)
        driver.cuModuleUnload(module);
    device_leave();
    driver.cuDevicePrimaryCtxRelease_v2(device_handle);
}

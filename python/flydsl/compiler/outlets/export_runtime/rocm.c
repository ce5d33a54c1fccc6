/* An AMD GPU, through HIP's library. It is opened at run time: nothing of ROCm is needed to build this. */

struct driver_table {
    int (*hipInit)(unsigned int);
    int (*hipGetDevice)(int *);
    int (*hipSetDevice)(int);
    int (*hipModuleLoadData)(void **, const void *);
    int (*hipModuleUnload)(void *);
    int (*hipModuleGetFunction)(void **, void *, const char *);
    int (*hipModuleLaunchKernel)(void);
    const char *(*hipGetErrorName)(int);
    const char *(*hipGetErrorString)(int);
};

static struct driver_table driver;

static const struct entry driver_entries[] = {
    ENTRY(hipInit),
    ENTRY(hipGetDevice),
    ENTRY(hipSetDevice),
    ENTRY(hipModuleLoadData),
    ENTRY(hipModuleUnload),
    ENTRY(hipModuleGetFunction),
    ENTRY(hipModuleLaunchKernel),
    ENTRY(hipGetErrorName),
    ENTRY(hipGetErrorString),
};

static const char *const driver_libraries[] = {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"};

static int device_number;
static void *module;
static _Thread_local int before;

static void explain_driver(int32_t code) {
    const char *name = driver.hipGetErrorName == NULL ? "unknown error" : driver.hipGetErrorName(code);
    const char *meaning = driver.hipGetErrorString == NULL ? "" : driver.hipGetErrorString(code);
    snprintf(text, sizeof text, "the driver says %s: %s (%d)", name, meaning, (int)code);
}

static int32_t device_enter(void) {
    int code = driver.hipGetDevice(&before);
    if (code == 0 && before != device_number)
        code = driver.hipSetDevice(device_number);
    return failed_driver(code);
}

static void device_leave(void) {
    if (before != device_number)
        driver.hipSetDevice(before);
}

static int32_t load_image(void) {
    int code = driver.hipModuleLoadData(&module, image);
    for (size_t i = 0; code == 0 && i < KERNELS; i++)
        code = driver.hipModuleGetFunction(kernels[i].handle, module, kernels[i].name);
    if (code == 0)
        memcpy(&DRIVER_LAUNCH, &driver.hipModuleLaunchKernel, sizeof DRIVER_LAUNCH);
    return failed_driver(code);
}

static int32_t device_load(int32_t device) {
    int32_t status =
        open_library(&driver, driver_entries, COUNT(driver_entries), driver_libraries, COUNT(driver_libraries));
    if (status != 0)
        return status;
    status = failed_driver(driver.hipInit(0));
    if (status != 0)
        return status;
    device_number = device;
    status = device_enter();
    if (status == 0)
        status = load_image();
    device_leave();
    return status;
}

static void device_unload(void) {
    if (device_enter() == 0)
        driver.hipModuleUnload(module);
    device_leave();
}

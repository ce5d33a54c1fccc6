/* Opening a GPU's driver library at run time. */

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ENTRY(name) {#name, offsetof(struct driver_table, name)}

struct entry {
    const char *name;
    size_t offset; /* of the member of the driver's table that has the function's name */
};

static int32_t failed_driver(int code) {
    if (code == 0)
        return 0;
    explain_driver(code);
    text_status = STATUS_DRIVER_BASE + code;
    return text_status;
}

static int32_t device_ready(void) {
    if (loaded_device < 0)
        return refuse(STATUS_NOT_LOADED, "the code is on no device yet: load it first", 0);
    return 0;
}

static int32_t open_library(
    void *table, const struct entry *entries, size_t count, const char *const *libraries, size_t libraries_count) {
    void *library = NULL;
    for (size_t i = 0; library == NULL && i < libraries_count; i++)
        library = dlopen(libraries[i], RTLD_NOW | RTLD_GLOBAL);
    for (size_t i = 0; i < count; i++) {
        void *function = library == NULL ? NULL : dlsym(library, entries[i].name);
        if (function == NULL) {
            snprintf(text, sizeof text, "%s has no %s", library == NULL ? "this machine" : libraries[0],
                library == NULL ? libraries[0] : entries[i].name);
            text_status = STATUS_NO_DRIVER;
            return text_status;
        }
        memcpy((char *)table + entries[i].offset, &function, sizeof function);
    }
    return 0;
}

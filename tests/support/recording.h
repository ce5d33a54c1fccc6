/* What the recording stand-ins for drivers share: their settings, their log, and failures that a test asks for.
 *
 * Included behind RECORDING, the prefix of the variables that a stand-in listens to; what they mean is said there.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *setting(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

static void record(const char *format, ...) {
    const char *path = setting(RECORDING "LOG");
    if (!*path) return;
    FILE *file = fopen(path, "a");
    if (!file) return;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    fputc('\n', file);
    fclose(file);
}

/* The status a function is told to fail with, 0 if it is not. */
static int injected(const char *name) {
    const char *told = setting(RECORDING "FAIL");
    size_t length = strlen(name);
    return strncmp(told, name, length) == 0 && told[length] == '=' ? atoi(told + length + 1) : 0;
}

static void record_parameters(void **parameters) {
    const char *sizes = setting(RECORDING "PARAMS");
    for (int index = 0; *sizes; index++) {
        char text[513] = "";
        size_t size = strtoul(sizes, (char **)&sizes, 10);
        sizes += *sizes == ',';
        for (size_t i = 0; i < size && i < 256; i++)
            snprintf(text + 2 * i, 3, "%02x", ((unsigned char *)parameters[index])[i]);
        record("parameter %d %s", index, text);
    }
}

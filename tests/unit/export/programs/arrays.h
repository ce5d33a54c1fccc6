/* Arrays in files, for the programs of these tests. */
#include <stdio.h>
#include <stdlib.h>

static inline void *read_array(const char *path, size_t bytes) {
    FILE *file = fopen(path, "rb");
    void *data = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (file == NULL || data == NULL || fread(data, 1, bytes, file) != bytes) {
        fprintf(stderr, "cannot read %zu bytes of %s\n", bytes, path);
        exit(2);
    }
    fclose(file);
    return data;
}

static inline void write_array(const char *path, const void *data, size_t bytes) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(2);
    }
}

#define CHECK(name, call)                                                 \
    do {                                                                  \
        int32_t status = (call);                                          \
        if (status != 0) {                                                \
            fprintf(stderr, "%d: %s\n", (int)status, name##_error(status)); \
            return 1;                                                     \
        }                                                                 \
    } while (0)

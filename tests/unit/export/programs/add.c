/* add N: c = a + b over N floats, from a.bin and b.bin to c.bin. */
#include "arrays.h"

#include "add.h"

int main(int count, char **words) {
    (void)count;
    int64_t n = atoll(words[1]);
    size_t bytes = (size_t)n * sizeof(float);
    float *a = read_array("a.bin", bytes), *b = read_array("b.bin", bytes), *c = read_array("c.bin", bytes);
    CHECK(add, add_launch(fly_row_major_1d_f32(a, n), fly_row_major_1d_f32(b, n), fly_row_major_1d_f32(c, n), (int32_t)n, NULL));
    write_array("c.bin", c, bytes);
    return 0;
}

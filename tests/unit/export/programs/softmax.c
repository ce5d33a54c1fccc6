/* softmax ROWS COLUMNS: softmax over the rows of x.bin into y.bin, whose rows lie COLUMNS + 3 apart. */
#include "arrays.h"

#include "row_softmax.h"

int main(int count, char **words) {
    (void)count;
    int64_t rows = atoll(words[1]), columns = atoll(words[2]), pitch = columns + 3;
    float *x = read_array("x.bin", (size_t)(rows * columns) * sizeof *x);
    float *y = read_array("y.bin", (size_t)(rows * pitch) * sizeof *y);
    fly_tensor_2d_f32 out = {y, {rows, columns}, {pitch, 1}};
    CHECK(row_softmax, row_softmax_launch(fly_row_major_2d_f32(x, rows, columns), out, (int32_t)rows, NULL));
    write_array("y.bin", y, (size_t)(rows * pitch) * sizeof *y);
    return 0;
}

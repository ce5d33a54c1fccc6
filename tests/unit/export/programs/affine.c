/* affine N SCALE: y = SCALE * x + shift, where the shift was compiled in; x and y are double. */
#include "arrays.h"

#include "affine.h"

int main(int count, char **words) {
    (void)count;
    int64_t n = atoll(words[1]);
    double *x = read_array("x.bin", (size_t)n * sizeof *x), *y = read_array("y.bin", (size_t)n * sizeof *y);
    affine_options options;
    options.scale = atof(words[2]);
    options.n = n;
    CHECK(affine, affine_launch(fly_row_major_1d_f64(x, n), fly_row_major_1d_f64(y, n), options, NULL));
    write_array("y.bin", y, (size_t)n * sizeof *y);
    return 0;
}

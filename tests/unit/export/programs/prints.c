/* prints: a kernel that prints and calls the C library's mathematics. */
#include "arrays.h"

#include "chatty.h"

int main(void) {
    float x[3] = {0.5f, 1.0f, 2.0f}, y[3] = {0};
    CHECK(chatty, chatty_launch(fly_row_major_1d_f32(x, 3), fly_row_major_1d_f32(y, 3), NULL));
    for (int i = 0; i < 3; i++)
        printf("%.6f\n", (double)y[i]);
    return 0;
}

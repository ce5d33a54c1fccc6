/* refusals: prints what the launcher says about each wrong call; nothing may run or crash. */
#include "arrays.h"

#include "picky.h"

static void show(int32_t status) { printf("%d %s\n", (int)status, picky_error(status)); }

int main(void) {
    float *data = aligned_alloc(64, 4096);
    fly_tensor_2d_f32 good = fly_row_major_2d_f32(data, 4, 8), wrong;
    show(picky_launch(good, 4, 8, NULL));
    wrong = good, wrong.shape[1] = 9;
    show(picky_launch(wrong, 4, 8, NULL));
    wrong = good, wrong.strides[1] = 2;
    show(picky_launch(wrong, 4, 8, NULL));
    wrong = good, wrong.strides[0] = 9;
    show(picky_launch(wrong, 4, 8, NULL));
    wrong = good, wrong.shape[0] = -1;
    show(picky_launch(wrong, 4, 8, NULL));
    wrong = good, wrong.shape[0] = INT64_C(1) << 31;
    show(picky_launch(wrong, 4, 8, NULL));
    wrong = good, wrong.data = NULL;
    show(picky_launch(wrong, 4, 8, NULL));
    wrong = good, wrong.data = data + 1;
    show(picky_launch(wrong, 4, 8, NULL));
    show(picky_launch(good, -1, 8, NULL));
    show(picky_launch(good, 4, 0, NULL));
    show(picky_launch(good, 4, 5000, NULL));
    show(picky_launch(good, 4, 7, NULL)); /* a barrier that one thread does not reach */
    show(picky_load(1));
    show(picky_load(0));
    show(PICKY_BAD_GRID);
    show(77);
    return 0;
}

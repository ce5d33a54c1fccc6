/* gpu DEVICE: launches `add` over 130 elements on a device, before loading it, after, and after unloading. */
#include "arrays.h"

#include "add.h"

static float data[130] = {4.5f};

static void launch(void) {
    fly_tensor_1d_f32 x = fly_row_major_1d_f32(data, 130);
    int32_t status = add_launch(x, x, x, 130, (void *)0x51);
    printf("-> %d %s\n", (int)status, add_error(status));
}

static int32_t load(int32_t device) {
    int32_t status = add_load(device);
    printf("-> %d %s\n", (int)status, add_error(status));
    return status;
}

int main(int count, char **words) {
    (void)count;
    launch();
    if (load(atoi(words[1])) == 0) {
        load(atoi(words[1]));
        load(atoi(words[1]) + 1);
        launch();
        add_unload();
        launch();
    }
    return 0;
}

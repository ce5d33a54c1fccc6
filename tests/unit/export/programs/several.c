/* several N: two exported functions in one program, from four threads at once and then in a forked child. */
#include "arrays.h"

#include "add.h"
#include "affine.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int64_t n;

static int run(void) {
    float *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b), *c = malloc((size_t)n * sizeof *c);
    double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        a[i] = (float)i;
        b[i] = 0.5f;
        x[i] = (double)i;
    }
    for (int turn = 0; turn < 50; turn++) {
        for (int64_t i = 0; i < n; i++) {
            c[i] = -1;
            y[i] = -1;
        }
        affine_options options = {.scale = turn, .n = n};
        CHECK(add, add_launch(fly_row_major_1d_f32(a, n), fly_row_major_1d_f32(b, n), fly_row_major_1d_f32(c, n), (int32_t)n, NULL));
        CHECK(affine, affine_launch(fly_row_major_1d_f64(x, n), fly_row_major_1d_f64(y, n), options, NULL));
        for (int64_t i = 0; i < n; i++)
            if (c[i] != (float)i + 0.5f || y[i] != (double)(turn * i) + 3.0) {
                fprintf(stderr, "element %lld of turn %d is wrong\n", (long long)i, turn);
                return 1;
            }
    }
    free(a), free(b), free(c), free(x), free(y);
    return 0;
}

static void *thread(void *result) {
    *(int *)result = run();
    return NULL;
}

int main(int count, char **words) {
    (void)count;
    n = atoll(words[1]);
    pthread_t threads[4];
    int results[4], bad = 0, state = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, thread, &results[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        bad |= results[i];
    }
    pid_t child = fork();
    if (child == 0)
        _exit(run());
    waitpid(child, &state, 0);
    return bad || !WIFEXITED(state) || WEXITSTATUS(state);
}

/* The host device: kernels run on a thread pool that all exported functions of a program share. */

extern int32_t fly_pool_start(int32_t workers);

/* Weak, so that several exported functions in one program agree on one pool. */
__attribute__((weak)) pthread_once_t fly_pool_once = PTHREAD_ONCE_INIT;
__attribute__((weak)) void fly_pool_begin(void);
__attribute__((weak)) void fly_pool_begin_and_follow_forks(void);

void fly_pool_begin(void) {
    cpu_set_t cores;
    int count = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
    fly_pool_start(count > 1 ? count - 1 : 0);
}

void fly_pool_begin_and_follow_forks(void) {
    fly_pool_begin();
    pthread_atfork(NULL, NULL, fly_pool_begin); /* a forked child has none of the pool's threads */
}

static int32_t device_load(int32_t device) {
    if (device != 0)
        return refuse(STATUS_BAD_ARGUMENT, "there is no host device %lld, only device 0", device);
    pthread_once(&fly_pool_once, fly_pool_begin_and_follow_forks);
    return 0;
}

static void device_unload(void) {}

static int32_t device_ready(void) { return device_load(0); }

static int32_t device_enter(void) { return 0; }

static void device_leave(void) {}

static void explain_driver(int32_t code) { say("the host device has no driver (status %lld)", code); }

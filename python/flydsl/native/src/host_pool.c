/* The thread pool of the host device: runs the workgroups of a launch on all cores.
 *
 * A launch hands out block numbers by an atomic counter, so the caller and every worker take the next chunk as they
 * become free. One launch owns the pool at a time; a launch that finds it taken runs its blocks itself. A status other
 * than 0 stops the launch and is returned.
 *
 * A watchman wakes up every few milliseconds while something runs, and asks for attention: kernels see it in their
 * loops and check in. Who called from Python's main thread lets Python handle its signals then; when a handler raises,
 * or time is up, everyone leaves the kernel at the next check.
 */
#include "native.h"

typedef struct {
    ARRAY char bytes[64]; /* libc's `sem_t` has 32 */
} Semaphore;

typedef struct {
    int64_t seconds, nanoseconds;
} Time;

int sem_init(Semaphore *semaphore, int shared, unsigned value);
int sem_wait(Semaphore *semaphore);
int sem_timedwait(Semaphore *semaphore, const Time *until);
int sem_post(Semaphore *semaphore);
int pthread_create(uint64_t *thread, const void *attributes, void *(*function)(void *), void *argument);
int pthread_detach(uint64_t thread);
uint64_t pthread_self(void);
int clock_gettime(int clock, Time *now);
int nanosleep(const Time *time, Time *left);

enum {
    LAUNCHES = 32, /* at one time; further ones cannot be stopped */
    REALTIME = 0,
    MONOTONIC = 1,
    BEAT_NANOSECONDS = 20000000,
    PATIENT_BEATS = 50, /* without a launch; then the watchman sleeps until one comes */
    PARTS = 16,         /* chunks that each worker gets of a launch, if all are equally fast */
};

typedef struct {
    Kernel *kernel;
    void *args;
    const int64_t *dims;
    uint64_t scratch_bytes;
    int64_t total, chunk, next;
    int32_t pending, status;
} Job;

static _Alignas(64) Job job;
static _Alignas(64) int32_t busy;
static int32_t workers;
static _Alignas(64) Semaphore start, done, wake;

static ARRAY Launch launches[LAUNCHES];
static Launch unwatched; /* shared by launches that find no record */
static uint32_t asleep;  /* the watchman */
static uint64_t launch_count, time_limit;

/* Python's functions, and its main thread; all null in programs without Python. */
static struct {
    int32_t (*ensure)(void);
    void (*release)(int32_t state);
    int32_t (*check_signals)(void);
    void (*fetch)(void **type, void **value, void **trace);
    uint64_t main_thread;
} python;

static ARRAY void *raised[3]; /* what a signal's handler raised: type, value, traceback */

/* Stopping -------------------------------------------------------------------------------------------------------- */

/* Let Python handle its signals; whether a handler raised. */
static bool signalled(void) {
    int32_t state = python.ensure();
    bool stop = python.check_signals() != 0;
    if (stop)
        python.fetch(&raised[0], &raised[1], &raised[2]);
    python.release(state);
    return stop;
}

static int32_t check_in(Launch *launch, int32_t place) {
    uint64_t me = pthread_self();
    if (!launch->reason && launch->overdue == launch->number)
        launch->reason = STATUS_OVERDUE;
    if (!launch->reason && me == launch->caller) {
        launch->attention = 0;
        if (python.ensure && me == python.main_thread && signalled())
            launch->reason = STATUS_STOPPED;
    }
    if (!launch->reason)
        return 0;
    launch->attention = 1;
    return launch->reason + place;
}

/* A record for a launch that begins, which is written into its table of extents. */
Launch *fly_launch_begin(int64_t *dims) {
    Launch *launch = &unwatched;
    for (int i = 0; i < LAUNCHES && launch == &unwatched; i++) {
        uint32_t free = 0;
        if (__atomic_compare_exchange_n(&launches[i].taken, &free, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            launch = &launches[i];
    }
    if (launch != &unwatched) {
        launch->attention = 0;
        launch->reason = 0;
        launch->caller = pthread_self();
        __atomic_store_n(&launch->number, __atomic_add_fetch(&launch_count, 1, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
        if (__atomic_load_n(&asleep, __ATOMIC_SEQ_CST) && __atomic_exchange_n(&asleep, 0, __ATOMIC_SEQ_CST))
            sem_post(&wake);
    }
    launch->scheduler = NULL;
    launch->check_in = check_in;
    dims[DIMS_LAUNCH] = (int64_t)launch;
    return launch;
}

void fly_launch_end(Launch *launch) {
    if (launch != &unwatched)
        __atomic_store_n(&launch->taken, 0, __ATOMIC_SEQ_CST);
}

static uint64_t now(int clock) {
    Time time;
    clock_gettime(clock, &time);
    return time.seconds * UINT64_C(1000000000) + time.nanoseconds;
}

/* Ask every running launch for attention, and those that ran too long to stop; whether there is one. */
static bool look_around(uint64_t since[LAUNCHES], uint64_t seen[LAUNCHES]) {
    uint64_t limit = __atomic_load_n(&time_limit, __ATOMIC_RELAXED), time = now(MONOTONIC);
    bool any = false;
    for (int i = 0; i < LAUNCHES; i++) {
        uint64_t number = __atomic_load_n(&launches[i].number, __ATOMIC_ACQUIRE);
        if (!__atomic_load_n(&launches[i].taken, __ATOMIC_SEQ_CST))
            continue;
        any = true;
        if (seen[i] != number) {
            seen[i] = number;
            since[i] = time;
        } else if (limit && time - since[i] >= limit)
            __atomic_store_n(&launches[i].overdue, number, __ATOMIC_RELEASE);
        launches[i].attention = 1;
    }
    return any;
}

static void *watchman(void *unused) {
    ARRAY uint64_t since[LAUNCHES] = {0}, seen[LAUNCHES] = {0};
    Time beat = {0, BEAT_NANOSECONDS};
    for (uint32_t quiet = 0;; quiet++) {
        if (look_around(since, seen))
            quiet = 0;
        if (quiet >= PATIENT_BEATS) {
            __atomic_store_n(&asleep, 1, __ATOMIC_SEQ_CST);
            if (look_around(since, seen)) {
                if (__atomic_exchange_n(&asleep, 0, __ATOMIC_SEQ_CST) == 0)
                    sem_wait(&wake); /* a launch has just woken us as well */
            } else
                while (sem_wait(&wake))
                    ;
            quiet = 0;
        }
        nanosleep(&beat, NULL);
    }
    return unused;
}

/* Blocks ---------------------------------------------------------------------------------------------------------- */

/* Take chunks of blocks until there are none or a kernel fails. */
static void run_blocks(Job *job) {
    char *scratch = NULL;
    uint64_t bytes = job->scratch_bytes;
    if (bytes && !(scratch = aligned_alloc(128, (bytes + 127) & ~UINT64_C(127)))) {
        __atomic_store_n(&job->status, STATUS_NO_MEMORY, __ATOMIC_SEQ_CST);
        return;
    }
    for (int32_t code = 0; !code;) {
        int64_t first = __atomic_fetch_add(&job->next, job->chunk, __ATOMIC_SEQ_CST), last = first + job->chunk;
        if (first >= job->total || __atomic_load_n(&job->status, __ATOMIC_SEQ_CST))
            break;
        for (int64_t n = first; n < last && n < job->total && !code; n++)
            code = run_block(job->kernel, job->args, job->dims, scratch, n);
        if (code) {
            int32_t none = 0;
            __atomic_compare_exchange_n(&job->status, &none, code, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        }
    }
    free(scratch);
}

static void *worker(void *unused) {
    for (;;) {
        while (sem_wait(&start))
            ;
        run_blocks(&job);
        if (__atomic_fetch_sub(&job.pending, 1, __ATOMIC_SEQ_CST) == 1)
            sem_post(&done);
    }
    return unused;
}

/* Wait until the last worker is through, looking up now and then. */
static void join(Launch *launch) {
    for (;;) {
        uint64_t until = now(REALTIME) + BEAT_NANOSECONDS;
        Time time = {until / 1000000000, until % 1000000000};
        if (!sem_timedwait(&done, &time))
            return;
        if (launch->attention)
            check_in(launch, 0);
    }
}

static int32_t run_on_pool(Launch *launch, const Job *wanted) {
    int64_t share = wanted->total / ((int64_t)workers * PARTS);
    job = *wanted;
    job.chunk = share ? share : 1;
    job.pending = workers;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (int32_t i = 0; i < workers; i++)
        sem_post(&start);
    run_blocks(&job);
    join(launch);
    int32_t status = __atomic_load_n(&job.status, __ATOMIC_SEQ_CST);
    __atomic_store_n(&busy, 0, __ATOMIC_SEQ_CST);
    return status;
}

/* Run all blocks of a launch; 0, or the status of the first that failed. */
int32_t fly_host_launch(Kernel *kernel, void *args, int64_t *dims, uint64_t scratch_bytes) {
    int64_t total = block_count(dims);
    int32_t free = 0;
    if (total <= 0)
        return 0;
    Launch *launch = fly_launch_begin(dims);
    Job own = {kernel, args, dims, scratch_bytes, total, total, 0, 0, 0};
    if (workers && total > 1 &&
        __atomic_compare_exchange_n(&busy, &free, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        own.status = run_on_pool(launch, &own);
    else
        run_blocks(&own);
    if (!own.status)
        own.status = launch->reason;
    fly_launch_end(launch);
    return own.status;
}

#include "host_ranks.h"

/* Starting -------------------------------------------------------------------------------------------------------- */

static bool start_thread(void *(*function)(void *)) {
    uint64_t thread;
    return !pthread_create(&thread, NULL, function, NULL) && !pthread_detach(thread);
}

/* Start the pool with a number of worker threads besides the caller; returns how many started. */
int32_t fly_pool_start(int32_t wanted) {
    busy = 0;
    workers = 0;
    asleep = 0;
    for (int i = 0; i < LAUNCHES; i++)
        launches[i].taken = 0;
    sem_init(&start, 0, 0);
    sem_init(&done, 0, 0);
    sem_init(&wake, 0, 0);
    int32_t started = 0;
    while (started < wanted && start_thread(worker))
        started++;
    start_thread(watchman);
    return workers = started;
}

/* Have launches look after Python's signals; `functions` are PyGILState_Ensure, PyGILState_Release, PyErr_CheckSignals
 * and PyErr_Fetch. Returns where the exception is that a handler raised. */
void *fly_pool_watch_signals(void *const functions[4], uint64_t main_thread) {
    python.release = functions[1];
    python.check_signals = functions[2];
    python.fetch = functions[3];
    python.main_thread = main_thread;
    python.ensure = functions[0];
    return raised;
}

/* Stop every launch that takes longer than this; 0 for no limit. */
void fly_pool_limit(uint64_t nanoseconds) { __atomic_store_n(&time_limit, nanoseconds, __ATOMIC_RELAXED); }

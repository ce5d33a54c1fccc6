/* Launches whose blocks wait for each other, and virtual ranks: part of `host_pool.c`.
 *
 * Such a launch is resident: every block is a fiber with a stack of its own, as many at a time as the device holds. A
 * block that waits in a loop yields after each look; one that leaves the loop, begins or ends is a step forward. When
 * every block has looked since the last step and none could go on, nothing ever will: the launch ends with the places
 * that wait. Where other processes may write what is waited for, it goes on looking until they are dead or time is up.
 *
 * Virtual ranks are threads that take turns: one runs Python at a time. A rank that launches a resident kernel gives
 * its turn away; when no rank is left in Python, the blocks of all ranks run together, in an order drawn from a seed,
 * until one launch ends. So a program's interleaving depends on the seed alone.
 */

typedef struct {
    int32_t handle;
    int16_t events, found;
} PollHandle;

int poll(PollHandle *handles, uint64_t count, int milliseconds);

enum {
    STACK_BYTES = 1 << 19,
    FIBER_HEAD = CONTEXT_BYTES + 256,
    NAP_NANOSECONDS = 20000,
    NAPS_BETWEEN_CALLS = 256, /* between looks for dead processes */
    POLL_IN = 1,
    SYMMETRIC_MOST = 1024, /* pieces of memory that the checker follows */
};

typedef struct Scheduler Scheduler;
typedef struct Resident Resident;

/* One place for a block of a resident launch. */
typedef struct {
    ARRAY char context[CONTEXT_BYTES];
    Resident *of;
    int64_t block;
    char *scratch, *stack;
    uint64_t looked; /* the step at which it last found that it cannot go on */
    int32_t site;
    uint8_t begun, over;
} Fiber;

struct Resident {
    Kernel *kernel;
    void *args;
    int64_t *dims;
    Launch *launch;
    Fiber *fibers;
    char *memory;
    int64_t places, total, next, ended;
    int32_t status, rank, code;
};

struct Scheduler {
    ARRAY char main[CONTEXT_BYTES];
    ARRAY Resident *residents[RANKS_MOST];
    Fiber *current;
    uint64_t step, random;
    int32_t count, slow, turns;
};

typedef struct {
    Semaphore turn;
    uint64_t thread;
    int32_t state, code, failed;
    Resident *resident;
} Rank;

static ARRAY Rank ranks[RANKS_MOST];
static Scheduler together;
static int32_t rank_count, capacity, stopped; /* ranks; blocks of a launch at once; all have to end */
static Scheduler *running; /* whose fiber runs now, for the checker; only one thread runs fibers of ranks */
static ARRAY int64_t waiting[WAITING_MOST * WAITING_WORDS];
static RankHooks hooks;
static ARRAY struct {
    uint64_t low, end;
} symmetric[SYMMETRIC_MOST];
static int32_t symmetric_count;
static struct {
    int32_t count;
    uint64_t limit; /* nanoseconds that a launch may look in vain */
    ARRAY int32_t handles[RANKS_MOST], numbers[RANKS_MOST];
} outside;

/* Fibers ---------------------------------------------------------------------------------------------------------- */

static uint64_t draw(Scheduler *scheduler) {
    uint64_t x = scheduler->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    scheduler->random = x;
    return (x * UINT64_C(0x2545F4914F6CDD1D)) >> 33;
}

static NOINLINE void block_main(uint32_t low, uint32_t high) {
    Fiber *fiber = (Fiber *)((uint64_t)high << 32 | low);
    Resident *of = fiber->of;
    int32_t status = run_block(of->kernel, of->args, of->dims, fiber->scratch, fiber->block);
    if (status && !of->status)
        of->status = status;
    fiber->over = 1;
    Scheduler *scheduler = of->launch->scheduler;
    scheduler->step++;
    swapcontext((Context *)fiber->context, (Context *)scheduler->main);
    __builtin_unreachable();
}

static void begin_block(Fiber *fiber, int64_t block) {
    Context *context = (Context *)fiber->context;
    uint64_t address = (uint64_t)fiber;
    fiber->block = block;
    fiber->begun = fiber->over = 0;
    fiber->looked = 0;
    fiber->site = 0;
    getcontext(context);
    context->link = NULL;
    context->stack = fiber->stack;
    context->stack_bytes = STACK_BYTES;
    makecontext(context, (void (*)(void))block_main, 2, (uint32_t)address, (uint32_t)(address >> 32));
}

static bool make_resident(Resident *resident, uint64_t scratch_bytes) {
    uint64_t scratch = (scratch_bytes + 255) & ~UINT64_C(127), each = FIBER_HEAD + STACK_BYTES + scratch;
    int64_t places = capacity && capacity < resident->total ? capacity : resident->total;
    resident->memory = aligned_alloc(128, places * ((each + 127) & ~UINT64_C(127)));
    resident->fibers = aligned_alloc(128, (places * sizeof(Fiber) + 127) & ~UINT64_C(127));
    if (!resident->memory || !resident->fibers)
        return false;
    resident->places = resident->next = places;
    for (int64_t i = 0; i < places; i++) {
        Fiber *fiber = &resident->fibers[i];
        fiber->of = resident;
        fiber->stack = resident->memory + i * ((each + 127) & ~UINT64_C(127));
        fiber->scratch = fiber->stack + STACK_BYTES;
        begin_block(fiber, i);
    }
    return true;
}

/* Whether a fiber may find that it can go on. */
static bool may_run(const Scheduler *scheduler, const Fiber *fiber) {
    return !fiber->over && (!fiber->begun || fiber->looked != scheduler->step);
}

/* One that may run, drawn by chance; ranks take turns at being slow. Null if all wait. */
static Fiber *choose(Scheduler *scheduler) {
    int64_t fit = 0, quick = 0;
    if (scheduler->random && ++scheduler->turns % 32 == 1)
        scheduler->slow = draw(scheduler) % (2 * (uint64_t)scheduler->count + 2);
    for (int pass = 0; pass < 2; pass++) {
        int64_t wanted = -1;
        if (pass) {
            if (!fit)
                return NULL;
            bool all = !quick || !scheduler->random || draw(scheduler) % 16 == 0;
            wanted = scheduler->random ? draw(scheduler) % (all ? fit : quick) : 0;
            if (all)
                quick = 0;
        }
        for (int32_t i = 0; i < scheduler->count; i++) {
            Resident *resident = scheduler->residents[i];
            for (int64_t k = 0; k < resident->places; k++) {
                Fiber *fiber = &resident->fibers[k];
                if (!may_run(scheduler, fiber))
                    continue;
                if (!pass) {
                    fit++;
                    quick += i != scheduler->slow;
                } else if ((!quick || i != scheduler->slow) && wanted-- == 0)
                    return fiber;
            }
        }
    }
    return NULL;
}

static void run_fiber(Scheduler *scheduler, Fiber *fiber) {
    scheduler->current = fiber;
    if (!fiber->begun) {
        fiber->begun = 1;
        scheduler->step++;
    }
    running = scheduler;
    swapcontext((Context *)scheduler->main, (Context *)fiber->context);
    running = NULL;
    if (!fiber->over)
        return;
    Resident *of = fiber->of;
    of->ended++;
    if (of->next < of->total)
        begin_block(fiber, of->next++);
}

/* The block that runs waits in a loop, and found again that it cannot go on. */
void fly_host_spin(Launch *launch, int32_t site) {
    Scheduler *scheduler = launch->scheduler;
    if (!scheduler)
        return;
    Fiber *fiber = scheduler->current;
    fiber->looked = scheduler->step;
    fiber->site = site;
    swapcontext((Context *)fiber->context, (Context *)scheduler->main);
}

/* The block that runs has left such a loop, or is about to do what others may wait for: perhaps they run first. */
void fly_host_step(Launch *launch) {
    Scheduler *scheduler = launch->scheduler;
    if (!scheduler)
        return;
    scheduler->step++;
    if (scheduler->random && draw(scheduler) % 4 == 0)
        swapcontext((Context *)scheduler->current->context, (Context *)scheduler->main);
}

/* Waiting --------------------------------------------------------------------------------------------------------- */

/* Write down who waits where; every launch that does ends with its first place. */
static void give_up(Scheduler *scheduler, int32_t reason) {
    int64_t rows = 0;
    for (int32_t i = 0; i < scheduler->count; i++) {
        Resident *resident = scheduler->residents[i];
        for (int64_t k = 0; k < resident->places; k++) {
            Fiber *fiber = &resident->fibers[k];
            if (fiber->over)
                continue;
            if (!resident->status)
                resident->status = reason + fiber->site;
            if (rows < WAITING_MOST - 1) {
                int64_t *row = &waiting[rows++ * WAITING_WORDS];
                row[WAITING_RANK] = resident->rank;
                row[WAITING_BLOCK] = fiber->block;
                row[WAITING_SITE] = fiber->site;
                row[WAITING_CODE] = resident->code;
                row[WAITING_LEFT] = resident->total - resident->next;
                for (int axis = 0; axis < 3; axis++)
                    row[WAITING_GRID + axis] = resident->dims[DIMS_GRID + axis];
            }
        }
    }
    waiting[rows * WAITING_WORDS + WAITING_BLOCK] = -1;
}

/* A process that has ended although others wait for it; -1 if there is none. */
static int32_t dead_process(void) {
    for (int32_t i = 0; i < outside.count; i++) {
        PollHandle handle = {outside.handles[i], POLL_IN, 0};
        if (poll(&handle, 1, 0) > 0)
            return outside.numbers[i];
    }
    return -1;
}

/* Everyone waits for other processes: look again in a moment. Whether there is no use in it. */
static bool in_vain(Scheduler *scheduler, uint64_t *since, uint64_t *naps) {
    Time nap = {0, NAP_NANOSECONDS};
    if (!outside.count) {
        give_up(scheduler, STATUS_DEADLOCK);
        return true;
    }
    if (!*naps)
        *since = now(MONOTONIC);
    if (++*naps % NAPS_BETWEEN_CALLS == 0) {
        int32_t dead = dead_process();
        bool late = outside.limit && now(MONOTONIC) - *since > outside.limit;
        if (dead >= 0 || late) {
            give_up(scheduler, STATUS_ALONE);
            waiting[(WAITING_MOST - 1) * WAITING_WORDS] = dead;
            return true;
        }
    }
    nanosleep(&nap, NULL);
    scheduler->step++;
    return false;
}

/* Let blocks run until a launch has ended; which one. */
static int32_t run_together(Scheduler *scheduler) {
    uint64_t since = 0, naps = 0;
    for (;;) {
        for (int32_t i = 0; i < scheduler->count; i++) {
            Resident *resident = scheduler->residents[i];
            Launch *launch = resident->launch;
            if (launch->attention && !resident->status) {
                int32_t site = scheduler->current ? scheduler->current->site : 0;
                resident->status = check_in(launch, site);
            }
            if (resident->status || resident->ended == resident->total)
                return i;
        }
        if (scheduler == &together && __atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
            give_up(scheduler, STATUS_DEADLOCK);
            return 0;
        }
        Fiber *fiber = choose(scheduler);
        if (fiber) {
            uint64_t step = scheduler->step;
            run_fiber(scheduler, fiber);
            naps = scheduler->step == step ? naps : 0;
        } else if (in_vain(scheduler, &since, &naps))
            return 0;
    }
}

static void forget(Scheduler *scheduler, int32_t index) {
    Resident *resident = scheduler->residents[index];
    scheduler->residents[index] = scheduler->residents[--scheduler->count];
    fly_launch_end(resident->launch);
    free(resident->memory);
    free(resident->fibers);
}

/* Ranks ----------------------------------------------------------------------------------------------------------- */

enum RankState { IN_PYTHON, AT_LAUNCH, AT_MEETING, ENDED };

static int32_t own_rank(void) {
    uint64_t me = pthread_self();
    for (int32_t i = 0; i < rank_count; i++)
        if (ranks[i].thread == me && ranks[i].state != ENDED)
            return i;
    return -1;
}

static int32_t in_state(int32_t state) {
    int32_t found = 0;
    for (int32_t i = 0; i < rank_count; i++)
        found += ranks[i].state == state;
    return found;
}

/* Ranks that have met, or never will, go on. */
static void end_meeting(void) {
    bool failed = in_state(ENDED) > 0;
    for (int32_t i = 0; i < rank_count; i++)
        if (ranks[i].state == AT_MEETING) {
            ranks[i].state = IN_PYTHON;
            ranks[i].failed = failed;
        }
    if (!failed && hooks.meet)
        hooks.meet();
}

/* Give the turn to a rank that can go on in Python; if there is none, run kernels until there is. */
static void hand_on(void) {
    for (;;) {
        for (int32_t i = 0; i < rank_count; i++)
            if (ranks[i].state == IN_PYTHON) {
                sem_post(&ranks[i].turn);
                return;
            }
        if (in_state(AT_LAUNCH)) {
            int32_t index = run_together(&together);
            Resident *resident = together.residents[index];
            ranks[resident->rank].state = IN_PYTHON;
            if (hooks.end)
                hooks.end(resident->rank);
            forget(&together, index);
        } else if (in_state(AT_MEETING))
            end_meeting();
        else
            return;
    }
}

static void take_turn(Rank *rank) {
    while (sem_wait(&rank->turn))
        ;
}

/* Begin a group of ranks; `places` blocks of a launch fit on a device at once, or all with 0. */
void fly_ranks_begin(int32_t count, uint64_t seed, int32_t places) {
    if (hooks.start)
        hooks.start();
    rank_count = count;
    symmetric_count = stopped = 0;
    capacity = places;
    together.count = together.turns = together.slow = 0;
    together.step = 1;
    together.random = seed ? seed * UINT64_C(0x9E3779B97F4A7C15) | 1 : 0;
    for (int32_t i = 0; i < count; i++) {
        sem_init(&ranks[i].turn, 0, i == 0);
        ranks[i].thread = 0;
        ranks[i].state = IN_PYTHON;
        ranks[i].failed = ranks[i].code = 0;
    }
}

void fly_ranks_enter(int32_t rank) {
    take_turn(&ranks[rank]);
    ranks[rank].thread = pthread_self();
}

void fly_ranks_leave(int32_t rank) {
    ranks[rank].state = ENDED;
    hand_on();
}

/* Launches of ranks end, as if all waited forever. */
void fly_ranks_stop(void) { __atomic_store_n(&stopped, 1, __ATOMIC_RELAXED); }

void fly_ranks_end(void) { rank_count = capacity = 0; }

/* Wait until every rank has come here; whether one has ended without. */
int32_t fly_ranks_meet(int32_t rank) {
    ranks[rank].state = AT_MEETING;
    hand_on();
    take_turn(&ranks[rank]);
    return ranks[rank].failed;
}

/* The code that the next launch of this thread's rank is of, for reports. */
void fly_ranks_code(int32_t code) {
    int32_t rank = own_rank();
    if (rank >= 0)
        ranks[rank].code = code;
}

/* Memory that ranks share. */
void fly_ranks_memory(uint64_t low, uint64_t bytes) {
    if (symmetric_count < SYMMETRIC_MOST) {
        symmetric[symmetric_count].low = low;
        symmetric[symmetric_count++].end = low + bytes;
    }
}

bool fly_ranks_share(uint64_t address) {
    for (int32_t i = 0; i < symmetric_count; i++)
        if (address >= symmetric[i].low && address < symmetric[i].end)
            return true;
    return false;
}

/* Where a launch that ended with a deadlock wrote who waits. */
int64_t *fly_ranks_waiting(void) { return waiting; }

void fly_ranks_hooks(const RankHooks *functions) { hooks = *functions; }

/* Processes that write what resident launches wait for: handles that become readable when one ends, and its rank. */
void fly_ranks_outside(int32_t count, const int32_t *handles, const int32_t *numbers, uint64_t limit) {
    outside.count = count;
    outside.limit = limit;
    for (int32_t i = 0; i < count && i < RANKS_MOST; i++) {
        outside.handles[i] = handles[i];
        outside.numbers[i] = numbers[i];
    }
}

/* Who runs now: rank, block, code. Whether it is a block of a resident launch. */
bool fly_ranks_here(int64_t who[3]) {
    if (!running)
        return false;
    who[0] = running->current->of->rank;
    who[1] = running->current->block;
    who[2] = running->current->of->code;
    return true;
}

/* Run the blocks of a launch all at once. One that only may wait is an ordinary launch where there are no ranks. */
int32_t fly_resident_launch(Kernel *kernel, void *args, int64_t *dims, uint64_t scratch_bytes, int32_t certain) {
    int32_t rank = own_rank();
    Scheduler alone;
    Scheduler *scheduler = rank < 0 ? &alone : &together;
    Resident resident = {.kernel = kernel, .args = args, .dims = dims, .total = block_count(dims), .rank = rank};
    if (rank < 0 && !certain)
        return fly_host_launch(kernel, args, dims, scratch_bytes);
    if (resident.total <= 0)
        return 0;
    if (!make_resident(&resident, scratch_bytes)) {
        free(resident.memory);
        free(resident.fibers);
        return STATUS_NO_MEMORY;
    }
    resident.launch = fly_launch_begin(dims);
    resident.launch->scheduler = scheduler;
    if (rank < 0) {
        alone.count = 1;
        alone.residents[0] = &resident;
        alone.current = NULL;
        alone.step = 1;
        alone.random = 0;
        alone.turns = alone.slow = 0;
        forget(&alone, run_together(&alone));
        return resident.status;
    }
    resident.code = ranks[rank].code;
    together.residents[together.count++] = &resident;
    ranks[rank].state = AT_LAUNCH;
    if (hooks.begin)
        hooks.begin(rank);
    hand_on();
    take_turn(&ranks[rank]);
    return resident.status;
}

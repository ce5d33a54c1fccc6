/* Waves of a workgroup, or of a cluster of them, that wait for each other: each is a fiber with a stack of its own.
 *
 * One thread runs all fibers of a cluster in turn, so nothing here needs to be atomic and a run is the same every
 * time. A fiber that cannot go on yields. When every fiber has yielded and none went on in between, nothing ever will:
 * the run ends with the status of the place that waits.
 *
 * Stacks are switched by libc's `swapcontext`, which every Linux has for every processor.
 */
#include "native.h"

enum {
    STACK_BYTES = 1 << 20,
    PATIENCE = 1000000,
};

typedef struct Run Run;
typedef void Spin(void *launch, int32_t site);
typedef int32_t Wave(void *args, int64_t bx, int64_t by, int64_t bz, const int64_t *dims, char *scratch, Run *run,
                     int64_t wave, int64_t rank);

struct Run {
    volatile uint64_t idle; /* yields since something went on */
    volatile uint64_t live;
    volatile uint64_t polls; /* questions since something went on */
    volatile int32_t status, waiting_site;
    uint64_t current, waves; /* of a block */
    Context *main;
    char *contexts;
    volatile uint8_t *finished;
    Wave *kernel;
    void *args;
    int64_t bx, by, bz, cluster_x, cluster_y;
    const int64_t *dims;
    char *scratch;
    int64_t scratch_stride;
    void *async; /* the record of asynchronous work, where the kernel has some */
};

void fly_yield(Run *run, int32_t site) KERNEL_NAME(yield);
void fly_progress(Run *run) KERNEL_NAME(progress);
void fly_poll(Run *run, int32_t site) KERNEL_NAME(poll);
void fly_look(Run *run, void *launch, Spin *spin, int32_t site) KERNEL_NAME(look);
char *fly_scratch_of(Run *run, int64_t rank) KERNEL_NAME(scratch_of);
void *fly_async_of(Run *run) KERNEL_NAME(async_of);
int32_t fly_run_waves(Wave *kernel, void *args, int64_t bx, int64_t by, int64_t bz, const int64_t *dims, char *scratch,
                      int64_t stride, int64_t waves, int64_t cx, int64_t cy, int64_t cz, void *async)
    KERNEL_NAME(run_waves);

static Context *context_of(Run *run, uint64_t fiber) { return (Context *)(run->contexts + fiber * CONTEXT_BYTES); }

/* Let others run; comes back when it is this fiber's turn again. `site` is the status if nobody ever can. */
NOINLINE void fly_yield(Run *run, int32_t site) {
    run->idle++;
    run->waiting_site = site;
    swapcontext(context_of(run, run->current), run->main);
}

void fly_progress(Run *run) {
    run->idle = 0;
    run->polls = 0;
}

/* Let others run once. A fiber that only asks is not stuck, unless it has asked a million times and nothing went on. */
void fly_poll(Run *run, int32_t site) {
    if (++run->polls < PATIENCE)
        run->idle = 0;
    fly_yield(run, site);
}

/* The same for what another block writes: other blocks run when every fiber of this one waits, or has only asked. */
void fly_look(Run *run, void *launch, Spin *spin, int32_t site) {
    if (run->idle >= run->live || run->polls > 2 * run->live)
        spin(launch, site);
    fly_poll(run, site);
}

/* The block of the cluster at `rank`: its scratch memory, where shared memory comes first. */
char *fly_scratch_of(Run *run, int64_t rank) { return run->scratch + run->scratch_stride * rank; }

void *fly_async_of(Run *run) { return run->async; }

/* `makecontext` passes on 32-bit numbers only, so the address of the run comes in two of them. */
static NOINLINE void fiber_main(uint32_t low, uint32_t high) {
    Run *run = (Run *)((uint64_t)high << 32 | low);
    uint64_t me = run->current, rank = me / run->waves, cx = run->cluster_x, cy = run->cluster_y;
    int32_t status = run->kernel(run->args, run->bx + rank % cx, run->by + rank / cx % cy, run->bz + rank / cx / cy,
                                 run->dims, fly_scratch_of(run, rank), run, me % run->waves, rank);
    if (status)
        run->status = status;
    run->finished[me] = 1;
    run->live--;
    fly_progress(run);
    swapcontext(context_of(run, me), run->main);
    __builtin_unreachable();
}

static void make_fibers(Run *run, uint64_t count, char *stacks) {
    uint64_t address = (uint64_t)run;
    for (uint64_t i = 0; i < count; i++) {
        Context *context = context_of(run, i);
        run->finished[i] = 0;
        getcontext(context);
        context->link = NULL;
        context->stack = stacks + i * STACK_BYTES;
        context->stack_bytes = STACK_BYTES;
        makecontext(context, (void (*)(void))fiber_main, 2, (uint32_t)address, (uint32_t)(address >> 32));
    }
}

/* Give every fiber its turns, until all have ended, one has failed, all wait, or the launch is stopped. */
static int32_t take_turns(Run *run, uint64_t count) {
    Launch *launch = (Launch *)run->dims[DIMS_LAUNCH];
    while (run->live) {
        int32_t stopped = launch->attention ? launch->check_in(launch, run->waiting_site) : 0;
        if (stopped)
            return stopped;
        for (uint64_t fiber = 0; fiber < count; fiber++) {
            if (run->finished[fiber])
                continue;
            run->current = fiber;
            swapcontext(run->main, context_of(run, fiber));
            if (run->status)
                return run->status;
        }
        if (run->live && run->idle > 2 * count)
            return run->waiting_site;
    }
    return run->status;
}

/* Run the waves of a cluster whose first block is (bx, by, bz). Scratch memory of its blocks lies `stride` apart. */
NOINLINE int32_t fly_run_waves(Wave *kernel, void *args, int64_t bx, int64_t by, int64_t bz, const int64_t *dims,
                               char *scratch, int64_t stride, int64_t waves, int64_t cx, int64_t cy, int64_t cz,
                               void *async) {
    ARRAY char main[CONTEXT_BYTES];
    uint64_t count = cx * cy * cz * waves;
    uint64_t contexts = count * CONTEXT_BYTES, head = contexts + (count & ~UINT64_C(127)) + 128;
    char *memory = aligned_alloc(128, head + count * STACK_BYTES);
    if (!memory)
        return STATUS_NO_MEMORY;
    Run run = {
        .live = count, .waves = waves, .main = (Context *)main, .contexts = memory,
        .finished = (uint8_t *)memory + contexts, .kernel = kernel, .args = args, .bx = bx, .by = by, .bz = bz,
        .cluster_x = cx, .cluster_y = cy, .dims = dims, .scratch = scratch, .scratch_stride = stride,
        .async = async,
    };
    make_fibers(&run, count, memory + head);
    int32_t status = take_turns(&run, count);
    free(memory);
    return status;
}

/* Barriers -------------------------------------------------------------------------------------------------------- */

/* Named barriers, clusters and warpgroups count arrivals in scratch memory. */
typedef struct {
    uint32_t arrived;
    volatile uint32_t generation;
} Counter;

bool fly_barrier(Run *run, Counter *counter, int64_t rank, int32_t site) KERNEL_NAME(barrier);
uint32_t fly_count_in(Counter *counter, uint32_t threads, uint32_t expected) KERNEL_NAME(count_in);
void fly_wait_counter(Run *run, const Counter *counter, uint32_t generation, int32_t site) KERNEL_NAME(wait_counter);
void fly_mbarrier_init(uint64_t *barrier, uint32_t count) KERNEL_NAME(mbarrier_init);
void fly_mbarrier_update(uint64_t *barrier, uint32_t arrivals, int32_t bytes) KERNEL_NAME(mbarrier_update);
bool fly_mbarrier_test(const volatile uint64_t *barrier, uint32_t parity) KERNEL_NAME(mbarrier_test);

static uint64_t ended_waves(Run *run, int64_t rank) {
    uint64_t ended = 0;
    for (uint64_t wave = 0; wave < run->waves; wave++)
        ended += run->finished[rank * run->waves + wave];
    return ended;
}

/* A wave arrives at its workgroup's barrier and waits until all have that still run, wherever they are. Whether it was
 * the one that let the others go. */
bool fly_barrier(Run *run, Counter *counter, int64_t rank, int32_t site) {
    uint32_t generation = counter->generation;
    bool opens = false;
    counter->arrived++;
    while (counter->generation == generation) {
        opens = counter->arrived + ended_waves(run, rank) >= run->waves;
        if (opens) {
            counter->arrived = 0;
            counter->generation = generation + 1;
        } else
            fly_yield(run, site);
    }
    fly_progress(run);
    return opens;
}

/* Arrive with `threads` of `expected`; the generation to wait for the end of. */
uint32_t fly_count_in(Counter *counter, uint32_t threads, uint32_t expected) {
    uint32_t generation = counter->generation;
    counter->arrived += threads;
    if (counter->arrived >= expected) {
        counter->arrived = 0;
        counter->generation = generation + 1;
    }
    return generation;
}

/* Yield until the generation is over. */
void fly_wait_counter(Run *run, const Counter *counter, uint32_t generation, int32_t site) {
    while (counter->generation == generation)
        fly_yield(run, site);
    fly_progress(run);
}

/* An mbarrier: bits 0-19 pending arrivals, 20-39 arrivals of a phase, 40-62 pending bytes (signed), 63 the phase. */
enum { ARRIVAL_BITS = 20, BYTES_AT = 40, BYTES_BITS = 23, PHASE_AT = 63 };

static const uint64_t ARRIVAL_MASK = (UINT64_C(1) << ARRIVAL_BITS) - 1;
static const uint64_t BYTES_MASK = ((UINT64_C(1) << BYTES_BITS) - 1) << BYTES_AT;
static const uint64_t PHASE = UINT64_C(1) << PHASE_AT;

void fly_mbarrier_init(uint64_t *barrier, uint32_t count) { *barrier = count | (uint64_t)count << ARRIVAL_BITS; }

void fly_mbarrier_update(uint64_t *barrier, uint32_t arrivals, int32_t bytes) {
    uint64_t word = *barrier, pending = (word - arrivals) & ARRIVAL_MASK;
    int64_t expected = ((int64_t)(word << 1) >> (BYTES_AT + 1)) + bytes;
    if (pending || expected)
        *barrier = (word & ~(ARRIVAL_MASK | BYTES_MASK)) | pending | ((uint64_t)expected << BYTES_AT & BYTES_MASK);
    else {
        uint64_t count = word >> ARRIVAL_BITS & ARRIVAL_MASK;
        *barrier = count | count << ARRIVAL_BITS | ((word & PHASE) ^ PHASE);
    }
}

bool fly_mbarrier_test(const volatile uint64_t *barrier, uint32_t parity) {
    return *barrier >> PHASE_AT != (parity & 1);
}

/* TMA ------------------------------------------------------------------------------------------------------------- */

uint32_t fly_element_bytes(const uint64_t *map) KERNEL_NAME(element_bytes);
uint32_t fly_box_bytes(const uint64_t *map) KERNEL_NAME(box_bytes);
void fly_tma(const uint64_t *map, char *shared, uint32_t offset, int32_t kind, int32_t c0, int32_t c1, int32_t c2,
             int32_t c3, int32_t c4) KERNEL_NAME(tma);

static uint64_t box_extent(const uint64_t *map, uint64_t mode) {
    return mode < map[MAP_RANK] ? ((const uint16_t *)(map + MAP_BOX))[mode] : 1;
}

uint32_t fly_element_bytes(const uint64_t *map) { return map[MAP_ELEMENT] & 255; }

uint32_t fly_box_bytes(const uint64_t *map) {
    uint64_t bytes = fly_element_bytes(map);
    for (uint64_t mode = 0; mode < MAP_MODES; mode++)
        bytes *= box_extent(map, mode);
    return bytes;
}

#define COMBINED(a, b, kind) ((kind) == BOX_ADD ? (a) + (b) : ((kind) == BOX_MIN) == ((a) < (b)) ? (a) : (b))
#define COMBINE(type, to, from, kind) (*(type *)(to) = COMBINED(*(type *)(to), *(const type *)(from), kind))

static float combined_f32(float a, float b, int32_t kind) { return COMBINED(a, b, kind); }

static float from_bf16(uint16_t bits) {
    union { uint32_t bits; float value; } wide = {.bits = (uint32_t)bits << 16};
    return wide.value;
}

static uint16_t to_bf16(float value) {
    union { float value; uint32_t bits; } wide = {.value = value};
    return (wide.bits + 32767 + (wide.bits >> 16 & 1)) >> 16;
}

static void combine(void *to, const void *from, uint64_t type, int32_t kind) {
    switch (type) {
    case ELEMENT_U32: COMBINE(uint32_t, to, from, kind); break;
    case ELEMENT_S32: COMBINE(int32_t, to, from, kind); break;
    case ELEMENT_U64: COMBINE(uint64_t, to, from, kind); break;
    case ELEMENT_S64: COMBINE(int64_t, to, from, kind); break;
    case ELEMENT_F32: *(float *)to = combined_f32(*(float *)to, *(const float *)from, kind); break;
    case ELEMENT_F64: *(double *)to += *(const double *)from; break;
    case ELEMENT_F16:
        *(_Float16 *)to = (_Float16)combined_f32(*(_Float16 *)to, *(const _Float16 *)from, kind);
        break;
    case ELEMENT_BF16:
        *(uint16_t *)to = to_bf16(combined_f32(from_bf16(*(uint16_t *)to), from_bf16(*(const uint16_t *)from), kind));
        break;
    }
}

/* On memory that other clusters combine into as well, which other threads run: one element at a time. */
#define COMBINE_SHARED(bits, to, from, type, kind)                                                                     \
    do {                                                                                                               \
        uint##bits##_t old = __atomic_load_n((uint##bits##_t *)(to), __ATOMIC_RELAXED), new;                           \
        do {                                                                                                           \
            new = old;                                                                                                 \
            combine(&new, from, type, kind);                                                                           \
        } while (!__atomic_compare_exchange_n((uint##bits##_t *)(to), &old, new, false, __ATOMIC_RELAXED,              \
                                              __ATOMIC_RELAXED));                                                      \
    } while (0)

static NOINLINE void combine_shared(void *to, const void *from, uint64_t type, int32_t kind, uint64_t size) {
    switch (size) {
    case 2: COMBINE_SHARED(16, to, from, type, kind); break;
    case 4: COMBINE_SHARED(32, to, from, type, kind); break;
    case 8: COMBINE_SHARED(64, to, from, type, kind); break;
    }
}

static void copy_element(char *place, char *global, bool inside, const uint64_t *map, int32_t kind) {
    uint64_t size = fly_element_bytes(map);
    if (!inside) {
        if (kind == BOX_LOAD)
            __builtin_memset(place, 0, size);
    } else if (kind == BOX_LOAD)
        __builtin_memcpy(place, global, size);
    else if (kind == BOX_STORE)
        __builtin_memcpy(global, place, size);
    else
        combine_shared(global, place, map[MAP_ELEMENT] >> 8, kind, size);
}

/* Copy a box row by row between the tensor of a map and shared memory; elements outside the tensor arrive as zeros. */
NOINLINE void fly_tma(const uint64_t *map, char *shared, uint32_t offset, int32_t kind, int32_t c0, int32_t c1,
                      int32_t c2, int32_t c3, int32_t c4) {
    ARRAY int64_t start[MAP_MODES] = {c0, c1, c2, c3, c4};
    uint64_t size = fly_element_bytes(map), columns = box_extent(map, 0), rows = 1;
    uint64_t swizzle = (UINT64_C(1) << map[MAP_SWIZZLE]) - 1;
    for (uint64_t mode = 1; mode < MAP_MODES; mode++)
        rows *= box_extent(map, mode);
    for (uint64_t row = 0; row < rows; row++) {
        char *source = (char *)map[MAP_BASE];
        bool inside = true;
        for (uint64_t mode = 1, left = row; mode < map[MAP_RANK]; left /= box_extent(map, mode++)) {
            uint64_t coordinate = start[mode] + left % box_extent(map, mode);
            inside &= coordinate < map[MAP_EXTENTS + mode];
            source += coordinate * map[MAP_STRIDES + mode - 1];
        }
        for (uint64_t column = 0; column < columns; column++) {
            uint64_t at = offset + (row * columns + column) * size, global = start[0] + column;
            char *place = shared + (at ^ (at >> 7 & swizzle) << 4);
            copy_element(place, source + global * size, inside && global < map[MAP_EXTENTS], map, kind);
        }
    }
}

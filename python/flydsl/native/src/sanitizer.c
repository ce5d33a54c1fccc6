/* The checker behind the sanitizers of the virtual GPU: kernels call it before every access to memory.
 *
 * A sanitized launch runs its workgroups one after the other, so all state is global; Python holds a lock around it.
 * Time counts accesses and meetings. What happened before `epoch` (the block's last barrier) or, between lanes of one
 * wave, before `wave_epoch` (their last collective) is ordered before what happens now.
 *
 * Per byte of scratch (shared memory and registers) a flag says whether it was written. Per granule of memory that
 * threads share (a byte of shared memory, an element of an array) a cell remembers who touched it. Two slots are enough
 * for reads: whoever writes next, one of two different readers is another thread. A reader of an earlier block is kept
 * in the second, for it is in conflict with every write of this block.
 */
#include "native.h"

void *realloc(void *memory, size_t bytes);

typedef struct {
    uint64_t stamp; /* time | bytes of the granule << STAMP_TIME_BITS */
    uint64_t who;
} Slot;

typedef struct {
    Slot write, reads[2], atomics[2];
} Cell;

typedef struct {
    uint64_t low, end;
    int64_t region;
} Interval;

typedef struct {
    uint64_t low, end, shift; /* log2 of the granule */
    Cell *cells;
} RegionFacts;

typedef struct {
    uint64_t site, address, bytes, kind, thread, low, end;
    int64_t region;
} Touch;

/* A copy or product under way. The bytes of a tile lie apart; its descriptor says where. */
typedef struct {
    uint64_t address, bytes, who, low, end;
    uint64_t descriptor, rows, depth; /* of a tile: extents in rows and, along a row, bytes */
    bool reads, open, store, k_major;
} Ticket;

_Static_assert(sizeof(Cell) == CELL_BYTES, "Python allocates cells");
_Static_assert(sizeof(Interval) == ROOT_BYTES, "kernels load roots");

enum { STAMP_TIME_BITS = 56 };

static const uint64_t NOBODY = ~UINT64_C(0);
static const uint64_t TIME_MASK = (UINT64_C(1) << STAMP_TIME_BITS) - 1;

static uint64_t flags;
static const Interval *ranges;
static int64_t range_count;
static const RegionFacts *regions;
static int64_t region_count;
static ARRAY Interval roots[ROOT_MOST];
static uint64_t time = 1, launch_start, epoch, wave_epoch, synced;
static uint64_t block, wave_shift;
static const int64_t *dims;
static uint64_t scratch, scratch_bytes, shared_bytes;
static uint8_t *written;
static Cell *shared_cells;
static int64_t *report;
static bool failed; /* a report that could not stop the launch at once */
static Ticket *tickets;
static uint64_t ticket_count, ticket_room, first_ticket;
static uint32_t *fillers, *readers; /* for each byte of scratch: the ticket that writes it, one that reads it */
static uint64_t *write_times;       /* when the kernel itself last wrote it */
static uint32_t *writers;
static uint64_t fence_time;

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t time_of(const Slot *slot) { return slot->stamp & TIME_MASK; }
static uint64_t bytes_of(const Slot *slot) { return slot->stamp >> STAMP_TIME_BITS; }
static uint64_t thread_of(uint64_t who) { return who >> WHO_SITE_BITS; } /* with its block */
static uint64_t block_of(uint64_t who) { return who >> (WHO_SITE_BITS + WHO_THREAD_BITS); }
static uint64_t who_is(uint64_t thread, uint64_t site) {
    return block << (WHO_SITE_BITS + WHO_THREAD_BITS) | thread << WHO_SITE_BITS | site;
}
static uint64_t tick(void) { return ++time; }

/* Launches -------------------------------------------------------------------------------------------------------- */

/* What Python tells before it enters a launcher: the checks, the intervals of the array arguments, the regions they
 * lie in, and where the report goes. */
void fly_sanitizer_begin(uint64_t checks, const Interval *arrays, int64_t array_count, const RegionFacts *memory,
                         int64_t memory_count, int64_t *words) {
    flags = checks;
    ranges = arrays;
    range_count = array_count;
    regions = memory;
    region_count = memory_count;
    report = words;
    failed = false;
}

/* The interval a kernel's pointer argument may reach: that of the array argument it came from, or, when that is not
 * known (row < 0), of the one it points into; without one, everything. */
void fly_sanitizer_root(int64_t index, const void *pointer, int64_t row) {
    uint64_t address = (uint64_t)pointer;
    for (int64_t i = 0; row < 0 && i < range_count; i++)
        if (address >= ranges[i].low && address < ranges[i].end)
            row = i;
    roots[index] = row >= 0 && row < range_count ? ranges[row] : (Interval){0, NOBODY, REGION_UNKNOWN};
}

Interval *fly_sanitizer_roots(void) { return roots; }

/* A wave of this block of a cluster goes on. */
void fly_sanitizer_here(uint64_t number) { block = number; }

/* The lanes of each wave have met. */
void fly_sanitizer_wave(void) { wave_epoch = tick(); }

/* Ranks ----------------------------------------------------------------------------------------------------------- */

#include "sanitizer_ranks.h"

/* All threads of the block have met. */
void fly_sanitizer_barrier(void) {
    epoch = wave_epoch = tick();
    if (flags & CHECK_RANKS)
        ranks_barrier();
}

/* Run the blocks of a launch in order; 0, no memory, or what a block returned. */
int32_t fly_sanitizer_launch(Kernel *kernel, void *args, int64_t *extents, uint64_t bytes, uint64_t fixed_shared,
                             uint64_t log2_of_wave) {
    uint64_t rounded = (bytes + 255) & ~UINT64_C(127);
    int32_t status = STATUS_NO_MEMORY;
    if (flags & CHECK_RANKS) /* which follows blocks that take turns, and makes no other check */
        return fly_resident_launch(kernel, args, extents, bytes, 1);
    dims = extents;
    wave_shift = log2_of_wave;
    scratch_bytes = bytes;
    shared_bytes = fixed_shared + extents[DIMS_DYNAMIC_SHARED];
    char *memory = aligned_alloc(128, rounded);
    written = calloc(rounded, 1);
    shared_cells = calloc(shared_bytes + 1, sizeof(Cell));
    scratch = (uint64_t)memory;
    launch_start = tick();
    bool async = flags & CHECK_ASYNC;
    if (async) {
        fillers = calloc(rounded, sizeof(uint32_t));
        readers = calloc(rounded, sizeof(uint32_t));
        writers = calloc(rounded, sizeof(uint32_t));
        write_times = calloc(rounded, sizeof(uint64_t));
    }
    if (memory && written && shared_cells && (!async || (fillers && readers && writers && write_times))) {
        Launch *launch = fly_launch_begin(extents);
        status = 0;
        for (int64_t n = 0, total = block_count(extents); n < total && !status; n++) {
            block = n;
            synced = 0;
            fly_sanitizer_barrier();
            __builtin_memset(written, 0, bytes);
            first_ticket = ticket_count + 1;
            fence_time = tick();
            status = run_block(kernel, args, extents, memory, n);
            if (failed)
                status = STATUS_FAULT;
        }
        fly_launch_end(launch);
    }
    free(fillers);
    free(readers);
    free(writers);
    free(write_times);
    free(tickets);
    fillers = readers = writers = NULL;
    write_times = NULL;
    tickets = NULL;
    ticket_count = ticket_room = 0;
    free(memory);
    free(written);
    free(shared_cells);
    return status;
}

/* Reports --------------------------------------------------------------------------------------------------------- */

static NOINLINE void fill(enum Check check, const Touch *touch, uint64_t address, uint64_t other) {
    report[REPORT_CHECK] = check;
    report[REPORT_SITE] = touch->site;
    report[REPORT_THREAD] = touch->thread;
    report[REPORT_BLOCK] = block;
    report[REPORT_ADDRESS] = address;
    report[REPORT_BYTES] = touch->bytes;
    report[REPORT_KIND] = touch->kind;
    report[REPORT_LOW] = touch->low;
    report[REPORT_END] = touch->end;
    report[REPORT_OTHER] = other;
    report[REPORT_SCRATCH] = scratch;
    for (int i = 0; i < 6; i++)
        report[REPORT_EXTENTS + i] = dims[i];
    report[REPORT_ASYNC] = 0;
}

/* A barrier that `absent` never reaches while `present` waits there. */
void fly_sanitizer_stray(uint64_t site, uint64_t present, uint64_t absent) {
    Touch here = {.site = site, .thread = present};
    fill(CHECK_BARRIER, &here, 0, who_is(absent, site));
}

/* An index that its mode does not have, by the indices and extents of all modes in turn. Whether there is one. */
bool fly_sanitizer_modes(uint64_t site, uint64_t thread, uint64_t low, uint64_t end, const uint64_t *pairs,
                         uint64_t modes) {
    for (uint64_t mode = 0; mode < modes; mode++) {
        if (pairs[2 * mode] < pairs[2 * mode + 1])
            continue;
        Touch here = {.site = site, .thread = thread, .low = low, .end = end};
        fill(CHECK_MODES, &here, low, 0);
        report[REPORT_MODE] = mode;
        report[REPORT_MODES] = modes;
        report[REPORT_EXTENT] = pairs[2 * mode + 1];
        for (uint64_t index = 0; index < modes && index < REPORT_WORDS - REPORT_INDICES; index++)
            report[REPORT_INDICES + index] = pairs[2 * index];
        return true;
    }
    return false;
}

/* Registers begin a new life: what they held is gone. */
void fly_sanitizer_forget(const void *pointer, uint64_t bytes) {
    if (!(flags & CHECK_RANKS))
        __builtin_memset(written + ((uint64_t)pointer - scratch), 0, bytes);
}

/* Cells ----------------------------------------------------------------------------------------------------------- */

/* Whether what a slot holds happened at the same time as an access by `who`, in another thread. */
static bool conflicts(const Slot *slot, uint64_t mask, uint64_t who, bool shared) {
    uint64_t when = time_of(slot);
    if (!(bytes_of(slot) & mask) || when <= launch_start || thread_of(slot->who) == thread_of(who))
        return false;
    if (block_of(slot->who) != block_of(who))
        return when > synced && !shared;
    bool one_wave = thread_of(slot->who) >> wave_shift == thread_of(who) >> wave_shift;
    return when > (one_wave ? wave_epoch : epoch);
}

/* Note an access in a slot. Bytes that the same thread touched since the last barrier stay. */
static void replace(Slot *slot, uint64_t mask, uint64_t who, uint64_t now) {
    bool keep = thread_of(slot->who) == thread_of(who) && time_of(slot) > larger(epoch, wave_epoch);
    slot->stamp = ((keep ? bytes_of(slot) : 0) | mask) << STAMP_TIME_BITS | now;
    slot->who = who;
}

/* Note an access in one of two slots, so that two different threads are remembered. */
static void remember(Slot slots[2], uint64_t mask, uint64_t who, uint64_t now) {
    bool earlier_block = time_of(&slots[1]) > launch_start && block_of(slots[1].who) != block_of(who);
    if (thread_of(slots[0].who) != thread_of(who) && !earlier_block)
        slots[1] = slots[0];
    replace(&slots[0], mask, who, now);
}

/* An ordering atomic sees what happened before the last atomic of another block on the same place. */
static void synchronise(const Slot *slot, uint64_t who) {
    if (time_of(slot) > launch_start && block_of(slot->who) != block_of(who))
        synced = larger(synced, time_of(slot));
}

/* Who in a cell is in conflict with this access, or nobody; without a conflict the access is noted. */
static uint64_t meet(Cell *cell, uint64_t mask, uint64_t kind, uint64_t who, uint64_t now, bool shared) {
    bool writes = kind & ACCESS_WRITE, atomic = kind & ACCESS_ATOMIC;
    if (kind & ACCESS_ORDERING)
        synchronise(&cell->atomics[0], who);
    if (conflicts(&cell->write, mask, who, shared))
        return cell->write.who;
    for (int i = 0; i < 2; i++)
        if (writes && conflicts(&cell->reads[i], mask, who, shared))
            return cell->reads[i].who;
    for (int i = 0; i < 2; i++)
        if (!atomic && conflicts(&cell->atomics[i], mask, who, shared))
            return cell->atomics[i].who;
    if (writes && atomic)
        remember(cell->atomics, mask, who, now);
    else if (writes)
        replace(&cell->write, mask, who, now);
    else if (!atomic) /* an atomic read would be taken for a plain one */
        remember(cell->reads, mask, who, now);
    return NOBODY;
}

/* Accesses -------------------------------------------------------------------------------------------------------- */

/* Follow the written flags of an access; the address of a byte that is read but was never written, or 0. */
static uint64_t unwritten(const Touch *touch) {
    uint64_t first = touch->address - scratch, stop = first + touch->bytes;
    if (first > scratch_bytes || stop > scratch_bytes)
        return 0;
    bool asks = (touch->kind & (ACCESS_READ | ACCESS_QUIET)) == ACCESS_READ, writes = touch->kind & ACCESS_WRITE;
    for (uint64_t i = first; i < stop; i++) {
        if (asks && !written[i])
            return scratch + i;
        if (writes)
            written[i] = 1;
    }
    return 0;
}

static int64_t region_of(uint64_t address) {
    for (int64_t i = 0; i < region_count; i++)
        if (address >= regions[i].low && address < regions[i].end)
            return i;
    return REGION_UNKNOWN;
}

/* Look for a conflict in the cells of an access, and note the access there. */
static bool races(const Touch *touch) {
    bool shared = touch->region == REGION_SHARED;
    RegionFacts memory = {scratch, scratch + shared_bytes, 0, shared_cells};
    if (!shared) {
        int64_t number = touch->region >= 0 ? touch->region : region_of(touch->address);
        if (number < 0)
            return false;
        memory = regions[number];
    }
    uint64_t size = memory.end - memory.low, offset = touch->address - memory.low, stop = offset + touch->bytes;
    if (offset >= size || stop > size)
        return false;
    uint64_t now = tick(), who = who_is(touch->thread, touch->site);
    for (uint64_t granule = offset >> memory.shift; granule << memory.shift < stop; granule++) {
        uint64_t low = granule << memory.shift, end = (granule + 1) << memory.shift;
        uint64_t from = larger(offset, low), to = smaller(stop, end);
        uint64_t mask = (UINT64_C(1) << (to - low)) - (UINT64_C(1) << (from - low));
        uint64_t other = meet(&memory.cells[granule], mask, touch->kind, who, now, shared);
        if (other != NOBODY) {
            fill(CHECK_RACE, touch, memory.low + from, other);
            return true;
        }
    }
    return false;
}

/* Asynchronous work ----------------------------------------------------------------------------------------------- */

#include "sanitizer_async.h"

/* Before an access of `bytes` at `address`; [low, end) is what the tensor may reach. Whether the launch must stop. */
bool fly_sanitizer_access(uint64_t site, uint64_t address, uint64_t bytes, uint64_t kind, uint64_t thread,
                          uint64_t low, uint64_t end, int64_t region) {
    Touch touch = {site, address, bytes, kind, thread, low, end, region};
    if (!bytes || failed)
        return failed;
    if (flags & CHECK_RANKS)
        return region >= REGION_UNKNOWN && ranks_access(site, address, bytes, kind, thread);
    if (flags & CHECK_BOUNDS && (address < low || address + bytes > end)) {
        fill(CHECK_BOUNDS, &touch, address, 0);
        return true;
    }
    if (flags & CHECK_UNINIT && region < REGION_UNKNOWN) {
        uint64_t missing = unwritten(&touch);
        if (missing) {
            fill(CHECK_UNINIT, &touch, missing, 0);
            return true;
        }
    }
    if (flags & CHECK_ASYNC && region == REGION_SHARED && !(kind & ACCESS_ENGINE) && disturbs(&touch))
        return true;
    return flags & CHECK_RACE && region >= REGION_SHARED && races(&touch);
}

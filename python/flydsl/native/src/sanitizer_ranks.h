/* What ranks do to each other's memory: part of `sanitizer.c`.
 *
 * Every block of every rank is an actor with a clock, and knows how much it has seen of the others (a View). A release
 * puts the view of its thread into the flag, an acquire takes it out again. Barriers join what threads of a block have
 * seen; launches of a rank follow each other, and so does everything behind a meeting of all ranks on the host. An
 * access that conflicts with an earlier one that its thread has not seen is a fault; what was seen of the flags of the
 * other actor says which rule was broken.
 *
 * A clock goes on with every barrier and every release. A release shows what its own thread did until now, but of the
 * other threads only what they did before the last barrier: `clocks` have the latter, `tails` the former.
 */

enum {
    ACTOR_BLOCKS = 64, /* blocks of a rank that are followed */
    ACTORS_MOST = RANKS_MOST * ACTOR_BLOCKS,
    TAILS_MOST = 128,
    READERS = 10,
    PAGE_BITS = 12,
    PAGE_CELLS = 1 << (PAGE_BITS - 2),
    PAGES = 1 << 15,
};

typedef struct {
    uint32_t actor, thread, clock;
} Tail;

typedef struct {
    ARRAY uint32_t clocks[ACTORS_MOST];
    ARRAY Tail tails[TAILS_MOST];
    uint32_t tail_count;
} View;

/* An access, or none with a clock of 0. */
typedef struct {
    uint64_t when;
    uint32_t actor, clock, site;
    uint32_t stretch; /* the clock at the last barrier of its block */
    uint16_t thread, code;
} Event;

typedef struct {
    View view;
    Event store;
    bool released;
} Sync;

typedef struct {
    Event write, reads[READERS];
    Sync *sync;
    uint8_t write_mask, read_masks[READERS];
    bool write_atomic;
    uint16_t write_kind;
} SharedCell;

/* What a thread of an actor has seen, or shows, by itself. */
typedef struct {
    View view;
    uint32_t thread;
} Own;

typedef struct {
    Own **items;
    uint32_t count, room;
} Owns;

/* The last look of an actor at a flag of another one. */
typedef struct {
    Event store, look;
    bool released, acquired;
} Seen;

typedef struct {
    View view;
    uint32_t clock, barrier;
    Owns taken, shown; /* acquired since the last barrier; shown by release fences */
    Owns near, far;    /* seen by relaxed looks at flags of this rank, and of others */
    Seen *seen;
} Actor;

static ARRAY Actor *actors[ACTORS_MOST];
static ARRAY View *rank_views[RANKS_MOST];
static struct {
    uint64_t number;
    SharedCell *cells;
} *pages;
static uint64_t accesses;
static ARRAY int64_t rank_report[RANK_REPORT_WORDS];
static bool told;

/* Views ----------------------------------------------------------------------------------------------------------- */

static void add_tail(View *view, const Tail *added) {
    Tail tail = *added;
    uint32_t kept = 0;
    if (view->clocks[tail.actor] >= tail.clock)
        return;
    for (uint32_t i = 0; i < view->tail_count; i++) {
        Tail old = view->tails[i];
        bool same = old.actor == tail.actor && old.thread == tail.thread;
        if (same && old.clock >= tail.clock)
            tail = old;
        if (!same && view->clocks[old.actor] < old.clock)
            view->tails[kept++] = old;
    }
    if (kept == TAILS_MOST)
        kept--;
    view->tails[kept++] = tail;
    view->tail_count = kept;
}

static void join_view(View *into, const View *from) {
    for (uint32_t i = 0; i < ACTORS_MOST; i++)
        if (from->clocks[i] > into->clocks[i])
            into->clocks[i] = from->clocks[i];
    for (uint32_t i = 0; i < from->tail_count; i++)
        add_tail(into, &from->tails[i]);
}

static bool covers(const View *view, const Event *event) {
    if (view->clocks[event->actor] >= event->clock)
        return true;
    for (uint32_t i = 0; i < view->tail_count; i++) {
        const Tail *tail = &view->tails[i];
        if (tail->actor == event->actor && tail->thread == event->thread && tail->clock >= event->clock)
            return true;
    }
    return false;
}

static Own *own_of(Owns *owns, uint32_t thread, bool make) {
    for (uint32_t i = 0; i < owns->count; i++)
        if (owns->items[i]->thread == thread)
            return owns->items[i];
    if (!make)
        return NULL;
    if (owns->count == owns->room) {
        owns->room = owns->room ? 2 * owns->room : 8;
        owns->items = realloc(owns->items, owns->room * sizeof(Own *));
    }
    Own *own = calloc(1, sizeof(Own));
    own->thread = thread;
    return owns->items[owns->count++] = own;
}

static void clear_owns(Owns *owns) {
    for (uint32_t i = 0; i < owns->count; i++)
        free(owns->items[i]);
    owns->count = 0;
}

/* Actors ---------------------------------------------------------------------------------------------------------- */

static View *rank_view(uint32_t rank) {
    if (!rank_views[rank])
        rank_views[rank] = calloc(1, sizeof(View));
    return rank_views[rank];
}

static Actor *actor_at(uint32_t number) {
    if (!actors[number]) {
        Actor *actor = actors[number] = calloc(1, sizeof(Actor));
        actor->seen = calloc(ACTORS_MOST, sizeof(Seen));
        join_view(&actor->view, rank_view(number / ACTOR_BLOCKS));
        actor->clock = actor->barrier = actor->view.clocks[number] + 1;
    }
    return actors[number];
}

/* The actor that runs now, or -1. */
static int64_t actor_here(int64_t who[3]) {
    if (!fly_ranks_here(who) || who[1] >= ACTOR_BLOCKS)
        return -1;
    return (who[0] < 0 ? 0 : who[0]) * ACTOR_BLOCKS + who[1];
}

static void new_stretch(Actor *actor) {
    for (uint32_t i = 0; i < actor->taken.count; i++)
        join_view(&actor->view, &actor->taken.items[i]->view);
    clear_owns(&actor->taken);
    actor->barrier = ++actor->clock;
}

static void ranks_barrier(void) {
    ARRAY int64_t who[3];
    int64_t number = actor_here(who);
    if (number >= 0)
        new_stretch(actor_at(number));
}

/* What a thread shows with a release now. */
static void show(View *into, uint32_t number, uint32_t thread) {
    Actor *actor = actor_at(number);
    Own *taken = own_of(&actor->taken, thread, false);
    join_view(into, &actor->view);
    if (taken)
        join_view(into, &taken->view);
    if (into->clocks[number] < actor->barrier - 1)
        into->clocks[number] = actor->barrier - 1;
    Tail tail = {number, thread, actor->clock};
    add_tail(into, &tail);
    actor->clock++;
}

/* Hooks of the scheduler. */
static void launch_began(int32_t rank) {
    for (uint32_t block = 0; block < ACTOR_BLOCKS; block++) {
        Actor *actor = actors[rank * ACTOR_BLOCKS + block];
        if (actor) {
            join_view(&actor->view, rank_view(rank));
            new_stretch(actor);
        }
    }
}

static void launch_ended(int32_t rank) {
    View *view = rank_view(rank);
    for (uint32_t block = 0; block < ACTOR_BLOCKS; block++) {
        uint32_t number = rank * ACTOR_BLOCKS + block;
        Actor *actor = actors[number];
        if (!actor)
            continue;
        new_stretch(actor);
        clear_owns(&actor->near);
        clear_owns(&actor->far);
        clear_owns(&actor->shown);
        join_view(view, &actor->view);
        view->clocks[number] = actor->clock;
    }
}

static void ranks_met(void) {
    for (uint32_t i = 1; i < RANKS_MOST; i++)
        join_view(rank_view(0), rank_view(i));
    for (uint32_t i = 1; i < RANKS_MOST; i++)
        join_view(rank_view(i), rank_view(0));
}

static void ranks_started(void) {
    for (uint32_t i = 0; i < ACTORS_MOST; i++)
        if (actors[i]) {
            clear_owns(&actors[i]->taken);
            clear_owns(&actors[i]->near);
            clear_owns(&actors[i]->far);
            clear_owns(&actors[i]->shown);
            free(actors[i]->seen);
            free(actors[i]);
            actors[i] = NULL;
        }
    for (uint32_t i = 0; i < RANKS_MOST; i++) {
        free(rank_views[i]);
        rank_views[i] = NULL;
    }
    for (uint32_t i = 0; pages && i < PAGES; i++) {
        for (uint32_t k = 0; pages[i].cells && k < PAGE_CELLS; k++)
            free(pages[i].cells[k].sync);
        free(pages[i].cells);
    }
    free(pages);
    pages = NULL;
    told = false;
}

static const RankHooks hooks = {ranks_started, launch_began, launch_ended, ranks_met};

void fly_sanitizer_ranks_open(void) { fly_ranks_hooks(&hooks); }

int64_t *fly_sanitizer_ranks_report(void) { return rank_report; }

/* Memory ---------------------------------------------------------------------------------------------------------- */

static SharedCell *shared_cell(uint64_t address) {
    uint64_t number = address >> PAGE_BITS, at = number * UINT64_C(0x9E3779B97F4A7C15) >> 49;
    if (!pages)
        pages = calloc(PAGES, sizeof(*pages));
    for (uint32_t tries = 0; tries < PAGES; tries++, at = (at + 1) % PAGES) {
        if (!pages[at].cells) {
            pages[at].number = number;
            pages[at].cells = calloc(PAGE_CELLS, sizeof(SharedCell));
        }
        if (pages[at].number == number)
            return &pages[at].cells[(address >> 2) % PAGE_CELLS];
    }
    return NULL;
}

static void put_event(int64_t *words, const Event *event) {
    words[RANK_EVENT_SITE] = event->site;
    words[RANK_EVENT_RANK] = event->actor / ACTOR_BLOCKS;
    words[RANK_EVENT_BLOCK] = event->actor % ACTOR_BLOCKS;
    words[RANK_EVENT_THREAD] = event->thread;
    words[RANK_EVENT_CODE] = event->code;
}

static bool tell(enum RankFault fault, const Event *here, const Event *other, const Event *flag, uint64_t kind) {
    rank_report[RANK_REPORT_FAULT] = fault;
    rank_report[RANK_REPORT_KIND] = kind;
    put_event(&rank_report[RANK_REPORT_HERE], here);
    put_event(&rank_report[RANK_REPORT_OTHER], other);
    put_event(&rank_report[RANK_REPORT_FLAG], flag);
    return told = true;
}

/* Which rule was broken by an access that conflicts with an earlier one that its thread has not seen. */
static bool explain(Actor *actor, const Event *here, const Event *other, uint64_t kind, bool read_before) {
    const Seen *seen = &actor->seen[other->actor];
    if (read_before)
        return tell(RANK_REUSED, here, other, here, kind);
    if (!seen->store.clock)
        return tell(RANK_UNORDERED, here, other, here, kind);
    if (!seen->released)
        return tell(RANK_NO_RELEASE, here, other, &seen->store, kind);
    if (!seen->acquired)
        return tell(RANK_NO_ACQUIRE, here, other, &seen->look, kind);
    bool apart = other->thread != seen->store.thread && other->stretch == seen->store.stretch;
    if (!apart && other->when > seen->store.when)
        return tell(RANK_LATE, here, other, &seen->store, kind);
    for (uint32_t i = 0; i < actor->taken.count; i++)
        if (covers(&actor->taken.items[i]->view, other))
            return tell(RANK_NO_BARRIER_AFTER, here, other, &seen->look, kind);
    return tell(RANK_NO_BARRIER_BEFORE, here, other, &seen->store, kind);
}

/* Whether an earlier access of another actor is not known to have happened before. */
static bool unseen(Actor *actor, const Event *here, const Event *event) {
    if (!event->clock || event->actor == here->actor || covers(&actor->view, event))
        return false;
    Own *taken = own_of(&actor->taken, here->thread, false);
    return !taken || !covers(&taken->view, event);
}

/* An atomic load, or the reading half of an atomic: takes what the flag shows. Whether its scope is too narrow. */
static bool look_at(SharedCell *cell, Actor *actor, const Event *here, uint64_t kind) {
    Sync *sync = cell->sync;
    if (!sync || sync->store.actor == here->actor)
        return false;
    uint32_t from = sync->store.actor / ACTOR_BLOCKS, mine = here->actor / ACTOR_BLOCKS;
    if (from != mine && !(cell->write_kind & ACCESS_SYSTEM))
        return tell(RANK_STORE_SCOPE, here, &sync->store, &sync->store, kind);
    if (from != mine && !(kind & ACCESS_SYSTEM))
        return tell(RANK_LOAD_SCOPE, here, &sync->store, here, kind);
    bool wide = kind & (ACCESS_SYSTEM | ACCESS_DEVICE);
    Seen *seen = &actor->seen[sync->store.actor];
    *seen = (Seen){sync->store, *here, sync->released, wide && kind & ACCESS_ACQUIRE};
    if (seen->acquired)
        join_view(&own_of(&actor->taken, here->thread, true)->view, &sync->view);
    else
        join_view(&own_of(from == mine ? &actor->near : &actor->far, here->thread, true)->view, &sync->view);
    return false;
}

/* An atomic store, or the writing half of an atomic: the flag shows what its thread has to show. */
static void raise_flag(SharedCell *cell, Actor *actor, const Event *here, uint64_t kind) {
    if (!cell->sync)
        cell->sync = calloc(1, sizeof(Sync));
    Own *shown = own_of(&actor->shown, here->thread, false);
    if (!(kind & ACCESS_READ)) { /* an atomic of both kinds goes on with what was shown before */
        __builtin_memset(&cell->sync->view, 0, sizeof(View));
        cell->sync->released = false;
    }
    cell->sync->store = *here;
    if (kind & ACCESS_RELEASE) {
        cell->sync->released = true;
        show(&cell->sync->view, here->actor, here->thread);
    } else if (shown) {
        cell->sync->released = true;
        join_view(&cell->sync->view, &shown->view);
    }
}

/* Note an access in its cell; whether it is a fault. */
static bool ranks_cell(SharedCell *cell, uint8_t mask, Actor *actor, const Event *here, uint64_t kind) {
    bool writes = kind & ACCESS_WRITE, atomic = kind & ACCESS_ATOMIC;
    if (cell->write_mask & mask && !(atomic && cell->write_atomic) && unseen(actor, here, &cell->write)) {
        if (atomic != cell->write_atomic)
            return tell(RANK_PLAIN_FLAG, here, &cell->write, atomic ? &cell->write : here, kind);
        return explain(actor, here, &cell->write, kind, false);
    }
    for (uint32_t i = 0; writes && i < READERS; i++)
        if (cell->read_masks[i] & mask && unseen(actor, here, &cell->reads[i])) {
            const Event *read = &cell->reads[i];
            return atomic ? tell(RANK_PLAIN_FLAG, here, read, read, kind) : explain(actor, here, read, kind, true);
        }
    if (atomic && kind & ACCESS_READ && look_at(cell, actor, here, kind))
        return true;
    if (writes) {
        if (atomic)
            raise_flag(cell, actor, here, kind);
        else { /* what a flag showed is gone with it */
            free(cell->sync);
            cell->sync = NULL;
        }
        cell->write = *here;
        cell->write_mask = mask;
        cell->write_atomic = atomic;
        cell->write_kind = kind;
    } else if (!atomic)
        for (uint32_t i = 0; i < READERS; i++)
            if (!cell->reads[i].clock || cell->reads[i].actor == here->actor) {
                cell->reads[i] = *here;
                cell->read_masks[i] |= mask;
                break;
            }
    return false;
}

/* An access to memory that ranks share; whether the launch must stop. */
static bool ranks_access(uint64_t site, uint64_t address, uint64_t bytes, uint64_t kind, uint64_t thread) {
    ARRAY int64_t who[3];
    int64_t number = actor_here(who);
    if (told || number < 0 || !fly_ranks_share(address))
        return false;
    Actor *actor = actor_at(number);
    Event here = {++accesses, number, actor->clock, site, actor->barrier, thread, who[2]};
    for (uint64_t low = address & ~UINT64_C(3); low < address + bytes; low += 4) {
        uint64_t from = larger(address, low), to = smaller(address + bytes, low + 4);
        SharedCell *cell = shared_cell(low);
        uint8_t mask = (1 << (to - low)) - (1 << (from - low));
        if (cell && ranks_cell(cell, mask, actor, &here, kind))
            return true;
    }
    return false;
}

/* A fence of a thread: looks before it acquire, and stores behind it release. */
void fly_sanitizer_ranks_fence(uint64_t kind, uint64_t thread) {
    ARRAY int64_t who[3];
    int64_t number = flags & CHECK_RANKS ? actor_here(who) : -1;
    if (number < 0 || !(kind & (ACCESS_SYSTEM | ACCESS_DEVICE)))
        return;
    Actor *actor = actor_at(number);
    Own *near = own_of(&actor->near, thread, false), *far = own_of(&actor->far, thread, false);
    bool system = kind & ACCESS_SYSTEM;
    if (kind & ACCESS_ACQUIRE && near)
        join_view(&own_of(&actor->taken, thread, true)->view, &near->view);
    if (kind & ACCESS_ACQUIRE && far && system)
        join_view(&own_of(&actor->taken, thread, true)->view, &far->view);
    for (uint32_t i = 0; kind & ACCESS_ACQUIRE && i < ACTORS_MOST; i++)
        if (actor->seen[i].look.thread == thread && (system || i / ACTOR_BLOCKS == number / ACTOR_BLOCKS))
            actor->seen[i].acquired = true;
    if (kind & ACCESS_RELEASE) {
        Own *shown = own_of(&actor->shown, thread, true);
        show(&shown->view, number, thread);
    }
}

/* Who wrote an element last, for a comparison of what ranks have; whether anybody did. */
bool fly_sanitizer_ranks_writer(uint64_t address) {
    SharedCell *cell = pages ? shared_cell(address) : NULL;
    if (!cell || !cell->write.clock)
        return false;
    put_event(&rank_report[RANK_REPORT_OTHER], &cell->write);
    return true;
}

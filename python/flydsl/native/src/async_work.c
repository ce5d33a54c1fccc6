/* Asynchronous work of a workgroup or cluster: copies and products that a kernel has asked for and not yet waited for.
 *
 * Work lands as late as the program's waits allow, so a program that forgets one reads what was there before. With a
 * seed (FLYDSL_ASYNC_SEED) it lands anywhere between. Three kinds of waits find their work:
 *   a queue of each thread counts groups or operations: cp.async, bulk stores, AMD's wait counts
 *   an mbarrier has the loads that complete it
 *   a warpgroup has its products, whose registers hold handles until a wait hands the numbers out
 *
 * One thread runs a workgroup, and one all fibers of a cluster, so nothing here needs to be atomic.
 */
#include "native.h"

#define ENTRY(name) KERNEL_NAME(name) NOINLINE /* inlining it everywhere costs compile time and gains nothing */

void *malloc(size_t bytes);
void *realloc(void *memory, size_t bytes);
char *getenv(const char *name);

enum {
    WAVE = 32,
    GROUP = 128,      /* threads of a warpgroup */
    MARKS = 16,       /* groups of products a wave may leave open: more than an instruction can name */
    BUFFERS = 32,     /* accumulators of a warpgroup that are under way or just done */
    HANDLE = 0x3FD,   /* high bits of a register under way, a signalling NaN; then the buffer's number and the word's */
    WORD_BITS = 7,
    BUFFER_BITS = 14,
    POISON = 0xA5,    /* what shared memory holds when its block has gone */
    LOST = 0x7FFFFFFF, /* what a product of registers that no fence has shown gives */
};

static ARRAY const char SEED[] = "FLYDSL_ASYNC_SEED";

typedef struct Async Async;
typedef struct Item Item;
typedef void Land(Item *item);
typedef void Settle(uint64_t ticket);
typedef void Update(uint64_t *barrier, uint32_t arrivals, int32_t bytes);
typedef bool Test(const volatile uint64_t *barrier, uint32_t parity);
typedef void Box(const uint64_t *map, char *shared, uint32_t offset, int32_t kind, int32_t c0, int32_t c1, int32_t c2,
                 int32_t c3, int32_t c4);
typedef void Tile(const int64_t *table, char *shared, bool store);
typedef void Multiply(char *a, char *b, char *c, char *d, char *scale, char *shared);

/* One copy. Items lie in a pool and are chained by number; 0 is none. */
struct Item {
    uint32_t next;
    uint64_t position; /* of its queue when it was issued */
    uint64_t ticket;   /* of the checker, or 0 */
    Land *land;
    void *engine;      /* a Box or a Tile */
    char *source, *target;
    char *snapshot;    /* what a store has read, when its source may be overwritten before it lands */
    uint64_t *barrier; /* that the bytes of a load complete */
    uint32_t bytes, filled;
    uint32_t offset;
    int32_t kind;
    int32_t coordinates[MAP_MODES];
};

typedef struct {
    uint32_t first, last;
    uint64_t position; /* groups closed, or operations counted */
} Queue;

/* Accumulators of a chain of products. */
typedef struct {
    uint64_t number, last; /* the handle's number; the last product of the chain, counted from 1 */
    uint64_t site;         /* where that is asked for, for the checker */
    uint64_t words;
    uint32_t *data;
} Buffer;

typedef struct Product {
    struct Product *next;
    Multiply *multiply;
    Buffer *buffer;
    char *shared;
    uint64_t tickets[2];
    uint64_t b;
    int32_t scale;
    bool unfenced;
    char a[]; /* a descriptor, or the registers of all threads */
} Product;

typedef struct {
    uint64_t issued, landed, buffers;
    Product *first, *last;
    Buffer ring[BUFFERS];
    struct {
        uint64_t commits, marks[MARKS];
        bool fenced; /* registers that others wrote are shown to products */
    } waves[GROUP / WAVE];
} Warpgroup;

struct Async {
    uint64_t queues, groups, seed;
    uint64_t first_buffer; /* numbers of buffers differ from those of the block before, whose handles may lie about */
    Queue *queue;
    Item *items;
    uint32_t item_count, item_room, free_item;
    Queue loads; /* that complete mbarriers, in the order of issue */
    Update *update;
    Warpgroup **group;
    Settle *settle;
};

Async *fly_async_begin(uint64_t queues, uint64_t groups, uint64_t number, Settle *settle) ENTRY(async_begin);
void fly_async_end(Async *async, char *shared, uint64_t bytes, uint64_t stride, uint64_t blocks) ENTRY(async_end);
void fly_async_stir(Async *async) ENTRY(async_stir);

/* Where a run of this many queues and warpgroups keeps its work; `number` tells blocks apart where a seed chooses. */
Async *fly_async_begin(uint64_t queues, uint64_t groups, uint64_t number, Settle *settle) {
    Async *async = calloc(1, sizeof(Async) + queues * sizeof(Queue) + groups * sizeof(Warpgroup *));
    if (!async)
        return NULL;
    async->queues = queues;
    async->groups = groups;
    async->queue = (Queue *)(async + 1);
    async->group = (Warpgroup **)(async->queue + queues);
    async->settle = settle;
    async->first_buffer = number * 61;
    const uint8_t *digit = (const uint8_t *)getenv(SEED);
    uint64_t seed = 0;
    for (; digit && *digit >= '0' && *digit <= '9'; digit++)
        seed = seed * 10 + (*digit - '0');
    if (seed)
        async->seed = (seed * UINT64_C(0x9E3779B97F4A7C15) ^ (number + 1) * UINT64_C(0xD1B54A32D192ED03)) | 1;
    return async;
}

/* Whether work lands here because a seed says so. */
static bool lands_now(Async *async) {
    if (!async->seed)
        return false;
    async->seed ^= async->seed << 13;
    async->seed ^= async->seed >> 7;
    async->seed ^= async->seed << 17;
    return (async->seed >> 33) % 3 == 0;
}

static void settle(Async *async, uint64_t ticket) {
    if (ticket && async->settle)
        async->settle(ticket);
}

/* Copies ---------------------------------------------------------------------------------------------------------- */

void fly_copy_issue(Async *async, uint64_t queue, char *target, const char *source, uint32_t bytes, uint32_t filled,
                    bool stores, uint64_t ticket) ENTRY(copy_issue);
void fly_copy_count(Async *async, uint64_t queue) ENTRY(copy_count);
void fly_copy_wait(Async *async, uint64_t queue, uint64_t pending) ENTRY(copy_wait);
void fly_copy_wait_read(Async *async, uint64_t queue, uint64_t pending) ENTRY(copy_wait_read);
void fly_copy_wait_all(Async *async, uint64_t first, uint64_t count) ENTRY(copy_wait_all);
void fly_copy_load(Async *async, char *target, const char *source, uint32_t bytes, uint64_t *barrier, Update *update,
                   uint64_t ticket) ENTRY(copy_load);
void fly_copy_box(Async *async, uint64_t queue, Box *box, const uint64_t *map, char *shared, uint32_t offset,
                  int32_t kind, int32_t c0, int32_t c1, int32_t c2, int32_t c3, int32_t c4, uint32_t bytes,
                  uint64_t *barrier, Update *update, uint64_t ticket) ENTRY(copy_box);
void fly_copy_tile(Async *async, uint64_t queue, Tile *tile, const int64_t *table, uint64_t words, char *shared,
                   bool store, uint64_t ticket) ENTRY(copy_tile);
void fly_copy_arrive(Async *async, uint64_t *barrier, uint32_t parity, Test *test) ENTRY(copy_arrive);

static void land_bytes(Item *item) {
    const char *source = item->snapshot ? item->snapshot : item->source;
    __builtin_memcpy(item->target, source, item->filled);
    __builtin_memset(item->target + item->filled, 0, item->bytes - item->filled);
}

static void land_box(Item *item) {
    const int32_t *c = item->coordinates;
    char *shared = item->snapshot ? item->snapshot - item->offset : item->target;
    ((Box *)item->engine)((const uint64_t *)item->source, shared, item->offset, item->kind, c[0], c[1], c[2], c[3],
                          c[4]);
}

static void land_tile(Item *item) { ((Tile *)item->engine)((const int64_t *)item->snapshot, item->target, item->kind); }

static Item *item_at(Async *async, uint32_t number) { return async->items + number; }

/* A new item at the end of a queue, or 0 without memory. */
static Item *append(Async *async, Queue *queue, Land *land, uint64_t ticket) {
    uint32_t number = async->free_item;
    if (number)
        async->free_item = item_at(async, number)->next;
    else {
        if (async->item_count + 1 >= async->item_room) {
            uint32_t room = async->item_room ? 2 * async->item_room : 64;
            Item *items = realloc(async->items, room * sizeof(Item));
            if (!items)
                __builtin_trap();
            async->items = items;
            async->item_room = room;
        }
        number = ++async->item_count;
    }
    Item *item = item_at(async, number);
    *item = (Item){.position = queue->position, .land = land, .ticket = ticket};
    if (queue->first)
        item_at(async, queue->last)->next = number;
    else
        queue->first = number;
    queue->last = number;
    return item;
}

/* Take an item out of a queue, behind the item `before` or at its head; the number of the one that follows. */
static uint32_t removed(Async *async, Queue *queue, uint32_t before, uint32_t number) {
    Item *item = item_at(async, number);
    uint32_t next = item->next;
    if (before)
        item_at(async, before)->next = next;
    else
        queue->first = next;
    if (queue->last == number)
        queue->last = before;
    free(item->snapshot);
    item->next = async->free_item;
    async->free_item = number;
    return next;
}

static void land(Async *async, uint32_t number) {
    Item *item = item_at(async, number);
    item->land(item);
    settle(async, item->ticket);
    if (item->barrier)
        async->update(item->barrier, 0, -(int32_t)item->bytes);
}

/* Land the first items of a queue as long as they were issued before a position. */
static void land_before(Async *async, Queue *queue, uint64_t position) {
    while (queue->first && item_at(async, queue->first)->position < position) {
        land(async, queue->first);
        removed(async, queue, 0, queue->first);
    }
}

static void stir_queue(Async *async, Queue *queue) {
    while (queue->first && lands_now(async)) {
        land(async, queue->first);
        removed(async, queue, 0, queue->first);
    }
}

/* Bytes from source to target, zeros behind the first `filled` of them. A store reads shared memory. */
void fly_copy_issue(Async *async, uint64_t queue, char *target, const char *source, uint32_t bytes, uint32_t filled,
                    bool stores, uint64_t ticket) {
    Item *item = append(async, async->queue + queue, land_bytes, ticket);
    item->target = target;
    item->source = (char *)source;
    item->bytes = bytes;
    item->filled = filled;
    item->kind = stores ? BOX_STORE : BOX_LOAD;
    if (async->seed)
        stir_queue(async, async->queue + queue);
}

/* A group is closed, or one more operation is counted. */
void fly_copy_count(Async *async, uint64_t queue) { async->queue[queue].position++; }

/* Wait until at most `pending` groups or operations are under way. */
void fly_copy_wait(Async *async, uint64_t queue, uint64_t pending) {
    Queue *own = async->queue + queue;
    if (own->position > pending)
        land_before(async, own, own->position - pending);
    if (async->seed)
        stir_queue(async, own);
}

/* The same for the sources of stores: they may be overwritten, and the stores still be under way. */
void fly_copy_wait_read(Async *async, uint64_t queue, uint64_t pending) {
    Queue *own = async->queue + queue;
    for (uint32_t number = own->first; number; number = item_at(async, number)->next) {
        Item *item = item_at(async, number);
        if (item->position + pending >= own->position || item->snapshot)
            continue;
        item->snapshot = malloc(item->bytes + 128);
        if (!item->snapshot)
            __builtin_trap();
        __builtin_memcpy(item->snapshot, item->land == land_box ? item->target + item->offset : item->source,
                         item->bytes);
        settle(async, item->ticket);
        item->ticket = 0;
    }
}

/* Wait for everything in a row of queues, open groups included. */
void fly_copy_wait_all(Async *async, uint64_t first, uint64_t count) {
    for (uint64_t queue = first; queue < first + count; queue++)
        land_before(async, async->queue + queue, ~UINT64_C(0));
}

/* Bytes that complete an mbarrier. */
void fly_copy_load(Async *async, char *target, const char *source, uint32_t bytes, uint64_t *barrier, Update *update,
                   uint64_t ticket) {
    async->update = update;
    Item *item = append(async, &async->loads, land_bytes, ticket);
    item->target = target;
    item->source = (char *)source;
    item->bytes = item->filled = bytes;
    item->barrier = barrier;
    fly_async_stir(async);
}

/* A box of TMA: a load that completes an mbarrier, or a store in a queue. */
void fly_copy_box(Async *async, uint64_t queue, Box *box, const uint64_t *map, char *shared, uint32_t offset,
                  int32_t kind, int32_t c0, int32_t c1, int32_t c2, int32_t c3, int32_t c4, uint32_t bytes,
                  uint64_t *barrier, Update *update, uint64_t ticket) {
    async->update = update;
    Item *item = append(async, barrier ? &async->loads : async->queue + queue, land_box, ticket);
    item->engine = (void *)box;
    item->source = (char *)map;
    item->target = shared;
    item->offset = offset;
    item->kind = kind;
    item->coordinates[0] = c0;
    item->coordinates[1] = c1;
    item->coordinates[2] = c2;
    item->coordinates[3] = c3;
    item->coordinates[4] = c4;
    item->bytes = bytes;
    item->barrier = barrier;
    fly_async_stir(async);
}

/* A tile of gfx1250's tensor data mover, by its table of numbers; each is one operation that its wave counts. */
void fly_copy_tile(Async *async, uint64_t queue, Tile *tile, const int64_t *table, uint64_t words, char *shared,
                   bool store, uint64_t ticket) {
    Item *item = append(async, async->queue + queue, land_tile, ticket);
    item->engine = (void *)tile;
    item->snapshot = malloc(words * sizeof(int64_t));
    if (!item->snapshot)
        __builtin_trap();
    __builtin_memcpy(item->snapshot, table, words * sizeof(int64_t));
    item->target = shared;
    item->kind = store;
    async->queue[queue].position++;
    if (async->seed)
        stir_queue(async, async->queue + queue);
}

/* Somebody waits for a phase of an mbarrier: the loads that complete it arrive. */
void fly_copy_arrive(Async *async, uint64_t *barrier, uint32_t parity, Test *test) {
    for (uint32_t before = 0, number = async->loads.first; number && !test(barrier, parity);) {
        if (item_at(async, number)->barrier == barrier) {
            land(async, number);
            number = removed(async, &async->loads, before, number);
        } else {
            before = number;
            number = item_at(async, number)->next;
        }
    }
}

/* Products -------------------------------------------------------------------------------------------------------- */

#include "async_products.h"

/* The whole ------------------------------------------------------------------------------------------------------- */

/* A place where others may have gone on: with a seed, some work lands. */
void fly_async_stir(Async *async) {
    if (!async->seed)
        return;
    for (uint32_t before = 0, number = async->loads.first; number;) {
        if (lands_now(async)) {
            land(async, number);
            number = removed(async, &async->loads, before, number);
        } else {
            before = number;
            number = item_at(async, number)->next;
        }
    }
    for (uint64_t queue = 0; queue < async->queues; queue++)
        if (async->queue[queue].first)
            stir_queue(async, async->queue + queue);
    for (uint64_t number = 0; number < async->groups; number++)
        if (async->group[number] && lands_now(async))
            land_products(async, async->group[number], async->group[number]->landed + 1);
}

/* The blocks have ended: stores that nobody waited for read memory that is somebody else's by now. */
void fly_async_end(Async *async, char *shared, uint64_t bytes, uint64_t stride, uint64_t blocks) {
    if (!async)
        return;
    bool gone = false;
    for (uint64_t queue = 0; queue < async->queues; queue++)
        for (uint32_t number = async->queue[queue].first; number; number = item_at(async, number)->next) {
            Item *item = item_at(async, number);
            for (uint64_t block = 0; !gone && item->kind != BOX_LOAD && block < blocks; block++)
                __builtin_memset(shared + block * stride, POISON, bytes);
            gone |= item->kind != BOX_LOAD;
            if (item->kind != BOX_LOAD)
                item->land(item);
            free(item->snapshot);
        }
    for (uint64_t number = 0; number < async->groups; number++) {
        Warpgroup *group = async->group[number];
        for (Product *product = group ? group->first : NULL; product;) {
            Product *next = product->next;
            free(product);
            product = next;
        }
        for (uint64_t index = 0; group && index < BUFFERS; index++)
            free(group->ring[index].data);
        free(group);
    }
    free(async->items);
    free(async);
}

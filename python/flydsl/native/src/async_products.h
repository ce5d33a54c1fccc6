/* Products of warpgroups: asked for, landing when they are waited for. A part of async_work.c, which includes it once. */

bool fly_product_issue(Async *async, uint64_t group, Multiply *multiply, const char *a, uint64_t a_bytes,
                       const uint64_t *b, const char *c, uint64_t c_bytes, char *d, uint64_t d_bytes, uint64_t words,
                       const int32_t *scale, char *shared, uint64_t site, uint64_t ticket_a, uint64_t ticket_b)
    ENTRY(product_issue);
void fly_product_fence(Async *async, uint64_t first, uint64_t threads) ENTRY(product_fence);
void fly_product_commit(Async *async, uint64_t first, uint64_t threads) ENTRY(product_commit);
void fly_product_wait(Async *async, uint64_t first, uint64_t threads, uint64_t pending, char *rows, uint64_t bytes,
                      uint64_t words) ENTRY(product_wait);
uint64_t fly_product_pending(Async *async, uint64_t thread, const uint32_t *words, uint64_t count)
    ENTRY(product_pending);

static Warpgroup *group_at(Async *async, uint64_t number) {
    if (!async->group[number]) {
        async->group[number] = calloc(1, sizeof(Warpgroup));
        if (!async->group[number])
            __builtin_trap();
        async->group[number]->buffers = async->first_buffer;
    }
    return async->group[number];
}

static uint32_t handle(const Buffer *buffer, uint64_t word) {
    return (uint32_t)HANDLE << (WORD_BITS + BUFFER_BITS) |
           (uint32_t)(buffer->number & ((1 << BUFFER_BITS) - 1)) << WORD_BITS | (uint32_t)word;
}

/* The buffer that a register's content stands for, or null where it is a number. */
static Buffer *buffer_of(Warpgroup *group, uint32_t content) {
    if (content >> (WORD_BITS + BUFFER_BITS) != HANDLE)
        return NULL;
    uint64_t number = content >> WORD_BITS & ((1 << BUFFER_BITS) - 1);
    Buffer *buffer = group->ring + number % BUFFERS;
    bool held = buffer->data && (buffer->number & ((1 << BUFFER_BITS) - 1)) == number;
    return held && (content & ((1 << WORD_BITS) - 1)) < buffer->words ? buffer : NULL;
}

static void land_products(Async *async, Warpgroup *group, uint64_t until) {
    while (group->first && group->landed < until) {
        Product *product = group->first;
        char *data = (char *)product->buffer->data;
        product->multiply(product->a, (char *)&product->b, data, data, (char *)&product->scale, product->shared);
        for (uint64_t word = 0; product->unfenced && word < GROUP * product->buffer->words; word++)
            product->buffer->data[word] = LOST;
        settle(async, product->tickets[0]);
        settle(async, product->tickets[1]);
        group->first = product->next;
        group->landed++;
        free(product);
    }
}

/* Put the numbers that have arrived in the place of their handles. */
static void hand_out(Warpgroup *group, uint32_t *row, uint64_t words, uint64_t thread) {
    for (uint64_t word = 0; word < words; word++) {
        Buffer *buffer = buffer_of(group, row[word]);
        if (buffer && buffer->last <= group->landed)
            row[word] = buffer->data[thread * buffer->words + (row[word] & ((1 << WORD_BITS) - 1))];
    }
}

static Buffer *new_buffer(Async *async, Warpgroup *group, const char *c, uint64_t c_bytes, uint64_t words) {
    Buffer *buffer = group->ring + ++group->buffers % BUFFERS;
    if (buffer->data && buffer->last > group->landed)
        land_products(async, group, buffer->last);
    if (buffer->words != words) {
        free(buffer->data);
        buffer->data = malloc(GROUP * words * sizeof(uint32_t));
        if (!buffer->data)
            __builtin_trap();
        buffer->words = words;
    }
    buffer->number = group->buffers;
    for (uint64_t thread = 0; thread < GROUP; thread++) {
        uint32_t *row = buffer->data + thread * words;
        __builtin_memcpy(row, c + thread * c_bytes, words * sizeof(uint32_t));
        hand_out(group, row, words, thread);
    }
    return buffer;
}

/* The buffer whose registers the accumulators are, all of them in order, or null. */
static Buffer *chained(Warpgroup *group, const char *c, uint64_t c_bytes, uint64_t words) {
    Buffer *buffer = buffer_of(group, *(const uint32_t *)c);
    if (!buffer || buffer->words != words)
        return NULL;
    for (uint64_t thread = 0; thread < GROUP; thread++)
        for (uint64_t word = 0; word < words; word++)
            if (((const uint32_t *)(c + thread * c_bytes))[word] != handle(buffer, word))
                return NULL;
    return buffer;
}

/* Whether accumulators are what a wait handed out, and nobody has touched them since. */
static bool untouched(const Warpgroup *group, const char *c, uint64_t c_bytes, uint64_t words) {
    for (uint64_t index = 0; index < BUFFERS; index++) {
        const Buffer *buffer = group->ring + index;
        bool same = buffer->data && buffer->words == words && buffer->last <= group->landed;
        for (uint64_t thread = 0; same && thread < GROUP; thread++)
            same = !__builtin_memcmp(c + thread * c_bytes, buffer->data + thread * words, words * sizeof(uint32_t));
        if (same)
            return true;
    }
    return false;
}

/* A product of a warpgroup. Registers of A are read now; shared memory and the accumulators when it lands. Whether no
 * fence has shown it the registers that it reads. */
bool fly_product_issue(Async *async, uint64_t group_number, Multiply *multiply, const char *a, uint64_t a_bytes,
                       const uint64_t *b, const char *c, uint64_t c_bytes, char *d, uint64_t d_bytes, uint64_t words,
                       const int32_t *scale, char *shared, uint64_t site, uint64_t ticket_a, uint64_t ticket_b) {
    Warpgroup *group = group_at(async, group_number);
    Product *product = malloc(sizeof(Product) + a_bytes);
    if (!product)
        __builtin_trap();
    Buffer *buffer = chained(group, c, c_bytes, words);
    bool fenced = true;
    for (uint64_t wave = 0; wave < GROUP / WAVE; wave++)
        fenced &= group->waves[wave].fenced;
    bool told = fenced || (a_bytes == sizeof(uint64_t) && (buffer || untouched(group, c, c_bytes, words)));
    *product = (Product){.multiply = multiply, .shared = shared, .b = *b, .scale = *scale, .unfenced = !told};
    product->buffer = buffer ? buffer : new_buffer(async, group, c, c_bytes, words);
    product->tickets[0] = ticket_a;
    product->tickets[1] = ticket_b;
    __builtin_memcpy(product->a, a, a_bytes);
    if (group->first)
        group->last->next = product;
    else
        group->first = product;
    group->last = product;
    product->buffer->last = ++group->issued;
    product->buffer->site = site;
    for (uint64_t thread = 0; thread < GROUP; thread++)
        for (uint64_t word = 0; word < words; word++)
            ((uint32_t *)(d + thread * d_bytes))[word] = handle(product->buffer, word);
    fly_async_stir(async);
    return !told;
}

/* The waves of these threads show their registers to the products that follow. */
void fly_product_fence(Async *async, uint64_t first, uint64_t threads) {
    for (uint64_t thread = first; thread < first + threads && thread / GROUP < async->groups; thread += WAVE)
        group_at(async, thread / GROUP)->waves[thread % GROUP / WAVE].fenced = true;
}

/* The waves of these threads close a group each. */
void fly_product_commit(Async *async, uint64_t first, uint64_t threads) {
    for (uint64_t thread = first; thread < first + threads && thread / GROUP < async->groups; thread += WAVE) {
        Warpgroup *group = group_at(async, thread / GROUP);
        uint64_t wave = thread % GROUP / WAVE;
        group->waves[wave].marks[group->waves[wave].commits++ % MARKS] = group->issued;
    }
}

/* The waves of these threads wait until at most `pending` groups are under way; accumulators that have arrived are put
 * into their registers, `words` in a row of `bytes` for each thread. */
void fly_product_wait(Async *async, uint64_t first, uint64_t threads, uint64_t pending, char *rows, uint64_t bytes,
                      uint64_t words) {
    for (uint64_t thread = first; thread < first + threads && thread / GROUP < async->groups; thread++) {
        Warpgroup *group = group_at(async, thread / GROUP);
        uint64_t wave = thread % GROUP / WAVE, commits = group->waves[wave].commits;
        group->waves[wave].fenced = false;
        if (thread % WAVE == 0 && commits > pending)
            land_products(async, group, group->waves[wave].marks[(commits - pending - 1) % MARKS]);
        hand_out(group, (uint32_t *)(rows + (thread - first) * bytes), words, thread % GROUP);
    }
}

/* The first of some registers that holds a handle, as its place counted from 1 and, from bit 32 on, the site of its
 * product; 0 when none does. */
uint64_t fly_product_pending(Async *async, uint64_t thread, const uint32_t *words, uint64_t count) {
    Warpgroup *group = thread / GROUP < async->groups ? async->group[thread / GROUP] : NULL;
    for (uint64_t word = 0; group && word < count; word++) {
        const Buffer *buffer = buffer_of(group, words[word]);
        if (buffer)
            return buffer->site << 32 | (word + 1);
    }
    return 0;
}

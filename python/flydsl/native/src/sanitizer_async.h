/* The checks on copies and products under way. A part of sanitizer.c, which includes it once. */

static bool fill_async(enum AsyncFault fault, const Touch *touch, uint64_t address, uint64_t other) {
    fill(CHECK_ASYNC, touch, address, other);
    report[REPORT_ASYNC] = fault;
    return true;
}

static bool under_way(uint64_t ticket) { return ticket >= first_ticket && tickets[ticket].open; }

/* Whether an access meets work under way at one byte of scratch, by its offset. */
static bool meets_work(const Touch *touch, uint64_t byte) {
    bool writes = touch->kind & ACCESS_WRITE, engine = touch->kind & ACCESS_ENGINE;
    if (under_way(fillers[byte]))
        return fill_async(ASYNC_FILLED, touch, scratch + byte, tickets[fillers[byte]].who);
    if (writes && under_way(readers[byte]))
        return fill_async(ASYNC_READ, touch, scratch + byte, tickets[readers[byte]].who);
    if (engine && !writes && !(touch->kind & ACCESS_QUIET) && write_times[byte] > fence_time)
        return fill_async(ASYNC_UNFENCED, touch, scratch + byte, who_is(writers[byte] >> 20, writers[byte] & 0xFFFFF));
    return false;
}

/* The same for all bytes of an access; what the kernel writes itself is noted. */
static bool disturbs(const Touch *touch) {
    uint64_t first = touch->address - scratch, stop = first + touch->bytes;
    if (first > scratch_bytes || stop > scratch_bytes)
        return false;
    uint64_t now = tick();
    for (uint64_t byte = first; byte < stop; byte++) {
        if (meets_work(touch, byte))
            return true;
        if (touch->kind & ACCESS_WRITE && !(touch->kind & ACCESS_ENGINE)) {
            write_times[byte] = now;
            writers[byte] = touch->thread << WHO_SITE_BITS | touch->site;
        }
    }
    return false;
}

static uint64_t new_ticket(const Touch *touch, bool store) {
    if (ticket_count + 1 >= ticket_room) {
        ticket_room = ticket_room ? 2 * ticket_room : 1024;
        Ticket *more = realloc(tickets, ticket_room * sizeof(Ticket));
        if (!more)
            __builtin_trap();
        tickets = more;
    }
    tickets[++ticket_count] = (Ticket){
        .address = touch->address, .bytes = touch->bytes, .who = who_is(touch->thread, touch->site), .low = touch->low,
        .end = touch->end, .reads = !(touch->kind & ACCESS_WRITE), .open = true, .store = store,
    };
    return ticket_count;
}

/* A copy begins to fill or, a store, to read shared memory: its ticket, 0 where nobody checks, -1 when the launch must
 * stop. */
int64_t fly_sanitizer_pending(uint64_t site, uint64_t address, uint64_t bytes, uint64_t kind, uint64_t thread,
                              uint64_t low, uint64_t end, int64_t region) {
    Touch touch = {site, address, bytes, kind | ACCESS_ENGINE, thread, low, end, region};
    uint64_t first = address - scratch;
    if (!(flags & CHECK_ASYNC) || !bytes || first > scratch_bytes || first + bytes > scratch_bytes)
        return 0;
    if (disturbs(&touch))
        return -1;
    uint64_t ticket = new_ticket(&touch, !(kind & ACCESS_WRITE));
    for (uint64_t byte = first; byte < first + bytes; byte++)
        (kind & ACCESS_WRITE ? fillers : readers)[byte] = ticket;
    return ticket;
}

enum { CHUNK = 16, ATOM_ROWS = 8 };

/* The offset in shared memory of a byte of a row of a tile that a product reads, by its descriptor. */
static uint64_t tile_byte(const Ticket *tile, uint64_t row, uint64_t byte, uint64_t size) {
    uint64_t word = tile->descriptor, code = word >> 62, plain = code == 0;
    uint64_t start = (word & 16383) << 4, leading = (word >> 16 & 16383) << 4, stride = (word >> 32 & 16383) << 4;
    uint64_t width = code == 0 ? 16 : code == 1 ? 128 : code == 2 ? 64 : 32, bits = code == 0 ? 0 : 4 - code, at = start;
    if (tile->k_major)
        at += row / ATOM_ROWS * stride + row % ATOM_ROWS * width + byte / CHUNK * (plain ? leading : CHUNK) +
              byte % CHUNK;
    else {
        uint64_t along = row * size + byte % size, k = byte / size;
        at += along / width * (plain ? stride : leading) + k / ATOM_ROWS * (plain ? leading : stride) +
              k % ATOM_ROWS * width + along % width;
    }
    return at ^ (at >> 7 & ((UINT64_C(1) << bits) - 1)) << 4;
}

/* A product begins to read a tile of `rows` by `depth` elements of `size` bytes. */
int64_t fly_sanitizer_tile(uint64_t site, uint64_t shared, uint64_t descriptor, uint64_t rows, uint64_t depth,
                           uint64_t size, bool k_major, uint64_t thread, uint64_t low, uint64_t end) {
    Touch touch = {site, shared, size, ACCESS_READ | ACCESS_ENGINE, thread, low, end, REGION_SHARED};
    if (!(flags & CHECK_ASYNC))
        return 0;
    uint64_t number = new_ticket(&touch, false);
    Ticket *tile = tickets + number;
    tile->descriptor = descriptor;
    tile->rows = rows;
    tile->depth = depth * size;
    tile->bytes = size;
    tile->k_major = k_major;
    for (uint64_t row = 0; row < rows; row++)
        for (uint64_t byte = 0; byte < tile->depth; byte++) {
            uint64_t at = shared - scratch + tile_byte(tile, row, byte, size);
            if (at >= scratch_bytes)
                continue;
            if (meets_work(&touch, at))
                return -1;
            readers[at] = number;
        }
    return number;
}

/* A copy or product is done. What it filled counts as written now, for races. */
void fly_sanitizer_settle(uint64_t number) {
    Ticket *ticket = tickets + number;
    if (number < first_ticket || !ticket->open)
        return;
    ticket->open = false;
    Touch touch = {ticket->who & ((1 << WHO_SITE_BITS) - 1), ticket->address, ticket->bytes, ACCESS_WRITE,
                   ticket->who >> WHO_SITE_BITS & ((1 << WHO_THREAD_BITS) - 1), ticket->low, ticket->end,
                   REGION_SHARED};
    if (!ticket->reads && !failed && flags & CHECK_RACE)
        failed = races(&touch);
}

/* What the kernel wrote is shown to copy engines. */
void fly_sanitizer_fence(void) { fence_time = tick(); }

/* Accumulators of a product under way that somebody uses. */
void fly_sanitizer_registers(uint64_t site, uint64_t address, uint64_t thread, uint64_t low, uint64_t end,
                             uint64_t product, uint64_t fault) {
    Touch touch = {site, address, 4, ACCESS_READ, thread, low, end, REGION_REGISTERS};
    fill_async(fault, &touch, address, who_is(thread, product));
}

/* A block has ended with a status; the one it gets when a store still reads its memory. */
int32_t fly_sanitizer_end(int32_t status) {
    for (uint64_t number = first_ticket; !status && !failed && number <= ticket_count; number++) {
        const Ticket *ticket = tickets + number;
        if (!ticket->open || !ticket->store)
            continue;
        Touch touch = {ticket->who & ((1 << WHO_SITE_BITS) - 1), ticket->address, ticket->bytes, ACCESS_READ,
                       ticket->who >> WHO_SITE_BITS & ((1 << WHO_THREAD_BITS) - 1), ticket->low, ticket->end,
                       REGION_SHARED};
        fill_async(ASYNC_LEFT, &touch, ticket->address, ticket->who);
        return STATUS_FAULT;
    }
    return status;
}

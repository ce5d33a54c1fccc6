/* The tensor data mover of gfx1250 on the host: one tile between global memory and a workgroup's shared memory.
 *
 * A tile is laid out in LDS in one run, fastest dimension first. What lies outside the tensor arrives as zero and is not
 * stored.
 */
#include "native.h"

uint64_t fly_tensor_end(const uint64_t *tile) KERNEL_NAME(tensor_end);
void fly_tensor_copy(const uint64_t *tile, char *shared, bool store) KERNEL_NAME(tensor_copy);

static uint64_t element_count(const uint64_t *tile) {
    uint64_t count = 1;
    for (int d = 0; d < TILE_DIMENSIONS; d++)
        count *= tile[TILE_SIZES + d];
    return count;
}

/* The place in LDS of an element, with padding counted in. */
static uint64_t place_of(const uint64_t *tile, uint64_t element) {
    uint64_t byte = element * tile[TILE_ELEMENT_BYTES], interval = tile[TILE_PAD_INTERVAL];
    return tile[TILE_LDS] + byte + (interval ? byte / interval * tile[TILE_PAD_BYTES] : 0);
}

static void move_element(const uint64_t *tile, char *shared, uint64_t element, bool store) {
    uint64_t size = tile[TILE_ELEMENT_BYTES], left = element, offset = 0;
    bool inside = true;
    for (int d = 0; d < TILE_DIMENSIONS; d++) {
        uint64_t at = left % tile[TILE_SIZES + d];
        left /= tile[TILE_SIZES + d];
        if (d == 1 && tile[TILE_GATHERS])
            at = tile[TILE_ROWS + at];
        inside &= at < tile[TILE_EXTENTS + d];
        offset += d ? at * tile[TILE_STRIDES + d - 1] : at;
    }
    char *global = (char *)(tile[TILE_GLOBAL] + offset * size), *local = shared + place_of(tile, element);
    if (store) {
        if (inside)
            __builtin_memcpy(global, local, size);
    } else if (inside)
        __builtin_memcpy(local, global, size);
    else
        __builtin_memset(local, 0, size);
}

/* Where the tile ends in LDS: behind its last element; 0 for a tile without any. */
uint64_t fly_tensor_end(const uint64_t *tile) {
    uint64_t count = element_count(tile);
    return count ? place_of(tile, count - 1) + tile[TILE_ELEMENT_BYTES] : 0;
}

void fly_tensor_copy(const uint64_t *tile, char *shared, bool store) {
    for (uint64_t element = 0, count = element_count(tile); element < count; element++)
        move_element(tile, shared, element, store);
}

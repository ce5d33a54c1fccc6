/* Tensors of torch read where they lie. torch's own reader makes C++ objects on its way, which costs most of what a call is
 * known by; `ops/tensor_memory.py` finds the places by looking for known values in tensors, and says nothing where it does
 * not find them all. What is not plain, and what has many dimensions, is left to the reader. */
#ifndef FLY_TENSOR_MEMORY_H
#define FLY_TENSOR_MEMORY_H

#include "python_objects.h"

typedef struct {
    int64_t tensor;                       /* bytes into Python's object, where the address of C++'s is */
    int64_t storage, data;                /* into that, of the storage's; into the storage, of the memory's */
    int64_t deleter, sharing;             /* into the storage, of what frees memory; of what is cloned when written */
    int64_t rank, sizes, strides, offset; /* into C++'s object */
    int64_t most;                         /* dimensions at most */
    int64_t kind;                         /* element type, 16 bits, and a device's type and index, 8 bits each */
    int64_t keys;                         /* of torch's dispatcher */
    int64_t derived;                      /* the address of what autograd knows of a tensor, or 0 */
    int64_t asked, function;              /* into that: a byte, whether it wants a gradient; what passes one on, or 0 */
    int64_t viewed;                       /* into that: a byte, whether it is a view */
    int64_t plain[MEMORY_PLAIN];          /* those of tensors that are what their memory says */
    int64_t dtype[MEMORY_TYPES];          /* DLPack's, of torch's; or 0 */
    int64_t device[MEMORY_DEVICES];       /* likewise */
} TensorMemory;

static const TensorMemory *tensor_memory;
void fly_know_tensors(const TensorMemory *found) { tensor_memory = found; }

static inline int64_t word_at(const void *object, int64_t place) { return *(const int64_t *)((const char *)object + place); }

/* Whether it was read, as the reader would. */
static bool read_plain(const TensorMemory *at, const Object *given, Tensor *found) {
    const char *tensor = at ? (const char *)word_at(given, at->tensor) : 0;
    if (!tensor)
        return false;
    int64_t keys = word_at(tensor, at->keys), rank = word_at(tensor, at->rank), which = 0;
    while (which < MEMORY_PLAIN && at->plain[which] != keys)
        which++;
    if (which == MEMORY_PLAIN || (uint64_t)rank > (uint64_t)at->most)
        return false;
    uint32_t kind = *(const uint32_t *)(tensor + at->kind), type = kind & 0xffff, device = kind >> 16 & 255;
    const char *storage = (const char *)word_at(tensor, at->storage);
    if (!storage || type >= MEMORY_TYPES || !at->dtype[type] || device >= MEMORY_DEVICES || !at->device[device])
        return false;
    uint64_t data = (uint64_t)word_at(storage, at->data), index = kind >> 24;
    if (!data || word_at(storage, at->deleter) == at->sharing) /* the reader gives a tensor memory of its own first */
        return false;
    found->dtype = (uint32_t)at->dtype[type];
    found->data = data + (uint64_t)word_at(tensor, at->offset) * (found->dtype >> 8 & 255) / 8;
    found->device = (uint64_t)at->device[device] | (index < 128 ? index << 32 : 0); /* a negative one is no number */
    found->rank = (uint32_t)rank;
    found->shape = (const int64_t *)(tensor + at->sizes);
    found->strides = (const int64_t *)(tensor + at->strides);
    found->offset = 0;
    return true;
}

/* Whether a tensor itself wants a gradient. A view wants one, too, if what it views came to want one since. */
static bool wants_gradient(const TensorMemory *at, const Object *given, bool *view) {
    const char *tensor = (const char *)word_at(given, at->tensor);
    const uint8_t *derived = tensor ? (const uint8_t *)word_at(tensor, at->derived) : 0;
    *view = derived && derived[at->viewed];
    return derived && (derived[at->asked] || word_at(derived, at->function));
}

/* As `read_tensor`, quickly where that can be. */
static bool read_known(Words *python, Object *given, Tensor *found, bool *plain) {
    *plain = is_tensor(python, given) && read_plain(tensor_memory, given, found);
    return *plain || read_tensor(python, given, found);
}

/* Whether a tensor is plain, and both ways read the same of it. */
bool fly_reads_alike(const TensorMemory *at, Words *python, Object *given) {
    Tensor own, known;
    if (!read_plain(at, given, &own) || !read_tensor(python, given, &known))
        return false;
    bool alike = own.data == known.data + known.offset && own.device == known.device && own.dtype == known.dtype &&
                 own.rank == known.rank;
    for (uint32_t i = 0; alike && i < own.rank; i++)
        alike = own.shape[i] == known.shape[i] && own.strides[i] == known.strides[i];
    return alike;
}

#endif

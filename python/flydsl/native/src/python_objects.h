/* Objects of Python and tensors of torch as native code sees them, and the functions that it calls by their addresses. */
#ifndef FLY_PYTHON_OBJECTS_H
#define FLY_PYTHON_OBJECTS_H

#include "native.h"

typedef struct {
    uint64_t references;
    const void *type;
} Object;

/* DLPack's DLTensor. */
typedef struct {
    uint64_t data;
    uint64_t device; /* type (1 is the host) and index */
    uint32_t rank;
    uint32_t dtype; /* code, bits and lanes */
    const int64_t *shape, *strides;
    uint64_t offset;
} Tensor;

typedef const int64_t Words;
typedef struct __attribute__((packed)) {
    int32_t value;
} Unaligned32;
typedef struct __attribute__((packed)) {
    int64_t value;
} Unaligned64;

#define FUNCTION(plan, which, type) ((type *)(plan)[which])
typedef int32_t Entry(void *block, void *report);
typedef int32_t Reader(Object *tensor, Tensor *found);
typedef Object *CallNoArgs(Object *callable);
typedef Object *CallOneArg(Object *callable, Object *argument);
typedef Object *Vectorcall(Object *callable, Object *const *arguments, uint64_t count, Object *names);
typedef Object *GetAttr(Object *object, Object *name);
typedef int32_t SetAttr(Object *object, Object *name, Object *value);
typedef int32_t RichCompareBool(Object *a, Object *b, int32_t operation);
typedef int64_t AsLongLong(Object *number, int32_t *overflow);
typedef double AsDouble(Object *number);
typedef const char *AsUtf8(Object *text, int64_t *bytes);
typedef Object *FromLongLong(int64_t number);
typedef void IncRef(Object *object);
typedef void DecRef(Object *object);
typedef void ErrClear(void);
typedef Object *CallNothing(void);
typedef void *ThreadState(void);
typedef void *SaveThread(void);
typedef void RestoreThread(void *state);
typedef Object *TupleGetItem(Object *tuple, int64_t index);
typedef int64_t TupleSize(Object *tuple);
typedef Object *TupleNew(int64_t count);
typedef int32_t TupleSetItem(Object *tuple, int64_t index, Object *item);
typedef Object *BytesFrom(const void *data, int64_t count);
typedef Object *DictGetItem(Object *dict, Object *key);
typedef int32_t GetDevice(int64_t *device);
typedef int32_t SetDevice(int64_t device);
typedef int32_t IsCapturing(int64_t stream, int32_t *status);

static inline void put64(char *block, int64_t place, int64_t value) { ((Unaligned64 *)(block + place))->value = value; }
static inline void put32(char *block, int64_t place, int32_t value) { ((Unaligned32 *)(block + place))->value = value; }

#endif

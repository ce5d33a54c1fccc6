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
typedef Object *CallTuple(Object *callable, Object *arguments);
typedef Object *Vectorcall(Object *callable, Object *const *arguments, uint64_t count, Object *names);
typedef Object *GetAttr(Object *object, Object *name);
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
typedef int64_t ThreadId(void *state);
typedef void *SaveThread(void);
typedef void RestoreThread(void *state);
typedef Object *TupleGetItem(Object *tuple, int64_t index);
typedef int64_t TupleSize(Object *tuple);
typedef Object *TupleNew(int64_t count);
typedef int32_t TupleSetItem(Object *tuple, int64_t index, Object *item);
typedef int32_t ListSetItem(Object *list, int64_t index, Object *item);
typedef Object *TextFrom(const char *text);
typedef Object *BytesFrom(const void *data, int64_t count);
typedef Object *DictGetItem(Object *dict, Object *key);
typedef uint8_t HasKey(int32_t key);
typedef uint8_t Asked(void);
typedef int32_t GetDevice(int64_t *device);
typedef int32_t SetDevice(int64_t device);
typedef int32_t IsCapturing(int64_t stream, int32_t *status);

static inline void put64(char *block, int64_t place, int64_t value) { ((Unaligned64 *)(block + place))->value = value; }
static inline void put32(char *block, int64_t place, int32_t value) { ((Unaligned32 *)(block + place))->value = value; }

/* The words that a bytes object has. */
static inline Words *table_of(Object *bytes) { return (Words *)((char *)bytes + BYTES_HEADER); }

static inline Object *keep(Words *python, Object *object) {
    FUNCTION(python, PYTHON_INC_REF, IncRef)(object);
    return object;
}

static inline void release(Words *python, Object *object) { FUNCTION(python, PYTHON_DEC_REF, DecRef)(object); }

static inline bool is_tensor(Words *python, const Object *object) {
    return (int64_t)object->type == python[PYTHON_TENSOR_TYPE] || (int64_t)object->type == python[PYTHON_PARAMETER_TYPE];
}

static inline bool clear_error(Words *python) {
    FUNCTION(python, PYTHON_ERR_CLEAR, ErrClear)();
    return false;
}

static inline bool read_tensor(Words *python, Object *given, Tensor *found) {
    if (FUNCTION(python, PYTHON_READER, Reader)(given, found))
        return clear_error(python);
    return true;
}

/* Whether a tensor that was read is what its memory says; views of parts of complex numbers may be its negative. */
static inline bool is_plain(Words *python, Object *tensor, const Tensor *found) {
    if ((found->dtype & 255) != DLPACK_FLOAT)
        return true;
    Object *negated = FUNCTION(python, PYTHON_CALL_ONE_ARG, CallOneArg)((Object *)python[PYTHON_IS_NEG], tensor);
    if (!negated)
        return clear_error(python);
    release(python, negated);
    return negated == (Object *)python[PYTHON_FALSE];
}

/* Whether a tensor that was read has memory. Of one whose storage was freed the address is how far it begins in there: one
 * that may be as low as that is compared with it. */
static inline bool has_memory(Words *python, Object *tensor, const Tensor *found, uint64_t lowest) {
    int32_t overflow;
    uint64_t address = found->data + found->offset;
    if (address >= lowest || !address)
        return address;
    Object *offset = FUNCTION(python, PYTHON_CALL_ONE_ARG, CallOneArg)((Object *)python[PYTHON_STORAGE_OFFSET], tensor);
    if (!offset)
        return clear_error(python);
    int64_t elements = FUNCTION(python, PYTHON_AS_LONG_LONG, AsLongLong)(offset, &overflow);
    release(python, offset);
    return address != (uint64_t)elements * (found->dtype >> 8 & 255) / 8;
}

/* Where this thread's launches of some code say what failed; 0 where Python failed to make the place. */
static inline int64_t report_of(Words *python, Words *code) {
    int32_t overflow;
    int64_t *last = (int64_t *)code[CODE_LAST];
    int64_t thread = FUNCTION(python, PYTHON_THREAD_ID, ThreadId)(FUNCTION(python, PYTHON_THREAD_STATE, ThreadState)());
    if (last[0] == thread)
        return last[1];
    GetAttr *get = FUNCTION(python, PYTHON_GET_ATTR, GetAttr);
    Object *report = get((Object *)code[CODE_LOCAL], (Object *)python[PYTHON_REPORT]);
    if (!report && !clear_error(python))
        report = FUNCTION(python, PYTHON_CALL_NO_ARGS, CallNoArgs)((Object *)code[CODE_NEW_REPORT]);
    if (!report)
        return 0;
    last[1] = FUNCTION(python, PYTHON_AS_LONG_LONG, AsLongLong)(report, &overflow);
    last[0] = thread;
    release(python, report);
    return last[1];
}

/* Have Python raise what the status of a launch means. */
static inline void fail(Words *python, Words *code, int32_t status) {
    Object *number = FUNCTION(python, PYTHON_FROM_LONG_LONG, FromLongLong)(status);
    if (!number)
        return;
    Object *answer = FUNCTION(python, PYTHON_CALL_ONE_ARG, CallOneArg)((Object *)code[CODE_FAIL], number);
    release(python, number);
    if (answer)
        release(python, answer);
}

#endif

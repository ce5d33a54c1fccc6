/* A whole call of compiled code from the tuple of its Python arguments: read, check, pack, launch.
 *
 * `compiler/calls/native_call.py` writes the plan. Nothing of Python's headers is needed: the plan has the addresses of the
 * functions, and objects are opaque but for their type, which every version keeps behind the reference count.
 */
#include "python_objects.h"

typedef struct __attribute__((packed)) {
    int16_t value;
} Unaligned16;
static const int32_t EQUAL = 2; /* Py_EQ */

static bool clear_error(Words *plan) {
    FUNCTION(plan, PLAN_ERR_CLEAR, ErrClear)();
    return false;
}

/* A leaf of a shape or stride; whether the value is one that the code accepts. */
static inline bool take_leaf(Words *leaf, int64_t value, char *block) {
    if (leaf[LEAF_FIXED] != -1)
        return leaf[LEAF_FIXED] == value;
    bool divides = !(value & leaf[LEAF_DIVISOR_MASK]);
    if (leaf[LEAF_BYTES] == 8) {
        put64(block, leaf[LEAF_PLACE], value);
        return divides;
    }
    put32(block, leaf[LEAF_PLACE], (int32_t)value);
    return divides && (int32_t)value == value;
}

/* Whether torch would have to negate what it reads; -1 when it cannot say. */
static inline bool is_plain(Words *plan, Object *tensor) {
    Object *answer = FUNCTION(plan, PLAN_CALL_ONE_ARG, CallOneArg)((Object *)plan[PLAN_IS_NEG], tensor);
    if (!answer)
        return clear_error(plan);
    FUNCTION(plan, PLAN_DEC_REF, DecRef)(answer);
    return answer == (Object *)plan[PLAN_FALSE];
}

/* A torch tensor. An address below the lowest is refused: there is no memory, as of a tensor whose storage was freed. */
static bool take_tensor(Words *plan, Words *row, Object *given, char *block) {
    Tensor found;
    int64_t type = (int64_t)given->type;
    if (type != plan[PLAN_TENSOR_TYPE] && type != plan[PLAN_PARAMETER_TYPE])
        return false;
    if (FUNCTION(plan, PLAN_READER, Reader)(given, &found))
        return clear_error(plan);
    if (!is_plain(plan, given))
        return false;
    if (found.device != (uint64_t)row[ROW_TENSOR_DEVICE] || found.rank != (uint64_t)row[ROW_TENSOR_RANK] ||
        found.dtype != (uint64_t)row[ROW_TENSOR_DTYPE] || !found.strides)
        return false;
    uint64_t address = found.data + found.offset;
    if (address & row[ROW_TENSOR_ALIGN_MASK] || address < (uint64_t)plan[PLAN_LOWEST_ADDRESS])
        return false;
    put64(block, row[ROW_TENSOR_PLACE], address);
    Words *extents = row + ROW_TENSOR_LEAVES, *strides = extents + LEAF_WORDS * (int64_t)found.rank;
    for (int64_t i = 0; i < found.rank; i++) {
        if (!take_leaf(extents + LEAF_WORDS * i, found.shape[i], block) ||
            !take_leaf(strides + LEAF_WORDS * i, found.strides[i], block) ||
            (i < row[ROW_TENSOR_LEAD] && found.strides[i] == 1))
            return false;
    }
    return true;
}

/* An adaptor of a torch tensor. Its tensor is read like any other: its owner may have given it other memory. */
static bool take_adaptor(Words *plan, Words *row, Words *inner, Object *given, char *block) {
    GetAttr *get = FUNCTION(plan, PLAN_GET_ATTR, GetAttr);
    DecRef *release = FUNCTION(plan, PLAN_DEC_REF, DecRef);
    if ((int64_t)given->type != row[ROW_ADAPTOR_TYPE])
        return false;
    Object *key = get(given, (Object *)row[ROW_ADAPTOR_KEY_NAME]);
    if (!key)
        return clear_error(plan);
    RichCompareBool *compare = FUNCTION(plan, PLAN_RICH_COMPARE_BOOL, RichCompareBool);
    int32_t equal = compare(key, (Object *)row[ROW_ADAPTOR_KEY], EQUAL);
    release(key);
    if (equal != 1)
        return equal ? clear_error(plan) : false;
    Object *source = get(given, (Object *)row[ROW_ADAPTOR_SOURCE_NAME]);
    if (!source)
        return clear_error(plan);
    bool taken = take_tensor(plan, inner, source, block);
    release(source);
    return taken;
}

static bool take_int(Words *plan, Words *row, Object *given, char *block) {
    int32_t overflow;
    if ((int64_t)given->type != plan[PLAN_INT_TYPE])
        return false;
    int64_t value = FUNCTION(plan, PLAN_AS_LONG_LONG, AsLongLong)(given, &overflow), place = row[ROW_NUMBER_PLACE];
    if (overflow || value < row[ROW_INT_LEAST] || value > row[ROW_INT_MOST])
        return false;
    switch (row[ROW_NUMBER_BYTES]) {
    case 1: block[place] = (char)value; break;
    case 2: ((Unaligned16 *)(block + place))->value = (int16_t)value; break;
    case 4: put32(block, place, (int32_t)value); break;
    default: put64(block, place, value);
    }
    return true;
}

/* A float. One too large for f32 is left to the caller, who says so. */
static bool take_float(Words *plan, Words *row, Object *given, char *block) {
    union { double value; int64_t bits; } wide;
    union { float value; int32_t bits; } narrow;
    if ((int64_t)given->type != plan[PLAN_FLOAT_TYPE])
        return false;
    wide.value = FUNCTION(plan, PLAN_AS_DOUBLE, AsDouble)(given);
    if (row[ROW_NUMBER_BYTES] == 8) {
        put64(block, row[ROW_NUMBER_PLACE], wide.bits);
        return true;
    }
    narrow.value = (float)wide.value;
    put32(block, row[ROW_NUMBER_PLACE], narrow.bits);
    return __builtin_fabsf(narrow.value) != __builtin_inff() || __builtin_fabs(wide.value) == __builtin_inf();
}

/* A number that is an attribute of an object; -1 when it has none. */
static int64_t attribute(Words *plan, Object *object, int64_t name) {
    int32_t overflow;
    Object *found = FUNCTION(plan, PLAN_GET_ATTR, GetAttr)(object, (Object *)name);
    if (!found) {
        clear_error(plan);
        return -1;
    }
    int64_t value = FUNCTION(plan, PLAN_AS_LONG_LONG, AsLongLong)(found, &overflow);
    FUNCTION(plan, PLAN_DEC_REF, DecRef)(found);
    return value;
}

/* A stream: None or the row's object stand for the default one, others have a handle and the device's number. */
static bool take_stream(Words *plan, Words *row, Object *given, char *block) {
    int64_t place = row[ROW_STREAM_PLACE], address = (int64_t)given;
    if (address == plan[PLAN_NONE] || address == row[ROW_STREAM_DEFAULT]) {
        put64(block, place, 0);
        return true;
    }
    if ((int64_t)given->type != row[ROW_STREAM_TYPE])
        return false;
    int64_t handle = attribute(plan, given, row[ROW_STREAM_HANDLE]);
    int64_t index = attribute(plan, given, row[ROW_STREAM_INDEX]);
    put64(block, place, handle);
    return index == row[ROW_STREAM_DEVICE] && handle != -1;
}

static bool take(Words *plan, Words *row, Object *given, char *block) {
    switch (row[ROW_KIND]) {
    case ARGUMENT_TENSOR: return take_tensor(plan, row, given, block);
    case ARGUMENT_INT: return take_int(plan, row, given, block);
    case ARGUMENT_FLOAT: return take_float(plan, row, given, block);
    case ARGUMENT_STREAM: return take_stream(plan, row, given, block);
    case ARGUMENT_CONSTANT: return (int64_t)given == row[ROW_CONSTANT];
    case ARGUMENT_TAKEN: return true;
    case ARGUMENT_ADAPTOR: return take_adaptor(plan, row, row + row[ROW_LENGTH], given, block);
    default: return false;
    }
}

/* The launch's status, or CALL_MISREAD. The caller holds the interpreter's lock, which is given up for the launch;
 * `report` takes what a failing launch says. */
int32_t fly_native_call(Words *plan, Object *args, void *report) {
    char *block = __builtin_alloca_with_align(plan[PLAN_BLOCK_BYTES], 128);
    int64_t count = plan[PLAN_ARGUMENTS];
    if (FUNCTION(plan, PLAN_TUPLE_SIZE, TupleSize)(args) != count)
        return CALL_MISREAD;
    Words *row = plan + PLAN_ROWS;
    for (int64_t i = 0; i < count; i++) {
        if (!take(plan, row, FUNCTION(plan, PLAN_TUPLE_GET_ITEM, TupleGetItem)(args, i), block))
            return CALL_MISREAD;
        if (row[ROW_KIND] == ARGUMENT_ADAPTOR)
            row += row[ROW_LENGTH];
        row += row[ROW_LENGTH];
    }
    if (plan[PLAN_HIDDEN_STREAM] >= 0)
        put64(block, plan[PLAN_HIDDEN_STREAM], 0);
    void *state = FUNCTION(plan, PLAN_SAVE_THREAD, SaveThread)();
    int32_t status = FUNCTION(plan, PLAN_ENTRY, Entry)(block, report);
    FUNCTION(plan, PLAN_RESTORE_THREAD, RestoreThread)(state);
    return status;
}

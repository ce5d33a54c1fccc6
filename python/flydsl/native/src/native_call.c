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

/* A torch tensor. */
static bool take_tensor(Words *python, Words *plan, Words *row, Object *given, char *block) {
    Tensor found;
    int64_t type = (int64_t)given->type;
    if (type != python[PYTHON_TENSOR_TYPE] && type != python[PYTHON_PARAMETER_TYPE])
        return false;
    if (!read_tensor(python, given, &found) || !is_plain(python, given, &found))
        return false;
    if (found.device != (uint64_t)row[ROW_TENSOR_DEVICE] || found.rank != (uint64_t)row[ROW_TENSOR_RANK] ||
        found.dtype != (uint64_t)row[ROW_TENSOR_DTYPE] || !found.strides)
        return false;
    uint64_t address = found.data + found.offset;
    if (address & row[ROW_TENSOR_ALIGN_MASK] || !has_memory(python, given, &found, plan[PLAN_LOWEST_ADDRESS]))
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
static bool take_adaptor(Words *python, Words *plan, Words *row, Words *inner, Object *given, char *block) {
    GetAttr *get = FUNCTION(python, PYTHON_GET_ATTR, GetAttr);
    if ((int64_t)given->type != row[ROW_ADAPTOR_TYPE])
        return false;
    Object *key = get(given, (Object *)row[ROW_ADAPTOR_KEY_NAME]);
    if (!key)
        return clear_error(python);
    RichCompareBool *compare = FUNCTION(python, PYTHON_RICH_COMPARE_BOOL, RichCompareBool);
    int32_t equal = compare(key, (Object *)row[ROW_ADAPTOR_KEY], EQUAL);
    release(python, key);
    if (equal != 1)
        return equal ? clear_error(python) : false;
    Object *source = get(given, (Object *)row[ROW_ADAPTOR_SOURCE_NAME]);
    if (!source)
        return clear_error(python);
    bool taken = take_tensor(python, plan, inner, source, block);
    release(python, source);
    return taken;
}

static bool take_int(Words *python, Words *row, Object *given, char *block) {
    int32_t overflow;
    if ((int64_t)given->type != python[PYTHON_INT_TYPE])
        return false;
    int64_t value = FUNCTION(python, PYTHON_AS_LONG_LONG, AsLongLong)(given, &overflow), place = row[ROW_NUMBER_PLACE];
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
static bool take_float(Words *python, Words *row, Object *given, char *block) {
    union { double value; int64_t bits; } wide;
    union { float value; int32_t bits; } narrow;
    if ((int64_t)given->type != python[PYTHON_FLOAT_TYPE])
        return false;
    wide.value = FUNCTION(python, PYTHON_AS_DOUBLE, AsDouble)(given);
    if (row[ROW_NUMBER_BYTES] == 8) {
        put64(block, row[ROW_NUMBER_PLACE], wide.bits);
        return true;
    }
    narrow.value = (float)wide.value;
    put32(block, row[ROW_NUMBER_PLACE], narrow.bits);
    return __builtin_fabsf(narrow.value) != __builtin_inff() || __builtin_fabs(wide.value) == __builtin_inf();
}

/* A number that is an attribute of an object; -1 when it has none. */
static int64_t attribute(Words *python, Object *object, int64_t name) {
    int32_t overflow;
    Object *found = FUNCTION(python, PYTHON_GET_ATTR, GetAttr)(object, (Object *)name);
    if (!found) {
        clear_error(python);
        return -1;
    }
    int64_t value = FUNCTION(python, PYTHON_AS_LONG_LONG, AsLongLong)(found, &overflow);
    release(python, found);
    return value;
}

/* A stream: None or the row's object stand for the default one, others have a handle and the device's number. */
static bool take_stream(Words *python, Words *row, Object *given, char *block) {
    int64_t place = row[ROW_STREAM_PLACE], address = (int64_t)given;
    if (address == python[PYTHON_NONE] || address == row[ROW_STREAM_DEFAULT]) {
        put64(block, place, 0);
        return true;
    }
    if ((int64_t)given->type != row[ROW_STREAM_TYPE])
        return false;
    int64_t handle = attribute(python, given, row[ROW_STREAM_HANDLE]);
    int64_t index = attribute(python, given, row[ROW_STREAM_INDEX]);
    put64(block, place, handle);
    return index == row[ROW_STREAM_DEVICE] && handle != -1;
}

static bool take(Words *python, Words *plan, Words *row, Object *given, char *block) {
    switch (row[ROW_KIND]) {
    case ARGUMENT_TENSOR: return take_tensor(python, plan, row, given, block);
    case ARGUMENT_INT: return take_int(python, row, given, block);
    case ARGUMENT_FLOAT: return take_float(python, row, given, block);
    case ARGUMENT_STREAM: return take_stream(python, row, given, block);
    case ARGUMENT_CONSTANT: return (int64_t)given == row[ROW_CONSTANT];
    case ARGUMENT_TAKEN: return true;
    case ARGUMENT_ADAPTOR: return take_adaptor(python, plan, row, row + row[ROW_LENGTH], given, block);
    default: return false;
    }
}

/* Whether the arguments are the plan's; then the block has their numbers. */
static bool pack(Words *python, Words *plan, Object *args, char *block) {
    int64_t count = plan[PLAN_ARGUMENTS];
    if (FUNCTION(python, PYTHON_TUPLE_SIZE, TupleSize)(args) != count)
        return false;
    Words *row = plan + PLAN_ROWS;
    for (int64_t i = 0; i < count; i++) {
        if (!take(python, plan, row, FUNCTION(python, PYTHON_TUPLE_GET_ITEM, TupleGetItem)(args, i), block))
            return false;
        if (row[ROW_KIND] == ARGUMENT_ADAPTOR)
            row += row[ROW_LENGTH];
        row += row[ROW_LENGTH];
    }
    if (plan[PLAN_HIDDEN_STREAM] >= 0)
        put64(block, plan[PLAN_HIDDEN_STREAM], 0);
    return true;
}

/* A function of Python whose `self` has the plan: whether the call with a tuple of arguments was made. The interpreter's
 * lock is given up for the launch. */
Object *fly_launch(Object *self, Object *args) {
    Words *plan = table_of(self), *python = (Words *)plan[PLAN_PYTHON], *code = plan + PLAN_CODE;
    char *block = __builtin_alloca_with_align(plan[PLAN_BLOCK_BYTES], 128);
    if (!pack(python, plan, args, block))
        return keep(python, (Object *)python[PYTHON_FALSE]);
    int64_t report = report_of(python, code);
    if (!report)
        return 0;
    void *state = FUNCTION(python, PYTHON_SAVE_THREAD, SaveThread)();
    int32_t status = FUNCTION(code, CODE_ENTRY, Entry)(block, (void *)report);
    FUNCTION(python, PYTHON_RESTORE_THREAD, RestoreThread)(state);
    if (status)
        fail(python, code, status);
    return status && FUNCTION(python, PYTHON_ERR_OCCURRED, CallNothing)() ? 0 : keep(python, (Object *)python[PYTHON_TRUE]);
}

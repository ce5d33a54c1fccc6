/* What a call is known by: of its tensors all but where they lie, of its numbers and words their values. */
#ifndef FLY_CALL_FACTS_H
#define FLY_CALL_FACTS_H

#include "tensor_memory.h"

typedef struct {
    int64_t count;
    int64_t words[MOST_FACTS];
    uint64_t addresses[MOST_BUFFERS];
} Facts;

/* A tensor: all but where it lies, and which argument is the same one. One that lies at no multiple of 16 is refused. */
static bool take_tensor(Words *python, Object *const *args, int64_t at, Facts *facts) {
    Tensor found;
    bool plain;
    if (!read_known(python, args[at], &found, &plain) || !found.strides || facts->count + 4 + 2 * found.rank > MOST_FACTS)
        return false;
    uint64_t address = found.data + found.offset;
    if (address % REPLAY_ALIGNMENT || !has_memory(python, args[at], &found, python[PYTHON_LOWEST_ADDRESS]) ||
        !(plain || is_plain(python, args[at], &found)))
        return false;
    int64_t twin = 0, *words = facts->words + facts->count;
    while (args[twin] != args[at])
        twin++;
    facts->addresses[at] = address;
    words[0] = found.rank;
    words[1] = found.dtype;
    words[2] = (int64_t)found.device;
    words[3] = twin;
    for (int64_t i = 0; i < found.rank; i++) {
        words[4 + 2 * i] = found.shape[i];
        words[5 + 2 * i] = found.strides[i];
    }
    facts->count += 4 + 2 * (int64_t)found.rank;
    return true;
}

/* A number, None, True or False. */
static bool take_plain(Words *python, Object *given, Facts *facts) {
    union { double value; int64_t bits; } wide;
    int32_t overflow;
    int64_t type = (int64_t)given->type, *words = facts->words + facts->count, address = (int64_t)given;
    if (facts->count + 2 > MOST_FACTS)
        return false;
    facts->count += 2;
    if (address == python[PYTHON_NONE] || address == python[PYTHON_TRUE] || address == python[PYTHON_FALSE]) {
        words[0] = FACT_ONE;
        words[1] = address;
    } else if (type == python[PYTHON_INT_TYPE]) {
        words[0] = FACT_INT;
        words[1] = FUNCTION(python, PYTHON_AS_LONG_LONG, AsLongLong)(given, &overflow);
        return !overflow;
    } else if (type == python[PYTHON_FLOAT_TYPE]) {
        wide.value = FUNCTION(python, PYTHON_AS_DOUBLE, AsDouble)(given);
        words[0] = FACT_FLOAT;
        words[1] = wide.bits;
    } else {
        return false;
    }
    return true;
}

static bool take_text(Words *python, Object *given, Facts *facts) {
    int64_t bytes, *words = facts->words + facts->count;
    const char *text = FUNCTION(python, PYTHON_AS_UTF8, AsUtf8)(given, &bytes);
    if (!text)
        return clear_error(python);
    int64_t count = 2 + (bytes + 7) / 8;
    if (facts->count + count > MOST_FACTS)
        return false;
    words[0] = FACT_TEXT;
    words[1] = bytes;
    for (int64_t i = 2; i < count; i++)
        words[i] = 0;
    for (int64_t i = 0; i < bytes; i++)
        ((char *)(words + 2))[i] = text[i];
    facts->count += count;
    return true;
}

static bool take_tuple(Words *python, Object *given, Facts *facts) {
    int64_t count = FUNCTION(python, PYTHON_TUPLE_SIZE, TupleSize)(given), *words = facts->words + facts->count;
    if (facts->count + 2 > MOST_FACTS)
        return false;
    words[0] = FACT_TUPLE;
    words[1] = count;
    facts->count += 2;
    for (int64_t i = 0; i < count; i++) {
        if (!take_plain(python, FUNCTION(python, PYTHON_TUPLE_GET_ITEM, TupleGetItem)(given, i), facts))
            return false;
    }
    return true;
}

/* A part of a stock, as a pair of the tensor and the bytes in front: it is like what a replay knows at its place. */
static bool take_part(Words *python, Object *given, int64_t at, Words *replay, Facts *facts) {
    int32_t overflow;
    Tensor found;
    bool plain;
    TupleGetItem *item = FUNCTION(python, PYTHON_TUPLE_GET_ITEM, TupleGetItem);
    Words *known = replay + replay[REPLAY_FACTS];
    if (FUNCTION(python, PYTHON_TUPLE_SIZE, TupleSize)(given) != 2 || facts->count >= replay[REPLAY_FACTS_COUNT] ||
        !read_known(python, item(given, 0), &found, &plain))
        return false;
    facts->addresses[at] = found.data + found.offset + FUNCTION(python, PYTHON_AS_LONG_LONG, AsLongLong)(item(given, 1), &overflow);
    int64_t end = facts->count + 4 + 2 * known[facts->count];
    if (end > replay[REPLAY_FACTS_COUNT])
        return false;
    for (; facts->count < end; facts->count++)
        facts->words[facts->count] = known[facts->count];
    return true;
}

/* What a call is known by; one of a replay may have a part of a stock. */
static bool take_facts(Words *python, Object *const *args, int64_t count, Words *replay, Facts *facts) {
    facts->count = 0;
    if (count > MOST_ARGUMENTS)
        return false;
    for (int64_t i = 0; i < count; i++) {
        int64_t type = (int64_t)args[i]->type;
        bool taken;
        if (is_tensor(python, args[i]))
            taken = take_tensor(python, args, i, facts);
        else if (replay && type == python[PYTHON_TUPLE_TYPE])
            taken = take_part(python, args[i], i, replay, facts);
        else if (type == python[PYTHON_TUPLE_TYPE] || type == python[PYTHON_SIZE_TYPE])
            taken = take_tuple(python, args[i], facts);
        else if (type == python[PYTHON_STR_TYPE])
            taken = take_text(python, args[i], facts);
        else
            taken = take_plain(python, args[i], facts);
        if (!taken)
            return false;
    }
    return true;
}

static Object *key_of(Words *python, const Facts *facts) {
    return FUNCTION(python, PYTHON_BYTES_FROM, BytesFrom)(facts->words, facts->count * (int64_t)sizeof(int64_t));
}

#endif

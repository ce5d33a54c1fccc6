/* Functions of ops that native code answers: Python calls it in the place of their own code, with arguments that it puts
 * in order by a table (`ops/function_entries.py`). A call that cannot be repeated runs the function's code. */
#ifndef FLY_FUNCTION_ENTRIES_H
#define FLY_FUNCTION_ENTRIES_H

#include "python_objects.h"

typedef struct {
    const Object *name;
    Object *otherwise; /* the default, or 0 */
    int64_t absent;    /* whether it must be None */
    int64_t stands;    /* for which parameter a tensor in its place does that is None itself; or -1 */
} Parameter;

/* An argument of a replay: a parameter, or -1 and a constant; and a function, or 0, that is asked where this is None. */
typedef struct {
    int64_t parameter;
    Object *constant, *asked;
} Argument;

typedef const void *FrameOf(const void *interpreter);
typedef struct Answered {
    struct Answered *next; /* of those that have the same place */
    const Object *function;
    Object *site; /* a bytes object: where calls that can be repeated are */
    const Object *none;
    FrameOf *frame_of; /* of the interpreter: it is the frame below where Python runs code itself */
    const void *interpreter, *frame;
    Vectorcall *code; /* runs a function's own code */
    int64_t positional, parameters, arguments;
    const Parameter *parameter;
    const Argument *argument;
} Answered;

#define ENTRY_PLACES 64
static ARRAY Answered *entries[ENTRY_PLACES];

static Answered **entry_place(const void *function) { return &entries[((int64_t)function >> 4) % ENTRY_PLACES]; }

void fly_add_entry(Answered *entry) {
    Answered **place = entry_place(entry->function);
    entry->next = *place;
    *place = entry;
}

static const Answered *entry_of(const Object *function) {
    const Answered *entry = *entry_place(function);
    while (entry->function != function)
        entry = entry->next;
    return entry;
}

/* Whether each parameter has a value, by its place, its name or its default; Python is to refuse the others. */
static bool place_arguments(Words *python, const Answered *entry, Object *const *args, int64_t count, Object *names,
                            Object **values) {
    int64_t named = names ? FUNCTION(python, PYTHON_TUPLE_SIZE, TupleSize)(names) : 0;
    if (count > entry->positional)
        return false;
    for (int64_t i = 0; i < entry->parameters; i++)
        values[i] = i < count ? args[i] : entry->parameter[i].otherwise;
    for (int64_t i = 0; i < named; i++) {
        const Object *name = FUNCTION(python, PYTHON_TUPLE_GET_ITEM, TupleGetItem)(names, i);
        int64_t at = count;
        while (at < entry->parameters && entry->parameter[at].name != name)
            at++;
        if (at == entry->parameters)
            return false;
        values[at] = args[count + i];
    }
    for (int64_t i = 0; i < entry->parameters; i++) {
        int64_t stands = entry->parameter[i].stands;
        if (values[i] && stands >= 0 && values[stands] == entry->none && is_tensor(python, values[i])) {
            values[stands] = values[i];
            values[i] = (Object *)entry->none;
        }
        if (!values[i] || (entry->parameter[i].absent && values[i] != entry->none))
            return false;
    }
    return true;
}

/* Whether there is all that a replay is asked with. */
static bool order_arguments(Words *python, const Answered *entry, Object *const *values, Object **given) {
    for (int64_t i = 0; i < entry->arguments; i++) {
        Argument own = entry->argument[i];
        given[i] = own.parameter < 0 ? own.constant : values[own.parameter];
        if (!own.asked || given[i] != entry->none)
            continue;
        given[i] = FUNCTION(python, PYTHON_CALL_NO_ARGS, CallNoArgs)(own.asked);
        if (!given[i])
            return clear_error(python);
        release(python, given[i]); /* True or False, which stay */
    }
    return true;
}

#endif

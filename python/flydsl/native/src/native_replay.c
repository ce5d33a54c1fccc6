/* Calls of ops that were recorded, made again: nothing is looked at but what tells that a call is like the recorded one.
 *
 * `compiler/calls/native_replay.py` writes the tables. They lie in bytes objects, each the `self` of a function that
 * Python calls: `fly_again` looks a call up, `fly_replay` makes one, `fly_forward` makes one inside of autograd, and
 * `fly_facts` says what a call is known by. They answer None to what is not for them. `fly_entry` is what Python calls
 * for a function of ops. The caller holds the interpreter's lock, which is given up for launches.
 */
#include "call_facts.h"
#include "function_entries.h"

/* A call that a thread has looked up and that is on its way through autograd, which is told of those tensors alone that
 * may have gradients. */
typedef struct {
    void *thread;
    Object *const *args;
    Facts *facts;
} Handed;
static Handed handed;

static Object *none(Words *python) { return keep(python, (Object *)python[PYTHON_NONE]); }

/* Whether a function or attribute says True; what fails does not. */
static bool is_true(Words *python, Object *answer) {
    if (!answer)
        return clear_error(python);
    release(python, answer);
    return answer == (Object *)python[PYTHON_TRUE];
}

/* Replays --------------------------------------------------------------------------------------------------------- */

/* The stream of a call; -1 where Python fails to say it. None is 0. */
static int64_t stream_of(Words *python, Words *replay) {
    int32_t overflow;
    CallOneArg *call = FUNCTION(python, PYTHON_CALL_ONE_ARG, CallOneArg);
    Object *answer = call((Object *)replay[REPLAY_STREAM_OF], (Object *)replay[REPLAY_STREAM_DEVICE]);
    if (!answer)
        return -1;
    bool nothing = answer == (Object *)python[PYTHON_NONE];
    int64_t number = nothing ? 0 : FUNCTION(python, PYTHON_AS_LONG_LONG, AsLongLong)(answer, &overflow);
    release(python, answer);
    return number;
}

/* Whether a stream is captured into a graph, which the default one, 0, cannot be. */
static bool is_captured(Words *replay, int64_t stream) {
    int32_t capturing = 0;
    IsCapturing *ask = FUNCTION(replay, REPLAY_IS_CAPTURING, IsCapturing);
    return stream && ask && (ask(stream, &capturing) || capturing);
}

/* Where the counters of a stream lie; 0 where it has none, and where it is captured into a graph. */
static uint64_t counters_of(Words *python, Words *replay, int64_t stream) {
    int32_t overflow;
    if (is_captured(replay, stream))
        return 0;
    Object *handle = FUNCTION(python, PYTHON_FROM_LONG_LONG, FromLongLong)(stream);
    if (!handle)
        return 0;
    Object *found = FUNCTION(python, PYTHON_DICT_GET_ITEM, DictGetItem)((Object *)replay[REPLAY_COUNTERS], handle);
    release(python, handle);
    return found ? (uint64_t)FUNCTION(python, PYTHON_AS_LONG_LONG, AsLongLong)(found, &overflow) : 0;
}

/* The launch's status with its device current, CALL_MISREAD where the driver does not let that happen. */
static int32_t enter(Words *launched, char *block, int64_t report) {
    int64_t before = 0, device = launched[LAUNCHED_DEVICE];
    GetDevice *get = FUNCTION(launched, LAUNCHED_GET_DEVICE, GetDevice);
    SetDevice *set = FUNCTION(launched, LAUNCHED_SET_DEVICE, SetDevice);
    Entry *entry = FUNCTION(launched, LAUNCHED_CODE + CODE_ENTRY, Entry);
    if (!get)
        return entry(block, (void *)report);
    if (get(&before) || (before != device && set(device)))
        return CALL_MISREAD;
    int32_t status = entry(block, (void *)report);
    return before != device && set(before) ? CALL_MISREAD : status;
}

/* Whether it was launched; else Python has an error, or is to go the long way, which finds it. */
static bool launch(Words *python, Words *launched, const uint64_t *addresses, int64_t stream) {
    int64_t bytes = launched[LAUNCHED_BLOCK_BYTES], report = report_of(python, launched + LAUNCHED_CODE);
    if (!report)
        return false;
    char *block = __builtin_alloca_with_align(bytes, 128);
    for (int64_t i = 0; i < bytes; i += 8)
        put64(block, i, ((Words *)launched[LAUNCHED_BLOCK])[i / 8]);
    put64(block, launched[LAUNCHED_STREAM], stream);
    for (int64_t i = 0; i < launched[LAUNCHED_POINTERS]; i++) {
        Words *pointer = launched + LAUNCHED_WORDS + POINTER_WORDS * i;
        put64(block, pointer[POINTER_PLACE], (int64_t)addresses[pointer[POINTER_BUFFER]] + pointer[POINTER_OFFSET]);
    }
    void *state = FUNCTION(python, PYTHON_SAVE_THREAD, SaveThread)();
    int32_t status = enter(launched, block, report);
    FUNCTION(python, PYTHON_RESTORE_THREAD, RestoreThread)(state);
    if (status && status != CALL_MISREAD)
        fail(python, launched + LAUNCHED_CODE, status);
    return !status;
}

/* A new tensor, and where it lies: by the quick function if the current device is the one that is meant. */
static bool make(Words *python, Words *row, Object **made, uint64_t *address) {
    Tensor found;
    bool plain;
    *made = 0;
    if (row[MADE_BY]) {
        *made = FUNCTION(python, PYTHON_CALL_TUPLE, CallTuple)((Object *)row[MADE_BY], (Object *)row[MADE_FROM]);
        if (!*made || !read_known(python, *made, &found, &plain))
            return false;
        if (found.device != (uint64_t)row[MADE_DEVICE]) {
            release(python, *made);
            *made = 0;
        }
    }
    if (!*made) {
        CallOneArg *call = FUNCTION(python, PYTHON_CALL_ONE_ARG, CallOneArg);
        *made = call((Object *)python[PYTHON_EMPTY_LIKE], (Object *)row[MADE_PATTERN]);
        if (!*made || !read_known(python, *made, &found, &plain))
            return false;
    }
    *address = found.data + found.offset;
    return true;
}

/* A pair of objects, which it takes over; 0 where there is no memory. */
static Object *paired(Words *python, Object *first, Object *second) {
    Object *both = FUNCTION(python, PYTHON_TUPLE_NEW, TupleNew)(2);
    if (!both) {
        release(python, first);
        release(python, second);
        return 0;
    }
    FUNCTION(python, PYTHON_TUPLE_SET_ITEM, TupleSetItem)(both, 0, first);
    FUNCTION(python, PYTHON_TUPLE_SET_ITEM, TupleSetItem)(both, 1, second);
    return both;
}

/* What a replay saves, where there is a place for it: tensors, and a stock's or 0, with how many bytes are in front of the
 * part that was taken. */
typedef struct {
    Object *tensors, *stock;
    int64_t begin;
} Saved;

/* Whether the next part of a stock was taken, and where it lies. Memory is that of one stream, and what a graph captures is
 * the graph's alone. */
static bool take_from_stock(Words *python, Words *replay, Words *row, int64_t stream, Saved *saved, uint64_t *address) {
    int64_t *stock = (int64_t *)row[MADE_STOCK];
    bool captured = is_captured(replay, stream);
    if (captured || stock[STOCK_STREAM] != stream || stock[STOCK_TAKEN] == row[MADE_PARTS]) {
        Object *made;
        uint64_t begin;
        if (!make(python, row, &made, &begin)) {
            if (made)
                release(python, made);
            return false;
        }
        stock[STOCK_TENSOR] = (int64_t)made;
        stock[STOCK_ADDRESS] = (int64_t)begin;
        stock[STOCK_STREAM] = stream;
        stock[STOCK_TAKEN] = 0;
        FUNCTION(python, PYTHON_LIST_SET_ITEM, ListSetItem)((Object *)stock[STOCK_HOLDER], 0, made);
    }
    saved->stock = keep(python, (Object *)stock[STOCK_TENSOR]);
    saved->begin = row[MADE_BYTES] * stock[STOCK_TAKEN];
    *address = (uint64_t)(stock[STOCK_ADDRESS] + saved->begin);
    stock[STOCK_TAKEN] = captured ? row[MADE_PARTS] : stock[STOCK_TAKEN] + 1;
    return true;
}

/* Some buffers as a tuple, or one of them alone. */
static Object *gathered(Words *python, Words *numbers, int64_t count, bool alone, Object **buffers) {
    if (alone)
        return keep(python, buffers[numbers[0]]);
    Object *tuple = FUNCTION(python, PYTHON_TUPLE_NEW, TupleNew)(count);
    for (int64_t i = 0; tuple && i < count; i++)
        FUNCTION(python, PYTHON_TUPLE_SET_ITEM, TupleSetItem)(tuple, i, keep(python, buffers[numbers[i]]));
    return tuple;
}

/* What the replay returns; 0 if Python has an error, or is to be asked for one. */
static Object *run(Words *python, Words *replay, Object *const *args, uint64_t *addresses, Saved *beside) {
    ARRAY Object *buffers[MOST_BUFFERS];
    Object *found = 0;
    int64_t given = replay[REPLAY_GIVEN], end = given, stream = stream_of(python, replay);
    int64_t returned = replay[REPLAY_RETURNED], saved = replay[REPLAY_SAVED];
    Words *row = replay + REPLAY_ROWS;
    for (int64_t i = 0; i < given; i++)
        buffers[i] = args[i];
    bool good = stream != -1;
    for (int64_t i = 0; i < replay[REPLAY_MADE]; i++) {
        if (good) {
            buffers[end] = 0;
            if (row[MADE_STOCK])
                good = take_from_stock(python, replay, row, stream, beside, &addresses[end]);
            else
                good = make(python, row, &buffers[end], &addresses[end]);
            end++;
        }
        row += MADE_WORDS;
    }
    Words *numbers = row, *launched = row + returned + (saved < 0 ? 0 : saved);
    if (good && replay[REPLAY_COUNTERS])
        good = (addresses[end] = counters_of(python, replay, stream)) != 0;
    for (int64_t i = 0; i < replay[REPLAY_LAUNCHES] && good; i++) {
        good = launch(python, launched, addresses, stream);
        launched += LAUNCHED_WORDS + POINTER_WORDS * launched[LAUNCHED_POINTERS];
    }
    if (good && beside)
        good = (beside->tensors = gathered(python, numbers + returned, saved, false, buffers)) != 0;
    if (good)
        found = gathered(python, numbers, returned, replay[REPLAY_ALONE], buffers);
    for (int64_t i = given; i < end; i++) {
        if (buffers[i])
            release(python, buffers[i]);
    }
    return found;
}

/* What is there without an error was refused. */
static Object *or_none(Words *python, Object *found) {
    if (found || FUNCTION(python, PYTHON_ERR_OCCURRED, CallNothing)())
        return found;
    return none(python);
}

Object *fly_facts(Object *self, Object *const *args, int64_t count) {
    Words *python = table_of(self);
    Facts facts;
    return take_facts(python, args, count, 0, &facts) ? key_of(python, &facts) : none(python);
}

/* What a replay makes of its own tensors; 0 of others, and with an error. */
static Object *replayed(Words *python, Words *replay, Object *const *args, int64_t count, Saved *beside) {
    Words *known = replay + replay[REPLAY_FACTS];
    int64_t length = replay[REPLAY_FACTS_COUNT];
    Facts facts;
    if (count != replay[REPLAY_GIVEN] || !take_facts(python, args, count, replay, &facts) || facts.count != length)
        return 0;
    for (int64_t i = 0; i < length; i++) {
        if (facts.words[i] != known[i])
            return 0;
    }
    return run(python, replay, args, facts.addresses, beside);
}

Object *fly_replay(Object *self, Object *const *args, int64_t count) {
    Words *replay = table_of(self), *python = (Words *)replay[REPLAY_PYTHON];
    bool saves = replay[REPLAY_SAVED] >= 0;
    Saved saved = {0, 0, 0};
    Object *found = replayed(python, replay, args, count, saves ? &saved : 0);
    if (saved.stock)
        release(python, saved.stock);
    return found && saves ? paired(python, found, saved.tensors) : or_none(python, found);
}

/* Have an object refer to what it takes over, if anything. */
static void put(Words *python, Object *object, int64_t place, Object *value) {
    Object **at = (Object **)((char *)object + place), *before = *at;
    if (!value)
        return;
    *at = value;
    if (before)
        release(python, before);
}

/* The arguments are the context and some of the tensors that were handed on. */
Object *fly_forward(Object *self, Object *const *args, int64_t count) {
    (void)count;
    Words *forward = table_of(self), *replay = (Words *)forward[FORWARD_REPLAY], *python = (Words *)replay[REPLAY_PYTHON];
    Handed call = handed;
    Saved saved = {0, 0, 0};
    if (!call.args || call.thread != FUNCTION(python, PYTHON_THREAD_STATE, ThreadState)())
        return none(python);
    handed.args = 0;
    Object *found = run(python, replay, call.args, call.facts->addresses, &saved);
    put(python, args[0], forward[FORWARD_SAVED], saved.tensors);
    if (saved.stock) {
        Object *begin = FUNCTION(python, PYTHON_FROM_LONG_LONG, FromLongLong)(saved.begin / STOCK_UNIT);
        put(python, args[0], forward[FORWARD_STOCK], saved.stock);
        put(python, args[0], forward[FORWARD_BEGIN], begin);
        if (found && !begin) {
            release(python, found);
            found = 0;
        }
    }
    return or_none(python, found);
}

static bool same(const uint8_t *a, const uint8_t *b) {
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/* Where in a class the address of its table of attributes is. */
static int64_t named_at;
static Words *named_python;
void fly_name_attributes(int64_t place, Words *python) {
    named_at = place;
    named_python = python;
}

/* An attribute of a class: its table has each as C names it, and what it is, and 0 at the end. A class that others made of
 * one with a table has none. */
Object *fly_attribute(Object *type, const char *name) {
    Words *python = named_python, *at = *(Words **)((char *)type + named_at);
    for (; at && *at; at += 2) {
        if (same((const uint8_t *)at[0], (const uint8_t *)name))
            return keep(python, (Object *)at[1]);
    }
    Object *text = FUNCTION(python, PYTHON_TEXT_FROM, TextFrom)(name);
    if (!text)
        return 0;
    Object *found = FUNCTION(python, PYTHON_GET_ATTR, GetAttr)(type, text);
    release(python, text);
    return found;
}

static bool has_key(Words *python, int64_t which) {
    return FUNCTION(python, PYTHON_HAS_KEY, HasKey)((int32_t)python[which]);
}

/* Whether nobody but autograd is to know of a call: torch does not trace it, no mode of its dispatcher watches it, and
 * nothing is differentiated forward. */
static bool unwatched(Words *python) {
    int32_t overflow;
    DictGetItem *get = FUNCTION(python, PYTHON_DICT_GET_ITEM, DictGetItem);
    Object *compiling = get((Object *)python[PYTHON_COMPILER], (Object *)python[PYTHON_COMPILING]);
    Object *level = get((Object *)python[PYTHON_FORWARD], (Object *)python[PYTHON_LEVEL]);
    if ((int64_t)compiling != python[PYTHON_FALSE] || !level ||
        FUNCTION(python, PYTHON_AS_LONG_LONG, AsLongLong)(level, &overflow) >= 0)
        return clear_error(python);
    return !has_key(python, PYTHON_KEY_MODES) && !has_key(python, PYTHON_KEY_TRACER);
}

/* Whether torch.func transforms what is called. */
static bool transformed(Words *python) {
    return has_key(python, PYTHON_KEY_FRONT) || has_key(python, PYTHON_KEY_BACK);
}

/* Whether one of some arguments, tensors or None, wants a gradient. */
static bool want_gradients(Words *python, Object *const *args, int64_t from, int64_t to) {
    GetAttr *get = FUNCTION(python, PYTHON_GET_ATTR, GetAttr);
    for (int64_t i = from; i < to; i++) {
        if ((int64_t)args[i] == python[PYTHON_NONE])
            continue;
        bool view = true, known = tensor_memory && is_tensor(python, args[i]);
        if (known && wants_gradient(tensor_memory, args[i], &view))
            return true;
        if (view && is_true(python, get(args[i], (Object *)python[PYTHON_REQUIRES_GRAD])))
            return true;
    }
    return false;
}

/* A call by way of autograd, which may answer None. What is done there may call other ops, in this thread and in others. */
static Object *derived(Words *python, Words *site, Object *apply, Object *const *args, Facts *facts) {
    Handed before = handed, own = {FUNCTION(python, PYTHON_THREAD_STATE, ThreadState)(), args, facts};
    handed = own;
    Object *found = FUNCTION(python, PYTHON_VECTORCALL, Vectorcall)(apply, args, (uint64_t)site[SITE_DERIVED], 0);
    if (handed.thread == own.thread) /* another thread's call is not to be put back: it may be over */
        handed = before.thread == own.thread ? before : (Handed){0, 0, 0};
    return found;
}

/* A call that was looked up, by way of autograd or without. */
static Object *follow(Words *python, Words *site, Object *lane, Object *const *args, Facts *facts) {
    TupleGetItem *item = FUNCTION(python, PYTHON_TUPLE_GET_ITEM, TupleGetItem);
    bool graded = FUNCTION(python, PYTHON_GRAD_ENABLED, Asked)() && !FUNCTION(python, PYTHON_INFERRING, Asked)();
    if (graded && want_gradients(python, args, site[SITE_DERIVED], site[SITE_TENSORS]))
        return none(python);
    int64_t all = site[SITE_DERIVED], passed = site[SITE_PASSED] ? site[SITE_PASSED] : all;
    bool wanted = graded && want_gradients(python, args, 0, passed);
    if (graded && !wanted && want_gradients(python, args, passed, all))
        return none(python);
    if (wanted) {
        Object *apply = item(lane, 1);
        if ((int64_t)apply == python[PYTHON_NONE] || transformed(python))
            return none(python);
        return derived(python, site, apply, args, facts);
    }
    Object *replay = item(lane, 0);
    if ((int64_t)replay == python[PYTHON_NONE])
        return none(python);
    return or_none(python, run(python, table_of(replay), args, facts->addresses, 0));
}

/* The lane of a call, borrowed: that of the last one if it is like it. */
static Object *find(Words *python, Words *site, const Facts *facts) {
    int64_t *last = (int64_t *)site[SITE_LAST], at = 0;
    if (last[LAST_LANE] && last[LAST_COUNT] == facts->count) {
        while (at < facts->count && last[LAST_FACTS + at] == facts->words[at])
            at++;
        if (at == facts->count)
            return (Object *)last[LAST_LANE];
    }
    Object *key = key_of(python, facts);
    if (!key)
        return 0;
    Object *lane = FUNCTION(python, PYTHON_DICT_GET_ITEM, DictGetItem)((Object *)site[SITE_LANES], key);
    release(python, key);
    if (lane) {
        last[LAST_LANE] = (int64_t)lane;
        last[LAST_COUNT] = facts->count;
        for (int64_t i = 0; i < facts->count; i++)
            last[LAST_FACTS + i] = facts->words[i];
    }
    return lane;
}

Object *fly_again(Object *self, Object *const *args, int64_t count) {
    Words *site = table_of(self), *python = (Words *)site[SITE_PYTHON];
    Facts facts;
    if (!unwatched(python) || !take_facts(python, args, count, 0, &facts))
        return none(python);
    Object *lane = find(python, site, &facts);
    if (!lane)
        return or_none(python, 0);
    keep(python, lane);
    Object *found = follow(python, site, lane, args, &facts);
    release(python, lane);
    return found;
}

/* A call of a function of ops. Its own code runs where nothing can be repeated, and where Python does not run code itself:
 * torch's compiler is to see it then. */
Object *fly_entry(Object *function, Object *const *args, uint64_t flags, Object *names) {
    const Answered *entry = entry_of(function);
    Words *python = (Words *)table_of(entry->site)[SITE_PYTHON];
    Object **values = __builtin_alloca(8 * (uint64_t)(entry->parameters + entry->arguments));
    Object **given = values + entry->parameters;
    int64_t count = (int64_t)(flags & ~(1ull << 63)); /* Python's flag is of no interest */
    if (entry->frame_of(entry->interpreter) == entry->frame &&
        place_arguments(python, entry, args, count, names, values) && order_arguments(python, entry, values, given)) {
        Object *found = fly_again(entry->site, given, entry->arguments);
        if (found != entry->none)
            return found;
        release(python, found);
    }
    return entry->code(function, args, flags, names);
}

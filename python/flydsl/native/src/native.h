/* What the native parts of the virtual GPU, generated kernels and Python agree on.
 *
 * `flydsl.native.generate` writes each named enum into `constants.py`, so a number has one home. Functions with a
 * `KERNEL_NAME` become part of a kernel's own module; all others are entries of an object that is loaded once.
 */
#ifndef FLY_NATIVE_H
#define FLY_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_NAME(name) __asm__("fly." #name)
#define NOINLINE __attribute__((noinline))
#define ARRAY _Alignas(16) /* as x86-64 aligns every larger array by itself */

/* The beginning of libc's `ucontext_t`, the same on x86-64 and AArch64: a stack and the place on it. */
typedef struct {
    uint64_t flags;
    void *link;
    void *stack;
    int32_t stack_flags;
    uint64_t stack_bytes;
} Context;

enum { CONTEXT_BYTES = 8192 }; /* more than any processor's registers take */

int getcontext(Context *context);
void makecontext(Context *context, void (*function)(void), int count, ...);
int swapcontext(Context *from, Context *to);
void *aligned_alloc(size_t alignment, size_t bytes);
void *calloc(size_t count, size_t bytes);
void free(void *memory);

/* Launches -------------------------------------------------------------------------------------------------------- */

/* Words of the table of extents that every kernel is given. */
enum Dims {
    DIMS_GRID = 0,
    DIMS_BLOCK = 3,
    DIMS_DYNAMIC_SHARED = 6, /* bytes that the launch asks for */
    DIMS_LAUNCH = 7,         /* address of the Launch, which the pool fills in */
    DIMS_WORDS = 8,
};

/* A stopped kernel adds to one of the last four the status of the place where it was. */
enum LaunchStatus {
    STATUS_NO_MEMORY = -2,
    STATUS_FAULT = 6, /* a sanitizer stopped the launch */
    STATUS_STOPPED = 16777216,
    STATUS_OVERDUE = 33554432,
    STATUS_DEADLOCK = 50331648, /* all blocks wait, and nobody is left to wake one */
    STATUS_ALONE = 67108864,    /* what they wait for is another process's to write, and it has died or takes too long */
};

/* Bytes in front of what kernels read of a Launch. */
enum LaunchPlace {
    LAUNCH_ATTENTION_AT = 0,
    LAUNCH_CHECK_IN_AT = 8,
};

typedef struct Launch Launch;

/* A running launch. Kernels look at `attention` in loops that may be long, and call `check_in` where it is set. */
struct Launch {
    volatile uint32_t attention;
    uint32_t taken;
    int32_t (*check_in)(Launch *launch, int32_t place); /* 0 to go on, or the status to leave with */
    uint64_t number, overdue;                           /* of this use of the record; that which ran out of time */
    uint64_t caller;
    int32_t reason;  /* why all have to leave; 0 to go on */
    void *scheduler; /* of a launch whose blocks take turns */
};

Launch *fly_launch_begin(int64_t *dims);
void fly_launch_end(Launch *launch);

/* One workgroup of a kernel; 0, or the status that ends the launch. */
typedef int32_t Kernel(void *args, int64_t bx, int64_t by, int64_t bz, const int64_t *dims, char *scratch);

static inline int32_t run_block(Kernel *kernel, void *args, const int64_t *dims, char *scratch, uint64_t number) {
    uint64_t gx = dims[DIMS_GRID], gy = dims[DIMS_GRID + 1];
    return kernel(args, number % gx, number / gx % gy, number / gx / gy, dims, scratch);
}

static inline int64_t block_count(const int64_t *dims) {
    return dims[DIMS_GRID] * dims[DIMS_GRID + 1] * dims[DIMS_GRID + 2];
}

/* Ranks ----------------------------------------------------------------------------------------------------------- */

enum Ranks {
    RANKS_MOST = 16,
    WAITING_MOST = 64, /* rows of the list of blocks that wait; the last begins with the rank that has died, or -1 */
};

/* Words of a row; the list ends with a block of -1. */
enum Waiting {
    WAITING_RANK = 0,
    WAITING_BLOCK = 1,
    WAITING_SITE = 2,
    WAITING_CODE = 3,
    WAITING_LEFT = 4, /* blocks of the launch that have not begun */
    WAITING_GRID = 5,
    WAITING_WORDS = 8,
};

/* Which rule of ranks was broken. */
enum RankFault {
    RANK_STORE_SCOPE = 1,   /* a flag is stored for this device only, and another rank looks at it */
    RANK_LOAD_SCOPE = 2,    /* a look at another rank's flag is of this device only */
    RANK_NO_RELEASE = 3,    /* the flag was stored without release */
    RANK_NO_ACQUIRE = 4,    /* it was looked at without acquire */
    RANK_LATE = 5,          /* written behind the signal */
    RANK_NO_BARRIER_BEFORE = 6, /* written by another thread than the one that signals */
    RANK_NO_BARRIER_AFTER = 7,  /* read by another thread than the one that waited */
    RANK_UNORDERED = 8,     /* no flag orders the two */
    RANK_REUSED = 9,        /* written while another actor may still read */
    RANK_PLAIN_FLAG = 10,   /* one of the two is atomic, the other is not */
};

/* Words of a report: the fault, what the access does, then who made it, who made the other, and the flag between. */
enum RankReport {
    RANK_EVENT_SITE = 0,
    RANK_EVENT_RANK = 1,
    RANK_EVENT_BLOCK = 2,
    RANK_EVENT_THREAD = 3,
    RANK_EVENT_CODE = 4,
    RANK_EVENT_WORDS = 5,
    RANK_REPORT_FAULT = 0,
    RANK_REPORT_KIND = 1,
    RANK_REPORT_HERE = 2,
    RANK_REPORT_OTHER = RANK_REPORT_HERE + RANK_EVENT_WORDS,
    RANK_REPORT_FLAG = RANK_REPORT_OTHER + RANK_EVENT_WORDS,
    RANK_REPORT_WORDS = RANK_REPORT_FLAG + RANK_EVENT_WORDS,
};

/* What is told when a group of ranks begins, when a rank begins or ends a launch, and when all ranks have met. */
typedef struct {
    void (*start)(void);
    void (*begin)(int32_t rank);
    void (*end)(int32_t rank);
    void (*meet)(void);
} RankHooks;

bool fly_ranks_here(int64_t who[3]);
bool fly_ranks_share(uint64_t address);
void fly_ranks_hooks(const RankHooks *functions);
int32_t fly_resident_launch(Kernel *kernel, void *args, int64_t *dims, uint64_t scratch_bytes, int32_t certain);

/* The tensor data mover --------------------------------------------------------------------------------------------- */

/* Numbers of a tile's table; extents are those of the fastest dimension first. */
enum Tile {
    TILE_GLOBAL = 0,
    TILE_LDS = 1,
    TILE_ELEMENT_BYTES = 2,
    TILE_PAD_INTERVAL = 3, /* bytes; 0 for none */
    TILE_PAD_BYTES = 4,
    TILE_EXTENTS = 5, /* of the tensor */
    TILE_SIZES = 10,
    TILE_STRIDES = 15, /* in elements, from the second dimension on */
    TILE_GATHERS = 19, /* whether rows are listed */
    TILE_ROWS = 20,
    TILE_DIMENSIONS = 5,
};

/* Sanitizers ------------------------------------------------------------------------------------------------------ */

enum Check {
    CHECK_BOUNDS = 1,
    CHECK_RACE = 2,
    CHECK_UNINIT = 4,
    CHECK_BARRIER = 8,
    CHECK_ASYNC = 16,
    CHECK_MODES = 32,
    CHECK_RANKS = 64,
};

/* What an access does, to be added up. */
enum Access {
    ACCESS_READ = 1,
    ACCESS_WRITE = 2,
    ACCESS_ATOMIC = 4,
    ACCESS_QUIET = 8,     /* a read of what perhaps nobody wrote: the value does not matter */
    ACCESS_ORDERING = 16, /* an atomic that orders what blocks do around it */
    ACCESS_ENGINE = 32,   /* by a copy or a product that goes on beside the kernel */
    ACCESS_ACQUIRE = 64,
    ACCESS_RELEASE = 128,
    ACCESS_DEVICE = 256, /* seen by the device, or by the whole system */
    ACCESS_SYSTEM = 512,
};

/* What is wrong with memory or registers that asynchronous work is at. */
enum AsyncFault {
    ASYNC_FILLED = 1,     /* read or written while a copy fills it */
    ASYNC_READ = 2,       /* overwritten while a store or product reads it */
    ASYNC_UNFENCED = 3,   /* read by a copy engine that need not see what was written */
    ASYNC_LEFT = 4,       /* a store that reads shared memory of a block that has ended */
    ASYNC_REGISTERS = 5,  /* accumulators of a product that is under way */
    ASYNC_NO_FENCE = 6,   /* a product of registers that no fence has ordered */
};

/* Instead of the number of a region of global memory. */
enum Region {
    REGION_UNKNOWN = -1,
    REGION_SHARED = -2,
    REGION_REGISTERS = -3,
};

enum Root {
    ROOT_MOST = 256, /* arguments of a kernel whose pointers are followed; there is no kernel with more */
    ROOT_BYTES = 24,
};

/* Who touched memory: block << 32 | thread << 20 | site. */
enum Who {
    WHO_SITE_BITS = 20,
    WHO_THREAD_BITS = 12,
};

enum Cell {
    CELL_BYTES = 80,
};

/* Words of a report. */
enum Report {
    REPORT_CHECK,
    REPORT_SITE,
    REPORT_THREAD,
    REPORT_BLOCK,
    REPORT_ADDRESS,
    REPORT_BYTES,
    REPORT_KIND,
    REPORT_LOW,
    REPORT_END,
    REPORT_OTHER,
    REPORT_SCRATCH,
    REPORT_EXTENTS,
    REPORT_ASYNC = REPORT_EXTENTS + 6,
    REPORT_MODE, /* the one that an index leaves, then how many there are, then its extent, then all indices */
    REPORT_MODES,
    REPORT_EXTENT,
    REPORT_INDICES,
    REPORT_WORDS = REPORT_INDICES + 8,
};

/* Waves that run apart -------------------------------------------------------------------------------------------- */

/* Words of a tensor map on the host; the element's bytes are the low eight bits of its word, its type the rest. */
enum TensorMap {
    MAP_BASE = 0,
    MAP_ELEMENT = 1,
    MAP_RANK = 2,
    MAP_SWIZZLE = 3,
    MAP_EXTENTS = 4,
    MAP_STRIDES = 9, /* in bytes, from the second mode on */
    MAP_BOX = 13,    /* 16 bits each */
    MAP_MODES = 5,
    MAP_WORDS = 16,
};

/* What a copy engine does with the elements of a box. */
enum BoxCopy {
    BOX_LOAD = 0,
    BOX_STORE = 1,
    BOX_ADD = 2,
    BOX_MIN = 3,
    BOX_MAX = 4,
};

/* Elements that a box copy can combine, by the driver's numbers. */
enum BoxElement {
    ELEMENT_U32 = 2,
    ELEMENT_S32 = 3,
    ELEMENT_U64 = 4,
    ELEMENT_S64 = 5,
    ELEMENT_F16 = 6,
    ELEMENT_F32 = 7,
    ELEMENT_F64 = 8,
    ELEMENT_BF16 = 9,
};

/* Calls from Python ----------------------------------------------------------------------------------------------- */

/* Words of code that is launched. */
enum Code {
    CODE_ENTRY,
    CODE_LOCAL, /* has the thread's report */
    CODE_NEW_REPORT,
    CODE_FAIL,
    CODE_LAST, /* address of two words: the thread that launched last, by a number that no other has, and its report */
    CODE_WORDS,
};

/* Words of a call's plan; rows of its arguments follow. */
enum Plan {
    PLAN_PYTHON,
    PLAN_BLOCK_BYTES,
    PLAN_ARGUMENTS,
    PLAN_HIDDEN_STREAM, /* its place in the block, or -1 */
    PLAN_LOWEST_ADDRESS,
    PLAN_CODE,
    PLAN_ROWS = PLAN_CODE + CODE_WORDS,
};

/* What a row is of. */
enum Argument {
    ARGUMENT_TENSOR,
    ARGUMENT_INT,
    ARGUMENT_FLOAT,
    ARGUMENT_STREAM,
    ARGUMENT_CONSTANT,
    ARGUMENT_TAKEN,
    ARGUMENT_ADAPTOR, /* in front of the row of the tensor inside */
};

/* Words of a row: every one begins with the first two, the others depend on its kind. */
enum Row {
    ROW_KIND = 0,
    ROW_LENGTH = 1,
    ROW_TENSOR_DTYPE = 2,
    ROW_TENSOR_DEVICE = 3,
    ROW_TENSOR_RANK = 4,
    ROW_TENSOR_ALIGN_MASK = 5,
    ROW_TENSOR_PLACE = 6,
    ROW_TENSOR_LEAD = 7, /* modes in front of the unit stride that must not have one too */
    ROW_TENSOR_LEAVES = 8,
    ROW_NUMBER_PLACE = 2,
    ROW_NUMBER_BYTES = 3,
    ROW_INT_LEAST = 4,
    ROW_INT_MOST = 5,
    ROW_STREAM_PLACE = 2,
    ROW_STREAM_TYPE = 3,
    ROW_STREAM_HANDLE = 4,
    ROW_STREAM_INDEX = 5,
    ROW_STREAM_DEVICE = 6,
    ROW_STREAM_DEFAULT = 7,
    ROW_CONSTANT = 2,
    ROW_ADAPTOR_TYPE = 2,
    ROW_ADAPTOR_KEY = 3,
    ROW_ADAPTOR_KEY_NAME = 4,
    ROW_ADAPTOR_SOURCE_NAME = 5,
};

/* Words of a leaf of a shape or stride. */
enum Leaf {
    LEAF_FIXED = 0, /* its value, or -1 */
    LEAF_PLACE = 1,
    LEAF_BYTES = 2,
    LEAF_DIVISOR_MASK = 3,
    LEAF_WORDS = 4,
};

enum CallStatus {
    CALL_MISREAD = -1000000, /* the arguments are not those of the plan, and nothing was done */
};

/* Words of what calls know of Python and torch: objects, then functions. */
enum Interpreter {
    PYTHON_TENSOR_TYPE,
    PYTHON_PARAMETER_TYPE,
    PYTHON_INT_TYPE,
    PYTHON_FLOAT_TYPE,
    PYTHON_STR_TYPE,
    PYTHON_TUPLE_TYPE,
    PYTHON_SIZE_TYPE, /* torch.Size, a tuple */
    PYTHON_NONE,
    PYTHON_TRUE,
    PYTHON_FALSE,
    PYTHON_IS_NEG, PYTHON_STORAGE_OFFSET,
    PYTHON_KEY_MODES, PYTHON_KEY_TRACER, PYTHON_KEY_FRONT, PYTHON_KEY_BACK, /* of torch's dispatcher: numbers */
    PYTHON_HAS_KEY, /* torch's own C++: whether a thread's calls have such a key */
    PYTHON_GRAD_ENABLED, PYTHON_INFERRING, /* likewise: whether they have gradients; whether it infers, without any */
    PYTHON_COMPILER, PYTHON_COMPILING, PYTHON_FORWARD, PYTHON_LEVEL, /* modules' dicts, with a name in each */
    PYTHON_REQUIRES_GRAD, /* the attribute's name */
    PYTHON_REPORT,        /* likewise */
    PYTHON_EMPTY_LIKE,
    PYTHON_READER, /* DLPack's, of tensors */
    PYTHON_LOWEST_ADDRESS,
    PYTHON_INC_REF,
    PYTHON_DEC_REF,
    PYTHON_ERR_CLEAR,
    PYTHON_ERR_OCCURRED,
    PYTHON_CALL_NO_ARGS,
    PYTHON_CALL_ONE_ARG,
    PYTHON_VECTORCALL,
    PYTHON_CALL_TUPLE,
    PYTHON_RICH_COMPARE_BOOL,
    PYTHON_GET_ATTR,
    PYTHON_AS_LONG_LONG,
    PYTHON_AS_DOUBLE,
    PYTHON_AS_UTF8,
    PYTHON_FROM_LONG_LONG,
    PYTHON_TUPLE_SIZE,
    PYTHON_TUPLE_GET_ITEM,
    PYTHON_TUPLE_NEW,
    PYTHON_TUPLE_SET_ITEM,
    PYTHON_BYTES_FROM, PYTHON_TEXT_FROM,
    PYTHON_LIST_SET_ITEM,
    PYTHON_DICT_GET_ITEM,
    PYTHON_THREAD_STATE,
    PYTHON_THREAD_ID,
    PYTHON_SAVE_THREAD,
    PYTHON_RESTORE_THREAD,
    PYTHON_WORDS,
};

enum ReplayLimit {
    MOST_ARGUMENTS = 16,
    MOST_BUFFERS = 32,
    MOST_FACTS = 320,
    REPLAY_ALIGNMENT = 16, /* of tensors that are given */
    BYTES_HEADER = 32,     /* in front of the payload of a bytes object */
    DLPACK_FLOAT = 2,      /* the code of f16, f32 and f64 */
};

/* Of what is known of tensors (`tensor_memory.h`): dispatcher's keys of plain ones, element types, kinds of devices. */
enum MemoryLimit { MEMORY_PLAIN = 8, MEMORY_TYPES = 64, MEMORY_DEVICES = 32 };

/* Words of an op: where its calls that can be repeated are. */
enum Site {
    SITE_PYTHON,
    SITE_LANES,   /* a dict of facts to lanes, each a tuple: a replay without a gradient, and what makes one with */
    SITE_TENSORS, SITE_DERIVED, /* so many arguments come first and may want gradients, and so many may have one */
    SITE_PASSED,  /* so many of these come first, and alone decide whether some results have a gradient; or 0 */
    SITE_LAST,    /* address of the words of the last call */
    SITE_WORDS,
};

/* Words of the call that an op was last asked for: its lane, which the dict has, or 0, and its facts. */
enum Last { LAST_LANE, LAST_COUNT, LAST_FACTS, LAST_WORDS = LAST_FACTS + MOST_FACTS };

/* Words of a forward function of autograd. */
enum Forward {
    FORWARD_REPLAY,
    FORWARD_SAVED, /* how far into the context its reference to tensors to save is */
    FORWARD_STOCK, /* and that to the tensor of a stock */
    FORWARD_BEGIN, /* and that to where its part begins, in units */
};

/* Words of a replay. Rows of the tensors it makes follow, then the numbers of those it returns and saves, its launches
 * and the facts of what it is given. */
enum Replay {
    REPLAY_PYTHON,
    REPLAY_GIVEN, /* arguments that it takes, the first buffers; those that it makes follow */
    REPLAY_MADE,
    REPLAY_LAUNCHES,
    REPLAY_RETURNED,
    REPLAY_ALONE, /* whether the first is returned, and not a tuple */
    REPLAY_SAVED, /* how many, in a tuple beside what is returned; -1 without one */
    REPLAY_STREAM_OF, REPLAY_STREAM_DEVICE, /* a function, and what it is called with */
    REPLAY_COUNTERS, /* a dict of streams: where the buffer behind all others lies; or 0 where there is none */
    REPLAY_IS_CAPTURING, /* the driver's function, or 0: a stream that is captured has no such buffer, and no stock */
    REPLAY_FACTS, /* where they begin */
    REPLAY_FACTS_COUNT,
    REPLAY_ROWS,
};

/* Words of a tensor that a replay makes. */
enum Made {
    MADE_PATTERN, /* a tensor that it is like */
    MADE_DEVICE,  /* DLPack's */
    MADE_BY,      /* torch's function for compiled code, which makes tensors on the current device, or 0 */
    MADE_FROM,    /* the tuple that it is called with: shape, strides and type */
    MADE_STOCK, /* address of the words of a stock, of which calls take parts; or 0 where each makes its own */
    MADE_PARTS, /* so many of them, */
    MADE_BYTES, /* each of so many */
    MADE_WORDS,
};

/* Words of a stock: memory of a stream of which calls take parts, one behind the other, and none twice. A list holds its
 * tensor. */
enum Stock { STOCK_UNIT = 128, STOCK_HOLDER = 0, STOCK_TENSOR, STOCK_ADDRESS, STOCK_STREAM, STOCK_TAKEN, STOCK_WORDS };

/* Words of a launch; places in its block follow, of a pointer each: the place, the buffer, and bytes behind its start. */
enum Launched {
    LAUNCHED_CODE,
    LAUNCHED_GET_DEVICE = LAUNCHED_CODE + CODE_WORDS, /* the driver's functions for the device that a thread has, or 0 where there is but one */
    LAUNCHED_SET_DEVICE,
    LAUNCHED_DEVICE,
    LAUNCHED_BLOCK, /* address of the numbers, but for pointers and stream */
    LAUNCHED_BLOCK_BYTES,
    LAUNCHED_STREAM, /* its place in the block */
    LAUNCHED_POINTERS,
    LAUNCHED_WORDS,
};

enum Pointer { POINTER_PLACE, POINTER_BUFFER, POINTER_OFFSET, POINTER_WORDS };

/* How an argument's facts begin, where it is no tensor; those of a tensor begin with its rank. */
enum Fact {
    FACT_INT = -1,
    FACT_FLOAT = -2,
    FACT_ONE = -3, /* an object that there is one of */
    FACT_TUPLE = -4,
    FACT_TEXT = -5,
};

#endif

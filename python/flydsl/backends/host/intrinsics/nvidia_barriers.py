"""NVIDIA's barriers on the host: mbarriers, named barriers, clusters. Their kernels run wave by wave (`fibers`)."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from flydsl.backends.host import fibers
from flydsl.backends.host.collectives import arrive_at, cluster_counter, require_whole_warps, wait_at
from flydsl.backends.host.intrinsics.entry import Behaviour, HostIntrinsic, meeting, thread
from flydsl.backends.host.thread_loops import Workgroup
from flydsl.codegen.llvm_types import type_text
from flydsl.target.ptx import ASYNC_WORD, CLUSTER_WORDS

RANK_SHIFT = 24
"""Addresses in the cluster's shared memory: the block's number above the address inside the block."""

NO_SUCH_BLOCK = """\
the cluster has no block of this number
blocks are numbered from 0 to fx.nvvm.cluster_size() - 1; the launch's cluster= says how many there are"""
PARTIAL_ELECTION = """\
elect_one() is reached by only part of a warp, and it waits for all of it
call it where the whole warp is, before the branch: one = fx.nvvm.elect_one(), then `if one and ...`"""
NO_SUCH_BARRIER = f"""\
there is no named barrier of this number
they are numbered 0 to {fibers.BARRIERS - 1}"""


def shared_pointer(wg: Workgroup, op: Operation, address: str, rank: str | None = None, size: int = 8) -> str:
    """Return the host address of an mbarrier, or so many bytes, in shared memory of this or another block."""
    body = wg.body
    wide = body.assign(f"zext i32 {address} to i64")
    wg.shared.check_end(wg, op, body.assign(f"add i64 {wide}, {size}"))
    base = "%scratch" if rank is None else body.assign(f"call ptr @fly.scratch_of(ptr %run, i64 {rank})")
    return body.assign(f"getelementptr i8, ptr {base}, i64 {wide}")


def _init(wg: Workgroup, op: Operation) -> None:
    place, count = (wg.body.operand(x) for x in op.operands)
    wg.body.line(f"call void @fly.mbarrier_init(ptr {shared_pointer(wg, op, place)}, i32 {count})")


def update(wg: Workgroup, barrier: str, arrivals: int, tx_bytes: str) -> None:
    """Count arrivals, and bytes that are to come (negative: that have come), towards a barrier's phase."""
    wg.body.line(f"call void @fly.mbarrier_update(ptr {barrier}, i32 {arrivals}, i32 {tx_bytes})")


def _counted(arrivals: int) -> Behaviour:
    """Return an arrival or none at the barrier that the first operand addresses, and the bytes of the second, if
    any."""

    def run(wg: Workgroup, op: Operation) -> None:
        place, *tx_bytes = (wg.body.operand(x) for x in op.operands)
        update(wg, shared_pointer(wg, op, place), arrivals, *(tx_bytes or ["0"]))

    return run


def check_block(wg: Workgroup, op: Operation, rank: str) -> None:
    """Refuse a block that the cluster does not have: its memory would be somebody else's."""
    x, y, z = fibers.cluster_extents(wg.op)
    wg.fail_if(wg.body.assign(f"icmp uge i64 {rank}, {x * y * z}"), op, NO_SUCH_BLOCK)


def _arrive_remote(wg: Workgroup, op: Operation) -> None:
    body = wg.body
    place, rank = (body.operand(x) for x in op.operands)
    wide = body.assign(f"zext i32 {rank} to i64")
    check_block(wg, op, wide)
    update(wg, shared_pointer(wg, op, place, wide), 1, "0")


def _until_complete(wg: Workgroup, op: Operation, *, once: bool) -> None:
    """Yield while the phase of some active lane is not complete, or once at most."""
    body = wg.body
    open_ = body.fresh("open")
    body.entry_line(f"{open_} = alloca i1, align 1")
    head, sleep, on = (body.fresh_label(hint) for hint in ("wait", "sleep", "on"))
    tries = body.fresh("tries")
    body.entry_line(f"{tries} = alloca i1, align 1")
    body.line(f"store i1 false, ptr {tries}")
    body.branch(head)
    body.start_block(head)
    body.line(f"store i1 false, ptr {open_}")
    wg.over_threads(lambda: _note_open(wg, op, open_))
    waiting = body.assign(f"load i1, ptr {open_}")
    if once:
        again = body.assign(f"xor i1 {body.assign(f'load i1, ptr {tries}')}, true")
        waiting = body.assign(f"and i1 {waiting}, {again}")
    body.branch_if(waiting, sleep, on)
    body.start_block(sleep)
    body.line(f"store i1 true, ptr {tries}")
    body.line(f"call void @fly.{'poll' if once else 'yield'}(ptr %run, i32 {fibers.site(wg, op)})")
    body.branch(head)
    body.start_block(on)
    if not once:
        body.line("call void @fly.progress(ptr %run)")


def _note_open(wg: Workgroup, op: Operation, slot: str) -> None:
    body, (place, parity) = wg.body, op.operands
    pointer = shared_pointer(wg, op, wg.value(place))
    if wg.asynchrony is not None:  # somebody waits: loads that are under way arrive
        wg.work.call("copy_arrive", f"ptr {pointer}", f"i32 {wg.value(parity)}", "ptr @fly.mbarrier_test")
    done = body.assign(f"call i1 @fly.mbarrier_test(ptr {pointer}, i32 {wg.value(parity)})")
    before = body.assign(f"load i1, ptr {slot}")
    missing = body.assign(f"xor i1 {done}, true")
    body.line(f"store i1 {body.assign(f'or i1 {before}, {missing}')}, ptr {slot}")


def _wait(wg: Workgroup, op: Operation) -> None:
    _until_complete(wg, op, once=False)


def _try_wait(wg: Workgroup, op: Operation) -> None:
    """One chance for others to go on, then each lane's own answer."""
    _until_complete(wg, op, once=True)
    place, parity = op.operands

    def answer() -> None:
        pointer = shared_pointer(wg, op, wg.value(place))
        done = wg.body.assign(f"call i1 @fly.mbarrier_test(ptr {pointer}, i32 {wg.value(parity)})")
        wg.slots.store(op.results[0], wg.body.assign(f"zext i1 {done} to i32"), wg.thread_number)

    wg.over_threads(answer)


# Named barriers and clusters -------------------------------------------------------------------


def _first_value(wg: Workgroup, value: SSAValue) -> str:
    """Return an operand that is the same in the whole wave, as i64."""
    body = wg.body
    if wg.plan.is_uniform(value):
        return body.assign(f"zext i32 {body.operand(value)} to i64")
    slot = body.fresh("same")
    body.entry_line(f"{slot} = alloca i32, align 4")
    wg.over_threads(lambda: body.line(f"store i32 {wg.value(value)}, ptr {slot}"))
    return body.assign(f"zext i32 {body.assign(f'load i32, ptr {slot}')} to i64")


def _named_barrier(wg: Workgroup, op: Operation) -> tuple[str, str]:
    """Return (number, expected threads) of a named barrier; a number that none has would count in foreign memory."""
    number, expected = (_first_value(wg, value) for value in op.operands)
    wg.fail_if(wg.body.assign(f"icmp uge i64 {number}, {fibers.BARRIERS}"), op, NO_SUCH_BARRIER)
    return number, expected


def _barrier_arrive(wg: Workgroup, op: Operation) -> None:
    arrive_at(wg, *_named_barrier(wg, op))


def _cluster_counter(wg: Workgroup) -> tuple[str, str]:
    """Return (the counter of the cluster; how many threads the cluster has)."""
    body = wg.body
    x, y, z = fibers.cluster_extents(wg.op)
    total = body.assign(f"trunc i64 {body.assign(f'mul i64 {wg.threads}, {x * y * z}')} to i32")
    return cluster_counter(wg), total


_GENERATION = "cluster generation"


def _cluster_arrive(wg: Workgroup, op: Operation) -> None:
    body = wg.body
    wg.require_all_active(op, "a cluster barrier is reached by only part of a wave")
    place, total = _cluster_counter(wg)
    mine = body.assign(f"trunc i64 {wg.present()} to i32")
    generation = body.assign(f"call i32 @fly.count_in(ptr {place}, i32 {mine}, i32 {total})")
    wg.slots.reserve(_GENERATION, "i32")
    wg.slots.store_key(_GENERATION, "i32", generation, wg.first)


def _cluster_wait(wg: Workgroup, op: Operation) -> None:
    place, _ = _cluster_counter(wg)
    generation = wg.slots.load_key(_GENERATION, "i32", wg.first)
    wg.body.line(f"call void @fly.wait_counter(ptr %run, ptr {place}, i32 {generation}, i32 {fibers.site(wg, op)})")


def _rank(wg: Workgroup, op: Operation) -> None:
    wg.body.bind(op.results[0], wg.body.assign("trunc i64 %rank to i32"))


def _blocks(wg: Workgroup, op: Operation) -> None:
    x, y, z = fibers.cluster_extents(wg.op)
    wg.body.bind(op.results[0], str(x * y * z))


def _map_address(wg: Workgroup, op: Operation) -> None:
    address, rank = (wg.body.operand(x) for x in op.operands)
    high = wg.body.assign(f"shl i32 {rank}, {RANK_SHIFT}")
    wg.body.bind(op.results[0], wg.body.assign(f"or i32 {address}, {high}"))


MISPLACED_WORDS = """\
what is exchanged with another block does not lie at a multiple of its size
align the array in shared memory to the vector's bytes, up to 16, and let vectors start at multiples of them"""


def cluster_pointer(wg: Workgroup, op: Operation, address: str, size: int) -> str:
    """Return the host address of so many bytes of the cluster's shared memory; they lie at a multiple of them."""
    body = wg.body
    rest = body.assign(f"and i32 {address}, {size - 1}")
    wg.fail_if(body.assign(f"icmp ne i32 {rest}, 0"), op, MISPLACED_WORDS)
    rank = body.assign(f"zext i32 {body.assign(f'lshr i32 {address}, {RANK_SHIFT}')} to i64")
    check_block(wg, op, rank)
    return shared_pointer(wg, op, body.assign(f"and i32 {address}, {(1 << RANK_SHIFT) - 1}"), rank, size)


def _cluster_load(bits: int, count: int) -> Behaviour:
    def run(wg: Workgroup, op: Operation) -> None:
        body, address = wg.body, wg.body.operand(op.operands[0])
        place, type_ = cluster_pointer(wg, op, address, bits // 8 * count), f"i{bits}"
        struct, value = type_text(op.results[0].type), "poison"
        for index in range(count):
            word = body.assign(f"load {type_}, ptr {_word(wg, place, bits, index)}, align {bits // 8}")
            value = word if count == 1 else body.assign(f"insertvalue {struct} {value}, {type_} {word}, {index}")
        body.bind(op.results[0], value)

    return run


def _cluster_store(bits: int, count: int) -> Behaviour:
    def run(wg: Workgroup, op: Operation) -> None:
        address, *values = (wg.body.operand(x) for x in op.operands)
        place = cluster_pointer(wg, op, address, bits // 8 * count)
        for index, value in enumerate(values):
            wg.body.line(f"store i{bits} {value}, ptr {_word(wg, place, bits, index)}, align {bits // 8}")

    return run


def _cluster_store_async(bits: int, count: int) -> Behaviour:
    """The words are there at once; the barrier is told of their bytes."""

    def run(wg: Workgroup, op: Operation) -> None:
        address, *values, barrier = (wg.body.operand(x) for x in op.operands)
        place = cluster_pointer(wg, op, address, bits // 8 * count)
        for index, value in enumerate(values):
            wg.body.line(f"store i{bits} {value}, ptr {_word(wg, place, bits, index)}, align {bits // 8}")
        update(wg, cluster_pointer(wg, op, barrier, 8), 0, str(-bits // 8 * count))

    return run


def _word(wg: Workgroup, place: str, bits: int, index: int) -> str:
    return wg.body.assign(f"getelementptr i{bits}, ptr {place}, i64 {index}") if index else place


# Lanes -----------------------------------------------------------------------------------------


def _elect(wg: Workgroup, op: Operation) -> None:
    """True in the first lane. The instruction waits for the whole warp, so one that comes in part is an error here."""
    require_whole_warps(wg, op, PARTIAL_ELECTION)
    body, result = wg.body, op.results[0]
    count = body.fresh("count")
    body.entry_line(f"{count} = alloca i64, align 8")

    def each() -> None:
        before = body.assign(f"load i64, ptr {count}")
        body.line(f"store i64 {body.assign(f'add i64 {before}, 1')}, ptr {count}")
        first = body.assign(f"icmp eq i64 {before}, 0")
        wg.slots.store(result, body.assign(f"zext i1 {first} to i32"), wg.thread_number)

    wg.by_wave(lambda: body.line(f"store i64 0, ptr {count}"), each, lambda: None)


def _nothing(wg: Workgroup, op: Operation) -> None:
    """Fences, hints and waits for what the host has long done."""


def _show_to_engines(wg: Workgroup, op: Operation) -> None:
    if wg.sanitizer is not None:
        wg.sanitizer.fence()


_DONE_ALREADY = (
    "fence.mbarrier_init", "setmaxnreg.inc", "setmaxnreg.dec", "griddepcontrol.wait",
    "griddepcontrol.launch_dependents", "prefetch.tensormap", "bulk.prefetch", "discard",
)  # fmt: skip

ENTRIES: dict[str, HostIntrinsic] = {
    "ptx.mbarrier.init": thread(_init),
    "ptx.mbarrier.inval": thread(_nothing),
    "ptx.mbarrier.arrive": thread(_counted(1)),
    "ptx.mbarrier.arrive.cluster": thread(_arrive_remote),
    "ptx.mbarrier.arrive.expect_tx": thread(_counted(1)),
    "ptx.mbarrier.expect_tx": thread(_counted(0)),
    "ptx.mbarrier.wait": meeting(_wait),
    "ptx.mbarrier.try_wait": meeting(_try_wait),
    "ptx.barrier.sync": meeting(lambda wg, op: wait_at(wg, op, *_named_barrier(wg, op))),
    "ptx.barrier.arrive": meeting(_barrier_arrive),
    "ptx.cluster.arrive": meeting(_cluster_arrive),
    "ptx.cluster.arrive.relaxed": meeting(_cluster_arrive),
    "ptx.cluster.wait": meeting(_cluster_wait),
    "ptx.cluster.ctarank": thread(_rank, pure=True),
    "ptx.cluster.nctarank": thread(_blocks, pure=True),
    "ptx.mapa": thread(_map_address, pure=True),
    **{
        f"ptx.{way}.cluster.{'' if count == 1 else f'v{count}.'}b{bits}": thread(access(bits, count))
        for way, access in (("ld", _cluster_load), ("st", _cluster_store), ("st.async", _cluster_store_async))
        for bits, counts in CLUSTER_WORDS.items()
        for count in counts
        if way != "st.async" or bits >= ASYNC_WORD
    },
    "ptx.fence.proxy.async": thread(_show_to_engines),
    "ptx.elect.sync": meeting(_elect),
    **{f"ptx.{name}": thread(_nothing) for name in _DONE_ALREADY},
}

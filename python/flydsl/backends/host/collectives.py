"""Operations in which threads meet, and how each behaves on the host.

Two kinds. A *gather* reads another thread's value: the values must be in their arrays before it,
after which it is an ordinary operation of a thread. A *meeting* is done once for the workgroup or
for each wave, between thread loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from flydsl.backends.host import fibers
from flydsl.backends.host.asynchrony import COUNTED_COPIES, GROUPS
from flydsl.backends.host.thread_loops import Workgroup
from flydsl.codegen.llvm_types import type_text

Behaviour = Callable[[Workgroup, Operation], None]


# Gathers ---------------------------------------------------------------------------------------


def lane_parts(wg: Workgroup) -> tuple[str, str]:
    """Return (lane, first thread of the wave) of the current thread, as i64."""
    body, wave = wg.body, wg.target.wave_size
    lane = body.assign(f"and i64 {wg.thread_number}, {wave - 1}")
    return lane, body.assign(f"sub i64 {wg.thread_number}, {lane}")


def read_lane(wg: Workgroup, value: SSAValue, thread: str, missing: str = "zeroinitializer") -> str:
    """Another thread's value, the same for all or not; zero, or else ``missing``, from one that does not run here."""
    body = wg.body
    type_ = type_text(value.type)
    exists = body.assign(f"icmp ult i64 {thread}, {wg.threads}")
    safe = body.assign(f"select i1 {exists}, i64 {thread}, i64 {wg.thread_number}")
    found = body.operand(value) if wg.plan.is_uniform(value) else wg.slots.load(value, safe)
    active = exists
    if wg.mask is not None:
        active = body.assign(f"and i1 {exists}, {wg.mask_bit(safe)}")
    return body.assign(f"select i1 {active}, {type_} {found}, {type_} {missing}")


def permute(wg: Workgroup, result: SSAValue, value: SSAValue, rest: SSAValue | None, order: Sequence[int]) -> bool:
    """Put a result into its array, a wave at a time, if all lanes of all waves take part, and return whether.

    ``order`` says whose ``value`` each lane has or, counted on from there, whose ``rest``; None is zero.
    """
    body, kind = wg.body, type_text(result.type)
    lanes, size = len(order), wg.slots.reserve(result, kind).bytes
    if wg.mask is not None or not wg.consists_of(lanes) or wg.plan.is_uniform(value) or size > 8:
        return False
    type_, order_type = f"<{lanes} x i{8 * size}>", f"<{lanes} x i32>"

    def whole(given: SSAValue | None, first: str) -> str:
        if given is not None and not wg.plan.is_uniform(given):
            return body.assign(f"load {type_}, ptr {wg.slots.address(given, kind, first)}, align {size}")
        bits = "0" if given is None else body.assign(f"bitcast {kind} {body.operand(given)} to i{8 * size}")
        one = body.assign(f"insertelement {type_} poison, i{8 * size} {bits}, i64 0")
        return body.assign(f"shufflevector {type_} {one}, {type_} poison, {order_type} zeroinitializer")

    def move(first: str) -> None:
        parts = f"{type_} {whole(value, first)}, {type_} {whole(rest, first)}"
        moved = body.assign(f"shufflevector {parts}, {order_type} <{', '.join(map('i32 %d'.__mod__, order))}>")
        body.line(f"store {type_} {moved}, ptr {wg.slots.address(result, kind, first)}, align {size}")

    wg.each_wave(move)
    return True


def _shuffle_source(wg: Workgroup, mode: str, lane: str, offset: str, width: str) -> tuple[str, str]:
    """Return (source lane, whether it is inside the segment of ``width`` lanes)."""
    body = wg.body
    low = body.assign(f"sub i64 {width}, 1")
    inside = body.assign(f"and i64 {lane}, {low}")
    first = body.assign(f"sub i64 {lane}, {inside}")
    step = {"xor": "xor", "up": "sub", "down": "add"}.get(mode)
    source = offset if step is None else body.assign(f"{step} i64 {inside}, {offset}")
    valid = body.assign(f"icmp ult i64 {source}, {width}")
    return body.assign(f"add i64 {first}, {source}"), valid


def _shuffle(wg: Workgroup, op: Operation) -> None:
    """A lane outside the segment gives the thread its own value back; numbers of lanes wrap at the wave's end."""
    body = wg.body
    value, offset, width = op.operands
    mode = op.properties["mode"].data.value  # type: ignore[union-attr]
    lane, wave = lane_parts(wg)
    wide = [body.assign(f"zext i32 {body.operand(x)} to i64") for x in (offset, width)]
    source, valid = _shuffle_source(wg, mode, lane, *wide)
    chosen = body.assign(f"select i1 {valid}, i64 {source}, i64 {lane}")
    thread = body.assign(f"add i64 {wave}, {body.assign(f'and i64 {chosen}, {wg.target.wave_size - 1}')}")
    body.bind(op.results[0], read_lane(wg, value, thread))
    body.bind(op.results[1], valid)


PARTIAL_WARP = """\
a shuffle, a vote or a matrix move is reached by only part of a warp, and it waits for all of it
do it where the whole warp is, and choose with a condition what goes in and what is made of it"""


def require_whole_warps(wg: Workgroup, op: Operation, message: str = PARTIAL_WARP) -> None:
    """On NVIDIA GPUs such an instruction names the whole warp as its members (PTX ISA, ``shfl.sync``)."""
    if wg.mask is None or not wg.target.family.whole_warps:
        return

    def all_or_none(first: str) -> None:
        lanes = wg.lanes(first)
        others, most = (wg.body.assign(f"sub i64 {count}, 1") for count in (wg.active(first, lanes), lanes))
        wg.fail_if(wg.body.assign(f"icmp ult i64 {others}, {most}"), op, message)

    wg.each_wave(all_or_none)


GATHERS: dict[str, Behaviour] = {"gpu.shuffle": _shuffle}


# Meetings --------------------------------------------------------------------------------------

PARTIAL_BARRIER = """\
a barrier is reached by only part of the workgroup
move it out of the branch or loop on which threads disagree"""
"""What is wrong, and on the second line the help."""


SPLIT_WAVE = """\
a barrier is reached by only part of a wave
move it out of the branch or loop on which the lanes of a wave disagree; waves may go different ways"""


def counter(wg: Workgroup, number: str) -> str:
    """Return the counter of a barrier of this block."""
    step = wg.body.assign(f"mul i64 {number}, {fibers.COUNTER_BYTES}")
    return wg.body.assign(f"getelementptr i8, ptr {wg.shared.counters}, i64 {step}")


def cluster_counter(wg: Workgroup) -> str:
    """Return the counter of the cluster, in the memory of its first workgroup."""
    body = wg.body
    own = body.assign(f"ptrtoint ptr {counter(wg, str(fibers.CLUSTER_COUNTER))} to i64")
    here = body.assign(f"ptrtoint ptr {body.assign('call ptr @fly.scratch_of(ptr %run, i64 %rank)')} to i64")
    first = body.assign(f"ptrtoint ptr {body.assign('call ptr @fly.scratch_of(ptr %run, i64 0)')} to i64")
    place = body.assign(f"add i64 {first}, {body.assign(f'sub i64 {own}, {here}')}")
    return body.assign(f"inttoptr i64 {place} to ptr")


def arrive_at(wg: Workgroup, number: str, expected: str) -> str:
    """Count a wave in at a barrier, a short one as a whole; return the generation to wait for the end of."""
    body, wave = wg.body, wg.target.wave_size
    whole = body.assign(f"and i64 {body.assign(f'add i64 {expected}, {wave - 1}')}, {-wave}")
    all_ = body.assign(f"trunc i64 {whole} to i32")
    return body.assign(f"call i32 @fly.count_in(ptr {counter(wg, number)}, i32 {wave}, i32 {all_})")


def wait_at(wg: Workgroup, op: Operation, number: str, expected: str) -> None:
    """A wave arrives at a barrier for ``expected`` threads and waits for the others."""
    wg.require_all_active(op, PARTIAL_BARRIER)
    generation, status = arrive_at(wg, number, expected), fibers.site(wg, op)
    place = counter(wg, number)
    wg.body.line(f"call void @fly.wait_counter(ptr %run, ptr {place}, i32 {generation}, i32 {status})")


def barrier(wg: Workgroup, op: Operation) -> None:
    """Thread loops on both sides order memory; all that is left is to see that everyone came."""
    if wg.apart and not wg.target.barriers_count_waves:
        wait_at(wg, op, "0", wg.threads)
        return
    watched = wg.sanitizer
    if wg.mask is not None:
        if watched is not None and "barrier" in watched.checks:
            watched.require_everyone(op)
        else:
            wg.require_all_active(op, SPLIT_WAVE if wg.apart else PARTIAL_BARRIER)
    if wg.apart:
        _arrive(wg, op)
    elif watched is not None:
        watched.met_all()


def _arrive(wg: Workgroup, op: Operation) -> None:
    """A wave that runs apart waits for the others. What they did before is in order once the last one opens it."""
    body, arguments = wg.body, f"ptr {counter(wg, '0')}, i64 %rank, i32 {fibers.site(wg, op)}"
    opened = body.assign(f"call i1 @fly.barrier(ptr %run, {arguments})")
    if wg.sanitizer is not None:
        last, on = body.fresh_label("last"), body.fresh_label("on")
        body.branch_if(opened, last, on)
        body.start_block(last)
        wg.sanitizer.met_all()
        body.branch(on)
        body.start_block(on)


def ballot(wg: Workgroup, op: Operation) -> None:
    """The mask of a wave's active lanes whose predicate holds, given to each of its threads."""
    require_whole_warps(wg, op)
    predicate, result = op.operands[0], op.results[0]
    type_ = type_text(result.type)
    body = wg.body
    total = body.fresh("ballot")
    body.entry_line(f"{total} = alloca {type_}, align 8")

    def reset() -> None:
        body.line(f"store {type_} 0, ptr {total}")

    def gather() -> None:
        lane, _ = lane_parts(wg)
        bit = wg.value(predicate)
        wide = body.assign(f"zext i1 {bit} to {type_}")
        number = lane if type_ == "i64" else body.assign(f"trunc i64 {lane} to {type_}")
        moved = body.assign(f"shl {type_} {wide}, {number}")
        before = body.assign(f"load {type_}, ptr {total}")
        body.line(f"store {type_} {body.assign(f'or {type_} {before}, {moved}')}, ptr {total}")

    def spread() -> None:
        wg.slots.store(result, body.assign(f"load {type_}, ptr {total}"), wg.thread_number)

    wg.by_wave(reset, gather, spread)


def ordering_barrier(wg: Workgroup, op: Operation) -> None:
    """A barrier that orders memory. On CDNA its release waits for copies into LDS (LLVM: vmcnt(0) before s_barrier)."""
    if wg.asynchrony is not None and wg.target.generation in COUNTED_COPIES:
        wg.work.wait_block(GROUPS)
    barrier(wg, op)


MEETINGS: dict[str, Behaviour] = {"gpu.barrier": ordering_barrier, "gpu.ballot": ballot}

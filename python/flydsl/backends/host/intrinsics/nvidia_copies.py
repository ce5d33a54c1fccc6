"""NVIDIA's copies on the host: TMA, bulk copies, ldmatrix and stmatrix, cp.async.

An asynchronous copy lands when it is waited for (`asynchrony`); its bytes complete the barrier it was given.
"""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.backends.host.asynchrony import ENGINE, GROUPS
from flydsl.backends.host.collectives import lane_parts
from flydsl.backends.host.intrinsics.entry import Behaviour, HostIntrinsic, gather, immediate, thread
from flydsl.backends.host.intrinsics.nvidia_barriers import check_block, shared_pointer, update
from flydsl.backends.host.thread_loops import ENGINE_ACCESS, READ, WRITE, Workgroup
from flydsl.codegen.llvm_types import type_text
from flydsl.native import constants as native
from flydsl.target.dtype import storage_bytes
from flydsl.target.tensor_map import DATA_TYPES, REDUCTIONS

ROW_BYTES = 16
"""Bytes of a row that ldmatrix reads."""
_KINDS = {"store": 1, "reduce.add": 2, "reduce.min": 3, "reduce.max": 4}


def _coordinates(values: list[str]) -> str:
    return ", ".join(f"i32 {value}" for value in [*values, *["0"] * (5 - len(values))])


MISPLACED_BOX = """\
TMA cannot reach this box: its place in shared memory is not a multiple of 128 bytes, or its start not one of 16 bytes
align the place in shared memory to 128 bytes, and let boxes start at multiples of 16 bytes along the fastest mode"""
BOX_BEFORE_TENSOR = """\
TMA cannot write a box that starts before the tensor: a coordinate is negative
start at 0 or later; parts beyond the tensor's end are dropped, and loads may start before it"""
MISPLACED_BYTES = """\
a bulk copy cannot reach these bytes: an address or the size is not a multiple of 16
align both places and the size to 16 bytes"""


def _check_box(wg: Workgroup, op: Operation, place: str, map_: str, first: str) -> None:
    """What the copy engine refuses: a place not aligned to 128 bytes, a start not at a multiple of 16 bytes."""
    body = wg.body
    size = body.assign(f"call i32 @fly.element_bytes(ptr {map_})")
    start = body.assign(f"and i32 {body.assign(f'mul i32 {first}, {size}')}, 15")
    wrong = body.assign(f"or i32 {body.assign(f'and i32 {place}, 127')}, {start}")
    wg.fail_if(body.assign(f"icmp ne i32 {wrong}, 0"), op, MISPLACED_BOX)
    _check_shared(wg, op, place, body.assign(f"call i32 @fly.box_bytes(ptr {map_})"))


def _check_shared(wg: Workgroup, op: Operation, place: str, size: str) -> None:
    """The bytes from a place on lie in shared memory."""
    body = wg.body
    end = body.assign(f"add i64 {body.assign(f'zext i32 {place} to i64')}, {body.assign(f'zext i32 {size} to i64')}")
    wg.shared.check_end(wg, op, end)


def _check_start(wg: Workgroup, op: Operation, coords: list[str]) -> None:
    """A written box may end outside the tensor, not start before it."""
    body, signs = wg.body, coords[0]
    for coord in coords[1:]:
        signs = body.assign(f"or i32 {signs}, {coord}")
    wg.fail_if(body.assign(f"icmp slt i32 {signs}, 0"), op, BOX_BEFORE_TENSOR)


def _check_bytes(wg: Workgroup, op: Operation, place: str, pointer: str, size: str) -> None:
    body = wg.body
    low = body.assign(f"trunc i64 {body.assign(f'ptrtoint ptr {pointer} to i64')} to i32")
    all_ = body.assign(f"or i32 {body.assign(f'or i32 {low}, {place}')}, {size}")
    rest = body.assign(f"and i32 {all_}, 15")
    wg.fail_if(body.assign(f"icmp ne i32 {rest}, 0"), op, MISPLACED_BYTES)
    _check_shared(wg, op, place, size)


def _box(wg: Workgroup, op: Operation, coords: list[str], kind: int, barrier: str, rank: str | None) -> None:
    """Ask for a box of the map that is the second operand, at the place in shared memory that is the first."""
    body, work = wg.body, wg.work
    place, map_ = (body.operand(x) for x in op.operands[:2])
    memory = "%scratch" if rank is None else body.assign(f"call ptr @fly.scratch_of(ptr %run, i64 {rank})")
    size = body.assign(f"call i32 @fly.box_bytes(ptr {map_})")
    wide = body.assign(f"zext i32 {size} to i64")
    target = f"ptr {shared_pointer(wg, op, place, rank)}"
    ticket = work.ticket(op, op.operands[0], target, wide, reads=kind != 0, seen=rank is not None)
    work.call(
        "copy_box", work.queue(ENGINE), "ptr @fly.tma", f"ptr {map_}", f"ptr {memory}", f"i32 {place}", f"i32 {kind}",
        _coordinates(coords), f"i32 {size}", f"ptr {barrier}", "ptr @fly.mbarrier_update", ticket,
    )  # fmt: skip


def _tma_load(wg: Workgroup, op: Operation) -> None:
    body = wg.body
    place, source, barrier, *coords = (body.operand(x) for x in op.operands)
    _check_box(wg, op, place, source, coords[0])
    _box(wg, op, coords, 0, shared_pointer(wg, op, barrier), None)


def _tma_multicast(wg: Workgroup, op: Operation) -> None:
    """Every block of the mask gets the box, and its own barrier the bytes."""
    body = wg.body
    place, source, barrier, mask, *coords = (body.operand(x) for x in op.operands)
    _check_box(wg, op, place, source, coords[0])
    if wg.sanitizer is not None:  # the place is the same in every block
        size = body.assign(f"zext i32 {body.assign(f'call i32 @fly.box_bytes(ptr {source})')} to i64")
        wg.sanitizer.access(op, op.operands[0], f"ptr {shared_pointer(wg, op, place)}", size, WRITE | ENGINE_ACCESS)

    def block(index: str) -> None:
        bit = body.assign(f"trunc i64 {body.assign(f'lshr i64 {wide}, {index}')} to i1")
        take, skip = body.fresh_label("take"), body.fresh_label("skip")
        body.branch_if(bit, take, skip)
        body.start_block(take)
        check_block(wg, op, index)
        _box(wg, op, coords, 0, shared_pointer(wg, op, barrier, index), index)
        body.branch(skip)
        body.start_block(skip)

    wide = body.assign(f"zext i16 {mask} to i64")
    wg.loop("16", "block", block)


def _tma_out(kind: int) -> Behaviour:
    def run(wg: Workgroup, op: Operation) -> None:
        body = wg.body
        place, target, *coords = (body.operand(x) for x in op.operands)
        _check_box(wg, op, place, target, coords[0])
        _check_start(wg, op, coords)
        _box(wg, op, coords, kind, "null", None)

    return run


def _bulk_load(wg: Workgroup, op: Operation) -> None:
    body, work = wg.body, wg.work
    place, source, size, barrier = (body.operand(x) for x in op.operands)
    _check_bytes(wg, op, place, source, size)
    wide = body.assign(f"zext i32 {size} to i64")
    wg.access(op, op.operands[1], f"ptr {source}", wide, READ)
    target = shared_pointer(wg, op, place)
    ticket = work.ticket(op, op.operands[0], f"ptr {target}", wide)
    update = (f"ptr {shared_pointer(wg, op, barrier)}", "ptr @fly.mbarrier_update")
    work.call("copy_load", f"ptr {target}", f"ptr {source}", f"i32 {size}", *update, ticket)


def _bulk_store(wg: Workgroup, op: Operation) -> None:
    body, work = wg.body, wg.work
    place, target, size = (body.operand(x) for x in op.operands)
    _check_bytes(wg, op, place, target, size)
    wide = body.assign(f"zext i32 {size} to i64")
    wg.access(op, op.operands[1], f"ptr {target}", wide, WRITE)
    source = shared_pointer(wg, op, place)
    ticket = work.ticket(op, op.operands[0], f"ptr {source}", wide, reads=True)
    places = (f"ptr {target}", f"ptr {source}")
    work.call("copy_issue", work.queue(ENGINE), *places, f"i32 {size}", f"i32 {size}", "i1 true", ticket)


def _bulk_reduce(kind: int, elem: str) -> Behaviour:
    """Rows of 16 bytes of a box that this makes a map of; whoever lands it gives the map back."""

    def build(symbol: str) -> str:
        given = ", ".join(f"i32 %c{i}" for i in range(5))
        return (
            f"define internal void {symbol}(ptr %map, ptr %shared, i32 %offset, i32 %kind, {given}) {{\n"
            f"  call void @fly.tma(ptr %map, ptr %shared, i32 %offset, i32 %kind, {_coordinates([])})\n"
            "  call void @free(ptr %map)\n  ret void\n}"
        )

    def run(wg: Workgroup, op: Operation) -> None:
        body, work = wg.body, wg.work
        place, target, size = (body.operand(x) for x in op.operands)
        _check_bytes(wg, op, place, target, size)
        wide = body.assign(f"zext i32 {size} to i64")
        wg.access(op, op.operands[1], f"ptr {target}", wide, WRITE)
        width, rows = storage_bytes(elem), body.assign(f"lshr i64 {wide}, 4")
        box = body.assign(f"or i64 {body.assign(f'shl i64 {rows}, 16')}, {ROW_BYTES // width}")
        map_ = body.assign(f"call ptr @malloc(i64 {8 * native.MAP_WORDS})")
        words = {
            native.MAP_BASE: body.assign(f"ptrtoint ptr {target} to i64"),
            native.MAP_ELEMENT: str(width | DATA_TYPES[elem] << 8),
            native.MAP_RANK: "2", native.MAP_SWIZZLE: "0",
            native.MAP_EXTENTS: str(ROW_BYTES // width), native.MAP_EXTENTS + 1: rows,
            native.MAP_STRIDES: str(ROW_BYTES), native.MAP_BOX: box,
        }  # fmt: skip
        for word, value in words.items():
            body.line(f"store i64 {value}, ptr {body.assign(f'getelementptr i64, ptr {map_}, i64 {word}')}")
        ticket = work.ticket(op, op.operands[0], f"ptr {shared_pointer(wg, op, place)}", wide, reads=True)
        engine = body.scope.helper("fly.bulk_reduce", build)
        work.call(
            "copy_box", work.queue(ENGINE), f"ptr {engine}", f"ptr {map_}", "ptr %scratch", f"i32 {place}",
            f"i32 {kind}", _coordinates([]), f"i32 {size}", "ptr null", "ptr @fly.mbarrier_update", ticket,
        )  # fmt: skip

    return run


def _commit(kind: int) -> Behaviour:
    def run(wg: Workgroup, op: Operation) -> None:
        wg.work.call("copy_count", wg.work.queue(kind))

    return run


def _wait_bulk(function: str) -> Behaviour:
    def run(wg: Workgroup, op: Operation) -> None:
        wg.work.call(function, wg.work.queue(ENGINE), f"i64 {asm_number(op)}")

    return run


def asm_number(op: Operation) -> int:
    """Return the number that an instruction of PTX ends in."""
    return int(op.properties["asm_string"].data.rstrip("; ").rpartition(" ")[2])  # type: ignore[union-attr]


# ldmatrix and stmatrix ---------------------------------------------------------------------------


def _cell(wg: Workgroup, op: Operation, matrix: int, transposed: bool, half: int) -> tuple[str, str]:
    """Return (thread that names the row, byte in the row) of the element that this lane holds in half a word."""
    body = wg.body
    lane, first = lane_parts(wg)
    group, inside = body.assign(f"lshr i64 {lane}, 2"), body.assign(f"and i64 {lane}, 3")
    column = body.assign(f"add i64 {body.assign(f'shl i64 {inside}, 1')}, {half}")
    row, column = (column, group) if transposed else (group, column)
    thread_ = body.assign(f"add i64 {first}, {body.assign(f'add i64 {row}, {8 * matrix}')}")
    return thread_, body.assign(f"shl i64 {column}, 1")


def _row_address(wg: Workgroup, op: Operation, index: int, thread_: str) -> str:
    """Return the row that another thread names, if it has one: 16 bytes of shared memory, at a multiple of them."""
    pointer = op.operands[index]
    row = wg.body.operand(pointer) if wg.plan.is_uniform(pointer) else wg.slots.load(pointer, thread_)
    wg.broken_promises.note(op, f"{type_text(pointer.type)} {row}", ROW_BYTES)
    return wg.shared.bounds.turned(op, row, ROW_BYTES, "llvm.load")


def _ldmatrix(count: int, transposed: bool) -> Behaviour:
    def run(wg: Workgroup, op: Operation) -> None:
        body, kind = wg.body, type_text(op.operands[0].type)
        words = []
        for matrix in range(count):
            halves = []
            for half in range(2):
                thread_, byte = _cell(wg, op, matrix, transposed, half)
                row = _row_address(wg, op, 0, thread_)
                place = body.assign(f"getelementptr i8, {kind} {row}, i64 {byte}")
                wg.access(op, op.operands[0], f"{kind} {place}", 2, READ)
                halves.append(body.assign(f"zext i16 {body.assign(f'load i16, {kind} {place}, align 2')} to i32"))
            words.append(body.assign(f"or i32 {halves[0]}, {body.assign(f'shl i32 {halves[1]}, 16')}"))
        if count == 1:
            body.bind(op.results[0], words[0])
            return
        struct, value = type_text(op.results[0].type), "poison"
        for index, word in enumerate(words):
            value = body.assign(f"insertvalue {struct} {value}, i32 {word}, {index}")
        body.bind(op.results[0], value)

    return run


def _stmatrix(transposed: bool) -> Behaviour:
    def run(wg: Workgroup, op: Operation) -> None:
        body, kind = wg.body, type_text(op.operands[0].type)
        for matrix, value in enumerate(op.operands[1:]):
            word = body.operand(value)
            for half in range(2):
                thread_, byte = _cell(wg, op, matrix, transposed, half)
                row = _row_address(wg, op, 0, thread_)
                place = body.assign(f"getelementptr i8, {kind} {row}, i64 {byte}")
                wg.access(op, op.operands[0], f"{kind} {place}", 2, WRITE)
                part = body.assign(f"trunc i32 {body.assign(f'lshr i32 {word}, {16 * half}')} to i16")
                body.line(f"store i16 {part}, {kind} {place}, align 2")

    return run


# Accesses with a cache hint ------------------------------------------------------------------------


def _hinted_load(words: int) -> Behaviour:
    def run(wg: Workgroup, op: Operation) -> None:
        body, pointer = wg.body, op.operands[0]
        kind = type_text(pointer.type)
        wg.access(op, pointer, body.typed(pointer), 4 * words, READ)
        struct, value = type_text(op.results[0].type), "poison"
        for index in range(words):
            place = body.assign(f"getelementptr i32, {kind} {body.operand(pointer)}, i64 {index}")
            word = body.assign(f"load i32, {kind} {place}, align 1")
            value = word if words == 1 else body.assign(f"insertvalue {struct} {value}, i32 {word}, {index}")
        body.bind(op.results[0], value)

    return run


def _hinted_store(wg: Workgroup, op: Operation) -> None:
    body, pointer = wg.body, op.operands[0]
    kind = type_text(pointer.type)
    wg.access(op, pointer, body.typed(pointer), 4 * (len(op.operands) - 1), WRITE)
    for index, word in enumerate(op.operands[1:]):
        place = body.assign(f"getelementptr i32, {kind} {body.operand(pointer)}, i64 {index}")
        body.line(f"store i32 {body.operand(word)}, {kind} {place}, align 1")


# cp.async, fast functions ----------------------------------------------------


def _cp_async(size: int) -> Behaviour:
    """Bytes beyond the third operand, if there is one, are filled with zeros."""

    def run(wg: Workgroup, op: Operation) -> None:
        body = wg.body
        target, source, *rest = op.operands
        wg.access(op, target, body.typed(target), size, WRITE | ENGINE_ACCESS)
        place = wg.shared.bounds.turned(op, body.operand(target), size, "llvm.store")
        for pointer in (target, source):
            wg.broken_promises.note(op, body.typed(pointer), size)
        given = body.operand(rest[0]) if rest else str(size)
        filled = body.assign(f"call i32 @llvm.umin.i32(i32 {given}, i32 {size})") if rest else given
        wg.access(op, source, body.typed(source), body.assign(f"zext i32 {filled} to i64") if rest else size, READ)
        wg.work.copy(op, (target, f"{type_text(target.type)} {place}"), body.typed(source), size, filled)

    return run


def _arrive_behind_copies(wg: Workgroup, op: Operation) -> None:
    """An item of the barrier that lands, when somebody waits for it, after the copies that this thread asked for."""

    def build(symbol: str) -> str:
        rest = ", ".join(f"i32 %c{i}" for i in range(6))
        return (
            f"define internal void {symbol}(ptr %async, ptr %barrier, i32 %queue, {rest}) {{\n"
            "  %own = zext i32 %queue to i64\n"
            "  call void @fly.copy_wait_all(ptr %async, i64 %own, i64 1)\n"
            "  call void @fly.mbarrier_update(ptr %barrier, i32 1, i32 0)\n  ret void\n}"
        )

    body = wg.body
    barrier = shared_pointer(wg, op, body.operand(op.operands[0]))
    if wg.asynchrony is None:  # no copy is ever under way
        update(wg, barrier, 1, "0")
        return
    engine, (_, queue) = body.scope.helper("fly.arrive_behind_copies", build), wg.work.queue(GROUPS).split(" ")
    narrow = queue if queue.isdigit() else body.assign(f"trunc i64 {queue} to i32")
    wg.work.call(
        "copy_box", f"i64 {queue}", f"ptr {engine}", "ptr %async", f"ptr {barrier}", f"i32 {narrow}", "i32 0",
        _coordinates([]), "i32 0", f"ptr {barrier}", "ptr @fly.mbarrier_update", "i64 0",
    )  # fmt: skip


def _wait_groups(wg: Workgroup, op: Operation) -> None:
    wg.work.call("copy_wait", wg.work.queue(GROUPS), f"i64 {immediate(op, 0)}")


def _wait_all(wg: Workgroup, op: Operation) -> None:
    wg.work.call("copy_wait_all", wg.work.queue(GROUPS), "i64 1")


def _tanh(wg: Workgroup, op: Operation) -> None:
    wg.body.bind(op.results[0], wg.body.assign(f"call float @llvm.tanh.f32(float {wg.body.operand(op.operands[0])})"))


_RANKS = range(1, 6)
ENTRIES: dict[str, HostIntrinsic] = {
    **{f"ptx.tma.load.{rank}d": thread(_tma_load) for rank in _RANKS},
    **{f"ptx.tma.load.multicast.{rank}d": thread(_tma_multicast) for rank in _RANKS},
    **{f"ptx.tma.{name}.{rank}d": thread(_tma_out(kind)) for name, kind in _KINDS.items() for rank in _RANKS},
    **{f"ptx.ld.global.{words}": thread(_hinted_load(words)) for words in (1, 2, 4)},
    **{f"ptx.st.global.{words}": thread(_hinted_store) for words in (1, 2, 4)},
    "ptx.bulk.load": thread(_bulk_load),
    "ptx.bulk.store": thread(_bulk_store),
    **{f"ptx.bulk.reduce.{op}.{elem}": thread(_bulk_reduce(_KINDS[f"reduce.{op}"], elem))
       for op, elems in REDUCTIONS.items() for elem in elems},
    "ptx.mbarrier.arrive.cp_async": thread(_arrive_behind_copies),
    "ptx.bulk.commit_group": thread(_commit(ENGINE)),
    "ptx.bulk.wait_group": thread(_wait_bulk("copy_wait")),
    "ptx.bulk.wait_group.read": thread(_wait_bulk("copy_wait_read")),
    "ptx.tanh.approx.f32": thread(_tanh, pure=True),
    **{
        f"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x{count}{'.trans' if t else ''}.b16": gather(_ldmatrix(count, t))
        for count in (1, 2, 4)
        for t in (False, True)
    },
    **{
        f"llvm.nvvm.stmatrix.sync.aligned.m8n8.x{count}{'.trans' if t else ''}.b16": gather(_stmatrix(t))
        for count in (1, 2, 4)
        for t in (False, True)
    },
    **{f"llvm.nvvm.cp.async.{kind}.shared.global.{size}": thread(_cp_async(size))
       for kind, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16))},
    **{f"llvm.nvvm.cp.async.{kind}.shared.global.{size}.s": thread(_cp_async(size))
       for kind, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16))},
    "llvm.nvvm.cp.async.commit.group": thread(_commit(GROUPS)),
    "llvm.nvvm.cp.async.wait.group": thread(_wait_groups),
    "llvm.nvvm.cp.async.wait.all": thread(_wait_all),
}  # fmt: skip

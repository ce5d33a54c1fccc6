"""AMD's buffer instructions on the host: reads beyond the descriptor's records give zero, writes are dropped.

A descriptor is a 128-bit integer laid out as the hardware's: 48 bits of address, the stride, the number of
records (bytes, for the raw buffers used here) from bit 64, flags from bit 96.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from flydsl.backends.host.asynchrony import GROUPS
from flydsl.backends.host.collectives import lane_parts
from flydsl.backends.host.intrinsics.entry import Behaviour, HostIntrinsic, immediate, thread
from flydsl.backends.host.thread_loops import ATOMIC, ENGINE_ACCESS, READ, WRITE, Workgroup
from flydsl.base.records import dataclass
from flydsl.codegen.llvm_types import BF16, type_text
from flydsl.codegen.rules.rules_llvm_memory import is_soft, soft_atomic

ADDRESS_MASK = (1 << 48) - 1
SHARED_PREFIX = "ptr addrspace(3)"


def _make_descriptor(wg: Workgroup, op: Operation) -> None:
    body = wg.body
    pointer, _, records, flags = op.operands
    address = body.assign(f"ptrtoint {body.typed(pointer)} to i64")
    low = body.assign(f"zext i64 {body.assign(f'and i64 {address}, {ADDRESS_MASK}')} to i128")
    count = body.assign(f"and i64 {body.operand(records)}, 4294967295")
    words = body.assign(f"shl i128 {body.assign(f'zext i64 {count} to i128')}, 64")
    kept = body.assign(f"shl i128 {body.assign(f'zext i32 {body.operand(flags)} to i128')}, 96")
    body.bind(op.results[0], body.assign(f"or i128 {body.assign(f'or i128 {low}, {words}')}, {kept}"))


@dataclass(frozen=True)
class _Range:
    """One lane's access: the buffer's start, the byte offset in it, the number of bytes there are."""

    base: str
    offset: str
    records: str


def _range(wg: Workgroup, descriptor: str, offsets: list[str], more: int = 0) -> _Range:
    body = wg.body
    low = body.assign(f"trunc i128 {descriptor} to i64")
    base = body.assign(f"inttoptr i64 {body.assign(f'and i64 {low}, {ADDRESS_MASK}')} to ptr")
    high = body.assign(f"trunc i128 {body.assign(f'lshr i128 {descriptor}, 64')} to i32")
    total = str(more)
    for offset in offsets:
        total = body.assign(f"add i64 {total}, {body.assign(f'zext i32 {offset} to i64')}")
    return _Range(base, total, body.assign(f"zext i32 {high} to i64"))


def _inside(wg: Workgroup, where: _Range, size: int) -> str:
    end = wg.body.assign(f"add i64 {where.offset}, {size}")
    return wg.body.assign(f"icmp ule i64 {end}, {where.records}")


def _when(wg: Workgroup, condition: str, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
    body = wg.body
    yes, no, done = (body.fresh_label(hint) for hint in ("in", "out", "done"))
    body.branch_if(condition, yes, no)
    for label, emit in ((yes, then), (no, otherwise)):
        body.start_block(label)
        emit()
        body.branch(done)
    body.start_block(done)


def _pieces(type_: str) -> tuple[int, str, int]:
    """Return (count, element type, bytes of one) of the type an instruction moves."""
    count, elem = (int(type_[1:].split(" x ")[0]), type_[1:-1].split(" x ")[1]) if type_[0] == "<" else (1, type_)
    sizes = {"float": 4, "half": 2, BF16: 2, "double": 8}
    return count, elem, sizes[elem] if elem in sizes else int(elem[1:]) // 8


def _load(wg: Workgroup, op: Operation) -> None:
    """Whole accesses inside the buffer in one go; others word by word, zero where there is nothing."""
    body, type_ = wg.body, type_text(op.results[0].type)
    descriptor, voffset, soffset = (body.operand(x) for x in op.operands[:3])
    where = _range(wg, descriptor, [voffset, soffset])
    count, elem, size = _pieces(type_)
    slot = body.fresh("word")
    body.entry_line(f"{slot} = alloca {type_}, align 16")

    def whole() -> None:
        _touch(wg, op, 0, where, count * size, READ)
        body.line(f"store {type_} {_read(wg, where, type_, 0)}, ptr {slot}")

    _when(wg, _inside(wg, where, count * size), whole, lambda: _load_pieces(wg, where, (count, elem, size), slot))
    body.bind(op.results[0], body.assign(f"load {type_}, ptr {slot}"))


def _touch(wg: Workgroup, op: Operation, buffer: int, where: _Range, size: int, kind: int) -> None:
    """Tell of an access inside the buffer, whose descriptor is that operand."""
    place = wg.body.assign(f"getelementptr i8, ptr {where.base}, i64 {where.offset}")
    wg.access(op, op.operands[buffer], f"ptr {place}", size, kind)


def _read(wg: Workgroup, where: _Range, type_: str, more: int) -> str:
    place = wg.body.assign(f"getelementptr i8, ptr {where.base}, i64 {where.offset}")
    if more:
        place = wg.body.assign(f"getelementptr i8, ptr {place}, i64 {more}")
    return wg.body.assign(f"load {type_}, ptr {place}, align 1")


def _load_pieces(wg: Workgroup, where: _Range, pieces: tuple[int, str, int], slot: str) -> None:
    body, (count, elem, size) = wg.body, pieces
    for index in range(count):
        target = body.assign(f"getelementptr i8, ptr {slot}, i64 {index * size}")
        _when(
            wg,
            _inside(wg, where, (index + 1) * size),
            lambda t=target, i=index: body.line(f"store {elem} {_read(wg, where, elem, i * size)}, ptr {t}, align 1"),
            lambda t=target: body.line(f"store {elem} zeroinitializer, ptr {t}, align 1"),
        )


def _store(wg: Workgroup, op: Operation) -> None:
    body = wg.body
    value, (descriptor, voffset, soffset) = op.operands[0], (body.operand(x) for x in op.operands[1:4])
    type_, text = type_text(value.type), body.operand(value)
    where = _range(wg, descriptor, [voffset, soffset])
    count, elem, size = _pieces(type_)
    place = body.assign(f"getelementptr i8, ptr {where.base}, i64 {where.offset}")

    def pieces() -> None:
        for index in range(count):
            one = body.assign(f"extractelement {type_} {text}, i32 {index}") if count > 1 else text
            target = body.assign(f"getelementptr i8, ptr {place}, i64 {index * size}")
            _when(
                wg,
                _inside(wg, where, (index + 1) * size),
                lambda t=target, o=one: body.line(f"store {elem} {o}, ptr {t}, align 1"),
                lambda: None,
            )

    def whole() -> None:
        _touch(wg, op, 1, where, count * size, WRITE)
        body.line(f"store {type_} {text}, ptr {place}, align 1")

    _when(wg, _inside(wg, where, count * size), whole, pieces)


def _combined(wg: Workgroup, operation: str, place: str, typed: str, elem: str, size: int) -> str:
    """Return the expression that combines a value into memory and gives what was there."""
    if is_soft(wg.body.scope, operation, elem):
        return f"call {elem} {soft_atomic(wg.body.scope, operation)}(ptr {place}, {typed})"
    return f"atomicrmw {operation} ptr {place}, {typed} monotonic, align {size}"


def _atomic(operation: str) -> Behaviour:
    """Return a read-modify-write per element, dropped outside the buffer; gives what was there before."""

    def run(wg: Workgroup, op: Operation) -> None:
        body = wg.body
        value, (descriptor, voffset, soffset) = op.operands[0], (body.operand(x) for x in op.operands[1:4])
        type_, text = type_text(value.type), body.operand(value)
        where = _range(wg, descriptor, [voffset, soffset])
        count, elem, size = _pieces(type_)
        slot = body.fresh("before")
        body.entry_line(f"{slot} = alloca {type_}, align 16")
        body.line(f"store {type_} zeroinitializer, ptr {slot}")
        place = body.assign(f"getelementptr i8, ptr {where.base}, i64 {where.offset}")

        def combine() -> None:
            _touch(wg, op, 1, where, count * size, READ | WRITE | ATOMIC)
            for index in range(count):
                one = body.assign(f"extractelement {type_} {text}, i32 {index}") if count > 1 else text
                target = body.assign(f"getelementptr i8, ptr {place}, i64 {index * size}")
                before = body.assign(_combined(wg, operation, target, f"{elem} {one}", elem, size))
                kept = body.assign(f"getelementptr i8, ptr {slot}, i64 {index * size}")
                body.line(f"store {elem} {before}, ptr {kept}")

        _when(wg, _inside(wg, where, count * size), combine, lambda: None)
        body.bind(op.results[0], body.assign(f"load {type_}, ptr {slot}"))

    return run


def _scalar_load(wg: Workgroup, op: Operation) -> None:
    """s_buffer_load: the descriptor comes as four words, the offset is the wave's."""
    body, type_ = wg.body, type_text(op.results[0].type)
    descriptor = body.assign(f"bitcast <4 x i32> {body.operand(op.operands[0])} to i128")
    where = _range(wg, descriptor, [body.operand(op.operands[1])])
    count, elem, size = _pieces(type_)
    slot = body.fresh("word")
    body.entry_line(f"{slot} = alloca {type_}, align 16")
    _load_pieces(wg, where, (count, elem, size), slot)
    body.bind(op.results[0], body.assign(f"load {type_}, ptr {slot}"))


# Copies into LDS -------------------------------------------------------------------------------


def _lane_place(wg: Workgroup, base: str, size: int, more: int) -> str:
    """Return where a lane's data goes: the wave's base, then the lanes side by side."""
    body = wg.body
    lane, _ = lane_parts(wg)
    step = body.assign(f"add i64 {body.assign(f'mul i64 {lane}, {size}')}, {more}")
    return body.assign(f"getelementptr i8, {SHARED_PREFIX} {base}, i64 {step}")


def _buffer_to_lds(wg: Workgroup, op: Operation) -> None:
    body = wg.body
    descriptor, base, _, voffset, soffset = (body.operand(x) for x in op.operands[:5])
    size, more = immediate(op, 2), immediate(op, 5)
    where = _range(wg, descriptor, [voffset, soffset], more)
    target = f"{SHARED_PREFIX} {_lane_place(wg, base, size, more)}"
    wg.access(op, op.operands[1], target, size, WRITE | ENGINE_ACCESS)
    inside = _inside(wg, where, size)
    _when(wg, inside, lambda: _touch(wg, op, 0, where, size, READ), lambda: None)
    source = body.assign(f"getelementptr i8, ptr {where.base}, i64 {where.offset}")
    there = body.assign(f"call i64 @llvm.usub.sat.i64(i64 {where.records}, i64 {where.offset})")
    words = body.assign(f"and i64 {there}, -4")  # each of 32 bits is there or zero
    filled = body.assign(f"trunc i64 {body.assign(f'call i64 @llvm.umin.i64(i64 {words}, i64 {size})')} to i32")
    copy_to_lds(wg, op, target, f"ptr {source}", size, filled)


def copy_to_lds(wg: Workgroup, op: Operation, target: str, source: str, size: int, filled: str) -> None:
    """One operation that its wave counts. It is dropped if it leaves shared memory."""
    inside = wg.shared.holds(wg.body, target.removeprefix(f"{SHARED_PREFIX} "), size)
    _when(wg, inside, lambda: wg.work.copy(op, (op.operands[1], target), source, size, filled), lambda: None)
    wg.work.call("copy_count", wg.work.queue(GROUPS))


def _global_to_lds(wg: Workgroup, op: Operation) -> None:
    body = wg.body
    source, base = op.operands[0], body.operand(op.operands[1])
    size, more = immediate(op, 2), immediate(op, 3)
    place = f"{type_text(source.type)} {body.assign(f'getelementptr i8, {body.typed(source)}, i64 {more}')}"
    target = f"{SHARED_PREFIX} {_lane_place(wg, base, size, more)}"
    wg.access(op, source, place, size, READ)
    wg.access(op, op.operands[1], target, size, WRITE | ENGINE_ACCESS)
    copy_to_lds(wg, op, target, place, size, str(size))


_ATOMICS = {"fadd": "fadd", "fmax": "fmax", "fmin": "fmin", "smax": "max", "smin": "min", "umax": "umax",
            "umin": "umin", "add": "add", "sub": "sub", "and": "and", "or": "or", "xor": "xor",
            "swap": "xchg"}  # fmt: skip

_RAW = "llvm.amdgcn.raw.ptr.buffer"
ENTRIES: dict[str, HostIntrinsic] = {
    "llvm.amdgcn.make.buffer.rsrc": thread(_make_descriptor, pure=True),
    f"{_RAW}.load": thread(_load),
    f"{_RAW}.store": thread(_store),
    "llvm.amdgcn.s.buffer.load": thread(_scalar_load),
    f"{_RAW}.load.lds": thread(_buffer_to_lds),
    "llvm.amdgcn.global.load.lds": thread(_global_to_lds),
    **{f"{_RAW}.atomic.{name}": thread(_atomic(operation)) for name, operation in _ATOMICS.items()},
}

"""Matrix instructions on the host: one function for any instruction that a fact table describes.

The lanes' registers are gathered into dense matrices with the instruction's own thread/value layouts,
multiplied with the accumulation order of the hardware (K by K, in the accumulator's precision), and
scattered back. LLVM vectorises the loop over columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation

from flydsl.backends.matrix_calls import instruction_of
from flydsl.base.errors import LoweringError
from flydsl.codegen.llvm_types import type_text
from flydsl.codegen.module_scope import ModuleScope
from flydsl.codegen.narrow_floats import widening_function
from flydsl.layout.layout import Layout
from flydsl.target.dtype import is_float, width_bits
from flydsl.target.mma_facts import ROUNDED_F32, fragment_elem

if TYPE_CHECKING:
    from flydsl.backends.host.workgroup import WorkgroupEmitter

_LLVM = {"f16": "half", "f32": "float", "f64": "double", "i32": "i32"}


@dataclass(frozen=True)
class _Operand:
    """Where one operand's elements are: bytes between lanes, and each (lane, value)'s place in a dense matrix."""

    elem: str
    lane_bytes: int
    values: int
    places: tuple[int, ...]


def multiply(wg: WorkgroupEmitter, op: Operation) -> None:
    """Run the instruction for every wave. All lanes take part, as the hardware demands."""
    if wg.mask is not None:
        wg.require_all_active(op, "a matrix instruction is reached by only part of the workgroup")
    facts: Any = instruction_of(op)
    m, n, k = facts.shape_mnk
    body, slots = wg.body, wg.slots
    call = facts.intrinsic()
    registers: dict[str, list[Any]] = {"a": [], "b": [], "c": []}
    values = iter(op.operands)
    for slot in call.slots:
        if slot.attr:
            continue
        value = next(values)
        if slot.role in registers:
            registers[slot.role].append(value)
    if any(len(parts) > 1 for parts in registers.values()):
        registers = {role: [_packed(wg, op, role, parts)] for role, parts in registers.items()}
    sources = [registers[role][0] for role in ("a", "b", "c")]
    result = op.results[0]
    operands = _describe(
        facts, [_lane_bytes(wg, s) for s in sources] + [slots.reserve(result, type_text(result.type)).bytes]
    )
    symbol = _function(wg.module.scope, facts, operands, (m, n, k))
    threads = facts.thr_layout().size()
    waves = body.assign(f"udiv i64 {wg.threads}, {threads}")

    def one(index: str) -> None:
        first = body.assign(f"mul nuw nsw i64 {index}, {threads}")
        places = [_address(wg, s, first) for s in sources] + [slots.address(result, type_text(result.type), first)]
        body.line(f"call void {symbol}({', '.join(f'ptr {p}' for p in places)})")

    _check_whole_waves(wg, op, threads)
    wg.loop(waves, "wave", one)


def _check_whole_waves(wg: WorkgroupEmitter, op: Operation, threads: int) -> None:
    rest = wg.body.assign(f"urem i64 {wg.threads}, {threads}")
    wg.fail_if(
        wg.body.assign(f"icmp ne i64 {rest}, 0"),
        op,
        "a matrix instruction needs whole waves, but the block ends inside one",
    )


def _packed(wg: WorkgroupEmitter, op: Operation, role: str, parts: list[Any]) -> Any:
    """Registers passed in pieces, side by side in one array per thread."""
    bits = [wg.slots.reserve(part, type_text(part.type)).bytes for part in parts]
    key = ("packed", op, role, sum(bits))
    wg.slots.reserve(key, f"[{sum(bits)} x i8]")

    def copy() -> None:
        at = 0
        place = wg.slots.address(key, f"[{sum(bits)} x i8]", wg.thread_number)
        for part, size in zip(parts, bits, strict=True):
            target = wg.body.assign(f"getelementptr i8, ptr {place}, i64 {at}")
            wg.body.line(f"store {type_text(part.type)} {wg.value(part)}, ptr {target}, align 1")
            at += size

    wg.over_threads(copy)
    return key


def _lane_bytes(wg: WorkgroupEmitter, source: Any) -> int:
    if isinstance(source, tuple):
        return source[3]
    return wg.slots.reserve(source, type_text(source.type)).bytes


def _address(wg: WorkgroupEmitter, source: Any, thread: str) -> str:
    if isinstance(source, tuple):
        return wg.slots.address(source, f"[{source[3]} x i8]", thread)
    return wg.slots.address(source, type_text(source.type), thread)


def _places(layout: Layout, rows: int, columns: int, *, row_major: bool) -> tuple[int, ...]:
    """The dense position of each (lane, value), lanes outermost. Layouts count positions column-major."""
    threads, values = layout[0].size(), layout[1].size()
    found = []
    for lane in range(threads):
        for value in range(values):
            position = layout(lane, value)
            block, inside = divmod(position, rows * columns)
            row, column = inside % rows, inside // rows
            dense = row * columns + column if row_major else column * rows + row
            found.append(block * rows * columns + dense)
    return tuple(found)


def _describe(facts: Any, lane_bytes: list[int]) -> list[_Operand]:
    m, n, k = facts.shape_mnk
    layouts = facts.tv_layouts()
    places = (
        _places(layouts[0], m, k, row_major=True),
        _places(layouts[1], n, k, row_major=False),
        _places(layouts[2], m, n, row_major=True),
    )
    elems = facts.elem_types
    found = [
        _Operand(elem, size, layout[1].size(), place)
        for elem, size, layout, place in zip(elems, lane_bytes[:3], layouts, places, strict=True)
    ]
    return [*found, _Operand(elems[2], lane_bytes[3], layouts[2][1].size(), places[2])]


# The function ----------------------------------------------------------------------------------


def _accumulator(elem: str) -> str:
    """The type sums are kept in: f16 and bf16 results are summed in f32 and rounded once."""
    if not is_float(elem):
        return "i32"
    return "double" if elem == "f64" else "float"


def _function(scope: ModuleScope, facts: Any, operands: list[_Operand], shape: tuple[int, int, int]) -> str:
    name = f"fly.{facts}".replace("!", "").replace(" ", "") + "".join(f".{o.lane_bytes}" for o in operands)
    return scope.helper(name, lambda symbol: _text(scope, facts, operands, shape, symbol))


def _text(scope: ModuleScope, facts: Any, operands: list[_Operand], shape: tuple[int, int, int], symbol: str) -> str:
    m, n, k = shape
    blocks = getattr(facts, "blocks", 1)
    acc = _accumulator(operands[2].elem)
    signed = (getattr(facts, "sign_a", True), getattr(facts, "sign_b", True), True)
    sizes = (m * k * blocks, k * n * blocks, m * n * blocks)
    text = _Text()
    dense = ("%A", "%B", "%D")
    for name, size in zip(dense, sizes, strict=True):
        text.line(f"{name} = alloca [{size} x {acc}], align 64")
    for operand, place, name, is_signed in zip(operands[:3], ("%a", "%b", "%c"), dense, signed, strict=True):
        table = _table(scope, operand.places)
        text.loop(
            len(operand.places),
            lambda i, o=operand, p=place, t=table, d=name, s=is_signed: _gather(scope, text, o, p, t, d, acc, i, s),
        )
    text.loop(blocks, lambda block: _product(text, acc, shape, block))
    table = _table(scope, operands[3].places)
    text.loop(len(operands[3].places), lambda i: _scatter(text, operands[3], table, acc, i))
    text.line("ret void")
    body = "\n".join(text.lines)
    return f"define internal void {symbol}(ptr %a, ptr %b, ptr %c, ptr %d) noinline nounwind {{\nentry:\n{body}\n}}"


class _Text:
    """Lines of a function with counted loops."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0
        self.label = "entry"

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def assign(self, text: str) -> str:
        self.count += 1
        self.line(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def loop(self, extent: int, inside: Any) -> None:
        self.count += 1
        number, before = self.count, self.label
        self.line(f"br label %l{number}")
        self.lines.append(f"l{number}:")
        at = len(self.lines)
        self.lines.append("")
        self.label = f"l{number}"
        inside(f"%i{number}")
        following = self.assign(f"add nuw nsw i64 %i{number}, 1")
        again = self.assign(f"icmp ult i64 {following}, {extent}")
        self.lines[at] = f"  %i{number} = phi i64 [ 0, %{before} ], [ {following}, %{self.label} ]"
        self.line(f"br i1 {again}, label %l{number}, label %e{number}")
        self.lines.append(f"e{number}:")
        self.label = f"e{number}"


def _table(scope: ModuleScope, places: tuple[int, ...]) -> str:
    data = b"".join(p.to_bytes(4, "little") for p in places)
    name = f"fly.places.{scope.text_number(data)}"
    numbers = ", ".join(f"i32 {p}" for p in places)
    scope.add_global(name, f"private unnamed_addr constant [{len(places)} x i32] [{numbers}]")
    return name


def _element_address(text: _Text, operand: _Operand, base: str, index: str, bits: int) -> tuple[str, str]:
    """(address, value number) of element ``index``, lanes outermost."""
    lane = text.assign(f"udiv i64 {index}, {operand.values}")
    value = text.assign(f"urem i64 {index}, {operand.values}")
    row = text.assign(f"mul i64 {lane}, {operand.lane_bytes}")
    offset = text.assign(f"lshr i64 {text.assign(f'mul i64 {value}, {bits}')}, 3")
    return text.assign(f"getelementptr i8, ptr {base}, i64 {text.assign(f'add i64 {row}, {offset}')}"), value


def _gather(
    scope: ModuleScope,
    text: _Text,
    operand: _Operand,
    base: str,
    table: str,
    dense: str,
    acc: str,
    index: str,
    signed: bool,
) -> None:
    bits = width_bits(fragment_elem(operand.elem))
    address, value = _element_address(text, operand, base, index, bits)
    number = _read(scope, text, operand.elem, bits, address, value, acc, signed)
    place = text.assign(f"load i32, ptr {text.assign(f'getelementptr i32, ptr @{table}, i64 {index}')}")
    wide = text.assign(f"zext i32 {place} to i64")
    text.line(f"store {acc} {number}, ptr {text.assign(f'getelementptr {acc}, ptr {dense}, i64 {wide}')}")


def _read(
    scope: ModuleScope, text: _Text, elem: str, bits: int, address: str, value: str, acc: str, signed: bool
) -> str:
    """One element widened to the accumulator's type."""
    if elem in ROUNDED_F32:
        # The multiplier reads the upper 19 bits of the register.
        kept = text.assign(f"and i32 {text.assign(f'load i32, ptr {address}, align 1')}, -8192")
        return text.assign(f"bitcast i32 {kept} to float")
    if elem == "bf16":
        raw = text.assign(f"zext i16 {text.assign(f'load i16, ptr {address}, align 1')} to i32")
        return text.assign(f"bitcast i32 {text.assign(f'shl i32 {raw}, 16')} to float")
    if elem in _LLVM:
        loaded = text.assign(f"load {_LLVM[elem]}, ptr {address}, align 1")
        return loaded if _LLVM[elem] == acc else text.assign(f"fpext {_LLVM[elem]} {loaded} to {acc}")
    byte = text.assign(f"load i8, ptr {address}, align 1")
    if bits == 4:
        shift = text.assign(f"shl i8 {text.assign(f'trunc i64 {value} to i8')}, 2")
        nibble = _nibble(text, byte, shift)
        byte = text.assign(f"trunc i8 {nibble} to i4")
    if is_float(elem):
        return text.assign(f"call float {widening_function(scope, elem, 1)}(i{bits} {byte})")
    if bits not in (4, 8):
        raise LoweringError(f"matrix operands of {elem} have no host form")
    return text.assign(f"{'sext' if signed else 'zext'} i{bits} {byte} to {acc}")


def _nibble(text: _Text, byte: str, shift: str) -> str:
    """The half of a byte that a value's number picks."""
    odd = text.assign(f"and i8 {shift}, 4")
    moved = text.assign(f"lshr i8 {byte}, {odd}")
    return text.assign(f"and i8 {moved}, 15")


def _product(text: _Text, acc: str, shape: tuple[int, int, int], block: str) -> None:
    """D[m, n] += A[m, k] * B[k, n], k outside n so that columns vectorise and sums go k by k."""
    m, n, k = shape
    bases = [
        text.assign(f"getelementptr {acc}, ptr {name}, i64 {text.assign(f'mul i64 {block}, {size}')}")
        for name, size in (("%A", m * k), ("%B", k * n), ("%D", m * n))
    ]

    def row(im: str) -> None:
        a_row = text.assign(f"getelementptr {acc}, ptr {bases[0]}, i64 {text.assign(f'mul i64 {im}, {k}')}")
        d_row = text.assign(f"getelementptr {acc}, ptr {bases[2]}, i64 {text.assign(f'mul i64 {im}, {n}')}")

        def step(ik: str) -> None:
            left = text.assign(f"load {acc}, ptr {text.assign(f'getelementptr {acc}, ptr {a_row}, i64 {ik}')}")
            b_row = text.assign(f"getelementptr {acc}, ptr {bases[1]}, i64 {text.assign(f'mul i64 {ik}, {n}')}")
            text.loop(n, lambda at: _accumulate(text, acc, left, b_row, d_row, at))

        text.loop(k, step)

    text.loop(m, row)


def _accumulate(text: _Text, acc: str, left: str, b_row: str, d_row: str, at: str) -> None:
    right = text.assign(f"load {acc}, ptr {text.assign(f'getelementptr {acc}, ptr {b_row}, i64 {at}')}")
    place = text.assign(f"getelementptr {acc}, ptr {d_row}, i64 {at}")
    before = text.assign(f"load {acc}, ptr {place}")
    if acc == "i32":
        after = text.assign(f"add i32 {before}, {text.assign(f'mul i32 {left}, {right}')}")
    else:
        after = text.assign(f"call {acc} @llvm.fma({acc} {left}, {acc} {right}, {acc} {before})")
    text.line(f"store {acc} {after}, ptr {place}")


def _scatter(text: _Text, operand: _Operand, table: str, acc: str, index: str) -> None:
    place = text.assign(f"load i32, ptr {text.assign(f'getelementptr i32, ptr @{table}, i64 {index}')}")
    wide = text.assign(f"zext i32 {place} to i64")
    number = text.assign(f"load {acc}, ptr {text.assign(f'getelementptr {acc}, ptr %D, i64 {wide}')}")
    bits = width_bits(operand.elem)
    address, _ = _element_address(text, operand, "%d", index, bits)
    if operand.elem == "bf16":
        number = _to_bf16(text, number)
        text.line(f"store i16 {number}, ptr {address}, align 1")
        return
    wanted = _LLVM[operand.elem]
    if wanted != acc:
        number = text.assign(f"fptrunc {acc} {number} to {wanted}")
    text.line(f"store {wanted} {number}, ptr {address}, align 1")


def _to_bf16(text: _Text, number: str) -> str:
    """Round to nearest even by hand: not every host has the conversion."""
    raw = text.assign(f"bitcast float {number} to i32")
    odd = text.assign(f"and i32 {text.assign(f'lshr i32 {raw}, 16')}, 1")
    bias = text.assign(f"add i32 {odd}, 32767")
    rounded = text.assign(f"lshr i32 {text.assign(f'add i32 {raw}, {bias}')}, 16")
    nan = text.assign(f"fcmp uno float {number}, {number}")
    quiet = text.assign(f"or i32 {text.assign(f'lshr i32 {raw}, 16')}, 64")
    return text.assign(f"trunc i32 {text.assign(f'select i1 {nan}, i32 {quiet}, i32 {rounded}')} to i16")

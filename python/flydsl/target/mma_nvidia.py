"""mma.sync, the warp's matrix instruction of NVIDIA GPUs from sm_80 on.

Source: "PTX ISA", section 9.7.14.5 (Matrix multiply-accumulate operation using mma instruction):
shapes and types in its table, register layouts in the fragment figures of 9.7.14.5.1 to .13.
Names and operand types: LLVM 22, IntrinsicsNVVM.td. Warpgroup instructions are in `mma_warpgroup`.
"""

from __future__ import annotations

from functools import cache

from flydsl.base.records import dataclass
from flydsl.layout.layout import Layout
from flydsl.target import mma_facts as facts
from flydsl.target.mma_facts import I32, Intrinsic, RegisterType, Slot
from flydsl.target.mma_instruction import Elems, MatrixInstruction, Shape
from flydsl.target.target import Target

WARP = 32

PTX_TYPES: dict[str, str] = {
    "f64": "f64", "f32": "f32", "f16": "f16", "bf16": "bf16", "tf32": "tf32", "f8E4M3FN": "e4m3", "f8E5M2": "e5m2",
    "i32": "s32", "i8": "s8", "ui8": "u8", "i4": "s4", "ui4": "u4",
}  # fmt: skip
"""Element type to its PTX name."""

FP8 = ("f8E4M3FN", "f8E5M2")
INT8 = ("i8", "ui8")
INT4 = ("i4", "ui4")

_SM80_UP = ("ampere", "hopper")
_SM90 = ("hopper",)


def register_of(elem: str) -> RegisterType:
    """Return the register that carries an element in mma.sync: f16 in pairs, narrower types packed into i32."""
    named = {"f16": RegisterType(2, "half"), "f32": RegisterType(1, "float"), "f64": RegisterType(1, "double")}
    return named.get(elem, I32)


def per_register(elem: str) -> int:
    """Return how many successive elements share a register."""
    return register_of(elem).bits // facts.elem_bits(elem)


@dataclass(frozen=True)
class MmaSyncRow:
    """One mma.sync."""

    shape: Shape
    elems: Elems
    generations: tuple[str, ...]

    def __post_init__(self) -> None:
        bits = [sum(register.bits for register in self.registers(role)) for role in "abc"]
        facts.check_values(self.signature(), self.layouts(), bits, map(facts.elem_bits, self.elems))

    def registers(self, operand: str) -> tuple[RegisterType, ...]:
        m, n, k = self.shape
        elem, count = {"a": (self.elems[0], m * k), "b": (self.elems[1], n * k), "c": (self.elems[2], m * n)}[operand]
        return (register_of(elem),) * (count // WARP // per_register(elem))

    def layouts(self) -> tuple[Layout, Layout, Layout]:
        m, n, k = self.shape
        a, b, _ = self.elems
        return multiplicand(m, k, per_register(a)), multiplicand(n, k, per_register(b)), accumulators(m, n)

    def signature(self) -> str:
        return facts.signature(*self.shape, *self.elems)

    def mnemonic(self) -> str:
        a, b, c = (PTX_TYPES[elem] for elem in self.elems)
        return f"mma.sync.aligned.m{self.shape[0]}n{self.shape[1]}k{self.shape[2]}.row.col.{c}.{a}.{b}.{c}"

    def intrinsic_name(self) -> str:
        """LLVM names only what tells instructions apart: accumulators of f16, all types of fp8, else A and B."""
        a, b, c = (PTX_TYPES[elem] for elem in self.elems)
        if self.elems[0] == "f16":
            types = [c, c]
        elif self.elems[0] in FP8:
            types = [c, a, b, c]
        else:
            types = [a] if a == b else [a, b]
        return f"llvm.nvvm.mma.m{self.shape[0]}n{self.shape[1]}k{self.shape[2]}.row.col.{'.'.join(types)}"


def values(*pairs: tuple[int, int]) -> Layout:
    """Return a value layout without extents of 1; one mode stays bare."""
    kept = [pair for pair in pairs if pair[0] > 1] or [(1, 0)]
    if len(kept) == 1:
        return Layout(*kept[0])
    return Layout(tuple(s for s, _ in kept), tuple(d for _, d in kept))


def multiplicand(rows: int, k: int, packed: int) -> Layout:
    """Return a over (M, K) or B over (N, K): lane l holds row l / 4 of every eight and columns from packed * (l % 4)
    on.

    The values run through the register first, then the upper eight rows, then the next columns.
    """
    held = values((packed, rows), (rows // 8, 8), (k // (4 * packed), 4 * packed * rows))
    return Layout(((4, 8), held.shape), ((packed * rows, 1), held.stride))


def accumulators(m: int, n: int) -> Layout:
    """C over (M, N): lane l holds columns 2 * (l % 4) and the next, of row l / 4 and then of row l / 4 + 8."""
    held = values((2, m), (m // 8, 8), (n // 8, 8 * m))
    return Layout(((4, 8), held.shape), ((2 * m, 1), held.stride))


def _rows(shapes: str, elems: Elems, generations: tuple[str, ...] = _SM80_UP) -> list[MmaSyncRow]:
    """Rows of one type combination from shapes such as ``16x8x8``."""
    extents = (map(int, text.split("x")) for text in shapes.split())
    return [MmaSyncRow((m, n, k), elems, generations) for m, n, k in extents]


def _mixes(shapes: str, kinds: tuple[str, str], acc: str, generations: tuple[str, ...]) -> list[MmaSyncRow]:
    """Rows of every ordered pair of two related types."""
    return [row for a in kinds for b in kinds for row in _rows(shapes, (a, b, acc), generations)]


# fp8 came with sm_89, so the table gives it to sm_90a only; f64 beyond m8n8k4 needs sm_90.
MMA_SYNC_ROWS: tuple[MmaSyncRow, ...] = (
    *_rows("16x8x8 16x8x16", ("f16", "f16", "f32")),
    *_rows("16x8x8 16x8x16", ("f16", "f16", "f16")),
    *_rows("16x8x8 16x8x16", ("bf16", "bf16", "f32")),
    *_rows("16x8x4 16x8x8", ("tf32", "tf32", "f32")),
    *_rows("8x8x4", ("f64", "f64", "f64")),
    *_rows("16x8x4 16x8x8 16x8x16", ("f64", "f64", "f64"), _SM90),
    *_mixes("8x8x16 16x8x16 16x8x32", INT8, "i32", _SM80_UP),
    *_mixes("8x8x32 16x8x32 16x8x64", INT4, "i32", _SM80_UP),
    *_mixes("16x8x32", FP8, "f32", _SM90),
    *_mixes("16x8x32", FP8, "f16", _SM90),
    *_mixes("16x8x16", FP8, "f32", _SM90),
    *_mixes("16x8x16", FP8, "f16", _SM90),
)

_BY_KEY: dict[tuple[Shape, Elems], MmaSyncRow] = {(row.shape, row.elems): row for row in MMA_SYNC_ROWS}
assert len(_BY_KEY) == len(MMA_SYNC_ROWS), "two rows share a shape and element types"


@dataclass(frozen=True)
class MmaSync(MatrixInstruction):
    """A warp's ``mma.sync``. ``tf32`` multiplies 32-bit floats by their upper 19 bits."""

    lanes = WARP
    m: int
    n: int
    k: int
    elem_a: str
    elem_b: str
    elem_c: str

    def __post_init__(self) -> None:
        if (self.shape_mnk, self.formats) not in _BY_KEY:
            raise facts.no_such_instruction("mma.sync", self.signature, (row.signature() for row in MMA_SYNC_ROWS))

    @property
    def row(self) -> MmaSyncRow:
        return _BY_KEY[self.shape_mnk, self.formats]

    @property
    def generations(self) -> tuple[str, ...]:
        return self.row.generations

    def __str__(self) -> str:
        return f"!fly_nvvm.sm80.mma_sync<{self.signature}>"

    def tv_layouts(self) -> tuple[Layout, Layout, Layout]:
        return _layouts(self)

    def others(self, target: Target) -> list[str]:
        return mma_sync_signatures(target)

    def mnemonic(self) -> str:
        return self.row.mnemonic()

    def intrinsic(self) -> Intrinsic:
        """``llvm.nvvm.mma.*``: the registers of A, B and C one by one, the results in a struct."""
        row = self.row
        slots = tuple(Slot(role, type, part) for role in "abc" for part, type in enumerate(row.registers(role)))
        return Intrinsic(row.intrinsic_name(), row.registers("c"), slots, "nvvm.mma.sync")


@cache
def _layouts(op: MmaSync) -> tuple[Layout, Layout, Layout]:
    return op.row.layouts()


@cache
def mma_sync_signatures(target: Target) -> list[str]:
    """Return the (shape, types) pairs a target has."""
    return [row.signature() for row in MMA_SYNC_ROWS if target.generation in row.generations]

"""MFMA, the matrix instructions of AMD's CDNA generations (gfx90a, gfx942, gfx950).

Sources: "AMD Instinct MI200 / CDNA3 / CDNA4 Instruction Set Architecture", chapter 7 (Matrix
Arithmetic Instructions): shapes and blocks in 7.1, register layouts in 7.1.4 and 7.1.5, block
scales in 7.1.5 of CDNA4. Names and operand types: LLVM 22, IntrinsicsAMDGPU.td.
"""

from __future__ import annotations

from functools import cache

from flydsl.base.errors import DslValueError
from flydsl.base.records import dataclass
from flydsl.layout.layout import Layout
from flydsl.target import mma_facts as facts
from flydsl.target.mma_facts import I32, I64, Intrinsic, RegisterType, Slot, immediate
from flydsl.target.mma_instruction import Elems, MatrixInstruction, Shape
from flydsl.target.target import Target

WAVE = 64

_ALL = ("cdna2", "cdna3", "cdna4")
_CDNA2 = ("cdna2",)
_CDNA3 = ("cdna3",)
_CDNA3_UP = ("cdna3", "cdna4")
_CDNA4 = ("cdna4",)


@dataclass(frozen=True)
class MfmaRow:
    """One MFMA: ``blocks`` independent m x n x k products, operands of type ``ab`` per lane."""

    shape: Shape
    blocks: int
    elems: Elems
    suffix: str
    ab: RegisterType
    generations: tuple[str, ...]

    def __post_init__(self) -> None:
        registers = (self.ab.bits, self.ab.bits, self.acc.bits)
        facts.check_values(self.suffix, self.layouts(), registers, map(facts.elem_bits, self.elems))

    @property
    def acc(self) -> RegisterType:
        m, n, _ = self.shape
        return facts.accumulator(self.elems[2], m * n * self.blocks // WAVE)

    def layouts(self) -> tuple[Layout, Layout, Layout]:
        m, n, k = self.shape
        c = _f64_accumulators(m, n, self.blocks) if self.elems[2] == "f64" else _accumulators(m, n, self.blocks)
        return _multiplicand(m, k, self.blocks), _multiplicand(n, k, self.blocks), c

    def signature(self) -> str:
        return facts.signature(*self.shape, *self.elems)


def _modes(*pairs: tuple[int, int]) -> Layout:
    """Return a layout of (extent, stride) pairs without the extents of 1; one of them stays bare."""
    kept = [pair for pair in pairs if pair[0] > 1]
    if len(kept) == 1:
        return Layout(*kept[0])
    return Layout(tuple(s for s, _ in kept), tuple(d for _, d in kept))


def _tv(threads: Layout, values: Layout) -> Layout:
    return Layout((threads.shape, values.shape), (threads.stride, values.stride))


def _multiplicand(rows: int, k: int, blocks: int) -> Layout:
    """Lane l holds row l % rows of block l / rows % blocks, and k / groups successive columns."""
    groups = WAVE // (rows * blocks)
    held = k // groups
    return _tv(_modes((rows, 1), (blocks, rows * k), (groups, rows * held)), Layout(held, rows))


def _accumulators(m: int, n: int, blocks: int) -> Layout:
    """Lane l holds column l % n in runs of four rows; blocks follow in lanes (4x4) or in registers."""
    groups = min(WAVE // n, m // 4)
    lanes_for_blocks = WAVE // (n * groups)
    in_registers = blocks // lanes_for_blocks
    threads = _modes((n, m), (groups, 4), (lanes_for_blocks, m * n))
    runs = m // (4 * groups)
    values = Layout((4, runs), (1, 4 * groups))
    if in_registers > 1:
        values = Layout((4, runs, in_registers), (1, 4 * groups, m * n))
    return _tv(threads, values)


def _f64_accumulators(m: int, n: int, blocks: int) -> Layout:
    """Double precision interleaves rows: lane l holds rows l / (n blocks) + 4 v."""
    groups = WAVE // (n * blocks)
    return _tv(_modes((n, m), (blocks, m * n), (groups, 1)), Layout(m // groups, groups))


def _rows(elems: Elems, ab: RegisterType, cells: str, generations: tuple[str, ...], tail: str) -> list[MfmaRow]:
    """Rows of one operand type from cells such as ``32x1*2`` (m = n = 32, k = 1, two blocks)."""
    rows: list[MfmaRow] = []
    for cell in cells.split():
        extents, _, blocks = cell.partition("*")
        m, k = map(int, extents.split("x"))
        suffix = f"mfma.{elems[2]}.{m}x{m}x{k}{tail}"
        rows.append(MfmaRow((m, m, k), int(blocks or 1), elems, suffix, ab, generations))
    return rows


def _fp8_rows(kinds: dict[str, str], generations: tuple[str, ...]) -> list[MfmaRow]:
    """Both 8-bit formats in any mix; LLVM calls the 4-bit exponent fp8 and the 5-bit one bf8."""
    return [
        row
        for a, a_name in kinds.items()
        for b, b_name in kinds.items()
        for row in _rows((a, b, "f32"), I64, "16x32 32x16", generations, f".{a_name}.{b_name}")
    ]


def _same(elem: str, acc: str = "f32") -> Elems:
    return elem, elem, acc


FNUZ_NAMES = {"f8E4M3FNUZ": "fp8", "f8E5M2FNUZ": "bf8"}
OCP_NAMES = {"f8E4M3FN": "fp8", "f8E5M2": "bf8"}

_ENCODINGS = {True: facts.FNUZ_TWINS, False: {fnuz: ocp for ocp, fnuz in facts.FNUZ_TWINS.items()}}


def as_encoded(elem: str, target: Target) -> str:
    """Return the 8-bit float that a chip's MFMA reads where an element type is named; every other type is itself."""
    return _ENCODINGS[target.fnuz].get(elem, elem) if target.generation in _CDNA3_UP else elem


# The short bf16 forms (two values a lane) are gone from CDNA3 on; 32x32x4 with two blocks of four
# values ("_1k") exists too, but its shape would name two instructions on gfx90a, so it has no row.
MFMA_ROWS: tuple[MfmaRow, ...] = (
    *_rows(_same("f32"), RegisterType(1, "float"), "32x1*2 16x1*4 4x1*16 32x2 16x4", _ALL, "f32"),
    *_rows(_same("f16"), RegisterType(4, "half"), "32x4*2 16x4*4 4x4*16 32x8 16x16", _ALL, "f16"),
    *_rows(_same("bf16"), RegisterType(2, "i16"), "32x2*2 16x2*4 4x2*16 32x4 16x8", _CDNA2, "bf16"),
    *_rows(_same("bf16"), RegisterType(4, "i16"), "16x4*4 4x4*16 32x8 16x16", _ALL, "bf16.1k"),
    *_rows(_same("i8", "i32"), I32, "32x4*2 16x4*4 4x4*16", _ALL, "i8"),
    *_rows(_same("i8", "i32"), I32, "32x8 16x16", _CDNA2, "i8"),
    *_rows(_same("i8", "i32"), I64, "16x32 32x16", _CDNA3_UP, ".i8"),
    *_rows(_same("f64", "f64"), RegisterType(1, "double"), "16x4 4x4*4", _ALL, "f64"),
    *_fp8_rows(FNUZ_NAMES, _CDNA3),
    *_fp8_rows(OCP_NAMES, _CDNA4),
    *_rows(_same("f16"), RegisterType(8, "half"), "16x32 32x16", _CDNA4, ".f16"),
    *_rows(_same("bf16"), RegisterType(8, "bfloat"), "16x32 32x16", _CDNA4, ".bf16"),
    *_rows(_same("i8", "i32"), RegisterType(4, "i32"), "16x64 32x32", _CDNA4, ".i8"),
)

_BY_KEY: dict[tuple[Shape, Elems], MfmaRow] = {(row.shape, row.elems): row for row in MFMA_ROWS}
assert len(_BY_KEY) == len(MFMA_ROWS), "two rows share a shape and element types"


@dataclass(frozen=True)
class Mfma(MatrixInstruction):
    """A dense MFMA. With ``blocks`` > 1 the layouts reach into (M, K, block), (N, K, block), (M, N, block)."""

    lanes = WAVE

    m: int
    n: int
    k: int
    elem_a: str
    elem_b: str
    elem_c: str

    def __post_init__(self) -> None:
        if (self.shape_mnk, self.elem_types) not in _BY_KEY:
            raise facts.no_such_instruction("MFMA", self.signature, (row.signature() for row in MFMA_ROWS))

    @property
    def row(self) -> MfmaRow:
        return _BY_KEY[self.shape_mnk, self.elem_types]

    @property
    def blocks(self) -> int:
        return self.row.blocks

    @property
    def generations(self) -> tuple[str, ...]:
        return self.row.generations

    def __str__(self) -> str:
        return f"!fly_rocdl.cdna3.mfma<{self.signature}>"

    def tv_layouts(self) -> tuple[Layout, Layout, Layout]:
        return _mfma_layouts(self)

    def others(self, target: Target) -> list[str]:
        return mfma_signatures(target)

    def on(self, target: Target) -> Mfma:
        """Return the instruction as a chip runs it: the chip, not the type's name, decides the encoding of 8-bit
        floats."""
        a, b = (as_encoded(elem, target) for elem in (self.elem_a, self.elem_b))
        return self if (a, b) == (self.elem_a, self.elem_b) else Mfma(self.m, self.n, self.k, a, b, self.elem_c)

    def require(self, target: Target) -> Mfma:
        """Return this instruction, if the target has it by whatever name of its 8-bit floats."""
        MatrixInstruction.require(self.on(target), target)
        return self

    def intrinsic(self) -> Intrinsic:
        """``llvm.amdgcn.mfma.*``: A, B, C, then cbsz, abid and blgp, which broadcast blocks and stay 0."""
        row = self.row
        operands = (Slot("a", row.ab), Slot("b", row.ab), Slot("c", row.acc))
        modifiers = tuple(immediate(I32, 0) for _ in range(3))
        return Intrinsic(f"llvm.amdgcn.{row.suffix}", (row.acc,), operands + modifiers, f"rocdl.{row.suffix}")


@cache
def _mfma_layouts(op: Mfma) -> tuple[Layout, Layout, Layout]:
    return op.row.layouts()


@cache
def mfma_signatures(target: Target) -> list[str]:
    """Return the (shape, types) pairs a target has."""
    return [row.signature() for row in MFMA_ROWS if target.generation in row.generations]


# Scaled MFMA (CDNA4) ----------------------------------------------------------------------------

SCALE_BLOCK = 32
"""Columns of K that share one scale (OCP MX block size)."""

SCALED_FORMATS: dict[str, int] = {"f8E4M3FN": 0, "f8E5M2": 1, "f6E2M3FN": 2, "f6E3M2FN": 3, "f4E2M1FN": 4}
"""Element type to the code of cbsz (A) and blgp (B); CDNA4 ISA 7.1.5, "F8F6F4"."""

SCALED_SHAPES: dict[Shape, str] = {
    (16, 16, 128): "mfma.scale.f32.16x16x128.f8f6f4",
    (32, 32, 64): "mfma.scale.f32.32x32x64.f8f6f4",
}


def successive_columns(elem: str) -> int:
    """Return how many columns of K a lane of a scaled instruction takes at a time: 16 bytes' worth, at most 32."""
    return 16 if facts.elem_bits(elem) == 8 else 32


def scaled_registers(elem: str, values: int) -> RegisterType:
    """f8, f6 and f4 values packed without gaps into 32-bit registers."""
    return RegisterType(values * facts.elem_bits(elem) // 32, "i32")


@dataclass(frozen=True)
class MfmaScale(MatrixInstruction):
    """An MFMA whose blocks of 32 columns of K are scaled by E8M0 exponents.

    Each lane's ``scale_a`` and ``scale_b`` hold four exponents; ``opsel`` picks the byte that counts.
    """

    lanes = WAVE
    m: int
    n: int
    k: int
    elem_a: str
    elem_b: str
    elem_c: str = "f32"
    opsel_a: int = 0
    opsel_b: int = 0

    def __post_init__(self) -> None:
        known = self.elem_a in SCALED_FORMATS and self.elem_b in SCALED_FORMATS and self.elem_c == "f32"
        if self.shape_mnk not in SCALED_SHAPES or not known:
            raise facts.no_such_instruction("scaled MFMA", self.signature, scaled_signatures())
        for name, value in (("opsel_a", self.opsel_a), ("opsel_b", self.opsel_b)):
            if not 0 <= value <= 3:
                raise DslValueError(f"{name} is {value}, but a register has four scales", hint="use 0 to 3")

    @property
    def block_size(self) -> int:
        return SCALE_BLOCK

    @property
    def state(self) -> tuple[str, ...]:
        return "scale_a", "scale_b"

    @property
    def state_types(self) -> dict[str, str]:
        return dict.fromkeys(self.state, I32.mlir)

    @property
    def generations(self) -> tuple[str, ...]:
        return _CDNA4

    def __str__(self) -> str:
        return f"!fly_rocdl.cdna4.mfma_scale<{self.signature}, opselA = {self.opsel_a}, opselB = {self.opsel_b}>"

    def tv_layouts(self) -> tuple[Layout, Layout, Layout]:
        return _scale_layouts(self)

    def scale_tv(self, operand: str) -> Layout:
        """Return (lane, byte) to the column-major position in (rows, K / 32): one byte a lane, its opsel's."""
        rows = self.m if operand == "a" else self.n
        return Layout(((rows, WAVE // rows), 1), ((1, rows), 0))

    def scale_lanes(self, operand: str) -> range:
        """Return the lanes whose scales the instruction reads."""
        return range(WAVE)

    def scale_bytes(self, operand: str) -> tuple[int, ...]:
        """Return the bytes of a lane's scale register that count."""
        return (self.opsel_a if operand == "a" else self.opsel_b,)

    def intrinsic(self) -> Intrinsic:
        """Return A, B, C, the two formats, then opsel and scale of A and of B."""
        a, b, c = self.registers()
        suffix = SCALED_SHAPES[self.shape_mnk]
        slots = (
            Slot("a", a), Slot("b", b), Slot("c", c),
            immediate(I32, SCALED_FORMATS[self.elem_a]), immediate(I32, SCALED_FORMATS[self.elem_b]),
            immediate(I32, self.opsel_a), Slot("scale_a", I32),
            immediate(I32, self.opsel_b), Slot("scale_b", I32),
        )  # fmt: skip
        return Intrinsic(f"llvm.amdgcn.{suffix}.{a.mangled}.{b.mangled}", (c,), slots, f"rocdl.{suffix}")

    def registers(self) -> tuple[RegisterType, RegisterType, RegisterType]:
        held = self.m * self.k // WAVE
        a, b = scaled_registers(self.elem_a, held), scaled_registers(self.elem_b, held)
        return a, b, facts.accumulator("f32", self.m * self.n // WAVE)


@cache
def _scale_layouts(op: MfmaScale) -> tuple[Layout, Layout, Layout]:
    """A lane takes runs of 16 (8-bit) or 32 columns, its group's after the previous group's."""
    m, n, k = op.shape_mnk
    a, b = (_scaled_multiplicand(m, k, successive_columns(elem)) for elem in (op.elem_a, op.elem_b))
    layouts = a, b, _accumulators(m, n, 1)
    registers = [type.bits for type in op.registers()]
    facts.check_values(str(op), layouts, registers, map(facts.elem_bits, op.elem_types))
    return layouts


def _scaled_multiplicand(rows: int, k: int, run: int) -> Layout:
    groups = WAVE // rows
    runs = k // (groups * run)
    values = Layout(run, rows) if runs == 1 else Layout((run, runs), (rows, rows * run * groups))
    return _tv(Layout((rows, groups), (1, rows * run)), values)


@cache
def scaled_signatures() -> list[str]:
    """Return every scaled (shape, types): both shapes with any two formats."""
    return [
        facts.signature(*shape, a, b, "f32") for shape in SCALED_SHAPES for a in SCALED_FORMATS for b in SCALED_FORMATS
    ]


def mfma_scale_signatures(target: Target) -> list[str]:
    """Return the scaled (shape, types) pairs a target has."""
    return scaled_signatures() if target.generation in _CDNA4 else []

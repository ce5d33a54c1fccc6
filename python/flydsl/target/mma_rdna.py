"""WMMA, the wave32 matrix instructions of gfx11, gfx120x and gfx1250.

Sources: "RDNA3 Instruction Set Architecture" 7.9 and "RDNA4 Instruction Set Architecture" 7.12
(Wave Matrix Multiply Accumulate) for shapes and register layouts; gfx1250 has no public manual
yet, its shapes and operands are LLVM 22's (IntrinsicsAMDGPU.td, VOP3PInstructions.td).
"""

from __future__ import annotations

from functools import cache

from flydsl.base.errors import DslValueError
from flydsl.base.records import dataclass
from flydsl.layout.layout import Layout
from flydsl.target import mma_facts as facts
from flydsl.target.mma_cdna import OCP_NAMES, SCALED_FORMATS, scaled_registers, successive_columns
from flydsl.target.mma_facts import I1, I16, I32, I64, Intrinsic, RegisterType, Slot, immediate
from flydsl.target.mma_instruction import Elems, MatrixInstruction, Shape
from flydsl.target.target import Target

WAVE = 32

DIALECT_NAMES = {"rdna3": "gfx11", "rdna4": "gfx120x", "cdna5": "gfx1250"}
"""Generation to the name its instructions have in type text."""

# Argument forms of llvm.amdgcn.wmma.* (IntrinsicsAMDGPU.td): PLAIN takes A, B, C; the others add
PLAIN = "plain"  # nothing
HALF = "half"  # which half of a 32-bit register a 16-bit result goes to; 0 from gfx12 on
SIGNED = "signed"  # the signs of A and B before each, and clamp at the end
SIGNED_REUSE = "signed-reuse"  # as SIGNED, with two reuse hints before clamp
FLOAT_REUSE = "float-reuse"  # negation of A, of B and of C before each, and two reuse hints
MOD_C = "mod-c"  # negation of C before it, and two reuse hints


@dataclass(frozen=True)
class WmmaRow:
    """One WMMA of one generation: its operand registers and the form of its argument list."""

    generation: str
    shape: Shape
    elems: Elems
    suffix: str
    ab: RegisterType
    acc: RegisterType
    form: str

    def __post_init__(self) -> None:
        registers = (self.ab.bits, self.ab.bits, self.acc.bits)
        facts.check_values(self.suffix, self.layouts(), registers, map(facts.elem_bits, self.elems))

    def layouts(self) -> tuple[Layout, Layout, Layout]:
        m, n, k = self.shape
        if self.generation == "rdna3":
            return _twice_held(m, k), _twice_held(n, k), Layout(((16, 2), 8), ((16, 1), 2))
        if self.elems[0] == "f32":
            split = Layout(((16, 2), k // 2), ((1, 8 * k), 16))
            return split, split, _accumulators(m)
        return _multiplicand(m, k, 8), _multiplicand(n, k, 8), _accumulators(m)

    def signature(self) -> str:
        return facts.signature(*self.shape, *self.elems)


def _twice_held(rows: int, k: int) -> Layout:
    """gfx11: lane l and lane l + 16 both hold all of row l % 16 (RDNA3 ISA 7.9)."""
    return Layout(((rows, 2), k), ((1, 0), rows))


def _multiplicand(rows: int, k: int, run: int) -> Layout:
    """Lane l holds row l % 16; the two halves of the wave take turns of ``run`` columns.

    With 32 rows the upper 16 follow in further registers.
    """
    turns = k // (2 * run)
    shape, stride = [run], [rows]
    if turns > 1:
        shape, stride = [run, turns], [rows, 2 * run * rows]
    if rows > 16:
        shape, stride = [*shape, rows // 16], [*stride, 16]
    values = Layout(shape[0], stride[0]) if len(shape) == 1 else Layout(tuple(shape), tuple(stride))
    return Layout(((16, 2), values.shape), ((1, run * rows), values.stride))


def _accumulators(m: int) -> Layout:
    """Lane l holds column l % 16, eight rows of each 16 x 16 tile: the upper half of the wave the upper eight."""
    if m == 16:
        return Layout(((16, 2), 8), ((16, 8), 1))
    return Layout(((16, 2), (8, m // 16)), ((m, 8), (1, 16)))


def _row(generation: str, k: int, a: str, c: str, names: str, ab: RegisterType, acc: RegisterType, form: str,
         b: str = "") -> WmmaRow:  # fmt: skip
    """Return a 16 x 16 x k row; ``names`` are the types as the intrinsic spells them, ``f32 f16``."""
    c_name, _, ab_name = names.partition(" ")
    suffix = f"wmma.{c_name}.16x16x{k}.{ab_name}"
    return WmmaRow(generation, (16, 16, k), (a, b or a, c), suffix, ab, acc, form)


def _fp8_rows(generation: str, k: int, c: str, ab: RegisterType, form: str) -> list[WmmaRow]:
    acc = facts.accumulator(c, 8)
    return [
        _row(generation, k, a, c, f"{c} {a_name}.{b_name}", ab, acc, form, b)
        for a, a_name in OCP_NAMES.items()
        for b, b_name in OCP_NAMES.items()
    ]


_F32x8, _I32x8 = RegisterType(8, "float"), RegisterType(8, "i32")
_F16x8, _F16x16, _I16x8, _I16x16 = (RegisterType(n, e) for e in ("half", "i16") for n in (8, 16))
_BF16x8, _BF16x16 = RegisterType(8, "bfloat"), RegisterType(16, "bfloat")
_W2, _W4, _W8, _W16 = (RegisterType(n, "i32") for n in (2, 4, 8, 16))

WMMA_ROWS: tuple[WmmaRow, ...] = (
    _row("rdna3", 16, "f16", "f32", "f32 f16", _F16x16, _F32x8, PLAIN),
    _row("rdna3", 16, "bf16", "f32", "f32 bf16", _I16x16, _F32x8, PLAIN),
    _row("rdna3", 16, "i8", "i32", "i32 iu8", _W4, _I32x8, SIGNED),
    _row("rdna3", 16, "i4", "i32", "i32 iu4", _W2, _I32x8, SIGNED),
    _row("rdna4", 16, "f16", "f32", "f32 f16", _F16x8, _F32x8, PLAIN),
    _row("rdna4", 16, "bf16", "f32", "f32 bf16", _I16x8, _F32x8, PLAIN),
    _row("rdna4", 16, "f16", "f16", "f16 f16", _F16x8, _F16x8, HALF),
    _row("rdna4", 16, "bf16", "bf16", "bf16 bf16", _I16x8, _I16x8, HALF),
    *_fp8_rows("rdna4", 16, "f32", _W2, PLAIN),
    _row("rdna4", 16, "i8", "i32", "i32 iu8", _W2, _I32x8, SIGNED),
    _row("rdna4", 16, "i4", "i32", "i32 iu4", I32, _I32x8, SIGNED),
    _row("rdna4", 32, "i4", "i32", "i32 iu4", _W2, _I32x8, SIGNED),
    _row("cdna5", 4, "f32", "f32", "f32 f32", RegisterType(2, "float"), _F32x8, FLOAT_REUSE),
    _row("cdna5", 32, "f16", "f32", "f32 f16", _F16x16, _F32x8, FLOAT_REUSE),
    _row("cdna5", 32, "bf16", "f32", "f32 bf16", _BF16x16, _F32x8, FLOAT_REUSE),
    _row("cdna5", 32, "f16", "f16", "f16 f16", _F16x16, _F16x8, FLOAT_REUSE),
    _row("cdna5", 32, "bf16", "bf16", "bf16 bf16", _BF16x16, _BF16x8, FLOAT_REUSE),
    *_fp8_rows("cdna5", 64, "f32", _W8, MOD_C),
    *_fp8_rows("cdna5", 64, "f16", _W8, MOD_C),
    *_fp8_rows("cdna5", 128, "f32", _W16, MOD_C),
    *_fp8_rows("cdna5", 128, "f16", _W16, MOD_C),
    _row("cdna5", 64, "i8", "i32", "i32 iu8", _W8, _I32x8, SIGNED_REUSE),
)

WRITTEN_ONLY: tuple[WmmaRow, ...] = (_row("cdna5", 32, "i4", "i32", "i32 iu4", _W2, _I32x8, SIGNED),)
"""Types that programs of the original name and passes convert, for which LLVM 22 has no machine code."""

_BY_KEY: dict[tuple[str, Shape, Elems], WmmaRow] = {
    (row.generation, row.shape, row.elems): row for row in (*WMMA_ROWS, *WRITTEN_ONLY)
}
assert len(_BY_KEY) == len(WMMA_ROWS) + len(WRITTEN_ONLY), "two rows share a generation, shape and element types"


@cache
def wmma_signatures(generation: str) -> list[str]:
    """Return the (shape, types) pairs of a generation."""
    return [row.signature() for row in WMMA_ROWS if row.generation == generation]


_SIGNS = {
    True: "GFX11 WMMA fp16/bf16 path does not accept signA/signB/clamp",
    False: "signA/signB/clamp are only valid for integer (iu4/iu8) WMMA",
}
"""Why a product of floats takes no signs, on RDNA3 and elsewhere."""


@dataclass(frozen=True)
class Wmma(MatrixInstruction):
    """A dense WMMA of one generation. ``sign_a``, ``sign_b`` and ``clamp`` matter to integers only."""

    lanes = WAVE
    generation: str
    m: int
    n: int
    k: int
    elem_a: str
    elem_b: str
    elem_c: str
    sign_a: bool = False
    sign_b: bool = False
    clamp: bool = False

    def __post_init__(self) -> None:
        if (self.generation, self.shape_mnk, self.elem_types) not in _BY_KEY:
            family = f"{DIALECT_NAMES.get(self.generation, self.generation)} WMMA"
            refusal = facts.no_such_instruction(family, self.signature, wmma_signatures(self.generation))
            refusal.message += self._why_not()
            raise refusal
        if (self.sign_a or self.sign_b or self.clamp) and self.elem_c != "i32":
            why = _SIGNS[self.generation == "rdna3"]
            raise DslValueError(f"{why}: {self.elem_a}", hint="give them with i8 and i4 only")

    def _why_not(self) -> str:
        """Return what is wrong with an instruction of RDNA4, of which there is one shape."""
        if self.generation != "rdna4":
            return ""
        shape = "x".join(map(str, self.shape_mnk))
        if self.shape_mnk != (16, 16, 16):
            return f": GFX120X WMMA requires M=N=K=16, got {shape}"
        return f": unsupported GFX120X WMMA configuration: {shape} with A='{self.elem_a}', B='{self.elem_b}'"

    @property
    def row(self) -> WmmaRow:
        return _BY_KEY[self.generation, self.shape_mnk, self.elem_types]

    @property
    def generations(self) -> tuple[str, ...]:
        return () if self.row in WRITTEN_ONLY else (self.generation,)

    def __str__(self) -> str:
        flags = f"signA = {_word(self.sign_a)}, signB = {_word(self.sign_b)}, clamp = {_word(self.clamp)}"
        return f"!fly_rocdl.{DIALECT_NAMES[self.generation]}.wmma<{self.signature}, {flags}>"

    def tv_layouts(self) -> tuple[Layout, Layout, Layout]:
        return _wmma_layouts(self)

    def others(self, target: Target) -> list[str]:
        return wmma_signatures(target.generation)

    def intrinsic(self) -> Intrinsic:
        row = self.row
        name = f"llvm.amdgcn.{row.suffix}.{row.acc.mangled}.{row.ab.mangled}"
        return Intrinsic(name, (row.acc,), self._slots(row), _dialect_op(row.suffix))

    def _slots(self, row: WmmaRow) -> tuple[Slot, ...]:
        a, b, c = Slot("a", row.ab), Slot("b", row.ab), Slot("c", row.acc)
        sign_a, sign_b = immediate(I1, self.sign_a, "signA"), immediate(I1, self.sign_b, "signB")
        clamp, mod_c = immediate(I1, self.clamp, "clamp"), immediate(I16, 0, "modC")
        reuse = immediate(I1, 0, "reuseA"), immediate(I1, 0, "reuseB")
        forms = {
            PLAIN: (a, b, c),
            HALF: (a, b, c, immediate(I1, 0, "opsel")),
            SIGNED: (sign_a, a, sign_b, b, c, clamp),
            SIGNED_REUSE: (sign_a, a, sign_b, b, c, *reuse, clamp),
            FLOAT_REUSE: (sign_a, a, sign_b, b, mod_c, c, *reuse),
            MOD_C: (a, b, mod_c, c, *reuse),
        }
        return forms[row.form]


@cache
def _wmma_layouts(op: Wmma) -> tuple[Layout, Layout, Layout]:
    return op.row.layouts()


def _word(flag: bool) -> str:
    return "true" if flag else "false"


def _dialect_op(suffix: str) -> str:
    """MLIR joins the two 8-bit formats of a name with an underscore: ``rocdl.wmma.f32.16x16x16.fp8_bf8``."""
    *head, a, b = suffix.split(".")
    return f"rocdl.{'.'.join(head)}.{a}_{b}" if {a, b} <= set(OCP_NAMES.values()) else f"rocdl.{suffix}"


# Scaled WMMA (gfx1250) --------------------------------------------------------------------------

SCALE_REGISTERS: dict[int, tuple[str, RegisterType]] = {32: ("scale", I32), 16: ("scale16", I64)}
"""Columns of K per scale to the name in the intrinsic and the register of a lane's scales."""

_F8F6F4, _F4 = (16, 16, 128), (32, 16, 128)


@dataclass(frozen=True)
class WmmaScale(MatrixInstruction):
    """A WMMA whose blocks of K are scaled by E8M0 exponents.

    A lane's scale register holds the exponents of all K blocks of one row, first block lowest.
    With 16 rows, ``opsel`` says which half of the wave holds them: 0 lanes 0-15, 1 lanes 16-31.
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
    mod_c: int = 0
    reuse_a: bool = False
    reuse_b: bool = False
    block_size: int = 32

    def __post_init__(self) -> None:
        if self.signature not in scaled_signatures():
            refusal = facts.no_such_instruction("scaled gfx1250 WMMA", self.signature, scaled_signatures())
            refusal.message += self._why_not()
            raise refusal
        limits = {"opsel_a": (0, 1), "opsel_b": (0, 1), "mod_c": (0, 1, 2, 3), "block_size": tuple(SCALE_REGISTERS)}
        for name, allowed in limits.items():
            if getattr(self, name) not in allowed:
                got = getattr(self, name)
                what = f"blockSize must be 16 or 32, got {got}" if name == "block_size" else f"{name} is {got}"
                raise DslValueError(what, hint=f"use one of {', '.join(map(str, allowed))}")

    def _why_not(self) -> str:
        shape = "x".join(map(str, self.shape_mnk))
        if self.shape_mnk not in ((16, 16, 128), (32, 16, 128)):
            return f": unsupported MNK for GFX1250 WMMA_Scale: {shape} (expected 16x16x128 or 32x16x128)"
        if self.shape_mnk == (32, 16, 128):
            return ": GFX1250 WMMA_Scale 32x16x128 requires f4E2M1FN A and B"
        return ""

    @property
    def state(self) -> tuple[str, ...]:
        return "scale_a", "scale_b"

    @property
    def state_types(self) -> dict[str, str]:
        return dict.fromkeys(self.state, SCALE_REGISTERS[self.block_size][1].mlir)

    @property
    def generations(self) -> tuple[str, ...]:
        return ("cdna5",)

    def __str__(self) -> str:
        flags = (
            f"opselA = {self.opsel_a}, opselB = {self.opsel_b}, modC = {self.mod_c}, reuseA = {_word(self.reuse_a)}, "
            f"reuseB = {_word(self.reuse_b)}, blockSize = {self.block_size}"
        )
        return f"!fly_rocdl.gfx1250.wmma_scale<{self.signature}, {flags}>"

    def tv_layouts(self) -> tuple[Layout, Layout, Layout]:
        return _scale_layouts(self)

    def _rows(self, operand: str) -> int:
        return self.m if operand == "a" else self.n

    def scale_tv(self, operand: str) -> Layout:
        """Return (lane, byte) to the column-major position in (rows, K / block_size); only `scale_lanes` are read."""
        rows, count = self._rows(operand), self.k // self.block_size
        threads = ((16, 2), (1, 0)) if rows == 16 else (32, 1)
        return Layout((threads[0], count), (threads[1], rows))

    def scale_lanes(self, operand: str) -> range:
        """Return the lanes whose scales the instruction reads."""
        if self._rows(operand) == WAVE:
            return range(WAVE)
        start = 16 * (self.opsel_a if operand == "a" else self.opsel_b)
        return range(start, start + 16)

    def scale_bytes(self, operand: str) -> tuple[int, ...]:
        """Return the bytes of a lane's scale register that count: all."""
        return tuple(range(self.k // self.block_size))

    def intrinsic(self) -> Intrinsic:
        """Formats and operands, modifier of C, then half, format (0 = E8M0) and value of each scale, reuse hints."""
        a, b, c = self.registers()
        kind, scale = SCALE_REGISTERS[self.block_size]
        tail = (
            immediate(I16, self.mod_c, "modC"), Slot("c", c),
            immediate(I32, self.opsel_a, "scaleAType"), immediate(I32, 0, "fmtScaleA"), Slot("scale_a", scale),
            immediate(I32, self.opsel_b, "scaleBType"), immediate(I32, 0, "fmtScaleB"), Slot("scale_b", scale),
            immediate(I1, self.reuse_a, "reuseA"), immediate(I1, self.reuse_b, "reuseB"),
        )  # fmt: skip
        if self.shape_mnk == _F4:
            suffix, slots = f"wmma.{kind}.f32.32x16x128.f4", (Slot("a", a), Slot("b", b), *tail)
        else:
            format_a = immediate(I32, SCALED_FORMATS[self.elem_a], "fmtA")
            format_b = immediate(I32, SCALED_FORMATS[self.elem_b], "fmtB")
            suffix = f"wmma.{kind}.f32.16x16x128.f8f6f4"
            slots = (format_a, Slot("a", a), format_b, Slot("b", b), *tail)
        name = f"llvm.amdgcn.{suffix}.{c.mangled}.{a.mangled}.{b.mangled}"
        return Intrinsic(name, (c,), slots, f"rocdl.{suffix}")

    def registers(self) -> tuple[RegisterType, RegisterType, RegisterType]:
        a, b = (scaled_registers(e, r * self.k // WAVE) for e, r in ((self.elem_a, self.m), (self.elem_b, self.n)))
        return a, b, facts.accumulator("f32", self.m * self.n // WAVE)


@cache
def _scale_layouts(op: WmmaScale) -> tuple[Layout, Layout, Layout]:
    m, n, k = op.shape_mnk
    a, b = _multiplicand(m, k, successive_columns(op.elem_a)), _multiplicand(n, k, successive_columns(op.elem_b))
    layouts = a, b, _accumulators(m)
    registers = [type.bits for type in op.registers()]
    facts.check_values(str(op), layouts, registers, map(facts.elem_bits, op.elem_types))
    return layouts


@cache
def scaled_signatures() -> tuple[str, ...]:
    """Return every scaled (shape, types): 16x16x128 with any two formats, 32x16x128 with f4 only."""
    mixes = [facts.signature(*_F8F6F4, a, b, "f32") for a in SCALED_FORMATS for b in SCALED_FORMATS]
    return (*mixes, facts.signature(*_F4, "f4E2M1FN", "f4E2M1FN", "f32"))


@cache
def wmma_scale_signatures(target: Target) -> list[str]:
    """Return the scaled (shape, types) pairs a target has."""
    return list(scaled_signatures()) if target.generation == "cdna5" else []

"""wgmma, the asynchronous warpgroup matrix instruction of Hopper (sm_90a).

Source: "PTX ISA", section 9.7.15 (Asynchronous Warpgroup Level Matrix Multiply-Accumulate
Instructions): shapes and types in 9.7.15.2, register fragments and shared-memory layouts in
9.7.15.5.1, the matrix descriptor in 9.7.15.5.1.2.2. LLVM 22 has no intrinsic for the product
itself, so it is issued as inline PTX.
"""

from __future__ import annotations

from functools import cache

from flydsl.base.errors import DslValueError
from flydsl.base.records import dataclass, field
from flydsl.layout.layout import Layout
from flydsl.layout.swizzle import Swizzle
from flydsl.target import mma_facts as facts
from flydsl.target.mma_facts import I32, I64, RegisterType, Slot
from flydsl.target.mma_instruction import Elems, MatrixInstruction
from flydsl.target.mma_nvidia import FP8, INT8, PTX_TYPES, values

THREADS = 128
M = 64

# Columns of B that an instruction takes (PTX ISA 9.7.15.2): any multiple of 8, for integers of 16 past 32.
FLOAT_N = tuple(range(8, 257, 8))
INT_N = (8, 16, 24, *range(32, 257, 16))


@dataclass(frozen=True)
class WgmmaRow:
    """The instructions of one type combination: their K, and whether an operand may be stored MN-major."""

    k: int
    elems: Elems
    columns: tuple[int, ...] = FLOAT_N
    transposable: bool = False
    scalable: bool = True

    def __post_init__(self) -> None:
        # A row of K is always 256 bits: one 32-byte chunk of a core matrix pair (9.7.15.5.1.2).
        assert self.k * facts.elem_bits(self.elems[0]) == 256, self


def _same(elem: str, acc: str) -> Elems:
    return elem, elem, acc


def _mixes(k: int, kinds: tuple[str, str], acc: str, columns: tuple[int, ...], scalable: bool) -> list[WgmmaRow]:
    return [WgmmaRow(k, (a, b, acc), columns, scalable=scalable) for a in kinds for b in kinds]


WGMMA_ROWS: tuple[WgmmaRow, ...] = (
    WgmmaRow(16, _same("f16", "f32"), transposable=True),
    WgmmaRow(16, _same("f16", "f16"), transposable=True),
    WgmmaRow(16, _same("bf16", "f32"), transposable=True),
    WgmmaRow(8, _same("tf32", "f32")),
    *_mixes(32, FP8, "f32", FLOAT_N, True),
    *_mixes(32, FP8, "f16", FLOAT_N, True),
    *_mixes(32, INT8, "i32", INT_N, False),
)

_BY_ELEMS: dict[Elems, WgmmaRow] = {row.elems: row for row in WGMMA_ROWS}


def wgmma_signatures() -> list[str]:
    return [facts.signature(M, n, row.k, *row.elems) for row in WGMMA_ROWS for n in row.columns]


@dataclass(frozen=True)
class InlineAsm:
    """PTX text with LLVM's constraints; ``results`` are the accumulators, which are also inputs."""

    text: str
    constraints: str
    results: tuple[RegisterType, ...]
    slots: tuple[Slot, ...]

    @property
    def result_type(self) -> str:
        types = [r.llvm for r in self.results]
        return types[0] if len(types) == 1 else "{ " + ", ".join(types) + " }"


_CONSTRAINTS = {"float": "f", "i32": "r", "i64": "l"}


@dataclass(frozen=True)
class Wgmma(MatrixInstruction):
    """``wgmma.mma_async``: 64 x n x k by 128 threads, B from shared memory, A from there or registers.

    State ``scale_d`` (i32): 0 ignores what the accumulators held, any other value adds to it.
    """

    lanes = THREADS
    m: int = field(default=M, init=False, repr=False)
    n: int
    k: int
    elem_a: str
    elem_b: str
    elem_c: str
    a_source: str = "shared"
    major_a: str = "k"
    major_b: str = "k"

    def __post_init__(self) -> None:
        row = _BY_ELEMS.get(self.formats)
        if row is None or row.k != self.k or self.n not in row.columns:
            raise facts.no_such_instruction("wgmma", self.signature, wgmma_signatures())
        if self.a_source not in ("shared", "register"):
            raise DslValueError(f"A cannot come from '{self.a_source}'", hint="use 'shared' or 'register'")
        for name, major in (("major_a", self.major_a), ("major_b", self.major_b)):
            if major not in ("k", "mn"):
                raise DslValueError(f"{name} is '{major}'", hint="use 'k' or 'mn'")
        if not row.transposable and "mn" in (self.major_a, self.major_b):
            raise DslValueError(f"{self.elem_a} operands must be K-major", hint="only f16 and bf16 may be MN-major")
        if self.a_source == "register" and self.major_a != "k":
            raise DslValueError("A from registers has no major order", hint="leave major_a at 'k'")

    @property
    def row(self) -> WgmmaRow:
        return _BY_ELEMS[self.formats]

    @property
    def state(self) -> tuple[str, ...]:
        return ("scale_d",)

    @property
    def generations(self) -> tuple[str, ...]:
        return ("hopper",)

    def __str__(self) -> str:
        majors = f"majorA = {self.major_a}, majorB = {self.major_b}"
        return f"!fly_nvvm.sm90.wgmma<{self.signature}, a = {self.a_source}, {majors}>"

    def tv_layouts(self) -> tuple[Layout, Layout, Layout]:
        return _layouts(self)

    def registers(self, operand: str) -> tuple[RegisterType, ...]:
        """Return what a thread passes: accumulators, A's registers, or a 64-bit descriptor of shared memory."""
        if operand == "c":
            wide = self.elem_c in ("f32", "i32")
            type = RegisterType(1, "float") if self.elem_c == "f32" else I32
            return (type,) * (M * self.n // THREADS // (1 if wide else 2))
        if operand == "a" and self.a_source == "register":
            return (I32,) * 4
        return (I64,)

    def mnemonic(self) -> str:
        a, b, c = (PTX_TYPES[elem] for elem in self.formats)
        return f"wgmma.mma_async.sync.aligned.m{M}n{self.n}k{self.k}.{c}.{a}.{b}"

    def _modifiers(self) -> list[str]:
        """After scale-d: no negation of A and B (+1), then the transposes of the operands in shared memory."""
        extra = ["1", "1"] if self.row.scalable else []
        if self.row.transposable:
            majors = (self.major_b,) if self.a_source == "register" else (self.major_a, self.major_b)
            extra += ["0" if major == "k" else "1" for major in majors]
        return extra

    def inline_asm(self) -> InlineAsm:
        """Return the instruction, with scale-d turned into the predicate it wants."""
        c, a, b = self.registers("c"), self.registers("a"), self.registers("b")
        count = len(c)
        first_b = count + len(a)
        refs = [f"${count + i}" for i in range(len(a))]
        a_text = refs[0] if self.a_source == "shared" else "{" + ", ".join(refs) + "}"
        d_text = "{" + ", ".join(f"${i}" for i in range(count)) + "}"
        arguments = ", ".join([d_text, a_text, f"${first_b}", "p", *self._modifiers()])
        text = f"{{ .reg .pred p; setp.ne.b32 p, ${first_b + 1}, 0; {self.mnemonic()} {arguments}; }}"
        outputs = ["=" + _CONSTRAINTS[type.elem] for type in c]
        inputs = [_CONSTRAINTS[type.elem] for type in (*a, *b)] + ["r"] + [str(i) for i in range(count)]
        slots = [Slot(role, type, part) for role, types in (("a", a), ("b", b)) for part, type in enumerate(types)]
        slots += [Slot("scale_d", I32), *(Slot("c", type, part) for part, type in enumerate(c))]
        return InlineAsm(text, ",".join(outputs + inputs), c, tuple(slots))


@cache
def _layouts(op: Wgmma) -> tuple[Layout, Layout, Layout]:
    """Operands in shared memory are seen whole by every thread; register fragments stack four warps along M."""
    packed = 32 // facts.elem_bits(op.elem_a)
    held = values((packed, M), (2, 8), (op.k // (4 * packed), 4 * packed * M))
    fragment = Layout(((4, 8, 4), held.shape), ((packed * M, 1, 16), held.stride))
    whole_a = Layout((THREADS, (M, op.k)), (0, (1, M)))
    whole_b = Layout((THREADS, (op.n, op.k)), (0, (1, op.n)))
    kept = values((2, M), (2, 8), (op.n // 8, 8 * M))
    accumulators = Layout(((4, 8, 4), kept.shape), ((2 * M, 1, 16), kept.stride))
    return (fragment if op.a_source == "register" else whole_a), whole_b, accumulators


# The intrinsics around the product (IntrinsicsNVVM.td): before the first, after the last, waiting for all but n.
FENCE = "llvm.nvvm.wgmma.fence.sync.aligned"
COMMIT_GROUP = "llvm.nvvm.wgmma.commit_group.sync.aligned"
WAIT_GROUP = "llvm.nvvm.wgmma.wait_group.sync.aligned"


# Shared-memory descriptors ----------------------------------------------------------------------


@dataclass(frozen=True)
class DescriptorField:
    """Bits of the 64-bit matrix descriptor; addresses and offsets are stored without their low ``shift`` bits."""

    name: str
    low: int
    width: int
    shift: int = 0

    def encode(self, value: int) -> int:
        stored = value >> self.shift
        if value < 0 or value % (1 << self.shift) or stored >> self.width:
            limit = ((1 << self.width) - 1) << self.shift
            raise DslValueError(
                f"{self.name} {value} does not fit a matrix descriptor",
                hint=f"use a multiple of {1 << self.shift} up to {limit}",
            )
        return stored << self.low


DESCRIPTOR_FIELDS: dict[str, DescriptorField] = {
    field.name: field
    for field in (
        DescriptorField("start_address", 0, 14, 4),
        DescriptorField("leading_offset", 16, 14, 4),
        DescriptorField("stride_offset", 32, 14, 4),
        DescriptorField("base_offset", 49, 3),
        DescriptorField("swizzle", 62, 2),
    )
}
"""PTX ISA 9.7.15.5.1.2.2, "Matrix Descriptor Format"."""


@dataclass(frozen=True)
class SwizzleMode:
    """How rows of a tile are laid out: ``row_bytes`` contiguous bytes, permuted over 8 rows by ``swizzle``.

    ``swizzle`` acts on byte addresses; the tile must be aligned to ``8 * row_bytes``.
    """

    code: int
    row_bytes: int
    swizzle: Swizzle

    def __post_init__(self) -> None:
        assert self.row_bytes == 16 << self.swizzle.mask, self
        assert self.swizzle.base == 4 and self.swizzle.shift == 3, self


SWIZZLE_MODES: dict[str, SwizzleMode] = {
    "none": SwizzleMode(0, 16, Swizzle(0, 4, 3)),
    "128B": SwizzleMode(1, 128, Swizzle(3, 4, 3)),
    "64B": SwizzleMode(2, 64, Swizzle(2, 4, 3)),
    "32B": SwizzleMode(3, 32, Swizzle(1, 4, 3)),
}


def encode_descriptor(
    start_address: int, leading_offset: int, stride_offset: int, swizzle: str, base_offset: int = 0
) -> int:
    """Return the 64-bit descriptor of a tile in shared memory; offsets in bytes."""
    if swizzle not in SWIZZLE_MODES:
        raise DslValueError(f"unknown swizzle mode '{swizzle}'", hint=f"use one of {', '.join(SWIZZLE_MODES)}")
    given = {
        "start_address": start_address,
        "leading_offset": leading_offset,
        "stride_offset": stride_offset,
        "base_offset": base_offset,
        "swizzle": SWIZZLE_MODES[swizzle].code,
    }
    return sum(DESCRIPTOR_FIELDS[name].encode(value) for name, value in given.items())

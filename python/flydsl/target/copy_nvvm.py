"""NVIDIA's copy instructions as facts: plain accesses with cache hints, asynchronous copies, moves of matrices.

Source: "PTX ISA 8.8", sections 9.7.9.1 (cache operators), 9.7.9.8 (ld), 9.7.9.11 (st), 9.7.9.25.3 (cp.async),
9.7.14.5.15 (ldmatrix), 9.7.14.5.16 (stmatrix).
"""

from __future__ import annotations

from typing import ClassVar, Literal, get_args

from flydsl.base.errors import DslValueError, TargetError
from flydsl.base.records import dataclass
from flydsl.layout.layout import Layout
from flydsl.target.copy_ops import OneThreadCopy, values_per_thread
from flydsl.target.target import Target

# How long L2 keeps what an access brings: priorities, and an instruction that carries one
#
# Source: "PTX ISA 8.8", section 9.7.9.18 (createpolicy). The policy is made where it is used: it is a constant,
# which ptxas keeps in uniform registers.


L2Priority = Literal["evict_first", "evict_last", "evict_normal", "evict_unchanged"]
L2_PRIORITIES: tuple[L2Priority, ...] = get_args(L2Priority)


def check_priority(priority: str | None) -> None:
    """Refuse what the cache does not know; None leaves it to itself."""
    if priority is not None and priority not in L2_PRIORITIES:
        raise DslValueError(f"unknown priority '{priority}' of the L2 cache", hint=f"use {', '.join(L2_PRIORITIES)}")


def under_policy(text: str, priority: str | None, vector: str = "") -> str:
    """PTX ``text``, an instruction whose name ends with ``vector`` if not with its qualifiers, under a policy."""
    if priority is None:
        return text
    name, operands = text.removesuffix(";").split(" ", 1)
    stem = name.removesuffix(vector)
    made = f"createpolicy.fractional.L2::{priority}.b64 policy, 1.0;"
    return f"{{ .reg .b64 policy; {made} {stem}.L2::cache_hint{vector} {operands}, policy; }}"


CacheHint = Literal[
    "always", "global", "streaming", "once", "no_allocate", "evict_first", "evict_last", "read_only",
    "read_only_no_allocate",
]  # fmt: skip
LOAD_HINTS: dict[str, str] = {
    "always": "ca", "global": "cg", "streaming": "cs", "once": "lu", "no_allocate": "L1::no_allocate",
    "evict_first": "L1::evict_first", "evict_last": "L1::evict_last",
    "read_only": "nc", "read_only_no_allocate": "nc.L1::no_allocate",
}  # fmt: skip
"""Hint to what follows `ld.global`."""
STORE_HINTS: dict[str, str] = {
    "always": "wb", "global": "cg", "streaming": "cs", "no_allocate": "L1::no_allocate",
    "evict_first": "L1::evict_first", "evict_last": "L1::evict_last",
}  # fmt: skip
"""Hint to what follows `st.global`."""

WIDTHS = (32, 64, 128)
ASYNC_WIDTHS = (32, 64, 128)
AsyncCache = Literal["ca", "cg"]
ASYNC_CACHES: tuple[AsyncCache, ...] = get_args(AsyncCache)


@dataclass(frozen=True)
class CachedCopy(OneThreadCopy):
    """Global memory to registers or back with a hint for the first cache and, if ``l2``, a priority in the second."""

    bits: int
    hint: str = "streaming"
    l2: str | None = None
    state: tuple[str, ...] = ()
    direct: bool = False

    def __post_init__(self) -> None:
        if self.bits not in WIDTHS:
            raise DslValueError(f"no hinted copy of {self.bits} bits", hint="choose 32, 64 or 128")
        if self.hint not in LOAD_HINTS:
            raise DslValueError(f"unknown cache hint '{self.hint}'", hint=f"use {', '.join(LOAD_HINTS)}")
        check_priority(self.l2)

    def __str__(self) -> str:
        priority = f", {self.l2}" if self.l2 else ""
        return f"!fly_nvvm.sm80.cached_copy<{self.bits}, {self.hint}{priority}>"

    def require(self, target: Target) -> None:
        _require_nvidia(self, target)


@dataclass(frozen=True)
class CpAsync(OneThreadCopy):
    """Global straight into shared memory; wait with `cp_async_wait_group`."""

    bits: int
    cache: str = "cg"
    state: tuple[str, ...] = ()
    direct: bool = True

    def __post_init__(self) -> None:
        if self.bits not in ASYNC_WIDTHS:
            raise DslValueError(f"no cp.async of {self.bits} bits", hint="choose 32, 64 or 128")
        if self.cache not in ASYNC_CACHES:
            raise DslValueError(f"unknown cache '{self.cache}'", hint="use 'ca' or 'cg'")
        if self.cache == "cg" and self.bits != 128:
            raise DslValueError("cp.async past the L1 cache moves 128 bits", hint="use cache='ca' for less")

    def __str__(self) -> str:
        return f"!fly_nvvm.sm80.cp_async<{self.bits}, {self.cache}>"

    def require(self, target: Target) -> None:
        _require_nvidia(self, target)


ROW_BYTES = 16
"""A row of the 8x8 matrices of 16-bit elements that a warp moves at once."""


@dataclass(frozen=True)
class _MatrixMove:
    """A warp moves ``count`` 8x8 matrices of 16-bit elements between shared memory and fragments.

    The atom's data are the matrices one after the other, row by row. In memory lane 8*i + r has row r of matrix i;
    lanes beyond the last row name a row again. In registers lane l has two neighbours of row l // 4 of each matrix,
    or, transposed, of column l // 4.
    """

    name: ClassVar[str]
    count: int = 4
    transposed: bool = False
    state: tuple[str, ...] = ()
    direct: bool = False

    def __post_init__(self) -> None:
        if self.count not in (1, 2, 4):
            raise DslValueError(f"{self.name} moves 1, 2, 4 matrices, not {self.count}")

    @property
    def bits(self) -> int:
        return 32 * self.count

    def thr_layout(self) -> Layout:
        return Layout(32, 1)

    def rows(self, val_bits: int) -> Layout:
        """Return (lane, value) to the atom's data on the side of memory."""
        values = values_per_thread(8 * ROW_BYTES, val_bits)
        lanes = 8 * self.count
        if lanes == 32:
            return Layout((32, values), (values, 1))
        return Layout(((lanes, 32 // lanes), values), ((values, 0), 1))

    def fragment(self, val_bits: int) -> Layout:
        """Return (lane, value) to the atom's data on the side of registers."""
        matrix = 64 * 16 // val_bits
        if not self.transposed:
            held = values_per_thread(32, val_bits)
            return Layout((32, (held, self.count)), (held, (1, matrix)))
        if val_bits != 16:
            raise DslValueError(
                f"a transposing move of matrices exchanges 16-bit elements, not those of {val_bits} bits",
                hint="move them untransposed, or store them in shared memory the other way round",
            )
        return Layout(((4, 8), (2, self.count)), ((16, 1), (8, matrix)))

    def intrinsic_name(self) -> str:
        return f"llvm.nvvm.{self.name}.sync.aligned.m8n8.x{self.count}{'.trans' if self.transposed else ''}.b16"

    def __str__(self) -> str:
        return f"!fly_nvvm.{self.name}<{self.count}{', trans' if self.transposed else ''}>"


@dataclass(frozen=True)
class LdMatrix(_MatrixMove):
    """Matrices from shared memory into fragments."""

    name: ClassVar[str] = "ldmatrix"

    def tv_layouts(self, val_bits: int) -> tuple[Layout, Layout, Layout]:
        registers = self.fragment(val_bits)
        return self.rows(val_bits), registers, registers

    def require(self, target: Target) -> None:
        _require_nvidia(self, target)


@dataclass(frozen=True)
class StMatrix(_MatrixMove):
    """Matrices from fragments into shared memory."""

    name: ClassVar[str] = "stmatrix"

    def tv_layouts(self, val_bits: int) -> tuple[Layout, Layout, Layout]:
        registers = self.fragment(val_bits)
        return registers, self.rows(val_bits), registers

    def require(self, target: Target) -> None:
        if target.generation != "hopper":
            raise TargetError(f"{target} does not have {self}", hint="sm_90a has it; use fx.copy without an atom")


def _require_nvidia(op: object, target: Target) -> None:
    if target.backend != "cuda":
        raise TargetError(f"{target} does not have {op}", hint="it belongs to NVIDIA GPUs; use fx.UniversalCopy here")

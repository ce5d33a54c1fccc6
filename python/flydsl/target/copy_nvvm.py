"""NVIDIA's copy instructions as facts: plain accesses with cache hints, and asynchronous copies into shared memory.

Source: "PTX ISA 8.8", sections 9.7.9.1 (cache operators), 9.7.9.8 (ld), 9.7.9.11 (st), 9.7.9.25.3 (cp.async).
"""

from __future__ import annotations

from flydsl.base.errors import DslValueError, TargetError
from flydsl.base.records import dataclass
from flydsl.target.copy_ops import OneThreadCopy
from flydsl.target.target import Target

# How long the second-level cache keeps what an access brings: priorities, and an instruction that carries one
#
# Source: "PTX ISA 8.8", section 9.7.9.18 (createpolicy). The policy is made where it is used: it is a constant,
# which ptxas keeps in uniform registers.


L2_PRIORITIES = ("evict_first", "evict_last", "evict_normal", "evict_unchanged")


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


LOAD_HINTS = {
    "always": "ca", "global": "cg", "streaming": "cs", "once": "lu", "no_allocate": "L1::no_allocate",
    "evict_first": "L1::evict_first", "evict_last": "L1::evict_last",
    "read_only": "nc", "read_only_no_allocate": "nc.L1::no_allocate",
}  # fmt: skip
"""Hint to what follows `ld.global`."""
STORE_HINTS = {
    "always": "wb", "global": "cg", "streaming": "cs", "no_allocate": "L1::no_allocate",
    "evict_first": "L1::evict_first", "evict_last": "L1::evict_last",
}  # fmt: skip
"""Hint to what follows `st.global`."""

WIDTHS = (32, 64, 128)
ASYNC_WIDTHS = (32, 64, 128)
ASYNC_CACHES = ("ca", "cg")


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


def _require_nvidia(op: object, target: Target) -> None:
    if target.backend != "cuda":
        raise TargetError(f"{target} does not have {op}", hint="it belongs to NVIDIA GPUs; use fx.UniversalCopy here")

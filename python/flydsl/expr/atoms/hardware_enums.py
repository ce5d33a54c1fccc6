"""Enumerations of hardware notions: address spaces, operands, atomics, traversal orders."""

from __future__ import annotations

import enum
from typing import Any


class AddressSpace(enum.IntEnum):
    """Where a pointer points."""

    Generic = 0
    Global = 1
    Shared = 2
    Register = 3

    @property
    def ir_name(self) -> str:
        """The name in IR."""
        return self.name.lower()

    @staticmethod
    def named(name: str) -> Any:
        """Return the member of that IR name; a target's own space stays text."""
        return _SPACES.get(name, name)


_SPACES = {space.ir_name: space for space in AddressSpace}


class AtomicOp(enum.IntEnum):
    """What an atomic read-modify-write does."""

    Add = 0
    Max = 1
    Min = 2
    And = 3
    Or = 4
    Inc = 5
    Dec = 6


class MmaOperand(enum.Enum):
    """The operands of a matrix instruction."""

    A = "a"
    B = "b"
    C = "c"
    D = "d"


class CachePolicy(enum.IntEnum):
    """How a load uses the caches."""

    CacheGlobal = 0
    CacheAlways = 1


class SyncScope(enum.StrEnum):
    """Who sees an atomic operation as one. Members are LLVM's names of the scopes; the whole system has none."""

    System = ""
    SingleThread = "singlethread"
    SingleThreadOneAs = "singlethread-one-as"
    Agent = "agent"
    Workgroup = "workgroup"
    Wavefront = "wavefront"
    OneAs = "one-as"
    AgentOneAs = "agent-one-as"
    WorkgroupOneAs = "workgroup-one-as"
    WavefrontOneAs = "wavefront-one-as"


_ORDERS = ("MNK", "MKN", "NMK", "NKM", "KMN", "KNM")

GemmTraversalOrder = enum.Enum(
    "GemmTraversalOrder", {name: name for order in _ORDERS for name in (order, f"{order}_Serpentine")}
)
GemmTraversalOrder.__doc__ = "The order in which `gemm` visits (m, n, k), the fastest first; serpentine turns back."


__all__ = [
    "AddressSpace", "AtomicOp", "CachePolicy", "GemmTraversalOrder", "MmaOperand", "SyncScope",
]  # fmt: skip

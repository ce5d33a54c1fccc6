"""convert-fly-to-rocdl: fly pointers and atoms become LLVM pointers and rocdl operations.

Input: what fly-promote-regmem-to-vectorssa leaves. Output: upstream dialects only.
"""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.passes.convert_fly_memory import convert_fly_memory
from flydsl.passes.shared.async_marks import resolve_async_marks
from flydsl.passes.shared.buffer_atoms import ROCDL_ATOMS


def convert_fly_to_rocdl(module: Operation) -> None:
    """Run the pass on a module."""
    convert_fly_memory(module, ROCDL_ATOMS, {})
    resolve_async_marks(module)

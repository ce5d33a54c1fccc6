"""cse: computes repeated pure operations once.

Looks inside a block and at what its function's first block computed, which precedes every other. LLVM finds the rest.
"""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.passes.canonicalize import drop_dead, share_repeated
from flydsl.passes.shared.walk import function_bodies


def cse(module: Operation) -> None:
    """Run the pass on a module."""
    for body in function_bodies(module):
        share_repeated(body)
        drop_dead(body)

"""reconcile-unrealized-casts: drops the casts that conversions left between old and new types.

A cast that leads back to the type it came from is the value itself. Casts nobody uses go too; one that still stands
between two types is left, as upstream leaves it.
"""

from __future__ import annotations

from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Operation

from flydsl.dialects.upstream import walked
from flydsl.passes.shared.llvm_conversion import remove
from flydsl.passes.shared.walk import functions


def reconcile_unrealized_casts(module: Operation) -> None:
    """Run the pass on a module."""
    for function in functions(module):
        reconcile(function)


def reconcile(function: Operation) -> None:
    """Drop the casts of one function, those inside regions included."""
    casts = [op for op in walked(function) if isinstance(op, UnrealizedConversionCastOp)]
    for cast in casts:
        source = cast.operands[0] if len(cast.operands) == 1 and len(cast.results) == 1 else None
        while source is not None:
            if source.type == cast.results[0].type:
                cast.results[0].replace_all_uses_with(source)
                break
            owner = source.owner
            behind = owner.operands if isinstance(owner, UnrealizedConversionCastOp) else ()
            source = behind[0] if len(behind) == 1 else None
    for cast in reversed(casts):
        if not any(result.uses for result in cast.results):
            remove(cast)

"""convert-math-to-llvm: mathematical functions become LLVM's intrinsics, or calls of the C library where it has none.

%r = math.exp2 %x : f32    ->    %r = llvm.intr.exp2(%x) : (f32) -> f32
"""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.backends.lowering.rule_conversion import convert_dialect
from flydsl.codegen.rules import rules_math


def convert_math_to_llvm(module: Operation) -> None:
    """Run the pass on a module."""
    convert_dialect(module, rules_math.RULES, lambda name: name.startswith("math."))

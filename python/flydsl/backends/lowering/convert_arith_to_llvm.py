"""convert-arith-to-llvm: arithmetic, comparisons, conversions and constants become the llvm dialect's.

Floats below 16 bits are integers in LLVM; conversions from and to them are private functions added to the module.

    %s = arith.addi %a, %b : index    ->    %s = llvm.add %a, %b : i64
"""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.backends.lowering.rule_conversion import convert_dialect
from flydsl.codegen.rules import rules_arith, rules_cast


def convert_arith_to_llvm(module: Operation) -> None:
    """Run the pass on a module."""
    convert_dialect(module, {**rules_arith.RULES, **rules_cast.RULES}, lambda name: name.startswith("arith."))

"""convert-vector-to-llvm: operations on vectors become the llvm dialect's, vectors of any rank flat ones.

vector.extract %v[1] : f32 from vector<4xf32>    ->    llvm.extractelement %v[%c1 : i64] : vector<4xf32>
"""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.backends.lowering.rule_conversion import convert_dialect
from flydsl.codegen.rules import rules_vector


def convert_vector_to_llvm(module: Operation) -> None:
    """Run the pass on a module."""
    convert_dialect(module, rules_vector.RULES, lambda name: name.startswith(("vector.", "ub.")))

"""Fast functions that both vendors have, to the host's own precision; powers of two as GPUs have them.

Those of f32 take subnormal numbers for zeros, and give zeros for them: AMD's instructions flush them, as does `.ftz`.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from flydsl.backends.host.intrinsics.entry import Behaviour
from flydsl.backends.host.thread_loops import Workgroup
from flydsl.codegen.floats.exponential_functions import exp2
from flydsl.codegen.floats.float_casts import narrow_from_f32, widen_to_f32
from flydsl.codegen.floats.formula import formula_function
from flydsl.codegen.llvm_types import scalar_of

Formula = Callable[[Workgroup, str, list[str]], str]
"""From the result type and the operands' texts to the expression to assign."""


def formula(text: Formula, *, flush: bool = False) -> Behaviour:
    """Return what assigns an expression; that of bf16 is computed in f32 and rounded."""

    def run(wg: Workgroup, op: Operation) -> None:
        kind, operands = scalar_of(op.results[0].type), [wg.body.operand(value) for value in op.operands]
        type_ = "float" if kind.name == "bf16" else kind.text
        if kind.name == "bf16":
            operands = [widen_to_f32(wg.body, x, kind) for x in operands]
        flushed = (lambda x: _flushed(wg, type_, x)) if flush else str
        result = flushed(wg.body.assign(text(wg, type_, [flushed(x) for x in operands])))
        wg.body.bind(op.results[0], narrow_from_f32(wg.body, result, kind) if kind.name == "bf16" else result)

    return run


def _flushed(wg: Workgroup, type_: str, x: str) -> str:
    if type_ != "float":
        return x
    size = wg.body.assign(f"call float @llvm.fabs(float {x})")
    zero = wg.body.assign(f"call float @llvm.copysign(float 0.0, float {x})")
    small = wg.body.assign(f"fcmp olt float {size}, 0x3810000000000000")
    return wg.body.assign(f"select i1 {small}, float {zero}, float {x}")


def _power_of_two(wg: Workgroup, type_: str, xs: list[str]) -> str:
    symbol = formula_function(wg.body.scope, "exp2", 0, 1, exp2) if type_ == "float" else "@llvm.exp2"
    return f"call {type_} {symbol}({type_} {xs[0]})"


def _reciprocal_root(wg: Workgroup, type_: str, xs: list[str]) -> str:
    root = wg.body.assign(f"call {type_} @llvm.sqrt({type_} {xs[0]})")
    return f"fdiv {type_} 1.0, {root}"


FAST: dict[str, Behaviour] = {
    "exp2": formula(_power_of_two),
    **{name: formula(lambda _, type_, xs, name=name: f"call {type_} @llvm.{name}({type_} {xs[0]})", flush=True)
       for name in ("log2", "sqrt")},
    "rcp": formula(lambda _, type_, xs: f"fdiv {type_} 1.0, {xs[0]}", flush=True),
    "rsqrt": formula(_reciprocal_root, flush=True),
}  # fmt: skip

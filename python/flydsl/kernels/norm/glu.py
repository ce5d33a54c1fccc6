"""Gated units: act(gate) * up, row by row, with act the sigmoid unit (SwiGLU) or the Gaussian one (GeGLU), f32 inside.

forward = build_glu_module(N, "bf16", "silu")
forward(gate, up, out, M, stream)
backward = build_glu_bwd_module(N, "bf16", "silu")
backward(dout, gate, up, dgate, dup, M, stream)

Gate and up may be the halves of one matrix: rows may lie any distance apart.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import gelu, sigmoid, silu
from flydsl.kernels.blocks.row_choice import only, plan_row
from flydsl.kernels.blocks.row_loop import RowArrays, RowWork, for_each_row
from flydsl.kernels.blocks.row_plan import RowPlan, RowTask, check_row
from flydsl.kernels.blocks.rows import launch_rows

FORWARD, BACKWARD = RowTask(sources=2, once=True), RowTask(sources=3, targets=2, once=True)
_SQRT_HALF, _INV_SQRT_2PI = 0.7071067811865476, 0.3989422804014327


def gelu_exact(x: Any) -> Any:
    """x times the normal distribution's integral up to x."""
    return x * (fx.math.erf(x * _SQRT_HALF) * 0.5 + 0.5)


def silu_slope(x: Any) -> Any:
    s = sigmoid(x)
    return s * (1.0 + x * (1.0 - s))


def gelu_slope(x: Any) -> Any:
    """Of the tanh form."""
    inner = (x + x * x * x * 0.044715) * 1.5957691216057308
    s = sigmoid(inner)
    return s + x * s * (1.0 - s) * (1.5957691216057308 + x * x * 0.21406643100929196)


def gelu_exact_slope(x: Any) -> Any:
    density = fx.math.exp(x * x * -0.5) * _INV_SQRT_2PI
    return fx.math.erf(x * _SQRT_HALF) * 0.5 + 0.5 + x * density


GATES = {"silu": (silu, silu_slope), "gelu_tanh": (gelu, gelu_slope), "gelu": (gelu_exact, gelu_exact_slope)}
"""Name -> (function, derivative)."""


def _check(length: int, dtype: str, gate: str) -> None:
    check_row(length, dtype)
    if gate not in GATES:
        raise ValueError(f"gate must be one of {', '.join(GATES)}, got {gate!r}")


@cache
def build_glu_module(N: int, dtype: str, gate: str = "silu", plan: RowPlan | None = None) -> Any:
    """Return the launcher ``fn(gate, up, out, m)`` of act(gate) * up."""
    _check(N, dtype, gate)
    activation = GATES[gate][0]

    @flyc.kernel
    def glu_kernel(gate: fx.Tensor, up: fx.Tensor, out: fx.Tensor, m: fx.Int32, plan: fx.Constexpr):
        def code(work: RowWork) -> None:
            for iteration, (a, b) in enumerate(zip(*work.x, strict=True)):
                work.store(iteration, activation(a) * b)

        for_each_row(RowArrays((gate, up), (out,)), m, plan, code)

    @flyc.jit
    def glu(gate: fx.Tensor, up: fx.Tensor, out: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        choice = only(plan) if plan else plan_row(N, dtype, task=FORWARD)
        launch_rows(lambda chosen: glu_kernel(gate, up, out, m, chosen), m, choice, stream, (gate, up, out))

    return glu


@cache
def build_glu_bwd_module(N: int, dtype: str, gate: str = "silu", plan: RowPlan | None = None) -> Any:
    """Return the launcher ``fn(dout, gate, up, dgate, dup, m)``."""
    _check(N, dtype, gate)
    activation, slope = GATES[gate]

    @flyc.kernel
    def glu_bwd_kernel(
        dout: fx.Tensor, gate: fx.Tensor, up: fx.Tensor, dgate: fx.Tensor, dup: fx.Tensor, m: fx.Int32,
        plan: fx.Constexpr,
    ):  # fmt: skip
        def code(work: RowWork) -> None:
            for iteration, (d, a, b) in enumerate(zip(*work.x, strict=True)):
                work.store(iteration, d * b * slope(a), 0)
                work.store(iteration, d * activation(a), 1)

        for_each_row(RowArrays((dout, gate, up), (dgate, dup)), m, plan, code)

    @flyc.jit
    def glu_bwd(
        dout: fx.Tensor, gate: fx.Tensor, up: fx.Tensor, dgate: fx.Tensor, dup: fx.Tensor, m: fx.Int32,
        stream: fx.Stream = None,
    ):  # fmt: skip
        choice = only(plan) if plan else plan_row(N, dtype, task=BACKWARD)
        matrices = dout, gate, up, dgate, dup
        launch_rows(lambda chosen: glu_bwd_kernel(*matrices, m, chosen), m, choice, stream, matrices)

    return glu_bwd

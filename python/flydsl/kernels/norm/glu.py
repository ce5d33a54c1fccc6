"""Gated units: act(gate) * up, row by row, with act the sigmoid unit (SwiGLU) or the Gaussian one (GeGLU), f32 inside.

forward = build_glu_module(N, "bf16", "silu")
forward(gate, up, out, M, stream)
backward = build_glu_bwd_module(N, "bf16", "silu")
backward(dout, gate, up, dgate, dup, M, stream)

Gate and up may be the halves of one matrix: rows may lie any distance apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks import flat_pieces, wide_pieces
from flydsl.kernels.blocks.activation import gelu, gelu_erf, normal_below, sigmoid, silu
from flydsl.kernels.blocks.inputs import in_rows, require_matrices
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.row_choice import RowChoice, check_row, only, plan_row
from flydsl.kernels.blocks.row_loop import for_each_row
from flydsl.kernels.blocks.row_plan import LEAST_ACCESS, RowPlan, RowTask
from flydsl.kernels.blocks.row_work import RowArrays, RowWork
from flydsl.kernels.blocks.rows import begin_alike, launch_rows

FORWARD, BACKWARD = RowTask(sources=2, once=True), RowTask(sources=3, targets=2, once=True)
_INV_SQRT_2PI = 0.3989422804014327


def silu_slope(x: Any) -> Any:
    s = sigmoid(x)
    return s * (1.0 + x * (1.0 - s))


def gelu_slope(x: Any) -> Any:
    """Return the slope of `gelu`, the tanh form."""
    inner = (x + x * x * x * 0.044715) * 1.5957691216057308
    s = sigmoid(inner)
    return s + x * s * (1.0 - s) * (1.5957691216057308 + x * x * 0.21406643100929196)


def gelu_erf_slope(x: Any) -> Any:
    share, power = normal_below(x)
    return share + x * power * _INV_SQRT_2PI


GATES = {"silu": (silu, silu_slope), "gelu_tanh": (gelu, gelu_slope), "gelu": (gelu_erf, gelu_erf_slope)}
"""Name -> (function, derivative)."""


def _check(length: int, dtype: str, gate: str) -> None:
    check_row(length, dtype)
    if gate not in GATES:
        raise ValueError(f"gate must be one of {', '.join(GATES)}, got {gate!r}")


@kept
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

    @flyc.kernel
    def glu_pieces_kernel(gate: fx.Tensor, up: fx.Tensor, out: fx.Tensor, m: fx.Int32, wide: fx.Constexpr):
        wide_pieces.map_pieces(lambda a, b: (activation(a) * b,), (gate, up), (out,), m, N, wide)

    @flyc.kernel
    def glu_line_kernel(gate: fx.Tensor, up: fx.Tensor, out: fx.Tensor, elements: fx.Int64):
        flat_pieces.map_line(lambda a, b: (activation(a) * b,), (gate, up), (out,), elements)

    @flyc.jit
    def glu(gate: fx.Tensor, up: fx.Tensor, out: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        choice = only(plan) if plan else plan_row(N, dtype, task=FORWARD)
        matrices = tuple(in_rows(N, gate, up, out))
        ways = _Ways(
            lambda chosen: glu_kernel(*matrices, m, chosen), lambda wide: glu_pieces_kernel(*matrices, m, wide),
            lambda elements: glu_line_kernel(*matrices, elements),
        )  # fmt: skip
        _launch(ways, m, choice, stream, matrices)

    return glu


@kept
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

    def gradients(d: Any, a: Any, b: Any) -> tuple[Any, Any]:
        return d * b * slope(a), d * activation(a)

    @flyc.kernel
    def glu_bwd_pieces_kernel(
        dout: fx.Tensor, gate: fx.Tensor, up: fx.Tensor, dgate: fx.Tensor, dup: fx.Tensor, m: fx.Int32,
        wide: fx.Constexpr,
    ):  # fmt: skip
        wide_pieces.map_pieces(gradients, (dout, gate, up), (dgate, dup), m, N, wide)

    @flyc.kernel
    def glu_bwd_line_kernel(
        dout: fx.Tensor, gate: fx.Tensor, up: fx.Tensor, dgate: fx.Tensor, dup: fx.Tensor, elements: fx.Int64
    ):  # fmt: skip
        flat_pieces.map_line(gradients, (dout, gate, up), (dgate, dup), elements)

    @flyc.jit
    def glu_bwd(
        dout: fx.Tensor, gate: fx.Tensor, up: fx.Tensor, dgate: fx.Tensor, dup: fx.Tensor, m: fx.Int32,
        stream: fx.Stream = None,
    ):  # fmt: skip
        choice = only(plan) if plan else plan_row(N, dtype, task=BACKWARD)
        matrices = tuple(in_rows(N, dout, gate, up, dgate, dup))
        ways = _Ways(
            lambda chosen: glu_bwd_kernel(*matrices, m, chosen), lambda wide: glu_bwd_pieces_kernel(*matrices, m, wide),
            lambda elements: glu_bwd_line_kernel(*matrices, elements),
        )  # fmt: skip
        _launch(ways, m, choice, stream, matrices)

    return glu_bwd


@dataclass(frozen=True)
class _Ways:
    """Kernels of the same work: by rows, with a plan; by pieces of rows, wide or not; by pieces of lines."""

    rows: Callable[[RowPlan], Any]
    pieces: Callable[[bool], Any]
    line: Callable[[Any], Any]


@flyc.jit
def _launch(ways: _Ways, m: Any, choice: RowChoice, stream: Any, matrices: Any) -> None:
    """Launch the kernel of lines where rows begin anywhere in a piece of 16 bytes and lie one behind the other, and
    that of rows else."""
    length, size = choice.many.length, choice.many.size
    if fx.const_expr(length * size % wide_pieces.ALIGNMENT == 0):
        _launch_rows(ways, m, choice, stream, matrices)
    else:
        if flat_pieces.lie_flat(matrices, m, length):
            require_matrices(matrices, m, length)
            elements = fx.Int64(m) * length
            wide_pieces.launch(ways.line(elements), flat_pieces.flat_grid(matrices[0], elements), stream)
        else:
            _launch_rows(ways, m, choice, stream, matrices)


@flyc.jit
def _launch_rows(ways: _Ways, m: Any, choice: RowChoice, stream: Any, matrices: Any) -> None:
    """Launch the kernel that goes by rows, or the one that goes by pieces, which may be single elements: where rows of
    some matrices begin at different places in a piece of 16 bytes, and less than a wave would have one, or where rows
    of single elements, several of which come to shared memory as a run, do not lie together."""
    many, apart = choice.many, choice.apart
    if fx.const_expr(apart is not None and apart.lanes < fx.num_warp_threads()):
        if begin_alike(list(matrices), many):
            launch_rows(ways.rows, m, replace(choice, apart=None), stream, matrices)
        else:
            _launch_pieces(ways, m, many, stream, matrices)
    elif fx.const_expr(apart is None and many.staged and many.tile_rows > 1 and many.width * many.size < LEAST_ACCESS):
        if flat_pieces.are_lines(matrices, m, many.length):
            launch_rows(ways.rows, m, choice, stream, matrices)
        else:
            _launch_pieces(ways, m, many, stream, matrices)
    else:
        launch_rows(ways.rows, m, choice, stream, matrices)


def _launch_pieces(ways: _Ways, m: Any, plan: RowPlan, stream: Any, matrices: Any) -> None:
    require_matrices(matrices, m, plan.length)
    each = wide_pieces.piece_of(plan.length, plan.size)
    grid = wide_pieces.grid_of(m, plan.length // each, wide_pieces.turns_of(each))
    if each == 1:
        wide_pieces.launch(ways.pieces(False), grid, stream)
    else:
        wide_pieces.launch_wide(ways.pieces, matrices, grid, wide_pieces.THREADS, stream, each * plan.size)

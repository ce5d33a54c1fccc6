"""Ops for PyTorch: launched directly in eager mode, with autograd; operators of torch where it traces.

An operator's way through torch's dispatcher costs a call several times what a kernel's launch does, so eager calls do
not take it. `torch.compile` and its like must: to them each op is ``torch.ops.flydsl.<name>``, with a function that
makes its results without computing them, and a formula for its gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from flydsl.ops import arrays
from flydsl.ops.op import Arguments, Op

NAMESPACE = "flydsl"
arrays.met_torch()
_operators: dict[str, Any] = {}


def call(op: Op, arguments: Arguments, out: Any) -> Any:
    """The outputs of an op on tensors."""
    if torch.compiler.is_compiling():
        results = _operators[op.name](*arguments)
        if out is not None:
            raise RuntimeError(f"{op.name}(): out= is for eager mode; copy the result inside torch.compile")
        return results if op.results == 1 else results[0] if op.outputs == 1 else results[: op.outputs]
    if op.gradient is not None and torch.is_grad_enabled():
        for value in arguments[: op.tensors]:
            if value is not None and value.requires_grad:
                if out is not None:
                    raise RuntimeError(
                        f"{op.name}(): functions with out=... arguments don't support automatic differentiation, but "
                        "one of the arguments requires grad."
                    )
                return _Direct.apply(op, *arguments)
    results = op.run(*arguments, out=out)
    return results[0] if op.outputs == 1 else results[: op.outputs]


class _Direct(torch.autograd.Function):
    """An op with autograd, without torch's dispatcher."""

    @staticmethod
    def forward(ctx: Any, op: Op, *arguments: Any) -> Any:
        results = op.run(*arguments)
        tensors, numbers = op.saved(arguments, results)
        ctx.save_for_backward(*tensors)
        ctx.op, ctx.numbers, ctx.count = op, numbers, len(arguments)
        return results[0] if op.outputs == 1 else results[: op.outputs]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Any) -> Any:
        op = ctx.op
        found = op.gradient.run(*gradients, *ctx.saved_tensors, *ctx.numbers)
        wanted = ctx.needs_input_grad[1 : 1 + op.tensors]
        return (None, *op.gradients(found, wanted), *[None] * (ctx.count - op.tensors))


# Operators -----------------------------------------------------------------------------------------------------------


def register(ops: list[Op]) -> None:
    """Make ops operators of torch."""
    for op in ops:
        if op.name in _operators:
            continue
        operator = _operator(op)
        if op.gradient is not None:
            register([op.gradient])
            operator.register_autograd(_backward(op), setup_context=_setup(op))
        _operators[op.name] = operator


def _operator(op: Op) -> Any:
    results = op.results
    shown = "Tensor" if results == 1 else f"({', '.join(['Tensor'] * results)})"

    def implementation(*arguments: Any) -> Any:
        made = op.run(*arguments)
        return made[0] if results == 1 else made

    def fake(*arguments: Any) -> Any:
        made = op.allocate(*arguments)
        return made[0] if results == 1 else made

    operator = torch.library.custom_op(
        f"{NAMESPACE}::{op.name}", implementation, mutates_args=(), schema=f"({op.schema}) -> {shown}"
    )
    operator.register_fake(fake)
    return operator


def _setup(op: Op) -> Callable[..., None]:
    def setup(ctx: Any, inputs: Arguments, output: Any) -> None:
        results = (output,) if op.results == 1 else output
        tensors, ctx.numbers = op.saved(inputs, results)
        ctx.save_for_backward(*tensors)
        ctx.count = len(inputs)

    return setup


def _backward(op: Op) -> Callable[..., Any]:
    gradient = op.gradient
    assert gradient is not None

    def backward(ctx: Any, *gradients: Any) -> Any:
        given = gradients[: op.outputs]
        found = _operators[gradient.name](*given, *ctx.saved_tensors, *ctx.numbers)
        found = (found,) if gradient.results == 1 else found
        wanted = ctx.needs_input_grad[: op.tensors]
        return (*op.gradients(tuple(found), wanted), *[None] * (ctx.count - op.tensors))

    return backward

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

from flydsl.ops import arrays, replays
from flydsl.ops.op import Arguments, Op

NAMESPACE = "flydsl"
arrays.met_torch()
_operators: dict[str, Any] = {}


def call(op: Op, arguments: Arguments, out: Any, key: Any) -> Any:
    """The outputs of an op on tensors."""
    if torch.compiler.is_compiling():
        return _traced_call(op, arguments, out)
    if op.gradient is not None and _wants_gradient(arguments[: op.tensors]):
        if out is not None:
            raise RuntimeError(
                f"{op.name}(): functions with out=... arguments don't support automatic differentiation, but one of "
                "the arguments requires grad."
            )
        return _Direct.apply(Replay(op, arguments[op.tensors :], key), *arguments[: op.tensors])
    if key is not None:
        return op.given(Replay(op, arguments[op.tensors :], key).run(arguments[: op.tensors], kept=False))
    return op.given(op.run(*arguments, out=out, kept=False))


def _wants_gradient(tensors: Arguments) -> bool:
    if torch.is_grad_enabled():
        for tensor in tensors:
            if tensor is not None and tensor.requires_grad:
                return True
    return False


class Replay:
    """An op with its numbers, and, for tensors on a GPU, its launches and those of its gradient, once recorded."""

    __slots__ = ("_backward", "_bare", "_forward", "_key", "numbers", "op")

    def __init__(self, op: Op, numbers: Arguments, key: Any) -> None:
        self.op, self.numbers, self._key = op, numbers, key
        self._forward: Callable[..., Any] | None = None
        self._bare: Callable[..., Any] | None = None
        self._backward: Callable[..., Any] | None = None

    def __call__(self, *tensors: Any) -> Any:
        if self.op.gradient is not None and _wants_gradient(tensors):
            return _apply(self, *tensors) if not _transforms_active() else _Direct.apply(self, *tensors)
        return self.op.given(self.run(tensors, kept=False))

    def run(self, tensors: Arguments, *, kept: bool = True) -> Arguments:
        """All results of the op, or those alone that are not ``kept`` for its gradient."""
        again = self._forward if kept else self._bare
        if again is not None:
            results = again(*tensors)
            if results is not None:
                return results
        if self._key is None or again is not None:
            return self.op.run(*tensors, *self.numbers, kept=kept)
        results, again = replays.recorded(self.op, (*tensors, *self.numbers), kept=kept, twice=True)
        if again is not None:
            if kept:
                self._forward = again
            else:
                self._bare = again
            replays.keep(self._key, self)
        return results

    def gradients(self, tensors: Arguments, numbers: Arguments) -> Arguments:
        gradient = self.op.gradient
        assert gradient is not None
        if self._key is None or not all(t is None or t.is_contiguous() for t in tensors):
            return gradient.run(*tensors, *numbers)
        if self._backward is None:
            results, self._backward = replays.recorded(gradient, (*tensors, *numbers))
            return results
        results = self._backward(*tensors)
        return gradient.run(*tensors, *numbers) if results is None else results


class _Direct(torch.autograd.Function):
    """An op with autograd, without torch's dispatcher."""

    @staticmethod
    def forward(ctx: Any, replay: Replay, *tensors: Any) -> Any:
        op, results = replay.op, replay.run(tensors)
        saved, numbers = op.saved((*tensors, *replay.numbers), results)
        ctx.save_for_backward(*saved)
        ctx.replay, ctx.numbers = replay, numbers
        return op.given(results)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        replay = ctx.replay
        found = replay.gradients((*gradients, *ctx.saved_tensors), ctx.numbers)
        return (None, *replay.op.gradients(found, ctx.needs_input_grad[1:]))


_transforms_active = torch._C._are_functorch_transforms_active
_apply: Any = super(torch.autograd.Function, _Direct).apply  # pyright: ignore[reportAttributeAccessIssue]
"""`_Direct.apply` without what it does for functorch, a fifth of its time: for tensors that are in no transform."""


# Operators -----------------------------------------------------------------------------------------------------------


def _traced_call(op: Op, arguments: Arguments, out: Any) -> Any:
    if out is not None:
        raise RuntimeError(f"{op.name}(): out= is for eager mode; inside torch.compile copy the result")
    results = _operators[op.name](*arguments)
    return results if op.results == 1 else results[0] if op.outputs == 1 else results[: op.outputs]


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
    single = op.results == 1
    shown = "Tensor" if single else f"({', '.join(['Tensor'] * op.results)})"

    def implementation(*arguments: Any) -> Any:
        made = op.run(*arguments)
        return made[0] if single else made

    def fake(*arguments: Any) -> Any:
        made = op.allocate(*arguments)
        return made[0] if single else made

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
        found = (found,) if gradient.results == 1 else tuple(found)
        wanted = ctx.needs_input_grad[: op.tensors]
        return (*op.gradients(found, wanted), *[None] * (ctx.count - op.tensors))

    return backward

"""Ops for PyTorch: launched directly in eager mode, with autograd; operators of torch where it traces.

An operator's way through torch's dispatcher costs a call several times what a kernel's launch does, so eager calls do
not take it. `torch.compile` and its like must: to them each op is ``torch.ops.flydsl.<name>``, with a function that
makes its results without computing them, and a formula for its gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from flydsl.compiler.calls.native_call import calls_are_native
from flydsl.compiler.calls.native_replay import Replay, forward_function
from flydsl.kernels.blocks.counters import is_capturing
from flydsl.ops import arrays, recordings, replays
from flydsl.ops.function_entries import enter
from flydsl.ops.named_classes import named_class
from flydsl.ops.op import Arguments, Op, no_gradient_of_out
from flydsl.ops.tensor_memory import know_tensors, reference_place

NAMESPACE = "flydsl"
arrays.met_torch()
_operators: dict[str, Any] = {}


def call(op: Op, arguments: Arguments, out: Any, key: Any) -> Any:
    """The outputs of an op on tensors."""
    tensors, numbers = arguments[: op.tensors], arguments[op.tensors :]
    if arrays.is_traced() or any(map(_is_dispatched, tensors)):
        return _traced_call(op, arguments, out)
    if any(tensor is not None and arrays.is_lazy(tensor) for tensor in tensors):
        return call(op, (*(None if tensor is None else _in_memory(tensor) for tensor in tensors), *numbers), out, key)
    if _wants_gradient((*tensors, out)):
        if out is not None:
            raise no_gradient_of_out(op.name)
        if op.gradient is None:
            return _Underivable.apply(partial(_outputs, op, arguments), f"{op.name} has no gradient", *tensors)
        return _parted(op, tensors, _Direct.apply(_lane(op, tensors, numbers, key), *tensors))
    if key is not None and out is None:
        return _lane(op, tensors, numbers, key).run(tensors)
    return _outputs(op, arguments, out)


def _parted(op: Op, tensors: Arguments, results: Any) -> Any:
    """Return results without the gradients of those that are made of arrays which want none."""
    if not op.passed or not results[1].requires_grad or _wants_gradient(tensors[: op.passed]):
        return results
    return results[0], *(result.detach() for result in results[1:])


def _outputs(op: Op, arguments: Arguments, out: Any = None) -> Any:
    results = op.given(op.run(*arguments, out=out, kept=False))
    if out is not None and not out.is_inference():  # so that autograd knows that what it may have saved is gone
        torch.autograd.graph.increment_version(out)
    return results


def _is_dispatched(tensor: Any) -> bool:
    """Return whether a tensor's class has a say in what is done to it, as those of torch's tracing and of DTensor."""
    return type(tensor) is not torch.Tensor and getattr(type(tensor), "__torch_dispatch__", _PLAIN) is not _PLAIN


def _is_batched(tensor: Any) -> bool:
    """Return whether a tensor stands for several, as gradients do with ``is_grads_batched``: it has no memory of its
    own, and torch's dispatcher calls operators for each."""
    return not torch._C._has_storage(tensor)


def _in_memory(tensor: Any) -> Any:
    """Return a tensor as it is in memory: those of conjugates come with a sign of their own, some zeros with none."""
    if not arrays.is_lazy(tensor):
        return tensor
    return tensor.resolve_neg() if tensor.is_neg() else tensor.clone()


_PLAIN: Any = torch._C._disabled_torch_dispatch_impl


def _wants_gradient(tensors: Arguments) -> bool:
    if torch.is_grad_enabled():
        for tensor in tensors:
            if tensor is not None and tensor.requires_grad:
                return arrays.is_followed() or not torch.is_inference_mode_enabled()
    return False


def _nothing(*_: Any) -> None:
    return None


class Lane:
    """Calls of an op with like tensors and the same numbers: its launches and those of its gradient, once recorded."""

    __slots__ = (
        "_apply", "_facts", "_kept", "_own", "_there", "_tried", "backward", "numbers", "op", "saved_numbers",
    )  # fmt: skip

    def __init__(self, op: Op, numbers: Arguments, facts: bytes | None) -> None:
        self.op, self.numbers, self._facts = op, numbers, facts
        self._tried: dict[str, int] = {}
        """Ways that were gone: the second time is recorded, whether or not it can be repeated."""
        self._kept: dict[str, Any] = {}
        self._apply: Any = None
        """Autograd's way to the replay that gives (outputs, arrays to save)."""
        self.backward: dict[tuple[bool, ...], Callable[..., Any]] = {}
        """By what is chosen: of gradients and saved arrays, their gradients or None."""
        self.saved_numbers: Arguments = ()
        self._there: tuple[bool, ...] = ()
        """Which of the arrays that the gradient takes are there, if not all: those that are not are not saved either,
        since each takes a call some time."""
        self._own: tuple[int, Any] = (0, None)
        """Where among those that are there the one is that no one else has, and its shape."""

    def _records(self, what: str, tensors: Arguments) -> bool:
        """Return whether this time is the one to record, the second: code is compiled and bound then.

        What is captured may use memory in other ways (`counters.py`).
        """
        if self._facts is None or (tensors[0].is_cuda and is_capturing(tensors[0].device.index)):
            return False
        times = self._tried[what] = self._tried.get(what, 0) + 1
        if times == 1:
            self._keep()
        return times == 2

    def _keep(self, **replays: Any) -> None:
        """Have further calls find this lane and its recordings, None for those that cannot be repeated."""
        self._kept.update(replays)
        if replays.get("kept") is not None and _SAVED is not None:
            self._apply = _repeated(self, replays["kept"])
        assert self._facts is not None
        self.op.lanes.keep(self._facts, self._kept.get("without"), self._apply, self)

    def run(self, tensors: Arguments) -> Any:
        """Return the outputs, no gradient being wanted."""
        op, arguments = self.op, (*tensors, *self.numbers)
        if not self._records("without", tensors):
            return op.given(op.run(*arguments, kept=False))
        facts = replays.facts_of(tensors, ())
        results, replay = recordings.recorded(
            op, arguments, facts, kept=False, returned=op.outputs, alone=op.outputs == 1
        )
        self._keep(without=replay)
        return op.given(results)

    def run_kept(self, tensors: Arguments) -> tuple[Any, Arguments, Any]:
        """Return (outputs, arrays to save, a part of a stock or None).

        What a replay takes from a stock is a stock of its own here: calls of a lane save as many arrays, which those
        who make a call again, `torch.utils.checkpoint` for one, count.
        """
        op, arguments = self.op, (*tensors, *self.numbers)
        if not self._records("kept", tensors):
            results = op.run(*arguments)
        else:
            results, replay = recordings.recorded(
                op, arguments, replays.facts_of(tensors, ()), returned=op.outputs, alone=op.outputs == 1,
                saved=lambda a, r: tuple(value for value in op.saved(a, r)[0] if value is not None),
                own=op.kept,
            )  # fmt: skip
            self._keep(kept=replay)
        saved, self.saved_numbers = op.saved(arguments, results)
        there = tuple(value is not None for value in saved)
        self._there = () if all(there) else there
        saved = tuple(value for value in saved if value is not None)
        if op.kept is None or recordings.stock_of(own := results[op.kept])[0] == 1:
            return op.given(results), saved, None
        self._own = next(place for place, value in enumerate(saved) if value is own), own.shape
        return op.given(results), tuple(value for value in saved if value is not own), (own, 0)

    def arranged(self, saved: Arguments, part: Any) -> Arguments:
        """Return what was saved, and a ``part`` of a stock unless that is None, as the gradient takes it: with None for
        arrays that are not there."""
        if part is not None:
            saved = *saved[: self._own[0]], part, *saved[self._own[0] :]
        if not self._there:
            return saved
        following = iter(saved)
        return tuple(next(following) if there else None for there in self._there)

    def run_backward(self, tensors: Arguments, choice: tuple[bool, ...]) -> Arguments:
        """Return the gradients of the op's arrays, those that are chosen where the op says so."""
        tensors = tuple(self._from_stock(*tensor) if type(tensor) is tuple else tensor for tensor in tensors)
        gradient, numbers = self.op.gradient, (*self.saved_numbers, *_told(choice))
        arguments = (*tensors, *numbers)
        assert gradient is not None
        if any(map(_is_batched, tensors[: self.op.outputs])):
            return _by_operator(gradient, arguments)
        tensors = (*map(_in_memory, tensors[: self.op.outputs]), *tensors[self.op.outputs :])
        arguments = (*tensors, *numbers)
        way = f"gradient {choice}" if choice else "gradient"
        lie_well = (t.is_contiguous() or (self.op.strided and t.stride(-1) == 1) for t in tensors[: self.op.outputs])
        if not all(lie_well) or not self._records(way, tensors):
            return gradient.run(*arguments)
        results, replay = recordings.recorded(gradient, arguments, replays.facts_of(tensors, ()))
        self._keep(**{way: replay})
        self.backward[choice] = _nothing if replay is None else replay.call
        return results

    def _from_stock(self, stock: Any, begin: int) -> Any:
        """Return a part of a stock as a tensor."""
        shape, first = self._own[1], begin // stock.element_size()
        return stock.view(-1)[first : first + shape.numel()].view(shape)


def _lane(op: Op, tensors: Arguments, numbers: Arguments, key: Any) -> Lane:
    """Return the lane of a call; a new one where it is not recorded yet."""
    facts = None if key is None else replays.facts_of(tensors, key)
    if op.lanes.open(op.tensors, op.derived, op.passed):
        know_tensors(tensors[0].device.type)
        for entry in op.entries:
            enter(entry, op.lanes.again)
    known = None if facts is None else op.lanes.find(facts)
    return Lane(op, numbers, facts) if known is None else known


def _told(choice: tuple[bool, ...]) -> Arguments:
    """Return a choice as an argument of the gradient, where there is one."""
    return (list(choice),) if choice else ()


def _gradients(ctx: Any, *gradients: Any) -> Any:
    lane, first = ctx.lane, ctx.first
    tensors, wanted = (*gradients, *lane.arranged(ctx.saved_tensors, ctx.part)), ctx.needs_input_grad[first:]
    choice = lane.op.choice(wanted)
    found = lane.backward.get(choice, _nothing)(*tensors) or lane.run_backward(tensors, choice)
    return *[None] * first, *lane.op.gradients(found, wanted)


class _Underivable(torch.autograd.Function):
    """What was computed of some tensors and has no gradient: it keeps its place in the graph, so that asking for one is
    an error and not a gradient of nothing."""

    @staticmethod
    def forward(ctx: Any, compute: Callable[[], Any], why: str, *tensors: Any) -> Any:
        ctx.why, results = why, compute()
        given = results if isinstance(results, tuple) else (results,)
        ctx.mark_non_differentiable(*(t for t in given if t is not None and not t.is_floating_point()))
        return results

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise RuntimeError(f"flydsl.ops: {ctx.why}: detach its arguments, or call torch's own functions")


class _Direct(torch.autograd.Function):
    """An op with autograd, without torch's dispatcher."""

    @staticmethod
    def forward(ctx: Any, lane: Lane, *tensors: Any) -> Any:
        ctx.lane, ctx.first = lane, 1
        given, saved, ctx.part = lane.run_kept(tensors)
        ctx.save_for_backward(*saved)
        return given

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        if torch.is_grad_enabled():  # gradients of gradients may be asked for, which there are none of
            why, tensors = f"the gradient of {ctx.lane.op.name} has no gradient", (*gradients, *ctx.saved_tensors)
            return _Underivable.apply(partial(_gradients, ctx, *gradients), why, *tensors)
        return _gradients(ctx, *gradients)


_SAVED = "to_save" if calls_are_native() and hasattr(torch._C._FunctionBase, "to_save") else None
"""Where `save_for_backward` puts tensors."""


_ASKED = ("_backward_cls", "forward", "setup_context", "clear_saved_tensors_on_access", "boxed_grads_call")
"""What `apply` asks a class for, some of it in later versions of torch."""


def _part(ctx: Any) -> tuple[Any, int]:
    """Return the part of a stock that a call has: the tensor, and the bytes in front."""
    return ctx.stock, ctx.begin * recordings.PART_ALIGNMENT


def _repeated(lane: Lane, replay: Replay) -> Any:
    """Return `_Direct.apply` for the calls of one lane, as a function of the tensors that may have gradients.
    There is none where contexts do not have what they refer to in themselves.

    It is that of a class which knows the lane: to be given it at every call, and to tell the context, took 0.6 of 10 us
    (a CPU, 2026-11-16). What `apply` does for functorch takes a fifth and is left out: no tensor is in a transform. To
    be asked for attributes in Python's own way took another 0.6.
    """
    assert _SAVED is not None
    function: Any = type(lane.op.name, (_Direct,), {})
    slots = () if replay.stocked is None else ("stock", "begin")
    part: dict[str, Any] = {"__slots__": slots, "part": property(_part)} if slots else {"part": None}
    context = type(f"{lane.op.name}Backward", (function._backward_cls,), {"lane": lane, "first": 0, **part})
    found = [reference_place(context(), name) for name in (_SAVED, *slots)]
    places = [place for place in found if place is not None]
    if len(places) < len(found):
        return None
    forward, plain = staticmethod(forward_function(replay, *places)), torch._C._FunctionBase
    bases = [base for base in reversed(function.__mro__) if base not in plain.__mro__]
    names = {name: value for base in bases for name, value in vars(base).items() if not name.startswith("__")}
    del names["apply"]
    names |= {"forward": forward, "_backward_cls": context, "kept": replay}
    return named_class(lane.op.name, plain, names, [name for name in _ASKED if name in names]).apply


# Operators -----------------------------------------------------------------------------------------------------------


def _traced_call(op: Op, arguments: Arguments, out: Any) -> Any:
    if out is not None:
        raise RuntimeError(f"{op.name}(): out= is for eager mode; inside torch.compile copy the result")
    return _parted(op, arguments, op.given(_by_operator(op, arguments)))


def _by_operator(op: Op, arguments: Arguments) -> Arguments:
    """Return all results of an op, computed by torch's dispatcher."""
    if op.name not in _operators and not torch.compiler.is_compiling():  # torch came after `flydsl.ops`
        register([op])
    results = _operators[op.name](*arguments)
    return (results,) if op.results == 1 else results


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
        if op.check is not None:
            op.check(*arguments)
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
        wanted = ctx.needs_input_grad[: op.tensors]
        found = _operators[gradient.name](*given, *ctx.saved_tensors, *ctx.numbers, *_told(op.choice(wanted)))
        found = (found,) if gradient.results == 1 else tuple(found)
        return (*op.gradients(found, wanted), *[None] * (ctx.count - op.tensors))

    return backward

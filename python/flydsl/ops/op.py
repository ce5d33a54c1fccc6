"""What an op is: functions that allocate its results and launch its kernels, and the op of its gradients.

The same description serves arrays of NumPy, tensors in eager mode, where kernels are launched directly, and PyTorch's
tracing, where it becomes an operator (`torch_side.py`). `table.py` lists all ops.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import Any, TypeVar

from flydsl.compiler.calls.native_replay import Lanes
from flydsl.kernels.blocks.inputs import on_host
from flydsl.ops import arrays

Arguments = tuple[Any, ...]
Function = TypeVar("Function", bound=Callable[..., Any])
_warned: set[tuple[str, str]] = set()
_warning = threading.Lock()


class Answer(BaseException):
    """What a call would do, raised where it would: `explain` makes the call for it. It is no error, so that nothing on
    its way takes it for one."""


class _Explained(threading.local):
    now = False
    """Whether this thread makes a call for `explain`."""


explained = _Explained()

MOST_ROWS = (1 << 31) - 1
"""Of a launch: kernels count them in 32 bits."""
_TORCH_DEVICES = ("cuda", "cpu")
"""torch's names of the devices that have kernels."""


@dataclass(frozen=True)
class Constant:
    """An argument of `Lanes.again` that is none of the function's."""

    value: Any


@dataclass(frozen=True)
class Ordered:
    """Whether results are to have the same bits each time: a parameter, and torch's setting where that is None."""

    name: str | None = None


Given = str | Constant | Ordered
"""A parameter by its name, or one of the others."""


@dataclass(frozen=True)
class Entry:
    """A function, what it gives to `Lanes.again`, and which of its parameters must be None for it."""

    function: Callable[..., Any]
    given: tuple[Given, ...]
    absent: tuple[str, ...]
    stands: tuple[str, str] | None = None
    """A parameter in whose place a tensor stands for another one, which is None."""


@dataclass(frozen=True, eq=False)
class Op:
    """An operation on arrays, without autograd: its first ``outputs`` results are the caller's."""

    name: str
    schema: str
    """Its parameters, as torch's schemas have them; arrays come first."""
    allocate: Callable[..., Arguments]
    """The results, not yet written, from the arguments; torch's tracing uses it too."""
    launch: Callable[[Arguments, Arguments], None]
    """Write the results: ``launch(arguments, results)``."""
    outputs: int = 1
    results: int = 1
    """How many there are with those that are kept for the gradient."""
    gradient: Op | None = None
    """Takes gradients of the outputs, then what ``saved`` gives; returns gradients of the arrays, in their order."""
    saved: Callable[[Arguments, Arguments], tuple[Arguments, Arguments]] = lambda _, __: ((), ())
    """(arrays, numbers) that the gradient needs, of (arguments, results)."""
    tensors: int = 1
    """How many of the arguments are arrays."""
    bare: Callable[..., Arguments] | None = None
    """As ``allocate``, the outputs alone: ``launch`` writes no other results then. For calls that want no gradient."""
    spread: tuple[int, ...] | None = None
    """Which result of the gradient is that of each array; in order where nothing is said. The rest have none."""
    in_place: bool = False
    """Whether the first result may lie where an array lies: what is written was read before, by the same threads."""
    chosen: bool = False
    """Whether the gradient takes as its last number which arrays want one, and computes those alone."""
    strided: bool = False
    """Whether the gradient reads those of the outputs as they lie, where elements of the last dimension do together."""
    check: Callable[..., None] | None = None
    """Refuses numbers among the arguments that name what is not there, where they lie on the host. Functions do so
    before they call an op; operators, which torch's tracing calls without them, do by this."""
    passed: int = 0
    """How many arrays, the first ones, all outputs but the first are made of; 0 where they are made of all."""
    lanes: Lanes = field(default_factory=Lanes)
    """Calls that were recorded."""
    entries: list[Entry] = field(default_factory=list)
    """Functions that native code answers by these."""

    @property
    def derived(self) -> int:
        """How many arrays may have a gradient, the first ones."""
        return self.tensors if self.spread is None else len(self.spread)

    @property
    def kept(self) -> int | None:
        """Which result is for the gradient alone, if there is one such; it is saved."""
        return self.outputs if self.results == self.outputs + 1 else None

    def choice(self, wanted: tuple[bool, ...]) -> tuple[bool, ...]:
        """Return what the gradient is told of which arrays want one; nothing where it computes all."""
        return wanted[: self.derived] if self.chosen else ()

    def gradients(self, found: Arguments, wanted: Sequence[bool]) -> list[Any]:
        """Return a gradient for each array that wants one."""
        places = range(len(wanted)) if self.spread is None else self.spread
        given = [found[place] if want else None for place, want in zip(places, wanted, strict=False)]
        return given + [None] * (len(wanted) - len(given))

    def run(self, *arguments: Any, out: Any = None, kept: bool = True) -> Arguments:
        """Return all results, also those ``kept`` for the gradient. ``out`` is written instead of a new first
        result."""
        results = (self.allocate if kept or self.bare is None else self.bare)(*arguments)
        if out is not None:
            return self._run_into(out, arguments, results)
        self.launch(arguments, results)
        return results

    def _run_into(self, out: Any, arguments: Arguments, results: Arguments) -> Arguments:
        first, *rest = results
        check_out(self.name, out, first)
        direct = arrays.shares_memory(arrays.rows(out), out) and not self._in_the_way(out, arguments)
        direct = direct and not arrays.is_lazy(out)
        self.launch(arguments, (out, *rest) if direct else results)
        if not direct:
            arrays.copy_into(out, first)
        return (out, *rest)

    def _in_the_way(self, out: Any, arguments: Arguments) -> bool:
        """Return whether writing ``out`` might change arrays that are yet to be read."""
        given = [value for value in arguments[: self.tensors] if value is not None and arrays.overlap(out, value)]
        return not all(self.in_place and arrays.same_view(out, value) for value in given)

    def answers(
        self, *given: Given, absent: Sequence[str] = (), stands: tuple[str, str] | None = None
    ) -> Callable[[Function], Function]:
        """Have native code answer the calls of a function that can be repeated: with what it gives to `Lanes.again`,
        where the ``absent`` parameters are None (`Entry`)."""

        def kept(function: Function) -> Function:
            self.entries.append(Entry(function, given, tuple(absent), stands))
            return function

        return kept

    def __call__(self, *arguments: Any, out: Any = None, key: Any = None) -> Any:
        """Return the outputs: one, or a tuple of them. Tensors that require gradients get them.

        With a ``key``, the numbers that the op's user gave, the call is recorded for those like it (`replays.py`).
        """
        if out is not None:
            one_place(arguments[0], out)
        if arrays.is_array(arguments[0]):
            return self.given(self.run(*arguments, out=out, kept=False))
        return (_side.call or _side.found())(self, arguments, out, key)

    def given(self, results: Arguments) -> Any:
        """Return what of the results is the caller's."""
        return results[0] if self.outputs == 1 else results[: self.outputs]


class _TorchSide:
    """What knows torch: `torch_side.py`, which is written over ops. It is loaded when the first tensor comes."""

    module: Any = None
    call: Any = None

    def found(self) -> Any:
        """Return its ``call``, from now on."""
        self.call = self.module.call
        return self.call


_side = _TorchSide()


def use_torch_side(module: Any, *, now: bool = False) -> None:
    """Tell ops which module knows torch; ``now`` it is loaded, since torch's tracing follows no import."""
    _side.module = module
    if now:
        _side.found()


def written(name: str, out: Any, result: Any) -> Any:
    """Return a result, put into ``out`` if there is one."""
    check_written(name, out, result, result)
    return put(out, result)


def check_written(name: str, out: Any, like: Any, *given: Any, shape: tuple[int, ...] | None = None) -> None:
    """Refuse an ``out``, if there is one, that is not ``like`` the result, but for its ``shape`` if that is another, or
    that would need a gradient since something ``given`` wants one."""
    if out is None:
        return
    check_out(name, out, like, shape)
    if arrays.wants_gradient(out, *given):
        raise no_gradient_of_out(name)


def put(out: Any, result: Any) -> Any:
    """Return a result, copied into ``out`` if there is one."""
    if out is None:
        return result
    arrays.copy_into(out, result)
    return out


def no_gradient_of_out(name: str) -> RuntimeError:
    """Return what is raised where a result that wants a gradient is to go into ``out``, in torch's words."""
    return RuntimeError(
        f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
        "requires grad."
    )


def check_out(name: str, out: Any, result: Any, shape: tuple[int, ...] | None = None) -> None:
    """Refuse an ``out`` that is not like an op's result, or has several elements in one place."""
    one_place(result, out)
    wanted = tuple(result.shape) if shape is None else shape
    if tuple(out.shape) != wanted or out.dtype != result.dtype:
        raise ValueError(f"out of {name} must be {wanted} of {result.dtype}, got {tuple(out.shape)} of {out.dtype}")
    if arrays.meets_itself(out):
        raise RuntimeError(
            f"out of {name} has several elements in one place (shape {tuple(out.shape)}, strides {arrays.steps(out)}): "
            "give memory of its own, such as out.clone()"
        )


def fall_back(name: str, reason: str, function: Callable[[], Any], out: Any = None) -> Any:
    """Return what torch itself gives, also in ``out``, with one warning for each reason; an error of torch's tells the
    reason too."""
    _tell("is left to torch", reason)
    if not arrays.is_traced() and _is_new(name, reason):
        warnings.warn(f"flydsl.ops.{name} leaves this to torch: {reason}", RuntimeWarning, stacklevel=4)
    try:
        result = function()
    except Exception as error:
        error.add_note(f"flydsl.ops.{name} left this to torch: {reason}")
        raise
    return written(name, out, result)


def _is_new(name: str, reason: str) -> bool:
    """Return whether no thread has warned of a reason yet."""
    with _warning:
        known = (name, reason) in _warned
        _warned.add((name, reason))
    return not known


def _tell(what: str, reason: str) -> None:
    """Answer `explain`, where that makes this call."""
    if not arrays.is_followed() and explained.now:
        raise Answer(f"{what}: {reason}")


def one_place(first: Any, *others: Any) -> None:
    """Refuse what is no array, and arrays that are not of one library and on one device; other than as the first, None
    stands for nothing."""
    for value in (first, *(other for other in others if other is not None)):
        if not (arrays.is_array(value) or arrays.is_tensor(value)):
            raise TypeError(f"expected a tensor of torch or an array of NumPy, got {type(value).__name__}")
        if (advice := arrays.how_to_be_dense(value)) is not None:
            raise TypeError(f"expected a dense {'array' if arrays.is_array(value) else 'tensor'}, {advice}")
        if arrays.is_array(first) != arrays.is_array(value):
            raise TypeError(f"arrays of NumPy and tensors of torch do not mix: {type(first)}, {type(value)}")
        if not arrays.is_array(first) and first.device != value.device:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found at least two devices, {first.device} and "
                f"{value.device}!"
            )


def all_there(**arrays_: Any) -> None:
    """Refuse arrays that are None, and must not be."""
    for name, value in arrays_.items():
        if value is None:
            raise TypeError(f"expected a tensor of torch or an array of NumPy as {name}, got None")


def same_kind(*values: Any) -> str | None:
    """Return why arrays have no kernels, or None: all are of one library, one type and one device that has some."""
    one_place(*values)
    if arrays.is_transformed():
        return "forward-mode differentiation and the transforms of torch.func are torch's own"
    first, *others = (value for value in values if value is not None)
    if not arrays.is_array(first) and first.device.type not in _TORCH_DEVICES:
        return f"tensors on {first.device.type} have no kernels"
    for other in others:
        if first.dtype != other.dtype:
            return f"types differ: {first.dtype} and {other.dtype}"
    return None


def host_numbers(x: Any) -> Any:
    """Return `on_host` of an array; None also where torch traces, and a tensor has no numbers."""
    return None if arrays.is_traced() or arrays.is_transformed() else on_host(x)


def why_not_rows(*values: Any) -> str | None:
    """Return why row kernels do not take some arrays, or None."""
    first = values[0]
    one_place(first)
    if arrays.type_name(first) is None:
        return f"elements of {first.dtype} have no kernel; f32, f16 and bf16 have"
    if not arrays.is_traced() and (count := arrays.count_rows(first)) > MOST_ROWS:
        return f"a launch takes at most {MOST_ROWS} rows, and there are {count}: pass parts of them"
    return same_kind(*values)


def numpy_only(name: str, reason: str | None) -> None:
    """There is no torch to leave arrays of NumPy to."""
    if reason is not None:
        _tell("is refused", reason)
        raise TypeError(f"flydsl.ops.{name}: {reason}")


def last_dimension(dim: int, rank: int) -> bool:
    """Return whether ``dim`` is the last; one that does not exist, or is no integer, is an error, as torch's."""
    dim = index(dim)
    if not -max(rank, 1) <= dim < max(rank, 1):
        low, high = -max(rank, 1), max(rank, 1) - 1
        raise IndexError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})")
    return rank == 0 or dim % rank == rank - 1


def shape_of(normalized_shape: Any) -> tuple[int, ...]:
    """Return the extents of a shape; floats are none, though they may equal some."""
    shape = (index(normalized_shape),) if hasattr(normalized_shape, "__index__") else tuple(normalized_shape)
    if any(isinstance(extent, float) for extent in shape):
        raise TypeError(f"normalized_shape has integers, got {normalized_shape}")
    return tuple(index(extent) if arrays.is_tensor(extent) else extent for extent in shape)


def check_normalized(x: Any, shape: Sequence[int], weight: Any = None, bias: Any = None) -> None:
    """Refuse what torch refuses, in its words."""
    one_place(x, weight, bias)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    if tuple(x.shape[-len(shape) :]) != tuple(shape):
        star = ", ".join(["*", *map(str, shape)])
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [{star}], but got input of size"
            f"{list(x.shape)}"
        )
    for name, value in (("weight", weight), ("bias", bias)):
        if value is not None and tuple(value.shape) != tuple(shape):
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(value.shape)} and normalized_shape = {list(shape)}"
            )

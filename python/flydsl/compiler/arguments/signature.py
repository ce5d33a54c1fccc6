"""Parameters of kernels and jit functions: names, defaults, and which are compile-time."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import takewhile
from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.compiler.arguments.kinds import without_none
from flydsl.compiler.messages.diagnostics import definition_of
from flydsl.expr.trace.constexpr import is_constexpr
from flydsl.expr.trace.context import is_tracing


class Signature:
    """Binds call arguments to parameters, defaults applied, in declaration order."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self.func = func
        self._inspected = inspect.signature(func)
        for parameter in self._inspected.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
                raise DslTypeError(
                    f"'{func.__name__}' takes {stars}{parameter.name}, which has no fixed signature",
                    hint="name every parameter",
                    location=definition_of(func),
                )
        self.names = list(self._inspected.parameters)
        stated = [without_none(annotation) for annotation in _annotations(func, self.names)]
        self.annotations = [annotation for annotation, _ in stated]
        self.optional = [optional for _, optional in stated]
        """Which of the annotations said ``| None``."""
        self.instance = 0 if self.names[:1] == ["self"] and self.annotations[0] is None else None
        """The place of ``self``, which is known while tracing like a Constexpr."""
        self.instance_key: Callable[[Any], Any] = type
        """What gives the key of ``self`` in memory; a jit function puts in what knows which attributes it reads."""
        self.constexpr = [is_constexpr(a) or i == self.instance for i, a in enumerate(self.annotations)]
        parameters = self._inspected.parameters.values()
        self._places = {p.name: place for place, p in enumerate(parameters) if p.kind is not p.POSITIONAL_ONLY}
        self._defaults = tuple(p.default for p in parameters)
        self._positional = sum(p.kind is not p.KEYWORD_ONLY for p in parameters)

    @property
    def takes_all_by_position(self) -> bool:
        """Whether no parameter is keyword-only."""
        return self._positional == len(self.names)

    def defaults(self, without: Collection[str] = ()) -> tuple[Any, ...]:
        """Default values of the last parameters, in order, back to one without a default; some may be left out."""
        rows = [row for row in zip(self.names, self._defaults, strict=True) if row[0] not in without]
        last = takewhile(lambda row: row[1] is not inspect.Parameter.empty, reversed(rows))
        return tuple(value for _, value in last)[::-1]

    def tails(self) -> dict[int, tuple[Any, ...]]:
        """What completes a call by position that leaves out so many arguments."""
        defaults = self.defaults() if self.takes_all_by_position else ()
        return {count: defaults[len(defaults) - count :] for count in range(1, len(defaults) + 1)}

    def split(self, values: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Values in declaration order as the positional and the keyword arguments of a call."""
        by_name = zip(self.names[self._positional :], values[self._positional :], strict=True)
        return list(values[: self._positional]), dict(by_name)

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """Values in declaration order."""
        if not kwargs and len(args) == len(self.names) == self._positional:
            return list(args)
        return self._bind_plainly(args, kwargs) or self._bind_fully(args, kwargs)

    def _bind_plainly(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any] | None:
        """What Python's own way does at ten times the cost; None where something needs an explanation."""
        values = [*args, *self._defaults[len(args) :]]
        if len(args) > self._positional:
            return None
        for name, value in kwargs.items():
            place = self._places.get(name, -1)
            if place < len(args):
                return None
            values[place] = value
        return None if any(value is inspect.Parameter.empty for value in values) else values

    def _shown(self) -> list[str]:
        """The parameters as they are declared: those behind a star are passed by name."""
        star = [] if self.takes_all_by_position else ["*"]
        return [*self.names[: self._positional], *star, *self.names[self._positional :]]

    def _bind_fully(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        try:
            bound = self._inspected.bind(*args, **kwargs)
        except TypeError as error:
            raise DslTypeError(
                f"call of '{self.func.__name__}': {error}",
                hint=f"its parameters are {', '.join(self._shown())}",
                location=None if is_tracing() else definition_of(self.func),  # of a kernel, the line of the call
            ) from None
        bound.apply_defaults()
        return [bound.arguments[name] for name in self.names]


def keyword_only(func: Callable[..., Any]) -> list[str]:
    """Names of the parameters that are passed by name alone, which are the last."""
    return [p.name for p in inspect.signature(func).parameters.values() if p.kind is p.KEYWORD_ONLY]


def _annotations(func: Callable[..., Any], names: list[str]) -> list[Any]:
    """Annotations as objects; text ones are evaluated where the function was written."""
    raw = dict(getattr(func, "__annotations__", {}))
    resolved = []
    for name in names:
        annotation = raw.get(name)
        while isinstance(annotation, str):  # a quoted one is text twice below `from __future__ import annotations`
            annotation = _evaluate(func, name, annotation)
        resolved.append(annotation)
    return resolved


def _evaluate(func: Callable[..., Any], name: str, text: str) -> Any:
    scope = dict(getattr(func, "__globals__", {}))
    closure = inspect.getclosurevars(func).nonlocals if func.__closure__ else {}
    try:
        return eval(text, scope, dict(closure))
    except Exception as error:
        frame_locals = _caller_locals(text)
        if frame_locals is not None:
            return eval(text, scope, frame_locals)
        warnings.warn(
            f"annotation {text!r} of parameter '{name}' cannot be resolved ({error}); it is ignored", stacklevel=4
        )
        return None


def _caller_locals(text: str) -> dict[str, Any] | None:
    """The scope of an enclosing function, for kernels defined inside functions."""
    head = text.split(".")[0].split("[")[0]
    frame = sys._getframe(1)
    while frame is not None:
        if head in frame.f_locals and frame.f_code.co_filename != __file__:  # our own names are nobody's annotation
            return frame.f_locals
        frame = frame.f_back
    return None

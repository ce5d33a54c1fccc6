"""One call of a tuned function: its arguments by name, its tensors, its device, and running it in a configuration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from flydsl.autotune.config import Config
from flydsl.base.errors import DslTypeError, FlyDSLError
from flydsl.compiler.arguments.kinds import stream_handle
from flydsl.compiler.arguments.tensor_adaptor import TensorAdaptor
from flydsl.compiler.backends.base import device_of
from flydsl.compiler.calls.call import refuse_during_capture
from flydsl.compiler.jit_function import JitFunction
from flydsl.compiler.messages.diagnostics import about_argument
from flydsl.compiler.options.hints import hint_scope
from flydsl.expr.memory.struct import is_struct_type
from flydsl.expr.trace.host_argument import Stream
from flydsl.runtime import array_view
from flydsl.runtime.array_view import ArrayView


class Parameters:
    """The parameters of a tuned function, ready to take arguments quickly."""

    def __init__(self, function: JitFunction) -> None:
        self.function = function
        self.names = list(function.signature.names)
        self._signature = inspect.signature(function.func)
        parameters = self._signature.parameters.values()
        self._defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        self.positional = all(p.kind is not p.KEYWORD_ONLY for p in parameters)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Arguments by name as they were given; parameters that a configuration sets may be missing."""
        if not kwargs and self.positional and len(args) <= len(self.names):
            return dict(zip(self.names, args))
        try:
            return self._signature.bind_partial(*args, **kwargs).arguments
        except TypeError as error:
            raise DslTypeError(
                f"call of '{self.function.__name__}': {error}", hint=f"its parameters are {', '.join(self.names)}"
            ) from None

    def with_defaults(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return {**self._defaults, **given}


class Call:
    """The arguments of one call, without those that a configuration injects."""

    def __init__(self, parameters: Parameters, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function = parameters.function
        self.given = parameters.bind(args, kwargs)
        self.by_name = parameters.with_defaults(self.given)
        self._parameters = parameters

    @cached_property
    def views(self) -> dict[str, ArrayView]:
        """The tensors among the arguments; a call that knows its winner does not ask."""
        found: dict[str, ArrayView] = {}
        for name, value in self.by_name.items():
            try:
                found.update(_views(name, value))
            except FlyDSLError as error:
                raise about_argument(error, self.function.func, name) from None
        return found

    @property
    def has_data(self) -> bool:
        """Whether every tensor is more than a description."""
        return all(view.has_data for view in self.views.values())

    @property
    def device(self) -> Any:
        """Where the call runs."""
        return device_of(view.device for view in self.views.values())

    @property
    def stream(self) -> int:
        """The handle of the stream it runs on: that of its stream argument, else the default one."""
        for name, annotation in zip(self.function.signature.names, self.function.signature.annotations, strict=True):
            value = self.by_name.get(name)
            if getattr(annotation, "__name__", "") == "Stream" or type(value).__name__ == "Stream":
                return stream_handle(value)
        return 0

    def injected(self, config: Config) -> dict[str, Any]:
        """Return the keyword arguments a configuration adds to the call."""
        values = config.all_kwargs()
        if config.num_warps is not None and "num_warps" not in self.function.signature.names:
            del values["num_warps"]
        for name in values:
            if name in self.given:
                raise DslTypeError(
                    f"call of '{self.function.__name__}': '{name}' is set by the configurations it is tuned over",
                    hint=f"leave '{name}' out of the call, and pass what follows it by keyword",
                )
        return values

    def check_complete(self, config: Config) -> None:
        """Refuse a call that leaves a parameter without a value: no configuration could run it."""
        values = self.by_name.keys() | self.injected(config).keys()
        missing = [name for name in self._parameters.names if name not in values]
        if missing:
            raise DslTypeError(
                f"call of '{self.function.__name__}': missing {', '.join(map(repr, missing))}, "
                f"which {config!r} does not set either",
                hint=f"its parameters are {', '.join(self._parameters.names)}",
            )

    def run(self, config: Config) -> None:
        """Run the function in a configuration, once."""
        args, kwargs = self.arguments(config)
        options = config.compiler_opts()
        if not options:
            self.function(*args, **kwargs)
            return
        with hint_scope(options):
            self.function(*args, **kwargs)

    def compile(self, config: Config) -> None:
        """Compile for a configuration, without running."""
        args, kwargs = self.arguments(config)
        with hint_scope(config.compiler_opts()):
            self.function.warmup(*args, **kwargs)

    def refuse_during_capture(self, config: Config) -> None:
        """Raise if a graph is being captured, which a search would break."""
        args, kwargs = self.arguments(config)
        refuse_during_capture(self.function.adapted_call(tuple(args), kwargs), self.function.__name__)

    def arguments(self, config: Config) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments of the jit function: by position, its quickest way, where nothing is missing."""
        values = {**self.by_name, **self.injected(config)}
        names = self._parameters.names
        if len(values) != len(names):
            return [], values
        in_order = [values[name] for name in names]
        return (in_order, {}) if self._parameters.positional else self.function.signature.split(in_order)

    def all_arguments(self, config: Config) -> dict[str, Any]:
        """Arguments by name, the configuration's among them: what hooks see."""
        return self.by_name | self.injected(config)


def _views(name: str, value: Any) -> Iterator[tuple[str, ArrayView]]:
    """Yield the tensors in an argument; those of a struct are named by their field."""
    if value is None or isinstance(value, (bool, int, float, str, type, Stream)):
        return
    if isinstance(value, TensorAdaptor):
        yield name, value.argument().view
    elif is_struct_type(type(value)):
        for field in type(value)._fields:
            yield from _views(f"{name}.{field.name}", getattr(value, field.name))
    else:
        view = array_view.of(value)
        if view is not None:
            yield name, view


def call_with(function: Callable[..., Any], *values: Any) -> Any:
    """Call a user's function with as many of the values as it takes."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a builtin that does not say
        return function(*values)
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return function(*values)
    count = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    return function(*values[:count])


def unknown_parameters(function: JitFunction, config: Config) -> Mapping[str, Any]:
    """Values of a configuration that the function has no parameter for."""
    return {name: value for name, value in config.kwargs.items() if name not in function.signature.names}

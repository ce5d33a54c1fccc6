"""One configuration of a tuned function: the values it injects and the compiler options it sets."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.base.lazy import lazy_module
from flydsl.compiler.messages.diagnostics import located
from flydsl.compiler.options.hints import checked

if TYPE_CHECKING:
    from flydsl import expr
else:
    expr = lazy_module("flydsl.expr")


_TYPE, _TUPLE = "$type", "$tuple"
_OPTIONS = ("num_warps", "waves_per_eu", "maxnreg")


class Config:
    """Values for the compile-time parameters of a jit function, and options of the compiler.

    ``num_warps`` is passed to the function if it has a parameter of that name; ``waves_per_eu`` and ``maxnreg`` are
    compile hints. ``pre_hook(args_by_name)`` runs before every run of this configuration. Values are numbers, texts,
    None, number types such as ``fx.Float16``, and tuples, lists and dictionaries of those: what a file can hold.
    """

    __slots__ = ("_text", "kwargs", "maxnreg", "num_warps", "pre_hook", "waves_per_eu")

    @located
    def __init__(self, *, num_warps: int | None = None, waves_per_eu: int | None = None, maxnreg: int | None = None,
                 pre_hook: Callable[[dict[str, Any]], Any] | None = None, **kwargs: Any) -> None:  # fmt: skip
        if num_warps is not None and (type(num_warps) is not int or num_warps < 1):
            kind = DslValueError if type(num_warps) is int else DslTypeError
            raise kind(f"num_warps of a Config is a whole number, 1 or more, got {num_warps!r}")
        self.num_warps = num_warps
        self.waves_per_eu = waves_per_eu
        self.maxnreg = maxnreg
        checked(self.compiler_opts())
        if pre_hook is not None and not callable(pre_hook):
            raise DslTypeError(f"pre_hook of a Config is a function of the arguments, got {type(pre_hook).__name__}")
        self.pre_hook = pre_hook
        self.kwargs = dict(kwargs)
        self._text = json.dumps(self.to_dict(), sort_keys=True)

    @property
    def text(self) -> str:
        """The configuration in one line, the same in every process: its name in files and messages."""
        return self._text

    def all_kwargs(self) -> dict[str, Any]:
        """Return the keyword arguments it injects, ``num_warps`` among them where it is set."""
        return self.kwargs | ({"num_warps": self.num_warps} if self.num_warps is not None else {})

    def compiler_opts(self) -> dict[str, int]:
        """Return the compile hints it sets."""
        options = {"waves_per_eu": self.waves_per_eu, "maxnreg": self.maxnreg}
        return {name: value for name, value in options.items() if value is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as JSON can hold it; hooks are left out."""
        values = {name: _written(value, name) for name, value in self.kwargs.items()}
        return values | {name: getattr(self, name) for name in _OPTIONS if getattr(self, name) is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Config:
        """Return the configuration that :meth:`to_dict` wrote."""
        if not isinstance(values, Mapping) or not all(isinstance(name, str) for name in values):
            raise DslTypeError(f"a configuration is written as names and values, got {values!r}")
        if "pre_hook" in values:
            raise DslValueError("a configuration in a file has no pre_hook")
        return cls(**{name: _read(value) for name, value in values.items()})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._text == other._text and self.pre_hook is other.pre_hook

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        values = [f"{name}={value!r}" for name, value in self.kwargs.items()]
        values += [f"{name}={getattr(self, name)}" for name in _OPTIONS if getattr(self, name) is not None]
        return f"Config({', '.join(values)})"


def _written(value: Any, name: str) -> Any:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, tuple):
        return {_TUPLE: [_written(item, name) for item in value]}
    if isinstance(value, list):
        return [_written(item, name) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {key: _written(item, name) for key, item in value.items()}
    if isinstance(value, type) and getattr(expr, value.__name__, None) is value:
        return {_TYPE: value.__name__}
    raise DslTypeError(
        f"the value {value!r} of '{name}' in a Config is a {type(value).__name__}, which a file of timings cannot hold",
        hint="use numbers, texts, None, number types such as fx.Float16, and tuples, lists or dictionaries of those",
    )


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {_TUPLE} and isinstance(value[_TUPLE], list):
        return tuple(_read(item) for item in value[_TUPLE])
    if set(value) == {_TYPE}:
        found = getattr(expr, str(value[_TYPE]), None)
        if not isinstance(found, type):
            raise DslValueError(f"flydsl.expr has no type {value[_TYPE]!r}")
        return found
    return {key: _read(item) for key, item in value.items()}

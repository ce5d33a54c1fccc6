"""Tuning of a function that is no jit function: a wrapper around kernels, which is called and timed as it is.

Its configurations are keyword arguments of the function. Winners are kept in memory: what a jit function's tuner keeps
on disk rests on knowing the kernel, which nobody does here.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from flydsl.autotune.bench import do_bench
from flydsl.autotune.buffers import buffer_of
from flydsl.autotune.config import Config
from flydsl.autotune.options import Options, pruned
from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslTypeError
from flydsl.base.log import get_logger
from flydsl.compiler.options.hints import hint_scope
from flydsl.runtime import array_view


def normalize_strides(array: Any) -> tuple[int | str, ...]:
    """Return the strides of an array as far as they choose code: 0, 1, or another."""
    view = array_view.of(array)
    if view is None:
        raise DslTypeError(f"an array has strides, a {type(array).__name__} has none")
    return tuple(stride if stride in (0, 1) else "s" for stride in view.strides)


class PlainTuner:
    """A function that is called in the fastest of its configurations."""

    def __init__(self, fn: Callable[..., Any], configs: Any, key: Sequence[str], options: Options, *,
                 prune: Any = None, default: Any = None) -> None:  # fmt: skip
        functools.update_wrapper(self, fn)
        self.fn, self.configs, self.key = fn, configs, tuple(key)
        self.options, self.default, self._prune = options, default, prune
        self.winners: dict[Any, Config] = {}
        self._signature = inspect.signature(fn)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(self.best_config(*args, **kwargs), args, kwargs)

    def best_config(self, *args: Any, **kwargs: Any) -> Config:
        """Return the configuration a call with these arguments uses; searches if it has to."""
        named = self._signature.bind_partial(*args, **kwargs).arguments
        key = self._key(named)
        if key not in self.winners:
            if self.default is not None and not knobs.AUTOTUNE.get():
                return self.default if isinstance(self.default, Config) else self.default(*args, **kwargs)
            self.winners[key] = self._search(args, kwargs, named)
        return self.winners[key]

    def _key(self, named: dict[str, Any]) -> Any:
        arrays = [(name, view) for name, value in named.items() if (view := array_view.of(value)) is not None]
        facts = tuple((name, str(view.elem), normalize_strides(named[name])) for name, view in arrays)
        return facts, tuple((name, repr(_of_key(named[name]))) for name in self.key if name in named)

    def _search(self, args: tuple[Any, ...], kwargs: dict[str, Any], named: dict[str, Any]) -> Config:
        given: Any = self.configs(*args, **kwargs) if callable(self.configs) else self.configs
        configs: list[Config] = list(given)
        kept = {name: buffer_of(_array(name, named)) for name in self.options.restore_value}
        saved = {name: buffer.read() for name, buffer in kept.items()}
        zeroed = [buffer_of(_array(name, named)) for name in self.options.reset_to_zero]
        bench = self.options.do_bench or do_bench
        times: list[tuple[float, Config]] = []

        def trial(config: Config) -> None:
            for name, buffer in kept.items():
                buffer.write(saved[name])
            for buffer in zeroed:
                buffer.zero(0)
            self._run(config, args, kwargs)

        for config in pruned(configs, self._prune, dict(named)):
            try:
                found = bench(lambda config=config: trial(config), warmup=self.options.warmup, rep=self.options.rep)
                times.append((float(found), config))
            except Exception as error:  # another configuration may do
                get_logger(__name__).warning("%s of '%s' failed: %s", config, self.fn.__name__, error)
        for name, buffer in kept.items():
            buffer.write(saved[name])
        if not times:
            raise DslRuntimeError(f"all configurations of '{self.fn.__name__}' failed", hint="see the warnings above")
        return min(times, key=lambda entry: entry[0])[1]

    def _run(self, config: Config, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        merged = {**kwargs, **config.all_kwargs()}
        for hook in (config.pre_hook, self.options.pre_hook):
            if hook is not None:
                hook(merged)
        with hint_scope(config.compiler_opts()):
            result = self.fn(*args, **merged)
        if self.options.post_hook is not None:
            self.options.post_hook(merged)
        return result


def _of_key(value: Any) -> Any:
    view = array_view.of(value)
    return value if view is None else tuple(view.shape)


def _array(name: str, named: dict[str, Any]) -> Any:
    view = array_view.of(named.get(name))
    if view is None:
        raise DslTypeError(f"'{name}' is no array argument, so it cannot be reset or restored")
    return view

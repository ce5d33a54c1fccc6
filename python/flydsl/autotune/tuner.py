"""A tuned function: a jit function that chooses its configuration by itself.

A call takes the winner in memory, else a shipped configuration, else the default one, else it searches. Whatever it
takes, it computes what the jit function computes: a search leaves the arguments as they were.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from flydsl.autotune import artifacts
from flydsl.autotune.call import Call, Parameters, call_with, unknown_parameters
from flydsl.autotune.config import Config
from flydsl.autotune.key import Problem, build_of, problem_of
from flydsl.autotune.options import Options, checked_prune, pruned
from flydsl.autotune.quick_key import quick_key
from flydsl.autotune.search import Search, run_once
from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError
from flydsl.base.log import get_logger
from flydsl.compiler.cache.cache_info import CacheInfo
from flydsl.compiler.calls.call import Specialisation
from flydsl.compiler.capture.inputs import Inputs
from flydsl.compiler.jit_function import JitFunction
from flydsl.compiler.messages.decorated import Decorated
from flydsl.compiler.messages.diagnostics import present
from flydsl.compiler.outlets.jit_call import JitCall
from flydsl.expr.trace.context import is_tracing

Configs = Sequence[Config] | Callable[..., Sequence[Config]]
Default = Config | Callable[..., Config] | None

_searching = threading.RLock()
"""One search at a time in a process: two would disturb each other's timings. A hook may call another tuned function."""


class Autotuner(Decorated):
    """A jit function with configurations to choose from; called as the function is, without what they set."""

    what = "a tuned function"
    captured_parts = ("fn",)

    def __init__(self, fn: JitFunction, configs: Configs, key: Sequence[str] = (), warmup: int = 5, rep: int = 25, *,
                 prune_configs_by: Any = None, default: Default = None, artifact_name: str | None = None,
                 options: Options | None = None, do_bench_fn: Callable[..., float] | None = None,
                 **measured: Any) -> None:  # fmt: skip
        """As `autotune` says; ``measured`` are its hooks and the buffers to reset or restore, unless in ``options``."""
        if not isinstance(fn, JitFunction):
            raise DslTypeError(
                f"an Autotuner takes a jit function, got {type(fn).__name__}", hint="autotune(configs)(fn) tunes any"
            )
        if options is None:
            named: dict[str, Any] = {
                k: tuple(v) if isinstance(v, list) else v for k, v in measured.items() if v is not None
            }
            options = Options(warmup=warmup, rep=rep, do_bench=do_bench_fn, **named)
        super().__init__(fn.func)
        self.fn = fn
        self.configs = configs
        self.key = tuple(key)
        self.options = options
        self.default = default
        self.artifact_name = artifacts.checked_name(artifact_name)
        self.winners: dict[Problem, Config] = {}
        """The winner of every problem met so far, the latest settings' where there are several."""
        self._prune = checked_prune(prune_configs_by)
        self._parameters = Parameters(fn)
        self._winners: dict[Any, Config] = {}
        self._captured: Inputs | None = None
        self._check_names()

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        try:
            self._call(args, kwargs)
        except Exception as error:
            present(error)
            raise

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if is_tracing():
            raise DslRuntimeError(
                f"'{self.__name__}' chooses its configuration when it is called, which cannot happen inside a kernel",
                hint=f"call {self.__name__}.fn there, and give it the values the configurations set",
            )
        call = Call(self._parameters, args, kwargs)
        if knobs.COMPILE_ONLY.get():
            self._compile_only(call)
            return
        run_once(call, self._choose(call), self.options)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else BoundAutotuner(self, instance)

    def best_config(self, *args: Any, **kwargs: Any) -> Config:
        """Return the configuration a call with these arguments uses; searches if it has to, and runs nothing else."""
        try:
            return self._choose(Call(self._parameters, args, kwargs))
        except Exception as error:
            present(error)
            raise

    def warmup(self, *args: Any, **kwargs: Any) -> None:
        """Search if need be and compile the winner, without running it on the arguments."""
        try:
            call = Call(self._parameters, args, kwargs)
            if knobs.COMPILE_ONLY.get():
                self._compile_only(call)
            else:
                call.compile(self._choose(call))
        except Exception as error:
            present(error)
            raise

    # As a jit function -----------------------------------------------------------------------------------------------

    @property
    def specialisations(self) -> tuple[Specialisation, ...]:
        """What the jit function was compiled for so far, trials among it, and why each time."""
        return self.fn.specialisations

    def cache_info(self) -> CacheInfo | None:
        """Hits, misses and sizes of the jit function's caches; None before it was first called."""
        return self.fn.cache_info()

    def jit_call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> JitCall:
        """Return the call of the jit function that a call with these arguments makes, for `flyc.compile` and its
        like."""
        call = Call(self._parameters, tuple(args), dict(kwargs))
        config = self._choose(call)
        given, named = call.arguments(config)
        return JitCall(self.fn, tuple(given), named, config.compiler_opts(), tuple(call.injected(config)))

    def chosen_names(self) -> tuple[str, ...]:
        """Parameters that configurations set."""
        if callable(self.configs):
            raise DslTypeError(
                f"the configurations of '{self.__name__}' come from a function, "
                "so which parameters they set is not known before a call",
                hint="give them as a list, and choose among them with prune_configs_by=",
            )
        known = [*self.configs, *(c for c in (self.default, self.options.reference) if isinstance(c, Config))]
        names = {name for config in known for name in config.all_kwargs()}
        return tuple(name for name in self.fn.signature.names if name in names)

    def save_artifact(self, directory: str | Path | None = None) -> Path:
        """Write the winners found so far where later starts look for them: ``FLYDSL_AUTOTUNE_CONFIG_DIR``."""
        folder = knobs.AUTOTUNE_CONFIG_DIR.get() if directory is None else Path(directory)
        if folder is None:
            raise DslValueError("no directory to write to", hint="name one, or set FLYDSL_AUTOTUNE_CONFIG_DIR")
        name = self.artifact_name or self.__name__
        path = folder / f"{name.removesuffix('.json')}.json"
        artifacts.write_artifact(path, self.winners)
        return path

    # Choosing --------------------------------------------------------------------------------------------------------

    def _choose(self, call: Call) -> Config:
        if self._captured is not None and not self._captured.unchanged():
            # The kernel reads a value that has changed: another kernel, another winner.
            self._winners.clear()
            self._captured = None
        key = quick_key(call, self.key)
        winner = self._winners.get(key)
        if winner is not None:
            return winner
        problem = problem_of(call, self.key)
        chosen = self._shipped(problem)
        if chosen is not None:
            self._winners[key] = chosen
            return chosen
        if self.default is not None and not knobs.AUTOTUNE.get():
            return self._default(call)
        with _searching:
            winner = self._winners.get(key)  # another thread may have searched meanwhile
            if winner is None and not call.has_data:
                return self._without_data(call, problem)
            if winner is None:
                winner = self._winners[key] = self.winners[problem] = self._search(call, problem)
            return winner

    def _shipped(self, problem: Problem) -> Config | None:
        config = artifacts.shipped_config(self.artifact_name, problem)
        if config is not None and (strange := unknown_parameters(self.fn, config)):
            names = ", ".join(strange)
            get_logger(__name__).warning("a shipped configuration of %s sets %s: ignored", self.__name__, names)
            return None
        return config

    def _default(self, call: Call) -> Config:
        config = self.default if isinstance(self.default, Config) else call_with(self.default, call.by_name)  # type: ignore[arg-type]
        if not isinstance(config, Config):
            raise DslTypeError(f"default= of '{self.__name__}' gave a {type(config).__name__}, not a Config")
        return self._checked([config])[0]

    def _without_data(self, call: Call, problem: Problem) -> Config:
        """Return the winner of a problem whose arrays are only described, if it is known: there is nothing to run
        on."""
        winner = self.winners.get(problem) or self._prepared(call, problem)[0].fastest()
        if winner is None:
            raise DslRuntimeError(
                f"'{self.__name__}' has no winner for these arguments, and cannot look for one without data",
                hint=f"call {self.__name__}.best_config(...) with arrays once, or give it a default=",
            )
        return winner

    def _search(self, call: Call, problem: Problem) -> Config:
        search, captured = self._prepared(call, problem)
        try:
            winner = search.best()
        finally:
            self.options.have_run()
        captured.after_tracing()
        if self._captured is None:
            self._captured = captured
        return winner

    def _prepared(self, call: Call, problem: Problem) -> tuple[Search, Inputs]:
        """Return a search that has the timings known so far, and what the function takes from around it."""
        captured = Inputs(self.fn.func)
        protocol, opaque = self.options.protocol()
        opaque += captured.opaque
        key = {
            "problem": [list(pair) for pair in problem],
            "build": build_of(self.fn, captured, call.device),
            "protocol": protocol,
        }
        if opaque:
            reasons = "; ".join(opaque)
            get_logger(__name__).info("timings of %s are not kept on disk: %s", self.__name__, reasons)
        return Search(call, self._candidates(call), self.options, None if opaque else key), captured

    def _candidates(self, call: Call) -> list[Config]:
        """Return the configurations for a call, pruned."""
        found = call_with(self.configs, call.by_name) if callable(self.configs) else self.configs
        left = self._checked(pruned(self._checked(found), self._prune, call.by_name))
        for config in left:
            call.check_complete(config)
        return left

    def _compile_only(self, call: Call) -> None:
        """Fill the cache: with the one configuration that is known, else with all of them."""
        shipped = self._shipped(problem_of(call, self.key))
        if shipped is None and self.default is not None and not knobs.AUTOTUNE.get():
            shipped = self._default(call)
        configs = [shipped] if shipped is not None else self._candidates(call)
        failures: list[str] = []
        for config in configs:
            try:
                call.run(config)
            except Exception as error:
                failures.append(f"  {config!r}: {error}")
                get_logger(__name__).warning("%s: %r does not compile: %s", self.__name__, config, error)
        if len(failures) == len(configs):
            raise DslRuntimeError(f"no configuration of '{self.__name__}' compiles:\n" + "\n".join(failures))

    # Checks ----------------------------------------------------------------------------------------------------------

    def _checked(self, configs: Any) -> list[Config]:
        if not isinstance(configs, Iterable):
            kind = type(configs).__name__
            raise DslTypeError(
                f"the configurations of '{self.__name__}' are a list of Config, got {kind}",
                hint="write [flydsl.Config(BLOCK=128)]",
            )
        found = list(configs)
        for config in found:
            if not isinstance(config, Config):
                raise DslTypeError(
                    f"the configurations of '{self.__name__}' hold a {type(config).__name__}",
                    hint="write flydsl.Config(BLOCK=128, …)",
                )
            for name in unknown_parameters(self.fn, config):
                raise DslTypeError(
                    f"{config!r} sets '{name}', but '{self.__name__}' has no such parameter",
                    hint=f"its parameters are {', '.join(self.fn.signature.names)}",
                )
        return found

    def _check_names(self) -> None:
        for what, names in (
            ("key", self.key),
            ("reset_to_zero", self.options.reset_to_zero),
            ("restore_value", self.options.restore_value),
        ):
            for name in names:
                if name.split(".")[0] not in self.fn.signature.names:
                    raise DslValueError(
                        f"{what}= names '{name}', but '{self.__name__}' has no such parameter",
                        hint=f"its parameters are {', '.join(self.fn.signature.names)}",
                    )
        if not callable(self.configs):
            self.configs = self._checked(self.configs)
            if not self.configs:
                raise DslValueError(
                    f"'{self.__name__}' is tuned over no configuration",
                    hint="give at least one: configs=[flydsl.Config(BLOCK=128)]",
                )
        if self.default is not None and not callable(self.default) and not isinstance(self.default, Config):
            raise DslTypeError(
                f"default= of '{self.__name__}' is a Config or a function that gives one, "
                f"got {type(self.default).__name__}",
                hint="write default=flydsl.Config(BLOCK=128, …)",
            )
        self._checked([c for c in (self.options.reference, self.default) if isinstance(c, Config)])

    def __repr__(self) -> str:
        return f"<autotune {self.__name__}>"


class BoundAutotuner:
    """A tuned function used as a method."""

    def __init__(self, function: Autotuner, instance: Any) -> None:
        self.function = function
        self.instance = instance
        self.__name__ = function.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        self.function(self.instance, *args, **kwargs)

    @property
    def fn(self) -> JitFunction:
        return self.function.fn

    def best_config(self, *args: Any, **kwargs: Any) -> Config:
        """Return the configuration a call with these arguments uses."""
        return self.function.best_config(self.instance, *args, **kwargs)

    def warmup(self, *args: Any, **kwargs: Any) -> None:
        """Search if need be and compile the winner, without running it on the arguments."""
        self.function.warmup(self.instance, *args, **kwargs)

    def jit_call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> JitCall:
        """Return the call of the jit function that a call with these arguments makes."""
        return self.function.jit_call((self.instance, *args), kwargs)

    def chosen_names(self) -> tuple[str, ...]:
        """Parameters that the caller does not give."""
        return (*self.fn.signature.names[:1], *self.function.chosen_names())

"""`@autotune`: a jit function that chooses its configuration by itself.

A call takes the winner in memory, else a shipped configuration, else the default one, else it searches. Whatever it
takes, it computes what the jit function computes: a search leaves the arguments as they were.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from flydsl.autotune import artifacts
from flydsl.autotune.agreement import checked_check
from flydsl.autotune.call import Call, Parameters, call_with, unknown_parameters
from flydsl.autotune.config import Config
from flydsl.autotune.key import Problem, build_of, problem_of
from flydsl.autotune.quick_key import quick_key
from flydsl.autotune.search import Options, Search, run_once
from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError, FlyDSLError
from flydsl.base.log import get_logger
from flydsl.compiler.captured import Captured
from flydsl.compiler.diagnostics import presented
from flydsl.compiler.jit_function import JitFunction
from flydsl.expr.context import is_tracing

Configs = Sequence[Config] | Callable[..., Sequence[Config]]
Default = Config | Callable[..., Config] | None

_searching = threading.RLock()
"""One search at a time in a process: two would disturb each other's timings. A hook may call another tuned function."""


class Autotuner:
    """A jit function with configurations to choose from; called as the function is, without what they set."""

    def __init__(self, fn: JitFunction, configs: Configs, key: Sequence[str], options: Options, *, prune: Any = None,
                 default: Default = None, artifact_name: str | None = None) -> None:  # fmt: skip
        self.fn = fn
        self.configs = configs
        self.key = tuple(key)
        self.options = options
        self.default = default
        self.artifact_name = artifacts.checked_name(artifact_name)
        self.winners: dict[Problem, Config] = {}
        """The winner of every problem met so far, the latest settings' where there are several."""
        self._prune = prune
        self._parameters = Parameters(fn)
        self._winners: dict[Any, Config] = {}
        self._captured: Captured | None = None
        self.__name__ = fn.__name__
        self.__doc__ = fn.__doc__
        self.__wrapped__ = fn.func
        self._check_names()

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        try:
            self._call(args, kwargs)
        except FlyDSLError as error:
            raise presented(error) from None

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
        """The configuration a call with these arguments uses; searches if it has to, and runs nothing else."""
        return self._choose(Call(self._parameters, args, kwargs))

    def warmup(self, *args: Any, **kwargs: Any) -> None:
        """Search if need be and compile the winner, without running it on the arguments."""
        call = Call(self._parameters, args, kwargs)
        call.compile(self._choose(call))

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

    def _search(self, call: Call, problem: Problem) -> Config:
        captured = Captured(self.fn.func)
        key = {
            "problem": [list(pair) for pair in problem],
            "build": build_of(self.fn, captured, call.device),
            "protocol": self.options.protocol(),
        }
        if captured.opaque:
            reasons = "; ".join(captured.opaque)
            get_logger(__name__).info("timings of %s are not kept on disk: %s", self.__name__, reasons)
        search = Search(call, self._candidates(call), self.options, None if captured.opaque else key)
        winner = search.best()
        captured.after_tracing()
        if self._captured is None:
            self._captured = captured
        return winner

    def _candidates(self, call: Call) -> list[Config]:
        """The configurations for a call, pruned."""
        found = call_with(self.configs, call.by_name) if callable(self.configs) else self.configs
        left = self._checked(_pruned(self._checked(found), self._prune, call.by_name))
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
            raise DslTypeError(f"the configurations of '{self.__name__}' are a list of Config, got {kind}")
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
                raise DslValueError(f"'{self.__name__}' is tuned over no configuration", hint="give at least one")
        if self.options.reference is not None:
            self._checked([self.options.reference])

    def __repr__(self) -> str:
        return f"<autotune {self.__name__}>"


class BoundAutotuner:
    """A tuned function used as a method."""

    def __init__(self, function: Autotuner, instance: Any) -> None:
        self.function = function
        self.instance = instance

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        self.function(self.instance, *args, **kwargs)


def _pruned(configs: list[Config], prune: Any, arguments: dict[str, Any]) -> list[Config]:
    """What pruning leaves: a function of (configs, arguments), or a dictionary of up to three steps."""
    if prune is None:
        return configs
    if callable(prune):
        return call_with(prune, configs, arguments)
    early, model, top_k = (prune.get(name) for name in ("early_config_prune", "perf_model", "top_k"))
    if early is not None:
        configs = list(call_with(early, configs, arguments))
    if model is not None and top_k is not None:
        count = max(1, int(len(configs) * top_k)) if isinstance(top_k, float) and top_k <= 1 else int(top_k)
        # A model takes the arguments by name, the configuration's among them.
        configs = sorted(configs, key=lambda config: model(**(arguments | config.all_kwargs())))[:count]
    return configs


_PRUNING = ("early_config_prune", "perf_model", "top_k")


def _checked_prune(prune: Any) -> Any:
    if prune is None or callable(prune):
        return prune
    if not isinstance(prune, Mapping) or not set(prune) <= set(_PRUNING):
        raise DslTypeError(
            "prune_configs_by= is a function of (configs, arguments) or a dictionary",
            hint=f"its keys are {', '.join(_PRUNING)}",
        )
    return prune


def autotune(configs: Configs, key: Sequence[str] | None = None, warmup: int = 5, rep: int = 25,
             prune_configs_by: Any = None, reset_to_zero: Sequence[str] | None = None,
             restore_value: Sequence[str] | None = None, pre_hook: Callable[..., Any] | None = None,
             post_hook: Callable[..., Any] | None = None, do_bench: Callable[..., Any] | None = None,
             default: Default = None, artifact_name: str | None = None, *, check: Any = None,
             reference: Config | None = None,
             executor: Executor | None = None) -> Callable[[JitFunction], Autotuner]:  # fmt: skip
    """Decorate a ``@flyc.jit`` function: it is run in the fastest of the configurations; see docs/autotune.md."""
    options = Options(
        warmup=warmup,
        rep=rep,
        reset_to_zero=_names("reset_to_zero", reset_to_zero),
        restore_value=_names("restore_value", restore_value),
        pre_hook=pre_hook,
        post_hook=post_hook,
        do_bench=do_bench,
        check=checked_check(check),
        reference=reference,
        executor=executor,
    )
    prune = _checked_prune(prune_configs_by)

    def decorate(fn: JitFunction) -> Autotuner:
        if not isinstance(fn, JitFunction):
            raise DslTypeError(
                f"@autotune decorates a jit function, got {type(fn).__name__}",
                hint="write @flydsl.autotune(…) above @flyc.jit",
            )
        return Autotuner(
            fn, configs, _names("key", key), options, prune=prune, default=default, artifact_name=artifact_name
        )

    return decorate


def _names(what: str, names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise DslTypeError(f"{what}= is a list of parameter names, got {names!r}", hint=f"write {what}=['n']")
    return tuple(names)

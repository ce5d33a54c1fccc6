"""How a tuned function is run and measured, as its decorator says it; what makes no sense is refused there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any

from flydsl.autotune.agreement import Check, checked_check
from flydsl.autotune.bench import do_bench
from flydsl.autotune.call import call_with
from flydsl.autotune.callable_key import callable_key, has_run
from flydsl.autotune.config import Config
from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.base.records import dataclass

_FUNCTIONS: Mapping[str, str] = {
    "pre_hook": "a function of the arguments by name",
    "post_hook": "a function of (arguments, error)",
    "do_bench": "a function that takes a function and gives milliseconds",
}
"""Options that are functions, in words."""


@dataclass(frozen=True)
class Options:
    """How a function is run and measured."""

    warmup: int = 5
    rep: int = 25
    reset_to_zero: tuple[str, ...] = ()
    restore_value: tuple[str, ...] = ()
    pre_hook: Callable[..., Any] | None = None
    post_hook: Callable[..., Any] | None = None
    do_bench: Callable[..., Any] | None = None
    check: Check = None
    reference: Config | None = None
    executor: Executor | None = None

    def __post_init__(self) -> None:
        _check_count("rep", self.rep, 1, "runs that are measured")
        _check_count("warmup", self.warmup, 0, "runs before those that are measured")
        for name, form in _FUNCTIONS.items():
            _check_function(name, getattr(self, name), form)
        if self.reference is not None and not isinstance(self.reference, Config):
            raise DslTypeError(
                f"reference= is the Config whose result is right, got {type(self.reference).__name__}",
                hint="write reference=flydsl.Config(BLOCK=128, …)",
            )
        checked_check(self.check)
        _check_executor(self.executor)

    @property
    def callables(self) -> dict[str, Callable[..., Any]]:
        """What the user wrote that decides about results: the clock and the check, if it is a function."""
        return {"bench": self.do_bench or do_bench} | ({"check": self.check} if callable(self.check) else {})

    def protocol(self) -> tuple[dict[str, Any], list[str]]:
        """Return what results depend on beside the kernel, and why that is good for this process only, if it is.

        Times of different clocks are not compared.
        """
        found: dict[str, Any] = {
            "check": repr(self.check),
            "reference": None if self.reference is None else self.reference.text,
        }
        opaque: list[str] = []
        for name, function in self.callables.items():
            key = callable_key(function)
            found[name] = key.text
            opaque += key.opaque
        return found, opaque

    def have_run(self) -> None:
        """What the clock and the check have written is their own doing, and does not make others of them."""
        for function in self.callables.values():
            has_run(function)


def _check_count(name: str, value: Any, least: int, what: str) -> None:
    if type(value) is not int:
        raise DslTypeError(f"{name}= is a number of {what}, got {value!r}", hint=f"write {name}={max(least, 5)}")
    if value < least:
        raise DslValueError(
            f"{name}= is a number of {what}, {least} or more, got {value}", hint=f"write {name}={max(least, 5)}"
        )


def _check_function(name: str, value: Any, form: str) -> None:
    if value is not None and not callable(value):
        raise DslTypeError(f"{name}= is {form}, got {type(value).__name__}", hint=f"leave {name}= out, or give one")


def _check_executor(executor: Any) -> None:
    if executor is None or (callable(getattr(executor, "submit", None)) and not isinstance(executor, type)):
        return
    kind = f"the class {executor.__name__}" if isinstance(executor, type) else type(executor).__name__
    raise DslTypeError(
        f"executor= is a concurrent.futures.Executor, got {kind}",
        hint="write executor=concurrent.futures.ThreadPoolExecutor(4), or leave it out",
    )


# Which configurations are worth trying for a call, as the user says: a function, or up to three steps


def pruned(configs: list[Config], prune: Any, arguments: dict[str, Any]) -> list[Config]:
    """Return what pruning leaves: a function of (configs, arguments), or a dictionary of up to three steps."""
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


def checked_prune(prune: Any) -> Any:
    if prune is None or callable(prune):
        return prune
    if not isinstance(prune, Mapping) or not set(prune) <= set(_PRUNING):
        raise DslTypeError(
            "prune_configs_by= is a function of (configs, arguments) or a dictionary",
            hint=f"its keys are {', '.join(_PRUNING)}",
        )
    return prune

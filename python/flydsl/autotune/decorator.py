"""`@autotune`: what the user writes above ``@flyc.jit``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from types import FunctionType
from typing import Any

from flydsl.autotune.config import Config
from flydsl.autotune.options import Options, checked_prune
from flydsl.autotune.plain import PlainTuner
from flydsl.autotune.tuner import Autotuner, Configs, Default
from flydsl.base.errors import DslTypeError
from flydsl.compiler.jit_function import JitFunction
from flydsl.compiler.messages.diagnostics import located


@located
def autotune(configs: Configs, key: Sequence[str] | None = None, warmup: int = 5, rep: int = 25,
             prune_configs_by: Any = None, reset_to_zero: Sequence[str] | None = None,
             restore_value: Sequence[str] | None = None, pre_hook: Callable[..., Any] | None = None,
             post_hook: Callable[..., Any] | None = None, do_bench: Callable[..., Any] | None = None,
             default: Default = None, artifact_name: str | None = None, *, check: Any = None,
             reference: Config | None = None,
             executor: Executor | None = None) -> Callable[[Any], Any]:  # fmt: skip
    """Decorate a ``@flyc.jit`` function: it is run in the fastest of the configurations; see docs/autotune.md.

    A plain Python function, one that launches several kernels, is tuned by calling it (`PlainTuner`).
    """
    options = Options(
        warmup=warmup,
        rep=rep,
        reset_to_zero=_names("reset_to_zero", reset_to_zero),
        restore_value=_names("restore_value", restore_value),
        pre_hook=pre_hook,
        post_hook=post_hook,
        do_bench=do_bench,
        check=check,
        reference=reference,
        executor=executor,
    )
    prune = checked_prune(prune_configs_by)

    @located
    def decorate(fn: Any) -> Any:
        if isinstance(fn, FunctionType):
            return PlainTuner(fn, configs, _names("key", key), options, prune=prune, default=default)
        if not isinstance(fn, JitFunction):
            raise DslTypeError(
                f"@autotune decorates a jit function or a plain one, got {type(fn).__name__}",
                hint="write @flydsl.autotune(…) above @flyc.jit",
            )
        return Autotuner(
            fn,
            configs,
            _names("key", key),
            prune_configs_by=prune,
            default=default,
            artifact_name=artifact_name,
            options=options,
        )

    return decorate


def _names(what: str, names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise DslTypeError(f"{what}= is a list of parameter names, got {names!r}", hint=f"write {what}=['n']")
    return tuple(names)

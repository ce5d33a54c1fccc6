"""Which configurations are worth trying for a call, as the user says: a function, or up to three steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flydsl.autotune.call import call_with
from flydsl.autotune.config import Config
from flydsl.base.errors import DslTypeError


def pruned(configs: list[Config], prune: Any, arguments: dict[str, Any]) -> list[Config]:
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


def checked_prune(prune: Any) -> Any:
    if prune is None or callable(prune):
        return prune
    if not isinstance(prune, Mapping) or not set(prune) <= set(_PRUNING):
        raise DslTypeError(
            "prune_configs_by= is a function of (configs, arguments) or a dictionary",
            hint=f"its keys are {', '.join(_PRUNING)}",
        )
    return prune

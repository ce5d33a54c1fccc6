"""The passes of a compilation: what the backend in charge names, found in the table of passes or among its own.

A backend chooses what happens to a module before it becomes LLVM text. From there on (`llvm-text`, the optimiser, the
binary) every backend of a family is the same, and one that names other steps there is refused.
"""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from flydsl.base import knobs
from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.compiler.backends.base import TO_LLVM, BaseBackend
from flydsl.compiler.backends.registry import backend_for
from flydsl.compiler.options.hints import Hints, as_mapping
from flydsl.passes.pipeline import PASSES, Pass, with_checks
from flydsl.target.target import Target


def passes_for(target: Target, hints: Hints = (), checks: Collection[str] = ()) -> tuple[Pass, ...]:
    """From traced fly operations to upstream dialects, as the backend for a target has it; ``checks``: sanitizers."""
    backend = backend_for(target)
    outside = knobs.COMPILE_LLVM_DIR.get() is not None
    ask = backend.external_binary_pipeline_fragments if outside else backend.pipeline_fragments
    steps = ask(compile_hints=as_mapping(hints))
    tail = [TO_LLVM] if outside else [TO_LLVM, "llvm-optimise", target.family.binary_step]
    if not isinstance(steps, (list, tuple)) or not all(isinstance(step, str) for step in steps):
        raise DslTypeError(f"{_name(backend)}.{ask.__name__}() gives a list of names, got {steps!r}")
    if list(steps[-len(tail) :]) != tail:
        raise DslValueError(
            f"the steps of {_name(backend)} end in {', '.join(steps[-3:]) or 'nothing'}",
            hint=f"{ask.__name__}() ends in {', '.join(tail)}; put passes before {TO_LLVM}",
        )
    return with_checks(tuple(_pass(backend, step) for step in steps[: -len(tail)]), checks)


def _pass(backend: BaseBackend, name: str) -> Pass:
    own = backend.passes.get(name)
    if own is not None:
        return Pass(name, f"A pass of {_name(backend)}.", own)
    if name not in PASSES:
        near = get_close_matches(name, [*backend.passes, *PASSES], n=1)
        raise DslValueError(
            f"{_name(backend)} names the pass '{name}', which there is not",
            hint=f"did you mean {near[0]}?" if near else "name one of `fly-opt --help`, or put it into `passes`",
        )
    return PASSES[name]


def _name(backend: BaseBackend) -> str:
    return type(backend).__qualname__

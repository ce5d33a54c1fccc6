"""LLVM's own options around compilations, by the name of the original; the hint ``llvm_options`` does the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from flydsl.base.errors import DslTypeError
from flydsl.compiler.options.hints import checked, hint_scope, scoped


@contextmanager
def llvm_options(options: Mapping[str, bool | int | str]) -> Iterator[None]:
    """Compile what is compiled inside the block under these options of LLVM, and under those around it."""
    for name, value in options.items():
        if not isinstance(value, (bool, int, str)):
            raise DslTypeError(f"Unsupported type {type(value).__name__} of the LLVM option '{name}'")
    outer = (scoped() or {}).get("llvm_options") or {}
    hints = {"llvm_options": {**outer, **options}}
    checked(hints)
    with hint_scope(hints):
        yield


__all__ = ["llvm_options"]

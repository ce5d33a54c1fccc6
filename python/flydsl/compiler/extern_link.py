"""Which code stands behind declared device functions; `flydsl.expr.extern` says what becomes of their calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.extern import ExternFunction


@dataclass(frozen=True)
class ExternLink:
    """The library of a device function, and what is called when a module that uses it was loaded."""

    function: ExternFunction
    bitcode_path: Path
    module_init_fn: Callable[..., Any] | None = None


links: dict[str, ExternLink] = {}
"""Symbols to the libraries that have them."""
resolvers: list[Callable[[ExternFunction], str | Path | None]] = []


def link_extern(
    extern: ExternFunction, *, bitcode_path: str | Path, module_init_fn: Callable[..., Any] | None = None
) -> ExternFunction:
    """Say in which file of LLVM bitcode a device function is; gives the function back."""
    if not isinstance(extern, ExternFunction):
        raise DslTypeError(f"link_extern takes what ffi() gives, got {type(extern).__name__}")
    path = Path(bitcode_path)
    if not path.is_file():
        raise DslValueError(f"there is no bitcode file {path} for '{extern.symbol}'")
    links[extern.symbol] = ExternLink(extern, path, module_init_fn)
    return extern


def register_extern_resolver(resolver: Callable[[ExternFunction], str | Path | None]) -> None:
    """Ask a function for the file of any device function that `link_extern` was not told of."""
    if not callable(resolver):
        raise DslTypeError(f"a resolver is a function, got {type(resolver).__name__}")
    resolvers.append(resolver)


def bitcode_of(extern: ExternFunction) -> Path | None:
    """The file that has a device function, as far as anyone said."""
    known = links.get(extern.symbol)
    if known is not None:
        return known.bitcode_path
    found = (resolver(extern) for resolver in resolvers)
    return next((Path(path) for path in found if path is not None), None)


__all__ = ["bitcode_of", "link_extern", "register_extern_resolver"]

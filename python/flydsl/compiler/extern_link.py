"""Which code stands behind declared device functions; `flydsl.expr.extern` says what becomes of their calls.

Code that calls such functions is compiled anew in every process: files of libraries are no part of the key on disk.
In a process, naming another file, or the same one written again, makes the next call compile for it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from flydsl.base import device_libraries
from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.compiler.backends.base import outdate
from flydsl.expr.extern import ExternFunction


def link_extern(
    extern: ExternFunction, *, bitcode_path: str | Path, module_init_fn: Callable[..., Any] | None = None
) -> ExternFunction:
    """Say in which file of LLVM bitcode a device function is; gives the function back."""
    if not isinstance(extern, ExternFunction):
        raise DslTypeError(f"link_extern takes what ffi() gives, got {type(extern).__name__}")
    if module_init_fn is not None:
        raise DslValueError(
            f"'{extern.symbol}': libraries that have to be set up when a module is loaded are not supported",
            hint="leave module_init_fn out, and hand what the library needs to the kernel as arguments",
        )
    path = Path(bitcode_path)
    if not path.is_file():
        raise DslValueError(f"there is no bitcode file {path} for '{extern.symbol}'")
    if device_libraries.link(extern.symbol, path):
        outdate()
    return extern


def register_extern_resolver(resolver: Callable[[ExternFunction], str | Path | None]) -> None:
    """Ask a function for the file of any device function that `link_extern` was not told of."""
    if not callable(resolver):
        raise DslTypeError(f"a resolver is a function, got {type(resolver).__name__}")
    device_libraries.resolvers.append(resolver)


def bitcode_of(extern: ExternFunction) -> Path | None:
    """Return the file that has a device function, as far as anyone said."""
    return device_libraries.bitcode_of(extern)


__all__ = ["bitcode_of", "link_extern", "register_extern_resolver"]

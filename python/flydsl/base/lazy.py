"""Modules that are loaded when they are first used, declared at the top of the file like any other import.

A start from a warm cache must not load an IR library, few programs need all of the package, and some modules of the
standard library are slow to load (`pathlib`, `json`). What a file loads later is declared in one form, which type
checkers and the import contracts read as an import:

    if TYPE_CHECKING:
        from flydsl.compiler.lowering import driver
    else:
        driver = lazy_module("flydsl.compiler.lowering.driver")

`tests/style/test_imports.py` holds the two halves together, refuses every other way to load a module of this package
later, and counts these imports when it looks for circles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


class LazyModule:
    """A module's names, each looked up in the module itself whenever it is asked for."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)

    def __repr__(self) -> str:
        return f"<lazy module '{self.__name__}'>"


def lazy_module(name: str) -> Any:
    """Return the module of this name, loaded when one of its names is first asked for."""
    return LazyModule(name)


_OFFERS: dict[str, Callable[[str], Any]] = {}


def offer(what: str, find: Callable[[str], Any]) -> None:
    """Make names of a package above known to packages below, which do not import it. The root package calls this."""
    _OFFERS[what] = find


def offered(what: str, name: str) -> Any:
    """Return a name of what the root package offers."""
    return _OFFERS[what](name)


def lazy_face(package: str, modules: Mapping[str, str], names: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package that loads submodules when they are first asked for, by their names.

    ``names`` are those of a submodule that the package has as well, each with the submodule.
    """

    def found(name: str) -> Any:
        if name in modules:
            return import_module(modules[name])
        if names and name in names:
            return getattr(import_module(names[name]), name)
        raise AttributeError(f"module '{package}' has no attribute '{name}'", name=name, obj=import_module(package))

    return found

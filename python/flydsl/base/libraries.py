"""Code that is named instead of followed: this package, the standard library and installed libraries.

Their content is covered by something else in the key of compiled code: a digest of this package's sources, Python's
version, or the library's, which is part of the name here. All other code is the user's; so is a package that is
installed editable, whose files lie elsewhere, and an installed library of kernels, whose settings may change.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from types import ModuleType
from typing import Any

from flydsl.base.attributes import attribute
from flydsl.base.own_code import PACKAGE

STEADY = frozenset({
    "abc", "array", "ast", "base64", "binascii", "bisect", "builtins", "cmath", "collections", "contextlib",
    "contextvars", "copy", "copyreg", "ctypes", "dataclasses", "enum", "flydsl", "fractions", "functools", "hashlib",
    "heapq", "inspect", "itertools", "json", "keyword", "llvmlite", "logging", "math", "ml_dtypes", "numbers", "numpy",
    "operator", "pprint", "re", "reprlib", "statistics", "string", "struct", "textwrap", "types", "typing",
    "typing_extensions", "unicodedata", "warnings", "weakref", "xdsl", "zlib",
    "os.PathLike", "os.environ", "os.environb", "os.fspath", "os.getenv", "os.getenvb",
    "posixpath.basename", "posixpath.dirname", "posixpath.join", "posixpath.normpath", "posixpath.split",
    "posixpath.splitext", "sys.exc_info", "sys.getsizeof", "sys.intern", "sys.stderr", "sys.stdout",
    "torch.arange", "torch.finfo", "torch.full", "torch.iinfo", "torch.ones", "torch.tensor", "torch.zeros",
})  # fmt: skip
"""Modules, without the underscore of those written in C, and names of others, that look at nothing but their arguments.
Variables of the environment are noted while they are read."""

UNSTEADY = frozenset({
    "builtins.breakpoint", "builtins.eval", "builtins.exec", "builtins.globals", "builtins.hash", "builtins.id",
    "builtins.input", "builtins.locals", "builtins.open", "builtins.vars", "builtins.__import__", "ctypes.util",
    "inspect.currentframe", "inspect.getfile", "inspect.getsource", "inspect.getsourcelines", "inspect.stack",
    "inspect.trace", "numpy.DataSource", "numpy.fromfile", "numpy.fromregex", "numpy.genfromtxt", "numpy.geterr",
    "numpy.get_printoptions", "numpy.load", "numpy.loadtxt", "numpy.memmap", "numpy.random", "numpy.show_config",
    "ctypes.CDLL", "ctypes.cdll", "ctypes.pythonapi", "ctypes.string_at",
})  # fmt: skip
"""Names of such modules that do look elsewhere."""

_VERSIONED = frozenset({"numpy", "torch", "ml_dtypes", "xdsl", "llvmlite", "jax", "triton", "typing_extensions"})
STANDARD = os.path.dirname(os.__file__) + os.sep
INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def top_of(module: str) -> str:
    """Return the top-level package of a module, by its dotted name."""
    return module.partition(".")[0]


def is_steady(module: str, path: str) -> bool:
    """Return whether a function or class, by its module and its name there, gives the same at every start."""
    top, *inner = module.split(".")
    top = top if top == "builtins" else top.lstrip("_")
    names = {f"{top}.{name}" for name in (path.partition(".")[0], *inner[:1])}
    return (top in STEADY and UNSTEADY.isdisjoint(names)) or not STEADY.isdisjoint(names)


def is_array_type(value: Any) -> bool:
    """Return whether a value is a class of a library of arrays, which are settings and read nothing."""
    return isinstance(value, type) and value.__module__.partition(".")[0] in ("torch", "jax", "triton")


def is_known(module: str) -> bool:
    """Return whether code of the module of this name is known by its name."""
    return _kind(top_of(module)) is not None


def is_ours(module: Any) -> bool:
    """Return whether a module, by its dotted name, is of this package, kernels included: nobody assigns there."""
    return isinstance(module, str) and top_of(module) == PACKAGE


def known_module(module: ModuleType) -> str | None:
    """Return how a key names a module, or None if the module is the user's."""
    name = module.__name__
    kind = _kind(top_of(name))
    return None if kind is None or sys.modules.get(name) is not module else name + kind


def known_name(value: Any) -> str | None:
    """Return how a key names a function or class, or None if it has to be followed.

    A name counts only if it leads back to the same object: what a library makes on the fly has the user's data in it.
    """
    module, path = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(path, str) or "<locals>" in path:
        return None
    kind = _kind(top_of(module))
    if kind is None:
        return None
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = attribute(found, part)  # a module may load what is asked for, and fail
    return f"{module}.{path}{kind}" if found is value else None


@cache
def _kind(top: str) -> str | None:
    """Return what to add to names of a top-level package: its version, nothing, or None for the user's own."""
    if top in (PACKAGE, "builtins"):
        return ""
    module = sys.modules.get(top)
    if top in _VERSIONED:
        return f"@{getattr(module, '__version__', '?')}"
    file = getattr(module, "__file__", None)
    if top not in sys.stdlib_module_names:
        return _installed(module, file)
    inside = file is None or (file.startswith(STANDARD) and "site-packages" not in file)
    return "" if inside else None


def _installed(module: ModuleType | None, file: str | None) -> str | None:
    """Return a library's version, or when its first file was written; None for code that is no library."""
    if module is None or file is None or not any(part in file for part in INSTALLED) or _has_kernels(module.__name__):
        return None
    version = getattr(module, "__version__", None)
    return f"@{version}" if isinstance(version, str) else f"@{os.stat(file).st_mtime_ns}"


def _has_kernels(package: str) -> bool:
    """Return whether a module of a package uses this one."""
    modules: list[object] = [module for name, module in list(sys.modules.items()) if top_of(name) == package]
    values = (value for module in modules if isinstance(module, ModuleType) for value in list(vars(module).values()))
    return any(isinstance(value, ModuleType) and value.__name__.partition(".")[0] == PACKAGE for value in values)

"""Code that a key may name instead of describing: this package, the standard library, and installed libraries.

Their content is covered by something else in the key: the digest of this package's sources, Python's version, or the
library's version, which is part of the name here. All other code is the user's and is described by its content; so is
a package that is installed editable, whose files lie elsewhere, and a library of kernels, whose settings may change.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from types import ModuleType
from typing import Any

from flydsl.base.attributes import attribute
from flydsl.base.own_code import PACKAGE, is_own_module

_VERSIONED = frozenset({"numpy", "torch", "ml_dtypes", "xdsl", "llvmlite", "jax", "triton", "typing_extensions"})
_STANDARD = os.path.dirname(os.__file__) + os.sep


def is_known(module: str) -> bool:
    """Whether code of the module of this name is known by its name."""
    return _kind_of(module) is not None


def known_module(module: ModuleType) -> str | None:
    """How a key names a module, or None if the module is the user's."""
    name = module.__name__
    kind = _kind_of(name)
    return None if kind is None or sys.modules.get(name) is not module else name + kind


def known_name(value: Any) -> str | None:
    """How a key names a function or class, or None if it has to be described.

    A name counts only if it leads back to the same object: what a library makes on the fly has the user's data in it.
    """
    module, path = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(path, str):
        return None
    kind = _kind_of(module)
    if kind is None:
        return None
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = attribute(found, part)  # a module may load what is asked for, and fail
    return f"{module}.{path}{kind}" if found is value else None


def _kind_of(module: str) -> str | None:
    """What to add to the name of a module; the kernel library counts as the user's own."""
    top = module.partition(".")[0]
    return _kind(top) if top != PACKAGE or is_own_module(module) else None


@cache
def _kind(top: str) -> str | None:
    """What to add to names of a top-level package: its version, nothing, or None for the user's own."""
    if top in (PACKAGE, "builtins"):
        return ""
    module = sys.modules.get(top)
    if top in _VERSIONED:
        return f"@{getattr(module, '__version__', '?')}"
    file = getattr(module, "__file__", None)
    if top not in sys.stdlib_module_names:
        return _installed(module, file)
    inside = file is None or (file.startswith(_STANDARD) and "site-packages" not in file)
    return "" if inside else None


_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def _installed(module: ModuleType | None, file: str | None) -> str | None:
    """The version of an installed library, or when its first file was written; None for code that is no library."""
    if module is None or file is None or not any(part in file for part in _INSTALLED) or _has_kernels(module.__name__):
        return None
    version = getattr(module, "__version__", None)
    return f"@{version}" if isinstance(version, str) else f"@{os.stat(file).st_mtime_ns}"


def _has_kernels(package: str) -> bool:
    """Whether a module of a package uses this one."""
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == package]
    values = (value for module in modules if isinstance(module, ModuleType) for value in list(vars(module).values()))
    return any(isinstance(value, ModuleType) and value.__name__.partition(".")[0] == PACKAGE for value in values)

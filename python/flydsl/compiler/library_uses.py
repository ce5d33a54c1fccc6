"""What a function takes from the module of a library by name: a function, a setting, or data that may change."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from types import EllipsisType, ModuleType, NoneType
from typing import Any, NamedTuple

from flydsl.compiler.object_state import library_value
from flydsl.compiler.outside import is_library_type, looks_outside

_LEAVES = (bool, int, float, complex, str, bytes, NoneType, EllipsisType)
_CONTAINERS = (list, dict, set, bytearray)


class LibraryUse(Enum):
    """What is taken."""

    NOTHING = auto()
    """Nothing that a key has to tell of."""
    CALLABLE = auto()
    """A function or class; or something that only its name tells of."""
    MODULE = auto()
    """A module as a value, to be read who knows where."""
    MODULES = auto()
    """The table of all modules."""
    SETTING = auto()
    """A value that stays what it is while a process runs."""
    DATA = auto()
    """A value that may change."""


class Taken(NamedTuple):
    use: LibraryUse
    owner: ModuleType
    name: str
    value: Any


def use_of(module: ModuleType, chain: Sequence[str]) -> Taken:
    """What attributes, each of the one before, take from a module."""
    owner, name, *rest = (module, *chain)
    value = vars(owner).get(name, module)
    if name not in vars(owner):  # made when it is asked for
        return Taken(LibraryUse.CALLABLE, owner, name, None)
    if isinstance(value, ModuleType):
        return use_of(value, rest) if rest else Taken(LibraryUse.MODULE, owner, name, value)
    return Taken(*_kind_of(owner, name, value))


def _kind_of(owner: ModuleType, name: str, value: Any) -> tuple[LibraryUse, ModuleType, str, Any]:
    if (owner.__name__, name) == ("sys", "modules"):
        return LibraryUse.MODULES, owner, name, value
    if type(value) in _LEAVES:
        return LibraryUse.SETTING, owner, name, value
    if isinstance(value, tuple):  # `sys.version_info` and its like
        return LibraryUse.SETTING, owner, name, tuple(value)
    if is_library_type(value) or (library_value(value) is not None and not callable(value)):
        return LibraryUse.NOTHING, owner, name, value
    outside = looks_outside(owner.__name__, name)
    if callable(value) or (outside and not isinstance(value, _CONTAINERS)):
        return LibraryUse.CALLABLE, owner, name, value
    return (LibraryUse.DATA if isinstance(value, _CONTAINERS) else LibraryUse.NOTHING), owner, name, value

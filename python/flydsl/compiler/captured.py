"""Values a traced function takes from around it: globals and closure variables, its helpers' included.

They are constants of the compiled code. A call compares them with what they were when the code was
compiled, so that changing one compiles again instead of running with the old value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

_PLAIN = (bool, int, float, str, bytes, type(None))
_MISSING = object()


def _is_plain(value: Any) -> bool:
    """Whether a value is a constant that can be compared: numbers, texts, and tuples of them."""
    if isinstance(value, tuple):
        return all(_is_plain(item) for item in value)
    return isinstance(value, _PLAIN)


def _names(code: CodeType) -> Iterator[str]:
    """Global names a function reads, those of functions inside it too."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is_ours(function: FunctionType) -> bool:
    """Functions of this package take nothing from the user. Code run from a text may have no module."""
    return (function.__module__ or "").split(".")[0] == "flydsl"


def _function_of(value: Any) -> FunctionType | None:
    """The Python function behind a helper, kernel or jit function."""
    inner = getattr(value, "func", value)
    return inner if isinstance(inner, FunctionType) else None


Read = Callable[[], Any]


class Captured:
    """What a function and everything it reaches take from around them, and how to read it again."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self._reads: list[tuple[Read, Any]] = []
        self._seen: set[int] = set()
        self._visit(func)

    def _visit(self, func: Any) -> None:
        function = _function_of(func)
        if function is None or id(function) in self._seen or _is_ours(function):
            return
        self._seen.add(id(function))
        scope = function.__globals__
        for name in dict.fromkeys(_names(function.__code__)):
            if name in scope:
                self._note(lambda s=scope, n=name: s.get(n, _MISSING), scope[name])
        for cell in function.__closure__ or ():
            self._note(lambda c=cell: _contents(c), _contents(cell))

    def _note(self, read: Read, value: Any) -> None:
        if _is_plain(value):
            self._reads.append((read, value))
        elif _function_of(value) is not None:
            self._visit(value)

    def unchanged(self) -> bool:
        """Whether every value is still what it was. True and 1 are told apart."""
        for read, value in self._reads:
            now = read()
            if now is not value and (now != value or type(now) is not type(value)):
                return False
        return True


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return _MISSING

"""What jit functions and kernels have in common as objects: the function they stand for, and its name.

Such an object replaces the function under the function's own name, so it is pickled as functions are: by the name under
which another process finds it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any, ClassVar, Self

from flydsl.base.errors import DslTypeError
from flydsl.compiler.messages.diagnostics import definition_of


class Decorated:
    """An object that stands for a function, under its name."""

    __name__: str
    __qualname__: str
    what: ClassVar[str]
    """What errors call it."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self.func = func
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(self, name, getattr(func, name))
        self.__wrapped__ = func

    def __deepcopy__(self, memo: object) -> Self:
        """Return the function itself, as Python does for its own; `copy.copy` too."""
        return self

    def __copy__(self) -> Self:
        return self

    def __reduce__(self) -> str:
        """Return the name in its module, for pickling."""
        found: Any = sys.modules.get(self.__module__)
        for part in self.__qualname__.split("."):
            found = getattr(found, part, None)
        if found is not self:
            raise DslTypeError(
                f"{self.what} is pickled by its name, and {self.__module__}.{self.__qualname__} is not this one",
                hint="define it at the top level of a module, under the name of its function",
            )
        return self.__qualname__


def check_decorated(func: Any, decorator: str) -> None:
    """Refuse to decorate what does not run when it is called. (A `yield` may end the iterations of a loop.)"""
    if not inspect.isfunction(func):
        raise DslTypeError(f"{decorator} decorates a function, got {type(func).__name__}")
    if inspect.iscoroutinefunction(func) or inspect.isasyncgenfunction(func):
        raise DslTypeError(
            f"{decorator} cannot decorate 'async def {func.__name__}': calling it would run nothing of it",
            hint="write `def`; a launch returns at once, and an `async` function may call it",
            location=definition_of(func),
        )

"""Small tools of the original: pictures of layouts, attributes of classes that are made when first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import IO, Any

from flydsl.layout import show


def print_typst(value: Any, *, color: bool = False, file: IO[str] | str | None = None) -> None:
    """Print a layout as a table in Typst's language, with a shade for each value; ``file`` is a stream or a path."""
    text = show.typst_table(getattr(value, "payload", value), color=color)
    if isinstance(file, str):
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(text + "\n")
    else:
        print(text, file=file or sys.stdout)


class lazy_classattr:  # noqa: N801
    """A class attribute that a function of the class makes when it is first asked for."""

    def __init__(self, make: Callable[[type], Any]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        value = self._make(owner)
        setattr(owner, self._name, value)
        return value


__all__ = ["lazy_classattr", "print_typst"]

"""Which fast-math flags a float operation gets.

An explicit keyword wins, then the innermost `fastmath()` block. The compiler applies a compile hint by
tracing inside a block of its own, so the hint is simply the outermost block.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.enum import FastMathFlags

Flags: TypeAlias = "FastMathFlags | str | bool | Iterable[FastMathFlags | str] | None"
FlagAttrs: TypeAlias = "Mapping[str, str] | None"


class _Scope(threading.local):
    attrs: FlagAttrs = None


_scope = _Scope()


def parse_flags(flags: Flags) -> FastMathFlags:
    """Flags from an enum member, a union, a name, comma-separated names, or a list of those."""
    if isinstance(flags, FastMathFlags):
        return flags
    if flags is None or isinstance(flags, bool):
        return FastMathFlags.fast if flags else FastMathFlags.none
    if isinstance(flags, str):
        return _parse_names(flags)
    if not isinstance(flags, Iterable):
        raise DslTypeError(f"{flags!r} is not a set of fast-math flags", hint="pass fx.FastMathFlags members or names")
    result = FastMathFlags.none
    for flag in flags:
        result |= parse_flags(flag)
    return result


def _parse_names(names: str) -> FastMathFlags:
    result = FastMathFlags.none
    for name in names.replace("|", ",").split(","):
        member = FastMathFlags.__members__.get(name.strip())
        if member is None:
            known = " ".join(FastMathFlags.__members__)
            raise DslValueError(f"unknown fast-math flag {name.strip()!r}", hint=f"the flags are: {known}")
        result |= member
    return result


def flag_attrs(flags: Flags) -> FlagAttrs:
    """Return the attribute dictionary for explicit flags; None means the current block decides."""
    if flags is None:
        return _scope.attrs
    parsed = parse_flags(flags)
    return {"fastmath": parsed.text} if parsed is not FastMathFlags.none else None


def scoped_attrs() -> FlagAttrs:
    """Return the attribute dictionary of the innermost `fastmath()` block."""
    return _scope.attrs


@contextmanager
def fastmath(flags: Flags) -> Iterator[None]:
    """Give every float operation traced inside the block these flags."""
    previous = _scope.attrs
    parsed = parse_flags(flags)
    _scope.attrs = {"fastmath": parsed.text} if parsed is not FastMathFlags.none else None
    try:
        yield
    finally:
        _scope.attrs = previous

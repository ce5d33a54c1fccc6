"""A value in a sentence to the user: short, on one line, whatever the value's own text does."""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any

_LONGEST = 60


def shown(value: Any) -> str:
    """Return the text of a value, shortened."""
    if isinstance(value, FunctionType):
        return f"{value.__name__}() of {value.__code__.co_filename}:{value.__code__.co_firstlineno}"
    if isinstance(value, (type, ModuleType)):
        return value.__name__
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # the user's own text may fail
        text = f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


# The variable that a line of source assigns to: how a report calls memory that has no other name ----


@lru_cache(maxsize=256)
def assigned_name(file: str, line: int) -> str:
    """Return the target of the assignment around a line, as it is written; empty when there is none."""
    source = "".join(linecache.getlines(file))
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ""
    found: ast.stmt | None = None
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.Assign, ast.AnnAssign))
            and node.lineno <= line <= (node.end_lineno or node.lineno)
            and (found is None or node.lineno >= found.lineno)
        ):
            found = node
    if isinstance(found, ast.Assign):
        return ast.unparse(found.targets[0])
    return ast.unparse(found.target) if isinstance(found, ast.AnnAssign) else ""

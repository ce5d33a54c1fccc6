"""The variable that a line of source assigns to: how a report calls memory that has no other name."""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache


@lru_cache(maxsize=256)
def assigned_name(file: str, line: int) -> str:
    """The target of the assignment around a line, as it is written; empty when there is none."""
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

"""A family of devices is one object: nobody outside `backends` and `target` tells families apart by their names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.style.import_graph import modules

NAMES = {"host", "cuda", "rocm"}
QUOTED = [f"{mark}{name}{mark}" for name in sorted(NAMES) for mark in "\"'"]
MAY_COMPARE = ("backends", "target")
"""Folders, wherever they lie, whose files are about families."""


def names_in(node: ast.AST | None) -> bool:
    """Whether a family's name is written out in an expression."""
    return node is not None and any(isinstance(n, ast.Constant) and n.value in NAMES for n in ast.walk(node))


def tells_apart(tree: ast.AST) -> Iterator[int]:
    """Lines where a family's name decides something: compared, matched, or the key of a table."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            found = any(names_in(side) for side in (node.left, *node.comparators))
        elif isinstance(node, ast.Dict):
            # A description for other programs may well have a key of that name; a table has several.
            found = sum(isinstance(key, ast.Constant) and key.value in NAMES for key in node.keys) > 1
        elif isinstance(node, ast.MatchValue):
            found = names_in(node.value)
        elif isinstance(node, ast.Subscript):
            found = isinstance(node.slice, ast.Constant) and node.slice.value in NAMES
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found = node.func.attr in ("startswith", "endswith", "get") and any(map(names_in, node.args))
        else:
            found = False
        if found:
            yield node.lineno  # type: ignore[attr-defined]


def test_no_name_of_a_family_decides(repository: Path) -> None:
    found = [
        f"{name}:{line}"
        for name, path in modules(repository).items()
        if not set(name.split(".")) & set(MAY_COMPARE)
        if any(quoted in (text := path.read_text(encoding="utf-8")) for quoted in QUOTED)
        for line in tells_apart(ast.parse(text))
    ]
    assert not found, "ask flydsl.target.family, or the object in compiler/backends/families.py: " + ", ".join(found)


@pytest.mark.parametrize(
    "text",
    [
        'x == "cuda"', 'kind in ("host", "gpu")', 'T = {"cuda": 1, "rocm": 2}', 'kind.startswith("rocm")', 't["host"]',
        'match kind:\n    case "cuda":\n        pass',
    ],
)  # fmt: skip
def test_what_tells_families_apart(text: str) -> None:
    assert list(tells_apart(ast.parse(text)))


@pytest.mark.parametrize("text", ['require("wgmma", "cuda")', 'kind = "rocm"', 'd = {"host": {"triple": t}}'])
def test_what_does_not(text: str) -> None:
    assert not list(tells_apart(ast.parse(text)))

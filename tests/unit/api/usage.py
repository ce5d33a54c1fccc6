"""Which names of the package the executed code of this repository uses, found by reading it.

Executed are the tests, the Python blocks of the documents, the examples and the kernels. A use is a dotted name whose
first part is an import of `flydsl` or of the checkout's `kernels` (``fx.gpu.barrier``), an imported name, or, for
members of classes, an attribute of any object (``tensor.load``) or a method of that name that a class defines (the
protocols' dunder methods).
"""

from __future__ import annotations

import ast
import doctest
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from flydsl.compiler.rewrite.syntax import everything
from tests.docs.blocks import runnable

PACKAGES = ("flydsl", "kernels")
TREES = ("tests", "examples", "python/flydsl/kernels")
SELF = "test_api_names.py"
"""Speaks about every name and uses none."""


@dataclass
class Usage:
    """What one program, or all of them, use."""

    names: set[str] = field(default_factory=set)
    """Full dotted names, with everything above them."""
    members: set[str] = field(default_factory=set)
    """Names of attributes and methods."""

    def add(self, dotted: str) -> None:
        parts = dotted.split(".")
        self.names.update(".".join(parts[:count]) for count in range(1, len(parts) + 1))


def read(tree: ast.AST, usage: Usage) -> None:
    """Collect the uses of one program, wherever in it names are imported."""
    aliases: dict[str, str] = {}
    chains: list[ast.Attribute] = []
    for node in everything(tree):
        if isinstance(node, ast.Attribute):
            chains.append(node)
            usage.members.add(node.attr)
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("__"):
            usage.members.add(node.name)
        elif isinstance(node, ast.Import):
            for name in node.names:
                package = name.name.split(".")[0]
                if package in PACKAGES:
                    aliases[name.asname or package] = name.name if name.asname else package
                    usage.add(name.name)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in PACKAGES:
            for name in node.names:
                aliases[name.asname or name.name] = f"{node.module}.{name.name}"
                usage.add(f"{node.module}.{name.name}")
    for chain in chains:
        dotted = full_name(chain, aliases)
        if dotted is not None:
            usage.add(dotted)


def full_name(node: ast.expr, aliases: dict[str, str]) -> str | None:
    """The full name that an attribute chain stands for, if it starts at an import of the package."""
    if isinstance(node, ast.Name):
        return aliases.get(node.id)
    if isinstance(node, ast.Attribute):
        base = full_name(node.value, aliases)
        return None if base is None else f"{base}.{node.attr}"
    return None


def _document(text: str) -> str:
    """The Python of a document as one program; prompts and expected output are left out."""
    parts: list[str] = []
    for block in runnable(text):
        source = "\n".join(block.lines) + "\n"
        if source.lstrip().startswith(">>>"):
            source = "".join(example.source for example in doctest.DocTestParser().get_examples(source))
        parts.append(source)
    return "".join(parts)


def programs(repository: Path) -> Iterator[str]:
    """The text of everything that the tests execute."""
    for tree in TREES:
        for path in sorted((repository / tree).rglob("*.py")):
            if path.name != SELF:
                yield path.read_text(encoding="utf-8")
    for page in (repository / "README.md", *sorted((repository / "docs").rglob("*.md"))):
        yield _document(page.read_text(encoding="utf-8"))


@cache
def usage_of(repository: Path) -> Usage:
    """What all programs use together."""
    usage = Usage()
    for text in programs(repository):
        if any(package in text for package in PACKAGES):
            read(ast.parse(text), usage)
    return usage

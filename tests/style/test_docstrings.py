"""Docstrings of functions are sentences: they say what the function does, not only what it gives."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from flydsl.compiler.rewrite.syntax import everything

QUESTIONS = ("Whether", "What", "How", "Why", "Which", "Who", "Where")
"""Words that begin a clause, not a sentence: ``Return whether ...`` is one."""
ARTICLES = ("The", "A", "An")
MOST_ARTICLES = 30
"""How many docstrings of functions that return something begin with an article. Lower it when it falls."""
NAMED_FOR_VALUES = ("property", "overload", "contextmanager")
"""Decorators of functions whose docstring may be a noun: a property is what it gives."""


@cache
def returning(package: Path) -> list[tuple[str, str]]:
    """(place, docstring) of every documented function that returns something."""
    return list(_returning(package))


def _returning(package: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(package.rglob("*.py")):
        for node in everything(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.returns is None:
                continue
            decorators = " ".join(ast.unparse(decorator) for decorator in node.decorator_list)
            if ast.unparse(node.returns) == "None" or any(word in decorators for word in NAMED_FOR_VALUES):
                continue
            if text := ast.get_docstring(node):
                yield f"{path.relative_to(package).as_posix()}:{node.lineno} {node.name}", text


def test_a_docstring_is_no_clause(repository: Path) -> None:
    texts = returning(repository / "python/flydsl")
    found = [place for place, text in texts if text.startswith("(") or text.split()[0] in QUESTIONS]
    assert not found, 'begin with a verb ("Return whether ..."):\n' + "\n".join(found)


def test_few_docstrings_begin_with_an_article(repository: Path) -> None:
    """Some are sentences whose subject comes first; most would be a noun without a verb."""
    found = [place for place, text in returning(repository / "python/flydsl") if text.split()[0] in ARTICLES]
    assert len(found) <= MOST_ARTICLES, f"{len(found)}, at most {MOST_ARTICLES}:\n" + "\n".join(found)

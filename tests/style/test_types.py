"""Types say something: a falling budget of parameters that are annotated with `Any`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SHARES = {
    "_mlir": 50.5,
    "autotune": 27.0,
    "backends": 1.0,
    "base": 11.5,
    "codegen": 1.0,
    "compiler": 20.5,
    "dialects": 15.0,
    "expr": 44.0,
    "extension": 0.0,
    "layout": 31.0,
    "native": 0.0,
    "passes": 3.5,
    "runtime": 7.0,
    "target": 0.0,
    "tools": 1.5,
    "utils": 33.5,
}
"""Package -> per cent of its parameters that may be `Any`. Lower a number when it falls; none is raised."""

LIBRARIES = ("kernels", "ops")
"""What a kernel takes is traced, and what an op takes is an array of any library."""

SLACK = 3.0
"""How far a number may lie above the truth before it has to be lowered."""


def parameters(tree: ast.AST) -> Iterator[ast.arg]:
    """Every parameter of every function, but for the object a method belongs to."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            given = node.args
            named = (*given.posonlyargs, *given.args, *given.kwonlyargs)
            starred = (one for one in (given.vararg, given.kwarg) if one is not None)
            yield from (one for one in (*named, *starred) if one.arg not in ("self", "cls"))


def is_any(parameter: ast.arg) -> bool:
    return isinstance(parameter.annotation, ast.Name) and parameter.annotation.id == "Any"


def share(package: Path) -> float:
    found = [is_any(one) for path in package.rglob("*.py") for one in parameters(ast.parse(path.read_bytes()))]
    return 100 * sum(found) / max(len(found), 1)


def packages(repository: Path) -> list[Path]:
    return sorted(path.parent for path in (repository / "python" / "flydsl").glob("*/__init__.py"))


@pytest.mark.parametrize("name", SHARES)
def test_few_parameters_are_any(name: str, repository: Path) -> None:
    found = share(repository / "python" / "flydsl" / name)
    assert found <= SHARES[name], f"{found:.1f} % of the parameters of {name} are Any, {SHARES[name]} % may be"
    assert found > SHARES[name] - SLACK, f"only {found:.1f} % of the parameters of {name} are Any now: lower the number"


def test_every_package_has_a_number(repository: Path) -> None:
    assert {*SHARES, *LIBRARIES} == {package.name for package in packages(repository)}


def test_what_counts() -> None:
    tree = ast.parse("def f(self, a: Any, b: int, *c: Any, d: Any | None = None): ...")
    assert [(one.arg, is_any(one)) for one in parameters(tree)] == [
        ("a", True),
        ("b", False),
        ("d", False),
        ("c", True),
    ]

"""The few shapes of generated code. Nodes take the position of the source they stand for."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeVar

HIDDEN = "__fly__"
"""The name by which generated code reaches its ControlFlow object."""

N = TypeVar("N", bound=ast.AST)


def at(place: ast.AST, node: N) -> N:
    """The node, placed where ``place`` is; new nodes inside it are placed there when the whole tree is done."""
    return ast.copy_location(node, place)


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def call(method: str, *arguments: ast.expr | int | bool | str, place: ast.AST) -> ast.Call:
    """``__fly__.method(arguments)``."""
    values = [ast.Constant(a) if isinstance(a, (int, str)) else a for a in arguments]
    return at(place, ast.Call(ast.Attribute(load(HIDDEN), method, ast.Load()), values, []))


def statement(method: str, *arguments: ast.expr | int, place: ast.AST) -> ast.Expr:
    return at(place, ast.Expr(call(method, *arguments, place=place)))


def thunk(expression: ast.expr) -> ast.Lambda:
    """``lambda: expression``."""
    return at(expression, ast.Lambda(no_parameters(), expression))


def no_parameters() -> ast.arguments:
    return ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


def function(name: str, parameters: Sequence[str], body: list[ast.stmt], place: ast.AST) -> ast.FunctionDef:
    arguments = no_parameters()
    arguments.args = [ast.arg(parameter) for parameter in parameters]
    node = ast.FunctionDef(name=name, args=arguments, body=body or [ast.Pass()], decorator_list=[])
    if "type_params" in ast.FunctionDef._fields:
        node.type_params = []  # type: ignore[attr-defined]
    return at(place, node)


def unreachable_binding(names: Sequence[str], place: ast.AST) -> ast.If:
    """``if False: a = b = None``: makes names variables of a function that assigns them only in nested ones."""
    targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
    return at(place, ast.If(ast.Constant(False), [ast.Assign(targets, ast.Constant(None))], []))

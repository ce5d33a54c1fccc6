"""`and`, `or`, `not`, chained comparisons and conditional expressions::

    a and b          __fly__.all_of(a, lambda: b)
    not a            __fly__.opposite(a)
    a < b < c        __fly__.compare(a, ('<', lambda: b), ('<', lambda: c))
    a in b           __fly__.compare(a, ('in', lambda: b))
    a if t else b    __fly__.choose(1, t, lambda: a, lambda: b)

Each operand occurs once, so what it does happens once.
"""

from __future__ import annotations

import ast

from flydsl.compiler.rewrite import checks, syntax
from flydsl.compiler.rewrite.context import Context
from flydsl.compiler.rewrite.jumps import is_const_expr

_SYMBOLS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_BOUND_TO_SCOPE = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
"""Expressions that mean something else inside a lambda."""


def _stays_in_scope(*nodes: ast.AST) -> bool:
    return any(isinstance(inner, _BOUND_TO_SCOPE) for node in nodes for inner in syntax.everything(node))


def rewrite_bool_op(context: Context, node: ast.BoolOp) -> ast.expr:
    is_or = isinstance(node.op, ast.Or)
    pinned = _stays_in_scope(*node.values[1:])
    values = [context.visit(value) for value in node.values]
    if pinned:
        return _in_scope(node, values, is_or)
    rest = [syntax.thunk(value) for value in values[1:]]
    return syntax.call("any_of" if is_or else "all_of", values[0], *rest, place=node)


def _in_scope(node: ast.BoolOp, values: list[ast.expr], is_or: bool) -> ast.expr:
    """``t if __fly__.stops(t := a, False) else __fly__.joined(t, b, False)``: no lambda around ``b``."""
    left = values[0]
    for right in values[1:]:
        name = f"__fly_left_{right.lineno}_{right.col_offset}"
        stops = syntax.call("stops", ast.NamedExpr(ast.Name(name, ast.Store()), left), is_or, place=node)
        joined = syntax.call("joined", syntax.load(name), right, is_or, place=node)
        left = syntax.at(node, ast.IfExp(stops, syntax.load(name), joined))
    return left


def rewrite_not(context: Context, node: ast.UnaryOp) -> ast.expr:
    context.generic_visit(node)
    return syntax.call("opposite", node.operand, place=node) if isinstance(node.op, ast.Not) else node


def rewrite_compare(context: Context, node: ast.Compare) -> ast.expr:
    """A single comparison is Python's own, unless Python would make a bool of it, as it does of `in`.

    A chain with `:=` in it stays one, for conditions known while tracing.
    """
    ours = len(node.ops) > 1 or isinstance(node.ops[0], (ast.In, ast.NotIn))
    pinned = _stays_in_scope(*node.comparators)
    context.generic_visit(node)
    if pinned or not ours:
        return node
    steps = [
        ast.Tuple([ast.Constant(_SYMBOLS[type(op)]), syntax.thunk(value)], ast.Load())
        for op, value in zip(node.ops, node.comparators)
    ]
    return syntax.call("compare", node.left, *steps, place=node)


def rewrite_if_exp(context: Context, node: ast.IfExp) -> ast.expr:
    if is_const_expr(node.test):
        context.generic_visit(node)
        return node
    location = context.location(node)
    refusals = context.region_refusals("conditional expression", location, {})
    if _stays_in_scope(node.body, node.orelse):
        number = context.site("conditional expression", location, [*refusals, checks.walrus_in_branch(location)])
        context.generic_visit(node)
        node.test = syntax.call("static", number, node.test, place=node.test)
        return node
    number = context.site("conditional expression", location, refusals)
    context.generic_visit(node)
    return syntax.call("choose", number, node.test, syntax.thunk(node.body), syntax.thunk(node.orelse), place=node)

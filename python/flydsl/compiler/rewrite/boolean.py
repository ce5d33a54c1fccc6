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
from flydsl.compiler.rewrite.jumps import ENDS_EARLY, is_const_expr
from flydsl.compiler.rewrite.syntax import Context

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
    rebound = [_rebound(context, value) for value in node.values[1:]] if pinned else []
    values = [context.visit(value) for value in node.values]
    if pinned:
        return _in_scope(context, node, values, rebound)
    rest = [syntax.thunk(value) for value in values[1:]]
    return syntax.call("any_of" if is_or else "all_of", values[0], *rest, place=node)


def _rebound(context: Context, right: ast.expr) -> list[ast.NamedExpr]:
    """Return each `:=` of a right side that gives a new value to a name which the function binds elsewhere too."""
    inside = syntax.everything(right)
    within, nodes = set(map(id, inside)), syntax.own_nodes(context.scope.node)
    stores = [node for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    elsewhere = {node.id for node in stores if id(node) not in within} | {*syntax.parameters(context.scope.node)}
    return [node for node in inside if isinstance(node, ast.NamedExpr) and node.target.id in elsewhere]


def _in_scope(
    context: Context, node: ast.BoolOp, values: list[ast.expr], rebound: list[list[ast.NamedExpr]]
) -> ast.expr:
    """``t if __fly__.stops(t := a, False) else __fly__.joined(t, b, False)``: no lambda around ``b``."""
    left, is_or = values[0], isinstance(node.op, ast.Or)
    for right, walruses in zip(values[1:], rebound):
        name = f"__fly_left_{right.lineno}_{right.col_offset}"
        for walrus in walruses:
            right = _settling(context, walrus, right, name, is_or)
        stops = syntax.call("stops", _bind(name, left), is_or, place=node)
        joined = syntax.call("joined", syntax.load(name), right, is_or, place=node)
        left = syntax.at(node, ast.IfExp(stops, syntax.load(name), joined))
    return left


def _settling(context: Context, walrus: ast.NamedExpr, right: ast.expr, left: str, is_or: bool) -> ast.expr:
    """``(old := __fly__.kept(lambda: y), b, y := __fly__.settled(1, t, old, y, False))[1]``, for `y := ...` in ``b``.

    Both sides are evaluated once the left is a run-time value; what `:=` binds counts only where Python gets to it.
    """
    name, old = walrus.target.id, f"__fly_kept_{walrus.lineno}_{walrus.col_offset}"
    location = context.location(walrus)
    number = context.site("or" if is_or else "and", location, [checks.walrus_behind(name, is_or, location)])
    kept = syntax.call("kept", syntax.thunk(syntax.at(walrus, syntax.load(name))), place=walrus)
    pieces = (syntax.load(left), syntax.load(old), syntax.load(name))
    settled = syntax.call("settled", number, *pieces, is_or, place=walrus)
    steps = ast.Tuple([_bind(old, kept), right, _bind(name, settled)], ast.Load())
    return syntax.at(right, ast.Subscript(steps, ast.Constant(1), ast.Load()))


def _bind(name: str, value: ast.expr) -> ast.NamedExpr:
    return ast.NamedExpr(ast.Name(name, ast.Store()), value)


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
    refusals = checks.region_refusals(context, "conditional expression", location, {})
    if _stays_in_scope(node.body, node.orelse):
        refusals = [*refusals, checks.walrus_in_branch(location, hasattr(node, ENDS_EARLY))]
        number = context.site("conditional expression", location, refusals)
        context.generic_visit(node)
        node.test = syntax.call("static", number, node.test, place=node.test)
        return node
    number = context.site("conditional expression", location, refusals)
    context.generic_visit(node)
    return syntax.call("choose", number, node.test, syntax.thunk(node.body), syntax.thunk(node.orelse), place=node)

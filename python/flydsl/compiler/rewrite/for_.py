"""`for` loops over `range`::

    for i in range(n):      def __fly_body_1(__fly_item):
        x = x + i               nonlocal i, x
                                i = __fly_item
                                x = x + i
                            __fly__.for_(1, __fly_body_1, n)

and, with explicit state::

    for i, state in range(a, b, c, init=[x]):   def __fly_body_1(__fly_item):
        y = state[0] + i                            nonlocal i, state, y
        r = yield [y]                               i, state = __fly_item
                                                    y = state[0] + i
                                                    return [y]
                                                r = __fly__.for_init(1, __fly_body_1, a, b, c, init=[x])

A loop that a flag may end (`jumps.py`) calls ``__fly__.for_until(1, body, lambda: flag, n)``. Every other iterable,
range_constexpr() among them, is a Python loop and stays one.
"""

from __future__ import annotations

import ast

from flydsl.compiler.rewrite import checks, syntax
from flydsl.compiler.rewrite.jumps import UNTIL, explicit_init, is_const_expr, run_time_range
from flydsl.compiler.rewrite.liveness import assigned_lines, changed_names
from flydsl.compiler.rewrite.syntax import PYTHON_LOOP, Context, bound_names, yield_of
from flydsl.expr.flow.site import Refusal

_ITEM = "__fly_item"


def rewrite_for(context: Context, node: ast.For) -> list[ast.stmt]:
    called = run_time_range(node) if context.range_is_builtin else None
    if called is None:
        return [_python_loop(context, node)]
    explicit = explicit_init(node) is not None
    last = yield_of(node.body[-1]) if explicit else None
    source: list[ast.AST] = [node.target, *(node.body[:-1] if last is not None else node.body)]
    names = bound_names(source)
    location = context.location(node, node.iter)
    scope = context.scope
    lines = assigned_lines(source)
    if last is not None:
        lines["yield"] = (last.lineno, 0)
    carried = (scope.head[node] | scope.after[node]) & names.keys()
    number = context.site(
        "for",
        location,
        [*_shape_refusals(context, node, explicit), *checks.region_refusals(context, "for", location, names)],
        names=tuple(names),
        live=carried,
        carried=carried,
        changed=frozenset(changed_names(source)),
        lines=lines,
    )
    if not isinstance(node.target, ast.Name) and not explicit:
        return [syntax.statement("refuse", number, place=node)]
    body = _body(context, node, number, last)
    until = getattr(node, UNTIL, None)
    method = "for_init" if explicit else "for_" if until is None else "for_until"
    run = syntax.call(method, number, syntax.load(body.name), place=node.iter)
    if until is not None:
        run.args.append(syntax.at(node.iter, syntax.thunk(syntax.at(node.iter, syntax.load(until)))))
    run.args += [context.visit(argument) for argument in called.args]
    run.keywords = [context.visit(keyword) for keyword in called.keywords]
    results = node.body[-1]
    done: ast.stmt = syntax.at(node.iter, ast.Expr(run))
    if isinstance(results, ast.Assign) and last is not None:
        done = syntax.at(results, ast.Assign(results.targets, run))
    return [body, done, *context.block(node.orelse)]  # a loop that may be left has no `else` any more


def _python_loop(context: Context, node: ast.For) -> ast.For:
    node.target, node.iter = context.visit(node.target), context.visit(node.iter)
    context.scope.loops.append(PYTHON_LOOP)
    node.body = context.block(node.body)
    context.scope.loops.pop()
    node.orelse = context.block(node.orelse)
    return node


def _shape_refusals(context: Context, node: ast.For, explicit: bool) -> list[Refusal]:
    found: list[Refusal] = []
    pair = isinstance(node.target, (ast.Tuple, ast.List)) and len(node.target.elts) == 2
    if not (pair if explicit else isinstance(node.target, ast.Name)):
        found.append(checks.loop_target(context.location(node.target)))
    if explicit and yield_of(node.body[-1]) is None:
        found.append(checks.missing_yield(context.location(node.body[-1])))
    return found


def _body(context: Context, node: ast.For, number: int, last: ast.Yield | None) -> ast.FunctionDef:
    statements = node.body if last is None else node.body[:-1]
    take = syntax.at(node.target, ast.Assign([context.visit(node.target)], syntax.load(_ITEM)))
    context.scope.loops.append(number)
    with context.region(number):
        body = [take, *context.block(statements)]
        if last is not None:
            value = context.visit(last.value) if last.value is not None else ast.List([], ast.Load())
            body.append(syntax.at(last, ast.Return(value)))
    context.scope.loops.pop()
    return context.nested(f"__fly_body_{number}", [_ITEM], context.sites[number].names, body, node)


# `while` loops call ``__fly__.while_(1, test, body)`` ----------------------------------------------


def rewrite_while(context: Context, node: ast.While) -> list[ast.stmt]:
    if is_const_expr(node.test):
        return [_python_while(context, node)]
    source: list[ast.AST] = [node.test, *node.body]
    names = bound_names(source)
    location = context.location(node, node.test)
    scope = context.scope
    number = context.site(
        "while",
        location,
        checks.region_refusals(context, "while", location, names),
        names=tuple(names),
        carried=(scope.head[node] | scope.after[node]) & names.keys(),
        changed=frozenset(changed_names(source)),
        lines=assigned_lines(source),
    )
    in_test, in_body = bound_names([node.test]), bound_names(node.body)
    with context.region(number):
        result = syntax.at(node.test, ast.Return(context.visit(node.test)))
        body = context.block(node.body)
    parts = (
        context.nested(f"__fly_test_{number}", (), in_test, [result], node.test),
        context.nested(f"__fly_body_{number}", (), in_body, body, node.body[0]),
    )
    run = syntax.statement("while_", number, *(syntax.load(part.name) for part in parts), place=node.test)
    return [*parts, run, *context.block(node.orelse)]


def _python_while(context: Context, node: ast.While) -> ast.While:
    node.test = context.visit(node.test)
    context.scope.loops.append(PYTHON_LOOP)
    with context.condition():
        node.body = context.block(node.body)
    context.scope.loops.pop()
    node.orelse = context.block(node.orelse)
    return node

"""`while` loops::

    while x < n:        def __fly_test_1():
        x = x * 2           return x < n
                        def __fly_body_1():
                            nonlocal x
                            x = x * 2
                        __fly__.while_(1, __fly_test_1, __fly_body_1)

A loop with a `return`, or with a `break` or `continue` of its own, stays a Python loop, whose condition has to be
known while tracing.
"""

from __future__ import annotations

import ast

from flydsl.compiler.rewrite import build, checks
from flydsl.compiler.rewrite.context import PYTHON_LOOP, Context, assigned_lines, is_const_expr
from flydsl.compiler.rewrite.names import bound_names, changed_names


def rewrite_while(context: Context, node: ast.While) -> list[ast.stmt]:
    if is_const_expr(node.test):
        return [_python_loop(context, node)]
    leaving = checks.jumps(node.body)
    if leaving:
        return [_in_place(context, node, leaving)]
    source: list[ast.AST] = [node.test, *node.body]
    names = bound_names(source)
    location = context.location(node, node.test)
    liveness = context.scope.liveness
    refusals = context.region_refusals("while", location, names)
    if node.orelse:
        refusals.insert(0, checks.loop_else("while", context.location(node.orelse[0])))
    number = context.site(
        "while",
        location,
        refusals,
        names=tuple(names),
        carried=(liveness.head[node] | liveness.after[node]) & names.keys(),
        changed=frozenset(changed_names(source)),
        lines=assigned_lines(source),
    )
    in_test, in_body = bound_names([node.test]), bound_names(node.body)
    with context.region(number):
        result = build.at(node.test, ast.Return(context.visit(node.test)))
        body = context.block(node.body)
    parts = (
        context.nested(f"__fly_test_{number}", (), in_test, [result], node.test),
        context.nested(f"__fly_body_{number}", (), in_body, body, node.body[0]),
    )
    run = build.statement("while_", number, *(build.load(part.name) for part in parts), place=node.test)
    return [*parts, run, *context.block(node.orelse)]


def _python_loop(context: Context, node: ast.While) -> ast.While:
    node.test = context.visit(node.test)
    context.scope.loops.append(PYTHON_LOOP)
    with context.condition():
        node.body = context.block(node.body)
    context.scope.loops.pop()
    node.orelse = context.block(node.orelse)
    return node


def _in_place(context: Context, node: ast.While, leaving: list[ast.stmt]) -> ast.While:
    refusal = checks.jump_in_loop(leaving[0], "while", node.lineno, context.location(leaving[0]))
    number = context.site("while", context.location(node, node.test), [refusal])
    node = _python_loop(context, node)
    node.test = build.call("static", number, node.test, place=node.test)
    return node

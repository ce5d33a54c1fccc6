"""`while` loops::

while x < n:        def __fly_test_1():
    x = x * 2           return x < n
                    def __fly_body_1():
                        nonlocal x
                        x = x * 2
                    __fly__.while_(1, __fly_test_1, __fly_body_1)
"""

from __future__ import annotations

import ast

from flydsl.compiler.rewrite import build
from flydsl.compiler.rewrite.context import PYTHON_LOOP, Context, assigned_lines
from flydsl.compiler.rewrite.jumps import is_const_expr
from flydsl.compiler.rewrite.names import bound_names, changed_names


def rewrite_while(context: Context, node: ast.While) -> list[ast.stmt]:
    if is_const_expr(node.test):
        return [_python_loop(context, node)]
    source: list[ast.AST] = [node.test, *node.body]
    names = bound_names(source)
    location = context.location(node, node.test)
    liveness = context.scope.liveness
    number = context.site(
        "while",
        location,
        context.region_refusals("while", location, names),
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

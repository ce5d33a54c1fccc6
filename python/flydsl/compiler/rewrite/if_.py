"""`if` statements::

if test:            def __fly_then_1():
    x = a               nonlocal x
else:                   x = a
    x = b           def __fly_else_1():
                        nonlocal x
                        x = b
                    __fly__.if_(1, test, __fly_then_1, __fly_else_1)
"""

from __future__ import annotations

import ast

from flydsl.compiler.rewrite import checks, syntax
from flydsl.compiler.rewrite.jumps import LEFT, is_const_expr
from flydsl.compiler.rewrite.liveness import assigned_lines, changed_names
from flydsl.compiler.rewrite.syntax import PYTHON_CONDITION, Context, bound_names


def rewrite_if(context: Context, node: ast.If) -> list[ast.stmt]:
    if is_const_expr(node.test):
        with context.condition():
            context.generic_visit(node)
        return [node]
    names = bound_names([*node.body, *node.orelse])
    location = context.location(node, node.test)
    number = context.site(
        "if",
        location,
        checks.region_refusals(context, "if", location, names),
        names=tuple(names),
        live=context.scope.after[node] & names.keys(),
        changed=frozenset(changed_names([*node.body, *node.orelse])),
        lines=assigned_lines(node.body, node.orelse),
        left=getattr(node, LEFT, (False, False)),
    )
    made: list[ast.stmt] = []
    test = context.visit(node.test)
    arguments: list[ast.expr | int] = [number, test]
    for word, body in (("then", node.body), ("else", node.orelse)):
        if not body:
            continue
        name = f"__fly_{word}_{number}"
        assigned, place = bound_names(body), body[0]
        with context.region(number):
            made.append(context.nested(name, (), assigned, context.block(body), place))
        arguments.append(syntax.load(name))
    return [*made, syntax.statement("if_", *arguments, place=node.test)]


def rewrite_raise(context: Context, node: ast.Raise) -> ast.stmt | list[ast.stmt]:
    """A `raise` happens while tracing, whatever a run-time condition around it turns out to be."""
    context.generic_visit(node)
    nearest = next(iter(context.scope.conditions[::-1]), PYTHON_CONDITION)
    if nearest == PYTHON_CONDITION:
        return node
    around, location = context.sites[nearest], context.location(node)
    refusal = checks.raise_inside(around.kind, around.location.line, location)
    number = context.site("raise", location, [refusal], nearest=nearest)
    return [syntax.statement("outside", number, place=node), node]


def rewrite_jump(context: Context, node: ast.Return | ast.Break | ast.Continue) -> ast.stmt:
    """Return a jump that `jumps.py` left: Python's own, or one out of a loop with explicit state, which is refused."""
    scope = context.scope
    if isinstance(node, ast.Return):
        context.generic_visit(node)
        loops = [number for number in scope.loops if number >= 0]
    else:
        loops = [number for number in scope.loops[-1:] if number >= 0]
    if not loops:
        return node
    line = context.sites[loops[-1]].location.line
    refusal = checks.jump_in_loop(node, line, context.location(node))
    return syntax.statement("refuse", context.site("jump", context.location(node), [refusal]), place=node)

"""What a run-time condition or loop does not allow, found in the AST, with the line, the reason and the rewrite.

Whether a condition is a run-time one is only known while tracing. So most findings are refusals attached to a
site, raised when the site turns out to be a run-time one; a stray `yield` never has a meaning and is raised at once.
"""

from __future__ import annotations

import ast

from flydsl.base.errors import (
    DslControlFlowError,
    DslSyntaxError,
    DslTypeError,
    SourceLocation,
)
from flydsl.compiler.rewrite.syntax import Context, own_nodes, yield_of
from flydsl.expr.flow.site import Refusal

_WORDS = {ast.Return: "return", ast.Break: "break", ast.Continue: "continue"}


def jump_in_loop(jump: ast.stmt, line: int, location: SourceLocation) -> Refusal:
    """Return a jump out of the run-time loop of ``line``, which has explicit state."""
    word = _WORDS[type(jump)]
    return Refusal(
        DslControlFlowError if word == "return" else DslSyntaxError,
        f"`{word}` in the loop of line {line}, whose state is given by init=: every iteration has to reach its `yield`",
        "carry the values in variables instead: assign them before the loop and inside it, and write "
        "`for i in range(n):` without init=, which may be left anywhere",
        location,
    )


def raise_inside(kind: str, line: int, location: SourceLocation) -> Refusal:
    """Return a `raise` under the run-time condition, or in the run-time loop, of ``line``."""
    where = "under the run-time condition" if kind == "if" else f"in the run-time `{kind}` loop"
    return Refusal(
        DslControlFlowError,
        f"`raise` {where} of line {line}: it would be raised while tracing, whatever is decided later",
        "check the arguments in Python, before the call of the jit function; a kernel can tell of it with "
        "`fx.printf(...)`, or store a mark in a tensor that Python looks at afterwards. `raise` under a condition "
        "known while tracing works: of fx.Constexpr parameters, types, or extents of flyc.from_dlpack(x)",
        location,
    )


def captured_assignment(name: str, keyword: str, location: SourceLocation) -> Refusal:
    return Refusal(
        DslTypeError,
        f"'{name}' is declared `{keyword}` and assigned under a run-time condition or in a run-time loop: "
        "it would keep a value that exists only inside",
        f"assign a variable of this function instead, and after the region: {name} = ...",
        location,
    )


def attribute_assignment(target: str, location: SourceLocation) -> Refusal:
    return Refusal(
        DslTypeError,
        f"{target} is assigned under a run-time condition or in a run-time loop: a Python object cannot hold "
        "what is only decided at run time",
        f"assign a variable instead, and after the region: {target} = ...; a types.SimpleNamespace or dict is carried",
        location,
    )


def inside_try(kind: str, line: int, location: SourceLocation) -> Refusal:
    return Refusal(
        DslSyntaxError,
        f"a run-time `{kind}` inside the `try` of line {line}: nothing can be caught while a kernel runs",
        "keep the `try` around what happens while tracing, and move the run-time part out of it",
        location,
    )


def try_inside(location: SourceLocation) -> Refusal:
    return Refusal(
        DslSyntaxError,
        "`try` under a run-time condition or in a run-time loop: nothing can be caught while a kernel runs",
        "test for the condition with `if`; a function of the module, called here, may catch errors of tracing",
        location,
    )


def with_inside(location: SourceLocation) -> Refusal:
    return Refusal(
        DslSyntaxError,
        "`with` under a run-time condition or in a run-time loop: its context manager acts while tracing, "
        "once, whatever the condition",
        "put the `with` around the branch or loop (fx.fastmath and the other managers of flydsl may stand inside)",
        location,
    )


def loop_target(location: SourceLocation) -> Refusal:
    return Refusal(
        DslTypeError,
        "the target of a run-time `for … in range(…)` is one name",
        "write `for i in range(n):` and assign the rest inside; `for i, state in range(n, init=[...]):` carries values",
        location,
    )


def missing_yield(location: SourceLocation) -> Refusal:
    return Refusal(
        DslControlFlowError,
        "a loop with init= has to end with a `yield` of the next values",
        "end its body with `results = yield [a, b]`, one value for each element of init",
        location,
    )


def walrus_in_branch(location: SourceLocation, ends_early: bool) -> Refusal:
    where, advice = (
        "a conditional expression with a run-time condition",
        "assign before the expression, or write an `if` statement",
    )
    if ends_early:
        where = "the condition of a run-time `while` that ends early, by `break` or `return`"
        advice = "bind the name before the loop and once more at the end of its body"
    return Refusal(DslSyntaxError, f"`:=` inside {where}", advice, location)


def walrus_behind(name: str, is_or: bool, location: SourceLocation) -> Refusal:
    return Refusal(
        DslTypeError,
        f"`{name} := ...` to the right of a run-time `{'or' if is_or else 'and'}`, which has to choose between that "
        f"and the value '{name}' had: they must be numbers of one type",
        "bind a name of its own there, or write an `if` statement",
        location,
    )


def stray_yield(node: ast.expr, function: ast.FunctionDef, location: SourceLocation) -> Refusal:
    loop = next(
        (f for f in own_nodes(function) if isinstance(f, ast.For) and any(n is node for n in ast.walk(f))), None
    )
    if loop is None:
        message = "`yield` outside a loop: a kernel or jit function is no generator"
        hint = "return the value, or write it to a tensor"
    elif yield_of(loop.body[-1]) is node:
        message = f"`yield` in the loop of line {loop.lineno}, whose range() has no init="
        hint = "write `for i, state in range(a, b, init=[...]):`, or just assign: variables are carried by themselves"
    else:
        message = f"`yield` inside a branch or before the end of the loop of line {loop.lineno}"
        hint = "yield once, as the last statement of the loop; choose the values before it with `if`"
    return Refusal(DslControlFlowError, message, hint, location)


def region_refusals(context: Context, kind: str, location: SourceLocation, names: dict[str, int]) -> list[Refusal]:
    """Return what no run-time region allows, whatever its kind."""
    found: list[Refusal] = []
    if context.scope.try_line:
        found.append(inside_try(kind, context.scope.try_line, location))
    for keyword, group in (("global", context.scope.global_names), ("nonlocal", context.scope.nonlocal_names)):
        for name in sorted(group & names.keys()):
            place = SourceLocation(context.file, names[name], function=context.scope.node.name)
            found.append(captured_assignment(name, keyword, place))
    return found

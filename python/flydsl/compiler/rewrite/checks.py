"""What a run-time condition or loop does not allow, found in the AST, with the line, the reason and the rewrite.

Whether a condition is a run-time one is only known while tracing. So most findings are refusals attached to a
site, raised when the site turns out to be a run-time one; a stray `yield` never has a meaning and is raised at once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from flydsl.base.errors import (
    DslControlFlowError,
    DslSyntaxError,
    DslTypeError,
    SourceLocation,
    UnsupportedError,
)
from flydsl.compiler.rewrite.liveness import yield_of
from flydsl.compiler.rewrite.names import FUNCTIONS, own_nodes
from flydsl.expr.site import Refusal

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_WORDS = {ast.Return: "return", ast.Break: "break", ast.Continue: "continue"}


def jumps(statements: Iterable[ast.stmt]) -> list[ast.stmt]:
    """The `return`, `break` and `continue` that leave these statements."""
    found: list[ast.stmt] = []
    for node in statements:
        if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
            found.append(node)
        elif isinstance(node, _LOOPS):
            found += [jump for jump in jumps(node.body) if isinstance(jump, ast.Return)]
            found += jumps(node.orelse)
        elif not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            for block in _blocks(node):
                found += jumps(block)
    return found


def _blocks(node: ast.stmt | ast.ExceptHandler | ast.match_case) -> Iterator[list[ast.stmt]]:
    """The statement lists inside a compound statement."""
    for name in ("body", "orelse", "finalbody"):
        yield getattr(node, name, [])
    for part in [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]:
        yield from _blocks(part)


def jump_in_branch(jump: ast.stmt, line: int, location: SourceLocation) -> Refusal:
    """A jump under the run-time condition of ``line``."""
    word = _WORDS[type(jump)]
    if word == "return":
        return Refusal(
            DslControlFlowError,
            f"early `return` under the run-time condition of line {line}: every thread has to reach the end",
            "put the rest of the function under the opposite condition (`if not (...): ...`), or give the result "
            "to a variable in each branch and return it once, at the end; for a condition known while tracing "
            "write `if fx.const_expr(...)`",
            location,
        )
    return Refusal(
        DslSyntaxError,
        f"`{word}` under the run-time condition of line {line}",
        _jump_advice(word),
        location,
    )


def jump_in_loop(jump: ast.stmt, kind: str, line: int, location: SourceLocation) -> Refusal:
    """A jump out of the run-time loop of ``line``."""
    word = _WORDS[type(jump)]
    error = DslControlFlowError if word == "return" else DslSyntaxError
    hint = (
        "give the result to a variable bound before the loop and return it after the loop"
        if word == "return"
        else _jump_advice(word)
    )
    return Refusal(error, f"`{word}` in the run-time `{kind}` loop of line {line}", hint, location)


def _jump_advice(word: str) -> str:
    unroll = "; a loop over range_constexpr(...) is unrolled and allows it under a condition known while tracing"
    if word == "continue":
        return "put the rest of the loop's body under the opposite condition: `if not (...): ...`" + unroll
    return (
        "end the loop by its condition: `while (i < n) and not done: ...`, with done = fx.Boolean(False) before it"
        + unroll
    )


def raise_inside(kind: str, line: int, location: SourceLocation) -> Refusal:
    """A `raise` under the run-time condition, or in the run-time loop, of ``line``."""
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


def loop_else(kind: str, location: SourceLocation) -> Refusal:
    return Refusal(
        DslControlFlowError if kind == "for" else UnsupportedError,
        f"`else` of a run-time `{kind}` loop",
        "a run-time loop has no `break`, so put the `else` part after the loop, without `else`",
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


def walrus_in_branch(location: SourceLocation) -> Refusal:
    return Refusal(
        DslSyntaxError,
        "`:=` inside a conditional expression with a run-time condition",
        "assign before the expression, or write an `if` statement",
        location,
    )


def stray_yields(function: ast.FunctionDef, allowed: Sequence[ast.Yield]) -> Iterator[ast.expr]:
    """The `yield`s of a function that are no loop's last statement."""
    for node in own_nodes(function):
        if isinstance(node, (ast.Yield, ast.YieldFrom)) and node not in allowed:
            yield node


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

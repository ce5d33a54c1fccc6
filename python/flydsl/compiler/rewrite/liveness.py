"""Which variables are still read: after each branch and loop, and from one iteration to the next.

One backward walk over a function's statements. Only names that are live have to leave a run-time region, so
a scratch variable may have a different type on every path. Where the walk is unsure it calls a name live.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from flydsl.compiler.rewrite.jumps import UNTIL
from flydsl.compiler.rewrite.names import FUNCTIONS, bound_names, captured_names, read_names

Names = frozenset[str]
_NONE: Names = frozenset()


class Liveness:
    """Live names of one function: ``after[node]`` behind a branch or loop, ``head[node]`` at a loop's next turn."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.after: dict[ast.stmt, Names] = {}
        self.head: dict[ast.stmt, Names] = {}
        self._always = frozenset(captured_names(function))
        self._loops: list[tuple[Names, Names]] = []  # what is live at `continue` and at `break`, innermost last
        self._block(function.body, _NONE)

    def _block(self, statements: Sequence[ast.stmt], out: Names) -> Names:
        """Names live before a block, from those live after it."""
        for statement in reversed(statements):
            out = self._statement(statement, out)
        return out

    def _statement(self, node: ast.stmt, out: Names) -> Names:
        match node:
            case ast.If():
                self.after[node] = out | self._always
                return _reads(node.test) | self._block(node.body, out) | self._block(node.orelse, out)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(node, out)
            case ast.With() | ast.AsyncWith():
                bound = bound_names(item.optional_vars for item in node.items if item.optional_vars is not None)
                inner = self._block(node.body, out) - bound.keys()
                return _reads(*node.items) | inner
            case ast.Try() | ast.TryStar():
                return self._try(node, out)
            case ast.Match():
                cases = [self._block(case.body, out) | _reads(case.pattern, case.guard) for case in node.cases]
                return _reads(node.subject).union(out, *cases)
            case ast.Return() | ast.Raise():
                return _reads(node)
            case ast.Break() | ast.Continue():
                return self._loops[-1][isinstance(node, ast.Break)] if self._loops else out
            case _:
                return (out - _definitely_bound(node)) | _reads(node)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, out: Names) -> Names:
        self.after[node] = out | self._always
        targets: frozenset[str] = _NONE if isinstance(node, ast.While) else frozenset(bound_names([node.target]))
        results = frozenset(bound_names(yield_targets(node)))
        done = self._block(node.orelse, out - results)
        until = getattr(node, UNTIL, None)
        test = _reads(node.test) if isinstance(node, ast.While) else frozenset({until}) if until else _NONE
        head = done | test
        while True:
            self._loops.append((head, out))
            body = self._block(node.body, head) - targets
            self._loops.pop()
            if body <= head:
                break
            head |= body
        self.head[node] = head | self._always
        return head if isinstance(node, ast.While) else head | _reads(node.iter)

    def _try(self, node: ast.Try | ast.TryStar, out: Names) -> Names:
        """Anything may be left early, so nothing that a `try` reads or that is live after it can be given up."""
        ends = out | self._block(node.finalbody, out) | _reads(*node.handlers, *node.orelse, *node.finalbody)
        for handler in node.handlers:
            self._block(handler.body, ends)
        self._block(node.orelse, ends)
        return ends | self._block(node.body, ends) | _reads(*node.body)


def _reads(*nodes: ast.AST | None) -> Names:
    return frozenset(read_names(node for node in nodes if node is not None))


def _definitely_bound(node: ast.stmt) -> set[str]:
    """Names that have a new value after a simple statement, whatever happens in it."""
    if isinstance(node, ast.Assign):
        return set(bound_names(node.targets))
    if isinstance(node, ast.AnnAssign):
        return set(bound_names([node.target])) if node.value is not None else set()
    if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return set(bound_names([node]))
    return set()


def yield_of(node: ast.stmt) -> ast.Yield | None:
    """The `yield` of ``results = yield […]`` or of a bare ``yield […]``."""
    value = node.value if isinstance(node, (ast.Assign, ast.Expr, ast.AnnAssign)) else None
    return value if isinstance(value, ast.Yield) else None


def yield_targets(node: ast.For | ast.AsyncFor | ast.While) -> list[ast.expr]:
    """What the results of an explicit loop are assigned to, at its end."""
    last = node.body[-1]
    return list(last.targets) if isinstance(last, ast.Assign) and yield_of(last) is not None else []

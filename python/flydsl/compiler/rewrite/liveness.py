"""Variables of a function: which are read, which are changed, and which of them are still read further down.

Liveness is one backward walk over a function's statements: after each branch and loop, and from one iteration to the
next. Only names that are live have to leave a run-time region, so a scratch variable may have a different type on every
path. Where the walk is unsure it calls a name live.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from flydsl.compiler.rewrite import syntax
from flydsl.compiler.rewrite.jumps import UNTIL
from flydsl.compiler.rewrite.syntax import FUNCTIONS, Function, Names, bound_names, children, own_nodes, remembered

# Reads and changes ----------------------------------------------------------------------------------------------------

Comprehension: TypeAlias = "ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp"
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MUTATORS = frozenset(
    ("append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault", "sort", "update")
)
"""Methods that change a list or dict in place."""


def read_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that these nodes read, here or in functions defined inside them."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.stmt):
            found |= remembered(node, "fly_read", lambda node=node: _read_in(node))
        elif isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Store):
                found.add(node.id)
        elif isinstance(node, ast.Lambda):
            found |= read_names(syntax.outer_expressions(node)) | free_names(node)
        elif isinstance(node, COMPREHENSIONS):
            first = read_names([node.generators[0].iter])  # read before the targets have values
            found |= first | (read_names(children(node)) - _targets(node))
        else:
            found |= read_names(children(node))
    return found


def _read_in(node: ast.stmt) -> set[str]:
    if isinstance(node, FUNCTIONS):
        return read_names(syntax.outer_expressions(node)) | free_names(node)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return {node.target.id} | read_names([node.value])
    return read_names(children(node))


def _targets(node: Comprehension) -> set[str]:
    return set(bound_names(generator.target for generator in node.generators))


def free_names(node: Function) -> set[str]:
    """Names that a function takes from the scopes around it."""
    body = body_of(node)
    own = set(syntax.parameters(node)) | set(bound_names(body))
    if isinstance(node, ast.FunctionDef):
        own -= set.union(*syntax.declared(node))
    return read_names(body) - own


def captured_names(node: ast.FunctionDef) -> set[str]:
    """Names that functions, classes and generators inside a function read later than where they stand."""
    found: set[str] = set()
    for inner in own_nodes(node):
        if isinstance(inner, FUNCTIONS):
            found |= free_names(inner)
        elif isinstance(inner, (ast.ClassDef, ast.GeneratorExp)):
            found |= read_names([*inner.body] if isinstance(inner, ast.ClassDef) else [inner])
    return found


def body_of(node: Function) -> list[ast.AST]:
    return [node.body] if isinstance(node, ast.Lambda) else list(node.body)


def changed_names(nodes: Iterable[ast.AST]) -> dict[str, int]:
    """Objects that are changed in place, as ``x`` or ``self.x``, with the last line: `x[i] = …`, `x.append(…)`."""
    found: dict[str, int] = {}
    for node in nodes:
        if isinstance(node, ast.stmt):
            found.update(remembered(node, "fly_changed", lambda node=node: _changed_in(node)))
        elif isinstance(node, ast.expr):
            for inner in syntax.scope_nodes([node]):
                _note_change(inner, found)
        else:
            found.update(changed_names(children(node)))
    return found


def _changed_in(node: ast.stmt) -> dict[str, int]:
    if isinstance(node, FUNCTIONS):
        return changed_names(syntax.outer_expressions(node))
    return {} if isinstance(node, ast.ClassDef) else changed_names(children(node))


def _note_change(node: ast.AST, found: dict[str, int]) -> None:
    target: ast.expr | None = None
    if isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
        target = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
        target = node.func.value
    path: list[str] = []
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        path = [] if isinstance(target, ast.Subscript) else [target.attr, *path]
        target = target.value
    if isinstance(target, ast.Name):
        found[".".join([target.id, *path])] = target.lineno


def assigned_lines(first: Sequence[ast.AST], second: Sequence[ast.AST] = ()) -> dict[str, tuple[int, int]]:
    """Return where each name is assigned, or changed in place, in two pieces of source."""
    sides: list[dict[str, int]] = []
    for nodes in (first, second):
        changed = {path.partition(".")[0]: line for path, line in changed_names(nodes).items()}
        sides.append({**changed, **bound_names(nodes)})
    return {name: (sides[0].get(name, 0), sides[1].get(name, 0)) for name in {**sides[0], **sides[1]}}


# Liveness -------------------------------------------------------------------------------------------------------------

_NONE: Names = frozenset()
BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While)
"""What names are live after."""


class Liveness:
    """Live names of one function: ``after[node]`` behind a branch or loop, ``head[node]`` at its next iteration."""

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
        targets: frozenset[str] = _NONE if isinstance(node, ast.While) else frozenset(bound_names([node.target]))
        results = frozenset(bound_names(yield_targets(node)))
        done = self._block(node.orelse, out - results)
        self.after[node] = done | self._always  # an `else` is behind the loop
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


def yield_targets(node: ast.For | ast.AsyncFor | ast.While) -> list[ast.expr]:
    """Return what the results of an explicit loop are assigned to, at its end."""
    last = node.body[-1]
    return list(last.targets) if isinstance(last, ast.Assign) and syntax.yield_of(last) is not None else []

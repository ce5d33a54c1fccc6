"""The state of a rewriting: the sites found so far, and the function whose statements are being rewritten."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from flydsl.base.errors import SourceLocation
from flydsl.base.records import dataclass, field
from flydsl.compiler.rewrite import build, checks
from flydsl.compiler.rewrite.liveness import Liveness
from flydsl.compiler.rewrite.names import bound_names, changed_names, declared
from flydsl.expr.flow.site import Refusal, Site

PYTHON_LOOP = -1
"""Stands, in ``Scope.loops``, for a loop that stays a Python loop."""
PYTHON_CONDITION = -1
"""Stands, in ``Scope.conditions``, for a condition that has to be known while tracing."""


@dataclass
class Scope:
    """One function: what is known of its names, and where in it the rewriting is."""

    node: ast.FunctionDef
    liveness: Liveness
    global_names: set[str]
    nonlocal_names: set[str]
    regions: list[int] = field(default_factory=list)
    loops: list[int] = field(default_factory=list)
    conditions: list[int] = field(default_factory=list)
    """The `if`s and loops around that decide whether a statement runs: sites, and those that stay Python's."""
    try_line: int = 0
    shared: set[str] = field(default_factory=set)
    """Variables that nested functions made here assign."""

    @staticmethod
    def of(node: ast.FunctionDef) -> Scope:
        return Scope(node, Liveness(node), *declared(node))


class Context(ast.NodeTransformer):
    """What the rewriting of each construct works with; the constructs themselves are in files of their own."""

    def __init__(self, file: str, owner: str, range_is_builtin: bool) -> None:
        self.file = file
        self.owner = owner
        self.range_is_builtin = range_is_builtin
        self.sites: list[Site] = []
        self.scopes: list[Scope] = []

    @property
    def scope(self) -> Scope:
        return self.scopes[-1]

    # Sites -------------------------------------------------------------------------------------

    def location(self, node: ast.AST, end: ast.AST | None = None) -> SourceLocation:
        """The place of a node, up to the end of another one on the same line."""
        line, column = node.lineno, node.col_offset + 1  # type: ignore[attr-defined]
        last: Any = end or node
        end_column = last.end_col_offset + 1 if last.end_lineno == line else 0
        return SourceLocation(self.file, line, column, end_column, self.scope.node.name)

    def site(self, kind: str, location: SourceLocation, refusals: Sequence[Refusal] = (), nearest: int | None = None,
             **facts: Any) -> int:  # fmt: skip
        """Add a site; its number. ``nearest`` is the only site around it that matters, where not all do."""
        within = tuple(self.scope.regions) if nearest is None else (nearest,)
        self.sites.append(Site(kind, location, self.owner, refusals=tuple(refusals), within=within, **facts))
        return len(self.sites) - 1

    def region_refusals(self, kind: str, location: SourceLocation, names: dict[str, int]) -> list[Refusal]:
        """What no run-time region allows, whatever its kind."""
        found: list[Refusal] = []
        if self.scope.try_line:
            found.append(checks.inside_try(kind, self.scope.try_line, location))
        for keyword, group in (("global", self.scope.global_names), ("nonlocal", self.scope.nonlocal_names)):
            for name in sorted(group & names.keys()):
                place = SourceLocation(self.file, names[name], function=self.scope.node.name)
                found.append(checks.captured_assignment(name, keyword, place))
        return found

    # Nested functions --------------------------------------------------------------------------

    @contextmanager
    def region(self, number: int) -> Iterator[None]:
        """Rewrite what becomes a nested function of the site."""
        self.scope.regions.append(number)
        try:
            with self.condition(number):
                yield
        finally:
            self.scope.regions.pop()

    @contextmanager
    def condition(self, number: int = PYTHON_CONDITION) -> Iterator[None]:
        """Rewrite what runs only if a condition holds."""
        self.scope.conditions.append(number)
        try:
            yield
        finally:
            self.scope.conditions.pop()

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements, rewritten."""
        found: list[ast.stmt] = []
        for node in statements:
            done = self.visit(node)
            found += done if isinstance(done, list) else [done]
        return found

    def nested(self, name: str, parameters: Sequence[str], names: Iterable[str], body: list[ast.stmt],
               place: ast.AST) -> ast.FunctionDef:  # fmt: skip
        """A function of rewritten statements; ``names`` are the variables of this one that it assigns."""
        bound = set(names)
        shared = sorted(bound - self.scope.global_names)
        self.scope.shared.update(shared)
        head: list[ast.stmt] = [build.at(place, ast.Nonlocal(shared))] if shared else []
        if bound & self.scope.global_names:
            head.append(build.at(place, ast.Global(sorted(bound & self.scope.global_names))))
        return build.function(name, parameters, [*head, *body], place)


def assigned_lines(first: Sequence[ast.AST], second: Sequence[ast.AST] = ()) -> dict[str, tuple[int, int]]:
    """Where each name is assigned, or changed in place, in two pieces of source."""
    sides: list[dict[str, int]] = []
    for nodes in (first, second):
        changed = {path.partition(".")[0]: line for path, line in changed_names(nodes).items()}
        sides.append({**changed, **bound_names(nodes)})
    return {name: (sides[0].get(name, 0), sides[1].get(name, 0)) for name in {**sides[0], **sides[1]}}

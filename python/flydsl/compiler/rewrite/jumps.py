"""`return`, `break` and `continue` under conditions: each becomes an assignment, and what it jumps over an `else`::

    if a < 0:               if a < 0:
        return 0                _fly_result = 0
    x = f(a)                else:
    return x                    x = f(a)
                                _fly_result = x
                            return __fly__.returned(_fly_result)

Where a branch jumps on some of its paths only, a flag says whether it did, and what follows is under ``if not flag``.
A loop that can be left carries such a flag too, and its condition reads it. Conditions known while tracing set flags
that are known while tracing, so they decide as Python decides; nothing is traced for them.

This runs before every other rewriting. A function whose jumps are all unconditional, or under conditions marked as
known while tracing, is left as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flydsl.base.records import dataclass
from flydsl.compiler.rewrite import syntax
from flydsl.compiler.rewrite.syntax import FUNCTIONS, scope_nodes
from flydsl.expr.flow.site import FLAG, RESULT

DONE, _BREAK, _SKIP = FLAG, f"{FLAG}_loop_", f"{FLAG}_turn_"
JUMPS = (ast.Return, ast.Break, ast.Continue)
_LOOPS = (ast.For, ast.While)
ENDS_EARLY = "fly_ends_early"
"""Marks the condition of a `while` that a jump leaves: it is asked for no more then."""
UNTIL = "fly_until"
"""The attribute of a run-time `for` that names the flag which ends it."""
LEFT = "fly_left"
"""The attribute of an `if` that says of both branches whether their ends are never reached."""


def lower_jumps(top: ast.FunctionDef) -> None:
    """Replace the jumps of a function and of those nested in it, in place, where one depends on the run."""
    for function in [node for node in syntax.everything(top) if isinstance(node, ast.FunctionDef)]:
        if any(_conditional_jumps(function.body, under=False)) and not is_generator(function):
            function.body = _Lowering(function).whole()


def is_generator(function: ast.FunctionDef) -> bool:
    """Return whether Python makes a generator of the function; the `yield` of a loop with explicit state does not
    count."""
    nodes = list(scope_nodes(function.body))
    yields = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in nodes)
    return yields and not any(isinstance(node, ast.stmt) and explicit_init(node) is not None for node in nodes)


def run_time_range(node: ast.stmt) -> ast.Call | None:
    """Return the ``range(...)`` that a loop runs over at run time."""
    called = node.iter if isinstance(node, ast.For) else None
    if isinstance(called, ast.Call) and isinstance(called.func, ast.Name) and called.func.id == "range":
        return called
    return None


def explicit_init(node: ast.stmt) -> ast.expr | None:
    """Return the ``init=`` of a loop with explicit state."""
    called = run_time_range(node)
    return next((k.value for k in called.keywords if k.arg == "init"), None) if called is not None else None


def is_const_expr(test: ast.expr) -> bool:
    """Return whether a condition is marked as known while tracing, or is a literal."""
    if isinstance(test, ast.Constant):
        return True
    callee = test.func if isinstance(test, ast.Call) else None
    name = callee.id if isinstance(callee, ast.Name) else callee.attr if isinstance(callee, ast.Attribute) else ""
    return name == "const_expr"


def _conditional_jumps(statements: Sequence[ast.stmt], under: bool, in_loop: bool = False) -> Iterator[ast.stmt]:
    """Jumps whose way depends on the run: ``under`` such a condition, or ``in_loop`` for a loop's own jumps."""
    for node in statements:
        if isinstance(node, ast.Return):
            if under:
                yield node
        elif isinstance(node, (ast.Break, ast.Continue)):
            if in_loop:
                yield node
        elif isinstance(node, ast.If):
            depends = not is_const_expr(node.test)
            for block in (node.body, node.orelse):
                yield from _conditional_jumps(block, under or depends, in_loop or depends)
        elif isinstance(node, _LOOPS):
            if explicit_init(node) is None:
                runs = run_time_range(node) is not None or (isinstance(node, ast.While) and _decided_late(node))
                yield from _conditional_jumps(node.body, under or runs, runs)
            yield from _conditional_jumps(node.orelse, under, in_loop)
        elif not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            for block in blocks_of(node):
                yield from _conditional_jumps(block, under, in_loop)


def _decided_late(node: ast.While) -> bool:
    return not is_const_expr(node.test) or isinstance(node.test, ast.Constant)


def _always_holds(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)


def blocks_of(node: ast.stmt | ast.ExceptHandler | ast.match_case) -> Iterator[list[ast.stmt]]:
    """Yield the statement lists inside a compound statement."""
    for name in ("body", "orelse", "finalbody"):
        yield getattr(node, name, [])
    for part in [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]:
        yield from blocks_of(part)


class _Lowered(NamedTuple):
    """A block without jumps: the flags that may be set behind it, and whether one of them always is."""

    body: list[ast.stmt]
    flags: frozenset[str] = frozenset()
    leaves: bool = False


@dataclass
class _Loop:
    """A loop around the statement at hand, by the names of its flags."""

    stop: str
    skip: str


class _Lowering:
    """Lowers the jumps of one function."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self._function = function
        self._loops: list[_Loop] = []
        self._count = 0
        self._tested: set[str] = set()
        self._broken: set[str] = set()
        """Flags of loops that a `break` leaves."""
        returns = (node for node in scope_nodes(function.body) if isinstance(node, ast.Return))
        self._gives = any(node.value is not None for node in returns)

    def whole(self) -> list[ast.stmt]:
        """Lower the body of the function."""
        function = self._function
        has_text = ast.get_docstring(function, clean=False) is not None
        text, body = function.body[:has_text], function.body[has_text:]
        place, end = body[0], function.body[-1]
        if self._gives:  # a path that ends without a `return` gives None
            body = [*body, syntax.at(end, ast.Return())]
        lowered = self._block(body).body
        head = [_flag(DONE, False, place)] if DONE in self._tested else []
        if not self._gives:
            return [*text, *head, *lowered]
        unset = _assign(RESULT, syntax.call("unset", place=place), place)
        result = syntax.at(end, ast.Return(syntax.call("returned", syntax.load(RESULT), place=end)))
        return [*text, unset, *head, *lowered, result]

    def _block(self, statements: Sequence[ast.stmt]) -> _Lowered:
        done: list[ast.stmt] = []
        for index, node in enumerate(statements):
            if isinstance(node, JUMPS):
                made, flags = self._jump(node)
                return _Lowered(done + made, flags, True)
            lowered = self._statement(node)
            if not lowered.flags:
                done += lowered.body
                continue
            return self._followed(done, node, lowered, statements[index + 1 :])
        return _Lowered(done)

    def _jump(self, node: ast.stmt) -> tuple[list[ast.stmt], frozenset[str]]:
        """Return the assignments a jump becomes, and the flags they set."""
        made: list[ast.stmt] = []
        if isinstance(node, ast.Continue):
            names = [self._loops[-1].skip]
        elif isinstance(node, ast.Break):
            names = [self._loops[-1].stop]
            self._broken.update(names)
        else:
            assert isinstance(node, ast.Return)
            names = [DONE, *(loop.stop for loop in self._loops)]
            if self._gives:
                made.append(_assign(RESULT, node.value or syntax.at(node, ast.Constant(None)), node))
        return made + [_flag(name, True, node) for name in names], frozenset(names)

    def _followed(self, done: list[ast.stmt], node: ast.stmt, lowered: _Lowered, rest: Sequence[ast.stmt]) -> _Lowered:
        """Return a statement that may jump, with what follows it in its block."""
        if lowered.leaves or not rest:
            return _Lowered(done + lowered.body, lowered.flags, lowered.leaves)
        after = self._block(rest)
        flags, branch = lowered.flags | after.flags, lowered.body[-1]
        side = _falling_side(branch) if isinstance(node, ast.If) and isinstance(branch, ast.If) else None
        if side is not None:
            side += after.body
            return _Lowered(done + lowered.body, flags, after.leaves)
        guarded = self._unless(self._telling(lowered.flags), after.body)
        return _Lowered([*done, *lowered.body, guarded], flags, after.leaves)

    def _telling(self, flags: frozenset[str]) -> frozenset[str]:
        """Return the flags to ask: inside a loop its own, since a `return` sets those of every loop around it."""
        if not self._loops:
            return flags
        return flags & {self._loops[-1].stop, self._loops[-1].skip}

    def _unless(self, flags: frozenset[str], body: list[ast.stmt]) -> ast.If:
        """``if not flag: body; else: flag = True``, for each flag: what a jump leaves out.

        The `else` says what is known there, so that a flag which both sides set is known to be set.
        """
        self._tested |= flags
        place = body[0]
        for name in sorted(flags):
            test = syntax.at(place, ast.UnaryOp(ast.Not(), syntax.load(name)))
            made = syntax.at(place, ast.If(test, body, [_flag(name, True, place)]))
            setattr(made, LEFT, (False, True))
            body = [made]
        (made,) = body
        assert isinstance(made, ast.If)
        return made

    def _statement(self, node: ast.stmt) -> _Lowered:
        if isinstance(node, ast.If):
            return self._if(node)
        if isinstance(node, _LOOPS) and explicit_init(node) is None:
            return self._loop(node)
        if isinstance(node, (*_LOOPS, *FUNCTIONS, ast.ClassDef)):
            return _Lowered([node])
        if isinstance(node, (ast.Try, ast.TryStar)):
            return self._try(node)
        flags: frozenset[str] = frozenset()
        for part in [node, *getattr(node, "cases", ())]:
            if isinstance(getattr(part, "body", None), list):
                inner = self._block(part.body)
                part.body, flags = inner.body or [syntax.at(node, ast.Pass())], flags | inner.flags
        return _Lowered([node], flags)

    def _if(self, node: ast.If) -> _Lowered:
        then, orelse = self._block(node.body), self._block(node.orelse)
        node.body, node.orelse = then.body, orelse.body
        left = (then.leaves, orelse.leaves)
        setattr(node, LEFT, left)
        setattr(node, _JUMPING, (bool(then.flags), bool(orelse.flags)))
        return _Lowered([node], then.flags | orelse.flags, all(left))

    def _try(self, node: ast.Try | ast.TryStar) -> _Lowered:
        body, orelse = self._block(node.body), self._block(node.orelse)
        flags = body.flags | orelse.flags
        node.body, node.orelse = body.body, orelse.body
        if body.flags and orelse.body:
            node.orelse = [self._unless(self._telling(body.flags), orelse.body)]
        for handler in node.handlers:
            inner = self._block(handler.body)
            handler.body, flags = inner.body, flags | inner.flags
        final = self._block(node.finalbody)
        node.finalbody = final.body
        return _Lowered([node], flags | final.flags)

    def _loop(self, node: ast.For | ast.While) -> _Lowered:
        self._count += 1
        loop = _Loop(f"{_BREAK}{self._count}", f"{_SKIP}{self._count}")
        self._loops.append(loop)
        inner = self._block(node.body)
        self._loops.pop()
        orelse = self._block(node.orelse)
        node.body, node.orelse = inner.body, orelse.body
        if loop.skip in self._tested:
            node.body.insert(0, _flag(loop.skip, False, node.body[0]))
        outer = inner.flags - {loop.stop, loop.skip}
        endless = isinstance(node, ast.While) and _always_holds(node.test) and loop.stop not in self._broken
        if loop.stop not in inner.flags:
            return _Lowered([node], orelse.flags)
        self._leave_early(node, loop)
        made: list[ast.stmt] = [_flag(loop.stop, False, node), node]
        if orelse.body:
            node.orelse = []
            made.append(self._unless(frozenset({loop.stop}), orelse.body))
        return _Lowered(made, outer | orelse.flags, endless)

    def _leave_early(self, node: ast.For | ast.While, loop: _Loop) -> None:
        """Have a loop end when its flag is set."""
        if isinstance(node, ast.While):
            holds = syntax.call("holds", node.test, place=node.test)
            node.test = syntax.at(node.test, ast.IfExp(syntax.load(loop.stop), ast.Constant(False), holds))
            setattr(node.test, ENDS_EARLY, True)
        elif run_time_range(node) is not None:
            setattr(node, UNTIL, loop.stop)
        else:
            place = node.body[0]
            body = self._unless(frozenset({loop.stop}), node.body)
            known = syntax.call("const_expr", syntax.load(loop.stop), place=place)
            node.body = [body, syntax.at(place, ast.If(known, [syntax.at(place, ast.Break())], []))]


_JUMPING = "fly_jumping"
"""The attribute of an `if` that says of both branches whether they jump on some path."""


def _falling_side(node: ast.If) -> list[ast.stmt] | None:
    """Return the branch that what follows an `if` may be moved into: the other one always jumps, and this one never
    does."""
    leaves, jumps = getattr(node, LEFT), getattr(node, _JUMPING)
    if leaves[0] and not jumps[1]:
        return node.orelse
    return node.body if leaves[1] and not jumps[0] else None


def _assign(name: str, value: ast.expr, place: ast.AST) -> ast.stmt:
    return syntax.at(place, ast.Assign([syntax.at(place, ast.Name(name, ast.Store()))], value))


def _flag(name: str, value: bool, place: ast.AST) -> ast.stmt:
    return _assign(name, syntax.at(place, ast.Constant(value)), place)

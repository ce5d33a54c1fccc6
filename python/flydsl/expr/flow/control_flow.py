"""What rewritten control flow calls: each construct decides, while tracing, which kind it is.

The rewriter turns the branches and bodies of a function into nested functions and calls the methods of the one
:class:`ControlFlow` object it makes for that function, under the name ``__fly__``. A condition that Python
knows runs the Python way, and only the branch taken is traced; a run-time one becomes an `scf` operation.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, SimpleNamespace
from typing import Any

from flydsl.base.errors import DslNameError, DslRuntimeError, SourceLocation
from flydsl.expr.flow import truth
from flydsl.expr.flow.branching import choose, run_if
from flydsl.expr.flow.carried import UNSET, example, promoted, unchanged
from flydsl.expr.flow.loop_bounds import loop_bounds
from flydsl.expr.flow.looping import run_for, run_for_init, run_while
from flydsl.expr.flow.region_state import Cells, Heap
from flydsl.expr.flow.site import Site
from flydsl.expr.flow.truth import as_condition, is_run_time, opposite
from flydsl.expr.flow.watched_state import Watch
from flydsl.expr.numeric import Numeric
from flydsl.expr.trace.context import current

OWN_PACKAGE = __name__.partition(".")[0]


class _Regions(threading.local):
    """The run-time regions now being traced: whose they are, and the numbers of their sites."""

    open: tuple[tuple[ControlFlow, int], ...] = ()


_regions = _Regions()


def nested_too_deep(where: str, location: SourceLocation) -> DslRuntimeError:
    return DslRuntimeError(
        f"Python's limit of nested calls is reached {where}", location=location,
        hint="a function that calls itself must end by a condition known while tracing; values nested in hundreds of "
        "lists or dicts must be kept flat; of many `elif`, each is inside all before it: write `if` where one can hold",
    )  # fmt: skip


class ControlFlow:
    """The control flow of one rewritten function; generated code passes the number of the site it stands for."""

    all_of = staticmethod(truth.all_of)
    any_of = staticmethod(truth.any_of)
    opposite = staticmethod(truth.opposite)
    compare = staticmethod(truth.compare)
    asserted = staticmethod(truth.asserted)

    def __init__(
        self, sites: Sequence[Site], helper: Callable[[FunctionType], Callable[..., Any]], plain: bool = False
    ) -> None:
        """``helper`` rewrites a function that this one calls; a ``plain`` one has no decorator."""
        self.sites = sites
        self._helper = helper
        self._plain = plain
        self._unbound: dict[str, tuple[Site, str]] = {}

    def callee(self, function: Any) -> Any:
        """Return what a call calls: a helper of the user's is traced like the function that calls it."""
        kind = type(function)
        if kind is FunctionType:
            return self._helper(function)
        if kind is MethodType and type(function.__func__) is FunctionType:
            found = self._helper(function.__func__)
            return function if found is function.__func__ else MethodType(found, function.__self__)
        if kind is not BuiltinFunctionType:
            return function
        is_lookup = function.__name__ == "get" and type(function.__self__) is dict
        return partial(truth.looked_up, function) if is_lookup else truth.BUILTINS.get(function, function)

    @contextmanager
    def _region(self, number: int) -> Iterator[Site]:
        """The run-time region of a site, if its rules allow one."""
        site = self.sites[number]
        site.check()
        before = _regions.open
        _regions.open = (*before, (self, number))
        try:
            yield site
        except RecursionError:
            raise nested_too_deep(f"inside the run-time {site.what}", site.location) from None
        finally:
            _regions.open = before

    # Branches ----------------------------------------------------------------------------------

    def if_(self, number: int, value: Any, then: Callable[[], Any], orelse: Callable[[], Any] | None = None) -> None:
        """``if value: then() else: orelse()``."""
        if is_run_time(value):
            with self._region(number) as site:
                self._unbind(site, run_if(site, as_condition(value), then, orelse))
            return
        self._forget(number)
        branch = then if value else orelse
        if branch is not None:
            branch()

    def choose(self, number: int, value: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
        """``then() if value else orelse()``."""
        if not is_run_time(value):
            return then() if value else orelse()
        with self._region(number) as site:
            return choose(site, as_condition(value), then, orelse)

    def static(self, number: int, value: Any) -> Any:
        """Return a condition over something that only Python can do, such as `:=` in one of two expressions."""
        if is_run_time(value):
            self.sites[number].check()
        return value

    # Jumps -------------------------------------------------------------------------------------

    def unset(self) -> Any:
        """Return the result of a function that has not returned yet."""
        return UNSET

    def returned(self, value: Any) -> Any:
        """Return what the function returns: nothing if no `return` with a value was reached while tracing."""
        return None if value is UNSET else value

    def const_expr(self, flag: Any) -> bool:
        """Return whether a flag is known to be set."""
        return not is_run_time(flag) and bool(flag)

    def holds(self, value: Any) -> Any:
        """Return the condition of a `while` that a flag may end too, as a truth value."""
        return as_condition(value) if is_run_time(value) else bool(value)

    def stops(self, left: Any, on: bool) -> bool:
        """Return whether `and` (or `or`, if ``on``) is decided by its left side, and the right one is left alone."""
        return not is_run_time(left) and bool(left) is on

    def joined(self, left: Any, right: Any, is_or: bool) -> Any:
        """Both sides of an `and` or `or` that the left one does not decide."""
        return truth.any_of(left, lambda: right) if is_or else truth.all_of(left, lambda: right)

    def kept(self, read: Callable[[], Any]) -> Any:
        """Return the value of a variable that `:=` may replace, if it has one."""
        try:
            return read()
        except NameError:
            return UNSET

    def settled(self, number: int, left: Any, before: Any, after: Any, is_or: bool) -> Any:
        """Return what a variable is after `:=` in the right side of an `and` or `or`, which Python may not get to."""
        if before is UNSET or not is_run_time(left) or unchanged(before, after):
            return after
        old, new = promoted(before), promoted(after)
        if not isinstance(old, Numeric) or type(old) is not type(new):
            self.sites[number].check()
        return as_condition(left).select(*((old, new) if is_or else (new, old)))

    # Loops -------------------------------------------------------------------------------------

    def for_(self, number: int, body: Callable[[Any], Any], *bounds: Any) -> None:
        """``for i in range(*bounds): body(i)``."""
        self.for_until(number, body, None, *bounds)

    def for_until(self, number: int, body: Callable[[Any], Any], ended: Callable[[], Any] | None, *bounds: Any) -> None:
        """``for i in range(*bounds): body(i)``, which ends early when ``ended()`` holds after an iteration."""
        if self._plain and not any(map(is_run_time, bounds)):
            self._python_for(number, body, ended, bounds)
            return
        with self._region(number) as site:
            self._unbind(site, run_for(site, loop_bounds(bounds), body, ended))

    def _python_for(
        self, number: int, body: Callable[[Any], Any], ended: Callable[[], Any] | None, bounds: Sequence[Any]
    ) -> None:
        """The loop of a plain helper over known numbers; once its end is a run-time matter, so is each iteration."""
        self._forget(number)
        for item in range(*(int(bound) for bound in bounds)):
            flag = ended() if ended is not None else False
            if self.const_expr(flag):
                return
            self.if_(number, opposite(flag), partial(body, item))

    def for_init(self, number: int, body: Callable[[Any], Any], *bounds: Any, init: Any) -> Any:
        """``for i, state in range(*bounds, init=init)``: a list of results, or the only one."""
        values = list(init) if isinstance(init, (list, tuple)) else [init]
        with self._region(number) as site:
            results, unbound = run_for_init(site, loop_bounds(bounds, index=True), values, body)
        self._unbind(site, unbound)
        return results[0] if len(results) == 1 else results

    def while_(self, number: int, test: Callable[[], Any], body: Callable[[], Any]) -> None:
        """``while test(): body()``, in Python for as long as the condition is known while tracing."""
        while not is_run_time(value := self._probed(number, test, body)):
            self._forget(number)
            if not value:
                return
            body()
        with self._region(number) as site:
            self._unbind(site, run_while(site, test, body))

    def _probed(self, number: int, test: Callable[[], Any], body: Callable[[], Any]) -> Any:
        """Return the condition of a `while`. A run-time one leaves no trace: it is evaluated again inside the loop."""
        site = self.sites[number]
        cells = Cells([test, body], site.names)
        heap = Heap([test], cells, site)
        before, items = cells.read(), heap.save()
        watch = Watch([test], heap.free(cells))
        value = current().speculate(test, lambda found: not is_run_time(found))
        if is_run_time(value):
            watch.refuse(site.what, site.at)
            cells.write(before)
            heap.restore(items)
        return value

    # Rules -------------------------------------------------------------------------------------

    def refuse(self, number: int) -> None:
        """Reached a statement that a run-time loop cannot have."""
        self.sites[number].check()

    def outside(self, number: int) -> None:
        """Reached a statement that no run-time region around it in the source may have."""
        site = self.sites[number]
        if any(flow is self and other in site.within for flow, other in _regions.open):
            site.check()

    def anywhere(self, number: int) -> None:
        """Reached a statement that no run-time region may have, not even in a function called from it."""
        if _regions.open:
            self.sites[number].check()

    def manager(self, number: int, value: Any) -> Any:
        """Return the context manager of a `with`. Inside a run-time region it acts while tracing, so only ours may."""
        maker = getattr(value, "func", type(value))
        if getattr(maker, "__module__", "").partition(".")[0] != OWN_PACKAGE:
            self.outside(number)
        return value

    def holder(self, number: int, value: Any) -> Any:
        """Return the object whose attribute is assigned. Namespaces are carried; any other would keep the value as it
        is."""
        if not isinstance(value, SimpleNamespace):
            self.outside(number)
        return value

    # Names without a value -----------------------------------------------------------------------

    def _unbind(self, site: Site, names: Mapping[str, Any]) -> None:
        self._unbound.update((name, (site, example(value))) for name, value in names.items())

    def _forget(self, number: int) -> None:
        """A region of an earlier trace is none in this one."""
        for name in self.sites[number].names if self._unbound else ():
            if name in self._unbound and self._unbound[name][0] is self.sites[number]:
                del self._unbound[name]

    def explanation(self, name: str) -> DslNameError | None:
        """Return why a variable has no value, if a run-time region took it."""
        if name not in self._unbound:
            return None
        site, such = self._unbound[name]
        line = site.location.line
        where = f"the run-time {site.what} of line {line}"
        first, second = site.lines.get(name, (0, 0))
        if site.kind == "if" and first and second:
            reason = f"is not bound on every path through {where} (lines {first} and {second})"
        else:
            reason = f"is bound only inside {where} (line {first or second})"
        return DslNameError(
            f"'{name}' {reason}, so it has no value here",
            hint=f"give it a value of the same type before line {line}"
            + (f", for example {name} = {such}" if such else "")
            + (", or in both branches" if site.kind == "if" else ""),
        )

"""Run-time loops: what they carry from one iteration to the next, and the tracing of their bodies.

Carried are the variables assigned inside that had a value before and whose value is read again, and the items
of lists, dicts and namespaces that the body changes in place. A carried value keeps its type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from flydsl.base.errors import DslNameError, DslTypeError
from flydsl.expr.flow.branching import refuse_captures
from flydsl.expr.flow.carried import (
    UNSET,
    Difference,
    difference,
    leaves,
    promoted,
    rebuilt,
    same_keys,
    stand_in,
    structure_advice,
    type_words,
)
from flydsl.expr.flow.loop_bounds import Bounds
from flydsl.expr.flow.region_state import Cells, Heap, Items, Tracked, set_items
from flydsl.expr.flow.site import Site
from flydsl.expr.flow.truth import as_condition
from flydsl.expr.flow.watched_state import Watch
from flydsl.expr.numeric import Numeric, as_numeric
from flydsl.expr.trace.context import Value, current
from flydsl.expr.trace.protocol import items_of


class Slot(NamedTuple):
    """One carried place: a variable or a container item, and a value of the type it keeps."""

    owner: Any
    key: Any
    label: str
    exemplar: Any


class Carried:
    """The state a loop carries. ``enter`` gives it to the body, ``leave`` takes it back."""

    def __init__(self, site: Site, functions: Sequence[Callable[..., Any]]) -> None:
        self.site = site
        self.cells = Cells(functions, site.names)
        self.heap = Heap(functions, self.cells, site)
        self.before = self.cells.read()
        self._last: Items = {}
        self._captures = self.heap.saved_captures()
        self._items = self.heap.save()
        self._watch = Watch(functions, self.heap.free(self.cells))
        also = {label for name, label in self.heap.aliases.items() if _is_below(name, site.changed)}
        self._changing = [found for found in self.heap.containers if _is_below(found.label, site.changed | also)]
        self.slots = list(self._find_slots())

    def _find_slots(self) -> Iterator[Slot]:
        for name, value in self.before.items():
            if name in self.site.carried:
                yield Slot(self.cells.cells[name], None, name, promoted(value))
        for tracked in self._changing:
            for key, value in items_of(tracked.container).items():
                if not _is_container(value):
                    yield Slot(tracked.container, key, f"{tracked.label}[{key!r}]", promoted(value))

    def initial(self) -> list[Value]:
        return [ssa for slot in self.slots for ssa in leaves(slot.exemplar)]

    def settle(self, iteration: Callable[[], Any]) -> None:
        """Find the type of a result that only the body returns, by tracing an iteration that leaves nothing behind."""
        if not any(slot.exemplar is UNSET for slot in self.slots):
            return
        current().speculate(lambda: (self.enter(self.initial()), iteration()), lambda _: False)
        found = self.cells.read()
        self.slots = [
            slot._replace(exemplar=stand_in(promoted(found[slot.label]))) if slot.exemplar is UNSET else slot
            for slot in self.slots
        ]
        self.cells.write(self.before)
        self.heap.restore(self._items)

    def enter(self, values: Sequence[Value], names: Sequence[str] = ()) -> Iterator[Value]:
        """Start from these values; only carried variables are bound, besides ``names``. Returns the values left."""
        rest = iter(values)
        kept = {slot.label for slot in self.slots} | set(names)
        self.cells.write({name: value for name, value in self.cells.read().items() if name in kept})
        for slot in self.slots:
            _put(slot, rebuilt(slot.exemplar, rest))
        return rest

    def leave(self) -> list[Value]:
        """Return the values of the next iteration, each of the type it started with."""
        refuse_captures(self.site, self.heap, self._captures)
        self._watch.refuse(self.site.what, self.site.at)
        self._check_containers()
        bound = self._last = self.cells.read()
        found: list[Value] = []
        for slot in self.slots:
            if slot.key is None and slot.label not in bound:
                raise DslNameError(
                    f"'{slot.label}' is deleted inside the run-time {self.site.what}, but its value is needed again",
                    hint="keep it, or use another name inside the loop",
                    location=self.site.at(self.site.line_of(slot.label)),
                )
            value = promoted(bound[slot.label] if slot.key is None else items_of(slot.owner)[slot.key])
            differs = difference(slot.exemplar, value)
            if differs is not None:
                raise _type_change(self.site, slot.label, differs)
            found += leaves(value)
        return found

    def _check_containers(self) -> None:
        """Containers keep their items' number, and the containers in them; those the source does not show as changed
        keep all their items.
        """
        for tracked, before in zip(self.heap.containers, self._items):
            present = items_of(tracked.container)
            if len(present) != len(before):
                raise _resized(self.site, tracked, before, present)
            if not same_keys(tracked.container, before, present):
                raise _type_change(self.site, tracked.label, Difference("", before, present))
            for key, value in before.items():
                if _is_container(value) and present[key] is not value and tracked in self._changing:
                    raise _replaced(self.site, tracked, key, value)
            if tracked not in self._changing and any(value is not before[key] for key, value in present.items()):
                raise DslTypeError(
                    f"'{tracked.label}' is changed inside the run-time {self.site.what} by a function it is passed to",
                    hint=f"have the function return the new value and assign it in the loop: "
                    f"{_root(tracked.label)}[i] = f({_root(tracked.label)}[i])",
                    location=self.site.location,
                )

    def finish(self, values: Sequence[Value], names: Sequence[str] = ()) -> Items:
        """Go on after the loop with its results; the names that are unbound from here on."""
        self.enter(values, names)
        return self.unbound()

    def unbound(self) -> Items:
        """Return the names of the loop that have no value now, with the one they had at the end of its body."""
        bound = self.cells.read()
        return {name: self._last.get(name) for name in self.site.names if name not in bound}


def _is_below(label: str, paths: Iterable[str]) -> bool:
    """Return whether a container is one of these, or inside one."""
    return any(label == path or label.startswith((f"{path}[", f"{path}.")) for path in paths)


def _root(label: str) -> str:
    return label.split("[")[0].split(".")[0]


def _is_container(value: Any) -> bool:
    return isinstance(value, (list, dict)) or type(value).__name__ == "SimpleNamespace"


def _put(slot: Slot, value: Any) -> None:
    if slot.key is None:
        slot.owner.cell_contents = value
        return
    items = items_of(slot.owner)
    items[slot.key] = value
    set_items(slot.owner, items)


def _type_change(site: Site, label: str, found: Difference) -> DslTypeError:
    line = site.line_of(_root(label))
    first, second = type_words(found.first), type_words(found.second)
    if found.first is None:
        hint = f"give it a value of the type {second} before the loop instead of None"
    elif isinstance(found.first, (list, tuple, dict)):
        hint = "keep the number of elements, and keys of a dict in order: choose elements at run time, not how many"
    else:
        hint = structure_advice(found) or (
            f"start with {label} = fx.{second}(...) before the loop, or convert the new value to {first}"
            if isinstance(found.first, Numeric) and isinstance(found.second, Numeric)
            else f"start with {second} before the loop, or make the new value {first}"
        )
    return DslTypeError(
        f"'{label}{found.path}' is {first} before the run-time {site.what} of line {site.location.line} "
        f"and {second} after an iteration (line {line})",
        hint=hint,
        location=site.at(line),
    )


def _resized(site: Site, tracked: Tracked, before: Items, present: Items) -> DslTypeError:
    return DslTypeError(
        f"'{tracked.label}' has {len(before)} elements before the run-time {site.what} of line "
        f"{site.location.line} and {len(present)} after an iteration",
        hint="give it its full length before the loop and assign elements, or unroll with range_constexpr()",
        location=site.at(site.lines.get(_root(tracked.label), (0, 0))[0]),
    )


def _replaced(site: Site, tracked: Tracked, key: object, value: object) -> DslTypeError:
    form = "{}[{!r}]" if isinstance(tracked.container, (list, dict)) else "{}.{}"
    label, kind = form.format(tracked.label, key), type(value).__name__
    way = f"{label}[:] = ..." if isinstance(value, list) else "one by one"
    return DslTypeError(
        f"'{label}' is another {kind} after an iteration of the run-time {site.what} of line {site.location.line}; "
        "which one it is would depend on the number of iterations",
        hint=f"assign its elements, {way}, or keep each {kind} in a variable of its own: a, b = b, a",
        location=site.at(site.line_of(_root(tracked.label))),
    )


def run_for(site: Site, bounds: Bounds, body: Callable[[Any], Any], ended: Callable[[], Any] | None = None) -> Items:
    """``for i in range(...)``, until ``ended()`` holds after an iteration; the names that are unbound from here on."""
    state = Carried(site, [body])
    counted, index = bounds.counted()
    state.settle(lambda: body(index(counted.start.ir_value())))
    if ended is not None:
        return _run_counted_while(state, counted, lambda counter: body(index(counter)), ended)

    def build(counter: Value, values: Sequence[Value]) -> list[Value]:
        state.enter(values)
        body(index(counter))
        return state.leave()

    start, stop, step = (bound.ir_value() for bound in counted)
    results = current().for_(start, stop, step, state.initial(), build)
    return state.finish(results)


def _run_counted_while(state: Carried, bounds: Bounds, body: Callable[[Value], Any], ended: Callable[[], Any]) -> Items:
    """Return a `for` that may end early, as a `while` that counts."""

    def condition(values: Sequence[Value]) -> tuple[Value, list[Value]]:
        counter, *rest = values
        state.enter(rest)
        goes_on = (bounds.counter(counter) < bounds.stop) & as_numeric(ended()).__dsl_bool__().__dsl_not__()
        return goes_on.ir_value(), [counter, *state.leave()]

    def build(values: Sequence[Value]) -> list[Value]:
        counter, *rest = values
        state.enter(rest)
        body(counter)
        following = bounds.counter(counter) + bounds.step
        return [following.ir_value(), *state.leave()]

    start = bounds.start.ir_value()
    results = current().while_([start, *state.initial()], condition, build)
    return state.finish(results[1:])


def run_for_init(
    site: Site, bounds: Bounds, init: Sequence[Any], body: Callable[[Any], Any]
) -> tuple[list[Any], Items]:
    """``for i, state in range(..., init=[...])``: what the last ``yield`` gave, and the names now unbound."""
    state = Carried(site, [body])
    exemplars = [promoted(value) for value in init]
    counted, index = bounds.counted()

    def build(counter: Value, values: Sequence[Value]) -> list[Value]:
        rest = state.enter(values)
        given = body((index(counter), [rebuilt(exemplar, rest) for exemplar in exemplars]))
        return [*state.leave(), *_yielded(site, exemplars, given)]

    inits = [*state.initial(), *(ssa for exemplar in exemplars for ssa in leaves(exemplar))]
    start, stop, step = (bound.ir_value() for bound in counted)
    results = current().for_(start, stop, step, inits, build)
    count = len(state.initial())
    rest = iter(results[count:])
    return [rebuilt(exemplar, rest) for exemplar in exemplars], state.finish(results[:count])


def _yielded(site: Site, exemplars: Sequence[Any], given: Any) -> list[Value]:
    values = [promoted(value) for value in (given if isinstance(given, (list, tuple)) else [given])]
    if len(values) != len(exemplars):
        raise DslTypeError(
            f"the loop of line {site.location.line} starts with {len(exemplars)} values in init=, and yields "
            f"{len(values)}",
            hint="yield one value for each element of init, in the same order",
            location=site.at(site.lines.get("yield", (0, 0))[0]),
        )
    for index, (exemplar, value) in enumerate(zip(exemplars, values)):
        found = difference(exemplar, value)
        if found is not None:
            raise DslTypeError(
                f"element {index}{found.path} is {type_words(found.first)} in init= and {type_words(found.second)} "
                "in the yield",
                hint="convert one of them, so that every iteration hands on the same type",
                location=site.at(site.lines.get("yield", (0, 0))[0]),
            )
    return [ssa for value in values for ssa in leaves(value)]


class _Forwarded(NamedTuple):
    """Variables that the condition of a `while` binds: they reach the body as region arguments."""

    names: list[str]
    exemplars: list[Any]


def run_while(site: Site, test: Callable[[], Any], body: Callable[[], Any]) -> Items:
    """``while test: body`` at run time; the names that are unbound from here on."""
    state = Carried(site, [test, body])
    state.settle(lambda: (test(), body()))
    passed = _Forwarded([], [])

    def condition(values: Sequence[Value]) -> tuple[Value, list[Value]]:
        state.enter(values)
        holds = as_condition(test())
        bound = state.cells.read()
        kept = {slot.label for slot in state.slots}
        passed.names[:] = [name for name in bound if name not in kept]
        passed.exemplars[:] = [promoted(bound[name]) for name in passed.names]
        return holds.ir_value(), [*state.leave(), *(ssa for value in passed.exemplars for ssa in leaves(value))]

    def receive(values: Sequence[Value]) -> None:
        rest = state.enter(values, passed.names)
        bound = state.cells.read()
        bound.update((name, rebuilt(value, rest)) for name, value in zip(passed.names, passed.exemplars))
        state.cells.write(bound)

    def build(values: Sequence[Value]) -> list[Value]:
        receive(values)
        body()
        return state.leave()

    receive(current().while_(state.initial(), condition, build))
    return state.unbound()

"""Run-time `if`: both branches are traced from the same state, then their effects are merged.

A variable or container item that ends up different in the two branches becomes a result of the `scf.if`. One
that is bound in a single branch has no value afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from flydsl.base.errors import DslTypeError
from flydsl.expr.flow.carried import (
    UNSET,
    Difference,
    difference,
    example,
    leaves,
    promoted,
    rebuilt,
    same_keys,
    stand_in,
    structure_advice,
    type_words,
    unchanged,
)
from flydsl.expr.flow.region_state import Cells, Heap, Items, assignment_line, set_items
from flydsl.expr.flow.site import FLAG, RESULT, Site
from flydsl.expr.flow.watched_state import Watch
from flydsl.expr.numeric import Boolean
from flydsl.expr.trace.context import current
from flydsl.expr.trace.protocol import items_of

Body = Callable[[], Any]
Pending = Callable[[Iterator[Any]], Any]


class Seen(NamedTuple):
    """A value at the end of a branch: the object, and its contents then, since containers are reset afterwards."""

    raw: Any
    contents: Any


def _seen(values: Items) -> dict[Any, Seen]:
    return {key: Seen(value, promoted(value)) for key, value in values.items()}


class Merge:
    """Collects pairs of values, one of each branch, and later turns region results into the values to go on with."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.then: list[Any] = []
        self.orelse: list[Any] = []

    def pair(self, label: str, first: Seen, second: Seen) -> Pending:
        """Note two values of one place; returns what makes the merged one of the next results."""
        if unchanged(first.raw, second.raw):
            return lambda results: first.raw
        left, right = first.contents, second.contents
        left, right = (stand_in(right) if left is UNSET else left), (stand_in(left) if right is UNSET else right)
        found = difference(left, right)
        if found is not None:
            raise mismatch(self.site, label, found)
        self.then += leaves(left)
        self.orelse += leaves(right)
        return lambda results: rebuilt(left, results)


def mismatch(site: Site, label: str, found: Difference) -> DslTypeError:
    """Return the error for two paths that give a variable values of different types."""
    name = label.split("[")[0].split(".")[0]
    first, second = site.lines.get(name, (0, 0))
    places = [f"line {line}" if line else f"before the {site.what}" for line in (first, second)]
    words = [type_words(value) for value in (found.first, found.second)]
    subject = f"'{label}{found.path}'" if label else f"the {site.kind}{found.path}"
    if label.startswith(RESULT):
        subject = "what the function returns"
    if not label:
        places = ["its first value", "its second value"]
    message = f"{subject} is {words[0]} ({places[0]}) or {words[1]} ({places[1]}), depending on a run-time condition"
    return DslTypeError(message, hint=_advice(label, found), location=site.at(second or first))


def _advice(label: str, found: Difference) -> str:
    name = "what is returned" if label.startswith(RESULT) else label or "it"
    if found.first is None or found.second is None:
        other = example(found.second if found.first is None else found.first)
        such = f", for example {other}," if other else ""
        return f"give {name} a value of the same type on every path{such} instead of None"
    if isinstance(found.first, (list, dict)):
        return f"{name} must keep its length, a dict its keys in order: choose elements at run time, not how many"
    return structure_advice(found) or (
        "convert one of them, for example with fx.Float32(x), so that both paths give one type"
    )


def run_if(site: Site, condition: Boolean, then: Body, orelse: Body | None) -> Items:
    """Trace both branches and merge; the names that are unbound from here on, with a value they had inside."""
    functions = [then] if orelse is None else [then, orelse]
    cells = Cells(functions, site.names)
    heap = Heap(functions, cells, site)
    before, items = cells.read(), heap.save()
    captures = heap.saved_captures()
    watch = Watch(functions, heap.free(cells))
    after: list[tuple[dict[str, Seen], list[dict[Any, Seen]]]] = []

    def arm(body: Body | None) -> Callable[[], None]:
        def build() -> None:
            if body is not None:
                body()
            refuse_captures(site, heap, captures)
            watch.refuse(site.what, site.at)
            after.append((_seen(cells.read()), [_seen(saved) for saved in heap.save()]))
            cells.write(before)
            heap.restore(items)

        return build

    merge = Merge(site)
    pending: list[Any] = []

    def merged() -> tuple[list[Any], list[Any]]:
        pending.append(_merge_names(merge, after[0][0], after[1][0]))
        pending.append(_merge_items(merge, heap, after[0][1], after[1][1]))
        return merge.then, merge.orelse

    results = iter(current().if_(condition.ir_value(), arm(then), arm(orelse), merged))
    names, containers = pending
    cells.write({name: made(results) for name, made in names.items()})
    for container, values in containers:
        set_items(container, {key: made(results) for key, made in values.items()})
    bound = {**after[0][0], **after[1][0]}
    return {name: bound[name].raw if name in bound else None for name in site.names if name not in names}


def _merge_names(merge: Merge, then: dict[str, Seen], orelse: dict[str, Seen]) -> dict[str, Pending]:
    """Variables bound after the `if`. One that is never read again is let go, whatever its types."""
    live, unset = merge.site.live, Seen(UNSET, UNSET)
    for left, arm, other in zip(merge.site.left, (then, orelse), (orelse, then)):
        left = left or any(name.startswith(FLAG) and seen.raw is True for name, seen in arm.items())
        if left:  # nobody looks from there at what only the other branch binds
            arm.update((name, unset) for name in other if name not in arm and name in live)
    shared = [name for name in then if name in orelse and (name in live or then[name].raw is orelse[name].raw)]
    return {name: merge.pair(name, then[name], orelse[name]) for name in shared}


def _merge_items(merge: Merge, heap: Heap, then: list[dict[Any, Seen]], orelse: list[dict[Any, Seen]]
                 ) -> list[tuple[Any, Items]]:  # fmt: skip
    """Containers to change in place, with their pending items."""
    changed: list[tuple[Any, Items]] = []
    for tracked, first, second in zip(heap.containers, then, orelse):
        if not same_keys(tracked.container, first, second):
            kind = list if isinstance(tracked.container, list) else dict
            raise mismatch(merge.site, tracked.label, Difference("", kind(first), kind(second)))
        present = items_of(tracked.container)
        if same_keys(tracked.container, present, first) and all(
            value is first[key].raw is second[key].raw for key, value in present.items()
        ):
            continue
        items = {key: merge.pair(f"{tracked.label}[{key!r}]", value, second[key]) for key, value in first.items()}
        changed.append((tracked.container, items))
    return changed


def refuse_captures(site: Site, heap: Heap, saved: list[Any]) -> None:
    """A `nonlocal` assignment in a function called from the region would outlive the region."""
    captured = heap.changed_capture(saved)
    if captured is None:
        return
    function = captured.function
    raise DslTypeError(
        f"'{captured.name}' is a captured variable, and {function.__name__}() assigns it inside a run-time "
        f"{site.what} (line {site.location.line})",
        hint=f"pass {captured.name} to {function.__name__}() and return the new value: "
        f"{captured.name} = {function.__name__}({captured.name}, ...)",
        location=site.at(assignment_line(function.__code__, captured.name)),
    )


def choose(site: Site, condition: Boolean, then: Body, orelse: Body) -> Any:
    """Return ``a if condition else b``: both sides are traced, each in its own branch."""
    merge = Merge(site)
    watch = Watch([then, orelse])
    sides: list[Seen] = []
    pending: list[Any] = []

    def merged() -> tuple[list[Any], list[Any]]:
        pending.append(merge.pair("", sides[0], sides[1]))
        return merge.then, merge.orelse

    def side(body: Body) -> Callable[[], None]:
        def build() -> None:
            value = body()
            watch.refuse(site.what, site.at)
            sides.append(Seen(value, promoted(value)))

        return build

    results = iter(current().if_(condition.ir_value(), side(then), side(orelse), merged))
    return pending[0](results)

"""The guard that every call passes: are the things that compiled code was made from still the same objects?

What was read is read again into one tuple, and the tuple's items are compared with those of before by identity; only
arrays are compared by value. The guard is a function written for the purpose. Where it fails, fingerprints are made
again and compared, so that an equal value in a new object compiles nothing.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter, is_, itemgetter
from types import CellType, FunctionType
from typing import Any

from flydsl.compiler.shown_value import shown

MISSING: Any = object()
"""Stands for what is not there."""
_END: Any = object()
"""Stands between the items of one container and the next, so that none can move over unseen."""

_RELOADERS = ("IPython", "jurigged")
"""Programs that give functions new code in place. Looking for that at every call would cost more than all the rest."""

_FEW = 16
"""Comparisons up to which one after the other is quicker than all at once."""

# A name may be gone, a value may not like to be compared, another thread may change a container while it is read.
_SOURCE = """
def holds():
    try:
        return {body}
    except Exception:
        return False
"""

Check = Callable[[], bool]


@dataclass(frozen=True)
class _Place:
    """Somewhere objects were read."""

    owner: Any
    label: str
    """How a user calls an object here, with a zero byte where its key belongs."""
    expression: str
    """What reads them again: items of a tuple, in which {0}, {1}, ... stand for ``parts``."""
    parts: tuple[Any, ...]
    before: tuple[Any, ...]
    """What that gave."""
    keyed: Callable[[tuple[Any, ...]], dict[Any, Any]]
    """The objects by what tells them apart here."""
    grows: bool = False
    """Whether it may have been given more objects by tracing, which then count no less than the others."""

    @property
    def is_one(self) -> bool:
        """Whether the expression gives a single object."""
        return len(self.before) == 1 and not self.expression.startswith("*")

    def changed(self) -> dict[Any, tuple[Any, Any]]:
        """Keys under which there is another object now: (object before, object now)."""
        names = {f"p{n}": part for n, part in enumerate(self.parts)}
        try:
            now = self.keyed(eval(f"({self.expression.format(*names)},)", names))
        except Exception:  # it may be gone, or change while it is read
            now = {}
        before = self.keyed(self.before)
        pairs = {key: (before.get(key, MISSING), now.get(key, MISSING)) for key in dict.fromkeys((*before, *now))}
        return {key: pair for key, pair in pairs.items() if pair[0] is not pair[1]}


def content_of(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return MISSING


def _numbered(items: tuple[Any, ...]) -> dict[Any, Any]:
    return dict(enumerate(items[:-1]))


def _keys_and_values(items: tuple[Any, ...]) -> dict[Any, Any]:
    half = next(n for n, item in enumerate(items) if item is _END)
    return dict(zip(items[:half], items[half + 1 : -1]))


def _named(*names: Any) -> Callable[[tuple[Any, ...]], dict[Any, Any]]:
    return lambda items: dict(zip(names, items))


def _is_as_good(now: Any, before: Any) -> bool:
    """Whether an object is the same or an equal number or text: a setting that goes to and fro is a new one each time.

    Other objects are not asked for equality: a wrapper may call itself equal to what it wraps.
    """
    if now is before:
        return True
    plain = type(before) in (int, str) or (type(before) is float and before == before and before != 0.0)
    return plain and type(now) is type(before) and now == before


def _all_as_good(now: tuple[Any, ...], before: tuple[Any, ...]) -> bool:
    return len(now) == len(before) and all(map(_is_as_good, now, before))


def _addresses_of(size: int) -> Callable[[tuple[Any, ...]], bytes] | None:
    """What gives the addresses of the items of a tuple of this size; None where tuples are not as we know them.

    They lie at the end of a tuple, one after the other. Comparing all of them at once is ten times as quick.
    """
    if sys.implementation.name != "cpython" or struct.calcsize("P") != 8:
        return None
    read, first = (ctypes.c_char * (8 * size)).from_address, tuple.__basicsize__
    sample = tuple(range(1000, 1000 + size))
    found = read(id(sample) + first).raw == struct.pack(f"={size}q", *map(id, sample))
    return (lambda items: read(id(items) + first).raw) if found else None


def same_as(before: tuple[Any, ...]) -> Callable[[tuple[Any, ...]], bool]:
    """Whether a tuple has the same items, or as good ones."""
    size, addresses = len(before), _addresses_of(len(before)) if len(before) > _FEW else None
    if addresses is None:
        return lambda now: len(now) == size and (all(map(is_, now, before)) or _all_as_good(now, before))
    expected = addresses(before)
    return lambda now: len(now) == size and (addresses(now) == expected or _all_as_good(now, before))


def same_names(scope: dict[str, Any], names: Mapping[str, Any]) -> Check:
    """Whether many names of a module mean the same. Reading all it has is quicker than looking most of them up."""
    get, same = itemgetter(*names), same_as(tuple(names.values()))
    everything = (*scope, *scope.values())
    addresses = _addresses_of(len(everything)) if len(scope) < 2 * len(names) else None
    if addresses is None:
        return lambda: same(get(scope))
    size, expected, keys, values = len(everything), addresses(everything), scope.keys(), scope.values()

    def holds() -> bool:
        nonlocal expected
        now = (*keys, *values)
        if len(now) == size and (found := addresses(now)) == expected:
            return True
        if not same(get(scope)):
            return False
        if len(now) == size:  # only names that do not matter have changed
            expected = found
        return True

    return holds


class Guard:
    """Everything that was read, with what was found there."""

    def __init__(self) -> None:
        self._names: dict[int, tuple[dict[str, Any], dict[str, tuple[Any, str]]]] = {}
        self._functions: list[tuple[FunctionType, Any]] = []
        self._places: list[_Place] = []
        self._data: list[tuple[Any, Callable[[Any], Any], Any, str]] = []
        self.holds: Check = lambda: False
        """Whether every object is still where it was."""

    # What to look at ------------------------------------------------------------------------------

    def name(self, scope: dict[str, Any], name: str, label: str) -> None:
        """A name of a module, be it there or not."""
        self._names.setdefault(id(scope), (scope, {}))[1][name] = (scope.get(name, MISSING), label)

    def function(self, function: FunctionType) -> None:
        """The code of a function and its default values."""
        self._functions.append((function, function.__code__))
        for name in ("__defaults__", "__kwdefaults__"):
            if value := getattr(function, name):  # one that had none was given all arguments
                self.item(value, f"{function.__name__}.\0", name, f"{{0}}.{name}", (function,), value)

    def item(self, owner: Any, label: str, key: Any, expression: str, parts: tuple[Any, ...], value: Any) -> None:
        """One object."""
        self._places.append(_Place(owner, label, expression, parts, (value,), _named(key)))

    def cell(self, cell: CellType, name: str) -> None:
        """A closure variable."""
        value = content_of(cell)
        how = ("{1}({0})", (cell, content_of)) if value is MISSING else ("{0}.cell_contents", (cell,))
        self.item(cell, "\0", name, *how, value)

    def items(self, owner: Any, view: Iterable[Any], label: str) -> None:
        """The items of a container."""
        self._places.append(_Place(owner, f"{label}[\0]", "*{0}, {1}", (view, _END), (*view, _END), _numbered))

    def mapping(self, owner: Any, mapping: Any, kind: Any, label: str, loose: Collection[Any] | None = None) -> None:
        """The keys and values of a mapping in their order; ``kind`` is the type whose methods read them.

        ``loose``: tracing puts something there. The values that are there now count but for those, one by one.
        """
        keys, values = kind.keys(mapping), kind.values(mapping)
        if loose is None:
            before, parts = (*keys, _END, *values, _END), (keys, values, _END)
            place = _Place(owner, label, "*{0}, {2}, *{1}, {2}", parts, before, _keys_and_values, grows=True)
        else:
            steady = {key: value for key, value in zip(keys, values) if key not in loose}
            calls = ", ".join(f"{{0}}({{1}}, {{{n + 3}}}, {{2}})" for n in range(len(steady)))
            parts = (kind.get, mapping, MISSING, *steady)
            place = _Place(owner, label, calls, parts, tuple(steady.values()), _named(*steady), grows=True)
        if place.before:
            self._places.append(place)

    def local(self, owner: Any, read: Callable[[Any], dict[str, Any]], label: str) -> None:
        """Values by name that each thread has for itself."""
        held, parts = read(owner), (read, owner, _END)
        before = (*held, _END, *held.values(), _END)
        expression = "*{0}({1}), {2}, *{0}({1}).values(), {2}"
        self._places.append(_Place(owner, label, expression, parts, before, _keys_and_values))

    def slots(self, owner: Any, slots: Mapping[str, Any], label: str) -> None:
        """Attributes of an object that has no dictionary of them, by the descriptors that read them."""
        for name, slot in slots.items():
            self.item(owner, label, name, "{0}({1})", (slot.__get__, owner), slot.__get__(owner))

    def data(self, owner: Any, read: Callable[[Any], Any], label: str) -> Any:
        """What a function makes of an object, such as its bytes: compared by value."""
        content = read(owner)
        self._data.append((owner, read, content, label))
        return content

    # The check ------------------------------------------------------------------------------------

    def seal(self) -> None:
        """Write the check."""
        values: dict[str, Any] = {"as_good": _all_as_good}

        def known(value: Any) -> str:
            values[name := f"v{len(values)}"] = value
            return name

        items, before, tests = self._items(known)
        tests += [f"{known(read)}({known(owner)}) == {known(content)}" for owner, read, content, _ in self._data]
        if len(before) <= _FEW and self._is_plain():
            chain = " and ".join(f"{item} is {known(value)}" for item, value in zip(items, before))
            test = f"(({chain}) or as_good(({', '.join(items)},), {known(tuple(before))}))" if items else "True"
        else:
            test = f"{known(same_as(tuple(before)))}(({', '.join(items)},))"
        exec(compile(_SOURCE.format(body=" and ".join([*tests, test])), "<flydsl guard>", "exec"), values)
        self.holds = values["holds"]

    def _is_plain(self) -> bool:
        """Whether objects are read one by one."""
        return not self._watched_functions() and all(place.is_one for place in self._places)

    def _watched_functions(self) -> list[tuple[FunctionType, Any]]:
        return self._functions if any(name in sys.modules for name in _RELOADERS) else []

    def _items(self, known: Callable[[Any], str]) -> tuple[list[str], list[Any], list[str]]:
        """What reads everything again, what that gave, and further tests."""
        items: list[str] = []
        before: list[Any] = []
        tests: list[str] = []
        for scope, names in self._names.values():
            absent = tuple(name for name, (value, _) in names.items() if value is MISSING)
            found = {name: value for name, (value, _) in names.items() if value is not MISSING}
            where = known(scope)
            if absent:
                tests.append(f"{known(scope.keys())}.isdisjoint({known(absent)})")
            if len(found) > _FEW:
                tests.append(f"{known(same_names(scope, found))}()")
            else:
                items += [f"{where}[{name!r}]" for name in found]
                before += found.values()
        if watched := self._watched_functions():
            functions, codes = zip(*watched)
            items.append(f"*map({known(attrgetter('__code__'))}, {known(functions)})")
            before += codes
        for place in self._places:
            items.append(place.expression.format(*map(known, place.parts)))
            before += place.before
        return items, before, tests

    # What is different now ------------------------------------------------------------------------

    def changes(self) -> list[str]:
        """What is another object now, in the user's words. An object that shows the same as before is left out."""
        found = [
            (label, value, scope.get(name, MISSING))
            for scope, names in self._names.values()
            for name, (value, label) in names.items()
            if scope.get(name, MISSING) is not value
        ]
        for place in self._places:
            for key, pair in place.changed().items():
                text = key if isinstance(key, str) and "[" not in place.label else repr(key)
                found.append((place.label.replace("\0", text), *pair))
        found += [(label, content, read(owner)) for owner, read, content, label in self._changed_data()]
        texts = [(label, _text(now), _text(before)) for label, before, now in found]
        return list(dict.fromkeys(f"'{label}' is {now}, was {before}" for label, now, before in texts if now != before))

    def _changed_data(self) -> list[tuple[Any, Callable[[Any], Any], Any, str]]:
        return [row for row in self._data if row[1](row[0]) != row[2]]

    def changed_parts(self) -> dict[int, frozenset[Any]]:
        """By the id of what holds them (a dictionary of names, a container, an object), the keys of changed objects.

        What has merely been given more is there with no key.
        """
        found: dict[int, set[Any]] = {}
        for scope, names in self._names.values():
            changed = {name for name, (value, _) in names.items() if scope.get(name, MISSING) is not value}
            if changed:
                found.setdefault(id(scope), set()).update(changed)
        for place in self._places:
            changed = place.changed()
            if changed:
                lost = {key for key, (before, _) in changed.items() if before is not MISSING or not place.grows}
                found.setdefault(id(place.owner), set()).update(lost)
        for owner, *_ in self._changed_data():
            found.setdefault(id(owner), set())
        return {owner: frozenset(keys) for owner, keys in found.items()}


def _text(value: Any) -> str:
    return "not there" if value is MISSING else shown(value)

"""The check that every call makes: are the things that compiled code was made from still the same objects?

Identity is all that is compared, but for the bytes of arrays. The check is a function written for the purpose, one
comparison after the other, since a loop over a table would take ten times as long; for functions that are called often
there is a native one (`native_watches.py`). Where it fails, the values are described again (`described.py`) and the
descriptions compared, so that an equal value in a new object compiles nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from operator import attrgetter, is_, itemgetter
from types import CellType, FunctionType, MappingProxyType
from typing import Any

from flydsl.compiler import native_watches as native
from flydsl.compiler.shown_value import shown

MISSING: Any = object()
"""Stands for what is not there."""

_RELOADERS = ("IPython", "jurigged")
"""Programs that give functions new code in place. Looking for that at every call would cost more than all the rest."""

# A name may be gone, a value may not like to be compared, another thread may change a container while it is read.
_CHECK = """
def unchanged():
    try:
        return ({body})
    except Exception:
        return False
"""

Known = Callable[[Any], str]
"""Gives a value a name in the check."""


@dataclass(frozen=True)
class _Place:
    """Somewhere values were read, each under a key of its own."""

    owner: Any
    label: str
    """How a user calls a value here, with its key for {}."""
    before: Mapping[Any, Any]
    now: Callable[[], Mapping[Any, Any]]
    tests: Callable[[Known], list[str]]
    rows: tuple[native.Row, ...] = ()
    """The same tests for native code; none where only Python can tell."""
    grows: bool = False
    """Whether it may have been given more values by tracing, which then count no less than the others."""

    def changed(self) -> dict[Any, tuple[Any, Any]]:
        """Keys whose value is another object now: (value before, value now)."""
        try:
            now = self.now()
        except Exception:  # it may be gone, or change while it is read
            now = {}
        keys = dict.fromkeys((*self.before, *now))
        pairs = {key: (self.before.get(key, MISSING), now.get(key, MISSING)) for key in keys}
        return {key: pair for key, pair in pairs.items() if pair[0] is not pair[1]}


def content_of(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return MISSING


def _item_tests(items: str, expected: tuple[Any, ...], known: Known) -> list[str]:
    """Tests that an expression gives a tuple of these very items."""
    return [f"_same({items}, {known(expected)})"]


def _same(now: tuple[Any, ...], before: tuple[Any, ...]) -> bool:
    """Whether the items are the same. Equality is not asked for: a wrapper may call itself equal to what it wraps."""
    if len(now) != len(before):
        return False
    return all(map(is_, now, before)) or all(map(_is_as_good, now, before))


def _is_as_good(now: Any, before: Any) -> bool:
    return now is before or (type(now) is type(before) and _equal_is_same(before) and now == before)


def _equal_is_same(value: Any) -> bool:
    """Whether an equal object of the same type is as good: a setting that goes to and fro is a new number each time."""
    return type(value) in (int, str) or (type(value) is float and value == value and value != 0.0)


def _written(tests: Callable[[Known], list[str]]) -> Callable[[], bool]:
    """A function that makes the tests one after the other."""
    values: dict[str, Any] = {
        "_content": content_of, "_code_of": attrgetter("__code__"), "_same": _same, "_is_as_good": _is_as_good,
    }  # fmt: skip

    def known(value: Any) -> str:
        name = f"v{len(values)}"
        values[name] = value
        return name

    body = " and\n".join(tests(known)) or "True"
    exec(compile(_CHECK.format(body=body), "<flydsl watches>", "exec"), values)
    return values["unchanged"]


class Watches:
    """Everything that was read, with what was found there."""

    def __init__(self) -> None:
        self._names: dict[tuple[int, str], tuple[dict[str, Any], Any, str]] = {}
        self._functions: list[tuple[FunctionType, Any]] = []
        self._places: list[_Place] = []
        self._is_native = False
        self.unchanged: Callable[[], bool] = lambda: False
        """Whether every object is still where it was."""

    # What to watch --------------------------------------------------------------------------------

    def name(self, scope: dict[str, Any], name: str, label: str) -> None:
        """A name of a module, be it there or not."""
        self._names[id(scope), name] = (scope, scope.get(name, MISSING), label)

    def function(self, function: FunctionType) -> None:
        """The code of a function and its default values."""
        self._functions.append((function, function.__code__))
        before = {name: getattr(function, name) for name in ("__defaults__", "__kwdefaults__")}
        before = {name: value for name, value in before.items() if value}  # one that had none was given all arguments

        def tests(known: Known) -> list[str]:
            return [f"{known(function)}.{name} is {known(value)}" for name, value in before.items()]

        def now() -> dict[str, Any]:
            return {name: getattr(function, name) for name in before}

        rows = tuple(native.part(function, name, value) for name, value in before.items())
        if before:
            self._places.append(_Place(before, f"{function.__name__}.{{}}", before, now, tests, rows))

    def cell(self, cell: CellType, name: str) -> None:
        """A closure variable."""
        value = content_of(cell)

        def tests(known: Known) -> list[str]:
            content = f"_content({known(cell)})" if value is MISSING else f"{known(cell)}.cell_contents"
            test = "_is_as_good({}, {})" if _equal_is_same(value) else "{} is {}"
            return [test.format(content, known(value))]

        rows = () if value is MISSING else (native.content(cell, value),)
        self._places.append(_Place(cell, "{}", {name: value}, lambda: {name: content_of(cell)}, tests, rows))

    def view(self, owner: Any, view: Collection[Any], label: str) -> None:
        """The items of a container."""
        items = tuple(view)

        def tests(known: Known) -> list[str]:
            return _item_tests(f"(*{known(view)},)", items, known) if items else [f"not {known(view)}"]

        self._places.append(_Place(owner, label, dict(enumerate(items)), lambda: dict(enumerate(view)), tests))

    def mapping(
        self,
        owner: Any,
        mapping: Mapping[Any, Any],
        label: str,
        *,
        keys: bool = True,
        loose: Collection[Any] | None = None,
    ) -> None:
        """The keys and values of a mapping in their order, or its values alone.

        ``loose``: tracing puts something there. The values that are there now are watched but for those, one by one.
        """
        kind = (
            dict
            if isinstance(mapping, dict) and type(mapping).__module__ not in ("builtins", "collections")
            else type(mapping)
        )
        everything = dict(zip(kind.keys(mapping), kind.values(mapping)))  # type: ignore[attr-defined]
        before = {key: value for key, value in everything.items() if loose is None or key not in loose}

        def tests(known: Known) -> list[str]:
            if loose is not None:
                get = known(kind.get)
                return [f"{get}({known(mapping)}, {known(k)}) is {known(v)}" for k, v in before.items()]
            views = [kind.values(mapping)]  # type: ignore[attr-defined]
            items = tuple(before.values())
            if keys:
                views, items = [kind.keys(mapping), *views], (*before, *items)  # type: ignore[attr-defined]
            where = ", ".join(f"*{known(view)}" for view in views)
            return _item_tests(f"({where},)", items, known) if items else [f"not {known(views[0])}"]

        def rows() -> tuple[native.Row, ...]:
            found = native.dictionary(mapping) if kind in (dict, MappingProxyType) else None
            if found is None:
                return ()
            if loose is None:
                return (native.entries(found, before, keys=keys),)
            return tuple(native.entry(found, key, value) for key, value in before.items())

        def now() -> Mapping[Any, Any]:
            found = dict(zip(kind.keys(mapping), kind.values(mapping)))  # type: ignore[attr-defined]
            return found if loose is None else {key: found.get(key, MISSING) for key in before}

        self._places.append(_Place(owner, label, before, now, tests, rows(), grows=True))

    def local_mapping(self, owner: Any, read: Callable[[Any], dict[str, Any]], label: str) -> None:
        """Values by name that each thread has for itself."""
        before = dict(read(owner))

        def tests(known: Known) -> list[str]:
            return _item_tests(f"(*(own := {known(read)}({known(owner)})), *own.values())",
                               (*before, *before.values()), known)  # fmt: skip

        self._places.append(_Place(owner, label, before, lambda: dict(read(owner)), tests))

    def slots(self, owner: Any, slots: Mapping[str, Any], label: str) -> None:
        """Attributes of an object that has no dictionary of them, by the descriptors that read them."""
        readers = {name: slot.__get__ for name, slot in slots.items()}

        def now() -> dict[str, Any]:
            return {name: read(owner) for name, read in readers.items()}

        before = now()

        def tests(known: Known) -> list[str]:
            return [f"{known(readers[name])}({known(owner)}) is {known(value)}" for name, value in before.items()]

        self._places.append(_Place(owner, label, before, now, tests))

    def data(self, owner: Any, read: Callable[[Any], Any], label: str) -> Any:
        """What a function makes of an object, such as its bytes: compared by value."""
        content = read(owner)

        def now() -> dict[Any, Any]:
            found = read(owner)
            return {"": content if found == content else found}

        self._places.append(
            _Place(owner, label, {"": content}, now, lambda k: [f"{k(read)}({k(owner)}) == {k(content)}"])
        )
        return content

    # The check ------------------------------------------------------------------------------------

    def seal(self) -> None:
        """Write the check."""

        def tests(known: Known) -> list[str]:
            found = self._name_tests(known)
            if self._watched_functions():
                functions, codes = (known(column) for column in zip(*self._functions))
                found.append(f"(*map(_code_of, {functions}),) == {codes}")
            return found + [test for place in self._places for test in place.tests(known)]

        self.unchanged = _written(tests)

    def quicken(self) -> None:
        """Let native code make the check from now on, where it can: where names are in plain dictionaries."""
        if self._is_native or not native.available():
            return
        if any(type(scope) is not dict for scope, _, _ in self._names.values()):
            return
        self._is_native = True
        rows = [
            native.entry(scope, name, value, there=value is not MISSING)
            for (_, name), (scope, value, _) in self._names.items()
        ]
        rows += [native.part(function, "__code__", code) for function, code in self._watched_functions()]
        rows += [row for place in self._places for row in place.rows]
        left = [place for place in self._places if not place.rows]
        rest = _written(lambda known: [test for place in left for test in place.tests(known)]) if left else None
        self.unchanged = native.native_check(rows, self.unchanged, rest)

    def _watched_functions(self) -> list[tuple[FunctionType, Any]]:
        return self._functions if any(name in sys.modules for name in _RELOADERS) else []

    def _name_tests(self, known: Known) -> list[str]:
        tests: list[str] = []
        scopes: dict[int, dict[str, Any]] = {}
        for (key, name), (_, value, _) in self._names.items():
            scopes.setdefault(key, {})[name] = value
        where = {key: known(scope) for (key, _), (scope, _, _) in self._names.items()}
        for key, names in scopes.items():
            tests += [f"{name!r} not in {where[key]}" for name, value in names.items() if value is MISSING]
            found = {name: value for name, value in names.items() if value is not MISSING}
            if found:
                first = next(iter(found))  # once more, because for a single name the getter gives no tuple
                getter = known(itemgetter(first, *found))
                tests += _item_tests(f"{getter}({where[key]})", (found[first], *found.values()), known)
        return tests

    # What is different now ------------------------------------------------------------------------

    def changes(self) -> list[str]:
        """What is another object now, in the user's words. An object that shows the same as before is left out."""
        found = [
            (label, value, scope.get(name, MISSING))
            for (_, name), (scope, value, label) in self._names.items()
            if scope.get(name, MISSING) is not value
        ]
        found += [
            (place.label.format(key if isinstance(key, str) and "[" not in place.label else repr(key)), *pair)
            for place in self._places
            for key, pair in place.changed().items()
        ]
        texts = [(label, absent_or(now), absent_or(before)) for label, before, now in found]
        return list(dict.fromkeys(f"'{label}' is {now}, was {before}" for label, now, before in texts if now != before))

    def changed_parts(self) -> dict[int, frozenset[Any]]:
        """By the id of what holds them, the keys whose values are no longer the same.

        What has merely been given more is there with no key.
        """
        found: dict[int, set[Any]] = {}
        for place in self._places:
            changed = place.changed()
            if changed:
                lost = {key for key, (before, _) in changed.items() if before is not MISSING or not place.grows}
                found.setdefault(id(place.owner), set()).update(lost)
        return {owner: frozenset(keys) for owner, keys in found.items()}

    def changed_names(self) -> frozenset[tuple[int, str]]:
        """(id of a module's names, name) of the globals that are no longer the same."""
        changed = ((key, scope.get(key[1], MISSING) is value) for key, (scope, value, _) in self._names.items())
        return frozenset(key for key, same in changed if not same)


def absent_or(value: Any) -> str:
    return "not there" if value is MISSING else shown(value)

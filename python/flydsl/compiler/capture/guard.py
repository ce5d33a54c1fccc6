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
from operator import attrgetter, is_, itemgetter
from types import CellType, FunctionType
from typing import Any, NamedTuple

from flydsl.compiler.messages.shown_value import shown

MISSING: Any = object()
"""Stands for what is not there."""
_END: Any = object()
"""Stands between the items of one container and the next, so that none can move over unseen."""

_KEY = "\0"
"""Stands for a key in the label of a place."""

_RELOADERS = ("IPython", "jurigged")
"""Programs that give functions new code in place. Looking for that at every call would cost more than all the rest."""

_FEW, _FEW_ONES = 12, 24
"""Objects up to which one comparison after the other is quicker than all at once; and where each has its own name."""
_SMALL = 4
"""Items of a container that are compared one by one."""
_FIRST = tuple.__basicsize__
"""Where the items of a tuple begin."""

# A name may be gone, a value may not like to be compared, another thread may change a container while it is read.
_SOURCE = """
def holds():
    try:
        return {body}
    except Exception:
        return False
"""

Check = Callable[[], bool]


class _Place(NamedTuple):
    """Somewhere objects were read, each under a key of its own."""

    owner: Any
    label: str
    """How a user calls an object here, with a zero byte where its key belongs."""
    before: Mapping[Any, Any]
    now: Callable[[], Mapping[Any, Any]]
    grows: bool = False
    """Whether it may have been given more objects by tracing, which then count no less than the others."""

    def changed(self) -> dict[Any, tuple[Any, Any]]:
        """Keys whose object is another now: (object before, object now)."""
        try:
            now = self.now()
        except Exception:  # it may be gone, or change while it is read
            now = {}
        pairs = {key: (self.before.get(key, MISSING), now.get(key, MISSING)) for key in (*self.before, *now)}
        return {key: pair for key, pair in pairs.items() if pair[0] is not pair[1]}


class _Read(NamedTuple):
    """What reads objects again: items of a tuple, in which {0}, {1}, ... stand for the parts; and what that gave."""

    expression: str
    parts: tuple[Any, ...]
    before: tuple[Any, ...]

    @property
    def is_one(self) -> bool:
        """Whether the expression gives a single object."""
        return len(self.before) == 1 and not self.expression.startswith("*")


def content_of(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return MISSING


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


def _as_good(now: str, before: tuple[Any, ...], bound: dict[str, Any]) -> Check:
    """Whether an expression gives as good objects; compiled when it is first needed, which may be never."""
    read: list[Callable[[], tuple[Any, ...]]] = []

    def holds() -> bool:
        if not read:
            read.append(eval(f"lambda: {now}", bound))
        return _all_as_good(read[0](), before)

    return holds


def _addresses_of(size: int) -> Any:
    """What reads the addresses of so many items at a place in memory; None where tuples are not as we know them.

    They lie at the end of a tuple, one after the other. Comparing all of them at once is ten times as quick.
    """
    read, sample = (ctypes.c_char * (8 * size)).from_address, tuple(range(1000, 1000 + size))
    if sys.implementation.name != "cpython" or struct.calcsize("P") != 8:
        return None
    return read if read(id(sample) + _FIRST).raw == struct.pack(f"={size}q", *map(id, sample)) else None


def _same_text(now: str, before: tuple[Any, ...], known: Callable[[Any], str]) -> str:
    """A test that an expression gives a tuple of the same items, or as good ones."""
    addresses = _addresses_of(len(before)) if len(before) > _FEW else None
    if addresses is None:
        test = f"all(map({known(is_)}, now, {known(before)}))"
    else:
        test = f"{known(addresses)}(id(now) + {_FIRST}).raw == {known(addresses(id(before) + _FIRST).raw)}"
    return f"(len(now := {now}) == {len(before)} and {test} or {known(_all_as_good)}(now, {known(before)}))"


def same_names(scope: dict[str, Any], names: Mapping[str, Any]) -> Check:
    """Whether many names of a module mean the same. Reading all it has is quicker than looking most of them up.

    New names come last. So if there are as many as before and the last is the same, they all are, unless that one was
    deleted and came again: nobody deletes all the others with it, and has the same objects there in the same order.
    """
    get, before = itemgetter(*names), tuple(names.values())
    everything = tuple(scope.values())
    addresses = _addresses_of(len(everything)) if len(scope) < 3 * len(names) else None
    if addresses is None:
        return lambda: (now := get(scope)) and (all(map(is_, now, before)) or _all_as_good(now, before))
    size, last = len(everything), next(reversed(scope))
    expected = addresses(id(everything) + _FIRST).raw
    values = scope.values()

    def holds() -> bool:
        nonlocal expected
        now = tuple(values)
        is_like = len(now) == size and next(reversed(scope)) is last
        if is_like and addresses(id(now) + _FIRST).raw == expected:
            return True
        found = get(scope)
        if not _all_as_good(found, before):
            return False
        # Only names that do not matter have changed. An equal number in a new object may be gone at the next look, and
        # another be at its address.
        if is_like and all(map(is_, found, before)):
            expected = addresses(id(now) + _FIRST).raw
        return True

    return holds


class Guard:
    """Everything that was read, with what was found there."""

    def __init__(self) -> None:
        self._names: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        """Names of modules with what they meant, by the id of the module's dictionary."""
        self._functions: list[tuple[FunctionType, Any]] = []
        self._reads: list[_Read] = []
        self._tests: list[tuple[str, tuple[Any, ...]]] = []
        """Further tests, likewise."""
        self._places: list[_Place] = []
        """The same once more, to tell the user of a change."""
        self.holds: Check = lambda: False
        """Whether every object is still where it was."""

    # What to look at ------------------------------------------------------------------------------

    def name(self, scope: dict[str, Any], name: str, label: str) -> None:
        """A name of a module, be it there or not."""
        value = self._names.setdefault(id(scope), (scope, {}))[1][name] = scope.get(name, MISSING)
        self._places.append(_Place(scope, label, {name: value}, lambda: {name: scope.get(name, MISSING)}))

    def function(self, function: FunctionType) -> None:
        """The code of a function and its default values."""
        self._functions.append((function, function.__code__))
        for name in ("__defaults__", "__kwdefaults__"):
            if value := getattr(function, name):  # one that had none was given all arguments
                self.item(value, f"{function.__name__}.\0", name, f"{{0}}.{name}", (function,), value)

    def item(self, owner: Any, label: str, key: Any, expression: str, parts: tuple[Any, ...], value: Any) -> None:
        """One object, read by an expression with {0}, {1}, ... for the parts."""

        def now() -> dict[Any, Any]:
            names = {f"p{n}": part for n, part in enumerate(parts)}
            return {key: eval(expression.format(*names), names)}

        self._reads.append(_Read(expression, parts, (value,)))
        self._places.append(_Place(owner, label, {key: value}, now))

    def cell(self, cell: CellType, name: str) -> None:
        """A closure variable."""
        value = content_of(cell)
        how = ("{1}({0})", (cell, content_of)) if value is MISSING else ("{0}.cell_contents", (cell,))
        self.item(cell, "\0", name, *how, value)

    def items(self, owner: Any, view: Iterable[Any], label: str) -> None:
        """The items of a container."""
        items = tuple(view)
        if type(view) is list and len(items) <= _SMALL:
            self._tests.append((f"len({{0}}) == {len(items)}", (view,)))
            self._reads += [_Read(f"{{0}}[{n}]", (view,), (item,)) for n, item in enumerate(items)]
        else:
            self._reads.append(_Read("*{0}, {1}", (view, _END), (*items, _END)))
        self._places.append(_Place(owner, f"{label}[\0]", dict(enumerate(items)), lambda: dict(enumerate(view))))

    def mapping(self, owner: Any, mapping: Any, kind: Any, label: str, loose: Collection[Any] | None = None) -> None:
        """The keys and values of a mapping in their order; ``kind`` is the type whose methods read them.

        ``loose``: tracing puts something there. The values that are there now count but for those, one by one.
        """
        keys, values = kind.keys(mapping), kind.values(mapping)
        if loose is not None:
            for key, value in [pair for pair in zip(keys, values) if pair[0] not in loose]:
                self.item(owner, label, key, "{0}({1}, {2}, {3})", (kind.get, mapping, key, MISSING), value)
            return
        before = dict(zip(keys, values))
        if type(mapping) is dict and len(before) <= _SMALL and all(type(key) is str for key in before):
            self._tests.append(("[*{0}] == {1}", (mapping, [*before])))
            self._reads += [_Read("{0}[{1}]", (mapping, key), (value,)) for key, value in before.items()]
        else:
            parts, items = (keys, values, _END), (*before, _END, *before.values(), _END)
            self._reads.append(_Read("*{0}, {2}, *{1}, {2}", parts, items))
        self._places.append(_Place(owner, label, before, lambda: dict(zip(keys, values)), grows=True))

    def local(self, owner: Any, read: Callable[[Any], dict[str, Any]], label: str) -> None:
        """Values by name that each thread has for itself."""
        before, expression = dict(read(owner)), "*{0}({1}), {2}, *{0}({1}).values(), {2}"
        self._reads.append(_Read(expression, (read, owner, _END), (*before, _END, *before.values(), _END)))
        self._places.append(_Place(owner, label, before, lambda: dict(read(owner))))

    def slots(self, owner: Any, slots: Mapping[str, Any], label: str) -> None:
        """Attributes of an object that has no dictionary of them, by the descriptors that read them."""
        for name, slot in slots.items():
            self.item(owner, label, name, "{0}({1})", (slot.__get__, owner), slot.__get__(owner))

    def data(self, owner: Any, read: Callable[[Any], Any], label: str) -> Any:
        """What a function makes of an object, such as its bytes: compared by value."""
        content = read(owner)

        def now() -> dict[Any, Any]:
            found = read(owner)
            return {"": content if found == content else found}

        self._tests.append(("{0}({1}) == {2}", (read, owner, content)))
        self._places.append(_Place(owner, label, {"": content}, now))
        return content

    # The check ------------------------------------------------------------------------------------

    def seal(self) -> None:
        """Write the check."""
        bound: dict[str, Any] = {}

        def known(value: Any) -> str:
            bound[name := f"v{len(bound)}"] = value
            return name

        reads, tests = [*self._reads, *self._code_reads()], []
        for scope, names in self._names.values():
            absent = tuple(name for name, value in names.items() if value is MISSING)
            found = {name: value for name, value in names.items() if value is not MISSING}
            if len(absent) > _SMALL:
                tests.append(f"{known(scope.keys())}.isdisjoint({known(absent)})")
            else:
                tests += [f"{name!r} not in {known(scope)}" for name in absent]
            if len(found) > _FEW:
                tests.append(f"{known(same_names(scope, found))}()")
            else:
                reads += [_Read("{0}[{1}]", (scope, name), (value,)) for name, value in found.items()]
        tests += [test.format(*map(known, parts)) for test, parts in self._tests]
        if reads:
            items = [read.expression.format(*map(known, read.parts)) for read in reads]
            before = tuple(value for read in reads for value in read.before)
            now = f"({', '.join(items)},)"
            if len(before) <= _FEW_ONES and all(read.is_one for read in reads):
                chain = " and ".join(f"{item} is {known(value)}" for item, value in zip(items, before))
                tests.append(f"(({chain}) or {known(_as_good(now, before, bound))}())")
            else:
                tests.append(_same_text(now, before, known))
        if not tests:
            self.holds = lambda: True
            return
        exec(compile(_SOURCE.format(body=" and ".join(tests)), "<flydsl guard>", "exec"), bound)
        self.holds = bound["holds"]

    def _code_reads(self) -> list[_Read]:
        """The code of functions, where something is loaded that gives them new code."""
        if not self._functions or not any(name in sys.modules for name in _RELOADERS):
            return []
        functions, codes = zip(*self._functions)
        return [_Read("*map({0}, {1})", (attrgetter("__code__"), functions), codes)]

    # What is different now ------------------------------------------------------------------------

    def changes(self) -> list[str]:
        """What is another object now, in the user's words. An object that shows the same as before is left out."""
        found: dict[str, None] = {}
        for place in self._places:
            for key, (before, now) in place.changed().items():
                name = key if isinstance(key, str) and "[" not in place.label else repr(key)
                if _text(now) != _text(before):
                    found[f"'{place.label.replace(_KEY, name)}' is {_text(now)}, was {_text(before)}"] = None
        return list(found)

    def changed_parts(self) -> dict[int, frozenset[Any]]:
        """By the id of what holds them (a dictionary of names, a container, an object), the keys of changed objects.

        What has merely been given more is there with no key.
        """
        found: dict[int, frozenset[Any]] = {}
        for place in self._places:
            if changed := place.changed():
                lost = {key for key, (before, _) in changed.items() if before is not MISSING or not place.grows}
                found[id(place.owner)] = found.get(id(place.owner), frozenset()) | lost
        return found


def _text(value: Any) -> str:
    return "not there" if value is MISSING else shown(value)

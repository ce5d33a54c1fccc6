"""The check that every call makes: are the things that compiled code was made from still the same objects?

Identity is all that is compared. The check is a function written for the purpose, one comparison after the other, since
a loop over a table would take ten times as long. Where it fails, the values are described again (`described.py`) and
the descriptions compared, so that an equal value in a new object compiles nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from operator import attrgetter, is_, itemgetter
from types import CellType, FunctionType
from typing import Any

_MISSING = object()

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


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return _MISSING


def _bytes(owner: Any) -> bytes:
    return bytes(owner) if isinstance(owner, bytearray) else owner.tobytes()


def _same(now: Collection[Any], before: tuple[Any, ...]) -> bool:
    found = tuple(now)
    return len(found) == len(before) and all(map(is_, found, before))


def _item_tests(items: str, expected: tuple[Any, ...], known: Callable[[Any], str]) -> list[str]:
    """Tests that an expression gives a tuple of these very items.

    Comparing two tuples takes a fraction of the time that comparing their items one by one does, and looks at identity
    first. It is as good where no other object can be equal to an item; the others are compared by identity as well.
    """
    tests = [f"(now := {items}) == {known(expected)}"]
    for index, item in enumerate(expected):
        if type(item).__eq__ is not object.__eq__ and type(item) is not str:
            tests.append(f"now[{index}] is {known(item)}")
    return tests


class Watches:
    """Everything that was read, with what was found there."""

    def __init__(self) -> None:
        self._names: dict[tuple[int, str], tuple[dict[str, Any], Any]] = {}
        self._functions: list[tuple[FunctionType, Any, Any]] = []
        self._cells: list[tuple[CellType, Any]] = []
        self._views: list[tuple[Any, Collection[Any], tuple[Any, ...]]] = []
        self._mappings: list[tuple[Any, Mapping[Any, Any], tuple[Any, ...]]] = []
        self._slots: list[tuple[Any, dict[str, Any]]] = []
        self._data: list[tuple[Any, bytes]] = []
        self.unchanged: Callable[[], bool] = lambda: False
        """Whether every object is still where it was."""

    # What to watch --------------------------------------------------------------------------------

    def name(self, scope: dict[str, Any], name: str) -> None:
        """A name of a module, be it there or not."""
        self._names[id(scope), name] = (scope, scope.get(name, _MISSING))

    def function(self, function: FunctionType) -> None:
        self._functions.append((function, function.__code__, function.__defaults__))
        self._cells += [(cell, _content(cell)) for cell in function.__closure__ or ()]

    def view(self, owner: Any, view: Collection[Any]) -> None:
        """The items of a container, or a view of a mapping."""
        self._views.append((owner, view, tuple(view)))

    def mapping(self, owner: Any, mapping: Mapping[Any, Any]) -> None:
        """The keys and values of a mapping, in their order."""
        self._mappings.append((owner, mapping, (*mapping, *mapping.values())))

    def slots(self, owner: Any, values: dict[str, Any]) -> None:
        """Attributes of an object that has no dictionary of them."""
        self._slots.append((owner, values))

    def data(self, owner: Any) -> bytes:
        """The bytes of a bytearray or NumPy array."""
        content = _bytes(owner)
        self._data.append((owner, content))
        return content

    # The check ------------------------------------------------------------------------------------

    def seal(self) -> None:
        """Write the check."""
        values: dict[str, Any] = {"_content": _content, "_bytes": _bytes, "_code_of": attrgetter("__code__")}
        tests: list[str] = []

        def known(value: Any) -> str:
            name = f"v{len(values)}"
            values[name] = value
            return name

        scopes: dict[int, dict[str, Any]] = {}
        for (key, name), (_, value) in self._names.items():
            scopes.setdefault(key, {})[name] = value
        for key, names in scopes.items():
            scope = next(scope for (other, _), (scope, _) in self._names.items() if other == key)
            where = known(scope)
            tests += [f"{name!r} not in {where}" for name, value in names.items() if value is _MISSING]
            found = {name: value for name, value in names.items() if value is not _MISSING}
            if found:
                first = next(iter(found))  # once more, because for a single name the getter gives no tuple
                getter = known(itemgetter(first, *found))
                tests += _item_tests(f"{getter}({where})", (found[first], *found.values()), known)
        if self._functions and any(name in sys.modules for name in _RELOADERS):
            functions, codes, _ = (known(column) for column in zip(*self._functions))
            tests.append(f"(*map(_code_of, {functions}),) == {codes}")
        for function, _, defaults in self._functions:
            if defaults:  # a function that had none was called with all its arguments
                tests.append(f"{known(function)}.__defaults__ is {known(defaults)}")
        for cell, value in self._cells:
            content = f"_content({known(cell)})" if value is _MISSING else f"{known(cell)}.cell_contents"
            tests.append(f"{content} is {known(value)}")
        for _, view, items in self._views:
            tests += _item_tests(f"(*{known(view)},)", items, known) if items else [f"not {known(view)}"]
        for _, mapping, items in self._mappings:
            where = known(mapping)
            tests += _item_tests(f"(*{where}, *{where}.values())", items, known) if items else [f"not {where}"]
        tests += [f"_bytes({known(owner)}) == {known(content)}" for owner, content in self._data]
        for owner, slots in self._slots:
            where = known(owner)
            tests += [f"{where}.{name} is {known(value)}" for name, value in slots.items()]
        body = " and\n".join(tests) or "True"
        exec(compile(_CHECK.format(body=body), "<flydsl watches>", "exec"), values)
        self.unchanged = values["unchanged"]

    def changed_owners(self) -> frozenset[int]:
        """Ids of the containers, instances and closure cells whose contents are no longer the same."""
        found = {id(owner) for owner, view, items in self._views if not _same(view, items)}
        found |= {id(owner) for owner, m, items in self._mappings if not _same((*m, *m.values()), items)}
        found |= {id(owner) for owner, content in self._data if _bytes(owner) != content}
        found |= {id(cell) for cell, value in self._cells if _content(cell) is not value}
        for owner, slots in self._slots:
            if any(getattr(owner, name, _MISSING) is not value for name, value in slots.items()):
                found.add(id(owner))
        return frozenset(found)

    def changed_names(self) -> frozenset[tuple[int, str]]:
        """(id of a module's names, name) of the globals that are no longer the same."""
        changed = ((key, scope.get(key[1], _MISSING) is value) for key, (scope, value) in self._names.items())
        return frozenset(key for key, same in changed if not same)

"""What a run goes without: never a test, and never a value of a parameter."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

from tests.conftest import not_sampled, spared_combinations


def cases(tables: dict[str, list[tuple[Any, ...]]]) -> list[Any]:
    """The cases of a test with such tables, which are called by the names of their parameters."""
    marks = [SimpleNamespace(args=(names,)) for names in tables]
    found = []
    for rows in product(*tables.values()):
        params = {
            name: value
            for names, row in zip(tables, rows, strict=True)
            for name, value in zip(names.split(","), row, strict=True)
        }
        text = "-".join(map(str, params.values()))
        spec = SimpleNamespace(params=params)
        found.append(SimpleNamespace(nodeid=f"test[{text}]", callspec=spec, iter_markers=lambda _: marks))
    return found


def test_every_value_of_combinations_is_taken() -> None:
    for kinds, targets in product(range(1, 7), range(1, 7)):
        given = cases({"kind": [(i,) for i in range(kinds)], "arch": [(f"gfx{i}",) for i in range(targets)]})
        left = spared_combinations(given)
        taken = [case for case in given if case not in left]
        assert len(left) <= len(given) // 2
        for name, count in (("kind", kinds), ("arch", targets)):
            assert len({case.callspec.params[name] for case in taken}) == count
    assert len(spared_combinations(cases({"kind": [(i,) for i in range(6)], "arch": [("a",), ("b",)]}))) > 3


def test_what_is_listed_together_stays_whole() -> None:
    assert not spared_combinations(cases({"tile,shape": [(tile, shape) for tile in range(4) for shape in ([1], [2])]}))


def test_a_case_of_every_test_is_sampled() -> None:
    for count in range(1, 30):
        given = cases({"kind": [(i,) for i in range(count)]})
        assert len(not_sampled(given, 20)) < count
    assert len(not_sampled(cases({"kind": [(i,) for i in range(400)]}), 4)) > 250

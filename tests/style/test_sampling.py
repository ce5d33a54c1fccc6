"""What a run goes without: never a test, a target of a folder, nor a type or a name among the parameters of a file."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import PROPERTIES, SHARE, not_in_turn, not_sampled, spared, spared_combinations, waiting
from tests.support import random_data
from tests.support.pairwise import crossed, in_turn, with_few
from tests.support.turns import in_turns


def cases(tables: dict[str, list[tuple[Any, ...]]], file: str = "test_file.py") -> list[Any]:
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
        found.append(SimpleNamespace(nodeid=f"{file}::test[{text}]", callspec=spec, iter_markers=lambda _: marks))
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


def test_cases_take_turns() -> None:
    """Every case has its turn with some seed, and every run has all that is named."""
    tables = [{"arch": [("gfx942",), ("sm_90a",)], "m": [(m,) for m in range(12)]},
              {"arch,kind": [("gfx942", "fp8"), ("gfx950", "fp4"), ("gfx950", "fp8"), ("gfx950", None)]},
              {"m,n": [(1, 2), (3, 4)]}, {"dtype": [(int,), (float,)]}]  # fmt: skip
    tests = [*map(cases, tables), cases(tables[3], "test_other_file.py")]
    had: set[int] = set()
    for seed in range(60):
        left = set(map(id, waiting(tests, seed)))
        runs = [[case for case in test if id(case) not in left] for test in tests]
        assert all(len(run) >= -(-len(test) // SHARE) for run, test in zip(runs, tests, strict=True))
        assert sum(map(len, runs)) <= len(left)
        named = {x for run in runs for case in run for name, x in case.callspec.params.items() if name not in "mn"}
        assert named == {"gfx942", "gfx950", "sm_90a", "fp8", "fp4", None, int, float}
        assert len(runs[3]) == len(runs[4]) == 2  # types are of a file, and targets of a folder
        had |= {id(case) for run in runs for case in run}
    assert len(had) == sum(map(len, tests))


def test_kernels_whose_code_is_looked_at_take_turns() -> None:
    """Their names too, and targets still do not."""
    given = cases({"name": [(f"kernel {i}",) for i in range(6)], "arch": [("gfx942",), ("sm_90a",)]}, PROPERTIES[0])
    left = waiting([given], 1)
    assert len(given) - len(left) <= -(-len(given) // SHARE) + 1
    assert {case.callspec.params["arch"] for case in given if case not in left} == {"gfx942", "sm_90a"}


def test_rows_of_long_tables_take_turns() -> None:
    """Every run has its part of them, one at least, and every row is in some."""
    for count, turns in product((1, 2, 7, 30), (1, 2, 3)):
        given, had = cases({"name": [(f"row {i}",) for i in range(count)]}), set[int]()
        for seed in range(40):
            left = set(map(id, not_in_turn(given, turns, seed)))
            assert count - len(left) == -(-count // turns)
            had |= {id(case) for case in given if id(case) not in left}
        assert len(had) == count


def test_a_case_of_a_table_that_is_sampled_has_its_turn() -> None:
    """Of each test in every run, whatever is taken of it always and by the seed."""
    for name, count, seed in product(("copies/test_every_atom.py", "sanitize/test_planted.py"), range(1, 9), range(20)):
        given = cases({"name": [(f"row {i}",) for i in range(count)]}, f"tests/unit/{name}")
        left = set(map(id, spared(f"tests/unit/{name}::test_a_right_program", given, seed)))
        assert len(left) < count and left <= set(map(id, given))


def test_variants_of_a_test_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """They keep their order; `make thorough` has them all."""
    monkeypatch.delenv("FLYDSL_TEST_ALL", raising=False)
    had: set[str] = set()
    for _ in range(100):
        taken = in_turns("abcde", 2)
        assert len(taken) == 2 and taken == sorted(taken)
        had.update(taken)
    assert had == {*"abcde"} and in_turns("ab", 2) == in_turns("ab", 3) == ["a", "b"]
    monkeypatch.setenv("FLYDSL_TEST_ALL", "1")
    assert in_turns("abcde") == [*"abcde"]


def test_crossed_features_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every case has its turn with some seed, and every run has every choice; `make thorough` has all cases."""
    monkeypatch.delenv("FLYDSL_TEST_ALL", raising=False)
    features = {"head": (64, 128, 256), "band": ("all", "causal"), "sinks": (False, True), "dtype": ("f16", "bf16")}
    given = crossed(features)
    had: set[int] = set()
    for seed in range(40):
        monkeypatch.setattr(random_data, "SEED", seed)
        taken = in_turn(given)
        assert {choice for number in taken for choice in given[number].items()} == {
            (name, x) for name, choices in features.items() for x in choices
        }
        assert len(taken) < len(given)
        had.update(taken)
    assert had == set(range(len(given)))
    few = set[int]()
    for seed in range(40):
        monkeypatch.setattr(random_data, "SEED", seed)
        found = with_few(features, "head", 2)
        assert len(found["head"]) == 2 and {**found, "head": features["head"]} == features
        few.update(found["head"])
    assert few == {*features["head"]}
    monkeypatch.setenv("FLYDSL_TEST_ALL", "1")
    assert in_turn(given) == list(range(len(given))) and with_few(features, "head", 2) == features

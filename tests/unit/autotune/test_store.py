"""Timings on disk: shared, merged, and never trusted."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
from pathlib import Path
from typing import Any

import pytest

from flydsl.autotune import store
from flydsl.autotune.store import load_results, save_results
from tests.support.log import Log

KEY = {"problem": [["n", "137"]], "build": {"source": "abc"}}
RESULTS: store.Results = {'{"BLOCK": 32}': {"ms": 1.5}, '{"BLOCK": 64}': {"differs": "B differs"}}


def test_round_trip(timings: Path) -> None:
    assert load_results("f", KEY) == {}
    save_results("f", KEY, RESULTS, {"BLOCK": 32})
    assert load_results("f", KEY) == RESULTS
    assert load_results("f", {**KEY, "build": {"source": "abd"}}) == {} and load_results("g", KEY) == {}
    assert [path.name for path in timings.iterdir() if not path.name.startswith(".")] == ["f.json"]


def test_new_results_join_the_old() -> None:
    save_results("f", KEY, RESULTS, None)
    save_results("f", KEY, {'{"BLOCK": 128}': {"ms": 2.5}}, None)
    save_results("f", {"other": 1}, {'{"BLOCK": 1}': {"ms": 9.0}}, None)
    assert load_results("f", KEY) == RESULTS | {'{"BLOCK": 128}': {"ms": 2.5}}
    assert load_results("f", {"other": 1}) == {'{"BLOCK": 1}': {"ms": 9.0}}


def test_a_function_name_cannot_leave_the_directory(timings: Path) -> None:
    save_results("../<lambda>/x", KEY, RESULTS, None)
    assert load_results("../<lambda>/x", KEY) == RESULTS
    assert {path.parent for path in timings.parent.rglob("*.json")} == {timings}


def test_the_oldest_entries_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_ENTRIES", 3)
    for number in range(5):
        save_results("f", {"n": number}, RESULTS, None)
    assert [bool(load_results("f", {"n": number})) for number in range(5)] == [False, False, True, True, True]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        '{"version": 2, "entries": {}}',
        '{"version": 1}',
        '{"version": 1, "entries": []}',
        "[" * 100_000,
        "\udcff",
        '{"version": 1, "entries": NaN}',
    ],
    ids=lambda text: text[:20],
)
def test_a_damaged_file_is_ignored_and_written_anew(timings: Path, text: str) -> None:
    timings.mkdir()
    (timings / "f.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert load_results("f", KEY) == {}
    save_results("f", KEY, RESULTS, None)
    assert load_results("f", KEY) == RESULTS


@pytest.mark.parametrize(
    "result",
    [
        {"ms": "1"},
        {"ms": True},
        {"ms": float("nan")},
        {"ms": -1.0},
        {"ms": 1.0, "more": 2},
        {},
        [],
        None,
        {"run": "rm -r"},
        {"failed": 3},
    ],
    ids=repr,
)
def test_a_damaged_entry_is_ignored(timings: Path, result: Any) -> None:
    save_results("f", KEY, RESULTS, None)
    save_results("f", {"other": 1}, RESULTS, None)
    path = timings / "f.json"
    document = json.loads(path.read_text())
    document["entries"][store.key_hash(KEY)]["results"]['{"BLOCK": 32}'] = result
    path.write_text(json.dumps(document))
    assert load_results("f", KEY) == {} and load_results("f", {"other": 1}) == RESULTS


def test_an_entry_under_another_key_is_ignored(timings: Path) -> None:
    save_results("f", KEY, RESULTS, None)
    path = timings / "f.json"
    document = json.loads(path.read_text())
    document["entries"] = {store.key_hash({"other": 1}): document["entries"][store.key_hash(KEY)]}
    path.write_text(json.dumps(document))
    assert load_results("f", {"other": 1}) == {}


def test_mutated_files_never_raise(timings: Path) -> None:
    save_results("f", KEY, RESULTS, {"BLOCK": 32})
    path = timings / "f.json"
    good = path.read_bytes()
    rng = random.Random()
    for _ in range(300):
        data = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(bytes(data[: rng.randint(0, len(data))]) if rng.random() < 0.3 else bytes(data))
        for result in load_results("f", KEY).values():
            assert store._is_result(result)


def test_a_directory_that_cannot_be_written(timings: Path, kept_log: Log) -> None:
    timings.write_text("a file is in the way")
    assert load_results("f", KEY) == {}
    save_results("f", KEY, RESULTS, None)
    assert "are not kept" in kept_log.text


def _save_many(process: int) -> None:
    for number in range(20):
        save_results("f", KEY, {f"{process}-{number}": {"ms": float(number)}}, None)
        save_results("f", {"process": process}, {str(number): {"ms": 1.0}}, None)


def test_processes_keep_each_others_results() -> None:
    context = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
    workers = [context.Process(target=_save_many, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert set(load_results("f", KEY)) == {f"{process}-{number}" for process in range(4) for number in range(20)}
    assert all(len(load_results("f", {"process": process})) == 20 for process in range(4))

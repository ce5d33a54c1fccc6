"""The walks of docs/architecture.md lead forward: their files exist, and none imports one that came before it."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.style.import_graph import imports_of, modules

WALKS = 6
CALL, MOST_IN_A_CALL = "A call", 20
"""The walk of a call, and how many files of the compiler it may lead through."""


def walks(repository: Path) -> dict[str, list[str]]:
    """The files of each walk, in order."""
    text = (repository / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = text.split("\n## Walks\n")[1].split("\n## ")[0]
    parts = re.split(r"^### (.+)$", section, flags=re.MULTILINE)[1:]
    titles, bodies = parts[::2], parts[1::2]
    return {title: re.findall(r"^\d+\. `([^`]+)`", body, re.MULTILINE) for title, body in zip(titles, bodies)}


def file_of(repository: Path, name: str) -> Path:
    inside = repository / "python" / "flydsl" / name
    return inside if inside.exists() else repository / name


def test_there_are_six_walks(repository: Path) -> None:
    found = walks(repository)
    assert len(found) == WALKS and all(len(files) > 4 for files in found.values()), found


def test_walks_lead_forward(repository: Path) -> None:
    known = modules(repository)
    wrong: list[str] = []
    for title, files in walks(repository).items():
        paths = [file_of(repository, name) for name in files]
        wrong += [f"{title}: there is no {path}" for path in paths if not path.exists()]
        for place, path in enumerate(paths):
            imported = {known.get(found.module) for found in imports_of(ast.parse(path.read_bytes()), known)}
            back = [files[i] for i in range(place) if paths[i] in imported]
            wrong += [f"{title}: {files[place]} imports {name}, which came before it" for name in back]
    assert not wrong, "\n".join(wrong)


_FIRST_CALL = """
import inspect
import sys
import numpy as np
from tests.style.first_call import add

seen = set()

def note(frame, event, argument):
    code = frame.f_code
    file = code.co_filename.replace("\\\\", "/")
    runs = code.co_flags & inspect.CO_OPTIMIZED  # the bodies of modules and classes are not
    if event == "call" and "/flydsl/compiler/" in file and runs:
        seen.add("compiler/" + file.split("/flydsl/compiler/")[1])

a, out = np.ones(128, np.float32), np.zeros(128, np.float32)
sys.setprofile(note)
add(a, a, out)
sys.setprofile(None)
assert (out == 2).all()
print("\\n".join(sorted(seen)))
"""


def files_that_run(repository: Path, cache: Path) -> set[str]:
    """The files of the compiler in which something runs during the first call of a jit function with one small
    kernel, in a process of its own."""
    environment = {**os.environ, "FLYDSL_RUNTIME_CACHE_DIR": str(cache), "FLYDSL_RUNTIME_ENABLE_CACHE": "1"}
    command = [sys.executable, "-c", _FIRST_CALL]
    run = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


@pytest.fixture(scope="module")
def first_calls(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], set[str]]:
    """The files of a first call that compiles, and of one that finds its code on disk."""
    cache = tmp_path_factory.mktemp("cache")
    return files_that_run(repository, cache), files_that_run(repository, cache)


def test_the_first_call_runs_in_few_files(first_calls: tuple[set[str], set[str]]) -> None:
    for files in first_calls:
        assert len(files) <= MOST_IN_A_CALL, f"{len(files)} files:\n" + "\n".join(sorted(files))


def test_the_first_call_takes_the_walk(repository: Path, first_calls: tuple[set[str], set[str]]) -> None:
    compiled, fetched = first_calls
    listed = {name for name in walks(repository)[CALL] if name.startswith("compiler/")}
    assert compiled == listed, f"run and not listed: {compiled - listed}, listed and not run: {listed - compiled}"
    assert fetched < compiled

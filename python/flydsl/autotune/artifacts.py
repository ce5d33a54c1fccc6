"""Shipped configurations: a JSON file beside the kernels says which one to use for which problem, with no search.

::

    {"version": 1, "configs": [
        {"problem": {"n": "4096", "A (type)": "f32:1", "arch": "gfx942"}, "config": {"BLOCK": 256}}]}

A problem is written as :mod:`flydsl.autotune.key` words it. An entry applies to every call that has all its pairs, so
leaving one out (``device``, most often) makes it apply more widely. Of several that apply, the one with the most pairs
counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from flydsl.autotune.config import Config
from flydsl.autotune.key import Problem
from flydsl.autotune.store import VERSION, read_json
from flydsl.base import knobs
from flydsl.base.errors import DslValueError, FlyDSLError
from flydsl.base.files import atomic_write, file_lock
from flydsl.base.log import get_logger


def checked_name(name: str | None) -> str | None:
    """Return a name that makes a file name and leads out of no directory."""
    if name is not None and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name):
        raise DslValueError(
            f"artifact_name={name!r} cannot name a file", hint="use letters, digits, '_', '-' and '.', and no directory"
        )
    return name


def shipped_config(name: str | None, problem: Problem) -> Config | None:
    """Return the configuration shipped for a problem, or None."""
    directory = knobs.AUTOTUNE_CONFIG_DIR.get()
    if directory is None or name is None:
        return None
    path = directory / f"{name.removesuffix('.json')}.json"
    pairs, found, most = dict(problem), None, -1
    for entry in _entries(path):
        wanted = entry["problem"]
        if len(wanted) > most and all(pairs.get(word) == text for word, text in wanted.items()):
            found, most = entry["config"], len(wanted)
    if found is None:
        return None
    try:
        return Config.from_dict(found)
    except FlyDSLError as error:
        get_logger(__name__).warning("%s: the configuration %s is ignored: %s", path, found, error.message)
        return None


def write_artifact(path: Path, winners: Mapping[Problem, Config]) -> None:
    """Add winners to an artifact; those of the same problems are replaced."""
    new = [{"problem": dict(problem), "config": config.to_dict()} for problem, config in winners.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    with file_lock(path.with_name(f".{path.name}.lock")):
        kept = [entry for entry in _entries(path) if entry["problem"] not in [item["problem"] for item in new]]
        document = {"version": VERSION, "configs": kept + new}
        atomic_write(path, (json.dumps(document, indent=1) + "\n").encode(), mode=0o666)


def _entries(path: Path) -> list[dict[str, Any]]:
    """Return the entries of a file. Every call that has no winner asks, so the file is read only when it has
    changed."""
    try:
        found = path.stat()
    except OSError:
        return []
    return _read_entries(path, found.st_mtime_ns, found.st_size, found.st_ino)


@lru_cache(maxsize=256)
def _read_entries(path: Path, *_version: int) -> list[dict[str, Any]]:
    document = read_json(path)
    if not isinstance(document, dict) or document.get("version") != VERSION:
        return []
    entries = document.get("configs")
    if not isinstance(entries, list):
        return []
    return [
        entry
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("problem"), dict) and isinstance(entry.get("config"), dict)
    ]

"""Timings on disk: one JSON file a function, shared by processes, never trusted and never executed.

::

    {"version": 1, "entries": {<hash of the key>: {
        "key": {…}, "best": <config>, "used": <seconds>,
        "results": {<config as text>: {"ms": 0.12} | {"failed": "why"} | {"differs": "where"}}}}}

What cannot be read, the whole file or one entry, counts as absent and is written anew. Storing reads the file again
under its lock, so that tuners running at the same time keep each other's results. A disk that cannot be written is no
reason to stop a computation: it is logged.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flydsl.base import knobs
from flydsl.base.errors import FlyDSLError
from flydsl.base.files import atomic_write, directory_of, file_lock
from flydsl.base.log import get_logger

VERSION = 1
MOST_ENTRIES = 512
"""Entries a file keeps, the least recently used go first: each edit of a kernel begins new ones."""

_LOCK_SECONDS = 30.0
_RESULT_KINDS = ("ms", "failed", "differs")

Results = dict[str, dict[str, Any]]
"""Configuration as text -> what became of it."""


def key_hash(key: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:32]


def load_results(name: str, key: Mapping[str, Any]) -> Results:
    """Return what is known about the configurations of a function for a key; empty when nothing is, or it is
    damaged."""
    path = _path(name)
    if path is None:
        return {}
    entry = _read(path).get(key_hash(key))
    # The hash is not trusted to be the key's: a file may have been edited or merged by hand.
    return entry["results"] if entry is not None and entry["key"] == key else {}


def save_results(name: str, key: Mapping[str, Any], results: Results, best: Mapping[str, Any] | None) -> None:
    """Add results of a key to the file of a function, beside what others have put there."""
    path = _path(name)
    if path is None:
        return
    try:
        with file_lock(path.with_name(f".{path.name}.lock"), timeout=_LOCK_SECONDS):
            entries = _read(path)
            known = entries.get(key_hash(key))
            merged = {**known["results"], **results} if known is not None and known["key"] == key else results
            entries[key_hash(key)] = {"key": dict(key), "best": best, "used": time.time(), "results": merged}
            newest = sorted(entries.items(), key=lambda item: item[1]["used"], reverse=True)[:MOST_ENTRIES]
            document = {"version": VERSION, "entries": dict(newest)}
            atomic_write(path, (json.dumps(document, indent=1, sort_keys=True) + "\n").encode())
    except (OSError, TimeoutError) as error:
        get_logger(__name__).warning("timings of %s were not kept in %s: %s", name, path, error)


def _path(name: str) -> Path | None:
    """Return the file of a function, or None where there can be none."""
    try:
        return directory_of(knobs.AUTOTUNE_CACHE_DIR) / f"{re.sub(r'[^A-Za-z0-9_.-]', '_', name)}.json"
    except FlyDSLError as error:
        get_logger(__name__).warning("timings of %s are not kept: %s", name, error.message)
        return None


def read_json(path: Path) -> Any:
    """Return the contents of a JSON file, or None where it is absent or damaged; damage is logged."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        get_logger(__name__).warning("%s cannot be read and is ignored: %s", path, error)
        return None


def _read(path: Path) -> dict[str, Any]:
    document = read_json(path)
    if not isinstance(document, dict) or document.get("version") != VERSION:
        return {}
    entries = document.get("entries")
    if not isinstance(entries, dict):
        return {}
    return {name: entry for name, entry in entries.items() if _is_entry(entry)}


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("key"), dict)
        and _is_number(entry.get("used"))
        and isinstance(entry.get("results"), dict)
        and all(_is_result(result) for result in entry["results"].values())
    )


def _is_result(result: Any) -> bool:
    if not isinstance(result, dict) or len(result) != 1 or next(iter(result)) not in _RESULT_KINDS:
        return False
    if "ms" in result:
        return _is_number(result["ms"]) and result["ms"] >= 0
    return isinstance(next(iter(result.values())), str)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)

"""`python -m flydsl cache [info|verify|clear]`: the disk cache, seen from a shell."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from datetime import datetime

from flydsl.base import knobs
from flydsl.base.files import Entry, Store, open_store, read_trusted
from flydsl.compiler.artifacts import artifact as artifact_file
from flydsl.compiler.cache.compiled_code import place_of


def main(arguments: Sequence[str]) -> int:
    """Run the command; 1 if `verify` finds something that will not be used."""
    parser = argparse.ArgumentParser(prog="python -m flydsl cache", description="The disk cache of compiled code.")
    parser.add_argument("action", nargs="?", default="info", choices=("info", "verify", "clear"))
    action = parser.parse_args(arguments).action
    store = open_store()
    if store is None:
        print(f"no cache is in use; see {knobs.RUNTIME_ENABLE_CACHE.name} and {knobs.RUNTIME_CACHE_DIR.name}")
        return 0
    if action == "clear":
        print(f"removed {store.clear()} artifacts from {store.root}")
        return 0
    return _verify(store) if action == "verify" else _info(store)


def size_text(size: int) -> str:
    """Return a number of bytes, for a reader."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024  # type: ignore[assignment]
    return f"{size:.1f} GiB"


def _info(store: Store) -> int:
    entries = store.entries()
    total, limit = sum(entry.size for entry in entries), knobs.RUNTIME_CACHE_SIZE.get()
    print(f"directory  {store.root}")
    print(f"artifacts  {len(entries)}, {size_text(total)} of {size_text(limit) if limit else 'no limit'}")
    if not entries:
        return 0
    by_function: dict[str, list[Entry]] = {}
    for entry in entries:
        by_function.setdefault(entry.path.parent.name[:-33], []).append(entry)
    print("\n artifacts        size  last used         function")
    for name, group in sorted(by_function.items(), key=lambda item: -max(entry.used for entry in item[1])):
        used = datetime.fromtimestamp(max(entry.used for entry in group)).strftime("%Y-%m-%d %H:%M")
        print(f"{len(group):10}  {size_text(sum(entry.size for entry in group)):>10}  {used}  {name}")
    return 0


def _verify(store: Store) -> int:
    """Check every artifact as a call would, except against a call's own key."""
    bad = 0
    entries = store.entries()
    for entry in entries:
        problem = _problem(entry)
        if problem:
            bad += 1
            print(f"{os.path.relpath(entry.path, store.root)}: {problem}")
    print(f"{len(entries) - bad} of {len(entries)} artifacts in {store.root} are whole")
    if bad:
        print("The others are not used; the next call that needs one compiles it and writes it anew.")
    return 1 if bad else 0


def _problem(entry: Entry) -> str:
    try:
        data = read_trusted(entry.path, touch=False)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if data is None:
        return "could be written by others"
    found = artifact_file.read(data)
    if found is None:
        return "is damaged, or of another version of the format"
    folder, name = place_of(found[1])
    if entry.path.name != name or not entry.path.parent.name.endswith(folder):
        return "holds the artifact of another key"
    return ""

"""Compiled code from disk, or compiled and kept there: once, however many processes ask for it at a time.

The rules: a dump that is asked for compiles, whatever is on disk. FLYDSL_RUNTIME_RUN_ONLY never compiles. A waiter
waits for whoever compiles the same key, but not for ever; a process that dies leaves nothing that others wait for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from flydsl.base import device_libraries, knobs
from flydsl.base.errors import DslRuntimeError, DslValueError
from flydsl.base.log import configure, get_logger
from flydsl.compiler.artifacts.artifact import Artifact, local, portable
from flydsl.compiler.cache import cache_store
from flydsl.compiler.cache.cache_info import CacheCounts
from flydsl.compiler.cache.cache_store import CacheKey, key_of
from flydsl.compiler.capture.code import sources_agree, still_holds
from flydsl.compiler.capture.inputs import Inputs
from flydsl.target.family import family

_log = get_logger(__name__)

PATIENCE_SECONDS = 120.0
"""How long a process waits for another that compiles the same; then it compiles as well."""

_LOOKING_INSIDE = (
    knobs.DUMP_IR, knobs.DEBUG_DUMP_ASM, knobs.DEBUG_PRINT_ORIGIN_IR, knobs.DEBUG_PRINT_AFTER_ALL, knobs.DEBUG_AST_DIFF,
)  # fmt: skip
"""Settings that show what happens while compiling, so that code from disk would show nothing."""

_sizes: dict[Path, int] = {}
_sizes_lock = threading.Lock()


class Fetched(NamedTuple):
    """An artifact and how it was come by."""

    artifact: Artifact
    from_disk: bool
    not_kept: tuple[str, ...]
    """Why it is not on disk."""


_log_settings: tuple[Any, ...] | None = None


def _set_up_logging() -> None:
    """Here, because every compile comes by and importing the package should touch no logger."""
    global _log_settings
    now = tuple(knob.get() for knob in (knobs.DEBUG_LOG_LEVEL, knobs.DEBUG_LOG_TO_CONSOLE, knobs.DEBUG_LOG_TO_FILE))
    if now != _log_settings:
        configure()
        _log_settings = now


def artifact_for(
    name: str, inputs: Inputs, arguments: Sequence[Any], hints: Mapping[str, Any], device: Any, counts: CacheCounts,
    compile_: Callable[[], Artifact],
) -> Fetched:  # fmt: skip
    """Return the artifact of a specialisation of a function, from disk or compiled."""
    _set_up_logging()
    target, place = device.target.arch, device.kind
    _log.debug("%s: needs code for %s on %s (%s)", name, target, place, device)
    key, reasons = None, ()
    if knobs.RUNTIME_ENABLE_CACHE.get():
        key, reasons = key_of(name, inputs, arguments, hints, device)
    undisturbed, library_calls = True, device_libraries.calls

    def compile_and_look() -> Artifact:
        nonlocal undisturbed
        _log.debug("%s: compiling for %s on %s", name, target, place)
        began = time.perf_counter()
        artifact = compile_()
        milliseconds = (time.perf_counter() - began) * 1e3
        _log.info("%s: compiled for %s on %s in %.0f ms", name, target, place, milliseconds)
        undisturbed = inputs.after_tracing()
        return artifact

    def may_keep() -> bool:
        nonlocal reasons
        if device_libraries.calls != library_calls:
            reasons = ("it calls code of a device library",)
        elif not undisturbed:
            reasons = ("tracing it changes what it reads",)
        elif key is None or not sources_agree(key.functions):
            reasons = ("its file was edited after it was imported",)
        if reasons:
            _log.info("%s: not kept on disk: %s", name, "; ".join(reasons))
        return not reasons

    artifact, found = fetch_or_compile(key, reasons, compile_and_look, may_keep)
    counts.key = key
    counts.hits += found
    counts.misses += not found
    inputs.also_reads(dict(artifact.environment))
    return Fetched(artifact, found, tuple(reasons))


def fetch_or_compile(
    key: CacheKey | None,
    reasons: Sequence[str],
    compile_: Callable[[], Artifact],
    may_keep: Callable[[], bool] = lambda: True,
) -> tuple[Artifact, bool]:
    """Return the artifact of a key, and whether it came from disk.

    Without a key the code is good for this process only, for the stated reasons. ``may_keep`` is asked after compiling
    whether what was compiled is what the key describes.
    """
    looking = any(knob.get() for knob in _LOOKING_INSIDE)
    run_only = knobs.RUNTIME_RUN_ONLY.get()
    if run_only and looking:
        raise DslValueError(
            f"{knobs.RUNTIME_RUN_ONLY.name} never compiles, so there is nothing to dump or print",
            hint=f"unset {knobs.RUNTIME_RUN_ONLY.name}, or {knobs.DUMP_IR.name} and its like",
        )
    store = cache_store.open_store() if key is not None else None
    if key is None or store is None:
        if run_only:
            raise _not_there(None, key, reasons)
        if reasons:
            _log.info("not kept on disk: %s", "; ".join(reasons))
        return compile_(), False
    found = None if looking else _find(store, key)
    if found is not None:
        return found, True
    if run_only:
        raise _not_there(store, key, reasons)
    return _compile_once(store, key, compile_, may_keep, look_again=not looking)


def fetch_own(key: CacheKey, compile_: Callable[[], Artifact]) -> Artifact:
    """Return an artifact of this package itself, to which settings about the user's kernels do not apply."""
    store = cache_store.open_store()
    if store is None:
        return compile_()
    return _find(store, key) or _compile_once(store, key, compile_, lambda: True, look_again=True)[0]


def _compile_once(
    store: cache_store.Store, key: CacheKey, compile_: Callable[[], Artifact], may_keep: Callable[[], bool], *,
    look_again: bool,
) -> tuple[Artifact, bool]:  # fmt: skip
    with store.lock(key, PATIENCE_SECONDS):
        found = _find(store, key, again=True) if look_again else None  # another process may have been faster
        if found is not None:
            return found, True
        artifact = compile_()
        if may_keep():
            _keep(store, key, artifact)
        return artifact, False


def _find(store: cache_store.Store, key: CacheKey, *, again: bool = False) -> Artifact | None:
    found = store.read(key)
    path = store.root / key.directory / key.file
    if found is None:
        if not again:
            _log.debug("%s: not in the cache: %s", key.name, path)
        return None
    if not still_holds(dict(found.environment)):
        names = ", ".join(name for name, _ in found.environment if name)
        _log.info("%s: the code in the cache is for other values of %s: %s", key.name, names, path)
        return None
    _log.info("%s: found in the cache%s: %s", key.name, ", made by another meanwhile" if again else "", path)
    return local(found, key.functions)


def _keep(store: cache_store.Store, key: CacheKey, artifact: Artifact) -> None:
    written = store.write(key, portable(artifact, key.functions))
    if written:
        _log.debug("%s: kept in the cache, %d bytes: %s", key.name, written, store.root / key.directory / key.file)
    limit = knobs.RUNTIME_CACHE_SIZE.get()
    if not written or not limit:
        return
    with _sizes_lock:
        # The directory is looked through at the first write, and again when this process has filled it up.
        total = _sizes.get(store.root)
        total = limit + 1 if total is None else total + written
        _sizes[store.root] = store.evict(limit) if total > limit else total


def _not_there(store: cache_store.Store | None, key: CacheKey | None, reasons: Sequence[str]) -> DslRuntimeError:
    name = f"'{key.name}'" if key is not None else "this function"
    if reasons:
        why = f"cannot be kept on disk, since {'; '.join(reasons)}"
        hint = "make these values constants, or compile-time arguments"
    elif not knobs.RUNTIME_ENABLE_CACHE.get():
        why, hint = "is not looked for", f"set {knobs.RUNTIME_ENABLE_CACHE.name}=1"
    elif store is None or key is None:
        why, hint = "has no cache to be found in", f"set {knobs.RUNTIME_CACHE_DIR.name} to a directory of your own"
    else:
        why, hint = _missing(store, key)
    return DslRuntimeError(f"{name} {why}, and {knobs.RUNTIME_RUN_ONLY.name} forbids compiling", hint=hint)


def _missing(store: cache_store.Store, key: CacheKey) -> tuple[str, str]:
    """Return what is wanted, what there is instead, and how to fill the gap."""
    there = sorted({(found.target, found.device) for found in store.artifacts(key)})
    has = "for " + ", ".join(f"{target} on {_place(device)}" for target, device in there) if there else "none of it"
    why = (
        f"has no compiled code for {key.target} on {_place(key.device)} with these arguments in the cache {store.root}"
        f" (of this function it has {'code ' if there else ''}{has})"
    )
    wanted = f"COMPILE_ONLY=1 ARCH={key.target} {knobs.RUNTIME_KIND.name}={key.device}"
    if not there:
        return why, f"fill it first: run the same calls with {wanted}, on a machine with the same processor"
    if (key.target, key.device) in there:
        why = f"{why}, but for other arguments, settings or another processor"
        return why, f"run exactly these calls with {wanted}, on a machine with the same processor"
    if family(key.device).virtual:
        return why, f"arrays of the host run on the virtual GPU; fill the cache for it: run the calls with {wanted}"
    return why, f"run the calls with {wanted}"


def _place(device: str) -> str:
    return family(device).in_words()

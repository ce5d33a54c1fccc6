"""Compiled code by its key: from disk, or compiled and kept there, and brought into the process.

A key is everything that decides what a specialisation compiles to, as text: first this package and its libraries, the
function and all it reaches; then target, processor, settings, hints, types of arguments, compile-time values.

    {cache}/{function}_{32 hex}/{16 hex}.flydsl     an artifact, with the whole text in it; digests of it name the file
                                {16 hex}.lock       held while it is compiled

Code is compiled once, however many processes ask for it at a time. A dump that is asked for compiles, whatever is on
disk. FLYDSL_RUNTIME_RUN_ONLY never compiles. A waiter waits for whoever compiles the same key, but not for ever; a
process that dies leaves nothing that others wait for.

No IR library is needed to run what was compiled before. Object code of the package itself is kept as artifacts are,
once per machine and version. What calls go through is loaded once and stays: threads that ask at the same time get the
same code.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from flydsl.base import device_libraries, knobs
from flydsl.base.code_reads import sources_agree
from flydsl.base.environment_reads import still_holds
from flydsl.base.errors import DslRuntimeError, DslValueError
from flydsl.base.files import SUFFIX, Place, Store, open_store
from flydsl.base.lazy import lazy_module
from flydsl.base.native_names import DRIVER_ATTRIBUTES_ENTRY, DRIVER_ENTRY, TENSOR_MAP_ENTRY, handle_symbol
from flydsl.base.own_code import own_file
from flydsl.base.records import dataclass
from flydsl.base.toolchain import processor_text, toolchain_text
from flydsl.compiler.arguments.adapting import Adapted
from flydsl.compiler.artifacts import artifact as artifact_file
from flydsl.compiler.artifacts.artifact import Artifact, Executable, local, portable
from flydsl.compiler.backends.base import backend_for, is_own
from flydsl.compiler.cache.cache_info import CacheCounts
from flydsl.compiler.capture.inputs import Inputs, Walk, code_behind
from flydsl.runtime import host_pool
from flydsl.target.family import family
from flydsl.target.target import Target

if TYPE_CHECKING:
    from flydsl.base import log
    from flydsl.codegen import exported_object
    from flydsl.compiler.running import sanitized_executable
    from flydsl.runtime import object_code
else:
    log = lazy_module("flydsl.base.log")
    exported_object = lazy_module("flydsl.codegen.exported_object")
    sanitized_executable = lazy_module("flydsl.compiler.running.sanitized_executable")
    object_code = lazy_module("flydsl.runtime.object_code")

# Keys -----------------------------------------------------------------------------------------------------------------

_SEPARATOR = "\n\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class CacheKey:
    """The key of one artifact on disk."""

    name: str
    function: str
    specialisation: str
    functions: tuple[FunctionType, ...] = ()
    """The user's functions in it, whose places in source files an artifact may name."""
    target: str = ""
    device: str = ""
    """What the code is for; the text says so too."""

    @property
    def text(self) -> str:
        return self.function + _SEPARATOR + self.specialisation

    @cached_property
    def directory(self) -> str:
        safe = re.sub(r"\W", "_", self.name, flags=re.ASCII)[:64]
        return f"{safe}_{_digest(self.function)[:32]}"

    @cached_property
    def file(self) -> str:
        return _digest(self.text)[:16] + SUFFIX

    @property
    def place(self) -> Place:
        return self.directory, self.file


def place_of(text: str) -> tuple[str, str]:
    """Return (end of the directory's name, file name) under which a key of this text is kept."""
    function = text.partition(_SEPARATOR)[0]
    return f"_{_digest(function)[:32]}", _digest(text)[:16] + SUFFIX


def settings_text(device: str) -> str:
    """Kind of device, processor and the environment's settings, as lines of a key."""
    lines = [f"device {device}", f"processor {processor_text()}"]
    lines += [f"{name}={value!r}" for name, value in knobs.code_settings()]
    return "\n".join(lines)


def _parts(argument: Any) -> tuple[Any, ...]:
    """Return what code depends on of an argument: a compile-time value, or what is known of a run-time one."""
    if not isinstance(argument, Adapted):
        return ("constant", argument)
    constants = getattr(argument.argument, "constants", None)  # of a struct
    return ("argument", argument.argument.signature(), *code_behind(argument), constants)


def backend_texts(target: Target, walk: Walk) -> list[str]:
    """Return a backend that is not this package's: its class by content, and what it says of itself."""
    backend = backend_for(target)
    return [] if is_own(backend) else [f"backend {walk.text(type(backend))} {backend.hash()}"]


def key_of(
    name: str, inputs: Inputs, arguments: Iterable[Any], hints: Mapping[str, Any], device: Any
) -> tuple[CacheKey | None, tuple[str, ...]]:
    """Return the key of a specialisation; or None and the reasons why it can only be known within this process."""
    walk = inputs.argument_walk()
    texts = [walk.text(_parts(argument)) for argument in arguments]
    target, hint_text = walk.text(device.target), walk.text(dict(hints))
    texts += backend_texts(device.target, walk)
    reasons = (*inputs.opaque, *walk.opaque)
    if reasons:
        return None, reasons
    function = f"{toolchain_text()}\n{inputs.text}"
    if knobs.DEBUG_ENABLE_DEBUG_INFO.get() or knobs.SANITIZE.get():  # then paths and lines are in the code itself
        places = (f"{f.__code__.co_filename}:{f.__code__.co_firstlineno}" for f in inputs.functions)
        function += "\n" + "\n".join([own_file(""), *places])
    lines = [settings_text(device.kind), f"target {target}", f"hints {hint_text}", *texts, *walk.lines]
    functions = (*inputs.functions, *walk.functions)
    text = function.replace(_SEPARATOR, "\n")
    return CacheKey(name, text, "\n".join(lines), functions, device.target.arch, device.kind), ()


# Fetching and compiling -----------------------------------------------------------------------------------------------

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
    """Here, because every compile comes by and importing the package should touch no logger; nor does this, where none
    was loaded and nothing is asked of it: Python's logging is slow to load."""
    global _log_settings
    asked = (knobs.DEBUG_LOG_LEVEL, knobs.DEBUG_LOG_TO_CONSOLE, knobs.DEBUG_LOG_TO_FILE)
    now = tuple(knob.get() for knob in asked)
    heard = "logging" in sys.modules or any(knob.is_set() for knob in asked)
    if now != _log_settings and (heard or knobs.unknown_variables()):
        log.configure()
        _log_settings = now


def _tell(level: str, message: str, *facts: Any) -> None:
    if "logging" in sys.modules:  # else nobody could listen
        getattr(log.get_logger(__name__), level)(message, *facts)


def artifact_for(
    name: str, inputs: Inputs, arguments: Sequence[Any], hints: Mapping[str, Any], device: Any, counts: CacheCounts,
    compile_: Callable[[], Artifact],
) -> Fetched:  # fmt: skip
    """Return the artifact of a specialisation of a function, from disk or compiled."""
    _set_up_logging()
    target, place = device.target.arch, device.kind
    _tell("debug", "%s: needs code for %s on %s (%s)", name, target, place, device)
    key, reasons = None, ()
    if knobs.RUNTIME_ENABLE_CACHE.get():
        key, reasons = key_of(name, inputs, arguments, hints, device)
    undisturbed, library_calls = True, device_libraries.calls

    def compile_and_look() -> Artifact:
        nonlocal undisturbed
        _tell("debug", "%s: compiling for %s on %s", name, target, place)
        began = time.perf_counter()
        artifact = compile_()
        milliseconds = (time.perf_counter() - began) * 1e3
        _tell("info", "%s: compiled for %s on %s in %.0f ms", name, target, place, milliseconds)
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
            _tell("info", "%s: not kept on disk: %s", name, "; ".join(reasons))
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
    store = open_store() if key is not None else None
    if key is None or store is None:
        if run_only:
            raise _not_there(None, key, reasons)
        if reasons:
            _tell("info", "not kept on disk: %s", "; ".join(reasons))
        return compile_(), False
    found = None if looking else _find(store, key)
    if found is not None:
        return found, True
    if run_only:
        raise _not_there(store, key, reasons)
    return _compile_once(store, key, compile_, may_keep, look_again=not looking)


def _compile_once(
    store: Store, key: CacheKey, compile_: Callable[[], Artifact], may_keep: Callable[[], bool], *,
    look_again: bool,
) -> tuple[Artifact, bool]:  # fmt: skip
    with store.lock(key.place, PATIENCE_SECONDS):
        found = _find(store, key, again=True) if look_again else None  # another process may have been faster
        if found is not None:
            return found, True
        artifact = compile_()
        if may_keep():
            _keep(store, key, artifact)
        return artifact, False


def _find(store: Store, key: CacheKey, *, again: bool = False) -> Artifact | None:
    data = store.read(key.place)
    path = store.root / key.directory / key.file
    found = None if data is None else artifact_file.from_bytes(data, key.text)
    if found is None:
        if data is not None:
            _tell("info", "%s is damaged or belongs to another key; it is made anew", path)
        if not again:
            _tell("debug", "%s: not in the cache: %s", key.name, path)
        return None
    if not still_holds(dict(found.environment)):
        names = ", ".join(name for name, _ in found.environment if name)
        _tell("info", "%s: the code in the cache is for other values of %s: %s", key.name, names, path)
        return None
    _tell("info", "%s: found in the cache%s: %s", key.name, ", made by another meanwhile" if again else "", path)
    return local(found, key.functions)


def _keep(store: Store, key: CacheKey, artifact: Artifact) -> None:
    written = store.write(key.place, artifact_file.to_bytes(portable(artifact, key.functions), key.text))
    if written:
        _tell("debug", "%s: kept in the cache, %d bytes: %s", key.name, written, store.root / key.directory / key.file)
    limit = knobs.RUNTIME_CACHE_SIZE.get()
    if not written or not limit:
        return
    with _sizes_lock:
        # The directory is looked through at the first write, and again when this process has filled it up.
        total = _sizes.get(store.root)
        total = limit + 1 if total is None else total + written
        _sizes[store.root] = store.evict(limit) if total > limit else total


def _not_there(store: Store | None, key: CacheKey | None, reasons: Sequence[str]) -> DslRuntimeError:
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


def _missing(store: Store, key: CacheKey) -> tuple[str, str]:
    """Return what is wanted, what there is instead, and how to fill the gap."""
    read = (artifact_file.read(data) for data in store.contents(key.directory))
    there = sorted({(found[0].target, found[0].device) for found in read if found is not None})
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


# Loading --------------------------------------------------------------------------------------------------------------


def load(artifact: Artifact, device: Any) -> Executable:
    """Bring an artifact's code into the process and onto its device."""
    began = time.perf_counter()
    loaded = _loaded(artifact, device)
    _tell("debug", "%s: loaded onto %s in %.1f ms", artifact.name, device, (time.perf_counter() - began) * 1e3)
    return loaded


def prepare(artifact: Artifact) -> None:
    """Have on disk what a later start needs beside an artifact."""
    if family(artifact.device).virtual:
        pool_object()


def _loaded(artifact: Artifact, device: Any) -> Executable:
    if artifact.sanitizer:
        return sanitized(artifact, device)
    if family(artifact.device).virtual:
        host_pool.start(pool_object)
        return Executable(artifact, object_code.load_object(artifact.host_object), device)
    loaded = object_code.load_object(artifact.host_object)
    module = device.load_module(*artifact.images, name=", ".join(artifact.kernels) or artifact.name)
    _set_pointer(loaded.address(DRIVER_ENTRY), device.launch_entry())
    if DRIVER_ATTRIBUTES_ENTRY in loaded.names:
        _set_pointer(loaded.address(DRIVER_ATTRIBUTES_ENTRY), device.attributes_entry())
    if TENSOR_MAP_ENTRY in loaded.names:
        _set_pointer(loaded.address(TENSOR_MAP_ENTRY), device.driver.address("cuTensorMapEncodeTiled"))
    for kernel in artifact.kernels:
        _set_pointer(loaded.address(handle_symbol(kernel)), device.function(module, kernel))
    return Executable(artifact, loaded, device)


def sanitized(artifact: Artifact, device: Any) -> Executable:
    """Code with checks in it, beside the checker that it calls."""
    host_pool.start(pool_object)
    sanitized_executable.load_checker()
    return sanitized_executable.SanitizedExecutable(artifact, object_code.load_object(artifact.host_object), device)


def _set_pointer(place: int, value: int) -> None:
    ctypes.c_void_p.from_address(place).value = value


# Object code of the package -------------------------------------------------------------------------------------------

_loading = threading.RLock()
_in_process: dict[str, Any] = {}


def pool_object() -> bytes:
    """Return the thread pool's object code for this machine."""
    return _own("host_pool")


def native_code(name: str) -> Any:
    """Return one of the native parts that calls of GPU code go through, in this process."""
    with _loading:
        if name not in _in_process:
            _in_process[name] = object_code.load_object(_own(name))
        return _in_process[name]


def _own(name: str) -> bytes:
    """Return the object code of a native part, from disk where it is there."""

    def compile_() -> Artifact:
        code = exported_object.native_object(name, knobs.COMPILE_OPT_LEVEL.get())
        return Artifact(name=name, target="", device=name, argument_format="", host_object=code)

    # Settings about the user's kernels do not apply to it.
    store, key = open_store(), CacheKey(name, toolchain_text(), settings_text(name))
    if store is None:
        return compile_().host_object
    found = _find(store, key) or _compile_once(store, key, compile_, lambda: True, look_again=True)[0]
    return found.host_object

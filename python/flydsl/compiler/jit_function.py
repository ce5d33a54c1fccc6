"""Jit functions: host code that launches kernels, traced and compiled once per specialisation.

Code is right as long as everything the function reads is what it was. A few states are kept in memory, so that a
program that goes to and fro between two values of a setting compiles for each of them once. Threads may be in different
states at the same time, since there are variables that each has for itself: a call stays with the version it found.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from flydsl.base import knobs
from flydsl.base.collector import collector_paused, in_one_piece
from flydsl.base.environment_reads import recorded
from flydsl.base.errors import DslRuntimeError
from flydsl.base.lazy import lazy_module
from flydsl.base.progress import Progress, stage
from flydsl.base.records import replace
from flydsl.base.toolchain import toolchain_text as _flydsl_key
from flydsl.compiler.arguments.adapting import Adapted, Signature
from flydsl.compiler.backends.base import age, environment_now
from flydsl.compiler.cache.cache_info import CacheCounts, CacheInfo, JitCacheManager
from flydsl.compiler.calls.call import Call, Key, Origin, Specialisation, adapted_call, record, refuse_during_capture
from flydsl.compiler.calls.instance_key import InstanceKey
from flydsl.compiler.calls.launch_code import CallPath, launch_function
from flydsl.compiler.capture.inputs import Inputs
from flydsl.compiler.lowering.mlir_compiler import MlirCompiler
from flydsl.compiler.messages.decorated import Decorated, check_decorated
from flydsl.compiler.messages.diagnostics import located, present
from flydsl.compiler.options.hints import Hints, check_device, checked, option_settings, scoped
from flydsl.expr.trace.context import is_tracing

if TYPE_CHECKING:
    from flydsl.codegen import llvm_options
    from flydsl.compiler.cache import compiled_code
    from flydsl.compiler.lowering import driver, kernel_cost, source_text
    from flydsl.compiler.rewrite import rewriter
    from flydsl.compiler.tracing import trace
    from flydsl.dialects import xdsl_loading
else:
    llvm_options = lazy_module("flydsl.codegen.llvm_options")
    driver = lazy_module("flydsl.compiler.lowering.driver")
    kernel_cost = lazy_module("flydsl.compiler.lowering.kernel_cost")
    rewriter = lazy_module("flydsl.compiler.rewrite.rewriter")
    compiled_code = lazy_module("flydsl.compiler.cache.compiled_code")
    source_text = lazy_module("flydsl.compiler.lowering.source_text")
    trace = lazy_module("flydsl.compiler.tracing.trace")
    xdsl_loading = lazy_module("flydsl.dialects.xdsl_loading")

# Versions -------------------------------------------------------------------------------------------------------------

_MOST_VERSIONS = 8
"""States whose code is kept: the one that was not used for longest goes."""
MOST_SPECIALISATIONS = 512
"""Specialisations of one state that are kept, likewise."""


class Outdated(Exception):
    """The version at hand is not for the state as it is now: something changed while its lock was waited for."""


class Version:
    """The code for one state of what a function reads."""

    __slots__ = ("_order", "compiled", "compiled_only", "inputs", "path", "paths", "reason", "same")

    def __init__(self, path: CallPath, func: Callable[..., Any] | None, reason: str | None = None) -> None:
        self.same: Callable[[], bool] = _never
        """Whether this is quickly seen to be still the state. Asked at every call."""
        self.inputs = Inputs(func, self._check_with) if func is not None else None
        """The state; None for the version before the first call, which is of use to nobody."""
        self.reason = reason
        """Why there is another version, for whoever compiles for it first."""
        self.compiled: dict[Key, Any] = {}
        self._order: OrderedDict[int, Key] = OrderedDict()
        """Keys by the id of their code, the one used last at the end."""
        self.compiled_only: set[Key] = set()
        """Compiled, and not loaded: see COMPILE_ONLY."""
        self.path = path
        self.paths: dict[Any, CallPath] = {}
        """Launch functions by the state of environment and hints."""

    def keep(self, key: Key, executable: Any) -> None:
        """Keep the code of a specialisation, and drop the one that was not used for longest if there are too many."""
        self.compiled[key] = executable
        self._order[id(executable)] = key
        while len(self._order) > MOST_SPECIALISATIONS:
            dropped = self.compiled.pop(self._order.popitem(last=False)[1])
            for path in (self.path, *self.paths.values()):
                path.forget(dropped)

    def used(self, executable: Any) -> None:
        """Note a call of some code."""
        with suppress(KeyError):  # another thread may have dropped it
            self._order.move_to_end(id(executable))

    def _check_with(self, same: Callable[[], bool]) -> None:
        self.same = same


class Versions:
    """The versions of one function, the one used last first. Whoever calls holds the function's lock."""

    def __init__(self, func: Callable[..., Any], new_path: Callable[[], CallPath]) -> None:
        self._func = func
        self._new_path = new_path
        self._kept: list[Version] = []
        self.first = Version(new_path(), None)

    def now(self) -> Version:
        """Return the version for the state as it is: one that is there already, or a new one."""
        found = self._find()
        if found is None:
            found = Version(self._new_path(), self._func, self._reason())
        self._kept = [found, *(other for other in self._kept if other is not found)][:_MOST_VERSIONS]
        return found

    def _find(self) -> Version | None:
        found = next((version for version in self._kept if version.same()), None)
        if found is not None:
            return found
        now = None
        for version in self._kept:
            inputs = version.inputs
            assert inputs is not None
            now = now or inputs.walked_now()
            if inputs.matches(now):
                return version
        return None

    def _reason(self) -> str | None:
        """Return what is different from the version used last, in words; None where there is none."""
        inputs = self._kept[0].inputs if self._kept else None
        if inputs is None:
            return None
        return "; ".join(inputs.changes()) or "something that the function captures has changed"

    @property
    def size(self) -> int:
        """How many specialisations are in memory."""
        return sum(len(version.compiled) for version in self._kept)


def _never() -> bool:
    return False


# Functions -----------------------------------------------------------------------------------------------------------

_MOST_PATHS = 64
"""States of environment and hints whose launch functions are kept."""
_MOST_ATTEMPTS = 100
"""How often a call starts anew because something it reads changed while another thread compiled."""
_MOST_RECORDS = 256
"""Specialisations that the function can tell of."""


_alive: weakref.WeakSet[JitFunction] = weakref.WeakSet()


def _renew_locks() -> None:
    """In the child of a fork: a lock that another thread held would be held for ever."""
    for function in list(_alive):
        function._lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_locks)


class JitFunction(Decorated):
    """A function decorated with ``@flyc.jit``."""

    what = "a jit function"
    captured_parts = ("func",)  # inlined, where its hints mean nothing
    compile_hints: dict[str, Any] = cast("dict[str, Any]", MappingProxyType({}))
    """Hints of the function, which its calls are compiled with; each function has a dict of its own."""

    def __init__(self, func: Callable[..., Any]) -> None:
        super().__init__(func)
        self.signature = Signature(func)
        self.signature.instance_key = self._instance_key
        self.compile_hints = {}
        # Never the number given, where some are keyword-only: the signature then sorts every call out.
        self._count = len(self.signature.names) if self.signature.takes_all_by_position else -1
        self._tails = self.signature.tails()
        self._counts = CacheCounts()
        self._versions = Versions(func, self._new_path)
        self._version = self._versions.first
        """The one used last."""
        self._history: deque[Specialisation] = deque(maxlen=_MOST_RECORDS)
        self._made = 0
        self._latest: tuple[Key, tuple[Any, ...]] | None = None
        self._lock = threading.RLock()  # a module that tracing imports may call the function
        _alive.add(self)

    # Calling -------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if is_tracing():
            return rewriter.rewritten(self.func)(*args, **kwargs)
        try:
            version = self._version
            if not version.same():
                version = self._version_now()
            missing = self._count - len(args)
            if kwargs or missing:
                tail = self._tails.get(missing) if not kwargs else None
                args = args + tail if tail is not None else tuple(self.signature.bind(args, kwargs))
            path = version.path
            if path.environment.unchanged() and self.compile_hints == path.hints and scoped() == path.scoped:
                if path.latest(args):
                    self._counts.hits += 1
                    return None
                another = path.launch_another(args)
                if another is not None:
                    version.used(another)
                    self._counts.hits += 1
                    return None
            self._call_fully(args, version)
        except Exception as error:
            present(error)
            raise

    def _call_fully(self, args: tuple[Any, ...], version: Version) -> None:
        """Adapt, compile if need be, launch, and write a launch function for calls like this one."""
        for _ in range(_MOST_ATTEMPTS):
            try:
                return self._call_once(args, version)
            except Outdated:
                version = self._version_now()
        raise _always_changing(self.__name__)

    def _call_once(self, args: tuple[Any, ...], version: Version) -> None:
        path = version.path
        if not path.holds(self.compile_hints, scoped()):
            path = version.path = self._path_now(version)
            if path.latest(args) or path.launch_another(args) is not None:
                return
        call = adapted_call(self.func, self.signature, args)
        executable = self._executable(version, call, self.effective_hints())
        if executable is None:
            return
        call.check_launchable()
        call.check_writable(executable.artifact)
        executable.launch(call.numbers)
        # Another thread may have changed the environment since; then this is not the path of what was compiled.
        if path.holds(self.compile_hints, scoped()) and not path.knows(args, executable):
            parameters = call.parameters(executable.artifact)
            launch = launch_function(parameters, executable, exact=True, hidden_stream=not call.has_stream)
            path.add(args, executable, launch)

    def _new_path(self) -> CallPath:
        return CallPath(self.signature.constexpr, environment_now(), self.compile_hints, scoped())

    def _path_now(self, version: Version) -> CallPath:
        """Return the path for the environment and the hints as they are, which another thread may see differently."""
        state = (age(), environment_now().texts, checked(self.compile_hints), checked(scoped() or {}))
        with self._lock:
            if len(version.paths) >= _MOST_PATHS:
                version.paths.clear()
            return version.paths.setdefault(state, self._new_path())

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else BoundJit(self, instance)

    # Compiling -----------------------------------------------------------------------------------

    def warmup(self, *args: Any, **kwargs: Any) -> None:
        """Compile for these arguments without launching. Arrays may be descriptions, such as `flyc.TensorSpec`."""
        try:
            call = self.adapted_call(args, kwargs)
            executable = self.executable(call, self.effective_hints(), ahead=True)
            if executable is not None:
                executable.check(call.numbers)
        except Exception as error:
            present(error)
            raise

    @property
    def specialisations(self) -> tuple[Specialisation, ...]:
        """What the function was compiled for so far, in order, and why each time; the latest few hundred."""
        return tuple(self._history)

    @property
    def _last_compiled(self) -> tuple[Key, source_text.TracedText] | None:
        """What was compiled last and its IR, as the original's tests read them."""
        return None if self._latest is None else (self._latest[0], source_text.TracedText(self._latest[1]))

    def cache_info(self) -> CacheInfo | None:
        """Hits, misses and sizes of the function's caches; None before it was first called."""
        return self._counts.info(self._versions.size)

    def effective_hints(self, more: Mapping[str, Any] | None = None) -> Hints:
        """Return the function's hints, those of the block around the call and those given with it, checked."""
        return checked({**self.compile_hints, **(scoped() or {}), **(more or {})})

    def adapted_call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call:
        """Return a call's arguments, adapted."""
        return adapted_call(self.func, self.signature, self.signature.bind(args, kwargs))

    def _instance_key(self, instance: Any) -> Any:
        """Return the key of the object that the function belongs to as a method."""
        inputs = self._version.inputs or self._version_now().inputs
        assert inputs is not None
        return InstanceKey(inputs.walks_of).of(instance)

    def executable(self, call: Call, hints: Hints, *, ahead: bool = False) -> Any:
        """Return the code for a call, compiled if there is none; None where COMPILE_ONLY leaves nothing to run.

        ``ahead`` says that the caller asked for compiling, and not for a launch that turned out to need it.
        """
        for _ in range(_MOST_ATTEMPTS):
            version = self._version
            try:
                return self._executable(version if version.same() else self._version_now(), call, hints, ahead=ahead)
            except Outdated:
                continue
        raise _always_changing(self.__name__)

    def _executable(self, version: Version, call: Call, hints: Hints, *, ahead: bool = False) -> Any:
        key = call.specialisation_key(hints)
        found = version.compiled.get(key)
        if found is not None or key in version.compiled_only:
            self._counts.hits += 1
            version.used(found)
            return found
        if not ahead and knobs.JIT.get() == "strict":
            raise DslRuntimeError(
                f"'{self.__name__}' is not compiled for these arguments, and FLYDSL_JIT=strict forbids doing it now",
                hint=f"call {self.__name__}.warmup(...) with such arguments beforehand",
            )
        refuse_during_capture(call, self.__name__)
        began = time.perf_counter()
        with Progress(f"'{self.__name__}' for {call.device.target.arch} on {call.device.kind}") as progress:
            found, fetched = self._compile(version, key, call.arguments, call.device)
        if found is None:
            version.compiled_only.add(key)
        if fetched is not None:
            spent = (time.perf_counter() - began, tuple(progress.stages.items()))
            self._note(version, call, key, *spent, fetched)
        return found

    def _note(self, version: Version, call: Call, key: Key, seconds: float, stages: Any, fetched: Any) -> None:
        with self._lock:
            changed, version.reason = version.reason, None
            self._made += 1
            origin = Origin(seconds, fetched.from_disk, fetched.not_kept, changed, stages)
            made = record(self.__name__, self._made, self.signature.names, call.forms(), key, origin, self._history)
            kept = [a.without_data() if isinstance(a, Adapted) else a for a in call.arguments]
            asked = (self.func, kept, call.device.target, key.hints)  # and not the call, which has the arrays
            self._latest = (key, asked)
            self._history.append(replace(made, code=cache(lambda: kernel_cost.kernel_costs(*asked))))

    def _version_now(self) -> Version:
        """Return the version for what the function reads as it is now: one that is there already, or a new one."""
        with self._lock, collector_paused():
            self._version = found = self._versions.now()
            return found

    def _compile(self, version: Version, signature: Any, arguments: list[Any], device: Any) -> tuple[Any, Any]:
        """Return the code of a specialisation, and how it was come by; None for the latter if it was there already."""
        check_device(device.kind)
        with self._lock:
            if signature in version.compiled or signature in version.compiled_only:
                return version.compiled.get(signature), None  # another thread asked for the same
            with collector_paused():
                inputs = version.inputs
                if inputs is None or not inputs.unchanged():
                    raise Outdated
                inputs.also(arguments)
                with stage("cache"):
                    fetched = compiled_code.artifact_for(
                        self.__name__, inputs, arguments, dict(signature.hints), device, self._counts,
                        lambda: in_one_piece(lambda: self._compiled_artifact(signature, arguments, device)),
                    )  # fmt: skip
                if knobs.COMPILE_ONLY.get():
                    compiled_code.prepare(fetched.artifact)
                    return None, fetched
                with stage("load"):
                    executable = compiled_code.load(fetched.artifact, device)
                version.keep(signature, executable)
                return executable, fetched

    def _compiled_artifact(self, signature: Any, arguments: list[Any], device: Any) -> Any:
        # The IR libraries are loaded here, on the first compile, and not when this package is imported.
        with stage("libraries"):
            xdsl_loading.load(trace, driver)
            tracer, compile_module = trace.trace, driver.compile_module
        with stage("trace"), recorded() as reads:
            module, formats = tracer(self.func, arguments, device.target, signature.hints)
        with llvm_options.option_scope(option_settings(signature.hints)):
            artifact = compile_module(
                module, self.__name__, device.target, device.kind, formats,
                assemble=getattr(device, "assemble", None), hints=signature.hints,
            )  # fmt: skip
        return replace(artifact, environment=tuple(sorted(reads.items()))) if reads else artifact

    def __repr__(self) -> str:
        return f"<flyc.jit {self.__name__}>"


def _always_changing(name: str) -> DslRuntimeError:
    return DslRuntimeError(
        f"what '{name}' reads while it is traced changes all the time",
        hint="pass what changes as an argument",
    )


class BoundJit:
    """A jit function used as a method."""

    captured_parts = ("function", "instance")

    def __init__(self, function: JitFunction, instance: Any) -> None:
        self.function = function
        self.instance = instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(self.instance, *args, **kwargs)

    def warmup(self, *args: Any, **kwargs: Any) -> None:
        """Compile for these arguments without launching."""
        self.function.warmup(self.instance, *args, **kwargs)


@located
def jit(func: Callable[..., Any] | None = None) -> Any:
    """Make a function a jit function: traced, compiled and cached per specialisation, then run."""
    if func is None:
        return jit
    check_decorated(func, "@flyc.jit")
    return JitFunction(func)


__all__ = ["BoundJit", "JitCacheManager", "JitFunction", "MlirCompiler", "_flydsl_key", "jit"]

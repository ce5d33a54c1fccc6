"""Jit functions: host code that launches kernels, traced and compiled once per specialisation."""

from __future__ import annotations

import gc
import inspect
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslTypeError, FlyDSLError
from flydsl.compiler.cache_info import CacheCounts, CacheInfo
from flydsl.compiler.call import Call, adapted_call
from flydsl.compiler.call_path import CallPath, environment_now
from flydsl.compiler.captured import Captured
from flydsl.compiler.diagnostics import presented
from flydsl.compiler.graph_capture import refuse_during_capture
from flydsl.compiler.hints import Hints, checked, llvm_options, scoped
from flydsl.compiler.jit_cache_manager import JitCacheManager
from flydsl.compiler.launch_code import launch_function
from flydsl.compiler.mlir_compiler import MlirCompiler
from flydsl.compiler.rewrite.rewriter import rewritten
from flydsl.compiler.sanitize import check_device
from flydsl.compiler.signature import Signature
from flydsl.compiler.specialisation import Key, Specialisation, record
from flydsl.expr.context import is_tracing


@contextmanager
def collector_paused() -> Iterator[None]:
    """Compiling makes many objects that live until its end; looking for garbage among them costs a tenth."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


_MOST_PATHS = 64
"""States of environment and hints whose launch functions are kept."""


class JitFunction:
    """A function decorated with ``@flyc.jit``."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self.func = func
        self.signature = Signature(func)
        self.compile_hints: dict[str, Any] = {}
        self._count = len(self.signature.names)
        self._tails = self.signature.tails()
        self._compiled: dict[Any, Any] = {}
        self._counts = CacheCounts()
        self._path = self._new_path()
        self._paths: dict[Any, CallPath] = {}
        self._captured: Captured | None = None
        self._changed: str | None = None
        self._history: list[Specialisation] = []
        self._noted: set[Key] = set()
        self._compiled_only: set[Key] = set()
        self._lock = threading.Lock()
        self.__name__ = func.__name__
        self.__doc__ = func.__doc__
        self.__wrapped__ = func

    # Calling -------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if is_tracing():
            return rewritten(self.func)(*args, **kwargs)
        if self._captured is not None and not self._captured.unchanged():
            self._forget("a captured global or closure variable has changed")
        missing = self._count - len(args)
        if kwargs or missing:
            tail = self._tails.get(missing) if not kwargs else None
            args = args + tail if tail is not None else tuple(self._bound(args, kwargs))
        path = self._path
        if path.environment.unchanged() and self.compile_hints == path.hints and scoped() == path.scoped:
            if path.latest(args) or path.launch_another(args):
                self._counts.hits += 1
                return None
        self._call_fully(args)

    def _call_fully(self, args: tuple[Any, ...]) -> None:
        """Adapt, compile if need be, launch, and write a launch function for calls like this one."""
        path = self._path
        try:
            if not path.holds(self.compile_hints, scoped()):
                path = self._path = self._path_now()
                if path.latest(args) or path.launch_another(args):
                    return
            call = adapted_call(self.func, self.signature, args)
            executable = self.executable(call, self.effective_hints())
            if executable is None:
                return
            call.check_launchable()
            executable.launch(call.numbers)
        except FlyDSLError as error:
            raise presented(error) from None
        # Another thread may have changed the environment since; then this is not the path of what was compiled.
        if path.holds(self.compile_hints, scoped()) and not path.knows(args, executable):
            path.add(
                args,
                executable,
                launch_function(call.parameters(), executable, exact=True, hidden_stream=not call.has_stream),
            )

    def _new_path(self) -> CallPath:
        return CallPath(self.signature.constexpr, environment_now(), self.compile_hints, scoped())

    def _path_now(self) -> CallPath:
        """The path for the environment and the hints as they are, which another thread may see differently."""
        state = (environment_now().texts, checked(self.compile_hints), checked(scoped() or {}))
        with self._lock:
            if len(self._paths) >= _MOST_PATHS:
                self._paths.clear()
            return self._paths.setdefault(state, self._new_path())

    def _bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        try:
            return self.signature.bind(args, kwargs)
        except FlyDSLError as error:
            raise presented(error) from None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else BoundJit(self, instance)

    # Compiling -----------------------------------------------------------------------------------

    def warmup(self, *args: Any, **kwargs: Any) -> None:
        """Compile for these arguments without launching. Arrays may be descriptions, such as `flyc.TensorSpec`."""
        try:
            self.executable(self.adapted_call(args, kwargs), self.effective_hints(), ahead=True)
        except FlyDSLError as error:
            raise presented(error) from None

    @property
    def specialisations(self) -> tuple[Specialisation, ...]:
        """What the function was compiled for so far, in order, and why each time."""
        return tuple(self._history)

    def cache_info(self) -> CacheInfo | None:
        """Hits, misses and sizes of the function's caches; None before it was first called."""
        return self._counts.info(len(self._compiled))

    def effective_hints(self, more: Mapping[str, Any] | None = None) -> Hints:
        """The function's hints, those of the block around the call and those given with it, checked."""
        return checked({**self.compile_hints, **(scoped() or {}), **(more or {})})

    def adapted_call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call:
        """A call's arguments, adapted."""
        return adapted_call(self.func, self.signature, self.signature.bind(args, kwargs))

    def executable(self, call: Call, hints: Hints, *, ahead: bool = False) -> Any:
        """The code for a call, compiled if there is none; None where COMPILE_ONLY leaves nothing to run.

        ``ahead`` says that the caller asked for compiling, and not for a launch that turned out to need it.
        """
        if self._captured is not None and not self._captured.unchanged():
            self._forget("a captured global or closure variable has changed")
        key = call.specialisation_key(hints)
        found = self._compiled.get(key)
        if found is not None or key in self._compiled_only:
            self._counts.hits += 1
            return found
        if not ahead and knobs.JIT.get() == "strict":
            raise DslRuntimeError(
                f"'{self.__name__}' is not compiled for these arguments, and FLYDSL_JIT=strict forbids doing it now",
                hint=f"call {self.__name__}.warmup(...) with such arguments beforehand",
            )
        refuse_during_capture(call, self.__name__)
        began = time.perf_counter()
        found = self._compile(key, call.arguments, call.device)
        if found is None:
            self._compiled_only.add(key)
        self._note(call, key, time.perf_counter() - began)
        return found

    def _note(self, call: Call, key: Key, seconds: float) -> None:
        with self._lock:
            if key in self._noted:
                return  # threads that asked at the same time get the same code
            self._noted.add(key)
            changed, self._changed = self._changed, None
            made = record(self.__name__, self.signature.names, call.forms(), key, seconds, self._history, changed)
            self._history.append(made)

    def _forget(self, reason: str) -> None:
        """What the compiled code relies on beside its arguments is no longer so: compile anew."""
        with self._lock:
            self._compiled.clear()
            self._compiled_only.clear()
            self._noted.clear()
            self._captured = None
            self._changed = reason
            self._path = self._new_path()
            self._paths.clear()

    def _compile(self, signature: Any, arguments: list[Any], device: Any) -> Any:
        check_device(device.kind)
        with self._lock:
            if signature in self._compiled:
                return self._compiled[signature]
            with collector_paused():
                if self._captured is None:
                    self._captured = Captured(self.func)
                self._captured.also(arguments)
                disk_cache = import_module("flydsl.compiler.disk_cache")
                artifact = disk_cache.artifact_for(
                    self.__name__, self._captured, arguments, dict(signature.hints), device, self._counts,
                    lambda: self._compiled_artifact(signature, arguments, device),
                )  # fmt: skip
                if knobs.COMPILE_ONLY.get():
                    return None
                executable = self._compiled[signature] = import_module("flydsl.compiler.loading").load(artifact, device)
                return executable

    def _compiled_artifact(self, signature: Any, arguments: list[Any], device: Any) -> Any:
        # The IR libraries are loaded here, on the first compile, and not when this package is imported.
        trace = import_module("flydsl.compiler.trace").trace
        driver = import_module("flydsl.compiler.driver")
        module, formats = trace(self.func, arguments, device.target, signature.hints)
        with import_module("flydsl.codegen.llvm_options").option_scope(llvm_options(signature.hints)):
            return driver.compile_module(module, self.__name__, device.target, device.kind, formats)

    def __repr__(self) -> str:
        return f"<flyc.jit {self.__name__}>"


class BoundJit:
    """A jit function used as a method."""

    def __init__(self, function: JitFunction, instance: Any) -> None:
        self.function = function
        self.instance = instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(self.instance, *args, **kwargs)

    def warmup(self, *args: Any, **kwargs: Any) -> None:
        """Compile for these arguments without launching."""
        self.function.warmup(self.instance, *args, **kwargs)


def jit(func: Callable[..., Any] | None = None) -> Any:
    """Make a function a jit function: traced, compiled and cached per specialisation, then run."""
    if func is None:
        return jit
    if not inspect.isfunction(func):
        raise DslTypeError(f"@flyc.jit decorates a function, got {type(func).__name__}")
    return JitFunction(func)


__all__ = ["BoundJit", "JitCacheManager", "JitFunction", "MlirCompiler", "collector_paused", "jit"]

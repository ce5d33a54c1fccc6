"""Jit functions: host code that launches kernels, traced and compiled once per specialisation."""

from __future__ import annotations

import gc
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from flydsl.base import knobs
from flydsl.base.errors import DslTypeError, FlyDSLError
from flydsl.compiler.adapted import Adapted
from flydsl.compiler.call_path import CallPath
from flydsl.compiler.captured import Captured
from flydsl.compiler.diagnostics import about_argument, presented
from flydsl.compiler.jit_argument import TensorArgument, adapt
from flydsl.compiler.rewrite.rewriter import rewritten
from flydsl.compiler.signature import Signature
from flydsl.compiler.target_choice import device_of
from flydsl.expr.constexpr import constexpr_key
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


_CHOOSING = (knobs.ARCH, knobs.GPU_ARCH, knobs.COMPILE_ONLY, knobs.RUNTIME_KIND)
"""Variables that choose the target and the device of a call."""


class JitFunction:
    """A function decorated with ``@flyc.jit``."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self.func = func
        self.signature = Signature(func)
        self.compile_hints: dict[str, Any] = {}
        self._compiled: dict[Any, Any] = {}
        self._short: dict[Any, Any] = {}
        self._path = CallPath(self.signature)
        self._captured: Captured | None = None
        self._lock = threading.Lock()
        self.__name__ = func.__name__
        self.__doc__ = func.__doc__
        self.__wrapped__ = func

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if is_tracing():
            return rewritten(self.func)(*args, **kwargs)
        if self._captured is not None and not self._captured.unchanged():
            self._forget()
        read = self._path.read(args) if not kwargs else None
        if read is not None:
            key = (knobs.snapshot(_CHOOSING), read[0])
            executable = self._short.get(key)
            if executable is not None and executable.try_launch(read[1]):
                return None
        else:
            key = None
        try:
            executable, numbers = self._specialise(args, kwargs)
            if executable is not None:
                executable.launch(numbers)
                if key is not None:
                    self._short[key] = executable
        except FlyDSLError as error:
            raise presented(error) from None
        return None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else BoundJit(self, instance)

    def _forget(self) -> None:
        """A value that compiled code took from around the function has changed: compile anew."""
        with self._lock:
            self._short.clear()
            self._compiled.clear()
            self._captured = None

    def _specialise(self, args: Any, kwargs: Any) -> tuple[Any, list[Any]]:
        """The executable for these arguments and the numbers to launch it with."""
        arguments: list[Any] = []
        key: list[Any] = []
        places: list[Any] = []
        numbers: list[Any] = []
        values = self.signature.bind(args, kwargs)
        parameters = self.signature
        for index, value in enumerate(values):
            try:
                if parameters.constexpr[index]:
                    key.append(constexpr_key(value))
                    arguments.append(value)
                    continue
                argument = adapt(value, parameters.annotations[index])
                key.append(argument.signature())
                numbers.extend(argument.pack())
                if isinstance(argument, TensorArgument):
                    places.append(argument.view.device)
            except FlyDSLError as error:
                raise about_argument(error, self.func, parameters.names[index]) from None
            arguments.append(Adapted(argument))
        if not any(isinstance(a, Adapted) and a.is_stream for a in arguments):
            numbers.append(0)
        device = device_of(places)
        signature = (device.kind, device.target.arch, *key)
        executable = self._compiled.get(signature)
        if executable is None:
            executable = self._compile(signature, arguments, device)
        return executable, numbers

    def _compile(self, signature: Any, arguments: list[Any], device: Any) -> Any:
        with self._lock:
            if signature in self._compiled:
                return self._compiled[signature]
            with collector_paused():
                # The IR libraries are loaded here, on the first compile, and not when this package is imported.
                trace = import_module("flydsl.compiler.trace").trace
                if self._captured is None:
                    self._captured = Captured(self.func)
                driver = import_module("flydsl.compiler.driver")
                module, formats = trace(self.func, arguments, device.target)
                artifact = driver.compile_module(module, self.__name__, device.target, device.kind, formats)
                if knobs.COMPILE_ONLY.get():
                    return None
                executable = self._compiled[signature] = driver.load(artifact, device)
                return executable

    def __repr__(self) -> str:
        return f"<flyc.jit {self.__name__}>"


class BoundJit:
    """A jit function used as a method."""

    def __init__(self, function: JitFunction, instance: Any) -> None:
        self.function = function
        self.instance = instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(self.instance, *args, **kwargs)


def jit(func: Callable[..., Any] | None = None) -> Any:
    """Make a function a jit function: traced, compiled and cached per specialisation, then run."""
    if func is None:
        return jit
    if not inspect.isfunction(func):
        raise DslTypeError(f"@flyc.jit decorates a function, got {type(func).__name__}")
    return JitFunction(func)

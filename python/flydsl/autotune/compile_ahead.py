"""Compiling the configurations of a search in parallel, through any `concurrent.futures` executor.

Threads compile in this process. Every other executor (a process pool, a Dask or Ray cluster) gets small picklable
tasks: the function's import path and a description of the arguments. Its workers put their artifacts into the disk
cache, where the trials find them. What cannot be sent, or is not found there, is compiled here as it is needed: an
executor can make a search faster, never wrong, and one that is broken is warned about.
"""

from __future__ import annotations

import os
import pickle
import platform
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from typing import Any
from uuid import uuid4

from flydsl.autotune.call import Call
from flydsl.autotune.config import Config
from flydsl.autotune.key import digest
from flydsl.autotune.reporting import warn
from flydsl.base import knobs
from flydsl.base.log import get_logger
from flydsl.base.records import dataclass
from flydsl.compiler.arguments.kinds import Dynamic
from flydsl.compiler.arguments.tensor_adaptor import TensorAdaptor, TensorSpec
from flydsl.compiler.capture.inputs import Inputs
from flydsl.compiler.jit_function import JitFunction
from flydsl.compiler.options.hints import hint_scope, scoped
from flydsl.expr.tensors.element import element_class
from flydsl.expr.trace.host_argument import Stream
from flydsl.runtime import array_view
from flydsl.runtime.array_view import ArrayView
from flydsl.target.family import HOST


def compile_ahead(call: Call, configs: Sequence[Config], executor: Executor | None) -> None:
    """Have an executor compile a call's configurations; returns when it is done with all."""
    if executor is None or not configs:
        return
    if isinstance(executor, ThreadPoolExecutor):
        futures = _submitted(call, executor, call.compile, configs)
        _gather(call, futures, only=BrokenExecutor)
        return
    if not knobs.RUNTIME_ENABLE_CACHE.get():
        _warn(call, "the disk cache is off, so other processes cannot hand over what they compile")
        return
    tokens: list[str] = []
    try:
        source, tasks = _source(call.function), []
        for config in configs:
            task = _task(call, config, source)
            tokens.append(task.token)
            _HERE[task.token] = partial(call.compile, config)
            tasks.append(task)
        _gather(call, _submitted(call, executor, compile_task, tasks))
    except _NotSendableError as error:
        _warn(call, str(error))
    finally:
        for token in tokens:
            _HERE.pop(token, None)


def _submitted(call: Call, executor: Executor, work: Callable[..., Any], tasks: Sequence[Any]) -> list[Any]:
    """Return the futures of tasks. An executor that takes no more, broken or shut down, leaves the rest to this
    process."""
    futures: list[Any] = []
    for task in tasks:
        try:
            futures.append(executor.submit(work, task))
        except Exception as error:
            _warn(call, f"{type(executor).__name__}.submit() raised {_said(error)}")
            break
    return futures


def _gather(call: Call, futures: Sequence[Any], *, only: type[Exception] = Exception) -> None:
    """Wait for all. A configuration that fails to compile says why in its trial; here only the first refusal counts.

    ``only`` is what counts as one where the kernel's own errors come back too.
    """
    refusals: list[str] = []
    for future in futures:
        try:
            answer = future.result()
        except (only, CancelledError) as error:
            answer = _said(error)
        except Exception:
            answer = None
        if answer:
            refusals.append(answer)
    if refusals:
        _warn(call, refusals[0])


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _warn(call: Call, why: str) -> None:
    warn(f"configurations of '{call.function.__name__}' are compiled here, not by the executor: {why}")


# What travels --------------------------------------------------------------------------------------------------------


class _NotSendableError(Exception):
    """Something of a call cannot be described to another process."""


@dataclass(frozen=True)
class SentAdaptor:
    """What ``flyc.from_dlpack`` and the marks on it said about a tensor."""

    tensor: TensorSpec
    extents: tuple[int, ...]
    """Divisors of the dynamic ones, 0 for those that are static."""
    strides: tuple[int, ...]
    align: int
    wide_stride: bool


@dataclass(frozen=True)
class CompileTask:
    """One configuration to compile elsewhere."""

    module: str
    qualname: str
    source: str
    arguments: dict[str, Any]
    hints: dict[str, Any]
    settings: dict[str, str]
    token: str
    process: tuple[str, int]


_HERE: dict[str, Callable[[], Any]] = {}
"""Tasks of this process, for executors that run them in a thread of it."""


def _process() -> tuple[str, int]:
    return (platform.node(), os.getpid())


def _source(function: JitFunction) -> str:
    """Return a digest of all the function reaches: a worker must not compile another version of it."""
    captured = Inputs(function.func)
    if captured.opaque:
        raise _NotSendableError(f"it depends on what only this process has: {captured.opaque[0]}")
    return digest(captured.text)


def _task(call: Call, config: Config, source: str) -> CompileTask:
    func = call.function.func
    if "<locals>" in func.__qualname__:
        raise _NotSendableError(f"it is defined inside {func.__qualname__.split('.<locals>')[0]}(), not in a module")
    arguments = {name: _sent(call.by_name[name]) for name in call.given} | call.injected(config)
    device = call.device
    chosen = {knobs.COMPILE_ONLY: True, knobs.ARCH: device.target.arch, knobs.RUNTIME_KIND: device.kind}
    settings = {knob.name: knob.kind.render(knob.get()) for knob in _SENT_SETTINGS}
    settings |= {knob.name: knob.kind.render(value) for knob, value in chosen.items()}
    hints = {**call.function.compile_hints, **(scoped() or {}), **config.compiler_opts()}
    task = CompileTask(
        func.__module__,
        func.__qualname__,
        source,
        arguments,
        hints,
        settings,
        uuid4().hex,
        _process(),
    )
    try:
        pickle.dumps(task)
    except Exception as error:
        raise _NotSendableError(f"an argument cannot be pickled: {error}") from None
    return task


_SENT_SETTINGS: tuple[knobs.Knob[Any], ...] = (
    *(knob for knob in knobs.TABLE.values() if knob.affects_code),
    knobs.EXTRA_SOURCE_DIRS,
    knobs.RUNTIME_CACHE_DIR,
    knobs.RUNTIME_ENABLE_CACHE,
)


def _sent(value: Any) -> Any:
    if type(value).__name__ == "Stream":
        return Stream(None)
    if isinstance(value, TensorAdaptor):
        argument = value.argument()
        extents, strides = (
            tuple(code.divisibility if isinstance(code, Dynamic) else 0 for code in codes)
            for codes in (argument.shape_code, argument.stride_code)
        )
        return SentAdaptor(_spec(argument.view), extents, strides, argument.align, argument.wide_stride)
    if value is None or isinstance(value, (bool, int, float, str, type, tuple)):
        return value
    view = array_view.of(value)
    return value if view is None else _spec(view)


def _spec(view: ArrayView) -> TensorSpec:
    return TensorSpec(tuple(view.shape), element_class(view.elem), strides=tuple(view.strides), device=HOST.name)


# In the worker -------------------------------------------------------------------------------------------------------

_one_at_a_time = threading.Lock()
"""The settings of a task are the process's environment, so a worker of several threads takes tasks in turn."""


def compile_task(task: CompileTask) -> str | None:
    """Compile into the disk cache; returns why it could not be tried. An error of the kernel is its trial's to tell."""
    if task.process == _process():
        here = _HERE.get(task.token)
        if here is not None:
            _compile_or_log(task, here)
        return None
    with _one_at_a_time, knobs.scope({knobs.TABLE[n]: knobs.TABLE[n].kind.parse(t) for n, t in task.settings.items()}):
        try:
            function = _resolve(task)
        except (ImportError, AttributeError, _NotSendableError) as error:
            return f"a worker cannot import {task.module}:{task.qualname} ({error})"
        if function is None:
            return f"{task.module}:{task.qualname} is another function in a worker"
        arguments = {name: _received(value) for name, value in task.arguments.items()}
        with hint_scope(task.hints) if task.hints else nullcontext():
            _compile_or_log(task, partial(function.warmup, **arguments))
    return None


def _compile_or_log(task: CompileTask, work: Callable[[], Any]) -> None:
    try:
        work()
    except Exception as error:
        get_logger(__name__).info("%s failed to compile: %s", task.qualname, error)


def _resolve(task: CompileTask) -> JitFunction | None:
    found: Any = import_module(task.module)
    for part in task.qualname.split("."):
        found = getattr(found, part)
    function = getattr(found, "fn", found)
    return function if isinstance(function, JitFunction) and _source(function) == task.source else None


def _received(value: Any) -> Any:
    if not isinstance(value, SentAdaptor):
        return value
    adaptor = TensorAdaptor(value.tensor, assumed_align=value.align, use_32bit_stride=not value.wide_stride)
    for axis, divisor in enumerate(value.extents):
        if divisor:
            adaptor.mark_shape_dynamic(axis, divisor)
    for axis, divisor in enumerate(value.strides):
        if divisor:
            adaptor.mark_stride_dynamic(axis, divisor)
    return adaptor

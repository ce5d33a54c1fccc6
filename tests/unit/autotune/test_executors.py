"""Compiling configurations through executors: threads, processes, and anything else that has `submit`."""

from __future__ import annotations

import multiprocessing
import os
import pickle
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.autotune import Autotuner, Config, autotune
from flydsl.autotune import compile_ahead as ahead
from flydsl.base import knobs
from flydsl.compiler.jit_argument import adapt
from tests.support.log import Log
from tests.unit.autotune import kernels_to_tune
from tests.unit.autotune.kernels_to_tune import SIZE, Clock, arrays, axpy, axpy_kernel, blocks, fresh, tuned_axpy

pytestmark = pytest.mark.usefixtures("fresh_cache")

CONFIGS = blocks(32, 64, 128)


def tuned(executor: Executor, function: Any = axpy, **options: Any) -> Autotuner:
    return autotune(CONFIGS, key=["n"], do_bench=Clock(), executor=executor, **options)(fresh(function))


def check(function: Autotuner) -> None:
    a, b, expected = arrays()
    function(a, b, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-5, atol=1e-6)
    assert function.best_config(a, b, SIZE) == Config(BLOCK=32)


class Elsewhere(Executor):
    """An executor of a cluster in miniature: what it gets and gives is pickled, and it is another machine's process."""

    def __init__(self) -> None:
        self.tasks: list[Any] = []
        self.answers: list[Any] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            function, (task,), _ = pickle.loads(pickle.dumps((fn, args, kwargs)))
            self.tasks.append(task)
            object.__setattr__(task, "process", ("another machine", 1))
            self.answers.append(function(task))
            future.set_result(pickle.loads(pickle.dumps(self.answers[-1])))
        except Exception as error:
            future.set_exception(error)
        return future


class Inline(Executor):
    """An executor that runs tasks in this process, in the thread that submits them."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def test_threads() -> None:
    with ThreadPoolExecutor(2) as executor:
        check(tuned(executor))


def test_threads_with_a_failing_configuration(kept_log: Log) -> None:
    with ThreadPoolExecutor(2) as executor:
        check(autotune([Config(BLOCK=2048), *CONFIGS], do_bench=Clock(), executor=executor)(fresh(axpy)))
    assert "BLOCK=2048 is too much" in kept_log.text


def test_processes(fresh_cache: Path) -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        check(tuned(executor))
        artifacts = [path for path in fresh_cache.rglob("*") if path.is_file()]
        assert len(artifacts) >= len(CONFIGS)


def test_a_cluster_fills_the_disk_cache(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels_to_tune, "axpy", fresh(axpy))  # which the other machine finds by its name
    executor = Elsewhere()
    function = tuned(executor)
    compiled: list[Any] = []
    driver = import_module("flydsl.compiler.lowering.driver")
    original = driver.compile_module
    monkeypatch.setattr(driver, "compile_module", lambda *a, **k: (compiled.append(a[1]), original(*a, **k))[1])
    a, b, _ = arrays()
    ahead.compile_ahead(ahead.Call(function._parameters, (a, b, SIZE), {}), CONFIGS, executor)
    assert executor.answers == [None] * 3 and len(compiled) == 3
    check(function)
    assert len(executor.tasks) == 6 and len(compiled) == 3, "the trials find what the workers compiled"


def test_marked_tensors_are_described_exactly(fresh_cache: Path) -> None:
    base = np.zeros((SIZE, 4), np.float32)
    adaptor = flyc.from_dlpack(base, assumed_align=8, use_32bit_stride=True)
    adaptor.mark_shape_dynamic(0).mark_stride_dynamic(0, divisibility=4)
    sent = pickle.loads(pickle.dumps(ahead._sent(adaptor)))
    assert ahead._received(sent).argument().signature() == adaptor.argument().signature()
    raw = base[:, 1:]
    assert adapt(ahead._received(ahead._sent(raw))).signature() == adapt(raw).signature()


def test_inline_executor() -> None:
    check(tuned(Inline()))


def test_a_local_function_is_compiled_here() -> None:
    @flyc.jit
    def local(A: fx.Tensor, B: fx.Tensor, n: fx.Int32, BLOCK: fx.Constexpr[int]):
        axpy_kernel(A, B, n, BLOCK, 2.0).launch(grid=((n + BLOCK - 1) // BLOCK, 1, 1), block=(BLOCK, 1, 1))

    executor = Elsewhere()
    with pytest.warns(RuntimeWarning, match="compiled here.*defined inside"):
        check(tuned(executor, local))
    assert executor.tasks == []


def test_a_function_the_worker_cannot_import_is_compiled_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(axpy.func, "__module__", "no_such_module")
    with pytest.warns(RuntimeWarning, match="compiled here.*cannot import no_such_module:axpy"):
        check(tuned(Elsewhere()))


def test_another_function_of_that_name_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(axpy.func, "__qualname__", "tuned_axpy")
    with pytest.warns(RuntimeWarning, match="is another function in a worker"):
        check(tuned(Elsewhere()))


def test_an_executor_that_is_broken_does_not_stop_the_search() -> None:
    class Broken(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(OSError("the cluster is gone"))
            return future

    with pytest.warns(RuntimeWarning, match="the cluster is gone"):
        check(tuned(Broken()))


class Refusing(Executor):
    """An executor whose connection is lost after a number of tasks."""

    def __init__(self, takes: int = 0) -> None:
        self.takes = takes

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        if not self.takes:
            raise ConnectionError("the cluster is gone")
        self.takes -= 1
        return Elsewhere().submit(fn, *args, **kwargs)


@pytest.mark.parametrize("takes", [0, 2])
def test_an_executor_that_takes_no_task(takes: int) -> None:
    said = r"compiled here.*Refusing\.submit\(\) raised ConnectionError: the cluster is gone"
    with pytest.warns(RuntimeWarning, match=said) as seen:
        check(tuned(Refusing(takes)))
    assert len(seen) == 1 and seen[0].filename == __file__


class RefusingThreads(ThreadPoolExecutor):
    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        raise RuntimeError("cannot start a thread")


def test_threads_that_take_no_task() -> None:
    with pytest.warns(RuntimeWarning, match="compiled here.*cannot start a thread"):
        check(tuned(RefusingThreads()))


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_that_is_shut_down(kind: Any) -> None:
    executor = kind(1)
    executor.shutdown()
    with pytest.warns(RuntimeWarning, match="compiled here.*RuntimeError: cannot schedule new futures"):
        check(tuned(executor))


def fail_to_start() -> None:
    raise OSError("no licence")


def test_threads_that_do_not_start() -> None:
    with ThreadPoolExecutor(1, initializer=fail_to_start) as executor:
        with pytest.warns(RuntimeWarning, match="compiled here.*BrokenThreadPool"):
            check(tuned(executor))


@pytest.mark.parametrize("when", ["before", "while"])
def test_processes_that_die(when: str) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as executor:
        dying = executor.submit(os._exit, 1)
        if when == "before":
            with pytest.raises(BrokenExecutor):
                dying.result()
        with pytest.warns(RuntimeWarning, match="compiled here.*BrokenProcessPool"):
            check(tuned(executor))


def test_cancelled_tasks() -> None:
    class Cancelling(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.cancel()
            return future

    with pytest.warns(RuntimeWarning, match="compiled here.*CancelledError"):
        check(tuned(Cancelling()))


def test_a_kernel_that_does_not_compile_is_no_fault_of_the_executor(recwarn: pytest.WarningsRecorder) -> None:
    configs = [Config(BLOCK=2048), *CONFIGS]
    with ThreadPoolExecutor(2) as threads:
        for executor in (Inline(), Elsewhere(), threads):
            check(autotune(configs, key=["n"], do_bench=Clock(), executor=executor)(fresh(axpy)))
    assert not [str(warning.message) for warning in recwarn if "executor" in str(warning.message)]


def test_without_a_disk_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.RUNTIME_ENABLE_CACHE.name, "0")
    executor = Elsewhere()
    with pytest.warns(RuntimeWarning, match="the disk cache is off"):
        check(tuned(executor))
    assert executor.tasks == []


def test_the_worker_finds_the_function_under_its_decorator() -> None:
    call = ahead.Call(tuned_axpy._parameters, (*arrays()[:2], SIZE), {})
    task = ahead._task(call, Config(BLOCK=32), ahead._source(tuned_axpy.fn))
    assert ahead._resolve(task) is tuned_axpy.fn

"""Many threads calling many specialisations: right results, one compile each, and no memory kept."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.support import random_data
from tests.unit.jit.kernels import scaling

THREADS = 8
CALLS = 3_000


def run_threads(work: Callable[[int], None]) -> None:
    """Run ``work`` in all threads at once; the first failure is raised here."""
    failures: list[BaseException] = []
    start = threading.Barrier(THREADS)

    def guarded(index: int) -> None:
        try:
            start.wait()
            work(index)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(index,)) for index in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def make() -> Any:
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, n: fx.Int32, bias: fx.Constexpr[int]):
        y[0] = x[0] + (n + bias).to(x.dtype)

    @flyc.jit
    def add(x: fx.Tensor, y: fx.Tensor, n: fx.Int32, bias: fx.Constexpr[int]):
        kernel(x, y, n, bias).launch()

    return add


def cases(rng: np.random.Generator) -> list[tuple[Any, Any, np.ndarray, np.ndarray, int]]:
    """Arguments of many specialisations: (x as passed, y as passed, x, y, bias)."""
    found = []
    for dtype in (np.int32, np.int64, np.float32, np.float64):
        for bias in (0, 7):
            x, y = rng.integers(-9, 9, 4).astype(dtype), np.zeros(4, dtype)
            found.append((x, y, x, y, bias))
            found.append((flyc.from_dlpack(x), flyc.from_dlpack(y).mark_layout_dynamic(), x, y, bias))
    return found


@pytest.mark.usefixtures("young_heap")
def test_mixed_specialisations_from_all_threads() -> None:
    add = make()
    bound = {}
    for x, y, _, _, bias in cases(random_data.generator()):
        add(x, y, 0, bias)
        bound[len(bound)] = flyc.compile(add, x, y, 0, bias)
    count = len(add.specialisations)
    assert count == 16

    def work(index: int, calls: int = CALLS) -> None:
        rng = random_data.generator()
        mine = cases(rng)
        order, numbers = rng.integers(0, len(mine), calls), rng.integers(-1000, 1000, calls)
        for step, (which, n) in enumerate(zip(order.tolist(), numbers.tolist(), strict=True)):
            x, y, source, result, bias = mine[which]
            if step % 4 == index % 4:
                bound[which](x, y, n, bias)
            else:
                add(x, y, n, bias)
            if result[0] != source[0] + n + bias:
                raise AssertionError(f"{result[0]} is not {source[0]} + {n} + {bias}")

    run_threads(lambda index: work(index, 300))  # everything that is allocated once is allocated now
    gc.collect()
    tracemalloc.start()
    before, resident = tracemalloc.get_traced_memory()[0], resident_bytes()
    run_threads(work)
    gc.collect()
    grown, resident_grown = tracemalloc.get_traced_memory()[0] - before, resident_bytes() - resident
    tracemalloc.stop()
    assert len(add.specialisations) == count
    # A leak of one small object per call would be 24,000 times 16 bytes at the least.
    assert grown < 200_000, f"{grown} bytes more after {THREADS * CALLS} calls"
    assert resident_grown < 16 << 20, f"{resident_grown} bytes more resident"


def test_one_compile_however_many_ask() -> None:
    fn = scaling()
    x = np.arange(8, dtype=np.float32)
    results = [np.zeros(8, np.float32) for _ in range(THREADS)]
    run_threads(lambda index: fn(x, results[index], 2.0))
    assert len(fn.specialisations) == 1
    for y in results:
        np.testing.assert_array_equal(y, x * 2)


def test_one_adaptor_for_all_threads() -> None:
    fn = scaling()
    x = np.arange(8, dtype=np.float32)
    adaptor = flyc.from_dlpack(x)
    results = [np.zeros(8, dtype) for dtype in (np.float32, np.float64, np.float16, np.int32) for _ in range(2)]

    def work(index: int) -> None:
        for factor in range(200):
            fn(adaptor, results[index], float(factor % 10))

    run_threads(work)
    for y in results:
        np.testing.assert_array_equal(y, (x * 9).astype(y.dtype))
    assert len(fn.specialisations) == 4


def test_a_global_that_changes_under_way() -> None:
    """Calls during the change see the old value or the new one; calls after it see the new one."""
    number = 1

    @flyc.kernel
    def kernel(out: fx.Tensor):
        out[0] = number

    @flyc.jit
    def fill(out: fx.Tensor):
        kernel(out).launch()

    fill(np.zeros(1, np.int32))
    changed = threading.Event()

    def work(index: int) -> None:
        nonlocal number
        out = np.zeros(1, np.int32)
        for step in range(200):
            if index == 0 and step == 100:
                number = 2
                changed.set()
            late = changed.is_set()
            fill(out)
            assert out[0] == 2 if late else out[0] in (1, 2)

    run_threads(work)


def test_a_module_that_tracing_imports_may_call_the_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "calls_back.py").write_text("import caller\ncaller.run(caller.out)\nvalue = 3\n")
    (tmp_path / "caller.py").write_text(
        "import numpy as np\nimport flydsl.compiler as flyc\nimport flydsl.expr as fx\n"
        "out = np.zeros(4, np.int32)\n"
        "@flyc.kernel\ndef kernel(x: fx.Tensor):\n    import calls_back\n    x[fx.thread_idx.x] = calls_back.value\n"
        "@flyc.jit\ndef run(x: fx.Tensor):\n    kernel(x).launch(block=(4, 1, 1))\n"
    )
    program = "import caller\ntry:\n    caller.run(caller.out)\nexcept Exception:\n    pass\nprint('over')"
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == "over", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_lock_held_by_another_thread_is_free_in_the_child_of_a_fork() -> None:
    @flyc.jit
    def run(x: fx.Tensor):
        pass

    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with run._lock:
            held.set()
            done.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(30)
    child = os.fork()
    if child == 0:
        os._exit(0 if run._lock.acquire(timeout=5) else 1)
    status = os.waitpid(child, 0)[1]
    done.set()
    thread.join()
    assert status == 0

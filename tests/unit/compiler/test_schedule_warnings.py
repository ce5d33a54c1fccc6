"""Scheduling hints against the instructions around them, on the virtual GPU and for real targets."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import ScheduleWarning
from flydsl.expr import rocdl
from flydsl.target.schedule_groups import counted_kinds, kind_names
from tests.support import random_data


def body(hints: Callable[[], None], width: int = 4) -> Any:
    """A kernel whose loop has one product, and per thread one write, one read of LDS and one load, then ``hints``."""

    @flyc.kernel
    def kernel(X: fx.Tensor, Y: fx.Tensor):
        t = fx.thread_idx.x
        shared = (
            fx.SharedAllocator().allocate(fx.Array[fx.Float32, 64 * 4]).peek().view(fx.make_layout((64, 4), (4, 1)))
        )
        registers = fx.make_rmem_tensor(4, fx.Float32)
        atom = fx.make_copy_atom(fx.UniversalCopy(32 * width), fx.Float32)
        ones = fx.full(4, 1.0, fx.Float16)
        for _ in range(2):
            fx.copy(atom, parts(X[t, None], width), parts(registers, width))
            fx.copy(atom, parts(registers, width), parts(shared[t, None], width))
            fx.copy(atom, parts(shared[63 - t, None], width), parts(registers, width))
            total = rocdl.mfma_f32_16x16x16_f16(ones, ones, registers.load())
            registers.store(total)
            hints()
            rocdl.sched_barrier(0)
            fx.copy(atom, parts(registers, width), parts(Y[t, None], width))

    @flyc.jit
    def launch(X: fx.Tensor, Y: fx.Tensor):
        kernel(X, Y).launch(grid=(1, 1, 1), block=(64, 1, 1))

    return launch


def parts(tensor: Any, width: int) -> Any:
    return fx.logical_divide(tensor, fx.make_layout(width, 1))


def told(hints: Callable[[], None], width: int = 4) -> list[warnings.WarningMessage]:
    """What compiling and running the kernel warns about; its result must be right whatever the hints."""
    x = random_data.generator().integers(-8, 8, (64, 4)).astype(np.float32)
    y = np.full((64, 4), np.nan, np.float32)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        body(hints, width)(flyc.from_dlpack(x), flyc.from_dlpack(y))
    return [w for w in found if issubclass(w.category, ScheduleWarning)]


def texts(hints: Callable[[], None], width: int = 4) -> list[str]:
    return [str(w.message) for w in told(hints, width)]


@pytest.fixture(autouse=True)
def target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "0")


def matching() -> None:
    rocdl.sched_dswr(1)
    rocdl.sched_vmem(1)
    rocdl.sched_dsrd(1)
    rocdl.sched_mfma(1)


def test_matching_hints_say_nothing() -> None:
    assert texts(matching) == []


def test_no_hints_say_nothing() -> None:
    assert texts(lambda: None) == []


def stale() -> None:
    rocdl.sched_mfma(2)
    rocdl.sched_mfma(2)
    rocdl.sched_dsrd(1)


def test_stale_hints_name_line_and_both_counts() -> None:
    (found,) = told(stale)
    assert (
        str(found.message) == "the scheduling hints here ask for 4 matrix instructions, and this stretch of code has 1"
    )
    assert found.filename == __file__
    assert linecache.getline(found.filename, found.lineno).strip() == "rocdl.sched_mfma(2)"
    assert found.lineno == stale.__code__.co_firstlineno + 1


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        (lambda: rocdl.sched_vmem(2), "ask for 2 loads from global memory, and this stretch of code has 1"),
        (lambda: rocdl.sched_dswr(3), "ask for 3 writes of LDS, and this stretch of code has 1"),
        (lambda: rocdl.sched_group_barrier(0x80, 1, 0), "ask for 1 accesses to LDS, and this stretch of code has 2"),
        (lambda: rocdl.sched_group_barrier(0x108, 3, 1), "ask for 3 matrix instructions and reads of LDS, and this"),
        (
            lambda: rocdl.sched_group_barrier(0x40, 1, 0),
            "ask for 1 stores to global memory, and this stretch of code has 0",
        ),
    ],
)
def test_each_kind_is_counted(hint: Callable[[], None], message: str) -> None:
    (text,) = texts(hint)
    assert message in text


def overlapping() -> None:
    rocdl.sched_group_barrier(0x80, 1, 0)
    rocdl.sched_dsrd(1)


def test_hints_with_kinds_in_common_add_up() -> None:
    assert texts(overlapping) == []


def test_arithmetic_is_not_counted() -> None:
    assert texts(lambda: rocdl.sched_group_barrier(0x2, 200, 0)) == []
    assert texts(lambda: rocdl.sched_group_barrier(0x6, 200, 0)) == []


@pytest.mark.parametrize("count", [1, 2, 4])
def test_narrow_accesses_may_be_put_together(count: int) -> None:
    assert texts(lambda: rocdl.sched_dsrd(count), width=1) == []
    assert texts(lambda: rocdl.sched_vmem(count), width=1) == []


def test_more_than_the_narrow_accesses_is_refused() -> None:
    (text,) = texts(lambda: rocdl.sched_dsrd(5), width=1)
    assert text.endswith("this stretch of code has 1 to 4")


def test_code_for_a_gpu_is_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILE_ONLY", "1")
    array = np.zeros((64, 4), np.float32)
    with pytest.warns(ScheduleWarning, match="ask for 4 matrix instructions"):
        body(stale)(flyc.from_dlpack(array), flyc.from_dlpack(array))


def test_names_of_masks() -> None:
    assert counted_kinds(0x8) == 0x8 and counted_kinds(0x10) == 0x60 and counted_kinds(0x300) == 0x300
    assert counted_kinds(0x2) is None and counted_kinds(0xA) is None and counted_kinds(0) is None
    assert kind_names(0x60) == "accesses to global memory"
    assert kind_names(0x308) == "accesses to LDS and matrix instructions"

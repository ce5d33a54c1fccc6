"""The switch: `flyc.sanitize` and `FLYDSL_SANITIZE`, what they refuse, and what they leave alone."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError, SanitizerError
from flydsl.compiler.messages.shown_value import assigned_name
from flydsl.compiler.options.hints import CHECKS, ON_REQUEST, check_device
from flydsl.compiler.running.sanitized_arrays import ArrayInterval, WatchedMemory
from flydsl.compiler.running.sanitizer_report import coordinate_of
from tests.unit.sanitize.planting import numbers, poisoned


@flyc.kernel
def shift(A: fx.Tensor, B: fx.Tensor, by: fx.Int32):
    smem = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 32])
    t = fx.thread_idx.x
    smem[t] = A[t + by]
    fx.barrier()
    B[t] = smem[31 - t]


@flyc.jit
def run(A: fx.Tensor, B: fx.Tensor, by: fx.Int32):
    shift(A, B, by).launch(block=(32, 1, 1))


def padded() -> tuple[np.ndarray, np.ndarray]:
    """An array inside a larger one, so that a read past its end is harmless to the process."""
    whole = numbers(64)
    return whole, whole[:32]


def test_inside_and_outside_the_context() -> None:
    _, a = padded()
    b = poisoned(32)
    run(a, b, 1)
    with pytest.raises(SanitizerError), flyc.sanitize():
        run(a, b, 1)
    run(a, b, 1)
    with flyc.sanitize():
        run(a, b, 0)
    np.testing.assert_array_equal(b, a[::-1])


def test_a_missing_barrier_seen_as_a_read_of_nothing_is_told_about_barriers() -> None:
    """Thread 0 reads before thread 31 writes, so that the first fault is a read of what nobody wrote yet."""

    @flyc.kernel
    def early(A: fx.Tensor, B: fx.Tensor):
        smem = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 32])
        t = fx.thread_idx.x
        smem[t] = A[t]
        B[t] = smem[31 - t]

    @flyc.jit
    def launch(A: fx.Tensor, B: fx.Tensor):
        early(A, B).launch(block=32)

    with pytest.raises(SanitizerError, match="has written yet") as raised, flyc.sanitize():
        launch(numbers(32), poisoned(32))
    assert raised.value.fault.check == "uninit"
    assert "put fx.barrier() between" in str(raised.value)


def test_contexts_nest_and_the_inner_set_holds() -> None:
    _, a = padded()
    with flyc.sanitize("bounds"):
        with flyc.sanitize("race", "uninit"):
            run(a, poisoned(32), 1)
        with pytest.raises(SanitizerError):
            run(a, poisoned(32), 1)
    assert not knobs.SANITIZE.get()


def test_the_variable_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    _, a = padded()
    monkeypatch.setenv("FLYDSL_SANITIZE", "race,barrier")
    run(a, poisoned(32), 1)
    monkeypatch.setenv("FLYDSL_SANITIZE", "bounds")
    with pytest.raises(SanitizerError):
        run(a, poisoned(32), 1)
    monkeypatch.setenv("FLYDSL_SANITIZE", "bound")
    with pytest.raises(DslValueError, match="FLYDSL_SANITIZE"):
        run(a, poisoned(32), 1)


def test_unknown_checks_are_refused() -> None:
    with pytest.raises(DslValueError, match="bounds, race, uninit, barrier"), flyc.sanitize("memory"):
        pass
    with pytest.raises(DslTypeError), flyc.sanitize(["race"]):  # type: ignore[arg-type]
        pass
    assert set(CHECKS) == {"bounds", "race", "uninit", "barrier", "async"}
    assert ON_REQUEST == ("modes",)


def test_a_gpu_is_refused() -> None:
    check_device("rocm")
    with flyc.sanitize("race"):
        check_device("host")
        with pytest.raises(DslRuntimeError, match="virtual GPU"):
            check_device("cuda")


def test_a_run_after_a_fault_is_sound() -> None:
    with flyc.sanitize():
        for turn in range(4):
            _, a = padded()
            b = poisoned(32)
            if turn % 2:
                with pytest.raises(SanitizerError):
                    run(a, b, 1)
            else:
                run(a, b, 0)
                np.testing.assert_array_equal(b, a[::-1])


def test_threads_may_launch_at_the_same_time() -> None:
    found: list[object] = []

    def work(by: int) -> None:
        for _ in range(5):
            _, a = padded()
            b = poisoned(32)
            try:
                run(a, b, by)
                found.append((by, bool((b == a[::-1]).all())))
            except SanitizerError as error:
                found.append((by, error.fault.coordinate))

    with flyc.sanitize():
        threads = [threading.Thread(target=work, args=(by,)) for by in (0, 1, 0, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(map(str, found)) == sorted(map(str, [(0, True)] * 10 + [(1, (32,))] * 5 + [(2, (32,))] * 5))


def test_code_without_sanitizers_has_nothing_of_them(tmp_path: Path) -> None:
    @flyc.jit
    def fresh(A: fx.Tensor, B: fx.Tensor):
        shift(A, B, 0).launch(block=(32, 1, 1))

    texts: dict[bool, str] = {}
    for on in (False, True):
        with knobs.scope({knobs.DUMP_IR: True, knobs.DUMP_DIR: tmp_path / str(on), knobs.RUNTIME_ENABLE_CACHE: False}):
            if on:
                with flyc.sanitize():
                    fresh(numbers(32), poisoned(32))
            else:
                fresh(numbers(32), poisoned(32))
        files = [p for p in (tmp_path / str(on)).rglob("*") if p.is_file()]
        texts[on] = "".join(p.read_text() for p in files if p.suffix in (".mlir", ".ll"))
    for word in ("fly_sanitizer", "fly.mark"):
        assert word in texts[True] and word not in texts[False]


# Parts of reports ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "modes", "expected"),
    [
        (128, [((8,), (16,)), ((16,), (1,))], (8, 0)),
        (-1, [((8,), (16,)), ((16,), (1,))], (-1, 15)),
        (37, [((8,), (16,)), ((16,), (1,))], (2, 5)),
        (37, [((16,), (1,)), ((8,), (16,))], (5, 2)),
        (27, [((4,), (8,)), ((3,), (1,))], (3, 3)),
        (64, [((64,), (1,))], (64,)),
        (-2, [((4,), (-1,))], (2,)),
        (1, [((4,), (-1,))], (-1,)),
        (13, [((2, 4), (1, 4)), ((2,), (2,))], (7, 0)),
        (9, [((1,), (1,))], (9,)),
    ],
)
def test_coordinates(index: int, modes: list[Any], expected: tuple[int, ...]) -> None:
    assert coordinate_of(index, modes) == expected


def test_names_come_from_the_assignment_around_a_line(tmp_path: Path) -> None:
    file = tmp_path / "source.py"
    lines = [
        *("first = make(1)", "second, third = make(", "    2,", ")", "self.x: int = make(3)", "make(4)"),
        *("if x:", "    deep = [", "        1]"),
    ]
    file.write_text("\n".join(lines))
    found = [assigned_name(str(file), line) for line in range(1, 10)]
    assert found == ["first", "(second, third)", "(second, third)", "(second, third)", "self.x", "", "", "deep", "deep"]
    assert assigned_name(str(tmp_path / "missing.py"), 1) == ""


def test_intervals_cover_what_coordinates_reach() -> None:
    plain = ArrayInterval("a", "f32", 4, 1000, (3, 5), (5, 1))
    assert (plain.low, plain.end) == (1000, 1060)
    backwards = ArrayInterval("a", "f16", 2, 1000, (4,), (-3,))
    assert (backwards.low, backwards.end) == (1000 - 18, 1002)
    empty = ArrayInterval("a", "f32", 4, 1000, (0, 5), (5, 1))
    assert empty.low == empty.end


def test_arrays_that_touch_are_apart_and_those_that_overlap_are_one() -> None:
    def array(low: int, count: int, size: int = 4) -> ArrayInterval:
        return ArrayInterval("a", f"f{8 * size}", size, low, (count,), (1,))

    memory = WatchedMemory([array(1040, 4, 2), array(1000, 10), array(1040, 10)], cells=True)
    assert memory.region_count == 2
    assert [memory.ranges[i] for i in (2, 5, 8)] == [1, 0, 1]
    assert list(memory.regions[4:7]) == [1040, 1080, 1]


@flyc.kernel
def wide_kernel(A: fx.Tensor, B: fx.Tensor, first: fx.Int32):
    t = fx.thread_idx.x
    source = fx.logical_divide(fx.make_view(fx.get_iter(A) + first, fx.make_layout(64, 1)), fx.make_layout(4, 1))
    held = fx.make_rmem_tensor(4, fx.Float32)
    fx.copy_atom_call(fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32), source[None, t], held)
    for i in fx.range_constexpr(4):
        B[t * 4 + i] = held[i]


@flyc.jit
def wide(A: fx.Tensor, B: fx.Tensor, first: fx.Int32):
    wide_kernel(A, B, first).launch(block=(8, 1, 1))


@pytest.mark.parametrize("first", [0, 1, 2, 4])
def test_a_wide_copy_from_an_address_that_is_not_aligned(first: int) -> None:
    """On an NVIDIA GPU it ends the kernel."""
    memory = np.arange(80, dtype=np.float32)
    a = memory[memory.ctypes.data % 16 // 4 :][:72]
    b = np.zeros(32, np.float32)
    with flyc.sanitize():
        if first % 4:
            with pytest.raises(RuntimeError, match="misaligned access: the address is no multiple of 16") as error:
                wide(a, b, first)
            assert Path(__file__).name in str(error.value)
        else:
            wide(a, b, first)
            np.testing.assert_array_equal(b, a[first : first + 32])

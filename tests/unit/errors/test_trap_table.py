"""The design's table of traps (section 10), row by row: each is gone, or a clear error, or listed with its issue.

Every row has one test named after it. A row that another issue delivers is in ``LATER``; the last test reads the
names, so that no row is lost.
"""

from __future__ import annotations

import math
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl.base import knobs
from flydsl.base.errors import ScheduleWarning
from flydsl.compiler.kernel_function import CompilationContext
from flydsl.utils.smem_allocator import SmemAllocator
from tests.unit.control_flow.running import launch
from tests.unit.errors.catalogue import MISTAKES
from tests.unit.errors.mistake import run

ROWS = (
    "constant_range_with_init",
    "value_defined_in_both_branches",
    "early_return_captured_mutation_const_expr",
    "smem_ptr_view_cache",
    "waves_per_eu",
    "from_dlpack_adaptor_reused",
    "cache_stale_when_a_helper_changes",
    "lds_overflow",
    "scheduling_hints_go_stale",
    "layout_functions_outside_a_kernel",
    "absf_missing",
    "compile_also_launches",
    "captured_global_that_changed",
    "signed_remainder",
    "uint8_tensors",
    "order_of_tensor_load",
    "vector_reduce_and_nan",
    "silent_nonsense_of_layouts",
    "name_first_bound_in_a_branch",
    "raw_tensor_dynamic_from_dlpack_static",
)
"""The rows, top to bottom."""

LATER = {
    "cache_stale_when_a_helper_changes": "issue 6 (JIT)",
}
"""Rows without a test here -> the issue that brings them, with their test."""


def refused(title: str, folder: Path) -> str:
    """The message of a mistake of the catalogue."""
    return run(next(mistake for mistake in MISTAKES if mistake.title == title), folder).rendered()


CAPTURED = 3


@flyc.kernel
def captured_kernel(out: fx.Tensor):
    out[0] = CAPTURED


@flyc.jit
def captured_launch(out: fx.Tensor):
    captured_kernel(out).launch()


def test_captured_global_that_changed() -> None:
    global CAPTURED
    out = np.zeros(1, np.int32)
    captured_launch(out)
    CAPTURED = 8
    try:
        captured_launch(out)
    finally:
        CAPTURED = 3
    assert out[0] == 8


def test_constant_range_with_init() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        for i, state in range(0, 15, 1, init=[fx.Int32(0), fx.Int32(1)]):
            results = yield [state[0] + fx.Int32(i), state[1] * 2]
        out[0] = results[0]
        out[1] = results[1]

    assert launch(body)[:2] == [sum(range(15)), 1 << 15]


def test_value_defined_in_both_branches(tmp_path: Path) -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        if t < 2:
            value = t * 10
        else:
            value = n - t
        out[t] = value

    assert launch(body, n=100) == [0, 10, 98, 97]
    message = refused("branches that give a name different types", tmp_path)
    assert "'value' is Int32 (line 4) or Float32 (line 6)" in message


def test_early_return_captured_mutation_const_expr(tmp_path: Path) -> None:
    assert "total = add(total, ...)" in refused("mutation of a captured variable", tmp_path)
    assert "drop const_expr" in refused("`const_expr` of a run-time value", tmp_path)


def test_smem_ptr_view_cache() -> None:
    """A view that a loop made is used again after it, and nobody clears a cache."""
    allocator = SmemAllocator(None, "gfx942")
    numbers = allocator.allocate_array(fx.T.i32, 64)

    @flyc.kernel
    def kernel(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = numbers(allocator.get_base())
        for i in range(2):
            tile.store((t + i).ir_value(), [fx.Index(t).ir_value()])
            fx.barrier()
        out[t] = fx.Int32(tile.load([fx.Index(63 - t).ir_value()]))
        with ir.InsertionPoint(CompilationContext.get_current().gpu_module_body):
            allocator.finalize()

    @flyc.jit
    def host(out: fx.Tensor) -> None:
        kernel(out).launch(grid=(1, 1, 1), block=(64, 1, 1))

    out = np.zeros(64, np.int32)
    host(out)
    np.testing.assert_array_equal(out, 64 - np.arange(64))


def test_waves_per_eu(tmp_path: Path) -> None:
    """The number reaches LLVM, and the registers in the ISA's metadata follow it: 8 waves leave 64 for each."""

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        values = [x[t + 64 * i] for i in range(72)]
        fx.barrier()  # every value is loaded before the first is stored
        for i, value in enumerate(reversed(values)):
            out[t + 64 * i] = value

    def counted(waves: int | None) -> tuple[str, int]:
        attributes = {} if waves is None else {"rocdl.waves_per_eu": waves}

        @flyc.jit
        def host(x: fx.Tensor, out: fx.Tensor) -> None:
            kernel(x, out, value_attrs=attributes).launch(grid=(1, 1, 1), block=(64, 1, 1))

        folder = tmp_path / str(waves)
        settings = {
            knobs.COMPILE_ONLY: True, knobs.ARCH: "gfx942", knobs.RUNTIME_KIND: "rocm",
            knobs.DUMP_IR: True, knobs.DUMP_DIR: folder,
        }  # fmt: skip
        with knobs.scope(settings):
            host(np.zeros(64 * 72, np.float32), np.zeros(64 * 72, np.float32))
        (llvm,), (isa,) = folder.rglob("*.ll"), folder.rglob("*.s")
        return llvm.read_text(), int(re.search(r"\.vgpr_count:\s+(\d+)", isa.read_text())[1])  # type: ignore[index]

    free_text, free = counted(None)
    bound_text, bound = counted(8)
    assert "amdgpu-waves-per-eu" not in free_text and '"amdgpu-waves-per-eu"="8"' in bound_text
    assert free > 64 >= bound


def test_from_dlpack_adaptor_reused() -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor, times: fx.Constexpr[int]) -> None:
        t = fx.thread_idx.x
        out[t] = x[t] * times

    @flyc.jit
    def scale(x: fx.Tensor, out: fx.Tensor, times: fx.Constexpr[int]) -> None:
        kernel(x, out, times).launch(grid=(1, 1, 1), block=(8, 1, 1))

    x = np.arange(8, dtype=np.float32)
    adaptor = flyc.from_dlpack(x)
    failures: list[BaseException] = []

    def work(times: int) -> None:
        try:
            out = np.zeros(8, np.float32)
            scale(adaptor, out, times)
            np.testing.assert_array_equal(out, x * times)
        except BaseException as error:
            failures.append(error)

    for times in (1, 2, 3):
        work(times)
    threads = [threading.Thread(target=work, args=(times,)) for times in (1, 2, 3, 4, 5, 4, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_lds_overflow(tmp_path: Path) -> None:
    message = refused("more shared memory than the target has", tmp_path)
    assert "needs 81920 bytes of shared memory, and gfx942 has 65536 per workgroup" in message
    assert "32768 bytes  Array[Float32, 8192]" in message and "49152 bytes  Array[Float32, 12288]" in message


def test_layout_functions_outside_a_kernel() -> None:
    layout = fx.make_layout((8, 16), (16, 1))
    assert str(fx.logical_divide(layout, fx.make_tile(4, 8))) == "((4,2),(8,2)):((16,64),(1,8))"
    assert fx.crd2idx((3, 5), layout) == 53 and fx.size(layout) == 128
    assert str(fx.right_inverse(layout)) == "(16,8):(8,1)"


def test_absf_missing() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        x = fx.Float32(n) * -1.5
        v = fx.Vector.from_elements([x, -x], fx.Float32)
        out[0] = abs(x)
        out[1] = abs(v)[0]
        out[2] = abs(-n)
        out[3] = abs(fx.Float16(x))

    assert launch(body, n=4, dtype=np.float32) == [6, 6, 4, 6]
    assert abs(fx.Float32(-2.5)) == 2.5


def test_signed_remainder() -> None:
    cases = [(7, 3), (-7, 3), (7, -3), (-7, -3), (-8, 4), (-5, 8)]
    for a, b in cases:

        def body(out: fx.Tensor, n: fx.Int32, b: int = b):
            d = n - n + b
            out[0] = n // b
            out[1] = n % b
            out[2] = n // d
            out[3] = n % d

        remainder = int(math.fmod(a, b))  # of the dividend's sign, as the machine has it and kernels expect
        assert launch(body, n=a) == [a // b, remainder, a // b, remainder], (a, b)
        assert fx.Int32(a) % fx.Int32(b) == a % b and fx.Int32(a) // fx.Int32(b) == a // b


def test_uint8_tensors() -> None:
    seen: list[Any] = []

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        seen.append(x.dtype)
        out[t] = x[t].to(fx.Int32)

    @flyc.jit
    def host(x: fx.Tensor, out: fx.Tensor) -> None:
        kernel(x, out).launch(grid=(1, 1, 1), block=(4, 1, 1))

    out = np.zeros(4, np.int32)
    host(np.array([0, 127, 200, 255], np.uint8), out)
    assert seen == [fx.Int8] and out.tolist() == [0, 127, -56, -1]
    host(np.array([0, 127, 200, 255], np.uint8).view(np.int8), out)
    assert seen == [fx.Int8] and out.tolist() == [0, 127, -56, -1], "one specialisation serves both"


@pytest.mark.parametrize("stride", [(1, 2), (4, 1)])
def test_order_of_tensor_load(stride: tuple[int, int]) -> None:
    """Column-major whatever the strides are, and read row-major: so kernels have it."""

    def body(out: fx.Tensor, n: fx.Int32):
        fragment = fx.make_rmem_tensor(fx.make_layout((2, 4), stride), fx.Int32)
        for i in fx.range_constexpr(2):
            for j in fx.range_constexpr(4):
                fragment[i, j] = 10 * i + j + n - n
        vector = fragment.load()
        for i in fx.range_constexpr(2):
            for j in fx.range_constexpr(4):
                out[i * 4 + j] = vector[i, j]

    assert launch(body, size=8) == [0, 10, 1, 11, 2, 12, 3, 13]


def test_vector_reduce_and_nan() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        x = fx.Float32(n)
        v = fx.Vector.from_elements([x, x * float("nan"), x + 1], fx.Float32)
        out[0] = v.reduce("max")
        out[1] = v.reduce("min")
        out[2] = v.reduce("maxnum")
        out[3] = v.reduce("minnum")
        out[4] = v.reduce("maximumf")

    result = launch(body, size=5, n=4, dtype=np.float32)
    assert result[0] == 5 and np.isnan(result[1]) and result[2:4] == [5, 4] and np.isnan(result[4])


def test_silent_nonsense_of_layouts(tmp_path: Path) -> None:
    assert "(4,4):(1,2) has no complement" in refused("the complement of an overlapping layout", tmp_path)
    assert "8:1 has rank 1, destination (4,2):(1,4) has rank 2" in refused("a copy between unequal ranks", tmp_path)
    assert "b (1,2):(1,1)" in refused("a gemm of unequal ranks", tmp_path)
    assert "needs a divisor for every mode" in refused("`None` in a zipped divide", tmp_path)


def test_name_first_bound_in_a_branch(tmp_path: Path) -> None:
    message = refused("a name bound in one branch only", tmp_path)
    assert "kernel.py:5 in kernel: 'value' is bound only inside the run-time `if` of line 3 (line 4)" in message


def test_compile_also_launches() -> None:
    @flyc.kernel
    def kernel(out: fx.Tensor) -> None:
        out[0] = 1

    @flyc.jit
    def host(out: fx.Tensor) -> None:
        kernel(out).launch()

    out = np.zeros(1, np.int32)
    compiled = flyc.compile(host, out)
    assert out[0] == 1
    out[0] = 0
    compiled(out)
    assert out[0] == 1
    flyc.compile(host, flyc.TensorSpec((1,), fx.Int32))
    host.warmup(out)
    assert out[0] == 1


def test_raw_tensor_dynamic_from_dlpack_static() -> None:
    """Both forms are kept, and the specialisations say which is which."""
    seen: list[str] = []

    @flyc.kernel
    def kernel(x: fx.Tensor) -> None:
        seen.append(str(x.layout))

    @flyc.jit
    def host(x: fx.Tensor) -> None:
        kernel(x).launch(grid=(1, 1, 1), block=(1, 1, 1))

    x = np.zeros((4, 8), np.float32)
    host(x)
    host(flyc.from_dlpack(x))
    assert seen == ["(?,?):(?{i64},1)", "(4,8):(8,1)"]
    first, second = host.specialisations
    assert "layout-dynamic" in first.arguments[0] and "static" in second.arguments[0]
    assert "layout is static (from_dlpack)" in second.why


def test_every_row_is_here() -> None:
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")} - {"every_row_is_here"}
    assert tested | LATER.keys() == set(ROWS)
    assert not tested & LATER.keys()


def test_scheduling_hints_go_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")

    def body(out: fx.Tensor, n: fx.Int32):
        ones = fx.full(4, 1.0, fx.Float16)
        total = fx.rocdl.mfma_f32_16x16x16_f16(ones, ones, fx.full(4, 0.0, fx.Float32))
        fx.rocdl.sched_mfma(2)
        out[fx.thread_idx.x % 4] = fx.Int32(total[0])

    with pytest.warns(ScheduleWarning, match="ask for 2 matrix instructions, and this stretch of code has 1"):
        launch(body, threads=64)

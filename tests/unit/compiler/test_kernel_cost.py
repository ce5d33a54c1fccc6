"""What a compiled kernel costs: `fn.specialisations[i].kernels`."""

from __future__ import annotations

import gc
import re
import shutil
import subprocess
import weakref
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler.lowering.kernel_cost import instruction_classes
from tests.conftest import missing
from tests.unit.rocdl.device_code import AMD


def scaled(threads: int, held: int, shared: int) -> Any:
    """A kernel that keeps so many numbers in registers and so many bytes of shared memory."""

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        thread = fx.thread_idx.x
        space = fx.SharedAllocator().allocate(fx.Array[fx.Float32, shared // 4, 16]).ptr
        mine = fx.make_view(fx.get_iter(x).aligned(16) + thread * held, fx.make_layout(held, 1))
        values = mine.load()
        space[thread] = values[0]
        fx.barrier()
        total = values * space[(thread + 1) % threads]
        fx.make_view(fx.get_iter(out).aligned(16) + thread * held, fx.make_layout(held, 1)).store(total)

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=1, block=threads)

    return launch


def cost_of(arch: str, threads: int, held: int, shared: int, patch: pytest.MonkeyPatch) -> Any:
    patch.setenv("ARCH", arch)
    launch = scaled(threads, held, shared)
    x = np.zeros(threads * held, np.float32)
    launch(x, np.zeros_like(x))
    (kernel,) = launch.specialisations[0].kernels
    return kernel


def occupancy_by_llc(kernel: Any) -> int:
    """What LLVM's own assembly printer says in its comments."""
    llc = shutil.which("llc-22")
    if llc is None:
        missing("llc-22", "install Debian's llvm-22")
    done = subprocess.run(
        [str(llc), "-O2", f"-mcpu={kernel.target}"], input=kernel.llvm, capture_output=True, text=True
    )
    found = re.search(r"; Occupancy: (\d+)", done.stdout)
    assert found is not None, done.stderr
    return int(found[1])


@pytest.mark.parametrize("arch", AMD)
def test_amd(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for threads, held, shared in ((64, 4, 1024), (256, 64, 4096), (128, 16, 32768), (512, 32, 16384)):
        kernel = cost_of(arch, threads, held, shared, monkeypatch)
        assert kernel.threads == threads and kernel.shared_bytes == shared and kernel.spills == 0
        assert kernel.registers >= held and kernel.instructions["global loads"] == held // 4
        assert kernel.occupancy == occupancy_by_llc(kernel), (threads, held, shared, kernel.registers)
        assert "s_endpgm" in kernel.asm and "define amdgpu_kernel" in kernel.llvm and kernel.ptx == ""


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_shared_memory_is_counted_for_each_kernel_with_what_its_launch_gives(
    arch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", arch)

    @flyc.kernel
    def turned(out: fx.Tensor, count: fx.Constexpr, static: fx.Constexpr):
        space = fx.SharedAllocator(static=static).allocate(fx.Array[fx.Int32, count, 16]).ptr
        space[fx.thread_idx.x] = fx.thread_idx.x
        fx.barrier()
        out[fx.thread_idx.x] = space[63 - fx.thread_idx.x]

    @flyc.jit
    def launch(out: fx.Tensor):
        turned(out, 64, True).launch(grid=1, block=64)
        turned(out, 128, True).launch(grid=1, block=64)
        turned(out, 256, False).launch(grid=1, block=64)
        turned(out, 512, False).launch(grid=1, block=64, smem=4096)

    out = np.zeros(64, np.int32)
    launch(out)
    assert (out == np.arange(64)[::-1]).all()
    assert [kernel.shared_bytes for kernel in launch.specialisations[0].kernels] == [256, 512, 1024, 4096]


def test_nvidia(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = cost_of("sm_90a", 128, 8, 2048, monkeypatch)
    assert kernel.threads == 128 and kernel.shared_bytes == 2048
    assert kernel.instructions["global loads"] == 2 and kernel.instructions["global stores"] == 2
    assert kernel.instructions["shared reads"] == 1 and kernel.instructions["barriers"] == 1
    assert ".entry" in kernel.ptx and kernel.asm == kernel.ptx


def test_a_table_in_the_terminal_and_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = cost_of("gfx942", 64, 4, 1024, monkeypatch)
    text, html = str(kernel), kernel._repr_html_()
    assert text.startswith("kernel_0 for gfx942\n") and re.search(r"shared bytes +1024", text)
    assert "<td>shared bytes</td><td>1024</td>" in html and html.startswith("<table>")


@pytest.mark.usefixtures("young_heap")
def test_costs_do_not_keep_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    class Held(np.ndarray):
        pass

    monkeypatch.setenv("ARCH", "gfx942")
    launch = scaled(64, 4, 1024)
    x = np.zeros(256, np.float32).view(Held)
    there = weakref.ref(x)
    launch(x, np.zeros(256, np.float32))
    del x
    gc.collect()
    assert there() is None
    assert launch.specialisations[0].kernels[0].threads == 64


def test_classes() -> None:
    lines = [
        "\tv_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]",
        "\ts_waitcnt vmcnt(0)",
        ".LBB0_1:",
        "\t; comment",
        "\t@%p1 bra \t$L__BB0_2;",
        "\tld.shared.v4.b32 \t{%r1, %r2, %r3, %r4}, [%r5];",
        "\tds_read_b128 v[0:3], v4",
        "\twgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {}",
        "\tbar.sync 0;",
        "\tadd.s32 \t%r1, %r2, 4;",
    ]
    assert instruction_classes(lines) == {
        "matrix": 2, "waits": 1, "branches": 1, "shared reads": 2, "barriers": 1, "vector": 1,
    }  # fmt: skip

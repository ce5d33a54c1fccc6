"""What is asked of a kernel (block size, occupancy, registers, float modes, wave size) reaches LLVM and the metadata.

Each is looked for in the LLVM text both ways write, and where AMD's metadata or the machine code show it, there too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.backends.cuda import compile as cuda_compile
from flydsl.backends.pipeline import stage_b
from flydsl.backends.rocm import compile as rocm_compile
from flydsl.passes.shared.walk import gpu_modules
from tests.codegen.amd_tools import kernel_metadata
from tests.codegen.repository_kernels import RepositoryKernel, after_stage_a, compiled


def kernel_with(threads: int = 128, known: tuple[int, int, int] | None = None, **attributes: Any) -> RepositoryKernel:
    """A kernel that holds many values at once, launched with attributes."""
    named = {name.replace("__", "."): value for name, value in attributes.items()}

    def make(arch: str) -> tuple[Any, tuple[Any, ...]]:
        @flyc.kernel(known_block_size=known)
        def busy_kernel(x: fx.Tensor, out: fx.Tensor):
            tid = fx.thread_idx.x
            held = [x[tid + 128 * i] for i in fx.range_constexpr(48)]
            fx.gpu.barrier()
            total = fx.Float32(0.0)
            for i in fx.range_constexpr(48):
                total = total * held[47 - i] + held[i]
            out[tid] = total / x[tid]

        @flyc.jit
        def busy(x: fx.Tensor, out: fx.Tensor):
            busy_kernel(x, out, value_attrs=named).launch(grid=(1, 1, 1), block=(threads, 1, 1))

        return busy, (np.zeros(128 * 48, np.float32), np.zeros(threads, np.float32))

    return RepositoryKernel("busy", make)


def both_texts(kernel: RepositoryKernel, arch: str) -> tuple[str, str]:
    """LLVM text of the short way and of the passes."""
    module, target = after_stage_a(kernel, arch)
    family = rocm_compile if target.backend == "rocm" else cuda_compile
    short = family.device_text(module, target)
    for step in stage_b(target, 2, False):
        step.run(module)
    return short, family.converted_text(gpu_modules(module)[0], target)


def metadata(kernel: RepositoryKernel, arch: str, folder: Path) -> dict[str, Any]:
    (found,) = kernel_metadata(compiled(kernel, arch).device_binary, folder).values()
    return found


@pytest.mark.parametrize("threads", [64, 128, 1024])
def test_block_size(threads: int, tmp_path: Path) -> None:
    kernel = kernel_with(threads, known=(threads, 1, 1))
    for text in both_texts(kernel, "gfx942"):
        assert f'"amdgpu-flat-work-group-size"="{threads},{threads}"' in text
        assert "!reqd_work_group_size" in text
    found = metadata(kernel, "gfx942", tmp_path)
    assert found[".reqd_workgroup_size"] == [threads, 1, 1]
    assert found[".max_flat_workgroup_size"] == threads
    for text in both_texts(kernel, "sm_90a"):
        assert f'"nvvm.reqntid"="{threads},1,1"' in text
    assert f".reqntid {threads}, 1, 1" in compiled(kernel, "sm_90a").device_binary.decode()


def test_waves_per_eu() -> None:
    for text in both_texts(kernel_with(rocdl__waves_per_eu=2), "gfx942"):
        assert '"amdgpu-waves-per-eu"="2"' in text
    for text in both_texts(kernel_with(), "gfx942"):
        assert "waves-per-eu" not in text


@pytest.mark.parametrize("arch, number", [("gfx942", 20), ("gfx1201", 40)])
def test_register_cap_on_amd(arch: str, number: int, tmp_path: Path) -> None:
    """The cap counts all registers; where accumulation registers share the file, LLVM is told half of it."""
    free = metadata(kernel_with(), arch, tmp_path)[".vgpr_count"]
    assert free > 40
    capped = kernel_with(fly__maxnreg=40)
    for text in both_texts(capped, arch):
        assert f'"amdgpu-num-vgpr"="{number}"' in text
    assert metadata(capped, arch, tmp_path)[".vgpr_count"] <= 40


def test_vector_registers_on_amd() -> None:
    for text in both_texts(kernel_with(rocdl__num_vgpr=40), "gfx942"):
        assert '"amdgpu-num-vgpr"="40"' in text


@pytest.mark.parametrize("name", ["fly__maxnreg", "nvvm__maxnreg"])
def test_register_cap_on_nvidia(name: str) -> None:
    attributes: dict[str, Any] = {name: 40}
    capped = kernel_with(**attributes)
    for text in both_texts(capped, "sm_90a"):
        assert '"nvvm.maxnreg"="40"' in text
    assert ".maxnreg 40" in compiled(capped, "sm_90a").device_binary.decode()


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_float_modes(arch: str) -> None:
    flush = '"denormal-fp-math-f32"="preserve-sign,preserve-sign"'
    for text in both_texts(kernel_with(), arch):
        assert flush not in text and "fp-math" not in text
    for text in both_texts(kernel_with(fly__flush_denormals=1), arch):
        assert flush in text and "no-nans" not in text
    for text in both_texts(kernel_with(fly__fast_fp_math=1), arch):
        assert flush in text and '"no-nans-fp-math"="true"' in text
    for text in both_texts(kernel_with(fly__unsafe_fp_math=1), arch):
        assert '"unsafe-fp-math"="true"' in text


@pytest.mark.parametrize("arch, lanes", [("gfx90a", 64), ("gfx942", 64), ("gfx1100", 32), ("gfx1201", 32),
                                         ("gfx1250", 32)])  # fmt: skip
def test_wave_size(arch: str, lanes: int, tmp_path: Path) -> None:
    assert metadata(kernel_with(), arch, tmp_path)[".wavefront_size"] == lanes


def test_clusters() -> None:
    for text in both_texts(kernel_with(fly__cluster="2,1,1"), "gfx1250"):
        assert '"amdgpu-cluster-dims"="2,1,1"' in text

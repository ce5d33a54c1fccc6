"""The short way to LLVM text and the passes of stage B end in the same code.

Every kernel of the repository is compiled both ways; after LLVM's optimiser the two must be equal up to names.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.backends.cuda import compile as cuda_compile
from flydsl.backends.pipeline import stage_b
from flydsl.backends.rocm import compile as rocm_compile
from flydsl.codegen.llvm_build import optimised_text
from flydsl.expr.numbers.math_table import FLOAT_FUNCTIONS
from flydsl.passes.shared.walk import gpu_modules
from flydsl.target.target import Target
from tests.codegen.llvm_normal_form import normalised
from tests.codegen.repository_kernels import KERNELS, RepositoryKernel, after_stage_a, cases


def optimised(text: str, target: Target) -> str:
    if target.backend == "rocm":
        triple, features = rocm_compile.TRIPLE, rocm_compile.features_of(target)
    else:
        triple, features = cuda_compile.TRIPLE, cuda_compile.FEATURES[target.arch]
    return normalised(optimised_text(text, triple, target.arch, features))


@pytest.mark.parametrize(
    "kernel, arch", cases("gfx942", "sm_90a"), ids=lambda value: getattr(value, "name", value)
)  # fmt: skip
def test_every_kernel(kernel: RepositoryKernel, arch: str) -> None:
    assert_same_both_ways(kernel, arch)


def assert_same_both_ways(kernel: RepositoryKernel, arch: str) -> None:
    module, target = after_stage_a(kernel, arch)
    family = rocm_compile if target.backend == "rocm" else cuda_compile
    short = family.device_text(module, target)
    for step in stage_b(target, 2, False):
        step.run(module)
    (gpu_module,) = gpu_modules(module)
    assert optimised(family.converted_text(gpu_module, target), target) == optimised(short, target)


def _math_functions(arch: str) -> Any:
    """Every function of one number, by instructions or by our own arithmetic as the family has it."""

    @flyc.kernel
    def apply_kernel(x: fx.Tensor):
        i = fx.thread_idx.x
        for name in FLOAT_FUNCTIONS:
            x[i] = getattr(fx.math, name)(x[i])
        x[i] = fx.math.powf(x[i], fx.math.atan2(x[i], 2.0))

    @flyc.jit
    def apply_all(x: fx.Tensor):
        apply_kernel(x).launch(block=(32, 1, 1))

    return apply_all, (np.zeros(32, np.float32),)


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_math_functions(arch: str) -> None:
    assert_same_both_ways(RepositoryKernel("math_functions", _math_functions), arch)


def _numbers(arch: str) -> Any:
    """Atomics of every kind, fences, and conversions to 128-bit integers and fp8."""

    @flyc.kernel
    def numbers_kernel(x: fx.Tensor, pairs: fx.Tensor, out: fx.Tensor):
        i = fx.thread_idx.x
        for op in ("add", "max", "exchange"):
            fx.atomic(op, x, 1.0, at=i)
            out[i] = fx.atomic(op, x, 2.0, at=i, order="acq_rel", scope="system")
        fx.atomic("add", pairs, fx.Vector.filled(2, 1.0, fx.Float16), at=(i, None))
        out[i] = fx.atomic("compare_exchange", x, 2.0, at=i, expected=1.0, order="seq_cst", scope="block")
        fx.fence("system")
        for narrow in (fx.Float8E4M3FN, fx.Float8E5M2, fx.Float8E4M3FNUZ):
            x[i] = x[i].to(narrow).to(fx.Float32)
            out[i] = fx.Vector.from_elements([x[i]] * 3, fx.Float32).to(narrow).to(fx.Float32)[2]
        four = fx.Vector.from_elements([x[i]] * 8, fx.Float32).to(fx.Float4E2M1FN)
        out[i] = four.to(fx.Float32)[3]
        wide = x[i].to(fx.Int128)
        out[i] = (wide * wide).to(fx.Float32) + wide.to(fx.BFloat16).to(fx.Float32)

    @flyc.jit
    def combine(x: fx.Tensor, pairs: fx.Tensor, out: fx.Tensor):
        numbers_kernel(x, pairs, out).launch(block=(32, 1, 1))

    x = np.zeros(32, np.float32)
    return combine, (x, flyc.from_dlpack(np.zeros((32, 2), np.float16), assumed_align=4), x)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1250", "sm_80", "sm_90a"])
def test_atomics_and_conversions(arch: str) -> None:
    assert_same_both_ways(RepositoryKernel("numbers", _numbers), arch)


def test_no_kernel_is_forgotten(repository: Path) -> None:
    """A file of kernels/ that builds a kernel is compiled by the tests of this folder."""
    listed = (Path(__file__).parent / "repository_kernels.py").read_text(encoding="utf-8")
    for file in sorted((repository / "kernels").rglob("*.py")):
        builders = re.findall(r"^def ((?:build|compile)_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
        assert not builders or any(name in listed for name in builders), f"list {file} in repository_kernels.py"
    assert len({kernel.name for kernel in KERNELS}) == len(KERNELS)

"""Every example and kernel as PTX, and single instructions that device code must have or must refuse."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.codegen.amd_tools import disassembled
from tests.codegen.repository_kernels import KERNELS, NVIDIA, RepositoryKernel, cases, compiled

VECTOR_ADD = KERNELS[0]


def test_vector_add_moves_128_bits_at_once(tmp_path: Path) -> None:
    isa = disassembled(compiled(VECTOR_ADD, "gfx942").device_binary, tmp_path)
    assert isa.count("global_load_dwordx4") == 2
    assert isa.count("global_store_dwordx4") == 1


@pytest.mark.parametrize("kernel, arch", cases(*NVIDIA), ids=lambda value: getattr(value, "name", value))
def test_ptx(kernel: RepositoryKernel, arch: str) -> None:
    artifact = compiled(kernel, arch)
    text = artifact.device_binary.decode()
    assert f".target {arch}" in text
    for symbol in artifact.kernels:
        assert f".entry {symbol}(" in text
    assert "__local_depot" not in text, "registers went to local memory"


def test_ptx_moves_128_bits_at_once() -> None:
    text = compiled(VECTOR_ADD, "sm_90a").device_binary.decode()
    assert text.count("ld.global.v4") == 2
    assert text.count("st.global.v4") == 1


def _printing(arch: str) -> tuple[Any, tuple[Any, ...]]:
    import flydsl.compiler as flyc
    import flydsl.expr as fx

    @flyc.kernel
    def print_kernel(x: fx.Tensor):
        fx.printf("{} {}", fx.thread_idx.x, x[0])

    @flyc.jit
    def print_all(x: fx.Tensor):
        print_kernel(x).launch()

    return print_all, (np.zeros(4, np.float32),)


PRINTING = RepositoryKernel("printing", _printing)


def test_printf_on_nvidia_calls_the_driver() -> None:
    code = compiled(PRINTING, "sm_90a").device_binary.decode()
    assert "vprintf" in code
    text = bytes(map(int, re.findall(r"text_\$_0\[\d+\] = \{([^}]*)\}", code)[0].split(", ")))
    assert text == b"%ld %-.9g\n", "nine digits tell every f32 apart"


def test_printf_on_amd_says_where_it_works() -> None:
    with pytest.raises(RuntimeError, match="host device"):
        compiled(PRINTING, "gfx942")


def test_products_of_a_stage_share_what_their_descriptors_have_in_common() -> None:
    """Four wgmma of a stage differ by constants: the address of A and that of B are shifted once each."""
    kernel = next(kernel for kernel in KERNELS if kernel.name == "hopper_gemm")
    text = compiled(kernel, "sm_90a").device_binary.decode()
    stage = text[text.index("wgmma.fence") : text.index("wgmma.commit_group")]
    assert stage.count("wgmma.mma_async") == 4
    assert len(re.findall(r"\bshr\.[ub]", stage)) <= 2, stage


def test_results_of_16_bits_leave_by_four_matrices_at_once() -> None:
    """A thread's 128 sums are 64 words, four of which an instruction writes to shared memory."""
    kernel = next(kernel for kernel in KERNELS if kernel.name == "hopper_gemm")
    text = compiled(kernel, "sm_90a").device_binary.decode()
    assert re.findall(r"stmatrix\.[\w.]*\.(x\d)\.", text) == ["x4"] * 16

"""Every example and kernel as device code of every GPU it supports: it assembles, links and says what it should."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flydsl.compiler.adapted import Adapted
from flydsl.compiler.artifact import Artifact
from flydsl.compiler.driver import compile_module
from flydsl.compiler.jit_argument import adapt
from flydsl.compiler.trace import trace
from flydsl.target.target import known_archs, parse_target
from kernels.norm.layernorm import build_layernorm_module
from kernels.norm.rmsnorm import build_rmsnorm_module
from kernels.norm.softmax import build_softmax_module
from tests.kernels.examples import load

AMD = [arch for arch in known_archs() if arch.startswith("gfx")]
NVIDIA = [arch for arch in known_archs() if arch.startswith("sm_")]


def vector_add() -> tuple[Any, tuple[Any, ...]]:
    x = np.zeros(1024, np.float32)
    return load("01-vectorAdd").vector_add, (x, x, x, 1024)


def matrix_add() -> tuple[Any, tuple[Any, ...]]:
    x = np.zeros((33, 65), np.float32)
    return load("01-vectorAdd").matrix_add, (x, x, x, 33, 65)


def copy_rows() -> tuple[Any, tuple[Any, ...]]:
    x = np.zeros((64, 64), np.float32)
    return load("02-tiledCopy").copy_rows, (x, x, 64, 64)


def softmax() -> tuple[Any, tuple[Any, ...]]:
    x = np.zeros((4, 4096), np.float16)
    return build_softmax_module(4, 4096, "f16"), (x, x, 4)


def rmsnorm() -> tuple[Any, tuple[Any, ...]]:
    x = np.zeros((4, 1000), np.float32)
    return build_rmsnorm_module(1000, "f32"), (x, x[0], x, 4)


def layernorm() -> tuple[Any, tuple[Any, ...]]:
    x = np.zeros((4, 4096), np.float16)
    return build_layernorm_module(4096, "f16"), (x, x[0], x[0], x, 4)


KERNELS: list[Callable[[], tuple[Any, tuple[Any, ...]]]] = [
    vector_add,
    matrix_add,
    copy_rows,
    softmax,
    rmsnorm,
    layernorm,
]


def compiled(make: Callable[[], tuple[Any, tuple[Any, ...]]], arch: str) -> Artifact:
    """The artifact of a kernel for the real device of a target."""
    function, args = make()
    values = function.signature.bind(args, {})
    adapted = [Adapted(adapt(v, a)) for v, a in zip(values, function.signature.annotations, strict=True)]
    target = parse_target(arch)
    module, formats = trace(function.func, adapted, target)
    return compile_module(module, function.__name__, target, target.backend, formats)


def tool(name: str) -> str:
    found = shutil.which(f"{name}-22") or shutil.which(name)
    if found is None:
        from tests.conftest import missing

        missing(name, "install llvm-22")
        raise AssertionError
    return found


def disassembled(data: bytes, folder: Path) -> str:
    path = folder / "kernel.hsaco"
    path.write_bytes(data)
    return subprocess.run([tool("llvm-objdump"), "-d", str(path)], capture_output=True, text=True, check=True).stdout


def notes(data: bytes, folder: Path) -> str:
    path = folder / "kernel.hsaco"
    path.write_bytes(data)
    return subprocess.run(
        [tool("llvm-readobj"), "--notes", str(path)], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("arch", AMD)
@pytest.mark.parametrize("make", KERNELS, ids=lambda make: make.__name__)
def test_code_object(make: Callable[[], tuple[Any, tuple[Any, ...]]], arch: str, tmp_path: Path) -> None:
    artifact = compiled(make, arch)
    text = notes(artifact.device_binary, tmp_path)
    assert f"amdgcn-amd-amdhsa--{arch}" in text
    for kernel in artifact.kernels:
        assert f".name:           {kernel}" in text
    assert re.findall(r"\.vgpr_spill_count: (\d+)", text) == ["0"]
    assert "s_endpgm" in disassembled(artifact.device_binary, tmp_path)


def test_vector_add_moves_128_bits_at_once(tmp_path: Path) -> None:
    isa = disassembled(compiled(vector_add, "gfx942").device_binary, tmp_path)
    assert isa.count("global_load_dwordx4") == 2
    assert isa.count("global_store_dwordx4") == 1


@pytest.mark.parametrize("arch", NVIDIA)
@pytest.mark.parametrize("make", KERNELS, ids=lambda make: make.__name__)
def test_ptx(make: Callable[[], tuple[Any, tuple[Any, ...]]], arch: str) -> None:
    artifact = compiled(make, arch)
    text = artifact.device_binary.decode()
    assert f".target {arch}" in text
    for kernel in artifact.kernels:
        assert f".entry {kernel}(" in text
    assert "__local_depot" not in text, "registers went to local memory"


def test_ptx_moves_128_bits_at_once() -> None:
    text = compiled(vector_add, "sm_90a").device_binary.decode()
    assert text.count("ld.global.v4") == 2
    assert text.count("st.global.v4") == 1


def printing() -> tuple[Any, tuple[Any, ...]]:
    import flydsl.compiler as flyc
    import flydsl.expr as fx

    @flyc.kernel
    def print_kernel(x: fx.Tensor):
        fx.printf("{} {}", fx.thread_idx.x, x[0])

    @flyc.jit
    def print_all(x: fx.Tensor):
        print_kernel(x).launch()

    return print_all, (np.zeros(4, np.float32),)


def test_printf_on_nvidia_calls_the_driver() -> None:
    assert "vprintf" in compiled(printing, "sm_90a").device_binary.decode()


def test_printf_on_amd_says_where_it_works() -> None:
    with pytest.raises(RuntimeError, match="host device"):
        compiled(printing, "gfx942")

"""Every row of the matrix-instruction tables is real: LLVM selects it, ptxas accepts it, MLIR has its operation."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from flydsl.codegen.llvm_build import AMDGPU_TRIPLE, NVPTX_TRIPLE, emit_assembly
from flydsl.target.mma_catalogue import matrix_instructions
from flydsl.target.mma_cdna import Mfma, MfmaScale
from flydsl.target.mma_nvidia import MmaSync
from flydsl.target.mma_rdna import Wmma, WmmaScale
from flydsl.target.mma_warpgroup import Wgmma
from flydsl.target.target import known_archs, parse_target
from tests.conftest import missing
from tests.support.mma_kernels import mlir_text, module_text

AMD = [arch for arch in known_archs() if arch.startswith("gfx")]
NVIDIA = [arch for arch in known_archs() if arch.startswith("sm_")]

PTX = "+ptx87"
WGMMA_COLUMNS = (8, 24, 32, 256)
"""Of the 32 widths of wgmma these are compiled; the others differ in a number only."""


MATRIX_MNEMONIC = r"\b(?:v_mfma|v_wmma|v_swmmac|v_smfmac|mma|wgmma\.mma_async)[\w.:]*[ \n\t]"


def compiled_ops(arch: str) -> list[Any]:
    every = matrix_instructions(parse_target(arch))
    return [op for op in every if not isinstance(op, Wgmma) or op.n in WGMMA_COLUMNS]


@cache
def whole_assembly(arch: str) -> str:
    target = parse_target(arch)
    text = module_text(compiled_ops(arch), target.backend)
    if target.backend == "rocm":
        return emit_assembly(text, AMDGPU_TRIPLE, arch, level=1)
    return emit_assembly(text, NVPTX_TRIPLE, arch, PTX, level=1)


@cache
def kernels_of(arch: str) -> dict[str, str]:
    """Kernel name to its part of the assembly."""
    starts = r"^(k\d+):" if arch.startswith("gfx") else r"^\.visible \.entry (k\d+)\("
    _, *pieces = re.split(starts, whole_assembly(arch), flags=re.MULTILINE)
    return dict(zip(pieces[::2], pieces[1::2], strict=True))


_AMD_TYPES = {"f8E4M3FN": "fp8", "f8E4M3FNUZ": "fp8", "f8E5M2": "bf8", "f8E5M2FNUZ": "bf8"}


def expected(op: Any) -> str:
    """A pattern of the mnemonic, from the shape and types alone."""
    if isinstance(op, (MmaSync, Wgmma)):
        return re.escape(op.mnemonic()) + r"\b"
    shape = "x".join(map(str, op.shape_mnk))
    if isinstance(op, MfmaScale):
        return rf"v_mfma_scale_f32_{shape}_f8f6f4 "
    if isinstance(op, WmmaScale):
        kind = "scale16" if op.block_size == 16 else "scale"
        return rf"v_wmma_{kind}_f32_{shape}_{'f4' if op.m == 32 else 'f8f6f4'} "
    a, b = (_AMD_TYPES.get(elem, elem) for elem in op.elem_types[:2])
    types = f"{a}_{b}" if op.elem_a in _AMD_TYPES else a
    if isinstance(op, Wmma):
        unsigned_or_not = re.sub(r"^i(?=[48]$)", "iu", types)
        return rf"v_wmma_{op.elem_c}_{shape}_{unsigned_or_not} "
    assert isinstance(op, Mfma)
    blocks = rf"(?:_{op.blocks}b_|_?)" if op.blocks > 1 else "_?"
    return rf"v_mfma_{op.elem_c}_{shape}{blocks}{types}(?:_1k)? "


def cases() -> list[Any]:
    return [
        pytest.param(arch, index, id=f"{arch}-{op}")
        for arch in known_archs()
        for index, op in enumerate(compiled_ops(arch))
    ]


@pytest.mark.parametrize(("arch", "index"), cases())
def test_llvm_selects_the_instruction(arch: str, index: int) -> None:
    op = compiled_ops(arch)[index]
    found = re.findall(MATRIX_MNEMONIC, kernels_of(arch)[f"k{index}"])
    assert len(found) == 1, f"{op}: {found}"
    assert re.match(expected(op), found[0]), f"{op}: {found[0]!r} is not {expected(op)}"


@pytest.mark.parametrize("arch", NVIDIA)
def test_ptxas_accepts_the_instructions(arch: str, tmp_path: Path) -> None:
    """LLVM does not read inline PTX; NVIDIA's assembler does, and it also knows what each sm has."""
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        pytest.skip("ptxas is not installed: it comes with CUDA")
    source = tmp_path / "mma.ptx"
    source.write_text(whole_assembly(arch), encoding="utf-8")
    command = [ptxas, f"-arch={arch}", str(source), "-o", str(tmp_path / "mma.cubin")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arch", AMD)
def test_mlir_has_the_operation(arch: str) -> None:
    """Upstream translates the dialect's operation to the very intrinsic of the table, argument for argument."""
    translate = shutil.which("mlir-translate-22")
    if translate is None:
        missing("mlir-translate-22", "install Debian's mlir-22-tools")
    ops = compiled_ops(arch)
    done = subprocess.run([str(translate), "--mlir-to-llvmir"], input=mlir_text(ops), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    calls = re.findall(r"call [^@]*@([\w.]+)\((.*)\)", done.stdout)
    assert len(calls) == len(ops)
    for op, (name, arguments) in zip(ops, calls, strict=True):
        call = op.intrinsic()
        assert name == call.name
        given = re.findall(r"(?:^|, )((?:<[^>]*>|\w+) (?:%?[\w.-]+))", arguments)
        wanted = [f"{s.type.llvm} {_literal(s)}" if s.value is not None else s.type.llvm for s in call.slots]
        assert len(given) == len(wanted), f"{op}: {arguments}"
        assert all(have.startswith(want) for have, want in zip(given, wanted, strict=True)), f"{op}: {arguments}"


def _literal(slot: Any) -> str:
    if slot.type.llvm == "i1":
        return "true" if slot.value else "false"
    return str(slot.value)


def test_tables_are_complete() -> None:
    """How many instructions each target has; a change here is a change of the language."""
    counts = {arch: len(matrix_instructions(parse_target(arch))) for arch in known_archs()}
    assert counts == {
        "gfx90a": 26, "gfx942": 29, "gfx950": 85, "gfx1100": 4, "gfx1151": 4, "gfx1200": 11, "gfx1201": 11,
        "gfx1250": 74, "sm_80": 33, "sm_90a": 964,
    }  # fmt: skip

"""Every example and kernel as a code object of every AMD target: LLVM's tools read it, and its metadata is right."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import IntegerType
from xdsl.dialects.llvm import LLVMArrayType, LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, Operation

from flydsl.backends.device_code import block_size, kernel_functions
from flydsl.base.errors import LoweringError
from flydsl.codegen import code_object
from flydsl.codegen.amd_link import Unlinkable
from flydsl.compiler.lowering import driver
from flydsl.compiler.lowering.driver import compile_module
from flydsl.passes.shared.walk import gpu_modules
from tests.codegen.amd_tools import disassembled, kernel_metadata, notes
from tests.codegen.repository_kernels import RepositoryKernel, cases, traced

TARGETS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")


def extent(type_: Attribute) -> tuple[int, int]:
    """Size and alignment in bytes, as C has them."""
    if isinstance(type_, LLVMPointerType):
        return 8, 8
    if isinstance(type_, LLVMStructType):
        at, widest = 0, 1
        for size, align in map(extent, type_.types.data):
            at, widest = -(-at // align) * align + size, max(widest, align)
        return -(-at // widest) * widest, widest
    if isinstance(type_, LLVMArrayType):
        size, align = extent(type_.type)
        return size * type_.size.data, align
    bits = type_.width.data if isinstance(type_, IntegerType) else type_.bitwidth  # type: ignore[union-attr]
    return max(bits // 8, 1), max(bits // 8, 1)


def expected_arguments(kernel: Operation) -> list[dict[str, Any]]:
    """Offset, size and kind of each argument of a kernel, from its types after stage A."""
    rows, at = [], 0
    for argument in kernel.regions[0].blocks[0].args:
        size, align = extent(argument.type)
        at = -(-at // align) * align
        pointer = isinstance(argument.type, LLVMPointerType)
        row: dict[str, Any] = {".offset": at, ".size": size, ".value_kind": "global_buffer" if pointer else "by_value"}
        rows.append(row | ({".address_space": "global"} if pointer else {}))
        at += size
    return rows


def shared_bytes(module: Operation) -> int:
    """What the module's shared globals take; memory sized by the launch counts as nothing."""
    total = 0
    for gpu_module in gpu_modules(module):
        for op in gpu_module.walk():
            if op.name == "llvm.mlir.global" and op.properties["addr_space"].value.data == 3:  # type: ignore[union-attr]
                size, align = extent(op.properties["global_type"])
                total = -(-total // align) * align + size
    return total


def check_metadata(found: dict[str, Any], kernel: Operation, wave_size: int, lds: int) -> None:
    given = [row for row in found[".args"] if not str(row[".value_kind"]).startswith("hidden_")]
    rows = [{key: value for key, value in row.items() if key != ".name"} for row in given]
    wanted = expected_arguments(kernel)
    assert rows == wanted
    end = wanted[-1][".offset"] + wanted[-1][".size"]
    hidden = len(given) != len(found[".args"])
    assert found[".kernarg_segment_size"] >= end if hidden else found[".kernarg_segment_size"] == end
    assert found[".kernarg_segment_align"] == 8
    assert found[".wavefront_size"] == wave_size
    assert found[".group_segment_fixed_size"] == lds
    sizes = block_size(kernel)
    assert sizes is not None
    assert found[".reqd_workgroup_size"] == sizes
    assert found[".max_flat_workgroup_size"] == sizes[0] * sizes[1] * sizes[2]
    assert found[".vgpr_spill_count"] == found[".sgpr_spill_count"] == 0
    assert found[".private_segment_fixed_size"] == 0, "registers went to scratch memory"


@pytest.mark.parametrize("kernel, arch", cases(*TARGETS), ids=lambda value: getattr(value, "name", value))
def test_code_object(kernel: RepositoryKernel, arch: str, tmp_path: Path) -> None:
    module, name, formats, target = traced(kernel, arch)
    artifact = compile_module(module, name, target, "rocm", formats)
    found = kernel_metadata(artifact.device_binary, tmp_path)
    assert tuple(found) == artifact.kernels
    assert f"amdgcn-amd-amdhsa--{arch}" in notes(artifact.device_binary, tmp_path)
    for op in kernel_functions(module):
        symbol = op.attributes["sym_name"].data  # type: ignore[union-attr]
        check_metadata(found[symbol], op, target.wave_size, shared_bytes(module))
    isa = disassembled(artifact.device_binary, tmp_path)
    assert "s_endpgm" in isa
    assert "<unknown>" not in isa


def test_no_linker_outlives_a_launcher_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[str]] = []
    popen = subprocess.Popen

    def recorded(*args: Any, **options: Any) -> subprocess.Popen[str]:
        started.append(popen(*args, **options))
        return started[-1]

    def refuse(*args: Any, **options: Any) -> bytes:
        raise LoweringError("no launcher today")

    def refuse_to_link(data: bytes) -> bytes:
        raise Unlinkable("not today")

    kernel, arch = cases("gfx942")[0]
    module, name, formats, target = traced(kernel, arch)
    monkeypatch.setattr(subprocess, "Popen", recorded)
    monkeypatch.setattr(code_object, "linked", refuse_to_link)  # so that a linker is started
    monkeypatch.setattr(driver, "emit_object", refuse)
    with pytest.raises(LoweringError, match="no launcher today"):
        compile_module(module, name, target, "rocm", formats)
    assert [process.returncode for process in started] == [0], "nobody waited for the linker"

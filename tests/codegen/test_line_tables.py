"""With FLYDSL_DEBUG_ENABLE_DEBUG_INFO every instruction of a kernel names the user's line it came from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flydsl.backends.rocm.compile import device_text, isa_of
from flydsl.codegen.llvm_build import parse_and_verify
from tests.codegen.amd_tools import read_with
from tests.codegen.repository_kernels import KERNELS, after_stage_a, compiled

LOCATION = re.compile(r"\s+\.loc\s+(\d+) (\d+)")
FILE = re.compile(r'\s+\.file\s+(\d+) "([^"]*)" "([^"]*)"')
INSTRUCTION = re.compile(r"\s+(s|v|global|ds|buffer|flat|scratch)_\w")
SHARE = 0.99


def located_instructions(assembly: str) -> list[tuple[str, str, int]]:
    """(instruction, file, line) of every instruction up to the kernel's end; line 0 where it has none."""
    files: dict[int, str] = {}
    file, line = "", 0
    found: list[tuple[str, str, int]] = []
    for text in assembly.splitlines():
        if match := FILE.match(text):
            files[int(match[1])] = f"{match[2]}/{match[3]}"
        elif match := LOCATION.match(text):
            file, line = files[int(match[1])], int(match[2])
        elif INSTRUCTION.match(text):
            found.append((text.strip(), file, line))
            if "s_endpgm" in text:
                break
    return found


@pytest.mark.parametrize("name", ["vector_add", "copy_rows", "tiled_mma", "softmax"])
@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_instructions_have_lines(name: str, arch: str) -> None:
    module, target = after_stage_a(next(kernel for kernel in KERNELS if kernel.name == name), arch)
    found = located_instructions(isa_of(device_text(module, target, line_tables=True), target, 2))
    assert len(found) > 10
    assert sum(1 for _, _, line in found if line) >= SHARE * len(found)
    for instruction, file, line in found:
        source = Path(file).read_text(encoding="utf-8").splitlines()
        assert 0 < line <= len(source) and source[line - 1].strip(), (instruction, file, line)


def test_lines_are_the_right_ones(repository: Path) -> None:
    module, target = after_stage_a(next(kernel for kernel in KERNELS if kernel.name == "tiled_mma"), "gfx942")
    found = located_instructions(isa_of(device_text(module, target, line_tables=True), target, 2))
    source = (repository / "examples" / "03-tiledMma.py").read_text(encoding="utf-8").splitlines()
    by_kind = {instruction.split()[0]: source[line - 1] for instruction, _, line in found}
    assert "fx.gemm(" in by_kind["v_mfma_f32_16x16x16_f16"]
    assert "copy_c.partition_D" in by_kind["global_store_dword"]
    loads = {source[line - 1].strip() for instruction, _, line in found if instruction.startswith("global_load")}
    assert all(any(f"copy_{operand}.partition_S" in line for line in loads) for operand in "ab")


def test_helpers_keep_their_own_file(repository: Path) -> None:
    module, target = after_stage_a(next(kernel for kernel in KERNELS if kernel.name == "softmax"), "gfx942")
    found = located_instructions(isa_of(device_text(module, target, line_tables=True), target, 2))
    files = {Path(file).name for _, file, _ in found}
    assert {"softmax.py", "reduce.py", "rows.py"} <= files


def test_the_code_object_has_them_on_request_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plain = compiled(KERNELS[0], "gfx942").device_binary
    monkeypatch.setenv("FLYDSL_DEBUG_ENABLE_DEBUG_INFO", "1")
    located = compiled(KERNELS[0], "gfx942").device_binary
    assert b".debug_line" not in plain and b".debug_line" in located
    assert "01-vectorAdd.py:" in read_with("llvm-objdump", ["-d", "-l"], located, tmp_path)


def test_ptx_has_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_DEBUG_ENABLE_DEBUG_INFO", "1")
    text = compiled(KERNELS[0], "sm_90a").device_binary.decode()
    assert re.search(r"\.file\s+\d+ .*01-vectorAdd\.py", text) and "\t.loc\t" in text


def test_line_tables_change_no_instruction() -> None:
    kernel = next(kernel for kernel in KERNELS if kernel.name == "softmax")
    module, target = after_stage_a(kernel, "gfx942")
    parse_and_verify(device_text(module, target, line_tables=True))
    plain, located = (
        [text for text, _, _ in located_instructions(isa_of(device_text(module, target, flag), target, 2))]
        for flag in (False, True)
    )
    assert sorted(plain) == sorted(located)

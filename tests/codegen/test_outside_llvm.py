"""FLYDSL_COMPILE_LLVM_DIR: another LLVM's llc and ld.lld make the device binary."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flydsl.base.errors import LoweringError
from tests.codegen.amd_tools import disassembled, kernel_metadata, tool
from tests.codegen.repository_kernels import KERNELS, compiled


@pytest.fixture
def llvm_bin() -> Path:
    """The bin folder of an installed LLVM 22 that has llc and ld.lld."""
    folder = Path(os.path.realpath(tool("llc"))).parent
    if not (folder / "ld.lld").exists():
        pytest.skip(f"{folder} has no ld.lld: install lld-22")
    return folder


def mnemonics(data: bytes, folder: Path) -> list[str]:
    lines = disassembled(data, folder).splitlines()
    return [line.split()[0] for line in lines if line.startswith("\t")]


@pytest.mark.parametrize("above", [False, True], ids=["bin", "prefix"])
def test_its_code_object_is_like_ours(
    above: bool, llvm_bin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = next(kernel for kernel in KERNELS if kernel.name == "tiled_mma")
    ours = compiled(kernel, "gfx942").device_binary
    monkeypatch.setenv("FLYDSL_COMPILE_LLVM_DIR", str(llvm_bin.parent if above else llvm_bin))
    theirs = compiled(kernel, "gfx942").device_binary
    assert kernel_metadata(theirs, tmp_path).keys() == kernel_metadata(ours, tmp_path).keys()
    count = "v_mfma_f32_16x16x16_f16"
    assert mnemonics(theirs, tmp_path).count(count) == mnemonics(ours, tmp_path).count(count) > 0


def test_it_is_really_used(llvm_bin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of wrappers that leave a trace."""
    for name in ("llc", "ld.lld"):
        script = tmp_path / name
        script.write_text(f'#!/bin/sh\ntouch "{tmp_path}/{name}.ran"\nexec "{llvm_bin / name}" "$@"\n')
        script.chmod(0o755)
    monkeypatch.setenv("FLYDSL_COMPILE_LLVM_DIR", str(tmp_path))
    assert compiled(KERNELS[0], "gfx942").device_binary.startswith(b"\x7fELF")
    assert (tmp_path / "llc.ran").exists() and (tmp_path / "ld.lld.ran").exists()


def test_ptx_comes_from_it_too(llvm_bin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_COMPILE_LLVM_DIR", str(llvm_bin))
    assert ".entry" in compiled(KERNELS[0], "sm_90a").device_binary.decode()


def test_a_folder_without_llvm_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_COMPILE_LLVM_DIR", str(tmp_path))
    with pytest.raises(LoweringError, match="has no llc"):
        compiled(KERNELS[0], "gfx942")


def test_what_it_complains_about_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "llc"
    script.write_text("#!/bin/sh\necho 'too old for this' >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setenv("FLYDSL_COMPILE_LLVM_DIR", str(tmp_path))
    with pytest.raises(LoweringError, match="too old for this"):
        compiled(KERNELS[0], "gfx942")

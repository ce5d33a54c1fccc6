"""The files of `FLYDSL_DUMP_IR=1`: their names are API, and `fly-opt` reads them back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flydsl.tools.fly_opt import run
from tests.codegen.repository_kernels import KERNELS, compiled
from tests.kernels.examples import load
from tests.support.log import Log

BEFORE_THE_BINARY = (
    "00_origin.mlir",
    "01_fly_rewrite_func_signature.mlir",
    "02_fly_canonicalize.mlir",
    "03_fly_layout_lowering.mlir",
    "04_fly_int_swizzle_simplify.mlir",
    "05_canonicalize.mlir",
    "06_fly_convert_atom_call_to_ssa_form.mlir",
    "07_fly_promote_regmem_to_vectorssa.mlir",
    "08_convert_fly_to_{dialect}.mlir",
    "09_canonicalize.mlir",
    "10_convert_scf_to_cf_cse_convert_gpu_to_{dialect}.mlir",
    "11_{dialect}_attach_target.mlir",
    "12_convert_scf_to_cf.mlir",
    "13_convert_cf_to_llvm.mlir",
    "14_gpu_to_llvm.mlir",
    "15_convert_vector_to_llvm.mlir",
    "16_convert_arith_to_llvm.mlir",
    "17_convert_func_to_llvm.mlir",
    "18_reconcile_unrealized_casts.mlir",
)
DIALECTS = {"gfx942": "rocdl", "gfx1201": "rocdl", "sm_90a": "nvvm"}
OPTIONAL = ".sass"
"""Written where NVIDIA's tools are installed."""


def expected(arch: str, debug_info: bool = False) -> list[str]:
    names = [name.format(dialect=DIALECTS[arch]) for name in BEFORE_THE_BINARY]
    names += ["19_ensure_debug_info_scope_on_llvm_func.mlir"] if debug_info else []
    for name in ("gpu_module_to_binary.mlir", "llvm_ir.ll", "final_isa.s"):
        names.append(f"{len(names):02d}_{name}")
    return names


@pytest.fixture
def dump_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLYDSL_DUMP_IR", "1")
    monkeypatch.setenv("FLYDSL_DUMP_DIR", str(tmp_path))
    return tmp_path


def written(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix != OPTIONAL)


def run_vector_add() -> None:
    a, b = np.arange(1024, dtype=np.float32), np.ones(1024, np.float32)
    c = np.full_like(a, np.nan)
    load("01-vectorAdd").vector_add(a, b, c, a.size)
    np.testing.assert_array_equal(c, a + b)


@pytest.mark.parametrize("arch", DIALECTS)
def test_the_host_device_writes_every_stage_of_its_target(
    arch: str, dump_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", arch)
    run_vector_add()
    (folder,) = dump_folder.iterdir()
    assert folder.name == "add_tiles", "one kernel gives the folder its name"
    assert written(folder) == [*expected(arch), "host.ll"]
    final = (folder / "21_final_isa.s").read_text()
    assert (f"amdhsa--{arch}" if arch.startswith("gfx") else f".target {arch}") in final
    assert "target triple" in (folder / "host.ll").read_text()


def test_a_gpu_device_writes_the_same(dump_folder: Path) -> None:
    compiled(KERNELS[0], "gfx942")
    (folder,) = dump_folder.iterdir()
    assert written(folder) == expected("gfx942")


def test_debug_info_adds_one_file(dump_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_DEBUG_ENABLE_DEBUG_INFO", "1")
    compiled(KERNELS[0], "gfx942")
    (folder,) = dump_folder.iterdir()
    assert written(folder) == expected("gfx942", debug_info=True)
    text = (folder / "19_ensure_debug_info_scope_on_llvm_func.mlir").read_text()
    assert "#llvm.di_subprogram<" in text and '01-vectorAdd.py":' in text
    # What was read back still says enough to make line tables.
    code, printed, wrong = run(["--gpu-module-to-binary=format=isa"], text)
    assert code == 0, wrong
    assert ".loc" in printed


@pytest.mark.parametrize("name", ["tiled_mma", "softmax"])
@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_fly_opt_reads_them_back(name: str, arch: str, dump_folder: Path) -> None:
    compiled(next(kernel for kernel in KERNELS if kernel.name == name), arch)
    (folder,) = dump_folder.iterdir()
    files = sorted(folder.glob("*.mlir"))
    assert len(files) == 20
    for file in files:
        text = file.read_text()
        code, printed, wrong = run(["--keep-names"], text)
        assert code == 0, f"{file.name}: {wrong}"
        assert printed.rstrip() == text.rstrip(), file.name


@pytest.mark.parametrize("arch", DIALECTS)
def test_the_assembly_alone(arch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_DEBUG_DUMP_ASM", "1")
    monkeypatch.setenv("FLYDSL_DUMP_DIR", str(tmp_path))
    monkeypatch.setenv("ARCH", arch)
    run_vector_add()
    (folder,) = tmp_path.iterdir()
    assert written(folder) == ["21_final_isa.s"]
    assert "add_tiles_0" in (folder / "21_final_isa.s").read_text()


def test_no_dump_is_written_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_DUMP_DIR", str(tmp_path))
    compiled(KERNELS[0], "gfx942")
    assert not list(tmp_path.iterdir())


def test_a_target_without_code_for_a_kernel_is_dumped_as_far_as_it_gets(
    dump_folder: Path, monkeypatch: pytest.MonkeyPatch, kept_log: Log
) -> None:
    import flydsl.compiler as flyc
    import flydsl.expr as fx

    @flyc.kernel
    def print_kernel(x: fx.Tensor):
        fx.printf("{}", x[0])

    @flyc.jit
    def print_all(x: fx.Tensor):
        print_kernel(x).launch()

    monkeypatch.setenv("ARCH", "gfx942")
    print_all(np.zeros(4, np.float32))
    (folder,) = dump_folder.iterdir()
    assert written(folder)[:10] == expected("gfx942")[:10]
    assert "21_final_isa.s" not in written(folder)
    assert "printing needs" in kept_log.text

"""A back end for a target that nobody has heard of, added from outside as one folder, compiles and runs kernels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.compiler.backends import base, families
from flydsl.compiler.lowering.mlir_compiler import MlirCompiler
from flydsl.target import family as family_table
from flydsl.target import target as target_table
from tests.backends.made_up.backend import AbacusBackend
from tests.backends.made_up.family import HEADER
from tests.backends.made_up.target import ABACUS, ABACUS_ONE

TABLES = (base._backends, families._families, family_table._families, target_table._TARGETS)


@pytest.fixture(autouse=True)
def abacus(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The back end, registered for one test, and its target chosen."""
    before = [dict(table) for table in TABLES]
    flyc.register_backend("abacus", AbacusBackend)
    monkeypatch.setenv(knobs.ARCH.name, "abacus1")
    yield
    for table, rows in zip(TABLES, before, strict=True):
        table.clear()
        table.update(rows)  # type: ignore[arg-type]


@flyc.kernel
def add_kernel(a: fx.Tensor, b: fx.Tensor, out: fx.Tensor, n: fx.Int32):
    i = fx.block_idx.x * 64 + fx.thread_idx.x
    if i < n:
        out[i] = a[i] + b[i]


@flyc.jit
def add(a: fx.Tensor, b: fx.Tensor, out: fx.Tensor, n: fx.Int32):
    add_kernel(a, b, out, n).launch(grid=((n + 63) // 64, 1, 1), block=(64, 1, 1))


@flyc.kernel
def neighbour_kernel(a: fx.Tensor, out: fx.Tensor):
    me = fx.thread_idx.x
    tile = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 64])
    tile[me] = a[me]
    fx.barrier()
    swapped = fx.shuffle_xor(tile[63 - me], 15, 16)
    out[me] = swapped + fx.Float32(fx.gpu.num_warp_threads())


@flyc.jit
def neighbours(a: fx.Tensor, out: fx.Tensor):
    neighbour_kernel(a, out).launch(block=(64, 1, 1))


def test_a_kernel_compiles_and_runs() -> None:
    a, b = (np.arange(100, dtype=np.float32) * factor for factor in (1, 3))
    out = np.zeros(100, np.float32)
    add(a, b, out, 100)
    np.testing.assert_array_equal(out, a * 4)
    assert add.specialisations[-1].target == "abacus1"


def test_waves_have_sixteen_threads() -> None:
    a, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    neighbours(a, out)
    lanes = np.arange(64) ^ 15
    np.testing.assert_array_equal(out, a[63 - lanes] + 16)


def test_facts_are_the_targets_own() -> None:
    @flyc.kernel
    def empty(out: fx.Tensor):
        out[fx.thread_idx.x] = 1

    @flyc.jit
    def too_many(out: fx.Tensor):
        empty(out).launch(block=(256, 1, 1))

    with pytest.raises(ValueError, match=r"128.*abacus1|abacus1.*128"):
        too_many(np.zeros(256, np.int32))


def test_instructions_of_others_are_refused() -> None:
    @flyc.kernel
    def waiting(out: fx.Tensor):
        fx.rocdl.s_nop(1)
        out[fx.thread_idx.x] = 1

    @flyc.jit
    def launch(out: fx.Tensor):
        waiting(out).launch(block=(1, 1, 1))

    with pytest.raises(ValueError, match="an instruction of AMD GPUs, and the target is abacus1"):
        launch(np.zeros(1, np.int32))


def test_its_own_code() -> None:
    backend = flyc.get_backend()
    assert backend.pipeline_fragments()[-4:] == ["canonicalize", "llvm-text", "llvm-optimise", "write-beads"]
    assert ABACUS.conversion in backend.pipeline_fragments()
    source = flyc.compile(add, *(flyc.TensorSpec((8,), fx.Float32, device="host"),) * 3, 8).source_ir
    artifact = MlirCompiler.compile(source, arch="abacus1", device="abacus")
    assert artifact.device_binary.startswith(HEADER.encode()) and b"gpu.func @add_kernel_0" in artifact.device_binary
    assert artifact.ptx == artifact.device_binary.decode()
    assert artifact.kernels == ("add_kernel_0",)


def test_dumps_end_where_it_has_no_more_to_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.DUMP_IR.name, "1")
    monkeypatch.setenv(knobs.DUMP_DIR.name, str(tmp_path))
    neighbours.compile_hints["maxnreg"] = 64  # so that it is compiled again
    flyc.compile(neighbours, *(np.zeros(64, np.float32),) * 2)
    neighbours.compile_hints.clear()
    names = [path.name for path in sorted((tmp_path / "neighbour_kernel").iterdir())]
    assert "08_convert_fly_to_abacus.mlir" in names and "host.ll" in names
    assert not [name for name in names if "gpu_module_to_binary" in name]


def test_registering_twice_is_no_harm_and_another_of_the_name_is() -> None:
    flyc.register_backend("abacus", AbacusBackend, force=True)
    with pytest.raises(ValueError, match="a target 'abacus1' already"):
        target_table.register_target(target_table.Target("abacus", "abacus1", "iron", 8, 1024))
    with pytest.raises(ValueError, match="a family of devices 'abacus' already"):
        family_table.register_family(family_table.Family("abacus"))
    assert target_table.parse_target("abacus1") is ABACUS_ONE


def test_nothing_of_it_is_known_to_the_package(repository: Path) -> None:
    assert not [path for path in (repository / "python").rglob("*.py") if "abacus" in path.read_text(encoding="utf-8")]

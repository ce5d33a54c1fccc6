"""FLYDSL_RUNTIME_RUN_ONLY beside what COMPILE_ONLY left: the error names what is wanted and what there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError
from tests.unit.cache.small import new_function, run


def compile_only(**settings: Any) -> None:
    chosen = {knobs.TABLE[name]: value for name, value in settings.items()}
    with knobs.scope({knobs.COMPILE_ONLY: True, **chosen}):
        new_function()(np.zeros(4, np.int32))


def refused(monkeypatch: pytest.MonkeyPatch, out: Any = None) -> str:
    monkeypatch.setenv(knobs.RUNTIME_RUN_ONLY.name, "1")
    with pytest.raises(DslRuntimeError, match="forbids compiling") as caught:
        new_function()(np.zeros(4, np.int32) if out is None else out)
    return str(caught.value)


def test_code_of_a_gpu_does_not_run_on_the_virtual_one(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_only(ARCH="gfx942")
    said = refused(monkeypatch)
    assert "no compiled code for gfx942 on the virtual GPU (host)" in said
    assert "of this function it has code for gfx942 on a GPU (rocm)" in said
    assert str(fresh_cache) in said
    assert "COMPILE_ONLY=1 ARCH=gfx942 FLYDSL_RUNTIME_KIND=host" in said


def test_its_advice_helps(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_only(ARCH="gfx942", FLYDSL_RUNTIME_KIND="host")
    monkeypatch.setenv(knobs.RUNTIME_RUN_ONLY.name, "1")
    monkeypatch.setenv(knobs.ARCH.name, "gfx942")
    assert run(new_function())[:2] == (1, 0)


def test_all_that_there_is_is_listed(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for arch in ("gfx950", "gfx1201"):
        compile_only(ARCH=arch, FLYDSL_RUNTIME_KIND="host")
    compile_only(ARCH="sm_90a")
    said = refused(monkeypatch)
    listed = "gfx1201 on the virtual GPU (host), gfx950 on the virtual GPU (host), sm_90a on a GPU (cuda)"
    assert f"has code for {listed}" in said


def test_the_right_target_for_other_arguments(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_only(FLYDSL_RUNTIME_KIND="host")
    said = refused(monkeypatch, np.zeros(4, np.int64))
    assert "but for other arguments, settings or another processor" in said
    assert "run exactly these calls" in said


def test_nothing_is_there(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = refused(monkeypatch)
    assert "of this function it has none" in said and "fill it first" in said


def test_damaged_files_are_not_listed(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_only(ARCH="gfx950", FLYDSL_RUNTIME_KIND="host")
    (file,) = fresh_cache.glob("small_*/*.flydsl")
    file.write_bytes(file.read_bytes()[:-1])
    assert "of this function it has none" in refused(monkeypatch)


def test_a_cache_that_cannot_be(tmp_path: Path, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(knobs.RUNTIME_CACHE_DIR.name, str(tmp_path / "file"))
    said = refused(monkeypatch)
    assert "has no cache to be found in" in said and knobs.RUNTIME_CACHE_DIR.name in said


def test_the_reason_that_is_nobodys_target(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    big = np.zeros(1 << 20)
    big.flags.writeable = False

    @flyc.kernel
    def opaque_kernel(out: fx.Tensor):
        out[0] = int(big[0])

    @flyc.jit
    def opaque(out: fx.Tensor):
        opaque_kernel(out).launch()

    monkeypatch.setenv(knobs.RUNTIME_RUN_ONLY.name, "1")
    with pytest.raises(DslRuntimeError, match="cannot be kept on disk, since"):
        opaque(np.zeros(4, np.int32))

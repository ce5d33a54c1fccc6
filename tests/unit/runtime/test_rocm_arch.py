"""How the architecture of AMD GPUs is found: the environment, ROCm's enumerator, the HIP runtime, gfx942."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from flydsl.base.errors import DslValueError
from flydsl.runtime import hip
from flydsl.runtime.device import get_rocm_arch, is_rdna_arch
from flydsl.runtime.hip import arch_of_version
from tests.support.hip_recording import Recording, forget_devices


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recording]:
    """A machine with a gfx950 that only the HIP runtime knows of, and no ROCm tools."""
    for name in ("FLYDSL_GPU_ARCH", "HSA_OVERRIDE_GFX_VERSION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "rocm"))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    made = Recording(tmp_path, monkeypatch)
    made.devices("gfx950")
    yield made
    forget_devices()


def enumerator(tmp_path: Path, body: str) -> None:
    folder = tmp_path / "rocm" / "bin"
    folder.mkdir(parents=True)
    tool = folder / "rocm_agent_enumerator"
    tool.write_text(f"#!/bin/sh\n{body}\n")
    tool.chmod(0o755)


def test_default(recording: Recording) -> None:
    recording.devices()
    assert get_rocm_arch() == "gfx942"


def test_the_runtime_is_asked_without_the_tool(recording: Recording) -> None:
    assert get_rocm_arch() == "gfx950"


def test_the_enumerator_comes_first(recording: Recording, tmp_path: Path) -> None:
    enumerator(tmp_path, "echo gfx000; echo gfx1100; echo gfx1201")
    assert get_rocm_arch() == "gfx1100", "the first that is no CPU"
    assert not recording.named("hipGetDeviceProperties")


@pytest.mark.parametrize("body", ["echo gfx000", "exit 3", "echo nonsense"])
def test_an_enumerator_without_an_answer(body: str, recording: Recording, tmp_path: Path) -> None:
    enumerator(tmp_path, body)
    assert get_rocm_arch() == "gfx950"


def test_an_enumerator_that_hangs(recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enumerator(tmp_path, "exec /bin/sleep 60")
    monkeypatch.setenv("FLYDSL_ROCM_AGENT_TIMEOUT", "1")
    assert get_rocm_arch() == "gfx950"


def test_overrides(recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enumerator(tmp_path, "echo gfx1100")
    monkeypatch.setenv("HSA_OVERRIDE_GFX_VERSION", "9.4.2")
    assert get_rocm_arch() == "gfx942"
    assert hip.hip_device().target.arch == "gfx942", "a device is what the override says"
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "gfx90a")
    assert get_rocm_arch() == "gfx90a"


def test_versions() -> None:
    assert [arch_of_version(text) for text in ("9.4.2", "9.0.10", "11.0.0", "12.0.1", "9.5.0", "gfx942:xnack-")] == [
        "gfx942", "gfx90a", "gfx1100", "gfx1201", "gfx950", "gfx942",
    ]  # fmt: skip
    for text in ("9.4", "9.4.16", "nine", ""):
        with pytest.raises(DslValueError, match="no version of an AMD GPU"):
            arch_of_version(text)


def test_families(recording: Recording) -> None:
    assert [is_rdna_arch(arch) for arch in ("gfx1030", "gfx1100", "gfx1201")] == [True] * 3
    assert [is_rdna_arch(arch) for arch in ("gfx90a", "gfx942", "gfx950", "gfx1250")] == [False] * 4
    assert is_rdna_arch() is False, "this machine's: gfx950"

"""Machine code kept with PTX: who makes it, where it is kept, what is loaded, and what happens where it is refused.

Against the stand-in for the driver, whose linker makes something that only begins like machine code, and stand-ins for
NVIDIA's tools, which are shell scripts.
"""

from __future__ import annotations

import logging
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.base import knobs
from flydsl.base.errors import DriverError, DslRuntimeError
from flydsl.compiler.artifacts.artifact import from_bytes, read, to_bytes
from flydsl.runtime import cuda, nvidia_tools
from tests.conftest import REPOSITORY
from tests.support import random_data
from tests.support.cuda_recording import Recording, forget_devices
from tests.support.log import Log
from tests.unit.jit.kernels import scaling

SEARCH_PATH = os.environ.get("PATH", "")
LOSS = "ptxas info    : (C7504) Potential Performance Loss: 'setmaxnreg' ignored"
PTXAS = 'printf "\\177ELF by ptxas for $1" > "$3"; echo "$@" >> {log}'
"""Writes its output as the real one does: -arch=… -o OUTPUT INPUT."""
OLD_PTXAS = 'echo "ptxas fatal : Unsupported .version 8.8; current version is 7.0" >&2; exit 255'


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recording]:
    yield Recording(tmp_path, monkeypatch)
    forget_devices()


def compiled() -> Any:
    with flyc.current_device().arrays(*random_data.generator().random((2, 64), np.float32)) as (x, y):
        made = flyc.compile(scaling(), x, y, 2.0)
        made(x, y, 2.0)
    return made


def loaded(recording: Recording) -> list[str]:
    """What was loaded as a module, in order: machine code, or PTX."""
    return [call.split(maxsplit=1)[1].rsplit(" device")[0] for call in recording.named("cuModuleLoadDataEx")]


# Who makes it ----------------------------------------------------------------------------------


def test_the_driver_links_where_there_is_no_ptxas(recording: Recording) -> None:
    artifact = compiled().artifact
    size = len(artifact.device_binary) + 1
    assert artifact.ptx.encode() == artifact.device_binary and ".target sm_90a" in artifact.ptx
    assert artifact.cubin == b"\x7fELF machine code of %d bytes" % size, "copied before the linker was destroyed"
    logs, hopper = "3 4 5 6", 0x10000 + 90
    assert recording.named("cuLinkCreate") == [f"cuLinkCreate options {logs} 9 target {hopper} device 0"]
    assert recording.named("cuLinkAddData") == [f"cuLinkAddData type 1 size {size} ended name kernels.ptx options 0"]
    assert [call.split()[0] for call in recording.calls() if "Link" in call] == [
        "cuLinkCreate", "cuLinkAddData", "cuLinkComplete", "cuLinkDestroy",
    ]  # fmt: skip
    assert loaded(recording) == [f"ELF machine code of {size} bytes"]
    assert len(recording.launches()) == 2, "that of flyc.compile, and the call's"


def test_a_linker_that_does_not_know_the_target_decides_itself(recording: Recording) -> None:
    recording.tell("REFUSE_TARGET", "1")
    assert compiled().artifact.cubin.startswith(b"\x7fELF")
    assert [" 9 " in call for call in recording.named("cuLinkCreate")] == [True, False]


def test_an_older_gpu_gets_code_for_itself(recording: Recording) -> None:
    recording.devices("8.6")
    recording.tool("ptxas", PTXAS.format(log=recording.bin / "log"))
    artifact = compiled().artifact
    assert ".target sm_80" in artifact.ptx
    assert artifact.cubin == b"\x7fELF by ptxas for -arch=sm_86"


def test_ptxas_comes_first(recording: Recording) -> None:
    """It makes whole programs, the linker relocatable code."""
    recording.tool("ptxas", PTXAS.format(log=recording.bin / "log"))
    assert compiled().artifact.cubin == b"\x7fELF by ptxas for -arch=sm_90a"
    assert not recording.named("cuLinkCreate")
    assert loaded(recording) == ["ELF by ptxas for -arch=sm_90a"]
    assert len((recording.bin / "log").read_text().splitlines()) == 1


@pytest.mark.parametrize("script", [OLD_PTXAS, "exit 0", "kill -9 $$"], ids=["too old", "writes nothing", "dies"])
def test_a_ptxas_that_fails_leaves_it_to_the_driver(recording: Recording, script: str) -> None:
    recording.tool("ptxas", script)
    assert compiled().artifact.cubin.startswith(b"\x7fELF machine code")
    assert loaded(recording)[0].startswith("ELF machine code")


def test_the_next_ptxas_is_tried(recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recording.tool("ptxas", PTXAS.format(log=recording.bin / "log"))
    first = tmp_path / "first"
    first.mkdir()
    (first / "ptxas").write_text(f"#!/bin/sh\n{OLD_PTXAS}\n")
    (first / "ptxas").chmod(0o755)
    monkeypatch.setenv("PATH", str(first))
    assert [Path(tool).parent for tool in nvidia_tools.tools("ptxas")] == [first, recording.bin]
    assert compiled().artifact.cubin.startswith(b"\x7fELF by ptxas")


def test_relocatable_code_that_loses_performance_is_not_kept(recording: Recording) -> None:
    recording.tell("INFO", LOSS)
    artifact = compiled().artifact
    assert artifact.cubin == b"" and loaded(recording) == ["PTX"]


def test_a_loss_that_ptxas_reports_is_passed_on(recording: Recording, kept_log: Log) -> None:
    recording.tool("ptxas", f'{PTXAS.format(log=recording.bin / "log")}; echo "{LOSS}" >&2')
    assert compiled().artifact.cubin.startswith(b"\x7fELF by ptxas")
    assert LOSS in kept_log.text


ASKED = [("off", ["PTX"]), ("driver", ["ELF machine code"]), ("ptxas", ["ELF by ptxas"])]


@pytest.mark.parametrize(("asked", "expected"), ASKED)
def test_the_variable_chooses(
    recording: Recording, asked: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recording.tool("ptxas", PTXAS.format(log=recording.bin / "log"))
    recording.tell("INFO", LOSS)
    monkeypatch.setenv(knobs.COMPILE_CUBIN.name, asked)
    artifact = compiled().artifact
    found = loaded(recording)
    assert [image.startswith(start) for image, start in zip(found, expected, strict=True)] == [True]
    assert bool(artifact.cubin) == (asked != "off")


def test_asking_for_a_ptxas_that_is_not_there(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.COMPILE_CUBIN.name, "ptxas")
    with pytest.raises(DslRuntimeError, match="FLYDSL_COMPILE_CUBIN=ptxas, and there is no ptxas here"):
        compiled()


# Failing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", ["cuLinkCreate", "cuLinkAddData", "cuLinkComplete"])
def test_a_linker_that_fails_leaves_ptx(recording: Recording, function: str, kept_log: Log) -> None:
    recording.fail(function, 218)
    with kept_log.at_level(logging.INFO):
        artifact = compiled().artifact
    assert artifact.cubin == b"" and loaded(recording) == ["PTX"]
    assert "no machine code of 'scale_kernel_0' is kept by the driver" in kept_log.text
    assert "CUDA_ERROR_INVALID_PTX" in kept_log.text
    assert ("ptxas says no at line 7" in kept_log.text) == (function != "cuLinkCreate")
    created = len(recording.named("cuLinkCreate")) if function != "cuLinkCreate" else 0
    assert len(recording.named("cuLinkDestroy")) == created


@pytest.mark.parametrize("status", [200, 209, 222])
def test_refused_machine_code_is_made_again_of_ptx(recording: Recording, status: int) -> None:
    """As on another GPU that shares the cache, or under an older driver."""
    recording.refuse_cubins(status)
    artifact = compiled().artifact
    assert artifact.cubin
    assert [image[:3] for image in loaded(recording)] == ["ELF", "PTX"]
    assert len(recording.launches()) == 2, "that of flyc.compile, and the call's"


def test_other_failures_of_loading_are_not_hidden(recording: Recording) -> None:
    recording.refuse_cubins(700)
    with pytest.raises(DriverError, match="loading 'scale_kernel_0' failed: CUDA_ERROR_ILLEGAL_ADDRESS"):
        compiled()
    assert len(loaded(recording)) == 1


def test_what_the_assembler_says_is_in_the_error(recording: Recording) -> None:
    recording.fail("cuModuleLoadDataEx", 218)
    with pytest.raises(DriverError) as caught:
        compiled()
    text = str(caught.value)
    assert "loading 'scale_kernel_0' failed: CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed" in text
    assert "ptxas application ptx input, line 3; error" in text
    assert Path(__file__).name in text


# Keeping it ------------------------------------------------------------------------------------


PROGRAM = """
import numpy as np
import flydsl.compiler as flyc
from tests.unit.jit.kernels import scaling
scale = scaling()
with flyc.current_device().arrays(*np.ones((2, 64), np.float32)) as (x, y):
    scale(x, y, 2.0)
print(scale.cache_info().hits, scale.cache_info().misses)
"""


def start(**more: str) -> str:
    """A process of its own, with the stand-in for its driver."""
    path = os.pathsep.join([str(REPOSITORY / "python"), str(REPOSITORY)])
    environment = {**os.environ, "PYTHONPATH": path, **more}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def entries(folder: Path) -> list[Path]:
    """The artifacts of kernels in a cache."""
    return [path for path in folder.rglob("*.flydsl") if "scale" in path.parent.name]


def test_the_second_process_assembles_nothing(recording: Recording, fresh_cache: Path) -> None:
    ptxas = {knobs.COMPILE_CUBIN.name: "driver"}
    assert start(**ptxas) == "0 1"
    assert len(recording.named("cuLinkComplete")) == 1 and loaded(recording)[0].startswith("ELF")
    (entry,) = entries(fresh_cache)
    found = read(entry.read_bytes())
    assert found is not None and found[0].cubin.startswith(b"\x7fELF") and ".entry" in found[0].ptx
    recording.forget()
    assert start(**ptxas) == "1 0"
    assert not recording.named("cuLinkCreate") and loaded(recording)[0].startswith("ELF")
    recording.forget()
    recording.refuse_cubins(209)
    assert start(**ptxas) == "1 0"
    assert [image[:3] for image in loaded(recording)] == ["ELF", "PTX"]


def test_code_made_without_a_gpu_has_ptx_only_and_loads(
    recording: Recording, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scale = scaling()
    monkeypatch.setenv("COMPILE_ONLY", "1")
    monkeypatch.setenv("ARCH", "sm_90a")
    x, y = np.zeros((2, 64), np.float32)
    assert scale(x, y, 2.0) is None
    assert not recording.named("cuLinkCreate") and not recording.named("cuInit")
    (entry,) = entries(fresh_cache)
    found = read(entry.read_bytes())
    assert found is not None and found[0].cubin == b"" and ".entry" in found[0].ptx
    monkeypatch.delenv("COMPILE_ONLY")
    monkeypatch.delenv("ARCH")
    again = scaling()
    with flyc.current_device().arrays(x, y) as arrays:
        again(*arrays, 2.0)
    assert again.cache_info().hits == 1 and loaded(recording) == ["PTX"] and len(recording.launches()) == 1


def test_damage_to_the_machine_code_is_found(recording: Recording) -> None:
    artifact = compiled().artifact
    data = to_bytes(artifact, "key")
    assert from_bytes(data, "key") == artifact
    start = data.rindex(artifact.cubin)
    for at in range(start, len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 1 << at % 8
        assert from_bytes(bytes(damaged), "key") is None


def test_pickled_code_keeps_it(recording: Recording) -> None:
    made = compiled()
    recording.forget()
    again = pickle.loads(pickle.dumps(made))
    assert again.artifact == made.artifact and again.artifact.cubin
    assert not recording.named("cuLinkCreate") and loaded(recording)[0].startswith("ELF")


def test_an_export_has_it_as_a_file(recording: Recording, tmp_path: Path) -> None:
    with cuda.cuda_device().arrays(*np.zeros((2, 64), np.float32)) as (x, y):
        made = flyc.export(scaling(), x, y, 2.0, dir=tmp_path / "here")
        there = flyc.export(scaling(), x, y, 2.0, dir=tmp_path / "there", arch="sm_90a")
    assert made.cubin is not None and made.cubin.read_bytes().startswith(b"\x7fELF machine code")
    assert made.device_binary is not None and made.device_binary.suffix == ".ptx"
    assert '"scale.cubin"' in made.description.read_text()
    assert there.cubin is None and not list((tmp_path / "there").glob("*.cubin"))


# With the tools themselves ---------------------------------------------------------------------


def test_a_real_ptxas(recording: Recording) -> None:
    """PTX of the recording device, given to the `ptxas` that this machine has."""
    artifact = compiled().artifact
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", SEARCH_PATH)
        if not nvidia_tools.tools("ptxas"):
            pytest.skip("ptxas is not installed: it comes with CUDA")
        made = nvidia_tools.assembled_by_ptxas(artifact.device_binary, "sm_90a")
        wrong = nvidia_tools.assembled_by_ptxas(artifact.device_binary.replace(b"ret;", b"nonsense;"), "sm_90a")
    assert made.cubin.startswith(b"\x7fELF") and b"scale_kernel_0" in made.cubin, made.said
    assert wrong.cubin == b"" and "nonsense" in wrong.said


# Looking at it ---------------------------------------------------------------------------------


@pytest.fixture
def dumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLYDSL_DUMP_DIR", str(tmp_path / "dumps"))
    return tmp_path / "dumps"


CUOBJDUMP = 'test "$1" = -sass && printf "EXIT ; " && cat "$2"'
NVDISASM = 'printf "nvdisasm: EXIT ; " && cat "$1"'


@pytest.mark.parametrize("knob", [knobs.DUMP_IR, knobs.DEBUG_DUMP_ASM])
def test_the_machine_code_is_dumped_beside_the_ptx(
    recording: Recording, dumps: Path, knob: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording.tool("cuobjdump", CUOBJDUMP)
    monkeypatch.setenv(knob.name, "1")
    artifact = compiled().artifact
    folder = dumps / "scale_kernel"
    assert ".target sm_90a" in (folder / "21_final_isa.s").read_text()
    assert (folder / "21_final_isa.sass").read_text() == "EXIT ; " + artifact.cubin.decode()


def test_nvdisasm_will_do(recording: Recording, dumps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recording.tool("cuobjdump", "exit 1")
    recording.tool("nvdisasm", NVDISASM)
    monkeypatch.setenv("FLYDSL_DEBUG_DUMP_ASM", "1")
    compiled()
    assert (dumps / "scale_kernel" / "21_final_isa.sass").read_text().startswith("nvdisasm: EXIT ; \x7fELF")


def test_without_a_gpu_ptxas_makes_what_is_dumped(
    recording: Recording, dumps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording.devices()
    recording.tool("cuobjdump", CUOBJDUMP)
    recording.tool("ptxas", PTXAS.format(log=recording.bin / "log"))
    monkeypatch.setenv("FLYDSL_DEBUG_DUMP_ASM", "1")
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setenv("FLYDSL_RUNTIME_KIND", "host")
    x = random_data.generator().random(64, np.float32)
    y = np.full_like(x, np.nan)
    scaling()(x, y, 2.0)
    assert np.array_equal(y, x * 2)
    text = (dumps / "scale_kernel" / "21_final_isa.sass").read_text()
    assert text == "EXIT ; \x7fELF by ptxas for -arch=sm_90a"


def test_without_tools_there_is_no_such_file(
    recording: Recording, dumps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLYDSL_DEBUG_DUMP_ASM", "1")
    compiled()
    assert [path.name for path in (dumps / "scale_kernel").iterdir()] == ["21_final_isa.s"]

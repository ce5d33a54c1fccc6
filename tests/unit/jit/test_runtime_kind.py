"""FLYDSL_RUNTIME_KIND and FLYDSL_COMPILE_BACKEND are heeded by every call, or refused in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslValueError, FlyDSLError
from flydsl.compiler.backends.base import device_of
from tests.unit.cache.small import new_function


def call(out: Any = None) -> Any:
    new_function()(np.full(4, -1, np.int32) if out is None else out)


@pytest.mark.parametrize("variable", [knobs.RUNTIME_KIND, knobs.COMPILE_BACKEND])
@pytest.mark.parametrize("compile_only", ["0", "1"])
def test_a_word_that_means_nothing(variable: Any, compile_only: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable.name, "foo")
    monkeypatch.setenv(knobs.COMPILE_ONLY.name, compile_only)
    with pytest.raises(ValueError, match="foo") as caught:
        call()
    assert isinstance(caught.value, FlyDSLError)
    assert "rocm" in str(caught.value) and "cuda" in str(caught.value), "the words that mean something are listed"


def test_it_is_noticed_by_a_function_that_was_called_before(monkeypatch: pytest.MonkeyPatch) -> None:
    function, out = new_function(), np.zeros(4, np.int32)
    function(out)
    for variable in (knobs.RUNTIME_KIND, knobs.COMPILE_BACKEND):
        with monkeypatch.context() as patch:
            patch.setenv(variable.name, "foo")
            with pytest.raises(ValueError, match="foo"):
                function(out)
        function(out)


@pytest.mark.parametrize(("kind", "maker"), [("cuda", "NVIDIA"), ("rocm", "AMD")])
def test_arrays_of_the_host_do_not_run_on_a_gpu(kind: str, maker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.RUNTIME_KIND.name, kind)
    out = np.full(4, -1, np.int32)
    words = f"lie in the host's memory, and FLYDSL_RUNTIME_KIND={kind} asks for an {maker} GPU"
    with pytest.raises(DslValueError, match=words) as caught:
        call(out)
    assert "current_device().arrays" in str(caught.value) and (out == -1).all()


def test_arrays_of_a_gpu_do_not_run_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.RUNTIME_KIND.name, "host")
    with pytest.raises(DslValueError, match=r"lie on a GPU \('cuda'\), .*=host asks for the virtual GPU"):
        device_of([("cuda", 0)])
    monkeypatch.setenv(knobs.RUNTIME_KIND.name, "rocm")
    with pytest.raises(DslValueError, match=r"lie on a GPU \('cuda'\), .*=rocm asks for an AMD GPU"):
        device_of([("cuda", 0)])


def test_the_host_is_the_virtual_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.RUNTIME_KIND.name, "host")
    out = np.full(4, -1, np.int32)
    call(out)
    assert (out != -1).all()


@pytest.mark.parametrize("compile_only", ["0", "1"])
def test_a_kind_that_does_not_fit_the_target(compile_only: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.COMPILE_ONLY.name, compile_only)
    monkeypatch.setenv(knobs.RUNTIME_KIND.name, "cuda")
    monkeypatch.setenv(knobs.ARCH.name, "gfx942")
    with pytest.raises(DslValueError, match="does not fit the target gfx942, which is an AMD GPU"):
        call()


@pytest.mark.parametrize(("kind", "arch"), [("cuda", "sm_90a"), ("rocm", "gfx942")])
def test_compiling_for_a_kind_takes_a_target_of_its_family(
    kind: str, arch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(knobs.COMPILE_ONLY.name, "1")
    monkeypatch.setenv(knobs.RUNTIME_KIND.name, kind)
    device = device_of([("host", 0)])
    assert (device.kind, device.target.arch) == (kind, arch)


def test_a_gpu_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.RUNTIME_KIND.name, "rocm")
    monkeypatch.setenv(knobs.HIP_LIBRARY.name, "/nowhere/libamdhip64.so")
    with pytest.raises(DslRuntimeError, match="asks for an AMD GPU, and there is none here"):
        flyc.current_device()


# Backends --------------------------------------------------------------------------------------


@pytest.mark.parametrize("compile_only", ["0", "1"])
@pytest.mark.parametrize(("backend", "arch"), [("cuda", "gfx942"), ("rocm", "sm_90a")])
def test_a_backend_that_does_not_fit_the_target(
    backend: str, arch: str, compile_only: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(knobs.COMPILE_ONLY.name, compile_only)
    monkeypatch.setenv(knobs.COMPILE_BACKEND.name, backend)
    monkeypatch.setenv(knobs.ARCH.name, arch)
    with pytest.raises(ValueError, match=f"the backend '{backend}' does not compile for {arch}") as caught:
        call()
    assert knobs.COMPILE_BACKEND.name in str(caught.value)


@pytest.mark.parametrize(("backend", "arch"), [("cuda", "sm_90a"), ("rocm", "gfx942")])
def test_a_backend_alone_chooses_the_target(backend: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.COMPILE_BACKEND.name, backend)
    function = new_function()
    function(np.full(4, -1, np.int32))
    assert [made.target for made in function.specialisations] == [arch]

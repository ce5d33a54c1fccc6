"""Backends by name, and what each says of itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.compiler import backends
from flydsl.compiler.backends import registry
from flydsl.compiler.backends.rocm import RocmBackend


@pytest.fixture
def table() -> Iterator[None]:
    before = dict(registry._backends)
    yield
    registry._backends.clear()
    registry._backends.update(before)


def test_targets() -> None:
    assert flyc.get_backend("rocm").target == flyc.GPUTarget("rocm", "gfx942", 64)
    assert flyc.get_backend("rocm", arch="gfx1201").target.warp_size == 32
    assert flyc.get_backend("cuda", arch="sm_90").target == flyc.GPUTarget("cuda", "sm_90a", 32)
    with knobs.scope({knobs.ARCH: "gfx950"}):
        assert flyc.get_backend().target.arch == "gfx950"
    assert RocmBackend.supports_target(flyc.GPUTarget("rocm", "gfx942", 64))
    with pytest.raises(ValueError, match="does not compile for sm_90a"):
        flyc.get_backend("rocm", arch="sm_90a")
    with pytest.raises(ValueError, match="unknown target"):
        flyc.get_backend("rocm", arch="gfx1")


def test_the_name_of_the_backend() -> None:
    with knobs.scope({knobs.RUNTIME_KIND: "host"}):
        assert flyc.compile_backend_name() == "rocm"
    with knobs.scope({knobs.RUNTIME_KIND: "host", knobs.ARCH: "sm_90a"}):
        assert flyc.compile_backend_name() == "cuda"
    with knobs.scope({knobs.COMPILE_BACKEND: "mine"}):
        assert flyc.compile_backend_name() == "mine"
        with pytest.raises(ValueError, match="no backend 'mine'") as caught:
            flyc.get_backend()
        assert "cuda, rocm" in str(caught.value)


def test_stages() -> None:
    backend = flyc.get_backend("rocm")
    first, second, third = backend._pipeline_parts()
    assert first[0] == "fly-rewrite-func-signature" and "convert-fly-to-rocdl" in first
    assert backend.pipeline_fragments(compile_hints={"waves_per_eu": 2}) == [*first, *second, *third]
    assert backend.external_binary_pipeline_fragments() == [*first, *second]
    assert "convert-fly-to-nvvm" in flyc.get_backend("cuda").pipeline_fragments()
    with pytest.raises(ValueError, match="unknown compile hint"):
        backend.pipeline_fragments(compile_hints={"speed": 9})


def test_facts() -> None:
    rocm, cuda = flyc.get_backend("rocm"), flyc.get_backend("cuda", arch="sm_90a")
    assert [rocm.llvm_address_space(space) for space in ("global", fx.AddressSpace.Shared, "register")] == [1, 3, 5]
    with pytest.raises(ValueError, match="no address space"):
        rocm.llvm_address_space("moon")
    assert rocm.lower_compile_hints({"waves_per_eu": 2, "maxnreg": 64}) == {
        "rocdl.waves_per_eu": 2, "fly.maxnreg": 64,
    }  # fmt: skip
    assert cuda.lower_compile_hints({"waves_per_eu": 2, "maxnreg": 64}) == {"fly.maxnreg": 64}
    assert rocm.gpu_module_targets() == ['#rocdl.target<chip = "gfx942">']
    assert cuda.gpu_module_targets() == ['#nvvm.target<chip = "sm_90a">']
    assert rocm.hash() == flyc.get_backend("rocm").hash() != flyc.get_backend("rocm", arch="gfx950").hash()
    assert rocm.native_lib_patterns() == [] and rocm.jit_runtime_lib_basenames() == ["libamdhip64.so"]


def test_registering(table: None) -> None:
    class Mine(RocmBackend):
        """One's own."""

    flyc.register_backend("mine", Mine)
    assert isinstance(flyc.get_backend("mine"), Mine)
    with pytest.raises(ValueError, match="a backend 'mine' already"):
        flyc.register_backend("mine", Mine)
    flyc.register_backend("mine", Mine, force=True)
    with pytest.raises(TypeError, match=r"subclass of flyc\.BaseBackend"):
        flyc.register_backend("other", dict)  # type: ignore[arg-type]
    assert backends.BaseBackend is flyc.BaseBackend

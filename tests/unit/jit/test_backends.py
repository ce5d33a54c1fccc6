"""Backends by name, and what each says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, ModuleOp

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.autotune.key import build_of
from flydsl.base import knobs
from flydsl.compiler import backends
from flydsl.compiler.backends import base
from flydsl.compiler.backends.base import device_of
from flydsl.compiler.backends.rocm import RocmBackend
from flydsl.compiler.capture.inputs import Inputs
from flydsl.compiler.lowering.mlir_compiler import MlirCompiler
from tests.unit.cache.small import new_function, run


@pytest.fixture
def table() -> Iterator[None]:
    before = dict(base._backends)
    yield
    base._backends.clear()
    base._backends.update(before)


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
    assert first[-1].startswith("gpu.module(convert-scf-to-cf,cse,convert-gpu-to-rocdl{chip=gfx942}")
    assert second[0] == "rocdl-attach-target{chip=gfx942 O=2}" and second[-1] == "reconcile-unrealized-casts"
    assert third == ["gpu-module-to-binary{format=fatbin}"]
    assert backend._pipeline_fragments_for_mode("fatbin") == [*first, *second, *third]
    assert backend._pipeline_fragments_for_mode("external") == [*first, *second]
    with pytest.raises(ValueError, match="no pipeline makes 'tape'"):
        backend._pipeline_fragments_for_mode("tape")
    short = [*first[:-1], "llvm-text"]
    assert backend.pipeline_fragments(compile_hints={"waves_per_eu": 2})[: len(short)] == short
    assert backend.external_binary_pipeline_fragments() == short
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


# A registered backend compiles -----------------------------------------------------------------


def results(function: Any) -> list[int]:
    out = np.full(4, -1, np.int32)
    function(out)
    return out.tolist()


def add_hundred(module: ModuleOp) -> None:
    """A pass that shows: the 35 that the kernel stores becomes 135."""
    for op in module.walk():
        if isinstance(op, ConstantOp) and isinstance(op.value, IntegerAttr) and op.value.value.data == 35:
            op.properties["value"] = IntegerAttr(135, op.value.type)


class Adding(RocmBackend):
    """Has a pass of its own, first of all."""

    passes: ClassVar = {"add-hundred": add_hundred}

    def pipeline_fragments(self, *, compile_hints: Any = None) -> list[str]:
        return ["add-hundred", *super().pipeline_fragments(compile_hints=compile_hints)]


def test_its_passes_run(table: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    flyc.register_backend("adding", Adding)
    function = new_function()
    assert results(function) == [35] * 4
    monkeypatch.setenv(knobs.COMPILE_BACKEND.name, "adding")
    assert results(function) == [135] * 4
    compiled = flyc.compile(function, np.zeros(4, np.int32))
    assert "135" in compiled.ir and "135" not in compiled.source_ir
    with knobs.scope({knobs.DUMP_IR: True, knobs.DUMP_DIR: tmp_path}):
        results(new_function())
    assert list(tmp_path.rglob("01_add_hundred.mlir"))
    monkeypatch.delenv(knobs.COMPILE_BACKEND.name)
    assert results(function) == [35] * 4
    assert "backend" in function.specialisations[1].why


def test_it_is_in_the_key_on_disk(table: None, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(new_function())
    flyc.register_backend("adding", Adding)
    monkeypatch.setenv(knobs.COMPILE_BACKEND.name, "adding")
    first, second = new_function(), new_function()
    assert results(first) == [135] * 4 and first.cache_info()[:2] == (0, 1)
    assert results(second) == [135] * 4 and second.cache_info()[:2] == (1, 0)

    class Changed(Adding):
        """What the class says counts by content."""

        passes: ClassVar = {"add-hundred": lambda module: None}

    flyc.register_backend("adding", Changed, force=True)
    third = new_function()
    assert results(third) == [35] * 4 and third.cache_info()[:2] == (0, 1)


def test_replacing_it_outdates_code_in_memory(table: None, monkeypatch: pytest.MonkeyPatch) -> None:
    flyc.register_backend("mine", Adding)
    monkeypatch.setenv(knobs.COMPILE_BACKEND.name, "mine")
    function = new_function()
    assert results(function) == [135] * 4
    assert results(function) == [135] * 4  # by the short way
    flyc.register_backend("mine", RocmBackend, force=True)
    assert results(function) == [35] * 4
    assert results(function) == [35] * 4
    flyc.register_backend("mine", Adding, force=True)
    assert results(function) == [135] * 4


def test_its_own_hash_is_asked(table: None, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Hashed(RocmBackend):
        """Depends on something that its code does not show."""

        version: ClassVar[str] = "one"

        def hash(self) -> str:
            return Hashed.version

    flyc.register_backend("hashed", Hashed)
    monkeypatch.setenv(knobs.COMPILE_BACKEND.name, "hashed")
    run(new_function())
    assert run(new_function())[:2] == (1, 0)
    Hashed.version = "two"
    assert run(new_function())[:2] == (0, 1)


def test_a_family_can_be_taken_over(table: None) -> None:
    flyc.register_backend("rocm", Adding, force=True)
    assert results(new_function()) == [135] * 4


def test_it_chooses_the_target_and_what_hints_mean(
    table: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Any] = []

    class Small(RocmBackend):
        """For one GPU, with few registers."""

        @classmethod
        def detect_target(cls) -> flyc.GPUTarget:
            return cls.make_target("gfx1201")

        @classmethod
        def supports_target(cls, target: flyc.GPUTarget) -> bool:
            return target.arch == "gfx1201"

        def lower_compile_hints(self, hints: Any) -> dict[str, Any]:
            asked.append(dict(hints))
            return {**super().lower_compile_hints(hints), "fly.maxnreg": 24}

    flyc.register_backend("small", Small)
    monkeypatch.setenv(knobs.COMPILE_BACKEND.name, "small")
    assert flyc.compile_backend_name() == "small" and flyc.get_backend().target.arch == "gfx1201"
    function = new_function()
    compiled = flyc.compile[{"waves_per_eu": 2, "llvm_options": {"amdgpu-early-inline-all": True}}](
        function, np.zeros(4, np.int32)
    )
    assert compiled.artifact.target == "gfx1201"
    assert "fly.maxnreg = 24" in compiled.source_ir
    assert asked[0] == {"waves_per_eu": 2, "llvm_options": {"amdgpu-early-inline-all": True}}
    monkeypatch.setenv(knobs.ARCH.name, "gfx942")
    with pytest.raises(ValueError, match="the backend 'small' does not compile for gfx942"):
        results(new_function())
    monkeypatch.delenv(knobs.ARCH.name)
    with pytest.raises(ValueError, match="the backend 'small' does not compile for sm_90a"):
        MlirCompiler.compile(compiled.source_ir, arch="sm_90a")


def test_its_errors_come_through(table: None, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(RocmBackend):
        """Asked, it fails."""

        def pipeline_fragments(self, *, compile_hints: Any = None) -> list[str]:
            raise RuntimeError("asked")

    flyc.register_backend("failing", Failing)
    monkeypatch.setenv(knobs.COMPILE_BACKEND.name, "failing")
    for only in (False, True):
        with knobs.scope({knobs.COMPILE_ONLY: only}), pytest.raises(RuntimeError, match="asked"):
            results(new_function())


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (["fly-canonicalise", "llvm-text", "llvm-optimise", "link-code-object"], "did you mean fly-canonicalize"),
        (["fly-canonicalize"], "put passes before llvm-text"),
        (["llvm-text", "llvm-optimise", "emit-ptx"], "ends in llvm-text, llvm-optimise, link-code-object"),
        ("fly-canonicalize", "gives a list of names"),
        ([print], "gives a list of names"),
    ],
)
def test_steps_that_cannot_be(table: None, steps: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Strange(RocmBackend):
        """Names steps that there are not."""

        def pipeline_fragments(self, *, compile_hints: Any = None) -> Any:
            return steps

    flyc.register_backend("strange", Strange)
    monkeypatch.setenv(knobs.COMPILE_BACKEND.name, "strange")
    with pytest.raises((TypeError, ValueError), match=words):
        results(new_function())


def test_another_llvm_asks_for_the_other_list(table: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Outside(RocmBackend):
        """Adds a hundred only when another LLVM makes the binary."""

        passes: ClassVar = {"add-hundred": add_hundred}

        def external_binary_pipeline_fragments(self, *, compile_hints: Any = None) -> list[str]:
            return ["add-hundred", *super().external_binary_pipeline_fragments(compile_hints=compile_hints)]

    flyc.register_backend("outside", Outside)
    monkeypatch.setenv(knobs.COMPILE_BACKEND.name, "outside")
    assert results(new_function()) == [35] * 4
    monkeypatch.setenv(knobs.COMPILE_LLVM_DIR.name, str(tmp_path))
    assert results(new_function()) == [135] * 4


def test_a_backend_that_is_no_subclass_of_ours(table: None, monkeypatch: pytest.MonkeyPatch) -> None:
    class Own(flyc.BaseBackend):
        """From nothing: it compiles for NVIDIA's Ampere alone."""

        name: ClassVar[str] = "own"
        address_spaces: ClassVar = {"global": 1}

        @classmethod
        def supports_target(cls, target: flyc.GPUTarget) -> bool:
            return target.arch == "sm_80"

        @classmethod
        def detect_target(cls) -> flyc.GPUTarget:
            return cls.make_target("sm_80")

        def gpu_module_targets(self) -> list[str]:
            return []

    flyc.register_backend("own", Own)
    monkeypatch.setenv(knobs.COMPILE_BACKEND.name, "own")
    assert flyc.get_backend().pipeline_fragments()[-1] == "emit-ptx"
    assert flyc.get_backend().lower_compile_hints({"waves_per_eu": 2}) == {}
    function = new_function()
    assert results(function) == [35] * 4
    assert function.specialisations[0].target == "sm_80"


def test_timings_are_of_one_backend(table: None, monkeypatch: pytest.MonkeyPatch) -> None:
    function = new_function()
    device, captured = device_of([("host", 0)]), Inputs(function.func)
    assert "backend" not in build_of(function, captured, device)
    flyc.register_backend("mine", Adding)
    monkeypatch.setenv(knobs.COMPILE_BACKEND.name, "mine")
    first = build_of(function, captured, device)
    assert first == build_of(function, captured, device)
    flyc.register_backend("mine", type("Adding", (Adding,), {"more": 1}), force=True)
    assert first["backend"] != build_of(function, captured, device)["backend"]

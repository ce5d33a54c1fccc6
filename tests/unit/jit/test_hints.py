"""Compile hints: checked, part of the key, and visible in what is compiled."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.base.errors import FlyDSLError
from flydsl.compiler.kernel_function import CompilationContext
from flydsl.compiler.options.hints import checked
from tests.unit.jit.kernels import scaling

X, Y = np.ones(16, np.float32), np.ones(16, np.float32)


def busy(count: int) -> Any:
    """A kernel that keeps values in registers, and divides by them."""

    @flyc.kernel
    def busy_kernel(x: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        values = [x[t + 64 * i] for i in range(count)]
        fx.barrier()
        for i, value in enumerate(reversed(values)):
            out[t + 64 * i] = value / values[i]

    @flyc.jit
    def run(x: fx.Tensor, out: fx.Tensor) -> None:
        busy_kernel(x, out).launch(grid=(1, 1, 1), block=(64, 1, 1))

    return run


def compiled_text(folder: Path, arch: str, hints: Mapping[str, Any], count: int = 6) -> tuple[str, str]:
    """LLVM text and assembly of a busy kernel under hints."""
    kind = "rocm" if arch.startswith("gfx") else "cuda"
    settings = {
        knobs.COMPILE_ONLY: True, knobs.ARCH: arch, knobs.RUNTIME_KIND: kind, knobs.DUMP_IR: True,
        knobs.DUMP_DIR: folder,
    }  # fmt: skip
    run = busy(count)
    run.compile_hints.update(hints)
    with knobs.scope(settings):
        run(np.zeros(64 * count, np.float32), np.zeros(64 * count, np.float32))
    (llvm,), (isa,) = folder.rglob("*.ll"), folder.rglob("*.s")
    return llvm.read_text(), isa.read_text()


def test_waves_and_registers_on_amd(tmp_path: Path) -> None:
    free = compiled_text(tmp_path / "free", "gfx942", {}, 72)
    waves = compiled_text(tmp_path / "waves", "gfx942", {"waves_per_eu": 8}, 72)
    capped = compiled_text(tmp_path / "capped", "gfx942", {"maxnreg": 40}, 72)
    assert '"amdgpu-waves-per-eu"="8"' in waves[0] and "waves-per-eu" not in free[0]
    # One file holds vector and accumulation registers on this target, and LLVM counts one half.
    assert '"amdgpu-num-vgpr"="20"' in capped[0] and "num-vgpr" not in free[0]
    count = [int(re.search(r"\.vgpr_count:\s+(\d+)", isa)[1]) for _, isa in (free, waves, capped)]  # type: ignore[index]
    assert count[1] <= 64 < count[0] and count[2] <= 40 < count[0]


def test_registers_on_nvidia(tmp_path: Path) -> None:
    assert ".maxnreg" not in compiled_text(tmp_path / "free", "sm_90a", {"waves_per_eu": 2})[1]
    assert ".maxnreg 40" in compiled_text(tmp_path / "capped", "sm_90a", {"maxnreg": 40})[1]


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_fast_math_reaches_the_instructions(tmp_path: Path, arch: str) -> None:
    exact_text, exact = compiled_text(tmp_path / "exact", arch, {})
    fast_text, fast = compiled_text(tmp_path / "fast", arch, {"fast_fp_math": True})
    flags_text, _ = compiled_text(tmp_path / "flags", arch, {"fastmath": ["nnan", fx.FastMathFlags.ninf]})
    unsafe_text, _ = compiled_text(tmp_path / "unsafe", arch, {"unsafe_fp_math": True})
    assert "fdiv float" in exact_text and "fdiv fast float" in fast_text and "fdiv nnan ninf float" in flags_text
    assert "fdiv reassoc arcp contract afn float" in unsafe_text
    assert '"denormal-fp-math-f32"="preserve-sign,preserve-sign"' in fast_text and "denormal" not in unsafe_text
    if arch == "sm_90a":
        assert "div.rn.f32" in exact and "div.approx.ftz.f32" in fast
    else:
        assert "v_div_fixup_f32" in exact and "v_div_fixup_f32" not in fast and "v_rcp_f32" in fast


@pytest.mark.parametrize("flags", ["arcp", "none"])
def test_fastmath_overrides_fast_fp_math(tmp_path: Path, flags: str) -> None:
    text, _ = compiled_text(tmp_path / "both", "gfx942", {"fast_fp_math": True, "fastmath": flags})
    assert ("fdiv arcp float" if flags == "arcp" else "fdiv float") in text and "fdiv fast" not in text
    assert '"denormal-fp-math-f32"="preserve-sign,preserve-sign"' in text  # the rest of fast_fp_math stays


def test_llvm_options_hold_for_one_compile(tmp_path: Path) -> None:
    plain = compiled_text(tmp_path / "plain", "gfx942", {})[1]
    options = {"llvm_options": {"amdgpu-waitcnt-forcezero": True}}
    forced = compiled_text(tmp_path / "forced", "gfx942", options)[1]
    again = compiled_text(tmp_path / "again", "gfx942", {})[1]
    assert forced.count("s_waitcnt") > 2 * plain.count("s_waitcnt")
    assert again == plain


def test_llvm_options_on_the_virtual_gpu() -> None:
    fn = scaling()
    fn.compile_hints["llvm_options"] = {"--unroll-threshold": 0, "enable-misched": False}
    x, y = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    fn(x, y, 2.0)
    np.testing.assert_array_equal(y, x * 2)


BAD: list[tuple[Any, type[Exception], str]] = [
    ({"waves_per_eu": -1}, ValueError, "0 or more"),
    ({"waves_per_eu": "2"}, TypeError, "must be an int"),
    ({"waves_per_eu": True}, TypeError, "must be an int"),
    ({"maxnreg": 0}, ValueError, "1 or more"),
    ({"maxnreg": 1.5}, TypeError, "must be an int"),
    ({"fast_fp_math": 1}, TypeError, "True or False"),
    ({"unsafe_fp_math": "yes"}, TypeError, "True or False"),
    ({"fastmath": "quick"}, ValueError, "unknown fast-math flag"),
    ({"fastmath": 3}, TypeError, "fast-math flags"),
    ({"llvm_options": ["a"]}, TypeError, "must be a dict"),
    ({"llvm_options": {"x": 1.5}}, TypeError, "bool, an int or a str"),
    ({"llvm_options": {"enable-mischief": True}}, ValueError, "did you mean .*enable-misched"),
    ({"llvm_options": {"unroll-threshold": "many"}}, ValueError, "refuses the value of the option 'unroll-threshold'"),
    ({"num_warps": 4}, ValueError, "unknown compile hint 'num_warps'"),
    ([], TypeError, "must be a dict"),
]


@pytest.mark.parametrize(("hints", "kind", "words"), BAD, ids=[str(case[0])[:40] for case in BAD])
def test_bad_hints_are_refused(hints: Any, kind: type[Exception], words: str) -> None:
    fn = scaling()
    fn.compile_hints = hints
    with pytest.raises(FlyDSLError, match=words) as caught:
        fn.compile_hints = checked(hints) and hints
        fn(X, Y, 1.0)
    assert isinstance(caught.value, kind)


def test_a_hint_of_none_is_no_hint() -> None:
    assert checked({"maxnreg": None, "waves_per_eu": 0}) == (("waves_per_eu", 0),)


def test_hints_are_part_of_the_key() -> None:
    fn = scaling()
    fn(X, Y, 1.0)
    fn.compile_hints["waves_per_eu"] = 2
    fn(X, Y, 1.0)
    fn.compile_hints["waves_per_eu"] = 3
    fn(X, Y, 1.0)
    fn.compile_hints["waves_per_eu"] = 2
    fn(X, Y, 1.0)
    fn.compile_hints.clear()
    fn(X, Y, 1.0)
    assert [s.hints for s in fn.specialisations] == [(), (("waves_per_eu", 2),), (("waves_per_eu", 3),)]
    assert "hint waves_per_eu is 3, was 2" in fn.specialisations[2].why


def test_hints_of_a_block_belong_to_its_thread() -> None:
    fn = scaling()
    fn(X, Y, 1.0)
    with CompilationContext.compile_hints({"maxnreg": 64}):
        with CompilationContext.compile_hints({"waves_per_eu": 1}):
            fn(X, Y, 1.0)
        other = threading.Thread(target=fn, args=(X, Y, 1.0))
        other.start()
        other.join()
        fn(X, Y, 1.0)
    fn(X, Y, 1.0)
    found = [dict(s.hints) for s in fn.specialisations]
    assert found == [{}, {"maxnreg": 64, "waves_per_eu": 1}, {"maxnreg": 64}]
    with pytest.raises(ValueError, match="unknown compile hint"), CompilationContext.compile_hints({"nothing": 1}):
        pass


def test_the_kernels_own_attribute_wins(tmp_path: Path) -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor):
        x[0] = 1.0

    @flyc.jit
    def run(x: fx.Tensor):
        kernel(x, value_attrs={"rocdl.waves_per_eu": 5}).launch()

    run.compile_hints["waves_per_eu"] = 2
    settings = {
        knobs.COMPILE_ONLY: True, knobs.ARCH: "gfx942", knobs.RUNTIME_KIND: "rocm", knobs.DUMP_IR: True,
        knobs.DUMP_DIR: tmp_path,
    }  # fmt: skip
    with knobs.scope(settings):
        run(X)
    (llvm,) = tmp_path.rglob("*.ll")
    assert '"amdgpu-waves-per-eu"="5"' in llvm.read_text()


def test_fast_math_hint_on_the_virtual_gpu() -> None:
    """The flags are in the IR there too; what only concerns a GPU has no effect."""
    plain = flyc.compile(scaling(), X, Y, 1.0)
    fast = flyc.compile[{"fastmath": "fast", "waves_per_eu": 4, "maxnreg": 32}](scaling(), X, Y, 1.0)
    assert "fastmath<fast>" in fast.source_ir and "fastmath" not in plain.source_ir
    fast(X, Y, 4.0)
    np.testing.assert_array_equal(Y, np.full(16, 4, np.float32))

"""`flyc.compile`: a bound callable that launches what it was compiled for and refuses everything else."""

from __future__ import annotations

import pickle
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.base.errors import FlyDSLError
from flydsl.compiler import jit_executor
from flydsl.compiler.jit_function import JitCacheManager, MlirCompiler
from tests.support import random_data
from tests.unit.jit.kernels import copying, scaling

scale = scaling()
copy = copying()


def vectors(count: int = 32, dtype: Any = np.float32) -> tuple[np.ndarray, np.ndarray]:
    x = random_data.generator().standard_normal(count).astype(dtype)
    return x, np.full(count, np.nan, dtype)


def test_compiling_launches_once() -> None:
    x, y = vectors()
    compiled = flyc.compile(scale, x, y, 3.0)
    assert isinstance(compiled, flyc.CompiledFunction)
    np.testing.assert_array_equal(y, x * np.float32(3))
    assert compiled(x, y, 2.0) is None
    np.testing.assert_array_equal(y, x * np.float32(2))


def test_other_arrays_and_numbers_of_the_same_types() -> None:
    compiled = flyc.compile(scale, *vectors(), 1.0)
    for count in (1, 7, 128):
        x, y = vectors(count)
        compiled(x, y, -0.5, 3)
        np.testing.assert_allclose(y, x.astype(np.float64) * -0.5 + 3, rtol=1e-6)


def test_constexpr_places_are_accepted_and_ignored() -> None:
    x, y = vectors()
    compiled = flyc.compile(scale, x, y, 1.0, 0, 5)
    for ignored in (5, 7, "anything", None):
        y[:] = np.nan
        compiled(x, y, 0.0, 0, ignored)
        np.testing.assert_array_equal(y, np.full_like(x, 5))


def test_keywords_and_defaults_when_compiling() -> None:
    x, y = vectors()
    compiled = flyc.compile(scale, x, y=y, factor=1.0, bias=2)
    compiled(x, y, 0.0)
    compiled(x, y, 0.0)
    np.testing.assert_array_equal(y, np.full_like(x, 2))


X, Y = np.ones(8, np.float32), np.ones(8, np.float32)
WRONG: list[tuple[str, tuple[Any, ...], type[Exception], list[str]]] = [
    ("dtype", (X.astype(np.float64), Y, 1.0), TypeError, ["'x'", "f32", "f64"]),
    ("signedness", (X.view(np.int32), Y, 1.0), TypeError, ["'x'", "i32"]),
    ("rank", (X.reshape(2, 4), Y, 1.0), TypeError, ["'x'", "rank 1", "rank 2"]),
    ("stride", (X, np.ones(16, np.float32)[::2], 1.0), RuntimeError, ["stride 1", "from_dlpack"]),
    ("number for a tensor", (3, Y, 1.0), TypeError, ["'x'", "tensor", "int"]),
    ("tensor for a number", (X, Y, Y), TypeError, ["'factor'", "number", "ndarray"]),
    ("float for an integer", (X, Y, 1.0, 1.5), TypeError, ["'shift'", "Int32", "1.5"]),
    ("too wide an integer", (X, Y, 1.0, 1 << 40), ValueError, ["'shift'", "does not fit Int32"]),
    ("no stream", (X, Y, 1.0, 0, 0, "main"), TypeError, ["'stream'", "no stream"]),
    ("too few", (X, Y), TypeError, ["6 positional", "got 2", "factor"]),
    ("too many", (X, Y, 1.0, 0, 0, None, 1), TypeError, ["6 positional", "got 7"]),
    ("description", (flyc.TensorSpec((8,), fx.Float32), Y, 1.0), ValueError, ["'x'", "no data"]),
]


@pytest.mark.parametrize(("args", "kind", "words"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_wrong_arguments_are_refused(args: tuple[Any, ...], kind: type[Exception], words: list[str]) -> None:
    compiled = flyc.compile(scale, X, Y, 1.0)
    Y[:] = 7
    with pytest.raises(FlyDSLError) as caught:
        compiled(*args)
    assert isinstance(caught.value, kind)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert (Y == 7).all()
    compiled(X, Y, 3.0)  # and the next call is as good as ever
    np.testing.assert_array_equal(Y, np.full(8, 3, np.float32))


def test_static_layouts_are_checked() -> None:
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    y = np.zeros((4, 6), np.float32)
    compiled = flyc.compile(copy, flyc.from_dlpack(x), flyc.from_dlpack(y).mark_layout_dynamic(divisibility=2), 4, 6)
    compiled(flyc.from_dlpack(x), flyc.from_dlpack(y).mark_layout_dynamic(divisibility=2), 4, 6)
    np.testing.assert_array_equal(y, x)
    y[:] = 0
    compiled(x, y, 4, 6)  # raw arrays that fulfil what the code relies on are as good
    np.testing.assert_array_equal(y, x)
    with pytest.raises(FlyDSLError, match="extent 1 is 5; the code was compiled for 6"):
        compiled(np.zeros((4, 5), np.float32), y, 4, 5)
    with pytest.raises(FlyDSLError, match="stride 0 is 7; the code expects a multiple of 2"):
        compiled(x, np.zeros((4, 7), np.float32)[:, :6], 4, 6)


def test_assumed_alignment_is_checked() -> None:
    base = np.zeros(64, np.float32)
    start = (-base.ctypes.data // 4) % 4
    aligned, shifted = base[start : start + 8], base[start + 1 : start + 9]
    compiled = flyc.compile(scale, flyc.from_dlpack(aligned, assumed_align=16), aligned, 1.0)
    with pytest.raises(FlyDSLError, match="not aligned to 16 bytes"):
        compiled(shifted, shifted, 1.0)


def test_descriptions_compile_and_launch_nothing() -> None:
    x, y = vectors()
    compiled = flyc.compile(scale, flyc.TensorSpec((32,), "float32"), flyc.TensorSpec((32,), "float32"), 3.0)
    compiled(x, y, 2.0)
    np.testing.assert_array_equal(y, x * np.float32(2))


def test_without_arguments_the_function_itself_is_returned() -> None:
    fn = scaling()
    assert flyc.compile(fn) is fn
    assert fn.compile_hints == {}


def test_other_python_types_of_the_same_arrays(torch: ModuleType) -> None:
    x, y = vectors()
    compiled = flyc.compile(scale, flyc.TensorSpec((32,), "float32"), flyc.TensorSpec((32,), np.float32), 1.0)
    for _ in range(2):
        compiled(torch.from_numpy(x), torch.from_numpy(y), 2.0)
        np.testing.assert_array_equal(y, x * np.float32(2))
        compiled(x, torch.from_numpy(y), 3)
        np.testing.assert_array_equal(y, x * np.float32(3))


def test_compile_only_returns_none() -> None:
    x, y = vectors()
    with knobs.scope({knobs.COMPILE_ONLY: True, knobs.ARCH: "gfx942"}):
        assert flyc.compile(scaling(), x, y, 2.0) is None
    assert np.isnan(y).all()


def test_hints_by_subscript() -> None:
    fn = scaling()
    x, y = vectors()
    compiled = flyc.compile[{"waves_per_eu": 2}](fn, x, y, 2.0)
    assert compiled.hints == (("waves_per_eu", 2),) and fn.compile_hints == {}
    compiled(x, y, 2.0)
    np.testing.assert_array_equal(y, x * np.float32(2))
    assert flyc.compile[{"waves_per_eu": 3}](fn) is fn
    assert fn.compile_hints == {"waves_per_eu": 3}
    for wrong in ([("waves_per_eu", 2)], "waves_per_eu", 2):
        with pytest.raises(TypeError, match="hints must be a dict"):
            flyc.compile[wrong]  # type: ignore[index]
    with pytest.raises(ValueError, match="unknown compile hint 'wavesperEU'"):
        flyc.compile[{"wavesperEU": 2}]


def test_what_is_no_jit_function() -> None:
    with pytest.raises(TypeError, match="takes a jit function, got function"):
        flyc.compile(lambda x: x, 1)


def test_looking_inside(capsys: pytest.CaptureFixture[str]) -> None:
    x, y = vectors()
    compiled = flyc.compile(scale, x, y, 2.0)
    assert "fly." in compiled.source_ir and "gpu.launch_func" in compiled.source_ir
    assert "fly." not in compiled.ir and "gpu.func" in compiled.ir
    compiled.dump()
    compiled.print_ir(compiled=False)
    printed = capsys.readouterr().out
    assert compiled.ir in printed and compiled.source_ir in printed
    assert jit_executor.JITCFunction is jit_executor.CompiledArtifact is flyc.CompiledFunction
    assert "gfx942" in repr(compiled)


def test_a_pickle_holds_the_code() -> None:
    x, y = vectors()
    compiled = flyc.compile(scale, x, y, 2.0)
    again = pickle.loads(pickle.dumps(compiled))
    for _ in range(2):
        y[:] = np.nan
        again(x, y, -3.0)
        np.testing.assert_array_equal(y, x * np.float32(-3))
    assert again.ir == compiled.ir and again.source_ir == compiled.source_ir
    with pytest.raises(FlyDSLError, match="f32"):
        again(x.astype(np.float64), y, 1.0)


def test_a_damaged_pickle_is_refused() -> None:
    data = pickle.dumps(flyc.compile(scale, *vectors(), 2.0))
    at = data.index(b"FLYDSLA") + 200
    with pytest.raises(FlyDSLError, match="damaged"):
        pickle.loads(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])


def test_text_compiles_to_the_same_code() -> None:
    compiled = flyc.compile(scale, *vectors(), 2.0)
    artifact = MlirCompiler.compile(compiled.source_ir)
    assert artifact.argument_format == compiled.artifact.argument_format
    assert artifact.kernels == compiled.artifact.kernels
    with pytest.raises(FlyDSLError, match="cannot be read"):
        MlirCompiler.compile("builtin.module {")
    with pytest.raises(TypeError, match="one host function"):
        MlirCompiler.compile("builtin.module {}")
    with pytest.raises(ValueError, match="does not run on 'cuda'"):
        MlirCompiler.compile(compiled.source_ir, arch="gfx942", device="cuda")


def test_the_cache_manager_names_and_clears(fresh_cache: Any) -> None:
    x, y = vectors()
    scaling()(x, y, 2.0)
    manager = JitCacheManager()
    assert manager.cache_dir == fresh_cache and manager.entries()
    manager.clear()
    assert not manager.entries()


def test_methods() -> None:
    class Scaler:
        def __init__(self, factor: int) -> None:
            self.factor = factor

        @flyc.kernel
        def kernel(self, x: fx.Tensor, y: fx.Tensor):
            y[fx.thread_idx.x] = x[fx.thread_idx.x] * self.factor

        @flyc.jit
        def run(self, x: fx.Tensor, y: fx.Tensor):
            self.kernel(x, y).launch(block=(x.shape[0], 1, 1))

    x, y = vectors()
    two, three = Scaler(2), Scaler(3)
    for scaler in (two, three, two):
        scaler.run(x, y)
        np.testing.assert_array_equal(y, x * np.float32(scaler.factor))
    two.factor = 5
    two.run(x, y)
    np.testing.assert_array_equal(y, x * np.float32(5))
    compiled = flyc.compile(three.run, x, y)
    compiled(three, x, y)
    np.testing.assert_array_equal(y, x * np.float32(3))
    Scaler(4).run.warmup(x, y)
    assert len(Scaler.run.specialisations) == 4

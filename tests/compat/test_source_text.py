"""What tests written for FlyDSL read of a compilation: its text before lowering, the compiler, the key."""

from __future__ import annotations

import re

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler import jit_function


@fx.struct
class Leaves:
    a: fx.Array[fx.Float32, 4, 16]
    b: fx.Array[fx.Int32, 8]


@flyc.kernel
def text_kernel(scale: fx.Float32, x: fx.Tensor, h: fx.Tensor) -> None:
    h[0] = scale.to(fx.Float16, rounding_mode=fx.RoundingMode.upward)
    values = fx.make_view(fx.get_iter(x), fx.make_layout(4, 1)).load() * fx.Vector.filled(4, scale)
    leaves = fx.SharedAllocator(static=False).allocate(Leaves).peek()
    leaves.a[0] = scale
    x[0] = values.reduce("max") + leaves.a[0]


@flyc.jit
def text(scale: fx.Float32, x: fx.Tensor, h: fx.Tensor) -> None:
    text_kernel(scale, x, h).launch(block=1, smem=1024)


EXPECTED = (
    r"arith\.truncf %arg0 upward : f32 to f16", r"vector\.broadcast %arg0 : f32 to vector<4xf32>",
    r"vector\.reduction <maxnumf>, %\d+ : vector<4xf32> into f32", r"dynamic_shared_memory_size %c1024_i32",
)  # fmt: skip


def test_source_ir_of_what_was_compiled_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nothing ran: tests of text set COMPILE_ONLY, and no device is asked for anything."""
    assert text._last_compiled is None
    monkeypatch.setenv("COMPILE_ONLY", "1")
    monkeypatch.setenv("ARCH", "gfx942")
    x, h = np.full(4, 2, np.float32), np.zeros(4, np.float16)
    text(1.5, x, h)
    assert x.tolist() == [2] * 4, "nothing was launched"
    assert text._last_compiled is not None
    key, compiled = text._last_compiled
    assert key.arch == "gfx942"
    assert [line for line in EXPECTED if not re.search(line, compiled.source_ir)] == []


def test_the_text_is_a_program() -> None:
    x, h = np.full(4, 2, np.float32), np.zeros(4, np.float16)
    text(1.5, x, h)
    assert x[0] == 4.5 and h[0] == 1.5
    assert text._last_compiled is not None
    artifact = jit_function.MlirCompiler.compile(text._last_compiled[1].source_ir, arch="gfx950")
    assert artifact.target == "gfx950" and artifact.kernels == ("text_kernel_0",)


def test_key_of_the_package() -> None:
    assert jit_function._flydsl_key() == jit_function._flydsl_key() and "flydsl" in jit_function._flydsl_key()

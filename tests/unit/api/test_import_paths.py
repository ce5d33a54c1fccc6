"""The original's import paths lead to the same objects as `flydsl.expr` does."""

from __future__ import annotations

import logging

import pytest

import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl._mlir.dialects import vector
from flydsl.base import knobs
from flydsl.base.errors import DSLCompileError
from flydsl.compiler.messages import diagnostics
from flydsl.expr import derived, enum, primitive, typing
from flydsl.utils import env, logger


def test_facades_re_export() -> None:
    assert primitive.make_layout is fx.make_layout and derived.make_tiled_copy is fx.make_tiled_copy
    assert typing.Float32 is fx.Float32 and typing.Tensor is fx.Tensor and typing.T is fx.T
    assert enum.AddressSpace is fx.AddressSpace and enum.ReductionOp is fx.ReductionOp
    assert vector.CombiningKind is fx.vector.CombiningKind
    assert diagnostics.DSLCompileError is DSLCompileError
    assert fx.gpu.SharedAllocator is fx.SharedAllocator
    assert fx.select is primitive.select and fx.select is not fx.arith.select


def test_mlir_types_are_the_package_types() -> None:
    assert ir.F32Type.get() == fx.T.f32 and ir.BF16Type.get() == fx.T.bf16
    assert ir.F16Type.get() == fx.T.f16 and ir.F64Type.get() == fx.T.f64
    assert ir.IntegerType.get_signless(32) == fx.T.i32 and ir.IndexType.get() == fx.T.index
    assert ir.VectorType.get([4], ir.F32Type.get()) == fx.T.f32x4
    assert ir.VectorType.get([2, 2], fx.T.f32).shape == [2, 2] and fx.T.VectorType is ir.VectorType


def test_settings_by_attribute() -> None:
    assert env.debug.enable_verifier is knobs.DEBUG_ENABLE_VERIFIER.get()
    assert env.env.dump_ir is False and env.debug.dump_asm is False
    with knobs.scope({knobs.DUMP_IR: True}):
        assert env.env.dump_ir is True
    assert env.compile.opt_level == knobs.COMPILE_OPT_LEVEL.get()
    assert env.runtime.get("nothing", 3) == 3
    assert "enable_cache" in list(env.runtime)
    with pytest.raises(AttributeError, match="no setting is called 'nothing'"):
        env.debug.nothing  # noqa: B018


def test_logger() -> None:
    assert isinstance(logger.log(), logging.Logger) and logger.log().name == "flydsl"
    assert logger.get_logger("compiler").name == "flydsl.compiler"

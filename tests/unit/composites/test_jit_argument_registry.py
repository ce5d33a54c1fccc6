"""User types as jit arguments, and the protocols behind them."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler import protocol


class Celsius:
    def __init__(self, degrees: float) -> None:
        self.degrees = degrees


@flyc.JitArgumentRegistry.register(Celsius, dsl_type=fx.Float32)
class CelsiusArgument:
    def __init__(self, value: Celsius) -> None:
        self.value = value

    def __get_ir_types__(self) -> list[str]:
        return ["f32"]

    def __cache_signature__(self) -> Any:
        return "celsius"

    def __c_abi_spec__(self) -> list[tuple[str, float]]:
        return [("f", self.value.degrees)]


class Step:
    """An argument by itself, with the older pointer protocol."""

    def __init__(self, width: int) -> None:
        self.width = ctypes.c_int32(width)

    def __get_ir_types__(self) -> list[str]:
        return [fx.T.i32]

    def __get_c_pointers__(self) -> list[Any]:
        return [ctypes.cast(ctypes.pointer(self.width), ctypes.c_void_p)]


flyc.JitArgumentRegistry.register_jit_arg(Step, fx.Int32)


def test_registered_types_reach_the_kernel() -> None:
    @flyc.kernel
    def kernel(out: fx.Tensor, warm: fx.Float32, step: fx.Int32) -> None:
        t = fx.thread_idx.x
        out[t] = warm + (t * step).to(fx.Float32)

    @flyc.jit
    def launch(out: fx.Tensor, warm: Celsius, step: Step) -> None:
        kernel(out, warm, step).launch(grid=1, block=(16, 1, 1))

    class Kelvin(Celsius): ...

    out = np.zeros(16, np.float32)
    for warm, step in ((Celsius(1.5), Step(3)), (Kelvin(-2.0), Step(7))):
        launch(out, warm, step)
        np.testing.assert_array_equal(out, warm.degrees + np.arange(16, dtype=np.float32) * step.width.value)


def test_lookup() -> None:
    registry = flyc.JitArgumentRegistry
    assert registry.get(Celsius) == (CelsiusArgument, fx.Float32)
    assert registry.get(bool) == (fx.Boolean, fx.Boolean)
    assert registry.get(int) == (fx.Int32, fx.Int32)
    assert registry.get(complex) is None
    assert registry.get_dsl_type(CelsiusArgument) is fx.Float32
    assert registry.get_dsl_type(Step) is fx.Int32
    assert registry.get_dsl_type(complex) is None


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="Celsius already has an argument adaptor"):
        flyc.JitArgumentRegistry.register(Celsius, dsl_type=fx.Int32)
    with pytest.raises(ValueError, match="int already has an argument adaptor"):
        flyc.JitArgumentRegistry.register(int, dsl_type=fx.Int32)
    with pytest.raises(ValueError, match="already is a jit argument"):
        flyc.JitArgumentRegistry.register_jit_arg(Step, fx.Int32)
    with pytest.raises(ValueError, match="does not say what the traced function sees") as caught:

        @flyc.JitArgumentRegistry.register(complex)
        class Complex: ...

    assert "dsl_type=fx.Int32" in str(caught.value)

    class Bare: ...

    flyc.JitArgumentRegistry.register_jit_arg(Bare, fx.Int32)

    @flyc.jit
    def launch(x: Any) -> None: ...

    with pytest.raises(TypeError, match="Bare is registered as a jit argument but has no __get_ir_types__"):
        launch(Bare())


def test_an_adaptor_may_carry_its_dsl_type() -> None:
    class Grams: ...

    @flyc.JitArgumentRegistry.register(Grams)
    class GramsArgument:
        dsl_type = fx.Float64

    assert flyc.JitArgumentRegistry.get(Grams) == (GramsArgument, fx.Float64)


def test_host_protocol_functions() -> None:
    pair = fx.Struct["a" : fx.Int32, "b" : fx.Float32](1, 2.0)
    assert protocol.get_ir_types([fx.Int32(1), {"x": fx.Float16(2)}, SimpleNamespace(y=pair)]) == [
        "i32", "f16", "i32", "f32",
    ]  # fmt: skip
    assert protocol.c_abi_spec(fx.Uint32(7)) == [("I", 7)]
    assert protocol.c_abi_spec(pair) == [("i", 1), ("f", 2.0)]
    assert protocol.c_abi_spec(Step(5)) == [("i", 5)]
    assert protocol.cache_signature(fx.Int32(1)) == protocol.cache_signature(fx.Int32(2))
    assert protocol.cache_signature(pair) != protocol.cache_signature([fx.Int32(1), fx.Float32(2.0)])
    hash(protocol.cache_signature([pair, {"x": Step(1)}]))
    with pytest.raises(TypeError, match="a list cannot be passed from the host"):
        protocol.c_abi_spec([fx.Int32(1)])
    with pytest.raises(TypeError, match="it has no __get_ir_types__"):
        protocol.get_ir_types(object())
    with pytest.raises(TypeError, match="BFloat16 cannot be passed from the host"):
        protocol.c_abi_spec(fx.BFloat16(1))


def test_protocol_classes() -> None:
    assert isinstance(fx.Struct[fx.Int32](1), protocol.DslType)
    assert isinstance(fx.Struct[fx.Int32], protocol.Storable)
    assert isinstance(fx.Array[fx.Int32, 4], protocol.Storable)


def test_peek_and_poke_by_type() -> None:
    pair = fx.Struct["a" : fx.Int32, "b" : fx.Float32]

    @flyc.kernel
    def kernel(out: fx.Tensor) -> None:
        place = fx.SharedAllocator().allocate(16)
        protocol.poke_into_ptr(pair, place, pair(3, 4.5))
        read = protocol.peek_from_ptr(pair, place)
        again = protocol.construct_from_ir_values(pair, read, protocol.extract_to_ir_values(read))
        out[fx.thread_idx.x] = again.a.to(fx.Float32) + again.b

    @flyc.jit
    def launch(out: fx.Tensor) -> None:
        kernel(out).launch(grid=1, block=(4, 1, 1))

    out = np.zeros(4, np.float32)
    launch(out)
    np.testing.assert_array_equal(out, np.full(4, 7.5, np.float32))

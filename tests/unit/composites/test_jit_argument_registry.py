"""User types as jit arguments, and the protocols behind them."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError
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


Hooks = dict[str, Any]


def adapted(**hooks: Any) -> Any:
    """A value of a new type that is a jit argument with these answers, which the traced function sees as a Float32."""
    kind = type("Given", (), {name: lambda self, answer=answer: answer for name, answer in hooks.items()})
    flyc.JitArgumentRegistry.register_jit_arg(kind, fx.Float32)
    return kind()


@flyc.kernel
def set_kernel(y: fx.Tensor, v: Any):
    y[0] = v


def put(y: Any, v: Any) -> None:
    @flyc.jit
    def put(y: fx.Tensor, v: Any):
        set_kernel(y, v).launch()

    put(y, v)


ONE = {"__get_ir_types__": ["f32"], "__cache_signature__": "s", "__c_abi_spec__": [("f", 2.5)]}
WRONG_ANSWERS: list[tuple[Hooks, str, str]] = [
    ({"__c_abi_spec__": [("d", 2.5)]}, r"entry 0 .* has the format 'd'.*\(f32\)", r'\[\("f", …\)\]'),
    ({"__c_abi_spec__": [("i", 2)]}, "has the format 'i'", '"f"'),
    ({"__c_abi_spec__": [("Q!", 2)]}, "has the format 'Q!'", '"f"'),
    ({"__c_abi_spec__": []}, r"has 0 entries, its IR types \(f32\) need 1", '"f"'),
    ({"__c_abi_spec__": [("f", 2.5), ("f", 3.5)]}, "has 2 entries", '"f"'),
    ({"__c_abi_spec__": [("f", "x")]}, r"entry 0 .*\('f', 'x'\), cannot be packed", "struct"),
    ({"__c_abi_spec__": [3.5]}, "has the entry 3.5", "a pair"),
    ({"__c_abi_spec__": None}, "is a NoneType", "return a list"),
    ({"__cache_signature__": ["x"]}, r"__cache_signature__ of Given cannot be hashed: \['x'\]", "tuple"),
    ({"__get_ir_types__": ["foo"]}, "the IR type foo, which cannot be passed", "f32"),
    ({"__get_ir_types__": ["i32"], "__c_abi_spec__": [("i", 2)]}, r"\['i32'\].*dsl_type=Float32", "agree"),
    ({"__get_ir_types__": ["f32", "f32"]}, r"has 1 entry, its IR types \(f32, f32\) need 2", '"f"'),
]


@pytest.mark.parametrize(("answers", "words", "advice"), WRONG_ANSWERS)
def test_wrong_answers_of_an_adaptor(answers: Hooks, words: str, advice: str) -> None:
    y = np.full(1, 77.0)
    with pytest.raises(FlyDSLError, match=f"(?s){words}.*help: .*{advice}"):
        put(y, adapted(**{**ONE, **answers}))
    assert y[0] == 77


def test_older_answers_are_counted_too() -> None:
    number = ctypes.c_float(2.5)
    answers = {"__get_ir_types__": ["f32"], "__get_c_pointers__": [ctypes.pointer(number)]}
    y = np.zeros(1)
    put(y, adapted(**answers))
    assert y[0] == 2.5
    for pointers, words in (([], "gives 0, it has 1 IR types"), ([None], "null pointer")):
        with pytest.raises(FlyDSLError, match=words):
            put(y, adapted(**{**answers, "__get_c_pointers__": pointers}))
    with pytest.raises(FlyDSLError, match="neither __c_abi_spec__ nor __get_c_pointers__"):
        put(y, adapted(__get_ir_types__=["f32"]))


def test_integers_of_any_name_that_have_the_size() -> None:
    @fx.struct
    class Two:
        a: fx.Int64
        b: fx.Int8

    class Sizes:
        def __get_ir_types__(self) -> list[str]:
            return ["i64", "i8"]

        def __c_abi_spec__(self) -> list[tuple[str, int]]:
            return [("n", -5), ("B", 200)]

        @classmethod
        def __construct_from_ir_values__(cls, values: Any) -> Any:
            return Two(a=fx.Int64(values[0]), b=fx.Int8(values[1]))

    flyc.JitArgumentRegistry.register_jit_arg(Sizes, Sizes)

    @flyc.kernel
    def sum_kernel(y: fx.Tensor, v: Two):
        y[0] = v.a
        y[1] = v.b.to(fx.Int64)

    @flyc.jit
    def total(y: fx.Tensor, v: Any):
        sum_kernel(y, v).launch()

    y = np.zeros(2, np.int64)
    total(y, Sizes())
    assert y.tolist() == [-5, -56]


def test_an_adaptor_that_changes_its_mind_is_caught_at_a_cached_call() -> None:
    class Fickle:
        spec: Any = [("f", 2.5)]

        def __get_ir_types__(self) -> list[str]:
            return ["f32"]

        def __cache_signature__(self) -> str:
            return "always"

        def __c_abi_spec__(self) -> Any:
            return self.spec

    flyc.JitArgumentRegistry.register_jit_arg(Fickle, fx.Float32)

    @flyc.jit
    def put(y: fx.Tensor, v: Any):
        set_kernel(y, v).launch()

    y, value = np.zeros(1), Fickle()
    for _ in range(3):
        put(y, value)
    bound = flyc.compile(put, y, value)
    bound(y, value)
    value.spec = [("d", 3.5)]
    for call in (put, bound):
        with pytest.raises(FlyDSLError, match="has the format 'd'"):
            call(y, value)
    assert y[0] == 2.5


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
    assert protocol.c_abi_spec(fx.BFloat16(1)) == [("H", 0x3F80)]
    with pytest.raises(TypeError, match="Float4E2M1FN cannot be passed from the host"):
        protocol.c_abi_spec(fx.Float4E2M1FN(1))


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

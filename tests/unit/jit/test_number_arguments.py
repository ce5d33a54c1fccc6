"""Numbers as arguments: floats are no integers, scalars of NumPy are numbers, and both paths say the same."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError


def setting(annotation: Any) -> Any:
    """``y[0] = v`` for a parameter of an annotation."""

    @flyc.kernel
    def set_kernel(y: fx.Tensor, v: Any):
        y[0] = v

    @flyc.jit
    def put(y: fx.Tensor, v: annotation):  # pyright: ignore[reportInvalidTypeForm]
        set_kernel(y, v).launch()

    return put


def put_by_every_path(annotation: Any, value: Any, first: Any, dtype: Any) -> list[Any]:
    """What arrives by a new function, a cached path, and a function compiled for ``first``."""
    found = []
    fresh, cached = setting(annotation), setting(annotation)
    for number in (first, value, value):
        cached(np.zeros(1, dtype), number)
    for call in (fresh, cached, flyc.compile(cached, np.zeros(1, dtype), first)):
        y = np.full(1, 77, dtype)
        call(y, value)
        found.append(y[0])
    return found


# Floats for integers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [3.5, 3.0, 1e300, math.nan, math.inf, fx.Float32(3.5), np.float32(3.5), np.float64(3)]
)
@pytest.mark.parametrize("kind", [fx.Int32, fx.Int64, fx.Uint8, fx.Boolean])
def test_a_float_is_no_integer(kind: Any, value: Any) -> None:
    put, y = setting(kind), np.full(1, 77.0)
    first = kind is fx.Boolean or 1
    bound = flyc.compile(put, y, first)
    y[0] = 77
    words = []
    for call in (setting(kind), put, bound):
        with pytest.raises(TypeError, match=f"argument 'v'.*: the parameter is an integer, {kind}, got the float") as e:
            call(y, value)
        assert isinstance(e.value, FlyDSLError)
        words.append((e.value.message.split(": ", 1)[1], e.value.hint))
    assert len(set(words)) == 1, "both paths say the same"
    assert y[0] == 77


def test_a_float_in_a_struct_is_no_integer() -> None:
    @fx.struct
    class Work:
        n: fx.Int32
        flag: fx.Boolean

    for bad in ({"n": 3.5, "flag": True}, {"n": 1 << 32, "flag": True}, {"n": 1, "flag": math.nan}):
        with pytest.raises(TypeError, match="cannot hold"):
            Work(**bad)
    assert Work(n=np.int64(7), flag=np.bool_(True)).n.value == 7


def test_a_number_of_a_class_derived_from_int_is_as_wide_as_it_needs() -> None:
    """Whatever was called before: a wide one makes no later one wide."""

    class Count(int):
        pass

    widths = []

    @flyc.kernel
    def kernel(y: fx.Tensor, v: Any):
        y[0] = v.dtype.width

    @flyc.jit
    def put(y: fx.Tensor, v: Any):
        kernel(y, v).launch()

    y = np.zeros(1, np.int32)
    for value in (5, 1 << 40, 5, 6, -7, 1 << 41):
        for number in (Count(value), value):
            put(y, number)
            widths.append(int(y[0]))
    assert widths == [32, 32, 64, 64, 32, 32, 32, 32, 32, 32, 64, 64]


def test_a_float_beyond_its_type_is_refused_on_every_path() -> None:
    beyond = [(fx.Float32, 1e39), (fx.Float32, -(10**400)), (fx.Float16, 65520.0), (fx.BFloat16, 3.4e38),
              (fx.Float64, 10**400), (fx.Float8E4M3FN, 465.0), (fx.Float32, np.float64(1e39))]  # fmt: skip
    for kind, value in beyond:
        put, y = setting(kind), np.full(1, 77.0)
        for _ in range(2):
            put(np.zeros(1), 1.0)
        for call in (setting(kind), put, flyc.compile(put, np.zeros(1), 1.0)):
            with pytest.raises(ValueError, match=f"does not fit {kind}"):
                call(y, value)
        assert y[0] == 77
    largest = float(np.nextafter((2 - 2.0**-24) * 2.0**127, 0))
    for kind, value in ((fx.Float32, largest), (fx.Float32, -math.inf), (fx.Float16, 65519.0), (fx.Float16, math.inf)):
        expected = np.float32(value) if kind is fx.Float32 else np.float16(value)
        assert put_by_every_path(kind, value, 1.0, np.float64) == [expected] * 3
    assert np.isnan(put_by_every_path(fx.Float32, math.nan, 1.0, np.float64)).all()


def test_a_struct_refuses_floats_beyond_its_fields() -> None:
    @fx.struct
    class Work:
        factor: fx.Float32

    with pytest.raises(TypeError, match=r"is a Float32, which cannot hold 1e\+39"):
        Work(factor=1e39)
    assert Work(factor=math.inf).factor.value == math.inf


# Scalars of NumPy ----------------------------------------------------------------------------------------------------

OF_THEIR_OWN_TYPE = [
    (np.float32(2.5), "Float32"), (np.float64(1.1), "Float64"), (np.float16(0.5), "Float16"),
    (np.int64(3), "Int64"), (np.int32(-3), "Int32"), (np.int8(-3), "Int8"), (np.uint8(200), "Uint8"),
    (np.uint64((1 << 63) + 4), "Uint64"), (np.bool_(True), "Boolean"),
    (ml_dtypes.bfloat16(1.5), "BFloat16"), (ml_dtypes.float8_e4m3fn(0.875), "Float8E4M3FN"),
    (ml_dtypes.float8_e5m2(-96), "Float8E5M2"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "name"), OF_THEIR_OWN_TYPE, ids=[row[1] for row in OF_THEIR_OWN_TYPE])
def test_a_numpy_scalar_has_its_own_type(value: Any, name: str) -> None:
    dtype = np.float64 if np.dtype(value.dtype).kind in "fV" else value.dtype
    other = type(value)(1)
    assert put_by_every_path(Any, value, other, dtype) == [value] * 3
    put = setting(Any)
    put(np.zeros(1, dtype), value)
    assert put.specialisations[0].arguments[1] == f"v: {name}"


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (fx.Int32, np.int64(3)), (fx.Int64, np.uint8(200)), (fx.Float32, np.float64(2.5)), (fx.Float32, np.int16(-2)),
        (fx.Float64, np.float32(0.5)), (fx.Boolean, np.bool_(True)), (fx.Float32, ml_dtypes.bfloat16(1.5)),
        (fx.Int32, np.bool_(True)), (fx.BFloat16, np.float32(2.0)), (fx.BFloat16, 3), (fx.Float8E4M3FN, 0.5),
    ],
)  # fmt: skip
def test_an_annotation_decides(annotation: Any, value: Any) -> None:
    assert put_by_every_path(annotation, value, 1, np.float64) == [float(value)] * 3
    put = setting(annotation)
    put(np.zeros(1), 1)
    put(np.zeros(1), value)
    assert len(put.specialisations) == 1


def test_numpy_scalars_that_do_not_fit() -> None:
    put, y = setting(fx.Int32), np.full(1, 77.0)
    bound = flyc.compile(put, y, 1)
    y[0] = 77
    for call in (put, bound):
        with pytest.raises(ValueError, match="1099511627776 does not fit Int32"):
            call(y, np.int64(1 << 40))
    for bad in (np.complex64(1), np.longdouble(1), np.datetime64(1, "s"), np.str_("3")):
        for call in (setting(Any), put, bound):
            with pytest.raises(TypeError, match="argument 'v'"):
                call(y, bad)
    assert y[0] == 77


def test_numpy_scalars_as_constexpr() -> None:
    @flyc.kernel
    def set_kernel(y: fx.Tensor, n: fx.Constexpr[int]):
        assert type(n) is int
        y[0] = n

    @flyc.jit
    def put(y: fx.Tensor, n: fx.Constexpr[int], more: fx.Constexpr[tuple[int, ...]] = ()):
        assert type(n) is int and all(type(item) is int for item in more)
        set_kernel(y, np.int64(n)).launch()

    y = np.zeros(1, np.int64)
    for n in (np.int64(3), 3, np.uint8(3), np.int32(4), 4):
        y[:] = 0
        put(y, n)
        assert y[0] == n
    put(y, 4, (np.int64(1), 2))
    put(y, 4, (1, np.int64(2)))
    assert [s.arguments[1:] for s in put.specialisations] == [
        ("n: Constexpr 3", "more: Constexpr ()"), ("n: Constexpr 4", "more: Constexpr ()"),
        ("n: Constexpr 4", "more: Constexpr (1, 2)"),
    ]  # fmt: skip


def test_numpy_scalars_inside_a_jit_function() -> None:
    scale = np.float64(2.5)

    @flyc.kernel
    def set_kernel(y: fx.Tensor, v: Any, w: fx.Float32):
        y[0] = v
        y[1] = w

    @flyc.jit
    def put(y: fx.Tensor):
        set_kernel(y, np.float32(1.5), scale).launch()

    y = np.zeros(2)
    put(y)
    assert y.tolist() == [1.5, 2.5]


# From a jit function to a kernel -------------------------------------------------------------------------------------


@flyc.kernel
def square_kernel(y: fx.Tensor, wide: fx.Int64, real: fx.Float32, narrow: fx.Int8):
    y[0] = wide * wide
    y[1] = (real * 3 // 2).to(fx.Int64)
    y[2] = narrow * 1000


@flyc.jit
def square(y: fx.Tensor, n: fx.Int32):
    square_kernel(y, n, n, n).launch()


@flyc.jit
def square_known(y: fx.Tensor):
    square_kernel(y, 100_000, 100_000, 100_000).launch()


def test_integers_become_the_annotated_type_of_a_kernel_where_it_is_wider() -> None:
    """The kernel says Int64: its squares must not wrap around in 32 bits. No number loses digits for it."""
    for call, arguments in ((square, (100_000,)), (square_known, ())):
        y = np.full(3, 77, np.int64)
        call(y, *arguments)
        assert y.tolist() == [10**10, 150_000, 10**8]


@flyc.kernel
def signs_kernel(y: fx.Tensor, wide: fx.Uint64, unsigned: fx.Uint32, signed: fx.Int32, real: fx.Float32):
    y[0] = (wide * 65536).to(fx.Int64)
    y[1] = fx.Int64(1) if unsigned - 6 > 0 else fx.Int64(0)
    y[2] = fx.Int64(1) if signed - 6 < 0 else fx.Int64(0)
    y[3] = (real * real).to(fx.Int64)


@flyc.jit
def signs(y: fx.Tensor, n: fx.Int32, small: fx.Int32, natural: fx.Uint32, half: fx.Float16):
    signs_kernel(y, n, small, natural, half).launch()


@flyc.jit
def signs_known(y: fx.Tensor):
    signs_kernel(y, 65536, 5, 5, 1000).launch()


def test_the_annotation_of_a_kernel_says_the_sign_and_the_width_of_its_numbers() -> None:
    """The kernel says what it counts in: 2**32 in Uint64, no -1 in Uint32, 1000**2 in Float32."""
    for call, arguments in ((signs, (65536, 5, 5, 1000.0)), (signs_known, ())):
        y = np.full(4, 77, np.int64)
        call(y, *arguments)
        assert y.tolist() == [2**32, 1, 1, 10**6]


@flyc.kernel
def bits_kernel(y: fx.Tensor, unsigned: fx.Uint64, signed: fx.Int64):
    y[0] = unsigned.to(fx.Int64)
    y[1] = signed


@flyc.jit
def bits(y: fx.Tensor, n: fx.Int32, natural: fx.Uint32):
    bits_kernel(y, n, natural).launch()


def test_widening_keeps_the_value_of_a_number() -> None:
    y = np.full(2, 77, np.int64)
    bits(y, -1, 2**32 - 1)
    assert y.tolist() == [-1, 2**32 - 1]


def test_the_advice_for_a_number_that_only_unsigned_types_hold() -> None:
    @flyc.jit
    def nothing(n): ...

    with pytest.raises(ValueError, match=r"does not fit Int64\n(.*\n)*.*such as fx\.Uint64"):
        nothing(1 << 63)

"""What annotations and declarations of parameters promise: arguments of another kind are refused by name."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError


@fx.struct
class Pair:
    t: fx.Tensor
    a: fx.Float32


@fx.struct
class OtherPair:
    t: fx.Tensor
    a: fx.Float32


@flyc.kernel
def tensor_kernel(x: fx.Tensor):
    x[0] = 1.0


@flyc.jit
def of_tensor(v: fx.Tensor):
    tensor_kernel(v).launch()


@flyc.kernel
def pair_kernel(pair: Pair):
    pair.t[0] = pair.a


@flyc.jit
def of_struct(v: Pair):
    pair_kernel(v).launch()


@flyc.jit
def of_number(v: fx.Int32):
    pass


@flyc.jit
def of_pointer(v: fx.Pointer):
    pass


ARRAY = np.zeros(4, np.float32)
POINTER = flyc.from_c_void_p(fx.Float32, ARRAY.ctypes.data)
CASES: list[tuple[Any, Any, str, str]] = [
    (of_tensor, None, "fx.Tensor, got NoneType", "NumPy or torch array"),
    (of_tensor, 3, "fx.Tensor, got int", "NumPy or torch array"),
    (of_tensor, np.float32(3), "fx.Tensor, got float32", "NumPy or torch array"),
    (of_tensor, fx.Float32(3), "fx.Tensor, got Float32", "NumPy or torch array"),
    (of_tensor, Pair(t=ARRAY, a=1.0), "fx.Tensor, got Pair", "NumPy or torch array"),
    (of_tensor, POINTER, "fx.Tensor, got PointerArgument", "NumPy or torch array"),
    (of_tensor, fx.Stream(None), "fx.Tensor, got Stream", "NumPy or torch array"),
    (of_struct, 5, "Pair, got int", r"Pair\(...\)"),
    (of_struct, None, "Pair, got NoneType", r"Pair\(...\)"),
    (of_struct, ARRAY, "Pair, got ndarray", r"Pair\(...\)"),
    (of_struct, OtherPair(t=ARRAY, a=1.0), "Pair, got OtherPair", r"Pair\(...\)"),
    (of_number, ARRAY, "fx.Int32, got ndarray", "pass a number"),
    (of_number, None, "fx.Int32, got NoneType", "pass a number"),
    (of_pointer, ARRAY, "fx.Pointer, got ndarray", "from_c_void_p"),
    (of_pointer, 4096, "fx.Pointer, got int", "from_c_void_p"),
]


@pytest.mark.parametrize(("call", "value", "words", "advice"), CASES)
def test_an_argument_of_another_kind(call: Any, value: Any, words: str, advice: str) -> None:
    with pytest.raises(FlyDSLError, match=f"(?s)argument 'v': it is annotated {words}.*help: .*{advice}") as caught:
        call(value)
    assert isinstance(caught.value, TypeError)
    assert caught.value.location is not None and caught.value.location.file == __file__


def test_a_field_of_another_kind_is_named() -> None:
    for value in (None, 3):
        with pytest.raises(FlyDSLError, match=r"argument 'v': field 't': it is annotated fx.Tensor"):
            of_struct(Pair(t=value, a=1.0))


def test_what_fits_is_taken() -> None:
    of_tensor(ARRAY)
    assert ARRAY[0] == 1
    of_struct(Pair(t=flyc.from_dlpack(ARRAY), a=2.5))
    assert ARRAY[0] == 2.5
    of_number(True)
    of_pointer(POINTER)


# Keyword-only parameters ---------------------------------------------------------------------------------------------


ONE = fx.Int32(1)


@flyc.kernel
def fill_kernel(x: fx.Tensor, /, *, value: fx.Float32, block: fx.Constexpr[int]):
    if fx.thread_idx.x < block:
        x[fx.thread_idx.x] = value


@flyc.jit
def fill(
    x: fx.Tensor, /, n: fx.Int32 = ONE, *, value: fx.Float32, block: fx.Constexpr[int] = 4,
    stream: fx.Stream = fx.Stream(None),
):  # fmt: skip
    fill_kernel(x, value=value, block=block).launch(grid=(n, 1, 1), block=(block, 1, 1), stream=stream)


def test_keyword_only_parameters() -> None:
    for _ in range(3):
        for call, expected in (
            (lambda x: fill(x, value=2.5), [2.5] * 4),
            (lambda x: fill(x, 1, value=3), [3.0] * 4),
            (lambda x: fill(x, n=1, block=2, value=4.0), [4.0, 4.0, 0, 0]),
            (lambda x: fill(x, stream=None, value=5.0), [5.0] * 4),
        ):
            x = np.zeros(4, np.float32)
            call(x)
            assert x.tolist() == expected
    assert len(fill.specialisations) == 2


def test_keyword_only_parameters_of_compiled_code() -> None:
    """It is called by position, whatever the function's signature."""
    x = np.zeros(4, np.float32)
    bound = flyc.compile(fill, x, value=1.0)
    bound(x, 1, 6.0)
    assert (x == 6).all()
    bound(x, 1, 7.0, 4, None)
    assert (x == 7).all()
    with pytest.raises(TypeError, match="takes 5 positional arguments, got 2"):
        bound(x, 1)
    fill.warmup(x, value=1.0, block=3)


@pytest.mark.parametrize(
    ("args", "named", "words"),
    [
        ((1, 2.0), {}, "too many positional"),
        ((1, 2.0, 4, None), {}, "too many positional"),
        ((), {}, "missing a required (keyword-only )?argument: 'value'"),
        ((), {"value": 1.0, "wrong": 2}, "unexpected keyword argument 'wrong'"),
        ((1,), {"value": 1.0, "n": 2}, "multiple values for argument 'n'"),
    ],
)
def test_wrong_calls_show_the_signature(args: Any, named: Any, words: str) -> None:
    with pytest.raises(FlyDSLError, match=f"(?s){words}.*its parameters are x, n, \\*, value, block, stream"):
        fill(np.zeros(4, np.float32), *args, **named)


def test_positional_only_parameters_have_no_name() -> None:
    with pytest.raises(FlyDSLError, match="call of 'fill'"):
        fill(x=np.zeros(4, np.float32), value=1.0)


def test_a_kernel_with_keyword_only_parameters_is_called_by_name() -> None:
    @flyc.jit
    def wrongly(x: fx.Tensor):
        fill_kernel(x, 1.0, 4).launch(block=(4, 1, 1))

    with pytest.raises(FlyDSLError, match="too many positional"):
        wrongly(np.zeros(4, np.float32))


# Compile-time parameters ---------------------------------------------------------------------------------------------


@flyc.kernel
def constant_kernel(out: fx.Tensor, n: fx.Constexpr[int], scale: fx.Constexpr[float]):
    out[0] = n * scale


@flyc.jit
def constants(out: fx.Tensor, n: fx.Constexpr[int], scale: fx.Constexpr[float] = 1, name: fx.Constexpr[str] = ""):
    constant_kernel(out, n, scale).launch()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((2.5,), r"'n': it is annotated fx.Constexpr\[int\], got the float 2.5"),
        (("4",), r"'n': it is annotated fx.Constexpr\[int\], got the str '4'"),
        ((np.float32(2.5),), r"'n': it is annotated fx.Constexpr\[int\], got the float 2.5"),
        ((1, "2"), r"'scale': it is annotated fx.Constexpr\[float\], got the str '2'"),
        ((1, 2.0, 3), r"'name': it is annotated fx.Constexpr\[str\], got the int 3"),
    ],
)
def test_a_constant_of_another_kind(args: Any, words: str) -> None:
    with pytest.raises(FlyDSLError, match=words):
        constants(ARRAY, *args)


@pytest.mark.parametrize("args", [(3, 2.0), (True, 2), (np.int64(3), np.float32(2)), (fx.Int32(3), 2.0)])
def test_constants_of_the_kind(args: Any) -> None:
    out = np.zeros(1, np.float32)
    constants(out, *args)
    assert out[0] == float(getattr(args[0], "value", args[0])) * float(args[1])


@pytest.mark.parametrize("kind", [np.float32, np.float16, fx.Float16])
def test_a_type_is_a_constant_of_a_kernel(kind: Any) -> None:
    """Classes of NumPy have the attributes of arrays, and are none."""

    @flyc.kernel
    def kernel(out: fx.Tensor, kind: fx.Constexpr[type]):
        out[0] = 2 if kind is np.float16 else 1

    @flyc.jit
    def host(out: fx.Tensor, kind: fx.Constexpr[type]):
        kernel(out, kind).launch()

    out = np.zeros(1, np.float32)
    host(out, kind)
    assert out[0] == (2 if kind is np.float16 else 1)


def test_a_run_time_number_is_no_constant_of_a_kernel() -> None:
    @flyc.jit
    def host(out: fx.Tensor, n: fx.Int32):
        constant_kernel(out, n, 1.0).launch()

    with pytest.raises(FlyDSLError, match=r"argument 'n': it is annotated fx.Constexpr, and a run-time Int32"):
        host(ARRAY, 3)


def test_a_wrong_call_of_a_kernel_is_placed_at_the_call() -> None:
    @flyc.jit
    def host(out: fx.Tensor):
        constant_kernel(out).launch()  # here

    with pytest.raises(FlyDSLError, match="missing a required argument") as caught:
        host(ARRAY)
    location = caught.value.location
    assert location is not None
    assert linecache.getline(location.file, location.line).strip().endswith("# here")

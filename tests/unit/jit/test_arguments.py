"""Arguments of jit functions: every kind of array, marks, pointers, streams, structs and user types."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from inspect import signature
from types import ModuleType, SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError
from flydsl.compiler.arguments.kinds import Dynamic
from flydsl.compiler.jit_argument import adapt, convert_to_jit_arguments
from flydsl.runtime import array_view
from tests.support import random_data
from tests.support.only_dlpack import OnlyDlpack
from tests.unit.jit.kernels import copying, scaling

copy = copying()
scale = scaling()


def matrix(shape: tuple[int, ...] = (4, 6), dtype: Any = np.float32) -> np.ndarray:
    return random_data.generator().integers(-4, 4, shape).astype(dtype)


def copied(x: Any, y: np.ndarray) -> None:
    """Copy three times: the full path, the path of a new specialisation, and the cached one."""
    for _ in range(3):
        y[:] = 1
        copy(x, y, *y.shape)


# Element types -------------------------------------------------------------------------------------------------------

NARROW = [
    ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e5m2fnuz,
]  # fmt: skip


@pytest.mark.parametrize("dtype", [*NARROW, np.bool_, np.uint16, np.uint32, np.uint64], ids=lambda d: d.__name__)
def test_element_types(dtype: Any) -> None:
    x, y = matrix(dtype=dtype), matrix(dtype=dtype)
    copied(x, y)
    np.testing.assert_array_equal(y.view(np.uint8), x.view(np.uint8))


def test_every_byte_of_a_truth_value_but_zero_is_true() -> None:
    """As to torch and NumPy, which make such views of other bytes; the lowest bit alone was asked."""
    x = np.array([[0, 1, 2, 255, 128, 0]], np.uint8).repeat(4, 0)
    y = np.zeros(x.shape, np.uint8)
    copied(x.view(np.bool_), y.view(np.bool_))
    np.testing.assert_array_equal(y, x != 0)


def test_numbers_of_narrow_floats_arrive() -> None:
    x = np.array([0.5, -2.0, 96.0, 0.0], ml_dtypes.float8_e4m3fn)
    y = np.zeros(4, ml_dtypes.bfloat16)
    for _ in range(2):
        scale(x, y, 2.0)
    assert y.tolist() == [1.0, -4.0, 192.0, 0.0]


# Layouts -------------------------------------------------------------------------------------------------------------


def test_views_of_all_sorts_after_one_another() -> None:
    """One cached path serves none of the others' layouts."""
    base = matrix((12, 20))
    views = [base, base[2:7, 3:9], base[::2, 4:8], base.T, base.T[3:5, ::1], base[:, :1], base[:1], base[5:5]]
    for _ in range(2):
        for x in views:
            y = np.full(x.shape, 9, np.float32)
            if x.size:
                copy(x, y, *x.shape)
                np.testing.assert_array_equal(y, x)
            else:
                copy(x, y, 0, 6)


def test_zero_size_tensors() -> None:
    for shape in ((0, 4), (4, 0)):
        x, y = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        for _ in range(2):
            copy(x, y, 0, 4)


def test_one_element_with_any_strides() -> None:
    x = np.lib.stride_tricks.as_strided(np.array([5.0], np.float32), (1, 1), (52, 36))
    for _ in range(3):
        y = np.zeros((1, 1), np.float32)
        copy(x, y, 1, 1)
        assert y[0, 0] == 5
    compiled = flyc.compile(copy, matrix(), matrix(), 4, 6)
    y = np.zeros((1, 1), np.float32)
    compiled(x, y, 1, 1)
    assert y[0, 0] == 5


def test_negative_strides() -> None:
    x = matrix()[::-1]
    y = np.zeros((4, 6), np.float32)
    for _ in range(2):
        copy(x, y, 4, 6)
        np.testing.assert_array_equal(y, x)


def giant(rows: int) -> np.ndarray:
    """A matrix of more than 2**31 rows over one row of memory."""
    return np.lib.stride_tricks.as_strided(np.arange(8, dtype=np.float32), (rows, 8), (0, 4))


def test_shapes_over_two_to_the_31() -> None:
    @flyc.kernel
    def shape_kernel(x: fx.Tensor, out: fx.Tensor):
        out[0] = fx.Int64(fx.get_scalar(fx.size(x)))
        out[1] = x[fx.get_scalar(fx.get_shape(x)[0]) - 1, 3].to(fx.Int64)

    @flyc.jit
    def shapes(x: fx.Tensor, out: fx.Tensor):
        shape_kernel(x, out).launch()

    for rows in (5, (1 << 31) + 7, 3, (1 << 31) - 1, 1 << 35, 4):
        for x in (giant(rows), flyc.from_dlpack(giant(rows)).mark_layout_dynamic()):
            out = np.zeros(2, np.int64)
            shapes(x, out)
            assert out.tolist() == [rows * 8, 3]
    small = flyc.compile(shapes, giant(5), np.zeros(2, np.int64))
    with pytest.raises(ValueError, match=r"argument 'x'.*extent 0 is 2147483655; the code was compiled for 32-bit"):
        small(giant((1 << 31) + 7), np.zeros(2, np.int64))
    large = flyc.compile(shapes, giant(1 << 33), np.zeros(2, np.int64))
    out = np.zeros(2, np.int64)
    large(giant(6), out)
    assert out[0] == 48


def test_large_strides() -> None:
    huge = np.lib.stride_tricks.as_strided(np.arange(6, dtype=np.int8), (1, 6), (1 << 40, 1))
    y = np.zeros((1, 6), np.int8)
    for x in (huge, flyc.from_dlpack(huge, use_32bit_stride=True), flyc.from_dlpack(huge).mark_stride_dynamic(0)):
        copy(x, y, 1, 6)
        assert y.tolist() == [[0, 1, 2, 3, 4, 5]]


def test_unaligned_and_foreign_memory_is_refused() -> None:
    raw = np.zeros(33, np.uint8)
    odd = np.ndarray((8,), np.float32, raw.data, offset=1 if raw.ctypes.data % 4 == 0 else 0)
    scale(np.ones(8, np.float32), np.ones(8, np.float32), 1.0)
    with pytest.raises(TypeError, match=r"argument 'x'.*not aligned to its 4-byte element"):
        scale(odd, np.ones(8, np.float32), 1.0)
    with pytest.raises(TypeError, match="byte order"):
        scale(np.ones(8, ">f4"), np.ones(8, np.float32), 1.0)
    uneven = np.lib.stride_tricks.as_strided(np.ones(8, np.float32), (2, 2), (6, 4))
    with pytest.raises(TypeError, match="no multiples of the 4-byte element"):
        copy(uneven, uneven, 2, 2)


# Protocols of arrays -------------------------------------------------------------------------------------------------


def test_dlpack_objects_through_every_path() -> None:
    x, y = matrix(), np.zeros((4, 6), np.float32)
    for _ in range(3):
        y[:] = 0
        copy(OnlyDlpack(x), OnlyDlpack(y), 4, 6)
        np.testing.assert_array_equal(y, x)
    compiled = flyc.compile(copy, OnlyDlpack(x), y, 4, 6)
    y[:] = 0
    compiled(OnlyDlpack(x), y, 4, 6)
    np.testing.assert_array_equal(y, x)
    with pytest.raises(TypeError, match=r"'x'.*f64"):
        compiled(OnlyDlpack(x.astype(np.float64)), y, 4, 6)
    with pytest.raises(TypeError, match="does not hand out its data"):
        copy(OnlyDlpack(np.zeros((4, 6), ">f4")), y, 4, 6)


def cuda_object(**changes: Any) -> Any:
    interface = {"shape": (4, 6), "typestr": "<f4", "data": (4096, False), "version": 3, "strides": None, **changes}
    return SimpleNamespace(__cuda_array_interface__=interface, device=SimpleNamespace(id=1))


def test_cuda_array_interface() -> None:
    view = array_view.of(cuda_object())
    assert view is not None
    assert (view.pointer, view.elem, view.shape, view.strides) == (4096, "f32", (4, 6), (6, 1))
    assert view.device == ("cuda", 1) and view.writable
    view = array_view.of(cuda_object(strides=(4, 16), typestr="|u1", data=(4097, True)))
    assert view is not None and (view.elem, view.strides, view.writable) == ("i8", (4, 16), False)
    for changes, words in (
        ({"typestr": ">f4"}, "byte order"),
        ({"typestr": "<c8"}, "cannot be passed"),
        ({"strides": (6, 4)}, "no multiples"),
        ({"mask": object()}, "masked"),
        ({"data": (4098, False)}, "not aligned"),
    ):
        with pytest.raises(TypeError, match=words):
            array_view.of(cuda_object(**changes))


def test_torch_tensors_of_other_kinds(torch: ModuleType) -> None:
    x, y = torch.randn(4, 6), torch.zeros(4, 6)
    for value in (x, x.to(torch.float64).to(torch.float32), torch.nn.Parameter(x), x.T.contiguous().T):
        for _ in range(3):
            y.zero_()
            copy(value, y, 4, 6)
            assert torch.equal(y, value)
    narrow = x.to(torch.float8_e4m3fn)
    out = torch.zeros(4, 6, dtype=torch.float8_e4m3fn)
    for _ in range(3):
        copy(narrow, out, 4, 6)
        assert torch.equal(out.view(torch.uint8), narrow.view(torch.uint8))
    negated = torch.randn(4, 6, dtype=torch.complex64).conj().imag
    with pytest.raises(TypeError, match="lazily negated"):
        copy(flyc.from_torch_tensor(negated), y, 4, 6)
    with pytest.raises(TypeError, match="no plain memory"):
        copy(x.to_sparse(), y, 4, 6)
    with pytest.raises(TypeError, match="complex64"):
        copy(torch.zeros(4, 6, dtype=torch.complex64), y, 4, 6)


# Marks ---------------------------------------------------------------------------------------------------------------


def test_marks_say_what_is_static() -> None:
    x = np.zeros((4, 6, 8), np.float32)
    ANY = Dynamic()
    adaptor = flyc.from_dlpack(x)
    assert adaptor.adapted.shape_code == (4, 6, 8) and adaptor.adapted.stride_code == (48, 8, 1)
    adaptor.mark_shape_dynamic([0, -1], divisibility=[2, 8]).mark_stride_dynamic(0, 16)
    assert adaptor.adapted.shape_code == (Dynamic(2), 6, Dynamic(8))
    assert adaptor.adapted.stride_code == (Dynamic(16), 8, 1)
    adaptor.mark_layout_dynamic(divisibility=8)
    assert adaptor.adapted.shape_code == (ANY,) * 3
    assert adaptor.adapted.stride_code == (Dynamic(8), Dynamic(8), 1)
    assert flyc.from_dlpack(x).mark_layout_dynamic(leading_dim=-1).adapted.stride_code == (ANY, ANY, 1)


Mark = Callable[[Any], Any]
MARKS: list[tuple[Mark, type[Exception], str]] = [
    (lambda t: t.mark_layout_dynamic(leading_dim=0), ValueError, r"stride 1, the strides are \(6, 1\)"),
    (lambda t: t.mark_layout_dynamic(leading_dim=2), ValueError, "dimension 2 of a tensor of rank 2"),
    (lambda t: t.mark_layout_dynamic(divisibility=3), ValueError, "power of two"),
    (lambda t: t.mark_layout_dynamic(divisibility=4), ValueError, "stride 6 of dimension 0 is not divisible by 4"),
    (lambda t: t.mark_layout_dynamic(divisibility=0), ValueError, "power of two"),
    (lambda t: t.mark_shape_dynamic(0, divisibility=8), ValueError, "extent 4 of dimension 0 is not divisible by 8"),
    (lambda t: t.mark_shape_dynamic([0, 1], divisibility=[2]), ValueError, "2 dimensions but 1 divisibilities"),
    (lambda t: t.mark_shape_dynamic(-3), ValueError, "dimension -3"),
    (lambda t: t.mark_shape_dynamic([0.5]), TypeError, "a dimension is an int"),
    (lambda t: t.mark_stride_dynamic(1, 2), ValueError, "stride 1 of dimension 1 is not divisible by 2"),
    (lambda t: t.mark_stride_dynamic(0, divisibility=["2"]), TypeError, "must be an int"),
]


@pytest.mark.parametrize(("mark", "kind", "words"), MARKS, ids=[str(n) for n in range(len(MARKS))])
def test_bad_marks(mark: Mark, kind: type[Exception], words: str) -> None:
    adaptor = flyc.from_dlpack(np.zeros((4, 6), np.float32))
    before = adaptor.adapted
    with pytest.raises(FlyDSLError, match=words) as caught:
        mark(adaptor)
    assert isinstance(caught.value, kind) and adaptor.adapted is before
    assert caught.value.location is not None and caught.value.location.file == __file__


def test_bad_alignment() -> None:
    x = np.zeros(64, np.float32)
    for align, kind, words in ((2, ValueError, "4-byte"), (12, ValueError, "power of two"), ("8", TypeError, "an int")):
        with pytest.raises(kind, match=words):
            flyc.from_dlpack(x, assumed_align=align)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not aligned to assumed_align=1048576"):
        flyc.from_dlpack(x[1:], assumed_align=1 << 20)


def test_an_adaptor_is_marked_again_between_calls() -> None:
    x, y = matrix(), np.zeros((4, 6), np.float32)
    adaptor = flyc.from_dlpack(x)
    for mark in (lambda: None, adaptor.mark_layout_dynamic, lambda: adaptor.mark_layout_dynamic(divisibility=2)):
        mark()
        for _ in range(2):
            y[:] = 0
            copy(adaptor, y, 4, 6)
            np.testing.assert_array_equal(y, x)


# Pointers ------------------------------------------------------------------------------------------------------------


def test_raw_pointers() -> None:
    @flyc.kernel
    def kernel(source: fx.Pointer, out: fx.Tensor):
        i = fx.thread_idx.x
        out[i] = source[i] * 2

    @flyc.jit
    def run(source: fx.Pointer, out: fx.Tensor):
        kernel(source, out).launch(block=(8, 1, 1))

    data, out = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    address = data.ctypes.data
    for pointer in (address, ctypes.c_void_p(address)):
        for _ in range(2):
            out[:] = 0
            run(flyc.from_c_void_p(fx.Int32, pointer), out)
            np.testing.assert_array_equal(out, data * 2)
    compiled = flyc.compile(run, flyc.from_c_void_p(fx.Int32, address), out)
    compiled(flyc.from_c_void_p(fx.Int32, address + 4), out)
    assert out[0] == 2
    with pytest.raises(TypeError, match="'source'"):
        compiled(flyc.from_c_void_p(fx.Float32, address), out)
    for bad, kind, words in (
        ("4096", TypeError, "an int or a ctypes.c_void_p"), (True, TypeError, "an int or a ctypes.c_void_p"),
        (address + 2, ValueError, "not aligned to 4 bytes"),
    ):  # fmt: skip
        with pytest.raises(kind, match=words):
            flyc.from_c_void_p(fx.Int32, bad)
    with pytest.raises(ValueError, match="shared memory"):
        flyc.from_c_void_p(fx.Int32, address, address_space=fx.AddressSpace.Shared)
    with pytest.raises(ValueError, match="power of two"):
        flyc.from_c_void_p(fx.Int32, address, assumed_align=3)


# Streams -------------------------------------------------------------------------------------------------------------


class OtherStream:
    """A stream of torch's form that belongs to a CUDA device."""

    cuda_stream = 4096
    device_index = 0


def test_streams() -> None:
    x, y = np.ones(8, np.float32), np.zeros(8, np.float32)
    for stream in (None, 0, fx.Stream(None), fx.Stream(0), fx.Stream(fx.Stream(None)), 1 << 47):
        for _ in range(2):
            scale(x, y, 3.0, stream=stream)
    np.testing.assert_array_equal(y, x * 3)
    for stream, kind, words in (
        ("main", TypeError, "str is no stream"), (1.5, TypeError, "float is no stream"),
        (True, TypeError, "bool is no stream"), (-1, ValueError, "no stream handle"),
        (1 << 64, ValueError, "no stream handle"), (fx.Stream("main"), TypeError, "str is no stream"),
        (x, TypeError, "ndarray is no stream"),
        (OtherStream(), ValueError, "belongs to cuda:0, but the call runs on the host"),
        (fx.Stream(OtherStream()), ValueError, "cuda:0"),
    ):  # fmt: skip
        with pytest.raises(kind, match=f"argument 'stream': .*{words}"):
            scale(x, y, 3.0, stream=stream)


# Numbers -------------------------------------------------------------------------------------------------------------


def test_numbers_without_annotation_are_as_wide_as_they_need() -> None:
    @flyc.kernel
    def kernel(out: fx.Tensor, n: Any, width: fx.Constexpr[int]):
        out[0] = fx.Int64(n * n)
        out[1] = fx.Int64(width)

    @flyc.jit
    def square(out: fx.Tensor, n: Any):
        kernel(out, n, n.dtype.width).launch()

    out = np.zeros(2, np.int64)
    for n, width in ((3, 32), (1 << 31, 64), (5, 32), (-(1 << 31), 32), ((1 << 31) - 1, 32), (6, 32)):
        square(out, n)
        expected = n * n if width == 64 else (n * n + (1 << 31)) % (1 << 32) - (1 << 31)
        assert out.tolist() == [expected, width]


def test_numbers_that_do_not_fit() -> None:
    x, y = np.ones(8, np.float32), np.ones(8, np.float32)
    scale(x, y, 1.0)
    with pytest.raises(ValueError, match="argument 'shift': 4294967296 does not fit Int32"):
        scale(x, y, 1.0, 1 << 32)
    for beyond in (1e300, -1e39, 10**39, 10**400):
        with pytest.raises(ValueError, match=r"argument 'factor': \S+ does not fit Float32\n(.*\n)*.*float\('inf'\)"):
            scale(x, y, beyond)
    for said in (float("inf"), float("-inf"), float("nan"), fx.Float32(1e39)):
        scale(x, y, said)
        np.testing.assert_array_equal(y, np.full(8, said.value if isinstance(said, fx.Float32) else said))
    scale(x, y, fx.Float32(2.5), fx.Int32(1))
    np.testing.assert_array_equal(y, x * np.float32(3.5))
    scale(x, y, 2, True)
    np.testing.assert_array_equal(y, x * 3)


# Structs -------------------------------------------------------------------------------------------------------------


def test_structs_hold_tensors_and_numbers() -> None:
    @fx.struct
    class Work:
        x: fx.Tensor
        y: fx.Tensor
        factor: fx.Float32
        block: fx.Constexpr[int]

    @flyc.kernel
    def kernel(work: Work):
        i = fx.thread_idx.x
        work.y[i] = work.x[i] * work.factor

    @flyc.jit
    def run(work: Work):
        kernel(work).launch(block=(work.block, 1, 1))

    for block in (8, 16, 8):
        for _ in range(2):
            x, y = random_data.generator().standard_normal(block).astype(np.float32), np.zeros(block, np.float32)
            run(Work(x=x, y=y, factor=2.0, block=block))
            np.testing.assert_array_equal(y, x * 2)
    assert len(run.specialisations) == 2
    assert "constexpr value of block is 16, was 8" in run.specialisations[1].why
    with pytest.raises(ValueError, match="different devices: cuda:1, host"):
        run(Work(x=cuda_object(shape=(8,)), y=np.zeros(8, np.float32), factor=2.0, block=8))


# The functions behind it ---------------------------------------------------------------------------------------------


def test_conversion_of_a_whole_signature() -> None:
    def fn(x: fx.Tensor, n: int, block: fx.Constexpr[int]): ...

    names, arguments = convert_to_jit_arguments(signature(fn, eval_str=True), [np.zeros(4, np.float32), 3, 64])
    assert names == ["x", "n"] and [argument.abi() for argument in arguments] == ["Pi", "i"]


def test_protocol_of_user_types() -> None:
    class Older:
        def __get_ir_types__(self) -> list[str]:
            return ["i32"]

        def __get_c_pointers__(self) -> list[Any]:
            return []

    class Newer:
        def __get_ir_types__(self) -> list[str]:
            return ["i32"]

        def __c_abi_spec__(self) -> list[Any]:
            return [("i", 1)]

    class Neither:
        def __get_ir_types__(self) -> list[str]:
            return ["i32"]

    protocol = flyc.protocol.JitArgument
    assert isinstance(Older(), protocol) and isinstance(Newer(), protocol) and not isinstance(Neither(), protocol)
    assert not isinstance(3, protocol)


def test_unknown_types_are_refused() -> None:
    with pytest.raises(TypeError, match="object cannot be passed"):
        adapt(object())

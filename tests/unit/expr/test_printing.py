"""`printf` of every kind of value, `dump` of every kind of tensor, and `print` while tracing, on the host device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslTypeError, DslValueError

INTEGERS = [
    fx.Int8, fx.Int16, fx.Int32, fx.Int64, fx.Uint8, fx.Uint16, fx.Uint32, fx.Uint64, fx.Index,
]  # fmt: skip
FLOATS = [
    fx.Float16, fx.BFloat16, fx.Float32, fx.Float64, fx.Float8E4M3FN, fx.Float8E5M2, fx.Float8E4M3FNUZ,
    fx.Float8E5M2FNUZ, fx.Float8E8M0FNU, fx.Float6E2M3FN, fx.Float6E3M2FN, fx.Float4E2M1FN,
]  # fmt: skip


def printed(
    capfd: pytest.CaptureFixture[str], body: Callable[..., None], x: Any = 3, *, threads: int = 1, blocks: int = 1
) -> list[str]:
    """The lines that a kernel over ``x`` prints."""
    kernel = flyc.kernel(body)

    @flyc.jit
    def launch(x: Any) -> None:
        kernel(x).launch(grid=(blocks, 1, 1), block=(threads, 1, 1))

    launch(x)
    return capfd.readouterr().out.splitlines()


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers(capfd: pytest.CaptureFixture[str], dtype: Any) -> None:
    def body(x: fx.Int32) -> None:
        fx.printf("{} {} {:5d}|{:x}", dtype(x), dtype(x - x - 1), dtype(x), dtype(x + 7))

    signed = dtype.signed
    largest = -1 if signed else (1 << dtype.width) - 1
    assert printed(capfd, body) == [f"3 {largest}     3|a"]


@pytest.mark.parametrize("dtype", [fx.Int4, *INTEGERS], ids=str)
def test_bits_are_those_of_the_type(capfd: pytest.CaptureFixture[str], dtype: Any) -> None:
    def body(x: fx.Int32) -> None:
        fx.printf("{:x} {:X} {:o}", dtype(x - 5), dtype(x - 5), dtype(x - 5))

    bits = -2 & ((1 << dtype.width) - 1)
    assert printed(capfd, body) == [f"{bits:x} {bits:X} {bits:o}"]


@pytest.mark.parametrize(
    ("spec", "dtype", "words"),
    [(":s", fx.Int32, "cannot format with '{:s}' here"), (":d", fx.Float32, "cannot format with '{:d}' here"),
     (":x", fx.BFloat16, "cannot format with"), ("", fx.Int128, "cannot print Int128")],
)  # fmt: skip
def test_what_c_would_take_for_something_else(spec: str, dtype: Any, words: str) -> None:
    def body(x: fx.Int32) -> None:
        fx.printf(f"{{{spec}}}", x.to(dtype))

    with pytest.raises(DslValueError, match=words):
        printed(None, body)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_floats(capfd: pytest.CaptureFixture[str], dtype: Any) -> None:
    def body(x: fx.Int32) -> None:
        value = (fx.Float32(x) + 1.0).to(dtype)
        fx.printf("{} {:.1f} {:e} {:g}", value, value, value, value)

    assert printed(capfd, body) == ["4 4.0 4.000000e+00 4"]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16], ids=lambda t: t.__name__)
def test_floats_print_as_few_digits_as_read_back(capfd: pytest.CaptureFixture[str], dtype: Any) -> None:
    size = np.dtype(dtype).itemsize
    codes = np.random.default_rng(3).integers(0, 256, (200, size), np.uint8)
    values = np.concatenate([np.array([0.1, -0.0, 1 / 3, 1e4, 65504, 2.5], dtype), codes.reshape(-1).view(dtype)])

    def body(x: fx.Tensor) -> None:
        fx.dump(x)

    shown = printed(capfd, body, flyc.from_dlpack(values))[1].strip(" []").split(", ")
    assert len(shown) == len(values)
    for text, value in zip(shown, values, strict=True):
        if np.isnan(value):
            assert "nan" in text
            continue
        assert dtype(float(text)).tobytes() == value.tobytes(), (text, value)
        shorter = f"{float(value):.{max(_digits(text) - 1, 1)}g}"
        tiny = abs(float(value)) < float(ml_dtypes.finfo(dtype).smallest_normal)  # has fewer digits still
        plain = "." not in text and "e" not in text  # a whole number is written whole
        assert tiny or plain or _digits(text) == 1 or dtype(float(shorter)) != value, (text, shorter)


def _digits(text: str) -> int:
    return len(text.lower().partition("e")[0].strip("-").replace(".", "").lstrip("0").rstrip("0") or "0")


def test_a_float_known_while_tracing_prints_alike(capfd: pytest.CaptureFixture[str]) -> None:
    def body(x: fx.Int32) -> None:
        third = fx.Float32(x) / 9.0
        fx.printf("{} {} {} {}", fx.Float32(1 / 3), third, fx.Float16(0.1), fx.Float64(0.1))
        fx.printf("{:.2f} {:10.3e}|{:6}|", third, third, fx.Float32(x))

    assert printed(capfd, body) == ["0.33333334 0.33333334 0.1 0.1", "0.33  3.333e-01|     3|"]


def test_truth_and_special_floats(capfd: pytest.CaptureFixture[str]) -> None:
    def body(x: fx.Int32) -> None:
        zero = fx.Float32(x) - 3.0
        fx.printf("{} {} {} {}", x > 2, x > 3, 1.0 / zero, -1.0 / zero)

    assert printed(capfd, body) == ["1 0 inf -inf"]


def test_structures(capfd: pytest.CaptureFixture[str]) -> None:
    def body(x: fx.Int32) -> None:
        vector = fx.Vector.from_elements([x, x + 1], fx.Int32)
        layout = fx.make_layout((x, 4), (4, 1))
        fx.printf("{} {} {} {}", vector, (x, 2, [x]), layout, fx.make_shape(x, (2, x)))
        fx.printf("static {} {} {:.3f} {}", fx.make_layout((4, 8), (8, 1)), "text", 0.5, fx.Float32)

    assert printed(capfd, body) == ["[3, 4] (3, 2, (3)) (3,4):(4,1) (3,(2,3))", "static (4,8):(8,1) text 0.500 Float32"]


def test_text_is_kept_as_it_is(capfd: pytest.CaptureFixture[str]) -> None:
    def body(x: fx.Int32) -> None:
        fx.printf("100% of {{{}}} %d %s", x)
        fx.printf("one {} too many {}", x)
        fx.printf(x, x + 1)
        fx.printf("")

    assert printed(capfd, body) == ["100% of {3} %d %s", "one 3 too many {}", "3 4", ""]


def test_pointers(capfd: pytest.CaptureFixture[str]) -> None:
    def body(x: fx.Tensor) -> None:
        fx.printf("{}", fx.get_iter(x))

    array = np.zeros(4, np.float32)
    assert printed(capfd, body, array) == [hex(array.ctypes.data)]


def test_from_any_thread_and_block(capfd: pytest.CaptureFixture[str]) -> None:
    def body(x: fx.Int32) -> None:
        t, b = fx.thread_idx.x, fx.block_idx.x
        if t % 2 == 1:
            fx.printf("{} {}", b, t)

    assert sorted(printed(capfd, body, threads=4, blocks=2)) == ["0 1", "0 3", "1 1", "1 3"]


def test_in_a_loop(capfd: pytest.CaptureFixture[str]) -> None:
    def body(x: fx.Int32) -> None:
        for i in range(x):
            fx.printf("turn {}", i)

    assert printed(capfd, body) == ["turn 0", "turn 1", "turn 2"]


def test_raw_values(capfd: pytest.CaptureFixture[str]) -> None:
    def body(x: fx.Int32) -> None:
        pair = fx.Vector.from_elements([x, x + 1], fx.Int32)
        fx.printf("{} {:4d}|{} {}", x.ir_value(), (x + 1).ir_value(), pair.ir_value(), fx.Float32(x).ir_value())

    assert printed(capfd, body) == ["3    4|[3, 4] 3"]


def test_a_format_that_is_none() -> None:
    def body(x: fx.Int32) -> None:
        fx.printf("{:^9}", x)

    with pytest.raises(DslValueError, match="cannot format with"):
        printed(None, body)  # type: ignore[arg-type]


MATRIX = ["  [0, 1, 2, 3]", "  [4, 5, 6, 7]"]


def test_dump_of_a_fragment(capfd: pytest.CaptureFixture[str]) -> None:
    def body(x: fx.Int32) -> None:
        fragment = fx.make_rmem_tensor((2, 4), fx.Float16)
        for i in fx.range_constexpr(8):
            fragment[i // 4, i % 4] = fx.Float32(fx.thread_idx.x * 10 + i)
        fx.dump(fragment, name="mine", thread=1)

    lines = printed(capfd, body, threads=2)
    assert lines[0] == "mine: Tensor(f16, register, (2,4):(1,2))"
    assert lines[1:] == ["  [10, 11, 12, 13]", "  [14, 15, 16, 17]"]


@pytest.mark.parametrize("swizzled", [False, True])
def test_dump_of_a_shared_tile(capfd: pytest.CaptureFixture[str], swizzled: bool) -> None:
    """A swizzled view shows the matrix that it is, not the order of its bytes."""

    def body(x: fx.Int32) -> None:
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 8]).peek()
        layout: Any = fx.make_layout((2, 4), (4, 1))
        if fx.const_expr(swizzled):
            layout = fx.make_composed_layout(fx.static(fx.SwizzleType.get(1, 0, 2)), layout)
        view = tile.view(layout)
        t = fx.thread_idx.x
        view[t // 4, t % 4] = fx.Float32(t)
        fx.barrier()
        fx.dump(view, name="tile")

    lines = printed(capfd, body, threads=8)
    assert lines[0].startswith("tile: Tensor(f32, shared, ") and ("S<1,0,2>" in lines[0]) is swizzled
    assert lines[1:] == MATRIX


def test_dump_of_memory_for_a_chosen_block(capfd: pytest.CaptureFixture[str]) -> None:
    def body(x: fx.Tensor) -> None:
        row = fx.logical_divide(x, fx.make_layout(4, 1))[None, fx.block_idx.x]
        fx.dump(row, name="row", block=1, thread=2)

    lines = printed(capfd, body, np.arange(12, dtype=np.int32), threads=4, blocks=3)
    assert lines[1:] == ["  [4, 5, 6, 7]"]


def test_what_dump_refuses() -> None:
    def number(x: fx.Tensor) -> None:
        fx.dump(x[0])

    def dynamic(x: fx.Tensor) -> None:
        fx.dump(x)

    for body, words in ((number, "a tensor over memory, got Float32"), (dynamic, "needs a static shape")):
        with pytest.raises(DslTypeError, match=words):
            printed(None, body, np.zeros(4, np.float32))  # type: ignore[arg-type]


def test_print_while_tracing(capfd: pytest.CaptureFixture[str]) -> None:
    def body(x: fx.Tensor) -> None:
        print(x, x[0], fx.thread_idx.x)
        fragment = fx.make_rmem_tensor((2, 4), fx.Float16)
        print(fragment, fragment.load(), fx.Int32(4), fragment.layout)

    lines = printed(capfd, body, np.zeros(4, np.float32), threads=4)
    assert lines == [
        "Tensor(f32, global, ?:1) Float32(?) Int32(?)",
        "Tensor(f16, register, (2,4):(1,2)) Vector(Float16, (2, 4)) Int32(4) (2,4):(1,2)",
    ]

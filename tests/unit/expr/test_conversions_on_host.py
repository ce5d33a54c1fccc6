"""Conversions between number types, executed in kernels on the host device.

Round-to-nearest-even is compared with ml_dtypes bit for bit, the other modes with `rounding_reference`. What is
outside the language is outside the table: six-bit floats are read through vectors, since no scalar integer has six
bits. The hard numbers of every pair of types are in `test_exact_conversions`.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from tests.unit.expr import on_host
from tests.unit.expr import operator_table as table
from tests.unit.expr.rounding_reference import FORMATS, MODES

COUNT = 100_000
TARGETS = ("gfx942", "gfx950", "sm_90a")
EIGHT_BIT = table.EIGHT_BIT_FLOATS
STANDARD: dict[Any, tuple[Any, Any]] = {
    fx.Float16: (fx.Uint16, np.float16),
    fx.BFloat16: (fx.Uint16, ml_dtypes.bfloat16),
    fx.Float32: (fx.Uint32, np.float32),
    fx.Float64: (fx.Uint64, np.float64),
}


@pytest.fixture(autouse=True)
def quiet_numpy() -> Any:
    with np.errstate(all="ignore"):
        yield


def same_bits(got: np.ndarray, want: np.ndarray) -> None:
    """Equal bits, or NaN in both."""
    bits = f"u{want.itemsize}"
    numbers = got.astype(bits).view(want.dtype)
    both_nan = np.isnan(numbers.astype(np.float64)) & np.isnan(want.astype(np.float64))
    bad = np.flatnonzero((got.astype(bits) != want.view(bits)) & ~both_nan)
    assert bad.size == 0, f"{bad.size} differ; element {bad[0]}: {numbers[bad[0]]!r}, not {want[bad[0]]!r}"


# Every code of the narrow formats


def widen_and_return(dtype: Any) -> Any:
    """A kernel's function: a code widened to each standard type, as bits, and each of them back to a code."""

    def function(code: Any) -> list[Any]:
        narrow = code.to(fx.Uint8).bitcast(dtype) if dtype.width == 8 else code.to(fx.Int4).bitcast(dtype)
        wide = [narrow.to(wide) for wide in STANDARD]
        bits = [number.bitcast(unsigned) for number, (unsigned, _) in zip(wide, STANDARD.values())]
        return [*bits, *(on_host.to_words(number.to(dtype))[0] for number in wide)]

    return function


@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("dtype", [*EIGHT_BIT, fx.Float4E2M1FN], ids=str)
def test_every_code_widens_and_comes_back(dtype: Any, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.ARCH.name, arch)
    codes = np.arange(1 << dtype.width, dtype=np.uint64)
    out = on_host.elementwise(widen_and_return(dtype), codes[None], 2 * len(STANDARD), np.uint64)
    narrow = codes.astype(np.uint8).view(table.numpy_type(dtype))
    mask = np.uint64((1 << dtype.width) - 1)
    for row, (_, kind) in enumerate(STANDARD.values()):
        wide = narrow.astype(np.float32).astype(kind)
        same_bits(out[row], wide)
        back = wide.astype(np.float32).astype(narrow.dtype)
        same_bits(out[len(STANDARD) + row] & mask, back)


@pytest.mark.parametrize("dtype", [fx.Float6E2M3FN, fx.Float6E3M2FN], ids=str)
def test_every_six_bit_code_widens_and_comes_back(dtype: Any) -> None:
    """Four codes are three bytes, the lowest lane in the lowest bits: a vector can be reinterpreted."""
    codes = np.arange(64, dtype=np.uint8)
    packed = [int(code) << (6 * (k % 4)) for k, code in enumerate(codes)]
    words = np.array([sum(packed[k : k + 4]) for k in range(0, 64, 4)], np.uint32)
    data = np.ascontiguousarray(words.view(np.uint8).reshape(16, 4)[:, :3])
    wide, back = np.zeros((16, 4), np.float32), np.zeros_like(data)

    @flyc.kernel
    def convert(data: fx.Tensor, wide: fx.Tensor, back: fx.Tensor):
        t = fx.thread_idx.x
        numbers = data[t, None].load().bitcast(dtype).to(fx.Float32)
        wide[t, None].store(numbers)
        back[t, None].store(numbers.to(dtype).bitcast(fx.Uint8))

    @flyc.jit
    def launch(data: fx.Tensor, wide: fx.Tensor, back: fx.Tensor):
        convert(data, wide, back).launch(grid=(1, 1, 1), block=(16, 1, 1))

    launch(*(flyc.from_dlpack(array) for array in (data, wide, back)))
    same_bits(wide.ravel().view(np.uint32), codes.view(table.numpy_type(dtype)).astype(np.float32))
    np.testing.assert_array_equal(back, data)


# Float32 into every shorter type, in every rounding mode


def samples(name: str) -> np.ndarray:
    """100,000 random numbers in and around the format's range and of every exponent; ties, neighbours, specials."""
    rng = np.random.default_rng(7)
    values = FORMATS[name].values[:: max(1, FORMATS[name].values.size // 512)]
    ties = ((values[1:] + values[:-1]) / 2).astype(np.float32)
    near = [values.astype(np.float32), ties, np.nextafter(ties, np.float32(np.inf)), np.nextafter(ties, np.float32(0))]
    scale = min(values[-1] * 1.5, 3e38)
    spread = rng.uniform(-scale, scale, COUNT // 2).astype(np.float32)
    patterns = rng.integers(0, 1 << 32, COUNT // 2, dtype=np.uint64).astype(np.uint32).view(np.float32)
    special = np.array([0, np.inf, np.nan, values[-1] * 1.01, 1e-45, 1e-39, 3e38], np.float32)
    exact = np.concatenate([*near, special])
    return np.concatenate([exact, -exact, spread, patterns])


def code_of(number: Any) -> Any:
    """In a kernel: the code of a short float as Uint32; of a six-bit one the float32 that holds it."""
    dtype = number.dtype
    if dtype.width == 6:
        return number.to(fx.Float32).bitcast(fx.Uint32)
    return on_host.to_words(number)[0].to(fx.Uint32)


def round_every_way(dtype: Any) -> Any:
    return lambda x: [code_of(x.to(dtype, rounding_mode=mode)) for mode in MODES] + [code_of(x.to(dtype))]


def codes_from(dtype: Any, column: np.ndarray) -> np.ndarray:
    """What `code_of` wrote, as codes."""
    if dtype.width == 6:
        return column.view(np.float32).astype(table.numpy_type(dtype)).view(np.uint8)
    return column & np.uint32((1 << dtype.width) - 1)


def of_format(dtype: Any, codes: np.ndarray) -> np.ndarray:
    kind = table.numpy_type(dtype)
    return codes.astype(f"u{kind.itemsize}").view(kind)


@pytest.mark.parametrize("dtype", [*table.NARROW_FLOATS, fx.Float16, fx.BFloat16], ids=str)
def test_float32_rounds_in_every_mode(dtype: Any) -> None:
    values = samples(dtype.__name__)
    assert values.size >= COUNT
    out = on_host.elementwise(round_every_way(dtype), values[None], len(MODES) + 1, np.uint32)
    nearest = values.astype(table.numpy_type(dtype))
    for row in (0, len(MODES)):
        same_bits(codes_from(dtype, out[row]), nearest)
    reference = FORMATS[dtype.__name__]
    kept = ~np.isnan(values) if reference.has_sign else values > 0
    for row, mode in enumerate(MODES):
        got, want = codes_from(dtype, out[row])[kept], reference.rounded(values[kept], mode)
        same_bits(got, of_format(dtype, want))
        check_not_numbers(dtype, of_format(dtype, codes_from(dtype, out[row])[~kept]))


def check_not_numbers(dtype: Any, got: np.ndarray) -> None:
    """NaN, and for the scale format zero and negatives too, give NaN; a finite format has only zero to give."""
    if dtype.width < 8:
        assert (got.astype(np.float32) == 0).all()
    else:
        assert np.isnan(got.astype(np.float32)).all()


@pytest.mark.parametrize("dtype", EIGHT_BIT, ids=str)
def test_targets_round_alike(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host device emulates a target's conversion exactly, so the target makes no difference."""
    values = samples(dtype.__name__)[-COUNT // 4 :]
    found = []
    for arch in TARGETS:
        monkeypatch.setenv(knobs.ARCH.name, arch)
        found.append(on_host.elementwise(round_every_way(dtype), values[None], len(MODES) + 1, np.uint32))
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


# Between the standard floats


@pytest.mark.parametrize("source", STANDARD, ids=str)
def test_standard_floats_convert_to_each_other(source: Any) -> None:
    """Between Float16 and BFloat16, of which neither holds the other, the route is float32. ml_dtypes rounds a double
    to bfloat16 twice, so that case has another reference."""
    rng = np.random.default_rng(3)
    kind = np.dtype(STANDARD[source][1])
    patterns = rng.integers(0, 1 << 63, 20_000, dtype=np.uint64) << np.uint64(1)
    bits = (patterns >> np.uint64(64 - 8 * kind.itemsize)).astype(f"u{kind.itemsize}")
    values = np.concatenate([bits.view(kind), rng.normal(0, 100, 20_000).astype(kind)])

    def function(code: Any) -> list[Any]:
        return [code.bitcast(source).to(target).bitcast(unsigned) for target, (unsigned, _) in STANDARD.items()]

    out = on_host.elementwise(function, values.view(bits.dtype)[None], len(STANDARD), np.uint64)
    for row, (target, (_, wanted)) in enumerate(STANDARD.items()):
        both_short = kind.itemsize == 2 and np.dtype(wanted).itemsize == 2
        through = values.astype(np.float32) if both_short else values
        rounds_twice = (source, target) == (fx.Float64, fx.BFloat16)
        want = on_host.nearest_bfloat16(values) if rounds_twice else through.astype(wanted)
        same_bits(out[row], want)


# Integers


def integers(dtype: Any) -> list[int]:
    """Numbers of every length, the ends of the range, and the middles between neighbouring floats."""
    rng = np.random.default_rng(5)
    bits = dtype.width
    lengths = [length for length in range(1, bits + 1) for _ in range(9)]
    found = [int.from_bytes(rng.bytes(16), "little") >> (128 - length) for length in lengths]
    halves = (128, 129, 1024, 1025, 1 << 23, (1 << 23) + 1, 1 << 52)
    ties = [(2 * half + 1) << shift for half in halves for shift in range(0, bits, 7)]
    found += [t + d for t in ties for d in (-1, 0, 1)] + [0, 1, -1, (1 << bits) - 1, 1 << (bits - 1)]
    return [table.in_integer(dtype, value) for value in found + [-value for value in found]]


def fitting(source: Any, target: Any) -> np.ndarray:
    """Floats whose whole part the integer type holds."""
    low = -(1 << (target.width - 1)) if target in table.SIGNED else 0
    high = low + (1 << target.width)
    rng = np.random.default_rng(9)
    spread = rng.uniform(-1, 1, 400) * 2.0 ** rng.integers(0, min(target.width, 127), 400)
    corners = [0.0, -0.0, 0.5, -0.5, 0.999, 1.0, 1.5, -1.5, 2.5, float(low), float(high >> 1), 127.0, 255.0, -128.0]
    values = on_host.float_array(source, [*spread, *corners])
    whole = np.trunc(values.astype(np.float64))
    return values[np.isfinite(whole) & (whole >= low) & (whole < high)]


@pytest.mark.parametrize(
    "source", [*STANDARD, fx.Float8E5M2, fx.Float8E4M3FN, fx.Float6E3M2FN, fx.Float4E2M1FN], ids=str
)
def test_floats_to_every_integer(source: Any) -> None:
    """The fraction is cut off. Booleans ask whether the number is not zero."""
    targets = [t for t in table.INTEGERS if t is not fx.Boolean]
    given = [fitting(source, target) for target in targets]
    words = np.zeros((len(targets), max(map(len, given))), np.uint64)
    for row, values in enumerate(given):
        words[row, : len(values)] = values.view(f"u{values.itemsize}")
    count = 2 * len(targets)

    def function(*bits: Any) -> list[Any]:
        found: list[Any] = []
        for low, target in zip(bits, targets):
            result = on_host.to_words(on_host.from_words(source, low, low).to(target))
            found += [*result, result[0]][:2]
        return found

    out = on_host.elementwise(function, words, count, np.uint64)
    for row, (target, values) in enumerate(zip(targets, given)):
        mask = np.uint64((1 << min(target.width, 64)) - 1)
        want = on_host.words(target, [int(value) for value in values.astype(np.float64)])
        parts = on_host.word_count(target)
        got = out[2 * row : 2 * row + parts, : len(values)].T & mask
        np.testing.assert_array_equal(got, want[:, :parts], err_msg=f"{source} to {target}")


@pytest.mark.parametrize("source", table.TYPES, ids=str)
def test_every_type_to_boolean(source: Any) -> None:
    values = table.samples_of(source)
    words = np.ascontiguousarray(on_host.words(source, values).T)
    out = on_host.elementwise(
        lambda low, high: [on_host.from_words(source, low, high).to(fx.Boolean)], words, 1, np.uint8
    )
    np.testing.assert_array_equal(out[0].astype(bool), [value != 0 for value in values])


def test_integers_wrap_between_all_widths() -> None:
    """Each width into each other, signs by class."""
    values = {source: integers(source)[::7] for source in table.INTEGERS}
    for source, given in values.items():
        words = np.ascontiguousarray(on_host.words(source, given).T)
        targets = [t for t in table.INTEGERS if t is not fx.Boolean]
        rows = sum(on_host.word_count(target) for target in targets)

        def function(low: Any, high: Any, source: Any = source, targets: Any = targets) -> list[Any]:
            number = on_host.from_words(source, low, high)
            return [word for target in targets for word in on_host.to_words(number.to(target))]

        out, row = on_host.elementwise(function, words, rows, np.uint64), 0
        for target in targets:
            parts = on_host.word_count(target)
            mask = np.uint64((1 << min(target.width, 64)) - 1)
            want = on_host.words(target, [table.in_integer(target, value) for value in given])[:, :parts]
            np.testing.assert_array_equal(out[row : row + parts].T & mask, want, err_msg=f"{source} to {target}")
            row += parts

"""An extent of a tensor stands wherever a number can: in comparisons, arithmetic, stores and functions of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslIndexError, DslRuntimeError, DslTypeError
from tests.support import random_data

N = 11

# name: what the kernel stores for thread i, extent n and element x; every entry is Python for plain integers as well.
CASES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "less": lambda i, n, x: fx.arith.select(i < n, 1.0, 0.0),
    "reflected less": lambda i, n, x: fx.arith.select(n <= i, 1.0, 0.0),
    "at most": lambda i, n, x: fx.arith.select(i <= n - 1, 1.0, 0.0),
    "at least": lambda i, n, x: fx.arith.select(i >= n, 1.0, 0.0),
    "the extent": lambda i, n, x: n,
    "converted": lambda i, n, x: fx.Float32(n),
    "sum": lambda i, n, x: i + n,
    "float product": lambda i, n, x: x * n,
    "float literal": lambda i, n, x: 0.5 * n,
    "float difference": lambda i, n, x: n - x,
    "quotient": lambda i, n, x: n / 2,
    "inverse": lambda i, n, x: x / n,
    "negated": lambda i, n, x: -n,
    "floor quotient": lambda i, n, x: (i * 5 - 30) // n,
    "remainder": lambda i, n, x: (i * 5 - 30) % n,
    "minimum": lambda i, n, x: fx.min(i, n),
    "ceildiv": lambda i, n, x: fx.ceildiv(n, i + 1),
    "sum on the left": lambda i, n, x: n + i,
    "product": lambda i, n, x: i * n,
    "difference": lambda i, n, x: i - n,
    "unequal": lambda i, n, x: fx.arith.select(i != n, 1.0, 0.0),
    "unequal on the left": lambda i, n, x: fx.arith.select(n != i, 1.0, 0.0),
    "equal to a float": lambda i, n, x: fx.arith.select(n == i.to(fx.Float32), 1.0, 0.0),
    "bits": lambda i, n, x: ((n + 3) & ~3) | (n ^ i),
    "shifts": lambda i, n, x: (n << 2) + (n >> 1) + (1 << n) + (n << i % 4),
    "power": lambda i, n, x: n**2 + 2**n,
    "magnitude": lambda i, n, x: abs(n) + abs(-n),
    "inverted": lambda i, n, x: ~n,
    "divmod": lambda i, n, x: divmod(n, 4)[0] * 10 + divmod(n, 4)[1],
    "divmod of a number": lambda i, n, x: divmod(i * 5 - 30, n)[0] * 100 + divmod(i * 5 - 30, n)[1],
    "divmod of an int": lambda i, n, x: divmod(100, n)[0] * 10 + divmod(100, n)[1],
    "to": lambda i, n, x: n.to(fx.Float32) / 4,
    "select": lambda i, n, x: (i > 3).select(n, i),
    "select a number": lambda i, n, x: fx.arith.select(i > 3, i, n),
    "largest": lambda i, n, x: fx.max(n, i, 3),
    "shuffled": lambda i, n, x: fx.shuffle_xor(n, 1, 16),
    "in a vector": lambda i, n, x: fx.Vector.from_elements([1, n], fx.Int32)[1],
}

EXPECTED: dict[str, Callable[[Any, int, Any], Any]] = {
    "less": lambda i, n, x: i < n,
    "reflected less": lambda i, n, x: n <= i,
    "at most": lambda i, n, x: i < n,
    "at least": lambda i, n, x: i >= n,
    "the extent": lambda i, n, x: 0 * i + n,
    "converted": lambda i, n, x: 0 * i + n,
    "sum": lambda i, n, x: i + n,
    "float product": lambda i, n, x: x * n,
    "float literal": lambda i, n, x: 0 * i + 0.5 * n,
    "float difference": lambda i, n, x: n - x,
    "quotient": lambda i, n, x: 0 * i + n / 2,
    "inverse": lambda i, n, x: x / n,
    "negated": lambda i, n, x: 0 * i - n,
    "floor quotient": lambda i, n, x: (i * 5 - 30) // n,
    "remainder": lambda i, n, x: np.fmod(i * 5 - 30, n),
    "minimum": lambda i, n, x: np.minimum(i, n),
    "ceildiv": lambda i, n, x: -(-n // (i + 1)),
    "sum on the left": lambda i, n, x: i + n,
    "product": lambda i, n, x: i * n,
    "difference": lambda i, n, x: i - n,
    "unequal": lambda i, n, x: i != n,
    "unequal on the left": lambda i, n, x: i != n,
    "equal to a float": lambda i, n, x: i == n,
    "bits": lambda i, n, x: ((n + 3) & ~3) | (n ^ i),
    "shifts": lambda i, n, x: (n << 2) + (n >> 1) + (1 << n) + (n << i % 4),
    "power": lambda i, n, x: 0 * i + n**2 + 2**n,
    "magnitude": lambda i, n, x: 0 * i + 2 * n,
    "inverted": lambda i, n, x: 0 * i + ~n,
    "divmod": lambda i, n, x: 0 * i + n // 4 * 10 + n % 4,
    "divmod of a number": lambda i, n, x: (i * 5 - 30) // n * 100 + (i * 5 - 30) % n,
    "divmod of an int": lambda i, n, x: 0 * i + 100 // n * 10 + 100 % n,
    "to": lambda i, n, x: 0 * i + n / 4,
    "select": lambda i, n, x: np.where(i > 3, n, i),
    "select a number": lambda i, n, x: np.where(i > 3, i, n),
    "largest": lambda i, n, x: np.maximum(i, n),
    "shuffled": lambda i, n, x: 0 * i + n,
    "in a vector": lambda i, n, x: 0 * i + n,
}


@pytest.mark.parametrize("static", [False, True], ids=["run-time", "static"])
@pytest.mark.parametrize("name", CASES)
def test_an_extent_as_a_number(name: str, static: bool) -> None:
    compute = CASES[name]

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        i = fx.thread_idx.x
        out[i] = compute(i, x.shape[0], x[i % 8])

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(block=16)

    x, out = random_data.generator().random(N, dtype=np.float32), np.full(16, np.nan, np.float32)
    launch(flyc.from_dlpack(x) if static else x, out)
    i = np.arange(16)
    np.testing.assert_allclose(out, EXPECTED[name](i, N, x[i % 8].astype(np.float64)), rtol=1e-6)


def test_a_branch_and_a_grid_from_extents() -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        i = fx.block_idx.x * 4 + fx.thread_idx.x
        if i < x.shape[0]:
            out[i] = x[i] + 1.0

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=fx.ceildiv(x.shape[0], 4), block=4)

    x, out = random_data.generator().random(N, dtype=np.float32), np.full(N, np.nan, np.float32)
    with flyc.sanitize("bounds"):
        launch(x, out)
    np.testing.assert_array_equal(out, x + np.float32(1))


def test_a_vector_beside_an_extent() -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        fragment = fx.make_rmem_tensor(4, fx.Float32)
        for j in fx.range_constexpr(4):
            fragment[j] = x[j]
        fragment.store(x.shape[0] * fragment.load())
        for j in fx.range_constexpr(4):
            out[j] = fragment[j]

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(block=1)

    x, out = random_data.generator().random(N, dtype=np.float32), np.full(4, np.nan, np.float32)
    launch(x, out)
    np.testing.assert_array_equal(out, x[:4] * np.float32(N))


def test_plain_values() -> None:
    rows, columns = fx.make_layout((4, 8), (8, 1)).shape
    assert rows < columns and columns >= 8 and not rows > 4
    assert -rows == -4 and rows / 8 == 0.5 and 9 // rows == 2 and 9 % rows == 1


def test_a_whole_shape_is_not_a_number() -> None:
    shape = fx.make_layout((4, 8), (8, 1)).shape
    with pytest.raises(DslTypeError, match=r"< needs one integer, and \(4,8\) is not one.*[\s\S]*elem_less"):
        assert shape < 3
    with pytest.raises(DslTypeError, match=r"arithmetic with floats needs one integer, and \(4,8\) is not one"):
        assert shape * 0.5


def _run(kernel: Any, *arguments: Any) -> None:
    @flyc.jit
    def one(a: Any):
        kernel(a).launch(block=4)

    @flyc.jit
    def two(a: Any, b: Any):
        kernel(a, b).launch(block=4)

    @flyc.jit
    def three(a: Any, b: Any, c: Any):
        kernel(a, b, c).launch(block=4)

    (one, two, three)[len(arguments) - 1](*arguments)


@pytest.fixture(params=[False, True], ids=["run-time", "static"])
def taken(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """How an array is passed: with extents known when the kernel runs, or while it is traced."""
    return flyc.from_dlpack if request.param else lambda array: array


def test_beside_an_unsigned_number_nothing_gets_a_sign(taken: Callable[[Any], Any]) -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, table: fx.Tensor, out: fx.Tensor):
        t, n = fx.thread_idx.x, table.shape[0]
        h = x[t] * fx.Uint32(2654435761)
        assert type(h + n) is type(n + h) is type(h - n) is type(h * n) is fx.Uint32
        assert type(fx.Int64(t) + n) is fx.Int64 and type(n * fx.Float64(t)) is fx.Float64
        for j, value in enumerate((h + n, n + h, h - n, n - h, h % n, h // n, fx.min(h, n), fx.max(n, h))):
            out[t, j] = value
        out[t, 8] = 1 if h - n > 5 else 0
        out[t, 9] = 1 if n < h else 0

    x = random_data.generator().integers(1, 1 << 32, 4, dtype=np.uint32)
    x[0] = 1  # h is above 2**31
    out = np.full((4, 10), -1, np.int64)
    _run(kernel, x, taken(np.zeros(N, np.float32)), out)
    h, n = x * np.uint32(2654435761), np.uint32(N)
    wanted = [h + n, n + h, h - n, n - h, h % n, h // n, np.minimum(h, n), np.maximum(h, n), h - n > 5, h > n]
    np.testing.assert_array_equal(out, np.stack([np.asarray(column, np.int64) for column in wanted], 1))


def test_carried_by_loops_and_chosen_by_branches(taken: Callable[[Any], Any]) -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor, key: fx.Float32):
        t, n = fx.thread_idx.x, x.shape[0]
        low, high = 0, n
        while low < high:
            middle = (low + high) // 2
            if x[middle] < key:
                low = middle + 1
            else:
                high = middle
        out[t, 0] = low
        last, j = n - 1, t * 5
        if j > last:
            j = last
        out[t, 1] = j
        total, wide = 0, fx.Int64(0)
        for _ in range(3):
            total += n
            wide += n
        out[t, 2] = total + wide
        out[t, 3] = n if t > 1 else t
        out[t, 4] = 0 if t > 1 else n - 1
        half = n // 2
        for _ in range(t):
            half = half // 2
        out[t, 5] = half
        pair = (n, n - 1)
        if t == 2:
            pair = (t, n)
        out[t, 6] = pair[0] * 100 + pair[1]
        best = n
        for i in range(n):
            if x[i] > 2.5:
                best = i if i < best else best
        out[t, 7] = best

    out, t = np.full((4, 8), -1, np.int32), np.arange(4)
    _run(kernel, taken(np.arange(N, dtype=np.float32)), out, 6.5)
    columns = [7 + 0 * t, np.minimum(t * 5, N - 1), 6 * N + 0 * t, np.where(t > 1, N, t), np.where(t > 1, 0, N - 1)]
    columns += [(N // 2) >> t, np.where(t == 2, 2 * 100 + N, N * 100 + N - 1), 3 + 0 * t]
    np.testing.assert_array_equal(out, np.stack(columns, 1))


def test_what_a_loop_carries_keeps_its_type_and_the_advice_names_real_types() -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor):
        found = 0
        for _ in range(3):
            found = x.shape
        x[0, 0] = found

    with pytest.raises(DslTypeError, match="int tuple") as raised:
        _run(kernel, np.zeros((2, 2), np.float32))
    assert "fx.the" not in str(raised.value)


def test_different_shapes_and_extents(taken: Callable[[Any], Any]) -> None:
    @flyc.kernel
    def kernel(a: fx.Tensor, b: fx.Tensor, out: fx.Tensor):
        n, m = a.shape[0], b.shape[0]
        out[0] = 1 if n != 5 else 0
        out[1] = 1 if n != m else 0
        out[2] = 1 if a.shape != b.shape else 0
        out[3] = 1 if a.shape != (4, 4) else 0
        out[4] = 1 if a.shape == [4, 4] else 0
        out[5] = 1 if n % 3 != 0 else 0
        out[6] = 1 if n not in (m, 7) else 0
        out[7] = 1 if a.stride != a.stride else 0

    a, b, out = np.zeros((4, 4), np.float32), np.zeros((3, 3), np.float32), np.full(8, -1, np.int32)
    _run(kernel, taken(a), taken(b), out)
    assert out.tolist() == [1, 1, 1, 0, 1, 1, 1, 0]
    _run(kernel, taken(a), taken(a.copy()), out)
    assert out.tolist() == [1, 0, 0, 0, 1, 1, 0, 0]


def test_layouts_are_equal_leaf_by_leaf(taken: Callable[[Any], Any]) -> None:
    @flyc.kernel
    def kernel(a: fx.Tensor, b: fx.Tensor, out: fx.Tensor):
        out[0] = 1 if a.layout == b.layout else 0
        out[1] = 1 if a.layout != b.layout else 0
        out[2] = 1 if a.layout == a.layout else 0
        out[3] = 1 if a.layout == fx.make_layout((4, 6), (6, 1)) else 0
        assert (a.layout == fx.make_layout((4, 6), (6, 2))) is False, "the stride of 1 is known while tracing"
        assert (a.layout == fx.make_layout(24, 1)) is False and (a.layout != fx.make_layout(24, 1)) is True
        layout = a.layout
        assert {layout: 1}[layout] == 1

    a, out = np.zeros((4, 6), np.float32), np.full(4, -1, np.int32)
    for b, same in ((np.zeros((4, 6), np.float32), 1), (np.zeros((4, 7), np.float32)[:, :6], 0), (a[:3], 0)):
        _run(kernel, taken(a), taken(b), out)
        assert out.tolist() == [same, 1 - same, 1, 1]


def test_composed_layouts_are_compared_part_by_part() -> None:
    @flyc.kernel
    def kernel(n: fx.Int32, out: fx.Tensor):
        swizzle = fx.make_swizzle(1, 0, 1)
        first = fx.make_composed_layout(swizzle, fx.make_layout(n, 1))
        out[0] = 1 if first == fx.make_composed_layout(swizzle, fx.make_layout(n, 1)) else 0
        out[1] = 1 if first == fx.make_composed_layout(swizzle, fx.make_layout(n + 1, 1)) else 0
        assert (first == fx.make_composed_layout(fx.make_swizzle(2, 0, 2), fx.make_layout(n, 1))) is False
        assert (first == fx.make_layout(n, 1)) is False

    out = np.full(2, -1, np.int32)
    _run(kernel, 5, out)
    assert out.tolist() == [1, 0]


def test_pointers_are_equal_at_the_same_address() -> None:
    @flyc.kernel
    def kernel(a: fx.Tensor, n: fx.Int32, out: fx.Tensor):
        start = fx.get_iter(a)
        out[0] = 1 if start + n == fx.get_iter(a) + 3 else 0
        out[1] = 1 if start + n != fx.get_iter(out) else 0
        out[2] = 1 if start == start + n else 0

    out = np.full(3, -1, np.int32)
    _run(kernel, np.zeros(4, np.float32), 3, out)
    assert out.tolist() == [1, 1, 0]


def test_a_static_extent_wherever_python_needs_an_int() -> None:
    four: Any = fx.size(fx.make_layout(4, 1))
    assert fx.Array[fx.Float32, fx.cosize(fx.make_layout((4, 8), (8, 1)))].length == 32
    assert fx.Array[fx.Float32, four, four * 2].alignment == 8
    assert fx.get_(fx.make_layout((2, 3, 4, 5, 6), (1, 1, 1, 1, 1)), four).shape == 6
    assert fx.make_swizzle(four - 3, 0, four - 2).payload.shift == 2
    assert fx.recast_layout(fx.make_layout(8, 1), four * 4, four * 2).shape == 16
    assert f"{four} {four:03d}" == "4 004" and float(four) == 4.0 and list(range(four)) == [0, 1, 2, 3]

    @flyc.kernel
    def kernel(out: fx.Tensor):
        words = fx.SharedAllocator().allocate(fx.Array[fx.Int32, four]).peek()
        words[four - 1] = fx.coop.warp_reduce(fx.Int32(1), "add", width=four)
        fx.gpu.barrier()
        out[0] = words[3] + fx.Vector.from_elements([1, 2, 3, 40], fx.Int32)[four - 1]
        with pytest.raises(DslIndexError, match="index 4 of Array"):
            words[four]

    out = np.zeros(1, np.int32)
    _run(kernel, out)
    assert out[0] == 44


def test_a_run_time_extent_where_python_needs_an_int() -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor):
        with pytest.raises(DslTypeError, match=r"the length of an Array must be .* got a run-time extent"):
            fx.Array[fx.Float32, x.shape[0]]
        with pytest.raises(DslRuntimeError, match=r"unrolled while tracing.* a run-time extent"):
            fx.range_constexpr(x.shape[0])
        with pytest.raises(DslRuntimeError, match="printf"):
            f"{x.shape[0]:d}"

    _run(kernel, np.zeros(4, np.float32))


@pytest.mark.parametrize("dtype", [fx.Int32, fx.Uint32, fx.Float32])
def test_divmod_leaves_what_the_quotient_left(rng: np.random.Generator, dtype: Any) -> None:
    """Python's promise, a == quotient * b + left, holds though `%` has the dividend's sign at run time."""

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, out: fx.Tensor):
        i = fx.thread_idx.x
        a, b = x[i].to(dtype), y[i].to(dtype)
        pairs = divmod(a, b), divmod(a, 8), divmod(100, b), divmod(fx.Vector.from_elements([a, a], dtype), b)
        for place, (quotient, left) in enumerate(pairs):
            both = [number[1] if isinstance(number, fx.Vector) else number for number in (quotient, left)]
            out[i, 2 * place], out[i, 2 * place + 1] = both

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, out: fx.Tensor):
        kernel(x, y, out).launch(block=32)

    x, y = rng.integers(-50, 50, 32), rng.integers(1, 9, 32) * rng.choice([-1, 1], 32)
    if dtype is fx.Uint32:
        x, y = abs(x), abs(y)
    out = np.full((32, 8), -99999, np.int32)
    launch(x.astype(np.int32), y.astype(np.int32), out)
    by_y, hundred = np.divmod(x, y), np.divmod(100, y)
    np.testing.assert_array_equal(out, np.stack([*by_y, *np.divmod(x, 8), *hundred, *by_y], 1))


@pytest.mark.parametrize("dtype", [fx.Float16, fx.Float32, fx.Float64])
def test_divmod_of_floats_is_exact(rng: np.random.Generator, dtype: Any) -> None:
    """As Python has it: a remainder that is no difference of rounded numbers, and a quotient that belongs to it."""

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, out: fx.Tensor):
        i = fx.thread_idx.x
        out[0, i], out[1, i] = divmod(x[i], y[i])
        quotient, left = divmod(fx.Vector.from_elements([x[i], x[i]]), y[i])
        out[2, i], out[3, i] = quotient[1], left[1]
        out[4, i] = x[i] // y[i]

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, out: fx.Tensor):
        kernel(x, y, out).launch(block=256)

    x, y = (10.0 ** rng.uniform(-1, 3, (2, 256)) * rng.choice([-1, 1], (2, 256))).astype(dtype.numpy_dtype)
    x[:4], y[:4] = (1.0, -1.0, 5.0, -5.0), (0.1, 0.1, np.inf, np.inf)
    out = np.zeros((5, 256), x.dtype)
    launch(x, y, out)
    quotient, left = np.divmod(x, y)
    np.testing.assert_array_equal(out[:4], [quotient, left, quotient, left])
    ratio = np.divide(x, y, dtype=np.promote_types(x.dtype, np.float32))  # `//` by itself rounds it down
    np.testing.assert_array_equal(out[4], np.floor(ratio).astype(x.dtype))

"""fp8, fp6, fp4 and E8M0: every code both ways, and 100,000 f32 values into each, against ml_dtypes."""

from __future__ import annotations

import numpy as np
import pytest

from flydsl.codegen.floats.float_formats import FORMATS, ROUNDING_MODES
from flydsl.codegen.floats.narrow_floats import narrowing_function
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.llvm_build import emit_object
from flydsl.codegen.module_scope import ModuleScope
from flydsl.runtime.object_code import load_object
from tests.codegen.mlir_run import DTYPES, Elementwise, Suite, build, call, equal_bits

NARROW = tuple(name for name in FORMATS if name not in ("f64", "f32", "f16", "bf16"))
WIDE = ("f16", "bf16", "f32", "f64")
COUNT = 100_000
DOWN = '%r = "arith.truncf"(%a) : ({T}) -> {R}'
UP = '%r = "arith.extf"(%a) : ({T}) -> {R}'


@pytest.fixture(scope="module")
def suite() -> Suite:
    functions = []
    for name in NARROW:
        for wide in WIDE:
            functions.append(
                Elementwise(f"trunc_{wide}_{name}", [wide], [name], '%r = "arith.truncf"(%a) : ({T}) -> {R}')
            )
            functions.append(Elementwise(f"ext_{name}_{wide}", [name], [wide], '%r = "arith.extf"(%a) : ({T}) -> {R}'))
        for mode, rounding in enumerate(ROUNDING_MODES[1:], start=1):
            body = f'%r = "arith.truncf"(%a) {{roundingmode = {mode} : i32}} : ({{T}}) -> {{R}}'
            functions.append(Elementwise(f"{rounding}_{name}", ["f32"], [name], body))
    for dest in ("f16", "bf16"):
        for mode, rounding in enumerate(ROUNDING_MODES[1:], start=1):
            body = f'%r = "arith.truncf"(%a) {{roundingmode = {mode} : i32}} : ({{T}}) -> {{R}}'
            functions.append(Elementwise(f"{rounding}_{dest}", ["f32"], [dest], body))
    return Suite(functions)


def codes(name: str) -> np.ndarray:
    return np.arange(1 << FORMATS[name].bits, dtype=np.uint8).view(DTYPES[name])


def f32_samples(name: str) -> np.ndarray:
    """Values in the format's range, its ties and their neighbours, all exponents, and special values."""
    rng = np.random.default_rng(11)
    finite = codes(name).astype(np.float32)
    finite = np.unique(finite[np.isfinite(finite)])
    ties = (finite[1:].astype(np.float64) + finite[:-1]) / 2
    ties = ties.astype(np.float32)
    near = np.concatenate([ties, np.nextafter(ties, np.float32(np.inf)), np.nextafter(ties, np.float32(-np.inf))])
    scale = np.minimum(finite.max() * 1.5, 3e38)
    spread = rng.uniform(-scale, scale, COUNT // 2).astype(np.float32)
    patterns = rng.integers(0, 1 << 32, COUNT // 2, dtype=np.uint64).astype(np.uint32).view(np.float32)
    bits = [0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001, 1, 0x80000001, 0x00400000]
    special = np.array(bits, np.uint32).view(np.float32)
    return np.concatenate([finite, near, special, spread, patterns])


@pytest.mark.parametrize("name", NARROW)
def test_every_code_widens_to_f32_bit_for_bit(suite: Suite, name: str) -> None:
    got = suite.run(f"ext_{name}_f32", codes(name))
    np.testing.assert_array_equal(got.view(np.uint32), codes(name).astype(np.float32).view(np.uint32))


@pytest.mark.parametrize("wide", ["f16", "bf16", "f64"])
@pytest.mark.parametrize("name", NARROW)
def test_every_code_widens_to_other_types(suite: Suite, name: str, wide: str) -> None:
    want = codes(name).astype(np.float32).astype(DTYPES[wide])
    assert equal_bits(suite.run(f"ext_{name}_{wide}", codes(name)), want)


@pytest.mark.parametrize("name", NARROW)
def test_f32_rounds_to_nearest_even_as_ml_dtypes(suite: Suite, name: str) -> None:
    values = f32_samples(name)
    want = values.astype(DTYPES[name])
    got = suite.run(f"trunc_f32_{name}", values)
    np.testing.assert_array_equal(got.view(np.uint8), want.view(np.uint8))


@pytest.mark.parametrize("wide", ["f16", "bf16", "f64"])
@pytest.mark.parametrize("name", NARROW)
def test_other_types_round_once(suite: Suite, name: str, wide: str) -> None:
    values = f32_samples(name).astype(DTYPES[wide])
    want = values.astype(np.float32).astype(DTYPES[name])
    got = suite.run(f"trunc_{wide}_{name}", values)
    np.testing.assert_array_equal(got.view(np.uint8), want.view(np.uint8))


@pytest.mark.parametrize("name", NARROW)
def test_f64_beside_a_tie_is_no_tie(suite: Suite, name: str) -> None:
    """A double a hair from the middle of two codes goes to the nearer one; through f32 it would tie."""
    finite = codes(name).astype(np.float64)
    finite = np.unique(np.abs(finite[np.isfinite(finite) & (finite > 0)]))
    low, high = finite[:-1], finite[1:]
    middle = (low + high) / 2
    for offset, nearer in ((1 + 2**-45, high), (1 - 2**-45, low)):
        got = suite.run(f"trunc_f64_{name}", middle * offset).astype(np.float64)
        if name == "f8E8M0FNU":
            nearer, got = nearer[1:], got[1:]  # between its two lowest codes ml_dtypes rounds by half of the lower
        np.testing.assert_array_equal(got, nearer)


def neighbours(name: str, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest representable value not above, and the smallest not below, each finite value."""
    if name in ("f16", "bf16"):
        grid = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(DTYPES[name]).astype(np.float64)
    else:
        grid = codes(name).astype(np.float64)
    grid = np.unique(grid[np.isfinite(grid)])
    exact = values.astype(np.float64)
    below = grid[np.clip(np.searchsorted(grid, exact, side="right") - 1, 0, grid.size - 1)]
    above = grid[np.clip(np.searchsorted(grid, exact, side="left"), 0, grid.size - 1)]
    return below, above


@pytest.mark.parametrize("name", [*(name for name in NARROW if name != "f8E8M0FNU"), "f16", "bf16"])
def test_directed_rounding_picks_the_right_neighbour(suite: Suite, name: str) -> None:
    grid_name = name if name in NARROW else "f8E5M2"
    values = f32_samples(grid_name)[: COUNT // 2]
    largest = float(neighbours(name, np.array([3e38]))[0][0])
    values = values[np.isfinite(values) & (np.abs(values) <= largest)]
    below, above = neighbours(name, values)
    exact = values.astype(np.float64)
    middle = (below + above) / 2
    away = np.where(exact < 0, below, above)
    zero = np.where(exact < 0, above, below)
    nearest = np.where(np.abs(exact) >= np.abs(middle), away, zero)
    want = {"downward": below, "upward": above, "toward_zero": zero, "to_nearest_away": nearest}
    for rounding, expected in want.items():
        got = suite.run(f"{rounding}_{name}", values).astype(np.float64)
        np.testing.assert_array_equal(got, expected, err_msg=rounding)


@pytest.mark.parametrize("name", ["f8E5M2", "f8E4M3FN", "f8E4M3FNUZ", "f6E2M3FN"])
def test_directed_rounding_past_the_largest(suite: Suite, name: str) -> None:
    """Rounding towards zero stops at the largest value; away from it overflows. Infinity never comes back."""
    largest = float(neighbours(name, np.array([3e38]))[0][0])
    values = np.array([largest * 2, -largest * 2, np.inf, -np.inf], np.float32)
    fmt = FORMATS[name]
    sign = 1 << (fmt.bits - 1)
    over = (fmt.overflow, fmt.overflow if fmt.fnuz else fmt.overflow | sign)
    top, bottom = fmt.largest, fmt.largest | sign
    want = {
        "toward_zero": [top, bottom, *over],
        "downward": [top, over[1], *over],
        "upward": [over[0], bottom, *over],
    }
    for rounding, expected in want.items():
        got = suite.run(f"{rounding}_{name}", values).view(np.uint8)
        np.testing.assert_array_equal(got, np.array(expected, np.uint8), err_msg=rounding)


@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E5M2", "f8E4M3FNUZ"])
def test_saturating_form_stays_finite(name: str) -> None:
    scope = ModuleScope()
    symbol = narrowing_function(scope, "f32", name, 0, saturate=True)
    body = FunctionEmitter(scope, {})
    loaded = body.assign("load float, ptr %p")
    body.line(f"store i8 {body.call('i8', symbol, [f'float {loaded}'])}, ptr %q")
    body.line("ret void")
    scope.add_function("f", f"define void @f(ptr %p, ptr %q) {{\n{body.body_text()}\n}}")
    code = load_object(emit_object(scope.text()))
    fmt = FORMATS[name]
    sign = 1 << (fmt.bits - 1)
    for value, want in (
        (1e9, fmt.largest),
        (-1e9, fmt.largest | sign),
        (np.inf, fmt.largest),
        (-np.inf, fmt.largest | sign),
    ):
        out = np.zeros(1, np.uint8)
        call(code, "f", np.array([value], np.float32), out)
        assert out[0] == want, value
    out = np.zeros(1, np.uint8)
    call(code, "f", np.array([np.nan], np.float32), out)
    assert np.isnan(out.view(DTYPES[name]).astype(np.float32)[0])


@pytest.mark.parametrize("lanes", [2, 8, 32])
def test_vectors_convert_like_scalars(lanes: int) -> None:
    functions = [Elementwise(f"down_{name}", ["f32"], [name], DOWN, lanes) for name in NARROW if name[1] == "8"]
    functions += [Elementwise(f"up_{name}", [name], ["f32"], UP, lanes) for name in NARROW if name[1] == "8"]
    vectors = Suite(functions)
    for name in NARROW:
        if name[1] != "8":
            continue  # a vector of 4- or 6-bit elements is packed in memory, unlike ml_dtypes' bytes
        values = f32_samples(name)[:4096]
        want = values.astype(DTYPES[name])
        np.testing.assert_array_equal(vectors.run(f"down_{name}", values).view(np.uint8), want.view(np.uint8))
        up = vectors.run(f"up_{name}", codes(name))
        np.testing.assert_array_equal(up.view(np.uint32), codes(name).astype(np.float32).view(np.uint32))


def test_a_vector_of_fp6_is_packed_in_memory() -> None:
    """32 six-bit codes take 24 bytes, lowest lane in the lowest bits, as the matrix instructions read them."""
    text = """
    func.func @f(%p: !llvm.ptr, %q: !llvm.ptr) {
      %0 = llvm.load %p {alignment = 1 : i64} : !llvm.ptr -> vector<32xf32>
      %1 = "arith.truncf"(%0) : (vector<32xf32>) -> vector<32xf6E2M3FN>
      %2 = "vector.bitcast"(%1) : (vector<32xf6E2M3FN>) -> vector<6xi32>
      llvm.store %2, %q {alignment = 1 : i64} : vector<6xi32>, !llvm.ptr
      func.return
    }"""
    values = np.random.default_rng(1).uniform(-7, 7, 32).astype(np.float32)
    out = np.zeros(6, np.uint32)
    call(build(text), "f", values, out)
    packed = sum(int(code) << (6 * lane) for lane, code in enumerate(values.astype(DTYPES["f6E2M3FN"]).view(np.uint8)))
    assert int.from_bytes(out.tobytes(), "little") == packed

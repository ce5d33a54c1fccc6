"""The vector dialect: positions, shapes, shuffles and reductions, against NumPy."""

from __future__ import annotations

import functools
import operator

import numpy as np
import pytest

from tests.codegen.mlir_run import DTYPES, X86, build, call

ELEMENTS = ("i8", "i32", "i64", "f16", "bf16", "f32", "f64", "f8E4M3FN")


def run(
    body: str, source: np.ndarray, source_type: str, result_type: str, count: int, *extra: int, triple: str = ""
) -> np.ndarray:
    """Runs ``body`` from ``%a`` to ``%r`` with i64 arguments ``%i``, ``%j``; the result keeps the source's dtype."""
    names = "".join(f", %{name}: i64" for name in "ij"[: len(extra)])
    text = f"""
    func.func @f(%p: !llvm.ptr, %q: !llvm.ptr{names}) {{
      %a = llvm.load %p {{alignment = 1 : i64}} : !llvm.ptr -> {source_type}
      {body}
      llvm.store %r, %q {{alignment = 1 : i64}} : {result_type}, !llvm.ptr
      func.return
    }}"""
    out = np.zeros(count, source.dtype)
    call(build(text, level=1, triple=triple), "f", np.ascontiguousarray(source), out, *extra)
    return out


def values(element: str, count: int) -> np.ndarray:
    return np.arange(1, count + 1).astype(DTYPES[element])


def same(got: np.ndarray, want: np.ndarray) -> None:
    np.testing.assert_array_equal(got.view(np.uint8), np.ascontiguousarray(want).ravel().view(np.uint8))


@pytest.mark.parametrize("element", ELEMENTS)
def test_extract_and_insert_at_fixed_places(element: str) -> None:
    body = f"""
      %x = "vector.extract"(%a) <{{static_position = array<i64: 2>}}> : (vector<4x{element}>) -> {element}
      %y = "vector.insert"(%x, %a) <{{static_position = array<i64: 0>}}>
           : ({element}, vector<4x{element}>) -> vector<4x{element}>
      %r = "vector.shuffle"(%y, %y) <{{mask = array<i64: 3, 2, 1, 4>}}>
           : (vector<4x{element}>, vector<4x{element}>) -> vector<4x{element}>"""
    source = values(element, 4)
    got = run(body, source, f"vector<4x{element}>", f"vector<4x{element}>", 4)
    same(got, source[[3, 2, 1, 2]])


@pytest.mark.parametrize("element", ELEMENTS)
def test_extract_and_insert_at_run_time_places(element: str) -> None:
    dynamic = "static_position = array<i64: -9223372036854775808>"
    body = f"""
      %x = "vector.extract"(%a, %i) <{{{dynamic}}}> : (vector<4x{element}>, i64) -> {element}
      %r = "vector.insert"(%x, %a, %j) <{{{dynamic}}}>
           : ({element}, vector<4x{element}>, i64) -> vector<4x{element}>"""
    source = values(element, 4)
    for i in range(4):
        want = source.copy()
        want[3 - i] = source[i]
        same(run(body, source, f"vector<4x{element}>", f"vector<4x{element}>", 4, i, 3 - i), want)


def test_rows_of_a_matrix() -> None:
    source = values("f32", 12)
    matrix = source.reshape(3, 4)
    row = '"vector.extract"(%a) <{static_position = array<i64: 1>}> : (vector<3x4xf32>) -> vector<4xf32>'
    same(run(f"%r = {row}", source, "vector<3x4xf32>", "vector<4xf32>", 4), matrix[1])
    body = f"""
      %x = {row}
      %r = "vector.insert"(%x, %a) <{{static_position = array<i64: 2>}}>
           : (vector<4xf32>, vector<3x4xf32>) -> vector<3x4xf32>"""
    want = matrix.copy()
    want[2] = matrix[1]
    same(run(body, source, "vector<3x4xf32>", "vector<3x4xf32>", 12), want)


def test_rows_of_a_matrix_at_run_time_places() -> None:
    source = values("i32", 12)
    matrix = source.reshape(3, 4)
    dynamic = "static_position = array<i64: -9223372036854775808>"
    body = f"""
      %x = "vector.extract"(%a, %i) <{{{dynamic}}}> : (vector<3x4xi32>, i64) -> vector<4xi32>
      %r = "vector.insert"(%x, %a, %j) <{{{dynamic}}}> : (vector<4xi32>, vector<3x4xi32>, i64) -> vector<3x4xi32>"""
    want = matrix.copy()
    want[0] = matrix[2]
    same(run(body, source, "vector<3x4xi32>", "vector<3x4xi32>", 12, 2, 0), want)


def test_mixed_positions() -> None:
    body = """
      %x = "vector.extract"(%a, %i) <{static_position = array<i64: 1, -9223372036854775808, 2>}>
           : (vector<2x3x4xi32>, i64) -> i32
      %r = "vector.broadcast"(%x) : (i32) -> vector<2xi32>"""
    source = values("i32", 24)
    want = np.repeat(source.reshape(2, 3, 4)[1, 2, 2], 2)
    same(run(body, source, "vector<2x3x4xi32>", "vector<2xi32>", 2, 2), want)


@pytest.mark.parametrize("element", ELEMENTS)
def test_elements_apart_and_together(element: str) -> None:
    body = f"""
      %0, %1, %2 = "vector.to_elements"(%a) : (vector<3x{element}>) -> ({element}, {element}, {element})
      %r = "vector.from_elements"(%2, %0, %1) : ({element}, {element}, {element}) -> vector<3x{element}>"""
    source = values(element, 3)
    same(run(body, source, f"vector<3x{element}>", f"vector<3x{element}>", 3), source[[2, 0, 1]])


def test_elements_of_constants_make_a_constant() -> None:
    body = """
      %x = arith.constant 7 : i32
      %y = arith.constant -1 : i32
      %z = "vector.from_elements"(%x, %y) : (i32, i32) -> vector<2xi32>
      %w = "vector.broadcast"(%x) : (i32) -> vector<2xi32>
      %k = "arith.muli"(%z, %w) : (vector<2xi32>, vector<2xi32>) -> vector<2xi32>
      %r = "arith.addi"(%a, %k) : (vector<2xi32>, vector<2xi32>) -> vector<2xi32>"""
    got = run(body, np.array([0, 0], np.int32), "vector<2xi32>", "vector<2xi32>", 2)
    same(got, np.array([49, -7], np.int32))


@pytest.mark.parametrize(
    ("source_shape", "result_shape"), [((4,), (3, 4)), ((3, 1), (3, 4)), ((1, 4), (2, 3, 4)), ((2, 1, 2), (2, 3, 2))]
)
def test_broadcast_of_vectors(source_shape: tuple[int, ...], result_shape: tuple[int, ...]) -> None:
    types = [f"vector<{'x'.join(map(str, shape))}xi32>" for shape in (source_shape, result_shape)]
    body = f'%r = "vector.broadcast"(%a) : ({types[0]}) -> {types[1]}'
    source = values("i32", int(np.prod(source_shape)))
    got = run(body, source, types[0], types[1], int(np.prod(result_shape)))
    same(got, np.broadcast_to(source.reshape(source_shape), result_shape))


def test_shuffle_of_unequal_lengths_and_rows() -> None:
    source = values("i32", 6)
    body = """
      %h = "vector.extract_strided_slice"(%a) {offsets = [0], sizes = [2], strides = [1]}
           : (vector<6xi32>) -> vector<2xi32>
      %r = "vector.shuffle"(%h, %a) <{mask = array<i64: 1, 2, 7, 0>}>
           : (vector<2xi32>, vector<6xi32>) -> vector<4xi32>"""
    same(run(body, source, "vector<6xi32>", "vector<4xi32>", 4), np.concatenate([source[:2], source])[[1, 2, 7, 0]])
    rows = """%r = "vector.shuffle"(%a, %a) <{mask = array<i64: 2, 0>}>
              : (vector<3x2xi32>, vector<3x2xi32>) -> vector<2x2xi32>"""
    same(run(rows, source, "vector<3x2xi32>", "vector<2x2xi32>", 4), source.reshape(3, 2)[[2, 0]])


def test_shape_cast_and_transpose() -> None:
    source = values("i32", 24)
    reshape = '%r = "vector.shape_cast"(%a) : (vector<4x6xi32>) -> vector<24xi32>'
    same(run(reshape, source, "vector<4x6xi32>", "vector<24xi32>", 24), source)
    turn = (
        '%r = "vector.transpose"(%a) <{permutation = array<i64: 2, 0, 1>}> : (vector<2x3x4xi32>) -> vector<4x2x3xi32>'
    )
    got = run(turn, source, "vector<2x3x4xi32>", "vector<4x2x3xi32>", 24)
    same(got, source.reshape(2, 3, 4).transpose(2, 0, 1))


def test_strided_slices() -> None:
    source = values("i32", 24)
    matrix = source.reshape(4, 6)
    cut = """
      %s = "vector.extract_strided_slice"(%a) {offsets = [1, 2], sizes = [2, 3], strides = [1, 1]}
           : (vector<4x6xi32>) -> vector<2x3xi32>"""
    take = cut + '\n%r = "vector.shape_cast"(%s) : (vector<2x3xi32>) -> vector<6xi32>'
    same(run(take, source, "vector<4x6xi32>", "vector<6xi32>", 6), matrix[1:3, 2:5])
    put = (
        cut
        + """
      %r = "vector.insert_strided_slice"(%s, %a) {offsets = [2, 0], strides = [1, 1]}
           : (vector<2x3xi32>, vector<4x6xi32>) -> vector<4x6xi32>"""
    )
    want = matrix.copy()
    want[2:4, 0:3] = matrix[1:3, 2:5]
    same(run(put, source, "vector<4x6xi32>", "vector<4x6xi32>", 24), want)


def test_bitcast_between_element_widths() -> None:
    source = np.random.default_rng(0).integers(0, 256, 16).astype(np.uint8).view(np.int32)
    body = """
      %x = "vector.bitcast"(%a) : (vector<4xi32>) -> vector<16xf8E4M3FN>
      %y = "vector.bitcast"(%x) : (vector<16xf8E4M3FN>) -> vector<8xbf16>
      %r = "vector.bitcast"(%y) : (vector<8xbf16>) -> vector<4xi32>"""
    same(run(body, source, "vector<4xi32>", "vector<4xi32>", 4), source)


def test_create_mask_and_step() -> None:
    body = """
      %n = arith.index_cast %i : i64 to index
      %m = "vector.create_mask"(%n) : (index) -> vector<4xi1>
      %s = "vector.step"() : () -> vector<4xindex>
      %t = "arith.index_cast"(%s) : (vector<4xindex>) -> vector<4xi32>
      %r = "arith.select"(%m, %a, %t) : (vector<4xi1>, vector<4xi32>, vector<4xi32>) -> vector<4xi32>"""
    source = np.array([10, 20, 30, 40], np.int32)
    same(run(body, source, "vector<4xi32>", "vector<4xi32>", 4, 2), np.array([10, 20, 2, 3], np.int32))


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
def test_fma_on_vectors(element: str) -> None:
    type_ = f"vector<4x{element}>"
    body = f'%r = "vector.fma"(%a, %a, %a) : ({type_}, {type_}, {type_}) -> {type_}'
    source = values(element, 4)
    want = (source.astype(np.float64) ** 2 + source.astype(np.float64)).astype(source.dtype)
    same(run(body, source, type_, type_, 4), want)


INT_KINDS = {
    "add": np.add,
    "mul": np.multiply,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "minui": np.minimum,
    "maxui": np.maximum,
}
FLOAT_KINDS = {
    "add": operator.add,
    "mul": operator.mul,
    "minimumf": np.minimum,
    "maximumf": np.maximum,
    "minnumf": np.fmin,
    "maxnumf": np.fmax,
}


def reduction(kind: str, element: str, with_acc: bool, flags: str = "none") -> str:
    operands = "%a, %c" if with_acc else "%a"
    types = f"vector<8x{element}>, {element}" if with_acc else f"vector<8x{element}>"
    properties = f"kind = #vector.kind<{kind}>, fastmath = #arith.fastmath<{flags}>"
    return f"""
      %c = "vector.extract"(%a) <{{static_position = array<i64: 5>}}> : (vector<8x{element}>) -> {element}
      %r = "vector.reduction"({operands}) <{{{properties}}}> : ({types}) -> {element}"""


@pytest.mark.parametrize("with_acc", [False, True], ids=["plain", "acc"])
@pytest.mark.parametrize("element", ["i8", "i32", "i64"])
@pytest.mark.parametrize("kind", INT_KINDS)
def test_integer_reductions(kind: str, element: str, with_acc: bool) -> None:
    dtype = DTYPES[element]
    source = np.random.default_rng(3).integers(np.iinfo(dtype).min, np.iinfo(dtype).max, 8, dtype=dtype)
    got = run(reduction(kind, element, with_acc), source, f"vector<8x{element}>", element, 1)
    lanes = source.view(f"u{dtype.itemsize}") if kind.endswith("ui") else source
    lanes = np.append(lanes, lanes[5]) if with_acc else lanes
    same(got, np.array([functools.reduce(INT_KINDS[kind], lanes)]).astype(lanes.dtype).view(dtype))


@pytest.mark.parametrize("with_acc", [False, True], ids=["plain", "acc"])
@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64", "f8E5M2"])
@pytest.mark.parametrize("kind", FLOAT_KINDS)
@pytest.mark.parametrize("triple", ["", X86], ids=["host", "as-for-x86"])
def test_float_reductions_in_lane_order(kind: str, element: str, with_acc: bool, triple: str) -> None:
    source = np.random.default_rng(4).normal(0, 3, 8).astype(DTYPES[element])
    if kind.endswith("numf"):
        source[3] = np.nan
    got = run(reduction(kind, element, with_acc), source, f"vector<8x{element}>", element, 1, triple=triple)
    if kind in ("add", "mul"):
        lanes = [source[5], *source] if with_acc else list(source)
    else:
        lanes = [*source, source[5]] if with_acc else list(source)
    same(got, np.array([functools.reduce(FLOAT_KINDS[kind], lanes)]).astype(source.dtype))


def test_reassociated_sum_is_close() -> None:
    source = np.random.default_rng(4).normal(0, 3, 8).astype(np.float32)
    got = run(reduction("add", "f32", False, "fast"), source, "vector<8xf32>", "f32", 1)
    np.testing.assert_allclose(got[0], source.astype(np.float64).sum(), rtol=1e-5)

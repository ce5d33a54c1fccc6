"""wgmma on the virtual Hopper GPU: every type, source, major order and swizzle against exact products.

Operands are small integers, so that sums are exact in every accumulator and nothing is hidden by a tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.backends.host import compile
from flydsl.base.errors import LoweringError
from flydsl.target.mma_warpgroup import FLOAT_N, SWIZZLE_MODES, WGMMA_ROWS
from tests.support import random_data
from tests.unit.nvvm.running import Array, Shared, run

nvvm = fx.nvvm
M, THREADS = 64, 128

TYPES: dict[str, tuple[Any, Any]] = {
    "f16": (np.float16, fx.Float16), "bf16": (ml_dtypes.bfloat16, fx.BFloat16), "tf32": (np.float32, fx.Float32),
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, fx.Float8E4M3FN), "f8E5M2": (ml_dtypes.float8_e5m2, fx.Float8E5M2),
    "i8": (np.int8, fx.Int8), "ui8": (np.uint8, fx.Uint8), "f32": (np.float32, fx.Float32), "i32": (np.int32, fx.Int32),
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A product of 64 x n x (steps of k), with how its operands lie in shared memory."""

    elems: tuple[str, str, str]
    n: int = 64
    source: str = "shared"
    major_a: str = "k"
    major_b: str = "k"
    mode: str = "128B"
    steps: int = 2

    def __str__(self) -> str:
        types = "_".join(self.elems)
        return f"{types}-n{self.n}-{self.source}-{self.major_a}{self.major_b}-{self.mode}-x{self.steps}"

    @property
    def k(self) -> int:
        """K of one instruction."""
        return next(row.k for row in WGMMA_ROWS if row.elems == self.elems)


def tile_layout(rows: int, depth: int, major: str, mode: str, size: int) -> tuple[Any, Any]:
    """(shape, stride) of a tile (rows, depth) as a descriptor can say it; ``size`` is bytes of an element."""
    row = SWIZZLE_MODES[mode].row_bytes // size
    if major == "k":
        if depth <= row:
            return (rows, depth), (row, 1)
        return (rows, (row, depth // row)), (row, (1, rows * row))
    if mode == "none":  # 8x8 blocks, those along the rows first
        return ((8, rows // 8), (8, depth // 8)), ((1, 64), (8, 8 * rows))
    if rows <= row:
        return (rows, depth), (1, row)
    return ((row, rows // row), depth), ((1, row * depth), row)


@flyc.jit
def place_tile(shared: Any, source: Any, kind: Any, shape: tuple[int, int], major: str, mode: str) -> Any:
    """Copy a matrix to a tile of shared memory; each thread writes some rows."""
    rows, depth = shape
    size = kind.width // 8
    extents, strides = tile_layout(rows, depth, major, mode, size)
    pointer = shared.pointer(max(rows, 64) * max(depth, 64) * 2, kind)
    swizzle = SWIZZLE_MODES[mode].swizzle
    if mode != "none":
        pointer = fx.apply_swizzle(pointer, fx.static(fx.SwizzleType.get(swizzle.mask, swizzle.base, swizzle.shift)))
    tile = fx.make_view(pointer, fx.make_layout(extents, strides))
    for i in range(fx.thread_idx.x, rows * depth, THREADS):
        tile[i % rows, i // rows] = source[i % rows, i // rows]
    return tile


def multiply(case: Case, a: Array, b: Array, c: Array) -> None:
    """c += a * b^T by one warpgroup."""
    (_, kind_a), (_, kind_b), (_, kind_c) = (TYPES[elem] for elem in case.elems)
    depth = case.k * case.steps

    def body(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor) -> None:
        shared = Shared()
        gA = fx.make_view(fx.get_iter(A), fx.make_layout((M, depth), (depth, 1)))
        gB = fx.make_view(fx.get_iter(B), fx.make_layout((case.n, depth), (depth, 1)))
        gC = fx.make_view(fx.get_iter(C), fx.make_layout((M, case.n), (case.n, 1)))
        op = nvvm.Wgmma(
            case.n, case.k, (kind_a, kind_b), kind_c, case.source, major_a=case.major_a, major_b=case.major_b
        )
        tiled = fx.make_tiled_mma(fx.make_mma_atom(op), fx.make_layout((1, 1, 1), (0, 0, 0)))
        part = tiled.get_slice(fx.thread_idx.x)
        sB = place_tile(shared, gB, kind_b, (case.n, depth), case.major_b, case.mode)
        if fx.const_expr(case.source == "shared"):
            sA = place_tile(shared, gA, kind_a, (M, depth), case.major_a, case.mode)
            given = part.partition_A(sA)
        else:
            mine = part.partition_A(gA)
            given = fx.make_fragment_like(mine)
            for i in fx.range_constexpr(fx.get_scalar(fx.size(given))):
                given[i] = mine[i]
        nvvm.fence_proxy_async()
        fx.barrier()
        out = part.partition_C(gC)
        acc = tiled.make_fragment_C(gC)
        for i in fx.range_constexpr(fx.get_scalar(fx.size(acc))):
            acc[i] = out[i]
        nvvm.wgmma_fence()
        fx.gemm(tiled, acc, given, part.partition_B(sB), acc)
        nvvm.wgmma_commit_group()
        nvvm.wgmma_wait_group(0, acc)
        for i in fx.range_constexpr(fx.get_scalar(fx.size(acc))):
            out[i] = acc[i]

    run(body, a, b, c, threads=THREADS)


def check(case: Case) -> None:
    rng = random_data.generator()
    (type_a, _), (type_b, _), (type_c, _) = (TYPES[elem] for elem in case.elems)
    depth = case.k * case.steps
    low = [0 if elem == "ui8" else -4 for elem in case.elems]
    a = rng.integers(low[0], 5, (M, depth)).astype(type_a)
    b = rng.integers(low[1], 5, (case.n, depth)).astype(type_b)
    c = rng.integers(-9, 10, (M, case.n)).astype(type_c)
    expected = c.astype(np.float64) + a.astype(np.float64) @ b.astype(np.float64).T
    multiply(case, a, b, c)
    np.testing.assert_array_equal(c.astype(np.float64), expected)


ELEMS = [row.elems for row in WGMMA_ROWS]
HALVES = [row.elems for row in WGMMA_ROWS if row.transposable]


@pytest.mark.parametrize("source", ["shared", "register"])
@pytest.mark.parametrize("elems", ELEMS, ids="_".join)
def test_every_type(elems: tuple[str, str, str], source: str) -> None:
    check(Case(elems, n=32, source=source))


@pytest.mark.parametrize("mode", SWIZZLE_MODES)
@pytest.mark.parametrize("elems", [HALVES[0], ELEMS[3], ELEMS[4], ELEMS[-1]], ids="_".join)
def test_every_swizzle_of_k_major_tiles(elems: tuple[str, str, str], mode: str) -> None:
    """As many steps of K as a row has, and twice as many."""
    for steps in sorted({SWIZZLE_MODES[mode].row_bytes // 32 or 1, 2}):
        check(Case(elems, n=24 if elems[2] != "f32" else 40, mode=mode, steps=steps) if elems[2] != "i32"
              else Case(elems, n=48, mode=mode, steps=steps))  # fmt: skip


@pytest.mark.parametrize("majors", [("mn", "k"), ("k", "mn"), ("mn", "mn")], ids="".join)
@pytest.mark.parametrize("mode", SWIZZLE_MODES)
def test_every_swizzle_of_mn_major_tiles(mode: str, majors: tuple[str, str]) -> None:
    check(Case(HALVES[2], n=128, major_a=majors[0], major_b=majors[1], mode=mode, steps=2))


@pytest.mark.parametrize("elems", HALVES, ids="_".join)
def test_mn_major_operands_of_every_type(elems: tuple[str, str, str]) -> None:
    check(Case(elems, n=64, major_a="mn", major_b="mn"))
    check(Case(elems, n=64, source="register", major_b="mn"))


@pytest.mark.parametrize("n", FLOAT_N)
def test_every_width(n: int) -> None:
    """Types take turns, so that each meets narrow and wide tiles."""
    having = [row.elems for row in WGMMA_ROWS if n in row.columns]
    check(Case(having[n // 8 % len(having)], n=n))


@pytest.mark.parametrize("elems", [("f16", "f16", "f32"), ("f16", "f16", "f16")], ids="_".join)
def test_accumulators_go_from_product_to_product_as_they_are(
    elems: tuple[str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there are: a product is as many lines of the virtual GPU's code, and not one for each."""
    made: list[Any] = []
    host_module = compile.host_module
    monkeypatch.setattr(compile, "host_module", lambda *given: (made.append(host_module(*given)), made[-1])[1])
    for steps in (2, 4):
        check(Case(elems, n=256, steps=steps))
    two, four = (module.text.count("\n") for module in made)
    assert four - two < 2 * 80


def test_scale_d_drops_what_the_accumulators_held() -> None:
    case = Case(HALVES[0], n=16)

    def body(A: fx.Tensor, C: fx.Tensor) -> None:
        shared = Shared()
        gA = fx.make_view(fx.get_iter(A), fx.make_layout((M, 32), (32, 1)))
        gB = fx.make_view(fx.get_iter(A), fx.make_layout((16, 32), (32, 1)))
        gC = fx.make_view(fx.get_iter(C), fx.make_layout((M, 16), (16, 1)))
        sA = place_tile(shared, gA, fx.Float16, (M, 32), "k", "64B")
        sB = place_tile(shared, gB, fx.Float16, (16, 32), "k", "64B")
        fx.barrier()
        atom = fx.make_mma_atom(nvvm.Wgmma(16, 16, fx.Float16, fx.Float32))
        tiled = fx.make_tiled_mma(atom, fx.make_layout((1, 1, 1), (0, 0, 0)))
        part = tiled.get_slice(fx.thread_idx.x)
        acc = tiled.make_fragment_C(gC)
        acc.fill(1000.0)
        nvvm.wgmma_fence()
        tA, tB = part.partition_A(sA), part.partition_B(sB)
        for step in fx.range_constexpr(2):
            fx.gemm(tiled, acc, tA[None, None, step], tB[None, None, step], acc, scale_d=step)
        nvvm.wgmma_commit_group()
        nvvm.wgmma_wait_group(0, acc)
        out = part.partition_C(gC)
        for i in fx.range_constexpr(fx.get_scalar(fx.size(acc))):
            out[i] = acc[i]

    a = random_data.generator().integers(-4, 5, (M, case.k * 2)).astype(np.float16)
    c = np.full((M, 16), np.nan, np.float32)
    run(body, a, c, threads=THREADS)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ a[:16].astype(np.float32).T)


def test_state_set_before_tiling_is_refused() -> None:
    def body(out: fx.Tensor) -> None:
        atom = fx.make_mma_atom(nvvm.Wgmma(16, 16, fx.Float16, fx.Float32)).set_value("scale_d", 0)
        fx.make_tiled_mma(atom, fx.make_layout((1, 1, 1), (0, 0, 0)))

    with pytest.raises(ValueError, match="does not keep the state that was set") as error:
        run(body, np.zeros(1, np.float32), threads=THREADS)
    assert "scale_d=" in str(error.value)


# What is refused -------------------------------------------------------------------------------------


def described(shape: Any, stride: Any, swizzle: tuple[int, int, int] | None, major: str = "k") -> None:
    """One product whose B has that layout."""

    def body(C: fx.Tensor) -> None:
        shared = Shared()
        pointer = shared.pointer(64 * 64, fx.Float16)
        sA = fx.make_view(
            fx.apply_swizzle(pointer, fx.static(fx.SwizzleType.get(3, 4, 3))), fx.make_layout((M, 64), (64, 1))
        )
        other = shared.pointer(64 * 128, fx.Float16)
        if fx.const_expr(swizzle is not None):
            other = fx.apply_swizzle(other, fx.static(fx.SwizzleType.get(*swizzle)))
        sB = fx.make_view(other, fx.make_layout(shape, stride))
        op = nvvm.Wgmma(64, 16, fx.Float16, fx.Float32, major_b=major)
        tiled = fx.make_tiled_mma(fx.make_mma_atom(op), fx.make_layout((1, 1, 1), (0, 0, 0)))
        part = tiled.get_slice(fx.thread_idx.x)
        acc = tiled.make_fragment_C(fx.make_view(fx.get_iter(C), fx.make_layout((M, 64), (64, 1))))
        acc.fill(0.0)
        fx.gemm(tiled, acc, part.partition_A(sA), part.partition_B(sB), acc)
        nvvm.wgmma_wait_group(0, acc)
        C[fx.thread_idx.x, 0] = acc[0]

    run(body, np.zeros((128, 64), np.float32), threads=THREADS)


@pytest.mark.parametrize(
    ("shape", "stride", "swizzle", "major", "says"),
    [
        ((64, 64), (72, 1), (3, 4, 3), "k", r"element \(1, 0\) lies 144 bytes in, where a descriptor puts it at 128"),
        ((64, 64), (64, 1), None, "k", r"with none swizzle: element \(1, 0\) lies 128 bytes in, .* at 16"),
        ((64, 64), (64, 1), (2, 4, 3), "k", r"with 64B swizzle: element \(1, 0\) lies 128 bytes in, .* at 64"),
        ((64, 64), (1, 64), (3, 4, 3), "k", r"element \(0, 1\) lies 128 bytes in, where a descriptor puts it at 2"),
        ((64, 64), (64, 1), (3, 4, 3), "mn", "cannot describe the MN-major tile"),
        ((64, 64), (64, 1), (3, 3, 3), "k", "wgmma does not know the swizzle"),
    ],
)
def test_tiles_that_no_descriptor_says(shape: Any, stride: Any, swizzle: Any, major: str, says: str) -> None:
    with pytest.raises(LoweringError, match=says) as error:
        described(shape, stride, swizzle, major)
    assert "help:" in str(error.value)


def placed(start: int, mode: str, *, static: bool = True, apart: bool = False) -> None:
    """One product whose B starts that many elements behind the start of its memory, which the compiler may know."""
    row = SWIZZLE_MODES[mode].row_bytes // 2

    def body(C: fx.Tensor, where: fx.Tensor) -> None:
        shared = Shared()
        pointer = shared.pointer(64 * 64, fx.Float16)
        swizzle = SWIZZLE_MODES[mode].swizzle
        permuted = fx.static(fx.SwizzleType.get(swizzle.mask, swizzle.base, swizzle.shift))
        moved = shared.pointer(64 * 128, fx.Float16) + (start if fx.const_expr(static) else where[0])
        if fx.const_expr(apart):  # waves that meet at an mbarrier run one after the other
            barrier = shared.barriers()
            if fx.thread_idx.x == 0:
                nvvm.mbarrier_init(barrier, THREADS)
            fx.barrier()
            nvvm.mbarrier_arrive(barrier)
            nvvm.mbarrier_wait(barrier, 0)
        layout = fx.make_layout((64, 16), (row, 1))
        sA, sB = (fx.make_view(fx.apply_swizzle(p, permuted), layout) for p in (pointer, moved))
        op = nvvm.Wgmma(64, 16, fx.Float16, fx.Float32)
        tiled = fx.make_tiled_mma(fx.make_mma_atom(op), fx.make_layout((1, 1, 1), (0, 0, 0)))
        part = tiled.get_slice(fx.thread_idx.x)
        acc = tiled.make_fragment_C(fx.make_view(fx.get_iter(C), fx.make_layout((M, 64), (64, 1))))
        acc.fill(0.0)
        fx.gemm(tiled, acc, part.partition_A(sA), part.partition_B(sB), acc)
        nvvm.wgmma_wait_group(0, acc)
        C[fx.thread_idx.x, 0] = acc[0]

    run(body, np.zeros((128, 64), np.float32), np.full(1, start, np.int32), threads=THREADS)


FIRST_ROWS = [("128B", start) for start in (16, 48, 512, 1024 + 32)] + [("64B", 16), ("64B", 256), ("32B", 128)]
OTHER_ROWS = [
    ("128B", 64, "from the first row of an atom of 1024 bytes, and this tile starts 128 bytes into one, in row 1"),
    ("128B", 512 + 200, "this tile starts 400 bytes into one, in row 3"),
    ("64B", 32, "from the first row of an atom of 512 bytes, and this tile starts 64 bytes into one, in row 1"),
    ("64B", 224, "this tile starts 448 bytes into one, in row 7"),
    ("32B", 16, "from the first row of an atom of 256 bytes, and this tile starts 32 bytes into one, in row 1"),
]
"""Swizzle, elements that a tile starts behind an atom's start, and what is said of it."""


@pytest.mark.parametrize(("mode", "start"), FIRST_ROWS)
def test_tiles_may_start_anywhere_in_the_first_row_of_an_atom(mode: str, start: int) -> None:
    placed(start, mode)
    placed(start, mode, static=False)


@pytest.mark.parametrize(("mode", "start", "says"), [*OTHER_ROWS, ("128B", 4, "and this tile starts 8 bytes past one")])
def test_tiles_that_start_in_another_row(mode: str, start: int, says: str) -> None:
    with pytest.raises(LoweringError, match=says) as error:
        placed(start, mode)
    assert "help:" in str(error.value)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(("mode", "start", "_"), OTHER_ROWS)
def test_a_start_known_at_run_time_only(mode: str, start: int, _: str, apart: bool) -> None:
    with pytest.raises(RuntimeError, match="does not start with the first row of a swizzle atom") as error:
        placed(start, mode, static=False, apart=apart)
    assert "fx.gemm" in str(error.value)


def test_operands_in_global_memory_are_refused() -> None:
    def body(A: fx.Tensor, C: fx.Tensor) -> None:
        op = nvvm.Wgmma(64, 16, fx.Float16, fx.Float32)
        tiled = fx.make_tiled_mma(fx.make_mma_atom(op), fx.make_layout((1, 1, 1), (0, 0, 0)))
        part = tiled.get_slice(fx.thread_idx.x)
        tile = fx.make_view(fx.get_iter(A), fx.make_layout((M, 64), (64, 1)))
        acc = tiled.make_fragment_C(fx.make_view(fx.get_iter(C), fx.make_layout((M, 64), (64, 1))))
        acc.fill(0.0)
        fx.gemm(tiled, acc, part.partition_A(tile), part.partition_B(tile), acc)
        C[0, 0] = acc[0]

    with pytest.raises(LoweringError, match="wgmma reads B from shared memory"):
        run(body, np.zeros((64, 64), np.float16), np.zeros((64, 64), np.float32), threads=THREADS)


def test_waiting_names_the_accumulators() -> None:
    def nothing(out: fx.Tensor) -> None:
        nvvm.wgmma_wait_group(0, None)

    def many(out: fx.Tensor) -> None:
        nvvm.wgmma_wait_group(8, out)

    with pytest.raises(TypeError, match="takes the accumulator fragment"):
        run(nothing, np.zeros(1, np.float32), threads=THREADS)
    with pytest.raises(ValueError, match="from 0 to 7, got 8"):
        run(many, np.zeros(1, np.float32), threads=THREADS)


@pytest.mark.parametrize("arch", ["sm_80", "gfx942"])
def test_other_targets_have_no_wgmma(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    with pytest.raises(ValueError, match=rf"{arch}"):
        check(Case(HALVES[0]))

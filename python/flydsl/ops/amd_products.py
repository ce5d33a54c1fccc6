"""Which of AMD's GEMMs multiplies two matrices: each that can is a way with a number of clocks, and the fewest win.

The clocks are those of the kernels' own models, for the tile that the model likes best: `lds_plan.ranked_tiles` on
gfx90a, gfx942 and gfx950, `rdna_plan.ranked_tiles` on gfx11 and gfx12, `gfx1250_plan.ranked_plans` on gfx1250. An
operand that has to be copied first, to be padded, turned or shuffled, adds its bytes, read and written, at the rate of
the whole memory. `kernels/gemm/tiled.py`, which any target runs, is a way too: its products go at the rate of the
vector units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from flydsl.kernels.blocks.inputs import strides
from flydsl.kernels.gemm.blockscale_preshuffle_gemm import SCALE_BLOCK, compile_blockscale_preshuffle_gemm
from flydsl.kernels.gemm.fp8_gemm import scaled_launcher
from flydsl.kernels.gemm.gemm_fp8fp4_gfx1250 import biased_launcher as narrow_launcher
from flydsl.kernels.gemm.hgemm_splitk import A16W16, gemm_a16w16
from flydsl.kernels.gemm.lds_plan import LdsPlan, ranked_tiles
from flydsl.kernels.gemm.preshuffle_plan import shuffle_weight
from flydsl.kernels.gemm.preshuffle_w4a16 import compile_preshuffle_gemm_w4a16
from flydsl.kernels.gemm.rdna_f16_gemm import biased_launcher as rdna_launcher
from flydsl.kernels.gemm.rdna_fp8_preshuffle_gemm import biased_launcher as rdna_fp8_launcher
from flydsl.kernels.gemm.tiled import build_tiled_gemm_module
from flydsl.kernels.gemm.wmma import gfx1250_plan, rdna_plan
from flydsl.kernels.gemm.wmma.rdna_fp8_plan import Fp8Plan
from flydsl.kernels.gemm.wmma_gemm_gfx1250 import biased_launcher as half_launcher
from flydsl.kernels.quant.shuffles import preshuffle_b_16x16, preshuffle_b_fp8
from flydsl.ops import arrays
from flydsl.target.target import parse_target

CDNA, RDNA, GFX1250 = ("gfx90a", "gfx942", "gfx950"), tuple(rdna_plan.CHIPS), ("gfx1250",)
FP8 = {"gfx942": "float8_e4m3fnuz", "gfx950": "float8_e4m3fn", "gfx1200": "float8_e4m3fn", "gfx1201": "float8_e4m3fn",
       "gfx1250": "float8_e4m3fn"}  # fmt: skip
"""The 8-bit floats that a target multiplies."""
COPY_BYTES, COPY_CLOCKS = 2048, 3000
"""What all of a GPU reads and writes in a clock, about the bandwidth of an MI300X, and clocks of a launch."""
VECTOR_RATE, TILED_SIDE, TILED_CLOCKS = 64, 64, 2000
"""Products of a unit's vector units in a clock, as the tiled kernel gets them; its tile; clocks of a block."""
OUT = {"f32": "f32", "f16": "fp16", "bf16": "bf16"}
"""Types by what the kernels of CDNA call them."""


@dataclass(frozen=True)
class Way:
    """One kernel for a product: its name and tile, the model's clocks, and what runs it."""

    kernel: str
    tile: str
    clocks: float
    run: Callable[[], None]

    def __str__(self) -> str:
        return f"{self.kernel}, {self.tile}: {self.clocks:,.0f} clocks"


@dataclass(frozen=True)
class Product:
    """c = a @ b + bias, of matrices (M, K), (K, N) and (M, N), on one target; scales are those of rows and columns."""

    arch: str
    a: Any
    b: Any
    c: Any
    bias: Any = None
    scales: tuple[Any, Any] | None = None

    @property
    def sizes(self) -> tuple[int, int, int]:
        return self.a.shape[0], self.b.shape[1], self.a.shape[1]

    @property
    def stream(self) -> Any:
        return arrays.stream_of(self.a)

    @property
    def given_bias(self) -> Any:
        """The bias, or an array that nobody reads."""
        return self.c if self.bias is None else self.bias


def units_of(arch: str) -> int:
    """Compute units of a target, where that is known."""
    return (parse_target(arch).processors if arch in (*CDNA, *RDNA) else 0) or gfx1250_plan.UNITS


# Operands ------------------------------------------------------------------------------------------------------------

MAX_STEP = 1 << 22
"""Elements from row to row, of which a tile has up to 256."""


def step_of(x: Any) -> int:
    """Elements between the rows of a matrix whose rows are contiguous, or 0 if they are not, or lie no multiple of an
    element apart."""
    if arrays.has_odd_steps(x):
        return 0
    steps = [s // x.itemsize for s in x.strides] if arrays.is_array(x) else list(x.stride())
    if x.shape[1] > 1 and steps[1] != 1:
        return 0
    return steps[0] if x.shape[0] > 1 else max(steps[0], x.shape[1])


def in_lines(x: Any, unit: int) -> bool:
    """Return whether rows are contiguous, begin at multiples of 16 bytes and lie multiples of ``unit`` elements
    apart, and not too far."""
    step, address = step_of(x), x.ctypes.data if arrays.is_array(x) else x.data_ptr()
    return step % unit == 0 and step >= max(x.shape[1], 1) and is_near(x) and address % arrays.ALIGNMENT == 0


def is_near(x: Any) -> bool:
    """Return whether the bytes of a tile's rows can be counted in 32 bits; no copy brings whole rows closer."""
    return step_of(x) <= max(MAX_STEP, x.shape[1])


def is_plain(x: Any) -> bool:
    """Return whether contiguous rows lie one behind the other, not too far apart, and strides say so, also of one
    row."""
    step, unit = strides(x)
    return unit == 1 and step >= x.shape[1] and is_near(x)


def padded(x: Any, rows: int, columns: int) -> Any:
    """Return the matrix in contiguous rows of so many elements, with zeros behind it: itself, if it is that already."""
    if tuple(x.shape) == (rows, columns) and step_of(x) == columns and in_lines(x, 1):
        return x
    wide = arrays.empty(x, (rows, columns))
    if tuple(x.shape) != (rows, columns):
        arrays.filled(wide, 0)
    arrays.copy_into(wide[: x.shape[0], : x.shape[1]], x)
    return wide


def as_lines(x: Any, unit: int) -> Any:
    """Return the matrix with rows as `in_lines` wants them: itself, or a copy in padded lines."""
    if in_lines(x, unit):
        return x
    rows, columns = x.shape
    wide = arrays.empty(x, (rows, up(columns, unit)))
    arrays.copy_into(wide[:, :columns], x)
    return wide[:, :columns]


def up(extent: int, step: int) -> int:
    return -(-extent // step) * step


def copying(*operands: Any) -> float:
    """Clocks for rewriting some operands."""
    return sum(2 * prod(x.shape) * x.itemsize / COPY_BYTES + COPY_CLOCKS for x in operands)


# f16, bf16 and f32 ---------------------------------------------------------------------------------------------------


def ways(product: Product) -> list[Way]:
    """Return all ways to a product of f32, f16 or bf16 matrices, that with the fewest clocks first."""
    found = [tiled(product)]
    name = arrays.NAMES[product.a.dtype]
    if name != "f32" and 0 not in product.sizes:
        if product.arch in CDNA:
            found.append(through_lds(product, name))
        elif product.arch in RDNA:
            found.append(by_rdna(product, name))
        elif product.arch in GFX1250:
            found.append(by_tensor_tiles(product, name))
    return sorted(found, key=lambda way: way.clocks)


def tiled(product: Product) -> Way:
    m, n, k = product.sizes
    units = units_of(product.arch)
    blocks = -(-m // TILED_SIDE) * -(-n // TILED_SIDE)
    clocks = -(-blocks // units) * (TILED_SIDE * TILED_SIDE * k / VECTOR_RATE + TILED_CLOCKS)
    turned = product.b.swapaxes(0, 1)
    if not step_of(turned):
        clocks += copying(turned)

    def run() -> None:
        gemm = build_tiled_gemm_module(n, k, arrays.NAMES[product.a.dtype])
        gemm(plain_rows(product.a), plain_rows(turned), product.c, m, product.stream, product.bias)

    return Way("tiled", "by the vector units", clocks, run)


def plain_rows(x: Any) -> Any:
    """Return a matrix whose rows are contiguous and whose strides say so, also those of one row or of one element."""
    found = arrays.rows(x)
    if arrays.is_array(x):
        steps, size = found.strides, found.itemsize
    else:
        steps, size = found.stride(), 1
    if steps[1] == size and (steps[0] != size or found.shape[1] == 1):
        return found
    if arrays.is_array(x):
        return arrays.np.array(found, order="C")
    return found.clone(memory_format=arrays.met_torch().contiguous_format)


def through_lds(product: Product, name: str) -> Way:
    """gemm_a16w16, which takes either operand as it lies, or turned.

    Blocks that share K add to an f32 result, which is rounded once behind them.
    """
    m, n, k = product.sizes
    rounding = 6 * m * n / COPY_BYTES + COPY_CLOCKS
    options = ranked_tiles(m, n, k, parse_target(product.arch).lds_bytes)
    clocks, tiles = min(
        ((own + rounding * (tiles["split_k"] > 1), tiles) for own, tiles in options), key=lambda x: x[0]
    )
    letters, copied = [], []
    for x in (product.a, product.b):
        turned = x.swapaxes(0, 1)
        letters.append("t" if not in_lines(x, 8) and in_lines(turned, 8) else "n")
        if not in_lines(x if letters[-1] == "n" else turned, 8):
            copied.append(x)
    kwargs = {said: tiles[own] for said, own in A16W16.items() if own in tiles}

    def run() -> None:
        a, b = (
            as_lines(x, 8) if letter == "n" else x for x, letter in zip((product.a, product.b), letters, strict=True)
        )
        result = product.c if tiles["split_k"] == 1 else arrays.empty(product.c, (m, n), "f32")
        gemm_a16w16(a, b, result, product.bias, kwargs, product.stream, "".join(letters))
        if result is not product.c:
            arrays.copy_into(product.c, result)

    shared = f" with K shared by {tiles['split_k']}" if tiles["split_k"] > 1 else ""
    tile = f"tiles of {tiles['tile_m']} x {tiles['tile_n']} x {tiles['tile_k']}{shared}"
    return Way("gemm_a16w16", tile, clocks + copying(*copied), run)


def by_rdna(product: Product, name: str) -> Way:
    m, n, k = product.sizes
    deep, turned = up(k, rdna_plan.PIECE), product.b.swapaxes(0, 1)
    options: dict[str, Any] = {**rdna_plan.pick_tile(m, n, deep, product.arch)}
    plan = rdna_plan.RdnaPlan(m, n, deep, name, name, **options)
    clocks = rdna_plan.estimated_clocks(plan, rdna_plan.CHIPS[product.arch])
    copied = [x for x in (product.a, turned) if deep != k or step_of(x) != k or not in_lines(x, 8)]

    def run() -> None:
        a, b = padded(product.a, m, deep), padded(turned, n, deep)
        gemm = rdna_launcher(replace(plan, m=0, ldc=step_of(product.c)), product.bias is not None)
        gemm(product.c, a, b, product.given_bias, m, product.stream)

    return Way(
        "rdna_f16_gemm", f"tiles of {plan.tile_m} x {plan.tile_n} x {plan.tile_k}", clocks + copying(*copied), run
    )


def by_tensor_tiles(product: Product, name: str) -> Way:
    """gfx1250's tensor data mover; rows of B come as they lie in a weight, or K by N where that is what there is."""
    m, n, k = product.sizes
    deep, turned = max(up(k, 32), 64), product.b.swapaxes(0, 1)
    straight = deep == k and n % 8 == 0 and in_lines(product.b, 8) and step_of(product.b) == n
    whole = n % 8 == 0 and step_of(product.c) == n
    clocks, plan = gfx1250_plan.ranked_plans(m, n, deep, name, name, b_rows=not straight, store_by_tiles=whole)[0]
    sides = (product.a,) if straight else (product.a, turned)
    copied = [x for x in sides if deep != k or step_of(x) != k or not in_lines(x, 8)]

    def run() -> None:
        b = product.b if straight else padded(turned, n, deep)
        result = product.c if step_of(product.c) == n else arrays.empty(product.c, (m, n))
        gemm = half_launcher(plan, product.bias is not None)
        gemm(result, padded(product.a, m, deep), b, product.given_bias, m, n, product.stream)
        if result is not product.c:
            arrays.copy_into(product.c, result)

    return Way(
        "wmma_gemm_tdm", f"tiles of {plan.tile_m} x {plan.tile_n} x {plan.tile_k}", clocks + copying(*copied), run
    )


# fp8 with scales -----------------------------------------------------------------------------------------------------


def why_not_scaled(arch: str, kinds: list[str], blocks: bool, out: str, biased: bool) -> str | None:
    """Return why no kernel multiplies 8-bit floats with such scales on a target of AMD, or None."""
    wanted = FP8.get(arch)
    if wanted is None:
        return f"{arch} has no instruction for 8-bit floats"
    if set(kinds) != {wanted}:
        return f"on {arch} matrices are {wanted}, got {kinds[0]} and {kinds[1]}"
    if blocks and arch not in CDNA:
        return f"scales of blocks are for gfx942, gfx950 and Hopper, not for {arch}; use scales of rows and columns"
    if blocks and (out == "f32" or biased):
        return f"with scales of blocks {arch} writes f16 and bf16, without a bias"
    return None


def scaled_way(product: Product, out: str, blocks: bool) -> Way:
    """Return the kernel for fp8 with scales; ``product.scales`` are f32, of rows and columns or of blocks."""
    if blocks:
        return by_blocks(product, out)
    if product.arch in CDNA:
        return scaled_through_lds(product, out)
    return scaled_on_rdna(product, out) if product.arch in RDNA else scaled_by_tiles(product, out)


def vectors(product: Product) -> tuple[Any, Any, Any]:
    """Scales of every row and column, and the bias in f32, or an array that nobody reads."""
    m, n, _ = product.sizes
    of_rows, of_columns = (spread(x, count) for x, count in zip(given_scales(product), (m, n), strict=True))
    bias = of_columns
    if product.bias is not None:
        bias = arrays.empty(product.c, (n,), "f32")
        arrays.copy_into(bias, product.bias.reshape(n))
    return of_rows, of_columns, bias


def given_scales(product: Product) -> tuple[Any, Any]:
    assert product.scales is not None
    return product.scales


def spread(scale: Any, count: int) -> Any:
    """So many numbers of a scale of each row or column, or of one for all."""
    flat = scale.reshape(-1)
    if flat.shape[0] == count:
        return arrays.line(flat, count)
    wide = arrays.empty(flat, (count,))
    arrays.copy_into(wide, arrays.np.broadcast_to(flat, (count,)) if arrays.is_array(flat) else flat.expand(count))
    return wide


def scaled_through_lds(product: Product, out: str) -> Way:
    m, n, k = product.sizes
    turned, lds = product.b.swapaxes(0, 1), parse_target(product.arch).lds_bytes
    clocks, sizes = ranked_tiles(m, n, k, lds, elem_bytes=1, shares=(1,))[0]
    tiles: dict[str, Any] = {**sizes}
    clocks += copying(*(x for x in (product.a, turned) if not in_lines(x, 16)))

    def run() -> None:
        a, b = as_lines(product.a, 16), as_lines(turned, 16)
        plan = LdsPlan(n, k, dtype="fp8", out=OUT[out], scaled=True, biased=product.bias is not None, lda=step_of(a),
                       ldb=step_of(b), ldc=step_of(product.c), **tiles)  # fmt: skip
        scaled_launcher(plan)(a, b, product.c, *vectors(product), m, product.stream)

    return Way("fp8_gemm", f"tiles of {tiles['tile_m']} x {tiles['tile_n']} x {tiles['tile_k']}", clocks, run)


def by_blocks(product: Product, out: str) -> Way:
    m, n, k = product.sizes
    wide, deep = up(n, 64), up(k, SCALE_BLOCK)
    rows, columns = (16, 64) if m <= 48 else (32, 64) if m <= 128 else (64, 128 if n % 128 == 0 else 64)
    depth = 256 if rows == 16 else 128
    deep = up(deep, depth)
    blocks = -(-m // rows) * (wide // columns)
    units = units_of(product.arch)
    clocks = -(-blocks // units) * (deep * (rows * columns / 4096 + (rows + columns) / 32) + 2000) + copying(product.b)

    def run() -> None:
        of_rows, of_blocks = given_scales(product)
        weights = shuffle_weight(padded(product.b.swapaxes(0, 1), wide, deep))
        steps = deep // SCALE_BLOCK
        shapes = ((of_rows, (steps, m)), (of_blocks, (-(-wide // SCALE_BLOCK), steps)))
        given = [padded(x.swapaxes(0, 1), *shape) for x, shape in shapes]
        result = product.c if (wide, step_of(product.c)) == (n, n) else arrays.empty(product.c, (m, wide))
        gemm = compile_blockscale_preshuffle_gemm(
            N=wide, K=deep, tile_m=rows, tile_n=columns, tile_k=depth, out_dtype=OUT[out],
            use_async_copy=product.arch == "gfx950",
        )  # fmt: skip
        gemm(result, padded(product.a, m, deep), weights, *given, m, wide, product.stream)
        if result is not product.c:
            arrays.copy_into(product.c, result[:, :n])

    return Way("blockscale_preshuffle_gemm", f"tiles of {rows} x {columns} x {depth}", clocks, run)


def scaled_on_rdna(product: Product, out: str) -> Way:
    m, n, k = product.sizes
    wide, deep = up(n, 16), up(k, 32)
    rows = 16 if m <= 16 else 32 if m <= 512 else 64
    plan = Fp8Plan(0, wide, deep, rows, 128, 32, out=out)
    chip = rdna_plan.CHIPS[product.arch]
    products = rows * 128 * deep / 4096 * chip.matrix_clocks / rdna_plan.SIMDS
    clocks = -(-prod(plan.grid_of(m)) // chip.units) * (products + rdna_plan.START_CLOCKS) + copying(product.b)

    def run() -> None:
        weights = preshuffle_b_fp8(padded(product.b, deep, wide))
        result = product.c if (wide, step_of(product.c)) == (n, n) else arrays.empty(product.c, (m, wide))
        of_rows, of_columns, bias = (x if i == 0 else longer(x, wide) for i, x in enumerate(vectors(product)))
        gemm = rdna_fp8_launcher(plan, product.bias is not None)
        gemm(result, padded(product.a, m, deep), weights, of_rows, of_columns, bias, m, product.stream)
        if result is not product.c:
            arrays.copy_into(product.c, result[:, :n])

    return Way("rdna_fp8_preshuffle_gemm", f"tiles of {rows} x 128 x 32", clocks, run)


def scaled_by_tiles(product: Product, out: str) -> Way:
    m, n, k = product.sizes
    wide, deep = up(n, 16), max(up(k, 128), 256)
    biased = product.bias is not None
    clocks, plan = gfx1250_plan.ranked_plans(m, wide, deep, "fp8", out, scales="rows", biased=biased)[0]
    clocks += copying(product.b)

    def run() -> None:
        weights = preshuffle_b_16x16(padded(product.b.swapaxes(0, 1), wide, deep), wide, deep)
        result = product.c if (wide, step_of(product.c)) == (n, n) else arrays.empty(product.c, (m, wide))
        of_rows, of_columns, bias = (x if i == 0 else longer(x, wide) for i, x in enumerate(vectors(product)))
        gemm = narrow_launcher(plan)
        gemm(result, padded(product.a, m, deep), weights, of_rows, of_columns, bias, m, wide, product.stream)
        if result is not product.c:
            arrays.copy_into(product.c, result[:, :n])

    return Way("fp8fp4_gemm", f"tiles of {plan.tile_m} x {plan.tile_n} x {plan.tile_k}", clocks, run)


# Weights of four bits ------------------------------------------------------------------------------------------------


def why_not_int4(arch: str, x: Any, scales: Any, zeros: Any, bias: Any, group_size: int, kind: str) -> str | None:
    """Return why no kernel of AMD multiplies such weights, or None."""
    n, k = scales.shape[0], x.shape[-1]
    if arch not in ("gfx942", "gfx950"):
        return f"weights of four bits are for gfx942, gfx950 and Hopper, not for {arch}"
    if kind != "int4" or zeros is not None or bias is not None:
        return f"on {arch} weights are kind='int4' without zeros, and there is no bias"
    if group_size not in (32, k):
        return f"on {arch} group_size is 32, or K for one scale a column; got {group_size}"
    if n % 64 or k % 64:
        return f"on {arch} N and K are multiples of 64, got {n} and {k}"
    return None


def multiply_int4(x: Any, weight: Any, scales: Any, c: Any, group_size: int) -> None:
    """c = x @ (codes * scales) transposed, by weights of `preshuffle_w4a16.shuffle_weights`."""
    (m, k), n = x.shape, scales.shape[0]
    _check_int4(weight, scales, n, k, group_size)
    groups, name = group_size != k, OUT[arrays.NAMES[x.dtype]]
    turned = arrays.empty(x, (k // 32, n) if groups else (1, n), "f32")
    arrays.copy_into(turned, scales.swapaxes(0, 1))
    rows = 32 if m <= 64 else 64
    gemm = compile_preshuffle_gemm_w4a16(
        N=n, K=k, tile_m=rows, tile_n=64, tile_k=128 if k % 128 == 0 else 64, a_dtype=name, out_dtype=name,
        group_size=32 if groups else 0,
    )  # fmt: skip
    gemm(c, padded(x, m, k), padded(weight, n, k // 2), turned, turned, turned, m, n, arrays.stream_of(x))


def _check_int4(weight: Any, scales: Any, n: int, k: int, group_size: int) -> None:
    if tuple(weight.shape) != (n, k // 2) or weight.dtype.itemsize != 1:
        raise ValueError(f"codes of {n} x {k} are two a byte, as preshuffle_w4a16.shuffle_weights gives them, got "
                         f"{tuple(weight.shape)} of {weight.dtype}")  # fmt: skip
    if tuple(scales.shape) != (n, k // group_size):
        raise ValueError(f"scales are {(n, k // group_size)}, got {tuple(scales.shape)}")


def longer(x: Any, count: int) -> Any:
    """Return a vector with zeros behind it."""
    return padded(x.reshape(1, -1), 1, count).reshape(count)

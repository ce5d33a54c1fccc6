"""Groups, scales of blocks and weights of four bits on a real Hopper GPU, against float64."""

from __future__ import annotations

from typing import Any

import pytest

import flydsl.ops as ops
from flydsl.kernels.gemm.few_rows.plan import MOST_ROWS
from flydsl.kernels.gemm.hopper.plan import GemmConfig
from flydsl.kernels.gemm.hopper.weights import shuffle_weights
from flydsl.kernels.gemm.hopper_grouped import hopper_grouped_gemm
from flydsl.kernels.gemm.hopper_matmul import hopper_gemm, hopper_linear4

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.usefixtures("hopper")]

SIZES = [[70, 0, 300, 1], [0, 0, 0, 513], [33] * 130, [1537, 0, 2049, 65]]


def drawn(torch: Any, *shape: int, dtype: Any = None) -> Any:
    return torch.randn(*shape, device="cuda").to(dtype or torch.bfloat16)


def guarded(torch: Any, *shape: int) -> tuple[Any, Any]:
    *lead, m, n = shape
    whole = torch.full((*lead, m + 2, n + 16), float("nan"), device="cuda", dtype=torch.bfloat16)
    return whole[..., 1:-1, 8:-8], whole


def close(got: Any, expected: Any, magnitude: Any, narrow: float = 4e-6) -> None:
    bound = 2.0**-8 * expected.abs() + narrow * (magnitude + 1)
    error = (got.double() - expected).abs()
    assert bool((error <= bound).all()), float((error / bound).max())


def rows_of(torch: Any, a: Any, b: Any, sizes: list[int]) -> tuple[Any, Any]:
    """Rows times the matrix of their group, and the magnitudes of their terms."""
    parts, first = [], 0
    for group, size in enumerate(sizes):
        x, y = a[first : first + size].double(), b[group].double()
        parts.append((x @ y, x.abs() @ y.abs()))
        first += size
    return torch.cat([part[0] for part in parts]), torch.cat([part[1] for part in parts])


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("gathered", [False, True])
def test_groups(sizes: list[int], gathered: bool, torch: Any) -> None:
    """Large tiles, whose loading warpgroup gives registers away, and what the model takes."""
    total, n, k = sum(sizes), 520, 264
    b = drawn(torch, len(sizes), n, k).transpose(1, 2)
    ends = torch.tensor(sizes, device="cuda").cumsum(0).int()
    a = drawn(torch, 77 if gathered else total + 5, k)
    index = torch.randint(0, 77, (total,), device="cuda", dtype=torch.int32) if gathered else None
    drawing = GemmConfig(128, 128, 2, 4, draws=not gathered)
    for config in (None, GemmConfig(128, 256, 2, 4), GemmConfig(256, 128, 2, 4), drawing):
        c, whole = guarded(torch, total if gathered else total + 5, n)
        hopper_grouped_gemm(a, b, c, ends, rows=index, config=config)
        close(c[:total], *rows_of(torch, a if index is None else a[index.long()], b, sizes))
        assert int(whole.isnan().sum()) == whole.numel() - total * n


def test_tiles_are_drawn_on_streams_and_in_graphs_at_once(torch: Any) -> None:
    """Launches of a stream share a counter; graphs captured on one stream, each of whose launches has one of its own,
    run beside each other and eager calls."""
    sizes, n, k = [70, 0, 1300, 1, 600, 515, 64, 450], 4096, 1024
    a, b = drawn(torch, sum(sizes), k), drawn(torch, len(sizes), n, k).transpose(1, 2)
    ends, streams = torch.tensor(sizes, device="cuda").cumsum(0).int(), [torch.cuda.Stream() for _ in range(6)]
    results, graphs = [torch.empty(sum(sizes), n, device="cuda", dtype=a.dtype) for _ in range(7)], []

    def multiply(c: Any) -> None:
        hopper_grouped_gemm(a, b, c, ends, config=GemmConfig(128, 256, 2, 4, draws=True))

    multiply(results[-1])
    close(results[-1], *rows_of(torch, a, b, sizes))
    for c in results[:3]:
        graphs.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(graphs[-1]):
            multiply(c)
            multiply(c)
    calls = [graph.replay for graph in graphs] + [lambda c=c: multiply(c) for c in results[3:6]]
    for _ in range(10):
        for c in results[:6]:
            c.fill_(float("nan"))
        torch.cuda.synchronize()
        for stream, call in zip(streams, calls, strict=True):
            with torch.cuda.stream(stream):
                call()
        torch.cuda.synchronize()
        assert all(torch.equal(c, results[-1]) for c in results[:6])


def test_masked_groups(torch: Any) -> None:
    sizes, a, b = [33, 0, 129], drawn(torch, 3, 130, 1024), drawn(torch, 3, 1024, 512)
    c, whole = guarded(torch, 3, 130, 512)
    hopper_grouped_gemm(a, b, c, torch.tensor(sizes, device="cuda", dtype=torch.int32))
    for group, size in enumerate(sizes):
        close(c[group, :size], *rows_of(torch, a[group], b[group : group + 1], [size]))
    assert int(whole.isnan().sum()) == whole.numel() - sum(sizes) * 512


def test_rows_are_added_once(torch: Any) -> None:
    """Also by the first call of a shape, which compiles."""
    rows, n, k = 300, 523, 260
    a, b = drawn(torch, rows, k), drawn(torch, 4, n, k).transpose(1, 2)
    ends = torch.tensor([100, 100, 250, 300], device="cuda", dtype=torch.int32)
    to_rows, weights = torch.randint(0, 150, (rows,), device="cuda"), torch.rand(rows, device="cuda")
    expected, _ = rows_of(torch, a, b, [100, 0, 150, 50])
    sums = torch.zeros(150, n, device="cuda", dtype=torch.float64)
    sums.index_add_(0, to_rows, expected * weights.double()[:, None])
    out = torch.zeros(150, n, device="cuda")
    hopper_grouped_gemm(a, b, out, ends, to_rows=to_rows.int(), add=True, row_scale=weights)
    assert float((out - sums).norm() / sums.norm()) < 1e-5


def test_a_matrix_is_added_to_itself_once(torch: Any) -> None:
    a, b, c = drawn(torch, 72, 136), drawn(torch, 88, 136), drawn(torch, 72, 88)
    wide = a.double() @ b.double().T
    expected = wide + c.double()
    hopper_gemm(a, b.T, c, beta=1.0, D=c)
    close(c, expected, a.double().abs() @ b.double().abs().T)


SCALED = (300, 520, 640), (1000, 1024, 7168), (7, 136, 1024), (64, 512, 16384), (6000, 4096, 1408)
"""Of the last, results of a tile leave while the next one begins."""


@pytest.mark.parametrize("shape", SCALED, ids=str)
def test_scales_of_blocks(shape: tuple[int, int, int], torch: Any) -> None:
    m, n, k = shape
    a, b = (drawn(torch, rows, k, dtype=torch.float8_e4m3fn) for rows in (m, n))
    of_a, of_b = torch.rand(m, k // 128, device="cuda") + 0.5, torch.rand(-(-n // 128), k // 128, device="cuda") + 0.5
    wide_a = a.double() * of_a.double().repeat_interleave(128, 1)
    wide_b = b.double() * of_b.double().repeat_interleave(128, 0)[:n].repeat_interleave(128, 1)
    c, whole = guarded(torch, m, n)
    hopper_gemm(a, b.T, c, block_scales=(of_a, of_b.T))
    close(c, wide_a @ wide_b.T, wide_a.abs() @ wide_b.abs().T, 3e-4)
    assert int(whole.isnan().sum()) == whole.numel() - c.numel()


@pytest.mark.parametrize("tile", [(128, 256, 2), (192, 128, 3)], ids=str)
@pytest.mark.parametrize("draws", [False, True])
def test_groups_with_scales_leave_later(tile: tuple[int, int, int], draws: bool, torch: Any) -> None:
    """Blocks have several tiles each, which they may draw, of groups that are empty, of few rows, and larger than a
    tile; A has a mean."""
    sizes, n, k = [0, 700, 1, 64, 65, 1500, 0, 333], 4104, 912
    total, config = sum(sizes), GemmConfig(*tile, 4, sends=True, defers=True, draws=draws)
    a = (drawn(torch, total + 5, k) + 0.5).to(torch.float8_e4m3fn)
    b = drawn(torch, len(sizes), n, k, dtype=torch.float8_e4m3fn)
    of_a, of_b = torch.rand(total + 5, 8, device="cuda") + 0.5, torch.rand(len(sizes), 33, 8, device="cuda") + 0.5
    wide_a = a.double() * of_a.double().repeat_interleave(128, 1)[:, :k]
    wide_b = b.double() * of_b.double().repeat_interleave(128, 1)[:, :n].repeat_interleave(128, 2)[..., :k]
    ends, (c, whole) = torch.tensor(sizes, device="cuda").cumsum(0).int(), guarded(torch, total + 5, n)
    given: dict[str, Any] = {"block_scales": (of_a, of_b.transpose(1, 2)), "config": config}
    hopper_grouped_gemm(a, b.transpose(1, 2), c, ends, **given)
    close(c[:total], *rows_of(torch, wide_a, wide_b.transpose(1, 2), sizes), 3e-4)
    assert int(whole.isnan().sum()) == whole.numel() - total * n


@pytest.mark.parametrize("shape", [(1, 8192, 8192), (16, 1000, 2048), (64, 1000, 8192), (2000, 520, 2048)], ids=str)
def test_weights_of_four_bits(shape: tuple[int, int, int], torch: Any) -> None:
    m, n, k = shape
    codes, x = torch.randint(0, 16, (n, k), device="cuda"), drawn(torch, m, k)
    scales, zeros = drawn(torch, n, k // 128), torch.randint(0, 16, (n, k // 128), device="cuda").bfloat16()
    weights = (codes - zeros.double().repeat_interleave(128, 1)) * scales.double().repeat_interleave(128, 1)
    weights = weights if m <= MOST_ROWS else weights.bfloat16().double()
    y, whole = guarded(torch, m, n)
    hopper_linear4(x, shuffle_weights(codes), scales, y, zeros=zeros)
    close(y, x.double() @ weights.T, x.double().abs() @ weights.abs().T)
    assert int(whole.isnan().sum()) == whole.numel() - y.numel()


LONG = [
    None, GemmConfig(128, 192, 2, 4, 2, "m"), GemmConfig(128, 256, 2, 4), GemmConfig(64, 64, 1, 6, 4, "k"),
    GemmConfig(48, 16, 1, 8, 2, "k", swapped=True, staggered=True), GemmConfig(192, 128, 3, 4),
]  # fmt: skip


@pytest.mark.parametrize("config", LONG, ids=str)
def test_long_sums_of_fp8(config: GemmConfig | None, torch: Any) -> None:
    """Tensor cores add up fp8 in 14 bits: of ones that is 16,384 at most, of others with a mean ever less."""
    m, n, k = 200, 264, 57344
    c, whole = guarded(torch, m, n)
    for of in (torch.ones, torch.rand):
        a, b = (of(rows, k, device="cuda").to(torch.float8_e4m3fn) for rows in (m, n))
        hopper_gemm(a, b.T, c, config=config)
        expected = a.double() @ b.double().T
        close(c, expected, expected, 2.0**-9)
        assert abs(float(c.double().mean() / expected.mean()) - 1) < 2.0**-9
    assert int(whole.isnan().sum()) == whole.numel() - c.numel()


@pytest.mark.parametrize("columns", [112, 192, 256])
@pytest.mark.parametrize("sends", [False, True])
def test_long_sums_of_fp8_in_several_tiles(columns: int, sends: bool, torch: Any) -> None:
    """Blocks have several tiles, and results of one leave while the next one begins."""
    config = GemmConfig(128, columns, 2, 4, 2, "m", sends=sends, defers=True)
    for m, n, k in ((3000, 2608, 272), (5001, 2608, 4224)):
        a, b = (drawn(torch, rows, k, dtype=torch.float8_e4m3fn) for rows in (m, n))
        rows, bias = torch.rand(m, device="cuda"), torch.randn(n, device="cuda")
        c, whole = guarded(torch, m, n)
        hopper_gemm(a, b.T, c, bias, row_scale=rows, config=config)
        scaled = a.double() * rows.double()[:, None]
        close(c, scaled @ b.double().T + bias.double(), scaled.abs() @ b.double().abs().T, 3e-4)
        assert int(whole.isnan().sum()) == whole.numel() - c.numel()


@pytest.mark.parametrize("gathered", [False, True])
def test_long_sums_of_fp8_groups(gathered: bool, torch: Any) -> None:
    sizes, n, k = [70, 0, 300, 1], 264, 57344
    a, b = (torch.rand(*shape, k, device="cuda").to(torch.float8_e4m3fn) for shape in ((sum(sizes),), (4, n)))
    ends = torch.tensor(sizes, device="cuda").cumsum(0).int()
    index = torch.arange(sum(sizes), device="cuda", dtype=torch.int32) if gathered else None
    c, whole = guarded(torch, sum(sizes), n)
    hopper_grouped_gemm(a, b.transpose(1, 2), c, ends, rows=index)
    expected, _ = rows_of(torch, a, b.transpose(1, 2), sizes)
    close(c, expected, expected, 2.0**-9)
    assert int(whole.isnan().sum()) == whole.numel() - c.numel()


def codes_of(torch: Any, *shape: int) -> Any:
    """Numbers with a mean that fp8 holds as they are: each 128 have the same largest one, 448 / 256."""
    numbers = (torch.rand(*shape, device="cuda") + 0.5).to(torch.float8_e4m3fn).bfloat16()
    numbers[..., ::128] = 1.75
    return numbers


@pytest.mark.parametrize("tokens", [1, 8, 200])
@pytest.mark.parametrize("model", [7168, 16384])
def test_long_sums_of_fp8_experts(tokens: int, model: int, torch: Any) -> None:
    """Few tokens, whose products are mma.sync's, and groups of rows."""
    inter, count = 1024, 3
    x, w1 = codes_of(torch, tokens, model), codes_of(torch, count, 2 * inter, model) / 2**13
    w2 = codes_of(torch, count, model, inter) / 2**10
    ids = torch.rand(tokens, count, device="cuda").argsort(1)[:, :2].int()
    weights, out = torch.rand(tokens, 2, device="cuda"), torch.full_like(x, float("nan"))
    ops.moe(x, (ids, weights), ops.moe_weights(w1, w2, "fp8_blockscale"), out=out)
    expected = torch.zeros(tokens, model, device="cuda", dtype=torch.float64)
    for expert in range(count):
        token, slot = torch.where(ids == expert)
        if not len(token):
            continue
        gate, up = (x[token].double() @ w1[expert].double().T).chunk(2, -1)
        inner, scale = ops.quantize_blocks((torch.nn.functional.silu(gate) * up).bfloat16(), (1, 128))
        rows = (inner.double() * scale.double().repeat_interleave(128, 1)) @ w2[expert].double().T
        expected.index_add_(0, token, rows * weights[token, slot, None].double())
    assert abs(float(out.double().mean() / expected.mean()) - 1) < 2.0**-9
    assert float((out.double() - expected).norm() / expected.norm()) < 2.0**-8

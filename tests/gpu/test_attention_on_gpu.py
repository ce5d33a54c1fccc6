"""Attention on a real Hopper GPU against float64: shapes, features, gradients, sequences, 8 bits, paged caches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flydsl.kernels.attention.attention import attention
from flydsl.kernels.attention.backward import attention_backward
from flydsl.kernels.attention.fp8_forward import attention_fp8
from flydsl.kernels.attention.paged import mla_decode, paged_attention
from tests.support.attention_reference import attend, check

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.usefixtures("hopper")]


def drawn(torch: Any, *shape: int) -> Any:
    """f16: NumPy has it, and so the reference."""
    return torch.randn(*shape, device="cuda", dtype=torch.float16)


def host(*tensors: Any) -> list[np.ndarray[Any, Any]]:
    return [x.cpu().numpy() for x in tensors]


def run(torch: Any, shape: tuple[int, ...], **features: Any) -> None:
    b, h, kv, queries, keys, d, dv = (*shape, shape[5])[:7]
    q, k, v = drawn(torch, b, h, queries, d), drawn(torch, b, kv, keys, d), drawn(torch, b, kv, keys, dv)
    out = torch.full((b, h, queries, dv), float("nan"), device="cuda", dtype=torch.float16)
    _, lse = attention(q, k, v, out=out, return_lse=True, **features)
    known = {name: x.cpu().numpy() if hasattr(x, "cpu") else x for name, x in features.items()}
    found, logarithms, query, key, value = host(out, lse, q, k, v)
    check(found, logarithms, attend(query, key, value, **known), (shape, features))


@pytest.mark.parametrize("d", [32, 64, 96, 128, 256])
def test_shapes(d: int, torch: Any) -> None:
    for causal in (False, True):
        run(torch, (2, 4, 2, 1000, 1300, d), is_causal=causal)
        run(torch, (1, 2, 2, 700, 300, d), is_causal=causal)
        run(torch, (1, 2, 2, 1, 129, d), is_causal=causal)


def exact_gradients(torch: Any, dout: Any, q: Any, k: Any, v: Any, causal: bool) -> Any:
    """The derivatives in float64, written out: autograd would multiply on a thread of its own, where torch warns that
    cuBLAS finds no context."""
    query, grad, shared = q.double(), dout.double(), q.shape[1] // k.shape[1]
    keys, values = (x.double().repeat_interleave(shared, 1) for x in (k, v))
    scale = q.shape[-1] ** -0.5
    scores = query @ keys.transpose(-1, -2) * scale
    if causal:
        hidden = torch.ones(scores.shape[-2:], device="cuda", dtype=torch.bool).triu(1 + k.shape[2] - q.shape[2])
        scores = scores.masked_fill(hidden, float("-inf"))
    powers = scores.softmax(-1)
    slopes = grad @ values.transpose(-1, -2)
    slopes = powers * (slopes - (powers * slopes).sum(-1, keepdim=True)) * scale
    per_head = slopes.transpose(-1, -2) @ query, powers.transpose(-1, -2) @ grad
    return slopes @ keys, *(x.unflatten(1, (-1, shared)).sum(2) for x in per_head)


@pytest.mark.parametrize("d", [64, 96, 128, 192, 256])
def test_gradients(d: int, torch: Any) -> None:
    """Sums have an order where one is asked for: the same bits each time."""
    for causal, (b, h, kv, queries, keys) in ((False, (2, 4, 2, 300, 700)), (True, (1, 4, 2, 1100, 1300))):
        q, dout, k, v = (
            drawn(torch, b, n, rows, d) for n, rows in ((h, queries), (h, queries), (kv, keys), (kv, keys))
        )
        out, lse = attention(q, k, v, is_causal=causal, return_lse=True)
        given = (dout, q, k, v, out, lse)
        expected = exact_gradients(torch, dout, q, k, v, causal)
        for ordered in (False, True):
            found = attention_backward(*given, is_causal=causal, deterministic=ordered)
            for one, exact in zip(found, expected, strict=True):
                assert float((one.double() - exact).norm() / exact.norm()) < 1e-3, (d, causal, ordered)
        again = [attention_backward(*given, is_causal=causal, deterministic=True) for _ in range(3)]
        assert all(torch.equal(a, b) for one in again for a, b in zip(one, found, strict=True))


def test_eight_bits(torch: Any) -> None:
    """One scale for a tensor, and one for each block of 128 tokens; both products in 8 bits, too."""
    q, k, v = (torch.randn(1, heads, 700, 128, device="cuda").to(torch.float8_e4m3fn) for heads in (4, 2, 2))
    scale = torch.rand(1, 2, 6, device="cuda") + 0.5
    wide = scale.repeat_interleave(128, -1)[..., :700, None].double()
    for causal in (False, True):
        for scales, factor in (({"v_scale": scale[:1, 0, :1].reshape(1)}, scale[0, 0, 0]), ({"v_scale": scale}, wide)):
            values = v.double() * factor
            keys, values = (x.double().repeat_interleave(2, 1) for x in (k, values))
            scores = q.double() @ keys.transpose(-1, -2) * 128**-0.5
            if causal:
                scores = scores.masked_fill(torch.ones(700, 700, device="cuda").triu(1).bool(), float("-inf"))
            exact = scores.softmax(-1) @ values
            for fast, most in ((False, 0.005), (True, 0.04)):
                found = attention_fp8(q, k, v, is_causal=causal, use_fast_accum=fast, **scales)
                assert float((found.double() - exact).norm() / exact.norm()) < most


@pytest.mark.parametrize("d", [64, 128, 256])
def test_eight_bits_of_many_keys(torch: Any, d: int) -> None:
    """Values with a mean: what products of 8 bits cut off their sums would show in each of them."""
    q, k, v = (torch.randn(1, 2, 9000, d, device="cuda") for _ in range(3))
    q, k, v = (x.to(torch.float8_e4m3fn) for x in (q, k, v + 1))
    exact = (q.double() @ k.double().transpose(-1, -2) * d**-0.5).softmax(-1) @ v.double()
    for scales in ({}, {"v_scale": torch.ones(1, 2, 71, device="cuda")}):
        found = attention_fp8(q, k, v, **scales).double()
        assert abs(float(found.mean() / exact.mean()) - 1) < 0.001
        assert float((found - exact).norm() / exact.norm()) < 0.005
    found = attention_fp8(q, k, v, use_fast_accum=True).double()
    assert abs(float(found.mean() / exact.mean()) - 1) < 0.005
    assert float((found - exact).norm() / exact.norm()) < 0.008


def test_sequences_one_behind_the_other(torch: Any) -> None:
    lengths = [1, 300, 0, 700, 128]
    starts = torch.tensor([0, *np.cumsum(lengths)], device="cuda", dtype=torch.int32)
    q, k, v = drawn(torch, 1129, 4, 128), drawn(torch, 1129, 2, 128), drawn(torch, 1129, 2, 128)
    out = attention(q, k, v, cu_seqlens_q=starts, cu_seqlens_k=starts, max_seqlen_q=700, is_causal=True)
    for first, length in zip(starts.tolist(), lengths, strict=False):
        parts = [x[first : first + length].transpose(0, 1)[None] for x in (out, q, k, v)]
        if length:
            found, query, key, value = host(*parts)
            check(found, None, attend(query, key, value, is_causal=True))


@pytest.mark.parametrize(("page", "heads"), [(1, 8), (16, 8), (64, 8), (256, 8), (16, 32), (64, 128)])
def test_paged_caches_in_a_graph(page: int, heads: int, torch: Any) -> None:
    """Captured once; replays see the lengths and queries of their time. Parts are many: few sequences, long ones. Those
    of 64 rows are put together by a launch of their own. The same is the same again, bit by bit."""
    lengths, pages = [2000, 37, 700], 3 * -(-2048 // page)
    k, v = (drawn(torch, pages, page, 2, 128) for _ in range(2))
    tables = torch.randperm(pages, device="cuda").view(3, -1).int()
    context, q = torch.tensor(lengths, device="cuda", dtype=torch.int32), drawn(torch, 3, heads, 128)
    out = torch.full_like(q, float("nan"))
    paged_attention(q, k, v, tables, context, out=out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        paged_attention(q, k, v, tables, context, out=out)
    for turn in range(2):
        q.copy_(drawn(torch, 3, heads, 128))
        context.add_(turn)
        out.fill_(float("nan"))
        graph.replay()
        first = out.clone()
        graph.replay()
        assert torch.equal(first, out)
        for row, length in enumerate(lengths):
            kv = [x[tables[row].long()].reshape(-1, 2, 128)[: length + turn].transpose(0, 1)[None] for x in (k, v)]
            found, query, key, value = host(out[row][None, :, None], q[row][None, :, None], *kv)
            check(found, None, attend(query, key, value), (page, heads, row))


@pytest.mark.parametrize(("batch", "kv"), [(3, 2), (50, 8)])
def test_caches_of_eight_bits(batch: int, kv: int, torch: Any) -> None:
    """Few long sequences, which are cut, and many: large blocks and small ones. Keys and values times their scales."""
    page, count = 16, 64
    k, v = (torch.randn(batch * count, page, kv, 128, device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
    tables = torch.randperm(batch * count, device="cuda").view(batch, count).int()
    lengths = torch.randint(1, page * count + 1, (batch,), device="cuda", dtype=torch.int32)
    q = torch.randn(batch, kv * 8, 128, device="cuda", dtype=torch.bfloat16)
    out = paged_attention(q, k, v, tables, lengths, k_scale=0.5, v_scale=2.0)
    for row in (0, batch - 1):
        keys, values = (
            x[tables[row].long()].view(-1, kv, 128)[: lengths[row]].double().repeat_interleave(8, 1) for x in (k, v)
        )
        scores = torch.einsum("hd,lhd->hl", q[row].double(), keys * 0.5) * 128**-0.5
        exact = torch.einsum("hl,lhd->hd", scores.softmax(-1), values * 2)
        assert float((out[row].double() - exact).norm() / exact.norm()) < 4e-3, (row, int(lengths[row]))


@pytest.mark.parametrize("heads", [16, 128])
def test_a_latent_cache(heads: int, torch: Any) -> None:
    page, lengths = 64, [3000, 70]
    cache = drawn(torch, 100, page, 576)
    tables = torch.randperm(100, device="cuda")[:96].view(2, 48).int()
    q = drawn(torch, 2, heads, 576)
    out = mla_decode(q, cache, tables, torch.tensor(lengths, device="cuda", dtype=torch.int32), scale=0.07)
    for row, length in enumerate(lengths):
        keys = cache[tables[row].long()].view(-1, 576)[:length].double()
        exact = (q[row].double() @ keys.T * 0.07).softmax(-1) @ keys[:, :512]
        assert float((out[row].double() - exact).norm() / exact.norm()) < 2e-3, (heads, row)

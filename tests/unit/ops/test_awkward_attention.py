"""Attention on what is allowed and awkward: masks of huge numbers, views that go back, and windows without an end."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.ops as ops
from flydsl.kernels.attention import paged
from flydsl.kernels.attention.attention import attention
from tests.support.attention_reference import attend, check

KEYS = 133
"""Several blocks of keys on every target."""


@pytest.fixture(autouse=True, params=["gfx942", "sm_90a"])
def _target(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", request.param)
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


def heads(rng: np.random.Generator, tokens: int, kind: Any = np.float16) -> np.ndarray:
    return rng.standard_normal((1, 2, tokens, 64)).astype(kind)


# Masks ---------------------------------------------------------------------------------------------------------------


def mask_of(lowest: float, kind: Any) -> np.ndarray:
    """Queries that see the first keys, no key at all (2), and the last ones (3)."""
    mask = np.zeros((6, KEYS), kind)
    mask[:, 20:] = lowest
    mask[2] = lowest
    mask[3] = np.where(np.arange(KEYS) < 64, lowest, 0)
    return mask


@pytest.mark.parametrize("lowest", [-1e9, np.finfo(np.float32).min])
def test_masks_of_huge_numbers(lowest: float, rng: np.random.Generator) -> None:
    """Keys that are all hidden by one number weigh the same, as in torch; only minus infinity leaves none."""
    q, k, v = heads(rng, 6), heads(rng, KEYS), heads(rng, KEYS)
    mask = mask_of(lowest, np.float32)
    expected = attend(q, k, v, attn_mask=np.where(mask == lowest, -1e5, 0.0)).out
    expected[:, :, 2] = v.astype(float).mean(2)
    found = ops.scaled_dot_product_attention(q, k, v, mask)
    assert np.abs(found - expected).max() <= 2e-3 * np.abs(expected).max()


@pytest.mark.torch
def test_gradients_with_masks_of_huge_numbers(torch: Any, rng: np.random.Generator) -> None:
    """A query whose keys are all hidden has none: its logarithm has no digits left for them."""
    *inputs, dout = (torch.from_numpy(heads(rng, n)) for n in (6, KEYS, KEYS, 6))
    dout[:, :, 2] = 0
    mask = torch.from_numpy(mask_of(-1e9, np.float32))
    grads = []
    for function, kind in (
        (ops.scaled_dot_product_attention, torch.float16),
        (torch.nn.functional.scaled_dot_product_attention, torch.float64),
    ):
        x = [t.clone().to(kind).requires_grad_() for t in inputs]
        function(*x, mask if kind is torch.float16 else mask.to(kind)).backward(dout.to(kind))
        grads.append([t.grad.double() for t in x])
    for found, expected in zip(*grads, strict=True):
        assert (found - expected).abs().max() <= 5e-3 * expected.abs().max()


# Places in memory ----------------------------------------------------------------------------------------------------


def test_heads_that_go_back(rng: np.random.Generator) -> None:
    q, k, v = heads(rng, 9), heads(rng, 33), heads(rng, 33)
    for views in ((q[:, :, ::-1], k, v), (q, k[:, :, ::-1], v[:, ::-1]), (q, k, np.broadcast_to(v[:, :1], v.shape))):
        check(ops.attention(*views), None, attend(*views))
    with pytest.raises(ValueError, match=r"k must have strides that are not negative.*\(4224, 2112, -64, 1\)"):
        attention(q, k[:, :, ::-1], v)


def test_heads_that_begin_between_pieces(rng: np.random.Generator) -> None:
    views = [rng.standard_normal(2 * 33 * 64 + 9).astype(np.float16)[n : n - 9 or None] for n in (1, 3, 5)]
    tensors = [view[: 2 * 33 * 64].reshape(1, 2, 33, 64) for view in views]
    check(ops.attention(*tensors), None, attend(*tensors))


def test_tokens_that_lie_far_apart() -> None:
    """Bytes of a tile are counted in 32 bits, so those of 64 tokens must not be more."""
    near = np.zeros((1, 1, 64, 64), np.float16)
    far = np.lib.stride_tricks.as_strided(near, near.shape, (0, 0, 1 << 25, 2))
    with pytest.raises(ValueError, match=r"v must have strides that are .* below 16777216 from token to token"):
        attention(near, near, far)


def test_slopes_and_sinks_that_lie_apart(rng: np.random.Generator) -> None:
    q, k, v = (rng.standard_normal((1, 2, 20, 32)).astype(np.float16) for _ in range(3))
    slopes, sinks = np.array([[0.5, 0.25, 0.125], [2.0, 0.25, -1.0]], np.float32)[:, ::2]
    apart, near, wide = (
        ops.attention(q, k, v, alibi_slopes=place(slopes), sinks=place(sinks))
        for place in (np.asarray, np.ascontiguousarray, lambda x: x.astype(np.float64))
    )
    assert slopes.strides == sinks.strides == (8,) and (near == apart).all()
    check(near, None, attend(q, k, v, alibi_slopes=slopes, sinks=sinks))
    np.testing.assert_allclose(wide.astype(np.float32), near.astype(np.float32), atol=1e-3)


def test_slopes_of_one_head_in_a_batch(rng: np.random.Generator) -> None:
    """NumPy gives modes of one element the step 0 where it broadcasts."""
    q, k, v = (rng.standard_normal((2, 1, 20, 32)).astype(np.float16) for _ in range(3))
    slopes = np.array([0.5], np.float32)
    alone = [ops.attention(q[i : i + 1], k[i : i + 1], v[i : i + 1], alibi_slopes=slopes) for i in range(2)]
    assert (ops.attention(q, k, v, alibi_slopes=slopes) == np.concatenate(alone)).all()


def test_a_mask_of_integers_is_refused(rng: np.random.Generator) -> None:
    """Zeros and ones that are added hide no key."""
    q = heads(rng, 6)
    with pytest.raises(ValueError, match=r"truth values or numbers that are added, got int32: pass mask != 0"):
        ops.attention(q, q, q, attn_mask=np.tri(6, dtype=np.int32))


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:flydsl.ops.scaled_dot_product_attention leaves this to torch")
def test_heads_of_no_element(torch: Any) -> None:
    nothing = np.zeros((1, 2, 3, 0), np.float16)
    with pytest.raises(TypeError, match="heads are multiples of 32 up to 256 long, got 0 and 0"):
        ops.attention(nothing, nothing, nothing)
    tensor = torch.zeros(1, 2, 3, 0, dtype=torch.float16)
    assert ops.scaled_dot_product_attention(tensor, tensor, tensor).shape == (1, 2, 3, 0)


def test_starts_that_lie_apart(rng: np.random.Generator) -> None:
    tokens = rng.standard_normal((7, 2, 64)).astype(np.float16)
    starts = np.array([0, 9, 3, 9, 7], np.int32)[::2]
    found = ops.attention(tokens, tokens, tokens, cu_seqlens_q=starts, cu_seqlens_k=starts)
    for piece in (slice(0, 3), slice(3, 7)):
        x = tokens[piece].swapaxes(0, 1)[None]
        check(found[piece].swapaxes(0, 1)[None], None, attend(x, x, x))


def test_new_tokens_in_another_order(rng: np.random.Generator) -> None:
    q = rng.standard_normal((3, 4, 64)).astype(np.float16)
    caches = [rng.standard_normal((4, 8, 2, 64)).astype(np.float16) for _ in range(2)]
    tables, lengths = np.array([[0, 1], [3, 2], [1, 1]], np.int32), np.array([9, 16, 1], np.int32)
    expected = ops.paged_attention(q, *caches, tables, lengths)
    for other in (np.asfortranarray(q), q[::-1].copy()[::-1]):
        np.testing.assert_array_equal(ops.paged_attention(other, *caches, tables, lengths), expected)


# Numbers -------------------------------------------------------------------------------------------------------------


@pytest.mark.torch
def test_scales_that_torch_traces_as_symbols(torch: Any, rng: np.random.Generator) -> None:
    """Whether such a number is finite cannot be asked while torch traces."""
    q, cache = (
        torch.from_numpy(rng.standard_normal(shape).astype(np.float16)) for shape in ((2, 4, 64), (4, 8, 2, 64))
    )
    tables, lengths = torch.tensor([[0, 1], [3, 2]], dtype=torch.int32), torch.tensor([9, 16], dtype=torch.int32)

    def decode(scale: float) -> Any:
        return ops.paged_attention(q, cache, cache, tables, lengths, scale=scale)

    ops.register_operators()
    traced = torch.compile(decode, fullgraph=True, backend="aot_eager", dynamic=True)
    for scale in (0.1, 0.2):
        assert torch.equal(traced(scale), decode(scale))


@pytest.mark.torch
def test_longest_sequences_that_change_are_traced_once(torch: Any, rng: np.random.Generator) -> None:
    """Batches of sequences have another longest one each; torch refuses a function that it compiled eight times."""
    graphs = []

    def compiler(graph: Any, _: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    def attended(x: Any, starts: Any, most: int) -> Any:
        run = partial(ops.attention, cu_seqlens_q=starts, cu_seqlens_k=starts, max_seqlen_q=most, max_seqlen_k=most)
        return run(x, x, x, is_causal=True, window=(most, 0))

    ops.register_operators()
    torch.compiler.reset()
    traced = torch.compile(attended, fullgraph=True, backend=compiler)
    for tokens in (8, 9, 12, 13):
        x = torch.from_numpy(rng.standard_normal((tokens, 2, 64)).astype(np.float16))
        starts = torch.tensor([0, 3, tokens], dtype=torch.int32)
        assert torch.equal(traced(x, starts, tokens - 3), attended(x, starts, tokens - 3))
    assert len(graphs) == 2  # one for the first sizes, one for all


@pytest.mark.parametrize("far", [(1 << 31) - 1, 1 << 40])
def test_windows_without_an_end(far: int, rng: np.random.Generator) -> None:
    q, k, v = heads(rng, 9), heads(rng, 33), heads(rng, 33)
    for window in ((0, far), (far, 0)):
        check(ops.attention(q, k, v, window=window), None, attend(q, k, v, window=window))
    caches, tables = (k.swapaxes(1, 2)[:, :32], v.swapaxes(1, 2)[:, :32]), np.zeros((1, 1), np.int32)
    found = ops.paged_attention(q[:, :, 0], *caches, tables, np.array([32], np.int32), window=far)
    check(found[:, :, None], None, attend(q[:, :, :1], k[:, :, :32], v[:, :, :32]))


def test_a_huge_scale_picks_one_key(rng: np.random.Generator) -> None:
    """Exponents have no digits behind the point any more, and the greatest is still zero."""
    q, k, v = heads(rng, 9), heads(rng, KEYS), heads(rng, KEYS)
    check(ops.scaled_dot_product_attention(q, k, v, scale=1e9), None, attend(q, k, v, scale=1e9))
    caches, tables = (k.swapaxes(1, 2)[:, :128], v.swapaxes(1, 2)[:, :128]), np.zeros((1, 1), np.int32)
    found = ops.paged_attention(q[:, :, 0], *caches, tables, np.array([128], np.int32), scale=1e9)
    check(found[:, :, None], None, attend(q[:, :, :1], k[:, :, :128], v[:, :, :128], scale=1e9))


def test_a_cap_that_hardly_caps(rng: np.random.Generator) -> None:
    """Scores keep their digits under the largest cap that there is: a rounding of 1 is a thousandth of it."""
    q, k, v = heads(rng, 9), heads(rng, KEYS), heads(rng, KEYS)
    found, plain = ops.attention(q, k, v, softcap=16384.0), attend(q, k, v)
    assert np.abs(found - plain.out).max() < 4e-3 * np.abs(plain.out).max()


def test_numbers_that_are_none() -> None:
    x, tables = np.zeros((1, 1, 8, 64), np.float16), np.zeros((1, 1), np.int32)
    given = (x[:, :, 0], x.swapaxes(1, 2), x.swapaxes(1, 2), tables, np.array([8], np.int32))
    for name in ("scale", "k_scale", "v_scale"):
        with pytest.raises(ValueError, match=f"{name} must be finite, got nan"):
            ops.paged_attention(*given, **{name: float("nan")})
    for wrong in (float("nan"), float("inf"), -1.0, 16385.0):
        for call in (partial(ops.paged_attention, *given), partial(ops.attention, x, x, x)):
            with pytest.raises(ValueError, match="softcap is 0, for none, to 16384, got"):
                call(softcap=wrong)
    for no_pair in (3, (3,), (1, 2, 3), (-1, 0)):
        with pytest.raises(ValueError, match=r"window is \(left, right\), each None or not negative, got"):
            ops.attention(x, x, x, window=no_pair)
    for no_number, call in product(((5, 0), -1, 2.5), (ops.paged_attention, paged.paged_attention)):
        with pytest.raises(ValueError, match=r"window is a number of keys before a token's own, or None for all, got"):
            call(*given, window=no_number)
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        ops.attention(x, x, x, window=(2.5, 0))


def test_lowest_bfloat16(rng: np.random.Generator) -> None:
    """A mask in the type of a model, where a whole row is padding."""
    kind = ml_dtypes.bfloat16
    q, k, v = heads(rng, 6, kind), heads(rng, KEYS, kind), heads(rng, KEYS, kind)
    mask = mask_of(float(ml_dtypes.finfo(kind).min), kind)
    found = ops.scaled_dot_product_attention(q, k, v, mask).astype(float)
    expected = v.astype(float).mean(2)
    assert np.abs(found[:, :, 2] - expected).max() <= 8e-3 * np.abs(expected).max()

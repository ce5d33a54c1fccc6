"""Rotary positions with a paged cache, and top-k gating, on the virtual GPU against float64 NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.kernels.attention.qk_norm_rope import flydsl_qk_norm_rope_quant
from flydsl.kernels.attention.rope_cache import build_fused_rope_cache_module
from flydsl.kernels.moe.topk_gating import build_topk_gating_softmax_module
from tests.support import random_data

TARGETS = ("gfx942", "gfx950", "gfx1201", "gfx1250", "sm_90a")
DTYPES: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
TOKENS, BLOCK, BLOCKS = 5, 4, 3


def rotated(x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    half = x.shape[-1] // 2
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def check_rope(head_dim: int, flash: bool, dtype: str, pos: str, fp8: bool) -> None:
    rng, kind, (qh, kh) = random_data.generator(), DTYPES[dtype], (4, 2)
    q, k, v = (rng.standard_normal((TOKENS, heads, head_dim)).astype(kind) for heads in (qh, kh, kh))
    integer = np.int32 if pos == "i32" else np.int64
    positions, slots = rng.integers(0, 7, TOKENS).astype(integer), np.array([3, -1, 0, 11, 6], integer)
    angles = rng.standard_normal((7, head_dim // 2))
    cos, sin = np.cos(angles).astype(kind), np.sin(angles).astype(kind)
    held = ml_dtypes.float8_e4m3fn if fp8 else kind
    shape_k = (BLOCKS, BLOCK, kh, head_dim) if flash else (BLOCKS, kh, head_dim // 16, BLOCK, 16)
    shape_v = shape_k if flash else (BLOCKS, kh, head_dim, BLOCK)
    keys, values = (np.zeros(shape, held) for shape in (shape_k, shape_v))
    q_out, k_out = np.full_like(q, np.nan), np.full_like(k, np.nan)
    scales = np.array([0.5], np.float32), np.array([2.0], np.float32)
    fn = build_fused_rope_cache_module(
        head_dim, num_q_heads=qh, num_kv_heads=kh, block_size=BLOCK, flash_layout=flash, dtype_str=dtype,
        apply_scale=fp8, pos_dtype=pos,
    )  # fmt: skip
    fn(q, k, v, positions, cos, sin, slots, keys, values, q_out, k_out, TOKENS, *scales)
    c, s = (table.astype(np.float64)[positions][:, None] for table in (cos, sin))
    tolerance = 5e-3 if dtype == "f16" else 2e-2
    for out, x in ((q_out, q), (k_out, k)):
        np.testing.assert_allclose(out.astype(np.float64), rotated(x.astype(np.float64), c, s), atol=tolerance)
    written = [keys[slot // BLOCK] for slot in slots if slot >= 0]
    assert len(written) == 4
    for token, slot in enumerate(slots):
        if slot < 0:
            continue
        block, place = divmod(int(slot), BLOCK)
        if flash:
            key, value = keys[block, place], values[block, place]
        else:
            key = keys[block, :, :, place].reshape(kh, head_dim)
            value = values[block, :, :, place]
        want_k, want_v = k_out[token].astype(np.float32), v[token].astype(np.float32)
        if fp8:
            want_k, want_v = (w.clip(-448, 448).astype(held) for w in (want_k / 0.5, want_v / 2.0))
        np.testing.assert_array_equal(key.astype(np.float32), np.float32(want_k))
        np.testing.assert_array_equal(value.astype(np.float32), np.float32(want_v))
    untouched = set(range(BLOCK * BLOCKS)) - {int(slot) for slot in slots}
    for slot in untouched if flash else ():
        assert (keys[slot // BLOCK, slot % BLOCK].astype(np.float32) == 0).all()


@pytest.mark.parametrize("arch", TARGETS)
def test_rope_and_cache(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    check_rope(64, True, "bf16", "i32", False)
    check_rope(96, False, "f16", "i64", True)


def test_every_layout_of_the_cache() -> None:
    for flash in (True, False):
        for head_dim, dtype, pos, fp8 in (
            (128, "bf16", "i64", False),
            (96, "f16", "i32", True),
            (32, "bf16", "i32", True),
        ):
            check_rope(head_dim, flash, dtype, pos, fp8)


@pytest.mark.parametrize("flash", [True, False])
def test_parts_of_a_projection_and_of_a_cache(flash: bool) -> None:
    """Views give what contiguous copies give, and leave what lies between them alone."""
    rng, d = random_data.generator(), 32
    projected = rng.standard_normal((TOKENS, 4 + 2 + 2, d)).astype(np.float16)
    tables, positions = rng.standard_normal((7, d)).astype(np.float16), rng.integers(0, 7, TOKENS).astype(np.int32)
    slots = np.array([3, -1, 0, 11, 6], np.int32)
    run = build_fused_rope_cache_module(d, -1, 4, 2, BLOCK, flash_layout=flash, dtype_str="f16")
    results, one = [], np.ones(1, np.float32)
    for arranged in (lambda view: view, np.ascontiguousarray):
        shapes = [(BLOCK, 2, d)] * 2 if flash else [(2, d // 16, BLOCK, 16), (2, d, BLOCK)]
        caches = [np.zeros((BLOCKS, 2, *shape), np.float16) for shape in shapes]
        keys, values = (arranged(cache[:, 1]) for cache in caches)
        turned = np.zeros_like(projected[:, :6])
        q_out, k_out = arranged(turned[:, :4]), arranged(turned[:, 4:])
        given = (projected[:, :4], projected[:, 4:6], projected[:, 6:], positions, tables[:, :16], tables[:, 16:])
        run(*map(arranged, given), slots, keys, values, q_out, k_out, TOKENS, one, one)
        assert not any(cache[:, 0].any() for cache in caches)
        results.append((q_out, k_out, keys, values))
    for view, copy in zip(*results, strict=True):
        np.testing.assert_array_equal(view, copy)
        assert copy.any()


def test_what_rope_refuses() -> None:
    with pytest.raises(NotImplementedError, match="NeoX"):
        build_fused_rope_cache_module(is_neox=False)
    with pytest.raises(NotImplementedError, match="rotary_dim=32"):
        build_fused_rope_cache_module(64, 32)
    with pytest.raises(ValueError, match="'bf16' or 'f16', got 'f32'"):
        build_fused_rope_cache_module(dtype_str="f32")
    with pytest.raises(ValueError, match="multiple of 16"):
        build_fused_rope_cache_module(40, flash_layout=False)


@pytest.mark.parametrize("flash", [True, False])
def test_arrays_that_a_module_was_not_built_for(flash: bool) -> None:
    """Matrices of tokens are taken as they lie: parts of a projection are refused. So are other blocks of a cache."""
    d, one, four = 32, np.ones(1, np.float32), np.arange(4, dtype=np.int32)
    projected, tables = np.ones((4, 8 * d), np.float16), np.ones((7, d // 2), np.float16)
    shapes = [(BLOCKS, BLOCK, 2, d)] * 2 if flash else [(BLOCKS, 2, d // 16, BLOCK, 16), (BLOCKS, 2, d, BLOCK)]
    keys, values = (np.zeros(shape, np.float16) for shape in shapes)
    options = {"flash_layout": flash, "dtype_str": "f16"}
    q, k, v = (np.ones((4, heads, d), np.float16) for heads in (4, 2, 2))
    given, results = (four, tables, tables, four, keys, values), (np.zeros_like(q), np.zeros_like(k))
    for at, part in enumerate((projected[:, : 4 * d], projected[:, 4 * d : 6 * d], projected[:, 6 * d :])):
        with pytest.raises(RuntimeError, match="elements lie apart"):
            parts = [part if place == at else whole for place, whole in enumerate((q, k, v))]
            build_fused_rope_cache_module(d, -1, 4, 2, BLOCK, **options)(*parts, *given, *results, 4, one, one)
    with pytest.raises(RuntimeError, match="keys of the cache has 4 elements, and the kernel was built for 8"):
        build_fused_rope_cache_module(d, -1, 4, 2, 2 * BLOCK, **options)(q, k, v, *given, *results, 4, one, one)
    run, narrow = build_fused_rope_cache_module(d, -1, 4, 2, BLOCK, **options), tables[:, : d // 4]
    with pytest.raises(RuntimeError, match="cosines and sines has 8 elements, and the kernel was built for 16"):
        run(q, k, v, four, tables, narrow, four, keys, values, *results, 4, one, one)


@pytest.mark.parametrize(("rows", "scales", "words"), [(0, 1, "8 numbers"), (7, 0, "1 numbers")])
def test_tables_and_scales_of_nothing(rows: int, scales: int, words: str) -> None:
    """There is no first row to read, and no scale, unless there is no token either."""
    q, tables, scale = np.ones((4, 1, 16), np.float16), np.ones((rows, 8), np.float16), np.ones(scales, np.float32)
    cache, numbers = np.zeros((BLOCKS, BLOCK, 1, 16), ml_dtypes.float8_e4m3fn), np.zeros(4, np.int32)
    run = build_fused_rope_cache_module(16, -1, 1, 1, BLOCK, dtype_str="f16", apply_scale=True)
    given = (q, q, q, numbers, tables, tables, numbers, cache, cache.copy(), q.copy(), q.copy())
    with pytest.raises(RuntimeError, match=f"{words} are asked for, and an array has 0"):
        run(*given, 4, scale, scale)
    run(*given, 0, scale, scale)


@pytest.mark.parametrize("flash", [True, False])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_slots_and_positions_that_are_none(flash: bool, kind: Any) -> None:
    """A slot behind the cache is not written, a position behind the tables gives NaN, too few of them are refused."""
    d, far = 32, 1 << 20 if kind is np.int32 else (1 << 32) + 1
    q, k, v = (np.ones((4, heads, d), np.float16) for heads in (4, 2, 2))
    tables = np.ones((7, d // 2), np.float16)
    positions, slots = np.array([0, 6, 7, -1], kind), np.array([BLOCK * BLOCKS, far, 0, -1], kind)
    shapes = [(BLOCKS, BLOCK, 2, d)] * 2 if flash else [(BLOCKS, 2, d // 16, BLOCK, 16), (BLOCKS, 2, d, BLOCK)]
    keys, values = (np.zeros((BLOCKS + 1, *shape[1:]), np.float16) for shape in shapes)
    run = build_fused_rope_cache_module(
        d, -1, 4, 2, BLOCK, flash_layout=flash, dtype_str="f16", pos_dtype="i32" if kind is np.int32 else "i64"
    )
    q_out, k_out, one = np.zeros_like(q), np.zeros_like(k), np.ones(1, np.float32)
    given = (tables, tables, slots, keys[:BLOCKS], values[:BLOCKS], q_out, k_out)
    run(q, k, v, positions, *given, 4, one, one)
    assert not keys[BLOCKS].any() and not values[BLOCKS].any()
    assert np.isnan(keys).sum() == values.astype(bool).sum() == 2 * d, "the one slot that is there"
    for out in (q_out, k_out):
        assert np.isnan(out[2:]).all() and not np.isnan(out[:2]).any()
    with pytest.raises(RuntimeError, match="4 numbers are asked for, and an array has 3"):
        run(q, k, v, positions[:3], *given, 4, one, one)


@pytest.mark.parametrize("arch", TARGETS)
def test_gating(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    cases = ((19, 128, 6, "bf16", True), (7, 8, 2, "f32", False), (9, 130, 6, "bf16", True), (5, 3, 3, "f32", True))
    for tokens, experts, k, dtype, again in cases:
        x = random_data.generator().standard_normal((tokens, experts)).astype(DTYPES[dtype])
        x[0] = 0  # ties: the first experts
        weights = np.full((tokens, k), np.nan, np.float32)
        indices, where = (np.full((tokens, k), -1, np.int32) for _ in range(2))
        build_topk_gating_softmax_module(experts, k, dtype, again)(x, weights, indices, where, tokens)
        wide = x.astype(np.float64)
        chances = np.exp(wide - wide.max(1, keepdims=True))
        chances /= chances.sum(1, keepdims=True)
        order = np.argsort(-wide, axis=1, kind="stable")[:, :k]
        want = np.take_along_axis(chances, order, 1)
        np.testing.assert_array_equal(indices, order)
        np.testing.assert_allclose(weights, want / want.sum(1, keepdims=True) if again else want, rtol=1e-5)
        np.testing.assert_array_equal(where, np.arange(k) * tokens + np.arange(tokens)[:, None])


@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize(("experts", "k"), [(64, 8), (130, 6), (3, 3)])
def test_tokens_that_are_no_numbers_have_experts_once(
    arch: str, experts: int, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An expert twice is lost by those who keep one slot for a token and an expert. Other tokens are as ever."""
    monkeypatch.setenv("ARCH", arch)
    x = random_data.generator().standard_normal((8, experts)).astype(np.float32)
    x[0, 0], x[1, experts // 2], x[2], x[3], x[4, -1] = np.nan, np.inf, -np.inf, np.nan, -np.nan
    x[5, 0], x[5, 1] = np.nan, -np.nan
    x[6, 1:] = -np.inf
    weights, (ids, where) = np.zeros((8, k), np.float32), np.full((2, 8, k), -1, np.int32)
    build_topk_gating_softmax_module(experts, k, "f32")(x, weights, ids, where, 8)
    assert ((ids >= 0) & (ids < experts)).all()
    assert all(len(set(of_token)) == k for of_token in ids.tolist())
    assert np.isnan(weights[:6]).all()
    assert ids[6].tolist() == list(range(k)) and weights[6].tolist() == [1.0] + [0.0] * (k - 1)
    np.testing.assert_array_equal(ids[7], np.argsort(-x[7], kind="stable")[:k])


def test_what_gating_refuses() -> None:
    x, weights, ids = np.zeros((7, 8), np.float32), np.zeros((7, 2), np.float32), np.zeros((7, 2), np.int32)
    run, words = build_topk_gating_softmax_module(8, 2, "f32"), "elements are asked for, and a matrix has"
    for given in ((x, weights, ids, ids, 8), (x[:, :4], weights, ids, ids, 7), (x, weights[:2], ids, ids, 7)):
        with pytest.raises(RuntimeError, match=words):
            run(*given)
    with pytest.raises(ValueError, match="topk is 1 to 8"):
        build_topk_gating_softmax_module(8, 9)
    with pytest.raises(ValueError, match="1025 experts are more than 16 for each of 64 lanes"):
        build_topk_gating_softmax_module(1025, 2)


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "sm_90a"])
@pytest.mark.parametrize("kind", ["int8", "uint8", "float8_e4m3fn", "float8_e4m3fnuz"])
def test_formats_of_a_cache(arch: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes hold codes that the target multiplies, or those that are asked for; a type is kept."""
    monkeypatch.setenv("ARCH", arch)
    rng, d = random_data.generator(), 32
    x, half = (rng.standard_normal((4, 1, d)) * 9).astype(np.float16), np.ones((7, d // 2), np.float16)
    x[0, 0, :2] = 1000, -(2.0**-14)
    numbers, one, typed = np.arange(4, dtype=np.int32), np.ones(1, np.float32), kind.startswith("float")
    native = ml_dtypes.float8_e4m3fnuz if arch == "gfx942" else ml_dtypes.float8_e4m3fn
    for asked in (None,) if typed else (None, "fp8_fnuz", "fp8"):
        options: dict[str, Any] = {"fp8_format": asked} if asked else {}
        run = build_fused_rope_cache_module(d, -1, 1, 1, 4, dtype_str="f16", apply_scale=True, **options)
        held = {"fp8": ml_dtypes.float8_e4m3fn, "fp8_fnuz": ml_dtypes.float8_e4m3fnuz, None: native}[asked]
        held = np.dtype(getattr(ml_dtypes, kind)) if typed else held
        keys, values = np.zeros((2, 1, 4, 1, d), held).view(held if typed else kind)
        run(x, x, x, numbers, half, half * 0, numbers, keys, values, x.copy(), x.copy(), 4, one, one)
        most = float(ml_dtypes.finfo(held).max)
        want = x.astype(np.float32).clip(-most, most).astype(held)
        for cache in (keys, values):
            np.testing.assert_array_equal(cache[0].view(np.uint8), want.view(np.uint8))


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "sm_90a"])
@pytest.mark.parametrize("scale_dtype", ["fp32", "e8m0"])
def test_formats_of_heads(arch: str, scale_dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results are codes that the target multiplies, or those of the arrays that are given for them."""
    monkeypatch.setenv("ARCH", arch)
    rng, dim, group = random_data.generator(), 512, 64
    q = (rng.standard_normal((5, dim)) * 2.0 ** rng.integers(-6, 6, (5, dim))).astype(ml_dtypes.bfloat16)
    q[0], q[1, :group] = 0, 0
    q[2, 0] = -(2.0**-100)  # rounded it is minus nothing, whose code is NaN in e4m3fnuz
    angles = rng.standard_normal((5, 32))
    cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    sizes = {"num_q_heads": 1, "head_dim": dim, "rope_head_dim": 64, "scale_dtype": scale_dtype}

    def heads(**given: Any) -> tuple[Any, ...]:
        return flydsl_qk_norm_rope_quant(q, q, None, cos, sin, np.arange(5), **sizes, **given)

    exact = heads()[0].astype(np.float64)
    native = ml_dtypes.float8_e4m3fnuz if arch == "gfx942" else ml_dtypes.float8_e4m3fn
    for kind in (None, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, np.uint8):
        given = {} if kind is None else {"q_out": np.zeros((5, dim), kind)}
        found, of_kv, scale, _ = heads(quant=True, quant_group_size=group, **given)
        held = native if kind in (None, np.uint8) else kind
        assert found.dtype == (kind or native) and of_kv.dtype == native
        codes, powers = found.view(held).astype(np.float64), scale.astype(np.float64)
        if scale_dtype == "e8m0":
            assert scale.dtype == np.uint8
            powers = 2.0 ** (scale.astype(np.float64) - 127)
        normed = q.astype(np.float64) / np.sqrt((q.astype(np.float64) ** 2).mean(1, keepdims=True) + 1e-6)
        bound = np.abs(normed).reshape(-1, group).max(1).reshape(5, -1) * 2**0.5 / float(ml_dtypes.finfo(held).max)
        if scale_dtype == "e8m0":  # the next power of two, so that no rotation leaves the format
            assert (powers >= bound * (1 - 1e-5)).all() and (powers < 2 * bound * (1 + 1e-5))[bound > 0].all()
        else:
            np.testing.assert_allclose(powers[bound > 0], bound[bound > 0], rtol=1e-5)
        assert (powers[bound == 0] == 1).all()
        wide = np.repeat(powers, group, 1)
        assert (np.abs(codes * wide - exact) <= 0.07 * np.abs(exact) + wide * 2.0**-8).all()
        assert np.isfinite(codes).all()


def test_scales_of_heads_that_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    q, table = np.ones((2, 512), ml_dtypes.bfloat16), np.ones((2, 32), np.float32)
    sizes = {"num_q_heads": 1, "head_dim": 512, "rope_head_dim": 64, "quant": True}

    def heads(**given: Any) -> Any:
        return flydsl_qk_norm_rope_quant(q, q, None, table, table, np.arange(2), **sizes, **given)

    power = 127 - 8  # the next power of two from sqrt(2) / 448 on
    for kind in (np.uint8, np.int8, ml_dtypes.float8_e8m0fnu):
        given = np.zeros((2, 1), kind)
        assert heads(scale_dtype="e8m0", q_scale=given)[2] is given
        assert (given.view(np.uint8) == power).all()
    lost = flydsl_qk_norm_rope_quant(q, q, None, table, table, np.array([0, 2]), **sizes, scale_dtype="e8m0")
    assert lost[2].tolist() == [[power], [255]]
    with pytest.raises(TypeError, match="an array holds Float32, and the kernel was built for Uint8"):
        heads(scale_dtype="e8m0", q_scale=np.zeros((2, 1), np.float32))
    with pytest.raises(ValueError, match="scale_dtype must be one of fp32, e8m0, got 'f16'"):
        heads(scale_dtype="f16")


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_norm_rotation_and_quantisation(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    rng, (tokens, heads, dim, part) = random_data.generator(), (3, 2, 512, 64)
    q, kv = (rng.standard_normal((tokens, n * dim)).astype(ml_dtypes.bfloat16) for n in (heads, 1))
    weight = rng.uniform(0.5, 2, dim).astype(ml_dtypes.bfloat16)
    angles = rng.standard_normal((9, part // 2))
    cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    positions = rng.integers(0, 9, tokens)
    sizes: dict[str, Any] = {"num_q_heads": heads, "head_dim": dim, "rope_head_dim": part}
    for group in (None, 64, 512):
        options = {"quant": True, "quant_group_size": group} if group else {}
        results = flydsl_qk_norm_rope_quant(q, kv, weight, cos, sin, positions, **sizes, **options)
        for x, w, out, scale in ((q, 1.0, results[0], results[2]), (kv, weight.astype(float), results[1], results[3])):
            wide = x.astype(np.float64).reshape(tokens, -1, dim)
            normed = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-6) * w
            even, odd = normed[..., dim - part :: 2], normed[..., dim - part + 1 :: 2]
            c, s = (table[positions][:, None] for table in (cos, sin))
            want = normed.copy()
            want[..., dim - part :: 2], want[..., dim - part + 1 :: 2] = even * c - odd * s, even * s + odd * c
            got = out.astype(np.float64).reshape(want.shape)
            if group:
                top = np.abs(normed).reshape(-1, dim // group, group).max(-1)
                most = 240 if arch == "gfx942" else 448
                np.testing.assert_allclose(scale, top * 2**0.5 / most, rtol=1e-5)
                got = got * np.repeat(scale, group, -1).reshape(want.shape)
            np.testing.assert_allclose(got, want, rtol=0.07 if group else 1e-2, atol=5e-2 if group else 1e-3)
    lost = flydsl_qk_norm_rope_quant(q, kv, weight, cos, sin, np.array([0, 9, -1]), **sizes)
    for found in lost[:2]:
        assert np.isnan(found[1:].astype(float)).all() and not np.isnan(found[0].astype(float)).any()
    with pytest.raises(RuntimeError, match="3 numbers are asked for, and an array has 2"):
        flydsl_qk_norm_rope_quant(q, kv, weight, cos, sin, positions[:2], **sizes)
    with pytest.raises(ValueError, match="a token has 3 heads of 512 elements"):
        flydsl_qk_norm_rope_quant(q, kv, weight, cos, sin, positions, **{**sizes, "num_q_heads": 3})
    with pytest.raises(TypeError, match="positions are int64"):
        flydsl_qk_norm_rope_quant(q, kv, weight, cos, sin, positions.astype(np.int32), **sizes)
    with pytest.raises(ValueError, match="powers of two from 8"):
        flydsl_qk_norm_rope_quant(q, kv, weight, cos, sin, positions, **sizes, quant=True, quant_group_size=24)

"""Rotary positions of queries and keys, with keys and values written to a paged cache.

fn = build_fused_rope_cache_module(head_dim=128, num_q_heads=32, num_kv_heads=8)
fn(Q, K, V, positions, cos, sin, slots, key_cache, value_cache, Q_out, K_out, tokens, k_scale, v_scale, stream)

out[d] = x[d] * cos[d mod D/2] -/+ x[(d + D/2) mod D] * sin[d mod D/2], minus for the first half. A token's slot is its
place in the cache, block * block_size + place in the block; a slot that the cache does not have, below zero or behind
its end, writes nothing, and a position that tables do not have makes results NaN. Layouts of the cache: flash
[block][place][head][D] for both; else keys [block][head][D / 16][place][16] and values [block][head][D][place].
"""

from __future__ import annotations

from math import nan
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks import wide_pieces
from flydsl.kernels.blocks.exchange import begin_behind_older_launches
from flydsl.kernels.blocks.inputs import require_matrices, require_numbers, require_whole
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.limits import target_now
from flydsl.kernels.blocks.narrow import FORMATS, LARGEST
from flydsl.kernels.blocks.row_plan import DTYPES

THREADS = 256
TURNS = 2
"""Pieces of pairs that a thread rotates."""
VECTOR = 16
"""Elements of a key that lie together in a cache that is not flash."""


@kept
def build_fused_rope_cache_module(
    head_dim: int = 64, rotary_dim: int = -1, num_q_heads: int = 8, num_kv_heads: int = 1, block_size: int = 16,
    is_neox: bool = True, flash_layout: bool = True, dtype_str: str = "bf16", apply_scale: bool = False,
    reuse_freqs_front_part: bool = True, pos_dtype: str = "i32", fp8_format: str | None = None,
) -> Any:  # fmt: skip
    """Return the launcher. With ``apply_scale`` the caches hold 8-bit floats: those of their type, and those of the
    target's matrix cores where they are passed as bytes, "fp8_fnuz" on gfx942 and "fp8" on all others, or
    ``fp8_format``.

    Queries, keys and values of (tokens, heads, D), and caches with the modes of their layout, may be views with strides
    of their own, such as parts of one projection or of one cache. Arrays of other ranks must be contiguous.
    cos and sin have rows of D / 2 elements, or of D without ``reuse_freqs_front_part``. Positions and slots are i32 or
    i64, or i64 passed as pairs of i32.
    """
    _check(head_dim, rotary_dim, is_neox, flash_layout, dtype_str)
    half, dtype = head_dim // 2, DTYPES[dtype_str]
    freqs = half if reuse_freqs_front_part else head_dim

    def number(tensor: Any, token: Any) -> Any:
        """Return an element of positions or slots."""
        pairs = pos_dtype == "i64" and tensor.dtype is fx.Int32
        line = tensor if tensor.rank == 1 else fx.get_iter(tensor)
        return line[token * 2 if pairs else token].to(fx.Int64)

    def cached(value: Any, cache_: Any, scale: Any) -> Any:
        """Return a number as the cache holds it; the scale is an array of one, and is read where it is applied."""
        if not apply_scale:
            return value.to(dtype)
        named = fp8_format or ("fp8_fnuz" if target_now().fnuz else "fp8")
        kind = FORMATS[named] if cache_.dtype in (fx.Int8, fx.Uint8) else cache_.dtype
        top = LARGEST[next(name for name, known in FORMATS.items() if known is kind)]
        narrow = fx.math.clampf(value.to(dtype).to(fx.Float32) / scale[0], -top, top).to(kind)
        return narrow if cache_.dtype is kind else narrow.bitcast(cache_.dtype)

    def element(x: Any, token: Any, heads: int, head: Any, d: Any) -> tuple[Any, Any]:
        """Return (memory, index) of an element of queries, keys or values."""
        if x.rank == 3:
            return x, (token, head, d)
        return fx.get_iter(x), (fx.Int64(token) * heads + head) * head_dim + d

    def key_place(keys: Any, slot: Any, head: Any, d: Any) -> tuple[Any, Any]:
        """Return (memory, index) of an element of a key in the cache."""
        block, place = fx.Int64(slot // block_size), slot % block_size
        if keys.rank == (4 if flash_layout else 5):
            return keys, (block, place, head, d) if flash_layout else (block, head, d // VECTOR, place, d % VECTOR)
        if flash_layout:
            return fx.get_iter(keys), ((fx.Int64(slot)) * num_kv_heads + head) * head_dim + d
        start = (block * num_kv_heads + head) * head_dim // VECTOR + d // VECTOR
        return fx.get_iter(keys), (start * block_size + place) * VECTOR + d % VECTOR

    def value_place(values: Any, slot: Any, head: Any, d: Any) -> tuple[Any, Any]:
        if flash_layout:
            return key_place(values, slot, head, d)
        block, place = fx.Int64(slot // block_size), slot % block_size
        if values.rank == 4:
            return values, (block, head, d, place)
        return fx.get_iter(values), ((block * num_kv_heads + head) * head_dim + d) * block_size + place

    @flyc.kernel
    def rope_cache_kernel(
        Q: fx.Tensor, K: fx.Tensor, V: fx.Tensor, positions: fx.Tensor, cos: fx.Tensor, sin: fx.Tensor,
        slots: fx.Tensor, key_cache: fx.Tensor, value_cache: fx.Tensor, Q_out: fx.Tensor, K_out: fx.Tensor,
        k_scale: fx.Tensor, v_scale: fx.Tensor, rows: fx.Int64, places: fx.Int64,
    ):  # fmt: skip
        token = fx.block_idx.x
        row, slot = number(positions, token), number(slots, token)
        known, kept = (row >= 0) & (row < rows), (slot >= 0) & (slot < places)
        row, slot = known.select(row, fx.Int64(0)), slot.to(fx.Int32)

        def rotate(x: Any, out: Any, heads: int, place: Any) -> tuple[Any, Any, Any, Any]:
            """Rotate a pair: (head, place in the first half, both results)."""
            head, d = place // half, place % half
            sources = [element(x, token, heads, head, d + shift) for shift in (0, half)]
            first, second = (memory[at].to(fx.Float32) for memory, at in sources)
            c, s = (
                (table[row, d] if table.rank == 2 else fx.get_iter(table)[row * freqs + d]).to(fx.Float32)
                for table in (cos, sin)
            )
            c = known.select(c, fx.Float32(nan))
            turned = first * c - second * s, second * c + first * s
            for shift, value in zip((0, half), turned, strict=True):
                memory, at = element(out, token, heads, head, d + shift)
                memory[at] = value.to(dtype)
            return head, d, *turned

        for place in range(fx.thread_idx.x, num_q_heads * half, THREADS):
            rotate(Q, Q_out, num_q_heads, place)
        for place in range(fx.thread_idx.x, num_kv_heads * half, THREADS):
            head, d, low, high = rotate(K, K_out, num_kv_heads, place)
            if kept:
                for shift, value in ((0, low), (half, high)):
                    memory, at = key_place(key_cache, slot, head, d + shift)
                    memory[at] = cached(value, key_cache, k_scale)
        if kept:
            for place in range(fx.thread_idx.x, num_kv_heads * head_dim, THREADS):
                head, d = place // head_dim, place % head_dim
                source, here = element(V, token, num_kv_heads, head, d)
                memory, at = value_place(value_cache, slot, head, d)
                memory[at] = cached(source[here].to(fx.Float32), value_cache, v_scale)

    @flyc.jit
    def fused_rope_cache(
        Q: fx.Tensor, K: fx.Tensor, V: fx.Tensor, positions: fx.Tensor, cos: fx.Tensor, sin: fx.Tensor,
        slots: fx.Tensor, key_cache: fx.Tensor, value_cache: fx.Tensor, Q_out: fx.Tensor, K_out: fx.Tensor,
        num_tokens: fx.Int32, k_scale: fx.Tensor, v_scale: fx.Tensor, stream: fx.Stream = None,
    ):  # fmt: skip
        if fx.const_expr(apply_scale):
            _require_eight_bits(key_cache, value_cache)
        pairs = 2 if pos_dtype == "i64" else 1
        tokens = fx.Int64(num_tokens)
        require_numbers((Q, Q_out), tokens * (num_q_heads * head_dim))
        require_numbers((K, K_out, V), tokens * (num_kv_heads * head_dim))
        for array in (positions, slots):
            require_numbers((array,), tokens * (pairs if array.dtype is fx.Int32 else 1))
        first = fx.min(tokens, fx.Int64(1))
        require_numbers((cos, sin), first * freqs)  # positions that tables do not have read the first row
        require_numbers((k_scale, v_scale) if apply_scale else (), first)
        block = (block_size, num_kv_heads, head_dim)
        of_keys = block if flash_layout else (num_kv_heads, head_dim // VECTOR, block_size, VECTOR)
        of_values = block if flash_layout else (num_kv_heads, head_dim, block_size)
        for array, heads in ((Q, num_q_heads), (Q_out, num_q_heads), *((x, num_kv_heads) for x in (K, K_out, V))):
            _require_modes("queries, keys or values", array, (heads, head_dim))
        _require_modes("keys of the cache", key_cache, of_keys)
        _require_modes("values of the cache", value_cache, of_values)
        for table in (cos, sin):
            _require_modes("cosines and sines", table, (freqs,))
        for array in (positions, slots):
            if fx.const_expr(array.rank != 1):
                require_whole(array)
        rows = fx.min(*(fx.Int64(fx.size(table)) // freqs for table in (cos, sin)))
        places = fx.min(*(fx.Int64(fx.size(held)) // (num_kv_heads * head_dim) for held in (key_cache, value_cache)))
        rope_cache_kernel(
            Q, K, V, positions, cos, sin, slots, key_cache, value_cache, Q_out, K_out, k_scale, v_scale, rows, places
        ).launch(grid=(num_tokens, 1, 1), block=(THREADS, 1, 1), stream=stream)

    return fused_rope_cache


def _require_modes(name: str, array: Any, modes: tuple[int, ...]) -> None:
    """Have a launch refuse an array with these modes behind its first whose extents are others, and one of another rank
    whose elements lie apart."""
    if array.rank != len(modes) + 1:
        return require_whole(array)
    for mode, extent in enumerate(modes, 1):
        fx.require(
            array.shape[mode] == extent, f"mode {mode} of {name} has {{}} elements, and the kernel was built for {{}}",
            array.shape[mode], extent, hint="build the module with the extents of the arrays",
        )  # fmt: skip


def _require_eight_bits(*caches: Any) -> None:
    """Refuse caches that hold no numbers of 8 bits, which are the only ones that are scaled."""
    for cache in caches:
        if cache.dtype not in (*FORMATS.values(), fx.Uint8):
            known = ", ".join(dict.fromkeys(kind.__name__ for kind in (*FORMATS.values(), fx.Uint8)))
            raise TypeError(f"with apply_scale caches are of 8 bits, {known}, and one holds {cache.dtype.__name__}: "
                            "pass such caches, or build the module without apply_scale")  # fmt: skip


def _check(head_dim: int, rotary_dim: int, is_neox: bool, flash_layout: bool, dtype: str) -> None:
    if not is_neox:
        raise NotImplementedError("only NeoX rotation, of halves, is there; flydsl.ops.rope has neighbours too")
    if rotary_dim not in (-1, head_dim):
        raise NotImplementedError(f"all {head_dim} elements of a head are rotated, got rotary_dim={rotary_dim}")
    if dtype not in ("bf16", "f16"):
        raise ValueError(f"dtype_str must be 'bf16' or 'f16', got {dtype!r}")
    if head_dim % 2 or (not flash_layout and head_dim % VECTOR):
        raise ValueError(f"head_dim is even, and a multiple of {VECTOR} in a cache that is not flash; got {head_dim}")


@kept
def build_rope_module(heads: int, head_dim: int, dtype: str, interleaved: bool = False, inverse: bool = False) -> Any:
    """Return the launcher ``fn(x, cos, sin, out, tokens, cosines)``.

    x is (tokens, heads * head_dim), cos and sin are (cosines, D / 2). Token t takes row t mod cosines of the tables.
    ``interleaved`` rotates neighbours instead of halves, ``inverse`` the other way round, as the gradient does.
    """
    half, sign = head_dim // 2, -1.0 if inverse else 1.0
    length = wide_pieces.piece_of(half, DTYPES[dtype].width // 8)  # pairs of a thread at a time
    pieces = heads * half // length

    @flyc.kernel
    def rope_kernel(
        x: fx.Tensor, cos: fx.Tensor, sin: fx.Tensor, out: fx.Tensor, tokens: fx.Int32, cosines: fx.Int32,
        wide: fx.Constexpr,
    ):  # fmt: skip
        def pairs(token: Any, piece: Any) -> tuple[Any, ...]:
            """Return where a thread's pairs begin, their elements, and the cosines and sines of their angles."""
            head, d = piece // (half // length), piece % (half // length) * length
            start = head * head_dim + (2 * d if interleaved else d)
            if interleaved:
                both = wide_pieces.load(x, token, start, 2 * length, wide)
                a, b = (both.shuffle(both, range(first, 2 * length, 2)) for first in (0, 1))
            else:
                a, b = (wide_pieces.load(x, token, start + far, length, wide) for far in (0, half))
            c, s = (wide_pieces.load(table, token % cosines, d, length, wide) for table in (cos, sin))
            return start, a, b, c, s * sign

        begin_behind_older_launches()
        mine = wide_pieces.my_pieces(tokens, pieces, TURNS)
        loaded = [pairs(token, piece) for token, piece, _ in mine]
        for (token, _, there), (start, a, b, c, s) in zip(mine, loaded, strict=True):
            turned = (a * c - b * s).to(out.dtype), (b * c + a * s).to(out.dtype)
            if there:
                if fx.const_expr(interleaved):
                    both = turned[0].shuffle(turned[1], [i + far for i in range(length) for far in (0, length)])
                    wide_pieces.store(out, token, start, both, wide)
                else:
                    wide_pieces.store(out, token, start, turned[0], wide)
                    wide_pieces.store(out, token, start + half, turned[1], wide)

    @flyc.jit
    def rope(
        x: fx.Tensor, cos: fx.Tensor, sin: fx.Tensor, out: fx.Tensor, tokens: fx.Int32, cosines: fx.Int32,
        stream: fx.Stream = None,
    ):  # fmt: skip
        require_matrices((x, out), tokens, heads * head_dim)
        require_matrices((cos, sin), cosines, half)
        fx.require(
            (cosines > 0) | (tokens < 1), "{} tokens are rotated by the rows of tables, which are said to be {}",
            tokens, cosines, hint="pass tables of at least one row, and how many they have",
        )  # fmt: skip
        wide_pieces.launch_wide(
            lambda wide: rope_kernel(x, cos, sin, out, tokens, cosines, wide), (x, cos, sin, out),
            wide_pieces.grid_of(tokens, pieces, TURNS), wide_pieces.THREADS, stream,
        )  # fmt: skip

    return rope

"""Attention for tensors as they come: `attention` checks them and chooses how the kernel is built.

    out = attention(q, k, v, is_causal=True)

q is (batch, heads, queries, d), k is (batch, kv heads, keys, d), v is (batch, kv heads, keys, dv), of PyTorch or NumPy,
in any order of memory that has the last mode contiguous. With ``cu_seqlens_q`` and ``cu_seqlens_k`` sequences of
different lengths lie one behind the other, and q is (all queries, heads, d), k and v are (all keys, kv heads, d).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import gcd, isfinite
from operator import index
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.hopper_forward import ROWS, SHARED_BYTES, ForwardPlan, hopper_forward
from flydsl.kernels.attention.scores import PLAIN, Features, check_softcap, factor_of, is_scaled_first
from flydsl.kernels.attention.wave_forward import wave_forward
from flydsl.kernels.blocks.inputs import (
    EIGHT_BITS,
    TYPES,
    Array,
    as_bias,
    broadcast,
    check_start,
    empty_beside,
    in_a_row,
    lies_whole,
    multiprocessors,
    on_given_stream,
    on_host,
    stream_of,
    strides,
    type_name,
    type_of,
)

CACHE_BYTES = 24 << 20
"""How much of K and V is worked on at a time: about half of the H200's L2."""
MAX_HEAD = 256
MAX_STEP = 1 << 24
"""Elements from token to token: bytes of a tile are counted in 32 bits."""


@on_given_stream
def attention(
    q: Array, k: Array, v: Array, *, out: Array = None, attn_mask: Array = None, is_causal: bool = False,
    scale: float | None = None, window: tuple[int | None, int | None] = (None, None), softcap: float = 0.0,
    alibi_slopes: Array = None, sinks: Array = None, cu_seqlens_q: Array = None, cu_seqlens_k: Array = None,
    max_seqlen_q: int | None = None, max_seqlen_k: int | None = None, return_lse: bool = False, lse: Array = None,
    plan: ForwardPlan | None = None, stream: Any = None,
) -> Any:  # fmt: skip
    """softmax(scale * q k^T + mask) v; with ``return_lse`` also the logarithm of each row's sum of exponentials.

    Query i of n sees keys up to i + m - n of m where ``is_causal``: the last query sees the last key. ``window`` is how
    many keys it sees left and right of that one, None for all. ``attn_mask`` is added to scores. ``softcap`` bounds
    them, ``alibi_slopes`` (heads,) or (batch, heads) takes slope times distance from them, ``sinks`` (heads,) are
    scores of a key without value. ``max_seqlen_q`` promises that no sequence has more queries: those behind are not
    written. ``max_seqlen_k`` promises the same of keys, and is a check where starts lie on the host. A query that sees
    no key gets zeros, and a logarithm of minus infinity, or its sink. Results go to ``out`` and ``lse`` where these are
    given.
    """
    given = Inputs(q, k, v, out, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, longest_k=max_seqlen_k)
    scale = given.d**-0.5 if scale is None else float(scale)
    check_numbers(scale, softcap)
    left, right = given.sides(window, is_causal)
    features = features_of(left, right, softcap, scale, attn_mask is not None or alibi_slopes is not None)
    lse = given.logarithms(lse, sinks) if return_lse or lse is not None else None
    reach = None if left is None or right is None else left + right + 1
    plan = whole_plan(plan, given.dtype, given.d, given.dv, features, given.varied, reach)
    if given.nothing_to_do():
        return (given.result, lse) if return_lse else given.result
    forward(
        given.q, given.k, given.v, given.out, given.shaped_lse(lse), given.mask(attn_mask), given.slopes(alibi_slopes),
        given.sinks(sinks), cu_seqlens_q, cu_seqlens_k, scale, softcap, left or 0, right or 0, given.batches,
        given.longest, given.head_group(reach), multiprocessors(q), plan, stream_of(q, stream),
    )  # fmt: skip
    return (given.result, lse) if return_lse else given.result


@flyc.jit
def forward(
    Q: fx.Tensor, K: fx.Tensor, V: fx.Tensor, out: fx.Tensor, lse: fx.Tensor | None, bias: fx.Tensor | None,
    slopes: fx.Tensor | None, sinks: fx.Tensor | None, query_starts: fx.Tensor | None, key_starts: fx.Tensor | None,
    scale: fx.Float32, cap: fx.Float32, left: fx.Int32, right: fx.Int32, batches: fx.Int32, longest: fx.Int32,
    group: fx.Int32, blocks: fx.Int32, plan: fx.Constexpr, stream: fx.Stream = fx.Stream(None),
):  # fmt: skip
    """Q, K, V and out are (batch, heads, tokens, d). ``plan`` is a `ForwardPlan`; others but Hopper take of it what is
    asked for, and know their tiles themselves."""
    lengths = None if query_starts is None else (query_starts, key_starts)
    extras, numbers = (bias, slopes, sinks), (factor_of(scale, plan.features), scale, cap)
    given = (Q, K, V, out, lse, extras, lengths, numbers, (left, right), batches, longest)
    if fx.const_expr(fx.nvvm.is_target()):
        hopper_forward(*given, group, blocks, plan, stream)
    else:
        wave_forward(*given, plan, stream)


@lru_cache(maxsize=256)
def whole_plan(
    plan: Any, dtype: Any, d: int, dv: int, features: Features, varied: bool, reach: int | None
) -> ForwardPlan:
    """Return the plan that was given, or the one to choose, with all that this call asks for."""
    plan = plan or choose_plan(dtype, d, dv, features, reach)
    return replace(plan, dtype=dtype, d=d, dv=dv, features=features, shared_rows=varied)


def choose_plan(dtype: Any, d: int, dv: int, features: Features = PLAIN, reach: int | None = None) -> ForwardPlan:
    """Keys of a block and computing warpgroups, by what was fastest on an H200 on 2026-11-15 of what fits.

    Where all keys are seen, heads of 128 took 112 keys (718 TFLOP/s at 8192 tokens, 714 with 128). Masks are the dearer
    the more tiles they cut: there 128 keys were faster (641 to 630). A query sees ``reach`` keys at most, or all.
    """
    if max(d, dv) <= 64:
        return choose_short_plan(dtype, d, dv, reach)
    if dv > 192 or 256 * d + 512 * (d + dv) > SHARED_BYTES:
        return ForwardPlan(dtype, d, dv, 64)
    return ForwardPlan(dtype, d, dv, 128 if features.left or features.right else 112)


SHORT_HEADS = (
    (1.0, ForwardPlan(fx.BFloat16, 64, 64, 80, stages=4, consumers=3)),
    (0.985, ForwardPlan(fx.BFloat16, 64, 64, 64, stages=7, consumers=3, ping_pong=False, joint=True)),
    (0.965, ForwardPlan(fx.BFloat16, 64, 64, 128)),
)
"""How fast blocks of keys are with heads of 64 where few are cut: 534, 525 (with turns) and 516 TFLOP/s of 2 x 8192
tokens, causal, in one run on an H200 on 2026-11-16."""


def choose_short_plan(dtype: Any, d: int, dv: int, reach: int | None) -> ForwardPlan:
    """Choose blocks for short heads: the fastest, counted over the keys that are seen.

    The 64 queries of a warpgroup see ``reach + 63`` keys of a window, and it takes all blocks that these lie in: on
    average ``keys - gcd(keys, 64)`` more, since its queries begin at a multiple of 64. Of 2 x 8192 tokens, 16 heads of
    64 and a window of 1024, 64 keys had 412 TFLOP/s (405 with turns), 80 had 380 and 128 had 383 in the same run.
    """

    def useful(timed: tuple[float, ForwardPlan]) -> float:
        speed, plan = timed
        return speed if reach is None else speed / (reach + ROWS - 1 + plan.keys - gcd(plan.keys, ROWS))

    _, plan = max(SHORT_HEADS, key=useful)
    return replace(plan, dtype=dtype, d=d, dv=dv)


def features_of(left: int | None, right: int | None, softcap: float, scale: float, added: bool) -> Features:
    """``added`` says whether something is added to scores behind their scale."""
    return Features(left is not None, right is not None, softcap > 0, is_scaled_first(scale, softcap, added))


def check_numbers(scale: float, softcap: float) -> None:
    if not isfinite(scale):
        raise ValueError(f"scale must be finite, got {scale}")
    check_softcap(softcap)


# What was given --------------------------------------------------------------------------------------


class Inputs:
    """The tensors of a call as (batch, heads, rows, d), checked. Those of ``eight_bits`` have results in bf16."""

    def __init__(
        self, q: Array, k: Array, v: Array, out: Array, q_starts: Array, k_starts: Array, longest: int | None, *,
        longest_k: int | None = None, eight_bits: bool = False,
    ) -> None:  # fmt: skip
        self.varied = q_starts is not None
        if self.varied != (k_starts is not None):
            raise ValueError("cu_seqlens_q and cu_seqlens_k are given together, or neither of them")
        rank = 3 if self.varied else 4
        for name, tensor in (("q", q), ("k", k), ("v", v)):
            if len(tensor.shape) != rank:
                order = "(tokens, heads, d)" if self.varied else "(batch, heads, tokens, d)"
                raise ValueError(f"{name} must be {order}, and its shape is {tuple(tensor.shape)}")
        self.dtype = type_of(q, k, v, EIGHT_BITS if eight_bits else TYPES)
        shape, kind = (*q.shape[:-1], v.shape[-1]), "bfloat16" if eight_bits else type_name(q)
        self.result = empty_beside(q, shape, kind) if out is None else out
        if tuple(self.result.shape) != shape or type_name(self.result) != kind:
            raise ValueError(
                f"out must be {shape} of {kind}, got {tuple(self.result.shape)} of {type_name(self.result)}"
            )
        check_start("out", self.result)
        self.q, self.k, self.v, self.out = (_heads_first(t) if self.varied else t for t in (q, k, v, self.result))
        self._check_shapes()
        self.batches = int(self.q.shape[0])
        self.longest = int(self.q.shape[2])
        if self.varied:
            self._check_starts(q_starts, k_starts, longest, longest_k)
            self.batches = int(q_starts.shape[0]) - 1
            self.longest = min(self.longest if longest is None else int(longest), self.longest)

    def _check_shapes(self) -> None:
        given = ((tuple(t.shape), strides(t), t.dtype.itemsize) for t in (self.q, self.k, self.v, self.out))
        self.d, self.dv, self.heads, self.kv_heads = fitting_sizes(*given)

    def _check_starts(self, q_starts: Array, k_starts: Array, longest: int | None, longest_k: int | None) -> None:
        for name, starts in (("cu_seqlens_q", q_starts), ("cu_seqlens_k", k_starts)):
            if len(starts.shape) != 1 or str(starts.dtype).removeprefix("torch.") != "int32":
                raise ValueError(f"{name} is a vector of int32, got {tuple(starts.shape)} of {starts.dtype}")
            if not lies_whole(starts):
                raise ValueError(f"the elements of {name} lie {strides(starts)[0]} apart: pass a copy, {name} + 0")
        if q_starts.shape[0] != k_starts.shape[0] or q_starts.shape[0] < 2:
            raise ValueError(
                f"cu_seqlens_q has {q_starts.shape[0]} starts and cu_seqlens_k {k_starts.shape[0]}; both need one more "
                "than there are sequences"
            )
        check_starts("cu_seqlens_q", on_host(q_starts), int(self.q.shape[2]), longest)
        check_starts("cu_seqlens_k", on_host(k_starts), int(self.k.shape[2]), longest_k)

    def sides(self, window: tuple[int | None, int | None], is_causal: bool) -> list[int | None]:
        """Return how far left and right a query sees, None for all: not beyond all tokens, so that sums fit 32 bits."""
        tokens = int(self.q.shape[2]) + int(self.k.shape[2])
        for side, extent in zip(("left", "right"), window, strict=True):
            if extent is not None and index(extent) < 0:
                raise ValueError(f"window must be None or not negative, and its {side} side is {extent}")
        wanted = (window[0], 0 if is_causal else window[1])
        return [None if extent is None else min(index(extent), tokens) for extent in wanted]

    def nothing_to_do(self) -> bool:
        """Return whether there is no query, or no key: then the result is zero, and TMA would have nothing to copy."""
        if 0 in self.out.shape:
            return True
        if self.k.shape[2] == 0:
            self.result[...] = 0
        return self.k.shape[2] == 0

    def logarithms(self, given: Array, sinks: Array = None) -> Any:
        """Return (batch, heads, queries), or (heads, all queries), filled where there is no key but ``sinks``."""
        found = empty_beside(self.q, self.lse_shape(), "float32") if given is None else given
        self.check_lse(found)
        if self.k.shape[2] == 0:
            found[...] = float("-inf") if sinks is None else self.sinks(sinks)[:, None]
        return found

    def lse_shape(self) -> tuple[int, ...]:
        rows = (self.heads, int(self.out.shape[2]))
        return rows if self.varied else (int(self.out.shape[0]), *rows)

    def check_lse(self, lse: Array) -> None:
        if tuple(lse.shape) != self.lse_shape() or not str(lse.dtype).endswith("float32"):
            raise ValueError(f"lse must be {self.lse_shape()} of float32, got {tuple(lse.shape)} of {lse.dtype}")

    def shaped(self, *tensors: Any) -> tuple[Any, ...]:
        """Further tensors of the call as (batch, heads, tokens, d)."""
        return tuple(_heads_first(tensor) if self.varied else tensor for tensor in tensors)

    def shaped_lse(self, lse: Array) -> Any:
        return lse[None] if self.varied and lse is not None else lse

    def mask(self, mask: Array) -> Any:
        if mask is None:
            return None
        if self.varied:
            raise ValueError("attn_mask is for sequences of one length, not with cu_seqlens_q")
        if "int" in type_name(mask):
            raise ValueError(f"attn_mask has truth values or numbers that are added, got {mask.dtype}: pass mask != 0")
        shape = (self.batches, self.heads, self.q.shape[2], self.k.shape[2])
        try:
            whole = broadcast(as_bias(mask), shape)
        except (ValueError, RuntimeError):
            raise ValueError(f"attn_mask has the shape {tuple(mask.shape)} and cannot be taken as {shape}") from None
        return in_a_row(whole)

    def slopes(self, slopes: Array) -> Any:
        if slopes is None:
            return None
        if tuple(slopes.shape) not in ((self.heads,), (self.batches, self.heads)):
            raise ValueError(
                f"alibi_slopes must be {(self.heads,)} or {(self.batches, self.heads)}, got {tuple(slopes.shape)}"
            )
        whole = broadcast(slopes, (self.batches, self.heads))
        return in_a_row(whole)

    def sinks(self, sinks: Array) -> Any:
        if sinks is not None and tuple(sinks.shape) != (self.heads,):
            raise ValueError(f"sinks must be {(self.heads,)}, got {tuple(sinks.shape)}")
        return in_a_row(sinks)

    def head_group(self, reach: int | None = None) -> int:
        """Query heads whose K and V stay in L2 together: all heads in groups of one size.

        Of keys that a query sees ``reach`` of at most, only those stay that tiles of the same time see.
        """
        keys = int(self.k.shape[2])
        bytes_of_head = max(keys if reach is None else min(keys, reach), 1) * (self.d + self.dv) * 2
        most = max(CACHE_BYTES // bytes_of_head, 1) * (self.heads // self.kv_heads)
        total = self.heads * self.batches
        return -(-total // -(-total // most))


def check_starts(name: str, starts: Any, tokens: int, longest: int | None) -> None:
    """Refuse starts that lie outside or go back, and sequences longer than was said; None are not known."""
    if starts is None or not starts.size:
        return
    if not (starts.min() >= 0 and starts.max() <= tokens):
        raise IndexError(f"{name} lie within {tokens} tokens, got {starts.min()} to {starts.max()}")
    lengths = starts[1:] - starts[:-1]
    if lengths.size and lengths.min() < 0:
        place = int(lengths.argmin())
        raise ValueError(f"{name} must not decrease, and {starts[place]} is followed by {starts[place + 1]}")
    if longest is not None and lengths.size and lengths.max() > longest:
        most = name.replace("cu_seqlens", "max_seqlen")
        raise ValueError(f"{most} is {longest}, and {name} have a sequence of {lengths.max()} tokens")


Described = tuple[tuple[int, ...], tuple[int, ...], int]
"""A tensor's shape, its strides and the bytes of an element."""


@lru_cache(maxsize=256)
def fitting_sizes(q: Described, k: Described, v: Described, out: Described) -> tuple[int, int, int, int]:
    """Return (d, dv, heads, kv heads) of tensors that fit each other, and refuse others.

    A model calls with the same shapes again and again, and looking at them took longer than launching a kernel.
    """
    (b, h, _, d), (kb, kh, keys, kd), (vb, vh, values, dv) = (shape for shape, _, _ in (q, k, v))
    if (kb, kh, keys) != (vb, vh, values) or b != kb or d != kd:
        raise ValueError(f"shapes do not fit: q {q[0]}, k {k[0]}, v {v[0]} as (batch, heads, tokens, d)")
    if kh == 0 or h % kh:
        raise ValueError(f"{h} query heads cannot share {kh} key heads: the one must divide the other")
    for name, extent in (("q and k", d), ("v", dv)):
        if extent % 32 or not 32 <= extent <= MAX_HEAD:
            raise ValueError(
                f"heads have a multiple of 32 elements up to {MAX_HEAD}, and those of {name} have {extent}"
            )
    for name, tensor in (("q", q), ("k", k), ("v", v), ("out", out)):
        check_steps(name, *tensor)
    return int(d), int(dv), int(h), int(kh)


def check_steps(name: str, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> None:
    """Refuse a tensor that copies and 32-bit sums cannot go through."""
    *steps, last = strides
    most = 16 // itemsize
    if 0 not in shape and (last != 1 or any(step % most for step in steps)):
        raise ValueError(
            f"{name} must have contiguous heads, multiples of {most} elements apart, and its strides are {strides}"
        )
    if 0 not in shape and (min(steps) < 0 or steps[-1] >= MAX_STEP):
        raise ValueError(
            f"{name} must have strides that are not negative, and below {MAX_STEP} from token to token, and they are "
            f"{strides}"
        )
    if max(shape) >= 1 << 31:
        raise ValueError(f"{name} has the shape {shape}; lengths must stay below 2^31")


def result_of(q: Array, dv: int, out: Array) -> Any:
    """Return where results of ``dv`` elements for each query's head go: what was given, or a new array."""
    shape = (*q.shape[:-1], dv)
    if out is None:
        return empty_beside(q, shape)
    if tuple(out.shape) != shape or out.dtype != q.dtype:
        raise ValueError(f"out must be {shape} of {q.dtype}, got {tuple(out.shape)} of {out.dtype}")
    check_steps("out", shape, strides(out), out.dtype.itemsize)
    check_start("out", out)
    return out


def _heads_first(tensor: Array) -> Any:
    """Return (tokens, heads, d) as (1, heads, tokens, d)."""
    return tensor.swapaxes(0, 1)[None]

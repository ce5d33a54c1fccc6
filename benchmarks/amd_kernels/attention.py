"""Attention by waves: forward, gradients, and new tokens over caches in pages."""

from __future__ import annotations

from typing import Any

import flydsl.expr as fx
from amd_kernels.case import CDNA, Array, Case, Size
from flydsl.kernels.attention.attention import forward
from flydsl.kernels.attention.backward import backward
from flydsl.kernels.attention.backward_tiles import BackwardPlan
from flydsl.kernels.attention.hopper_forward import ForwardPlan
from flydsl.kernels.attention.scores import Features
from flydsl.kernels.attention.wave_decode import wave_decode

TARGETS = (*CDNA, "gfx1201")
CAUSAL = Features(right=True)


def ahead(d: int, causal: bool = False, peer: str = "") -> Case:
    def make(arch: str, size: Size) -> Any:
        tokens = Array((1, 2, size.m, d), "bfloat16")
        plan = ForwardPlan(fx.BFloat16, d, d, features=CAUSAL if causal else Features())
        return forward, (tokens,) * 4 + (None,) * 6 + (1.0, 0.0, 0, 0, 1, size.m, 4, 4, plan)

    return Case(f"attention d={d}{' causal' if causal else ''}", TARGETS, make, peer=peer)


def gradients(d: int) -> Case:
    def make(arch: str, size: Size) -> Any:
        tokens, rows = Array((1, 2, size.m, d), "bfloat16"), Array((1, 2, size.m), "float32")
        stats = Array((size.m // 32 * 2, 64), "float32")
        plan = BackwardPlan(fx.BFloat16, d, d, queries=32, features=CAUSAL)
        return backward, (
            *(tokens,) * 5, rows, *(tokens,) * 3, None, stats, *(None,) * 7, 1.0, 0.0, 0, 0, 1, size.m, size.m, 1, plan,
        )  # fmt: skip

    return Case(f"attention gradients d={d}", TARGETS, make)


def decoding(name: str, heads: tuple[int, int], d: int, dv: int, stored: str, archs: tuple[str, ...] = TARGETS) -> Case:
    def make(arch: str, size: Size) -> Any:
        (rows, kv), batch, page, splits = heads, 2, 64, 2
        q, out = Array((batch, 1, rows * kv, d), "bfloat16"), Array((batch, 1, rows * kv, dv), "bfloat16")
        caches = (Array((8, page, kv, d), stored), Array((8, page, kv, dv), stored))
        room = (Array((batch * kv, splits, rows, dv), "float32"), Array((batch * kv, splits, rows), "float32"))
        tables, lengths = Array((batch, 4), "int32"), Array((batch,), "int32", 4 * page)
        plan = ForwardPlan(fx.BFloat16, d, dv, 64, consumers=1, group=rows, shared_rows=True)
        counters = Array((batch * kv,), "int32")
        numbers = (1.0, 1.0, 0.0, 0, splits, 2, 1)
        return wave_decode, (q, *caches, out, tables, lengths, None, *room, counters, *numbers, plan)

    return Case(name, archs, make)


CASES = (
    ahead(64),
    ahead(128, peer="attention d=128"),
    ahead(128, causal=True),
    ahead(256),
    gradients(64),
    gradients(128),
    decoding("decode d=128", (8, 2), 128, 128, "bfloat16"),
    decoding("decode d=128, fp8 cache", (8, 2), 128, 128, "float8_e4m3fn", ("gfx950",)),
    decoding("decode MLA 576 and 512", (16, 1), 576, 512, "bfloat16"),
)

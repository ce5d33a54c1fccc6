"""Attention on a Hopper GPU beside cuDNN and FlashAttention-2, as torch runs them, in one run, the sides in turns.

    python benchmarks/attention.py [--quick]

TFLOP/s are 4 * batch * heads * queries * keys * d, half of it where causal, over the median time of a launch between
events. A decode launch has one new token a sequence; its time is in microseconds, of a graph's replay, beside peers
that read contiguous caches. Random data: the power that products take, and with it the clock, depends on the values.
Results are poisoned before they are checked against float64 on rows drawn anew.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import timing

from flydsl.kernels.attention.attention import attention
from flydsl.kernels.attention.paged import paged_attention

Side = Callable[[], Any]
PEERS = {"cuDNN": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}


@dataclass(frozen=True)
class Shape:
    """A problem of self-attention: bf16, heads of ``d``."""

    batch: int
    length: int
    heads: int = 16
    kv_heads: int = 16
    d: int = 128
    causal: bool = False

    @property
    def operations(self) -> float:
        return 4 * self.batch * self.heads * self.length**2 * self.d * (0.5 if self.causal else 1)

    def __str__(self) -> str:
        heads = f"{self.heads}" if self.heads == self.kv_heads else f"{self.heads}/{self.kv_heads}"
        return f"{self.batch}x{self.length} h{heads} d{self.d}{' causal' if self.causal else ''}"


SHAPES = [
    *(Shape(batch, 16384 // batch, causal=causal) for causal in (False, True) for batch in (8, 4, 2, 1)),
    *(Shape(2, 8192, d=64, causal=causal) for causal in (False, True)),
    *(Shape(1, 8192, 64, 8, causal=causal) for causal in (False, True)),
    *(Shape(1, 4096, 16, 16, 256, causal) for causal in (False, True)),
]
QUICK = [Shape(2, 512, 4, 2), Shape(1, 300, 2, 2, 64, True)]


def tensors(shape: Shape) -> list[Any]:
    """q, k, v."""
    return [
        torch.randn(shape.batch, heads, shape.length, shape.d, device="cuda", dtype=torch.bfloat16)
        for heads in (shape.heads, shape.kv_heads, shape.kv_heads)
    ]


def peer(backend: Any, shape: Shape, q: Any, k: Any, v: Any) -> Side:
    def run() -> Any:
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(
                q, k, v, is_causal=shape.causal, enable_gqa=shape.heads != shape.kv_heads
            )

    return run


def error_of(shape: Shape, q: Any, k: Any, v: Any, out: Any, count: int = 64) -> float:
    """Relative error at rows of one head, drawn at random, against float64; every element must have been written."""
    assert not torch.isnan(out).any(), "an element was not written"
    batch, head = (int(torch.randint(0, n, ())) for n in (shape.batch, shape.heads))
    rows = torch.randint(0, shape.length, (count,), device="cuda")
    kv = head // (shape.heads // shape.kv_heads)
    scores = q[batch, head, rows].double() @ k[batch, kv].double().T * shape.d**-0.5
    if shape.causal:
        scores = scores.masked_fill(torch.arange(shape.length, device="cuda") > rows[:, None], float("-inf"))
    expected = scores.softmax(-1) @ v[batch, kv].double()
    return float((out[batch, head, rows].double() - expected).norm() / expected.norm())


def times_of(sides: dict[str, Side], rounds: int, launches: int) -> dict[str, float]:
    """Milliseconds of a launch, medians over rounds in which every side has its turn, another one first each time."""
    found: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(rounds):
        first = turn % len(sides)
        for name, run in [*sides.items()][first:] + [*sides.items()][:first]:
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            run()
            start.record()
            for _ in range(launches):
                run()
            stop.record()
            torch.cuda.synchronize()
            found[name].append(start.elapsed_time(stop) / launches)
    return {name: statistics.median(times) for name, times in found.items()}


def measure(shape: Shape, rounds: int, launches: int) -> dict[str, Any]:
    q, k, v = tensors(shape)
    out = torch.full_like(q, float("nan"))
    sides: dict[str, Side] = {"ours": lambda: attention(q, k, v, out=out, is_causal=shape.causal)}
    sides["ours"]()
    error = error_of(shape, q, k, v, out)
    for name, backend in PEERS.items():
        try:
            run = peer(backend, shape, q, k, v)
            run()
            sides[name] = run
        except RuntimeError as reason:
            print(f"{name} is left out of {shape}: {str(reason)[:120]}")
    times = times_of(sides, rounds, launches)
    return {"shape": str(shape), "error": error, **{name: shape.operations / ms / 1e9 for name, ms in times.items()}}


# Decode --------------------------------------------------------------------------------------------

DECODES = [(64, 8192), (128, 1024), (16, 2048), (1, 4096)]
QUERY_HEADS, KV_HEADS, HEAD = 64, 8, 128


def captured(run: Side, launches: int) -> Side:
    """Some launches as a graph, so that no launch waits for the host."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        run()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(launches):
            run()
    return graph.replay


def measure_decode(batch: int, length: int, pages: tuple[int, ...], rounds: int, launches: int) -> dict[str, Any]:
    q = torch.randn(batch, QUERY_HEADS, HEAD, device="cuda", dtype=torch.bfloat16)
    k, v = (torch.randn(batch, length, KV_HEADS, HEAD, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    lengths = torch.full((batch,), length, device="cuda", dtype=torch.int32)

    def contiguous(dtype: Any) -> Any:
        query, key, value = q[:, :, None], k.transpose(1, 2), v.transpose(1, 2)
        return scaled_dot_product_attention(query.to(dtype), key.to(dtype), value.to(dtype), enable_gqa=True)[:, :, 0]

    expected = contiguous(torch.float64)
    error, sides = 0.0, {}
    for page in pages:
        run, out = paged(q, k, v, lengths, page)
        run()
        error = max(error, float((out.double() - expected).norm() / expected.norm()))
        sides[f"pages of {page}"] = captured(run, launches)
    for name, backend in PEERS.items():
        try:
            with sdpa_kernel(backend):
                sides[name] = captured(lambda: contiguous(torch.bfloat16), launches)
        except RuntimeError as reason:
            print(f"{name} is left out of decoding {batch}x{length}: {str(reason)[:120]}")
    times = times_of(sides, rounds, 1)
    return {"shape": f"{batch}x{length}", "error": error, **{n: ms * 1000 / launches for n, ms in times.items()}}


def paged(q: Any, k: Any, v: Any, lengths: Any, page: int) -> tuple[Side, Any]:
    """Our side over the same keys and values in pages of random order, and where it writes."""
    batch, length = k.shape[:2]
    count = length // page
    order = torch.randperm(batch * count, device="cuda")
    k_cache, v_cache = (torch.empty_like(x).view(batch * count, page, KV_HEADS, HEAD) for x in (k, v))
    for cache, x in ((k_cache, k), (v_cache, v)):
        cache[order] = x.view(batch * count, page, KV_HEADS, HEAD)
    tables, out = order.view(batch, count).int(), torch.full_like(q, float("nan"))
    return lambda: paged_attention(q, k_cache, v_cache, tables, lengths, out=out), out


def show_decodes(rows: list[dict[str, Any]]) -> None:
    names = [name for name in rows[0] if name not in ("shape", "error")]
    cells = [[row["shape"], *(f"{row.get(name, 0):.1f}" for name in names), f"{row['error']:.1e}"] for row in rows]
    timing.print_table((f"decode, {QUERY_HEADS}/{KV_HEADS} heads of {HEAD}, us", *names, "error"), cells)


def main() -> None:
    given = timing.arguments("Attention on a Hopper GPU.", "few rounds, small shapes").parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; TFLOP/s, forward")
    rows = [
        measure(shape, 2 if given.quick else 12, 2 if given.quick else 5)
        for shape in (QUICK if given.quick else SHAPES)
    ]
    head = ("forward, bf16", "ours", *PEERS, *(f"ours/{name}" for name in PEERS), "error")
    cells = []
    for row in rows:
        rates = [f"{row[name]:.0f}" if name in row else "-" for name in ("ours", *PEERS)]
        ratios = [f"{row['ours'] / row[name]:.3f}" if name in row else "-" for name in PEERS]
        cells.append([row["shape"], *rates, *ratios, f"{row['error']:.1e}"])
    timing.print_table(head, cells)
    shapes, rounds = ([(2, 256)], 2) if given.quick else (DECODES, 8)
    decodes = [measure_decode(*shape, (16, 64), rounds, 10) for shape in shapes]
    show_decodes(decodes)
    timing.keep("attention", {"forward": rows, "decode": decodes}, given)


if __name__ == "__main__":
    main()

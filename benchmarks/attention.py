"""Attention on a Hopper GPU beside cuDNN and FlashAttention-2, as torch runs them, in one run, the sides in turns.

    python benchmarks/attention.py [--quick | --check] [--parts forward,decode] [--seed 7]

TFLOP/s are 4 * batch * heads * d for every key that a query sees, over the median time of a launch between events; 2.5
times that for gradients, which have five products and not two. Beside the named shapes there are some drawn by a seed.
A decode launch has one new token a sequence; its time is in microseconds, of a graph's replay, beside peers that read
contiguous caches. Random data: the power that products take, and with it the clock, depends on the values. Results are
poisoned before they are checked against float64 on rows drawn anew. ``--check`` does that only, in several processes,
and leaves all kernels of the tables in the cache, so that a timed run compiles nothing. Without a GPU a quick run
checks our side on the virtual one.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import timing

from flydsl.kernels.attention.attention import attention
from flydsl.kernels.attention.backward import attention_backward
from flydsl.kernels.attention.fp8_forward import attention_fp8
from flydsl.kernels.attention.paged import mla_decode, paged_attention, paged_workspace

torch: Any = None
sdpa_kernel: Any = None
scaled_dot_product_attention: Any = None
PEERS: dict[str, Any] = {}
if find_spec("torch") is not None:
    torch = import_module("torch")
    peers, functions = (import_module(f"torch.nn.{name}") for name in ("attention", "functional"))
    sdpa_kernel, scaled_dot_product_attention = peers.sdpa_kernel, functions.scaled_dot_product_attention
    PEERS = {"cuDNN": peers.SDPBackend.CUDNN_ATTENTION, "flash": peers.SDPBackend.FLASH_ATTENTION}
ON_A_GPU = torch is not None and torch.cuda.is_available()
if not ON_A_GPU:
    os.environ.setdefault("FLYDSL_COMPILE_OPT_LEVEL", "0")  # there is little to compute, and much to compile

Side = Callable[[], Any]


@dataclass(frozen=True)
class Shape:
    """A problem of self-attention: bf16, heads of ``d``."""

    batch: int
    length: int
    heads: int = 16
    kv_heads: int = 16
    d: int = 128
    causal: bool = False
    window: int | None = None
    """Keys before its own that a query sees."""

    @property
    def operations(self) -> float:
        seen = self.length**2 * (0.5 if self.causal else 1)
        if self.window is not None:
            seen = sum(min(query, self.window) + 1 for query in range(self.length))
        return 4 * self.batch * self.heads * seen * self.d

    @property
    def asked(self) -> dict[str, Any]:
        return {"is_causal": self.causal, "window": (self.window, None)}

    def __str__(self) -> str:
        heads = f"{self.heads}" if self.heads == self.kv_heads else f"{self.heads}/{self.kv_heads}"
        window = "" if self.window is None else f" window {self.window}"
        return f"{self.batch}x{self.length} h{heads} d{self.d}{' causal' if self.causal else ''}{window}"


SHAPES = [
    *(Shape(batch, 16384 // batch, causal=causal) for causal in (False, True) for batch in (8, 4, 2, 1)),
    *(Shape(2, 8192, d=64, causal=causal) for causal in (False, True)),
    *(Shape(1, 8192, 64, 8, causal=causal) for causal in (False, True)),
    *(Shape(1, 4096, 16, 16, d, causal) for d in (192, 256) for causal in (False, True)),
]
WINDOWS = [Shape(2, 8192, 16, 16, 64, True, 1024), Shape(1, 16384, 64, 8, 64, True, 1024)]
PARTS = ("forward", "gradients", "fp8", "decode", "latent")
QUICK = [Shape(2, 512, 4, 2), Shape(1, 300, 2, 2, 64, True)]


def drawn_shapes(seed: int, count: int) -> list[Shape]:
    """Problems that nobody chose: lengths that are no multiple of any tile, heads that share keys, every head size."""
    source, found = random.Random(seed), []
    for _ in range(count):
        length, kv_heads = source.randint(500, 9000), source.choice((1, 2, 3, 5, 8, 12))
        heads = kv_heads * source.choice((1, 2, 4, 7))
        batch = max(1, 2**28 // (length**2 * heads) * source.randint(1, 3))
        found.append(
            Shape(batch, length, heads, kv_heads, source.choice((64, 96, 128, 192, 256)), source.random() < 0.5)
        )
    return found


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
        keys = torch.arange(shape.length, device="cuda")
        unseen = keys > rows[:, None]
        if shape.window is not None:
            unseen |= keys < rows[:, None] - shape.window
        scores = scores.masked_fill(unseen, float("-inf"))
    expected = scores.softmax(-1) @ v[batch, kv].double()
    return float((out[batch, head, rows].double() - expected).norm() / expected.norm())


def measure(shape: Shape, rounds: int, launches: int) -> dict[str, Any]:
    q, k, v = tensors(shape)
    out = torch.full_like(q, float("nan"))
    sides: dict[str, Side] = {"ours": lambda: attention(q, k, v, out=out, **shape.asked)}
    sides["ours"]()
    error = error_of(shape, q, k, v, out)
    if not rounds:
        return {"shape": str(shape), "error": error}
    if shape.window is None:  # SDPA has no windows
        add_peers(sides, shape, lambda backend: peer(backend, shape, q, k, v))
    return rates(shape, error, timing.launch_ms(sides, rounds, launches))


def add_peers(sides: dict[str, Side], shape: Shape, make: Callable[[Any], Side]) -> None:
    """Those that take the shape."""
    for name, backend in PEERS.items():
        try:
            run = make(backend)
            run()
            sides[name] = run
        except RuntimeError as reason:
            print(f"{name} is left out of {shape}: {str(reason)[:120]}")


def rates(shape: Shape, error: float, times: dict[str, float], products: float = 1.0) -> dict[str, Any]:
    found = {name: products * shape.operations / ms / 1e9 for name, ms in times.items()}
    return {"shape": str(shape), "error": error, **found}


# Gradients -----------------------------------------------------------------------------------------


def measure_gradients(shape: Shape, rounds: int, launches: int) -> dict[str, Any]:
    q, k, v = tensors(shape)
    dout = torch.randn_like(q)
    out, lse = attention(q, k, v, is_causal=shape.causal, return_lse=True)
    grads: Any = tuple(torch.full_like(x, float("nan")) for x in (q, k, v))
    given = (dout, q, k, v, out, lse)
    sides: dict[str, Side] = {"ours": lambda: attention_backward(*given, is_causal=shape.causal, grads=grads)}
    sides["ours"]()
    error = gradient_error_of(shape, dout, q, k, v, grads)
    if not rounds:
        return {"shape": str(shape), "error": error}
    add_peers(sides, shape, lambda backend: peer_gradients(backend, shape, dout, q, k, v))
    return rates(shape, error, timing.launch_ms(sides, rounds, launches), 2.5)


def peer_gradients(backend: Any, shape: Shape, dout: Any, *given: Any) -> Side:
    leaves = [x.detach().requires_grad_() for x in given]
    out = peer(backend, shape, *leaves)()
    return lambda: torch.autograd.grad(out, leaves, dout, retain_graph=True)


def gradient_error_of(shape: Shape, dout: Any, q: Any, k: Any, v: Any, grads: Any) -> float:
    """Relative error of all three at the heads that share one kv head, drawn at random, against float64."""
    assert not any(torch.isnan(grad).any() for grad in grads), "an element was not written"
    batch, kv = (int(torch.randint(0, n, ())) for n in (shape.batch, shape.kv_heads))
    group = shape.heads // shape.kv_heads
    heads = slice(kv * group, (kv + 1) * group)
    dout, q, k, v = (x.double() for x in (dout[batch, heads], q[batch, heads], k[batch, kv], v[batch, kv]))
    expected = exact_gradients(dout, q, k, v, shape.causal)
    found = (grads[0][batch, heads], grads[1][batch, kv], grads[2][batch, kv])
    return max(float((a.double() - b).norm() / b.norm()) for a, b in zip(found, expected, strict=True))


def exact_gradients(dout: Any, q: Any, k: Any, v: Any, causal: bool, count: int = 1024) -> tuple[Any, Any, Any]:
    """(dq, dk, dv) of heads (heads, queries, d) that share keys (keys, d), for ``count`` queries at a time.

    Scores of all queries in float64 would fill the memory.
    """
    dq, dk, dv = (torch.zeros_like(x) for x in (q, k, v))
    scale, places = q.shape[-1] ** -0.5, torch.arange(len(k), device=q.device)
    for start in range(0, q.shape[1], count):
        rows = slice(start, start + count)
        scores = q[:, rows] @ k.T * scale
        if causal:
            scores = scores.masked_fill(places > places[rows, None], float("-inf"))
        powers = scores.softmax(-1)
        deltas = (dout[:, rows] * (powers @ v)).sum(-1, keepdim=True)
        slopes = powers * (dout[:, rows] @ v.T - deltas) * scale
        dq[:, rows] = slopes @ k
        dk += (slopes.mT @ q[:, rows]).sum(0)
        dv += (powers.mT @ dout[:, rows]).sum(0)
    return dq, dk, dv


# 8 bits --------------------------------------------------------------------------------------------


def measure_fp8(shape: Shape, rounds: int, launches: int) -> dict[str, Any]:
    """Ours of 8 bits, with one scale a tensor and with one a block of 128 tokens, beside ours of 16."""
    given = [x.to(torch.float8_e4m3fn) for x in tensors(shape)]
    wide = [x.to(torch.bfloat16) for x in given]
    out = torch.full_like(wide[0], float("nan"))
    scale = torch.ones(shape.batch, shape.heads, -(-shape.length // 128), device="cuda")
    scales = {"q_scale": scale, "k_scale": scale[:, : shape.kv_heads], "v_scale": scale[:, : shape.kv_heads]}
    sides: dict[str, Side] = {
        "ours": lambda: attention_fp8(*given, out=out, is_causal=shape.causal),
        "fast": lambda: attention_fp8(*given, out=out, is_causal=shape.causal, use_fast_accum=True),
        "blocks": lambda: attention_fp8(*given, **scales, out=out, is_causal=shape.causal),
        "bf16": lambda: attention(*wide, is_causal=shape.causal),
    }
    for name in ("blocks", "fast", "ours", "bf16"):
        sides[name]()
    error = error_of(shape, wide[0], wide[1], wide[2], out)
    if not rounds:
        return {"shape": str(shape), "error": error}
    return rates(shape, error, timing.launch_ms(sides, rounds, launches))


# Decode --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Decode:
    """One new token of each of some sequences, all with as many keys: SDPA has no others."""

    batch: int
    length: int
    heads: int = 64
    kv_heads: int = 8
    d: int = 128

    def __str__(self) -> str:
        named = (self.heads, self.kv_heads, self.d) == (64, 8, 128)
        return f"{self.batch}x{self.length}" + ("" if named else f" h{self.heads}/{self.kv_heads} d{self.d}")


DECODES = [Decode(64, 8192), Decode(128, 1024), Decode(16, 2048), Decode(1, 4096)]
LATENTS = [(128, 64, 4096), (16, 128, 4096), (128, 1, 8192)]
MOST_CACHED = 2**33
"""Bytes of a cache that is drawn, of keys and values in 16 bits."""


def drawn_decodes(seed: int, count: int) -> list[Decode]:
    """Caches that nobody chose: any number of sequences and keys, log-uniformly, and any heads."""
    source, found = random.Random(seed), []
    for _ in range(count):
        length, batch = (round(most ** source.random()) for most in (32768, 256))
        length, kv_heads, d = length + 64, source.choice((1, 2, 4, 8)), source.choice((64, 128, 128, 256))
        batch = max(min(batch, MOST_CACHED // (4 * length * kv_heads * d)), 1)
        found.append(Decode(batch, length, kv_heads * source.choice((1, 4, 5, 8, 16)), kv_heads, d))
    return found


def drawn_latents(seed: int, count: int) -> list[tuple[int, int, int]]:
    """Heads, sequences and keys of latent caches that nobody chose."""
    source, found = random.Random(seed), []
    for _ in range(count):
        length, batch = (round(most ** source.random()) for most in (32768, 256))
        found.append((source.choice((8, 16, 32, 64, 128)), batch, length + 64))
    return found


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

    def replay(reads: Side = run) -> None:
        """Replay the graph; ``reads`` keeps what it reads alive."""
        graph.replay()

    return replay


def measure_decode(shape: Decode, pages: tuple[int, ...], rounds: int, launches: int) -> dict[str, Any]:
    q = torch.randn(shape.batch, shape.heads, shape.d, device="cuda", dtype=torch.bfloat16)
    k, v = (torch.randn(shape.batch, shape.length, shape.kv_heads, shape.d, device="cuda", dtype=q.dtype) for _ in "kv")
    lengths = torch.full((shape.batch,), shape.length, device="cuda", dtype=torch.int32)

    def contiguous(dtype: Any, stored: Any = None) -> Any:
        query, key, value = q[:, :, None], *(x.to(stored or x.dtype).transpose(1, 2) for x in (k, v))
        return scaled_dot_product_attention(query.to(dtype), key.to(dtype), value.to(dtype), enable_gqa=True)[:, :, 0]

    error, sides = 0.0, {}
    for page, stored in (*((page, None) for page in pages), (pages[-1], torch.float8_e4m3fn)):
        run, out = paged(q, k, v, lengths, page, stored)
        run()
        expected = contiguous(torch.float64, stored)
        error = max(error, float((out.double() - expected).norm() / expected.norm()))
        if rounds:
            sides[f"pages of {page}" if stored is None else "8 bits"] = captured(run, launches)
    if not rounds:
        return {"shape": str(shape), "error": error}
    for name, backend in PEERS.items():
        try:
            with sdpa_kernel(backend):
                sides[name] = captured(lambda: contiguous(torch.bfloat16), launches)
        except RuntimeError as reason:
            print(f"{name} is left out of decoding {shape}: {str(reason)[:120]}")
    times = timing.launch_ms(sides, rounds, 1)
    return {"shape": str(shape), "error": error, **{n: ms * 1000 / launches for n, ms in times.items()}}


def in_pages(x: Any, page: int, order: Any) -> Any:
    """Return what (batch, length, ...) has, in pages at the places that ``order`` says; behind the last token NaN."""
    batch, length, *rest = x.shape
    whole = torch.full((batch, -(-length // page) * page, *rest), float("nan"), device="cuda", dtype=x.dtype)
    whole[:, :length] = x
    cache = torch.empty(len(order), page, *rest, device="cuda", dtype=x.dtype)
    cache[order] = whole.view(cache.shape)
    return cache


def paged(q: Any, k: Any, v: Any, lengths: Any, page: int, stored: Any) -> tuple[Side, Any]:
    """Our side over the same keys and values in pages of random order, in 8 bits perhaps, and where it writes."""
    batch, length = k.shape[:2]
    order = torch.randperm(batch * -(-length // page), device="cuda")
    k_cache, v_cache = (in_pages(x, page, order).to(stored or x.dtype) for x in (k, v))
    tables, out = order.view(batch, -1).int(), torch.full_like(q, float("nan"))
    space = paged_workspace(q, k_cache, v_cache, tables)  # a server has it once for all its calls
    return lambda: paged_attention(q, k_cache, v_cache, tables, lengths, out=out, workspace=space), out


def measure_latent(heads: int, batch: int, length: int, rounds: int, launches: int) -> dict[str, Any]:
    """A latent cache of 576 elements a token, 512 of them values, in pages of 64 of random order."""
    q = torch.randn(batch, heads, 576, device="cuda", dtype=torch.bfloat16)
    cache = torch.randn(batch * -(-length // 64), 64, 576, device="cuda", dtype=torch.bfloat16)
    tables = torch.randperm(len(cache), device="cuda").view(batch, -1).int()
    lengths = torch.full((batch,), length, device="cuda", dtype=torch.int32)
    out, scale = torch.full((batch, heads, 512), float("nan"), device="cuda", dtype=torch.bfloat16), 192**-0.5

    def run() -> Any:
        return mla_decode(q, cache, tables, lengths, out=out, scale=scale)

    run()
    keys = cache[tables[0].long()].view(-1, 576)[:length].double()
    expected = (q[0].double() @ keys.T * scale).softmax(-1) @ keys[:, :512]
    error = float((out[0].double() - expected).norm() / expected.norm())
    if not rounds:
        return {"shape": f"{batch}x{length} h{heads}", "error": error}
    us = timing.launch_ms({"ours": captured(run, launches)}, rounds, 1)["ours"] * 1000 / launches
    sizes = {"us": us, "TFLOP/s": 2 * batch * heads * length * (576 + 512) / us / 1e6}
    return {"shape": f"{batch}x{length} h{heads}", "error": error, **sizes, "GB/s": batch * length * 1152 / us / 1e3}


def show_decodes(title: str, rows: list[dict[str, Any]]) -> None:
    names = [name for name in rows[0] if name not in ("shape", "error")]
    cells = [[row["shape"], *(f"{row.get(name, 0):.1f}" for name in names), f"{row['error']:.1e}"] for row in rows]
    timing.print_table((title, *names, "error"), cells)


def show(title: str, rows: list[dict[str, Any]], peers: list[str]) -> None:
    cells = []
    for row in rows:
        given = [f"{row[name]:.0f}" if name in row else "-" for name in ("ours", *peers)]
        ratios = [f"{row['ours'] / row[name]:.3f}" if name in row else "-" for name in peers]
        cells.append([row["shape"], *given, *ratios, f"{row['error']:.1e}"])
    timing.print_table((title, "ours", *peers, *(f"ours/{name}" for name in peers), "error"), cells)


# Without a GPU -------------------------------------------------------------------------------------


def on_the_virtual_gpu() -> None:
    """Our side of one small problem, checked: results by float64, gradients by the slope of results along them."""
    import numpy as np

    rng = np.random.default_rng()
    q, k, v, dout = (rng.standard_normal((1, 2, 70, 64)).astype(np.float16) for _ in range(4))

    def exact(q: Any, k: Any, v: Any) -> Any:
        scores = q @ k.swapaxes(-1, -2) / 8
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True) @ v

    wide = [x.astype(np.float64) for x in (q, k, v)]
    out, lse = attention(q, k, v, return_lse=True)
    grads = attention_backward(dout, q, k, v, out, lse)
    steps = [grad.astype(np.float64) for grad in grads]
    small = 1e-4
    ends = [exact(*(x + sign * small * step for x, step in zip(wide, steps, strict=True))) for sign in (1, -1)]
    slope = (dout * (ends[0] - ends[1])).sum() / (2 * small)
    length = sum((step**2).sum() for step in steps)
    expected = exact(*wide)
    errors = {
        "forward": np.linalg.norm(out - expected) / np.linalg.norm(expected),
        "gradients": abs(slope - length) / length,
    }
    assert all(error < 5e-3 for error in errors.values()), errors
    timing.print_table(("virtual GPU", "error"), [[name, f"{error:.1e}"] for name, error in errors.items()])


MEASURES: dict[str, Callable[..., dict[str, Any]]] = {
    "forward": measure, "gradients": measure_gradients, "fp8": measure_fp8, "decode": measure_decode,
    "latent": measure_latent,
}  # fmt: skip


def cases_of(part: str, shapes: list[Shape], seed: int, quick: bool) -> list[tuple[Any, ...]]:
    """The problems of one part, as arguments of its measure."""
    if part == "decode":
        return [(size, (16, 64)) for size in ([Decode(2, 256)] if quick else [*DECODES, *drawn_decodes(seed, 6)])]
    if part == "latent":
        return [(16, 2, 256)] if quick else [*LATENTS, *drawn_latents(seed, 4)]
    return [(shape,) for shape in shapes if part == "forward" or shape.window is None]


def measured(part: str, cases: list[tuple[Any, ...]], quick: bool) -> list[dict[str, Any]]:
    """The rows of one part, as a table too."""
    decodes = part in ("decode", "latent")
    effort = (2 if quick else 8, 10) if decodes else (2, 2) if quick else (12, 5)
    rows = [MEASURES[part](*case, *effort) for case in cases]
    if decodes:
        show_decodes("decode, latent cache" if part == "latent" else "decode, us", rows)
    else:
        title, others = ("forward, fp8", ["fast", "blocks", "bf16"]) if part == "fp8" else (f"{part}, bf16", [*PEERS])
        show(title, rows, others)
    return rows


def checked(part: str, case: tuple[Any, ...]) -> dict[str, Any]:
    """One problem's error, without times."""
    return {"part": part, **MEASURES[part](*case, 0, 0)}


def check(cases: dict[str, list[tuple[Any, ...]]], processes: int) -> None:
    """Every problem once, in several processes: most of it is compiling."""
    everything = [(part, case) for part, some in cases.items() for case in some]
    with get_context("spawn").Pool(processes) as pool:
        rows = pool.starmap(checked, everything, chunksize=1)
    table = [[row["shape"], row["part"], f"{row['error']:.1e}"] for row in rows]
    timing.print_table(("checked", "part", "error"), table)


def main() -> None:
    parser = timing.arguments("Attention on a Hopper GPU.", "few rounds, small shapes")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--seed", type=int, default=1, help="of the shapes that are drawn beside the named ones")
    parser.add_argument("--check", action="store_true", help="each shape once, not timed; fills the cache of kernels")
    parser.add_argument("--processes", type=int, default=8, help="that check")
    given = parser.parse_args()
    if given.quick and not ON_A_GPU:
        on_the_virtual_gpu()
        timing.keep("attention", {}, given)
        return
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; TFLOP/s")
    shapes = QUICK if given.quick else [*SHAPES, *WINDOWS, *drawn_shapes(given.seed, 8)]
    cases = {part: cases_of(part, shapes, given.seed, given.quick) for part in given.parts.split(",")}
    if given.check:
        check(cases, given.processes)
        return
    rows = {part: measured(part, some, given.quick) for part, some in cases.items()}
    timing.keep("attention", {"seed": given.seed, **rows}, given)


if __name__ == "__main__":
    main()

"""Row kernels on a GPU beside Triton, torch.compile and a plain copy, and matrix products beside Triton and cuBLAS.

Run it: python benchmarks/gpu.py [--quick]

Bandwidth counts each input byte read once and each output byte written once, over the median time of events around
single launches, inputs rotated so that no run finds its data in the cache. The sides take turns in bursts of launches,
the first of which are not counted: what a side leaves unwritten in the cache, the next would pay for.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import timing
from gpu_gemm import run_gemms

from flydsl.kernels.norm.layernorm import build_layernorm_module
from flydsl.kernels.norm.rmsnorm import build_rmsnorm_module
from flydsl.kernels.norm.softmax import build_softmax_module

SHAPES = [(32768, 1024), (32768, 4096), (32768, 8192), (16384, 16384), (8192, 32768)]
SETS = 4
Run = Callable[[int], Any]


@triton.jit
def triton_softmax_kernel(out, inp, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(inp + row * stride + at, mask=at < n, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out + row * stride + at, (e / tl.sum(e, axis=0)).to(out.dtype.element_ty), mask=at < n)


@triton.jit
def triton_rmsnorm_kernel(out, inp, gamma, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(inp + row * stride + at, mask=at < n, other=0.0).to(tl.float32)
    g = tl.load(gamma + at, mask=at < n, other=0.0).to(tl.float32)
    y = x * tl.rsqrt(tl.sum(x * x, axis=0) / n + eps) * g
    tl.store(out + row * stride + at, y.to(out.dtype.element_ty), mask=at < n)


@triton.jit
def triton_layernorm_kernel(out, inp, gamma, beta, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(inp + row * stride + at, mask=at < n, other=0.0).to(tl.float32)
    g = tl.load(gamma + at, mask=at < n, other=0.0).to(tl.float32)
    b = tl.load(beta + at, mask=at < n, other=0.0).to(tl.float32)
    c = tl.where(at < n, x - tl.sum(x, axis=0) / n, 0.0)
    y = c * tl.rsqrt(tl.sum(c * c, axis=0) / n + eps) * g + b
    tl.store(out + row * stride + at, y.to(out.dtype.element_ty), mask=at < n)


def warps_of(n: int) -> int:
    return 4 if n <= 2048 else 8 if n <= 8192 else 16


ROUNDS, WARM, TIMED = 8, 4, 12
"""Bursts of each side, and launches of a burst that are not and that are counted."""
AHEAD = 6_000_000
"""Cycles of the GPU, three milliseconds: enough for a slow host to queue a burst of torch.compile's calls."""


def median_ms(sides: dict[str, Run], rounds: int) -> dict[str, float]:
    """The median time of one launch of each side, sets of buffers taken in turn.

    Each round begins with another side: the first finds the GPU as it comes out of waiting.
    """
    events: dict[str, list[Any]] = {name: [] for name in sides}
    order = [*sides]
    for turn in range(rounds):
        first = turn % len(order)
        for name in order[first:] + order[:first]:
            run = sides[name]
            torch.cuda._sleep(AHEAD)  # the host gets ahead, so that no launch waits for it
            for index in range(WARM):
                run(index % SETS)
            for index in range(TIMED):
                start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                start.record()
                run(index % SETS)
                stop.record()
                events[name].append((start, stop))
        torch.cuda.synchronize()
    return {name: statistics.median(a.elapsed_time(b) for a, b in pairs) for name, pairs in events.items()}


def by_compiler(function: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """A function compiled by torch for the shape at hand, whatever it compiled before, into the buffer it is given."""
    torch._dynamo.reset()
    return torch.compile(lambda x, out: out.copy_(function(x)), dynamic=False)


def softmax_runs(x: list[Any], y: list[Any], m: int, n: int) -> dict[str, Run]:
    ours = build_softmax_module(m, n, "bf16")
    compiled = by_compiler(lambda t: torch.softmax(t, dim=1))
    return {
        "ours": lambda i: ours(x[i], y[i], m),
        "triton": lambda i: triton_softmax_kernel[(m,)](
            y[i], x[i], n, n, triton.next_power_of_2(n), num_warps=warps_of(n)
        ),
        "torch.compile": lambda i: compiled(x[i], y[i]),
        "reference": lambda i: torch.softmax(x[i].double(), dim=1),
    }


def rmsnorm_runs(x: list[Any], y: list[Any], m: int, n: int) -> dict[str, Run]:
    ours = build_rmsnorm_module(n, "bf16")
    gamma = torch.randn(n, device="cuda", dtype=torch.bfloat16)
    compiled = by_compiler(lambda t: torch.nn.functional.rms_norm(t, (n,), gamma, 1e-5))
    block = triton.next_power_of_2(n)
    return {
        "ours": lambda i: ours(x[i], gamma, y[i], m),
        "triton": lambda i: triton_rmsnorm_kernel[(m,)](y[i], x[i], gamma, n, n, 1e-5, block, num_warps=warps_of(n)),
        "torch.compile": lambda i: compiled(x[i], y[i]),
        "reference": lambda i: torch.nn.functional.rms_norm(x[i].double(), (n,), gamma.double(), 1e-5),
    }


def layernorm_runs(x: list[Any], y: list[Any], m: int, n: int) -> dict[str, Run]:
    ours = build_layernorm_module(n, "bf16")
    gamma, beta = (torch.randn(n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    compiled = by_compiler(lambda t: torch.nn.functional.layer_norm(t, (n,), gamma, beta, 1e-5))
    block = triton.next_power_of_2(n)
    return {
        "ours": lambda i: ours(x[i], gamma, beta, y[i], m),
        "triton": lambda i: triton_layernorm_kernel[(m,)](
            y[i], x[i], gamma, beta, n, n, 1e-5, block, num_warps=warps_of(n)
        ),
        "torch.compile": lambda i: compiled(x[i], y[i]),
        "reference": lambda i: torch.nn.functional.layer_norm(x[i].double(), (n,), gamma.double(), beta.double(), 1e-5),
    }


def error_of(run: dict[str, Run], out: Any, rows: int = 64) -> float:
    """Relative error of our result on poisoned output, over sampled rows."""
    out.fill_(float("nan"))
    run["ours"](0)
    torch.cuda.synchronize()
    assert not torch.isnan(out).any(), "an element was not written"
    expected = run["reference"](0)
    picked = torch.randint(0, out.shape[0], (rows,), device="cuda")
    difference = out[picked].double() - expected[picked]
    return float(difference.norm() / expected[picked].norm())


def measure(name: str, make: Any, shape: tuple[int, int], rounds: int) -> dict[str, Any]:
    m, n = shape
    x = [torch.randn(m, n, device="cuda", dtype=torch.bfloat16) for _ in range(SETS)]
    y = [torch.empty_like(t) for t in x]
    runs = make(x, y, m, n)
    error = error_of(runs, y[0])
    moved = 2 * m * n * 2
    row: dict[str, Any] = {"kernel": name, "shape": f"{m}x{n}", "error": error}
    sides = {**{k: v for k, v in runs.items() if k != "reference"}, "copy": lambda i: y[i].copy_(x[i])}
    return row | {side: moved / ms / 1e9 for side, ms in median_ms(sides, rounds).items()}


def launch_cost() -> dict[str, float]:
    """Microseconds of host time per call of softmax: ours as a jit function and bound, and Triton's."""
    import time

    import flydsl.compiler as flyc

    x = torch.randn(1, 1024, device="cuda", dtype=torch.bfloat16)
    y = torch.empty_like(x)
    ours = build_softmax_module(1, 1024, "bf16")
    bound = flyc.compile(ours, x, y, 1)
    sides = {
        "jit": lambda: ours(x, y, 1),
        "bound": lambda: bound(x, y, 1),
        "triton": lambda: triton_softmax_kernel[(1,)](y, x, 1024, 1024, 1024, num_warps=4),
    }
    costs = {}
    for side, run in sides.items():
        for _ in range(100):
            run()
        torch.cuda.synchronize()
        best = float("inf")
        for _ in range(10):
            start = time.perf_counter()
            for _ in range(200):
                run()
            best = min(best, (time.perf_counter() - start) / 200 * 1e6)
            torch.cuda.synchronize()
        costs[side] = best
    return costs


def show(rows: list[dict[str, Any]]) -> None:
    columns = (("ours", 6), ("triton", 7), ("torch.compile", 14), ("copy", 6))
    titles = " ".join(f"{name:>{width}}" for name, width in columns)
    print(
        f"{'kernel':10} {'shape':12} {titles} {'ours/triton':>12} {'ours/compile':>13} {'ours/copy':>10} {'error':>9}"
    )
    for r in rows:
        numbers = " ".join(f"{r[name]:{width}.2f}" for name, width in columns)
        against = (("triton", "12.3f"), ("torch.compile", "13.2f"), ("copy", "10.2f"))
        ratios = " ".join(f"{r['ours'] / r[side]:{form}}" for side, form in against)
        print(f"{r['kernel']:10} {r['shape']:12} {numbers} {ratios} {r['error']:9.1e}")


def main() -> None:
    given = timing.arguments("Row kernels and matrix products on a GPU.", "few rounds, small shapes").parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}; TB/s, bf16")
    makers = {"softmax": softmax_runs, "rmsnorm": rmsnorm_runs, "layernorm": layernorm_runs}
    rounds, shapes = (2, SHAPES[:1]) if given.quick else (ROUNDS, SHAPES)
    rows = [measure(name, make, shape, rounds) for name, make in makers.items() for shape in shapes]
    show(rows)
    costs = launch_cost()
    print("launch of softmax, us: " + ", ".join(f"{side} {cost:.1f}" for side, cost in costs.items()))
    products = run_gemms(given.quick)
    timing.keep("gpu", {"rows": rows, "launch": costs, "gemm": products}, given)


if __name__ == "__main__":
    main()

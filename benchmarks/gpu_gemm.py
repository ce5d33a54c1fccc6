"""Matrix products on a Hopper GPU beside Triton and cuBLAS, in one run, the sides in turns.

A part of benchmarks/gpu.py; alone: python benchmarks/gpu_gemm.py [--quick]

TFLOP/s are 2 * M * N * K over the median time of one product between events. Random data: the power that a product
takes, and with it the clock, depends on the values. C is poisoned before it is checked against float64 at places drawn
anew.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable
from typing import Any

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import timing
from peers import triton_hopper_gemm

from flydsl.kernels.gemm.hopper_matmul import hopper_gemm

CASES = [("bf16", 4096), ("bf16", 8192), ("fp8", 8192)]
SETS = 2
"""Pairs of matrices taken in turn."""
LAUNCHES = 6
"""Products between two events: more than one, so that the clock is that of steady work."""

Side = Callable[[int], Any]


def sides_of(kind: str, a: list[Any], b: list[Any], c: list[Any]) -> dict[str, Side]:
    """C = A * B^T by each side."""
    ours: dict[str, Side] = {"ours": lambda i: hopper_gemm(a[i], b[i].T, c[i])}
    if kind == "fp8":
        one = torch.ones((), device="cuda")
        return ours | {
            "cublas": lambda i: torch._scaled_mm(
                a[i], b[i].T, scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True
            )
        }
    return ours | {
        "triton": lambda i: triton_hopper_gemm.by_pointers(a[i], b[i], c[i]),
        "triton (TMA)": lambda i: triton_hopper_gemm.by_descriptors(a[i], b[i], c[i]),
        "cublas": lambda i: torch.mm(a[i], b[i].T, out=c[i]),
    }


def error_of(run: Side, a: Any, b: Any, c: Any, count: int = 256) -> float:
    """Relative error of our product at sampled rows and columns; every element must have been written."""
    c.fill_(float("nan"))
    run(0)
    torch.cuda.synchronize()
    assert not torch.isnan(c).any(), "an element was not written"
    rows, columns = (torch.randint(0, extent, (count,), device="cuda") for extent in c.shape)
    expected = a[rows].double() @ b[columns].double().T
    return float((c[rows][:, columns].double() - expected).norm() / expected.norm())


def times_of(sides: dict[str, Side], rounds: int) -> dict[str, float]:
    """Milliseconds of one product, medians over rounds in which every side has its turn.

    Each round begins with another side: how fast a product is depends on the power that the one before it took.
    """
    found: dict[str, list[float]] = {name: [] for name in sides}
    for run in sides.values():
        for index in range(3):
            run(index % SETS)
    torch.cuda.synchronize()
    for turn in range(rounds):
        first = turn % len(sides)
        for name, run in [*sides.items()][first:] + [*sides.items()][:first]:
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            run(0)
            start.record()
            for index in range(LAUNCHES):
                run(index % SETS)
            stop.record()
            torch.cuda.synchronize()
            found[name].append(start.elapsed_time(stop) / LAUNCHES)
    return {name: statistics.median(times) for name, times in found.items()}


def working(sides: dict[str, Side]) -> dict[str, Side]:
    """The sides that this installation can run; ours must."""
    kept = {}
    for name, run in sides.items():
        try:
            run(0)
            torch.cuda.synchronize()
            kept[name] = run
        except Exception as error:
            if name == "ours":
                raise
            print(f"{name} is left out: {type(error).__name__}: {str(error)[:200]}")
    return kept


def measure(kind: str, n: int, rounds: int) -> dict[str, Any]:
    dtype = torch.bfloat16 if kind == "bf16" else torch.float8_e4m3fn
    a, b = ([torch.randn(n, n, device="cuda").to(dtype) for _ in range(SETS)] for _ in range(2))
    c = [torch.empty(n, n, device="cuda", dtype=torch.bfloat16) for _ in range(SETS)]
    sides = working(sides_of(kind, a, b, c))
    error = error_of(sides["ours"], a[0], b[0], c[0])
    times = times_of(sides, rounds)
    return {"kind": kind, "n": n, "error": error, **{name: 2 * n**3 / ms / 1e9 for name, ms in times.items()}}


def run_gemms(quick: bool) -> list[dict[str, Any]]:
    """Measure and print every case."""
    cases = [(kind, n // 4) for kind, n in CASES] if quick else CASES
    rows = [measure(kind, n, 5 if quick else 30) for kind, n in cases]
    show(rows)
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    names = ("ours", "triton", "triton (TMA)", "cublas")
    titles = [*names, *(f"/{name}" for name in names[1:])]
    print(f"{'GEMM':12} " + " ".join(f"{title:>13}" for title in titles) + f" {'error':>9}")
    for row in rows:
        rates = [f"{row[name]:13.0f}" if name in row else f"{'-':>13}" for name in names]
        ratios = [f"{row['ours'] / row[name]:13.3f}" if name in row else f"{'-':>13}" for name in names[1:]]
        print(f"{row['kind']:5} {row['n']:<6} {' '.join(rates + ratios)} {row['error']:9.1e}")


def main() -> None:
    given = timing.arguments("Matrix products on a Hopper GPU.", "few rounds, small matrices").parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; TFLOP/s")
    run_gemms(given.quick)


if __name__ == "__main__":
    main()

"""Row kernels of shapes drawn at random, beside a plain copy, torch.compile and Triton.

Run it: python benchmarks/rows.py [--seed N] [--cells N] [--quick]

Row lengths are log-uniform over 32 to 262144, half of them odd or no multiple of 8. Two thirds of the cells have so
many rows that 64 to 512 MB move, log-uniform too, the others 1 to 512. Times are taken as in benchmarks/gpu.py: events
around single launches, the sides in turns, inputs rotated. torch.compile compiles each shape by itself. Results are
checked against float64. ``--quick`` checks a few small cells on the virtual GPU, without a GPU and without times.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import timing

from flydsl.kernels.norm.layernorm import build_layernorm_module
from flydsl.kernels.norm.rmsnorm import build_rmsnorm_module
from flydsl.kernels.norm.softmax import build_softmax_module

KERNELS = ("softmax", "rmsnorm", "layernorm")
DTYPES = {"bf16": 2, "f16": 2, "f32": 4}
SHORTEST, LONGEST, MOST_ROWS = 32, 262144, 512
MOVED = 64 << 20, 512 << 20
"""The least and the most bytes that many rows read and write."""
TRITON_LONGEST = 65536
"""Rows that Triton's kernels of one block a row can hold."""
TOLERANCE = {"bf16": 4e-3, "f16": 5e-4, "f32": 2e-6}


@dataclass(frozen=True)
class Cell:
    kernel: str
    m: int
    n: int
    dtype: str
    few: bool

    @property
    def moved(self) -> int:
        return 2 * self.m * self.n * DTYPES[self.dtype]


def draw(seed: int, count: int, longest: int = LONGEST, moved: tuple[int, int] = MOVED) -> list[Cell]:
    """Cells at random; the same for the same seed."""
    rng, cells = random.Random(seed), []
    for index in range(count):
        n = round(math.exp(rng.uniform(math.log(SHORTEST), math.log(longest))))
        n = n + 1 - n % 2 if index % 4 == 0 else n // 8 * 8 + rng.randrange(1, 8) if index % 4 == 1 else -(-n // 8) * 8
        dtype = rng.choice(list(DTYPES))
        few = index % 3 == 2
        row = 2 * n * DTYPES[dtype]
        least, most = (1, MOST_ROWS) if few else (-(-total // row) for total in moved)
        m = round(math.exp(rng.uniform(math.log(least), math.log(most))))
        cells.append(Cell(rng.choice(KERNELS), m, n, dtype, few))
    return cells


def ours(cell: Cell, x: Any, gamma: Any, beta: Any, y: Any) -> Callable[[], Any]:
    if cell.kernel == "softmax":
        kernel = build_softmax_module(cell.m, cell.n, cell.dtype)
        return lambda: kernel(x, y, cell.m)
    if cell.kernel == "rmsnorm":
        kernel = build_rmsnorm_module(cell.n, cell.dtype)
        return lambda: kernel(x, gamma, y, cell.m)
    kernel = build_layernorm_module(cell.n, cell.dtype)
    return lambda: kernel(x, gamma, beta, y, cell.m)


# On a GPU ------------------------------------------------------------------------------------------------------------


def sides(cell: Cell, sets: int, peers: bool = True) -> tuple[dict[str, Callable[[int], Any]], Any, Callable[[], Any]]:
    """(what runs a side on a set of buffers, the first set's output, what is right for it)."""
    import gpu
    import torch
    import triton

    kind = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}[cell.dtype]
    m, n = cell.m, cell.n
    x = [torch.randn(m, n, device="cuda", dtype=torch.float32).to(kind) for _ in range(sets)]
    y = [torch.empty_like(t) for t in x]
    gamma, beta = (torch.randn(n, device="cuda", dtype=torch.float32).to(kind) for _ in range(2))
    functional = torch.nn.functional
    formulas: dict[str, Callable[..., Any]] = {
        "softmax": lambda t, g, b: torch.softmax(t, 1),
        "rmsnorm": lambda t, g, b: functional.rms_norm(t, (n,), g, 1e-5),
        "layernorm": lambda t, g, b: functional.layer_norm(t, (n,), g, b, 1e-5),
    }
    formula = formulas[cell.kernel]
    compiled = gpu.by_compiler(lambda t: formula(t, gamma, beta)) if peers else None
    mine = [ours(cell, x[i], gamma, beta, y[i]) for i in range(sets)]
    runs: dict[str, Callable[[int], Any]] = {
        "ours": lambda i: mine[i](),
        "copy": lambda i: y[i].copy_(x[i]),
    }
    if compiled is not None:
        runs["compile"] = lambda i: compiled(x[i], y[i])
    if peers and n <= TRITON_LONGEST:
        block, warps = triton.next_power_of_2(n), gpu.warps_of(n)
        kernels: dict[str, Callable[[int], Any]] = {
            "softmax": lambda i: gpu.triton_softmax_kernel[(m,)](y[i], x[i], n, n, block, num_warps=warps),
            "rmsnorm": lambda i: gpu.triton_rmsnorm_kernel[(m,)](y[i], x[i], gamma, n, n, 1e-5, block, num_warps=warps),
            "layernorm": lambda i: gpu.triton_layernorm_kernel[(m,)](
                y[i], x[i], gamma, beta, n, n, 1e-5, block, num_warps=warps
            ),
        }
        runs["triton"] = kernels[cell.kernel]
    picked = slice(0, min(m, 64))
    return runs, y[0], lambda: formula(x[0][picked].double(), gamma.double(), beta.double())


def prepare(cell: Cell, peers: bool) -> None:
    """Compile every side of a cell, in a process of its own, so that its caches on disk are warm."""
    runs, _, _ = sides(cell, 1, peers)
    for run in runs.values():
        run(0)


def measure(cell: Cell, rounds: int, peers: bool) -> dict[str, Any]:
    """Microseconds of each side, and the relative error of ours."""
    import gpu
    import torch

    runs, out, expected = sides(cell, gpu.SETS, peers)
    out.fill_(float("nan"))
    runs["ours"](0)
    assert not torch.isnan(out).any(), "an element was not written"
    want = expected()
    error = float((out[: len(want)].double() - want).norm() / want.norm())
    for run in runs.values():
        run(0)
    torch.cuda.synchronize()
    times = gpu.median_ms(runs, rounds)
    return {"error": error, **{side: ms * 1000 for side, ms in times.items()}}


def compile_ahead(cells: Sequence[Cell], jobs: int, peers: bool) -> None:
    import multiprocessing

    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for cell, result in zip(cells, [pool.apply_async(prepare, (c, peers)) for c in cells], strict=True):
            try:
                result.get(300)
            except Exception as error:  # the cell fails again, and is reported, when it is measured
                print(f"{cell} was not compiled ahead: {error}", file=sys.stderr)


def run_on_gpu(cells: Sequence[Cell], rounds: int, jobs: int, peers: bool) -> list[dict[str, Any]]:
    import torch

    if jobs > 1:
        compile_ahead(cells, jobs, peers)
    rows = []
    columns = f"{'ours us':>9} {'TB/s':>6} {'/copy':>6} {'/compile':>8} {'/triton':>8}    error"
    print(f"{'kernel':10} {'shape':>16} type {columns}")
    for cell in cells:
        row = {**vars(cell), **measure(cell, rounds, peers)}
        rows.append(row)
        ratios = {side: row[side] / row["ours"] for side in ("copy", "compile", "triton") if side in row}
        text = " ".join(
            f"{ratios[side]:{width}.2f}" if side in ratios else " " * (width - 1) + "-"
            for side, width in (("copy", 6), ("compile", 8), ("triton", 8))
        )
        shape = f"{cell.m}x{cell.n}"
        speed = cell.moved / row["ours"] / 1e6
        print(
            f"{cell.kernel:10} {shape:>16} {cell.dtype:4} {row['ours']:9.1f} {speed:6.2f} {text} {row['error']:8.1e}",
            flush=True,
        )
        torch.cuda.empty_cache()
    return rows


def summary(rows: Sequence[dict[str, Any]]) -> None:
    """The worst and the median of the groups that the goals are about."""
    groups = {
        "all rows of 128 and more, / copy": [r["copy"] / r["ours"] for r in rows if not r["few"] and r["n"] >= 128],
        "all shorter rows, / copy": [r["copy"] / r["ours"] for r in rows if not r["few"] and r["n"] < 128],
        "few rows, / copy": [r["copy"] / r["ours"] for r in rows if r["few"]],
        "many rows, / compile": [r["compile"] / r["ours"] for r in rows if not r["few"] and "compile" in r],
        "few rows, / compile": [r["compile"] / r["ours"] for r in rows if r["few"] and "compile" in r],
        "all, / triton": [r["triton"] / r["ours"] for r in rows if "triton" in r],
    }
    for name, ratios in groups.items():
        if ratios:
            print(f"{name}: {len(ratios)} cells, least {min(ratios):.2f}, median {statistics.median(ratios):.2f}")


# Without one ---------------------------------------------------------------------------------------------------------


def run_on_host(cells: Sequence[Cell]) -> None:
    """Check cells on the virtual GPU."""
    import ml_dtypes
    import numpy as np

    kinds: dict[str, Any] = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}
    for cell in cells:
        rng = np.random.default_rng(cell.n)
        x = rng.standard_normal((cell.m, cell.n)).astype(kinds[cell.dtype])
        gamma, beta = (rng.standard_normal(cell.n).astype(x.dtype) for _ in range(2))
        y = np.full_like(x, np.nan)
        ours(cell, x, gamma, beta, y)()
        wide, g, b = (t.astype(np.float64) for t in (x, gamma, beta))
        centred = wide - wide.mean(1, keepdims=True)
        powers = np.exp(wide - wide.max(1, keepdims=True))
        want = {
            "softmax": lambda p=powers: p / p.sum(1, keepdims=True),
            "rmsnorm": lambda w=wide, g=g: w / np.sqrt((w**2).mean(1, keepdims=True) + 1e-5) * g,
            "layernorm": lambda c=centred, g=g, b=b: c / np.sqrt((c**2).mean(1, keepdims=True) + 1e-5) * g + b,
        }[cell.kernel]()
        error = float(np.linalg.norm(y.astype(np.float64) - want) / np.linalg.norm(want))
        print(f"{cell.kernel:10} {cell.m}x{cell.n} {cell.dtype} error {error:.1e}")
        if not error < TOLERANCE[cell.dtype]:
            sys.exit(f"{cell} is wrong by {error}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=None, help="of the shapes; a new one otherwise")
    parser.add_argument(
        "--only-copy", action="store_true", help="without torch.compile and Triton, which take most time"
    )
    parser.add_argument("--cells", type=int, default=None, help="how many; 60 otherwise, 6 with --quick")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument(
        "--jobs", type=int, default=max((os.cpu_count() or 1) - 1, 1), help="processes that compile ahead"
    )
    parser.add_argument("--quick", action="store_true", help="a few small cells on the virtual GPU, without times")
    options = parser.parse_args(arguments)
    seed = random.SystemRandom().randrange(1 << 32) if options.seed is None else options.seed
    print(f"seed {seed}")
    if options.quick:
        run_on_host(draw(seed, options.cells or 6, 2000, (40_000, 40_000)))
        print("quick run: no times were taken")
        return
    rows = run_on_gpu(draw(seed, options.cells or 60), options.rounds, options.jobs, not options.only_copy)
    summary(rows)
    timing.keep("rows", {"seed": seed, "rows": rows}, options)


if __name__ == "__main__":
    main()

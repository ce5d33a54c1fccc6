"""Which shape of a row's plan is fastest on this GPU, for each benchmark shape.

Not a comparison, so not run with the others: python benchmarks/tune_rows.py [--quick] [kernel ...]

Prints TB/s of every variant, best first; the tables of kernels/blocks/rows.py are read off it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import timing
from gpu import SETS, SHAPES, median_ms

from flydsl.kernels.blocks import rows
from flydsl.kernels.blocks.cache_hints import ONCE, PLAIN, TWICE
from flydsl.kernels.norm import layernorm, rmsnorm, softmax

HINTS = {"plain": PLAIN, "once": ONCE, "once, streaming": replace(ONCE, store=("streaming", None))}
HINTS_AGAIN = {"twice": TWICE, "twice, plain": replace(TWICE, store=None)}
"""Of rows that are loaded once, and of those that are loaded again."""
SHAPES_OF_ROWS: dict[int, list[dict[str, Any]]] = {
    1024: [{"threads": 64}, {"threads": 128, "rows": 2}, {"threads": 256, "rows": 4}],
    4096: [
        {"threads": 128}, {"threads": 256}, {"threads": 256, "rows": 2}, {"threads": 512, "rows": 4},
        {"threads": 256, "again": True},
    ],
    8192: [
        {"threads": 512}, {"threads": 512, "rows": 2}, {"threads": 512, "stages": 2, "each": 2},
        {"threads": 512, "again": True},
    ],
    16384: [
        {"threads": 512}, {"threads": 1024}, {"threads": 512, "stages": 2, "each": 2}, {"threads": 1024, "again": True},
    ],
    32768: [
        {"threads": 1024}, {"threads": 512, "cluster": 2}, {"threads": 1024, "stages": 2, "each": 2},
        {"threads": 1024, "stages": 2, "each": 3}, {"threads": 1024, "again": True},
    ],
}  # fmt: skip
"""What to try, by the length of a row."""


def variants(n: int, has_lines: bool) -> dict[str, rows.RowShape]:
    found = {}
    for fields in SHAPES_OF_ROWS[n]:
        for hint, hints in (HINTS_AGAIN if "again" in fields else HINTS).items():
            for early in (False, True) if has_lines else (False,):
                label = " ".join([*(f"{k}={v}" for k, v in fields.items()), hint, *["early"] * early])
                found[label] = rows.RowShape(n, **fields, lines_early=early, hints=hints)
    return found


def kernels(m: int, n: int) -> dict[str, tuple[Any, Callable[[], Any], Callable[[int], tuple[Any, ...]]]]:
    """(module, how to build it anew, arguments of a set of buffers) of each kernel."""
    x = [torch.randn(m, n, device="cuda", dtype=torch.bfloat16) for _ in range(SETS)]
    y = [torch.empty_like(t) for t in x]
    gamma, beta = (torch.randn(n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    return {
        "softmax": (softmax, lambda: softmax.build_softmax_module.__wrapped__(m, n, "bf16"), lambda i: (x[i], y[i], m)),
        "rmsnorm": (
            rmsnorm, lambda: rmsnorm.build_rmsnorm_module.__wrapped__(n, "bf16"), lambda i: (x[i], gamma, y[i], m)
        ),
        "layernorm": (
            layernorm,
            lambda: layernorm.build_layernorm_module.__wrapped__(n, "bf16"),
            lambda i: (x[i], gamma, beta, y[i], m),
        ),
    }  # fmt: skip


def bandwidth(module: Any, build: Callable[[], Any], arguments: Any, shape: rows.RowShape, m: int, n: int) -> float:
    module.plan_row = lambda *_, **__: rows.planned(n, "bf16", 8, shape)
    run = build()
    return 2 * m * n * 2 / median_ms({"": lambda i: run(*arguments(i))}, 2)[""] / 1e9


def main() -> None:
    parser = timing.arguments("The fastest shape of a row's plan.", "the first shape only")
    parser.add_argument("kernels", nargs="*", help="softmax, rmsnorm, layernorm; all by default")
    given = parser.parse_args()
    for m, n in SHAPES[:1] if given.quick else SHAPES:
        for name, (module, build, arguments) in kernels(m, n).items():
            if name in (given.kernels or [name]):
                tried = variants(n, name != "softmax")
                found = [(bandwidth(module, build, arguments, shape, m, n), label) for label, shape in tried.items()]
                text = "; ".join(f"{label} {value:.2f}" for value, label in sorted(found, reverse=True))
                print(f"{m}x{n} {name}: {text}", flush=True)


if __name__ == "__main__":
    main()

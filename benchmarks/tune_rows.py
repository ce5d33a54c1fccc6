"""How fast plans of row kernels are on this GPU, beside what their model expects.

Not a comparison, so not run with the others: python benchmarks/tune_rows.py [--quick] [length ...]

For each length, some of the plans that the model compares, the best of them and others at random, with the part of a
copy's speed that they have and that the model expects. The numbers of `Machine` in kernels/blocks/row_plan.py are
fitted to it.
"""

from __future__ import annotations

import os
import random
import sys
from typing import Any

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import timing
from gpu import SETS, median_ms

from flydsl.kernels.blocks.row_plan import HOPPER, MANY, RowPlan, candidates, launch_time
from flydsl.kernels.norm.layernorm import build_layernorm_module
from flydsl.kernels.norm.softmax import build_softmax_module

LENGTHS = (33, 129, 1000, 1001, 4096, 4097, 13832, 16384, 32768, 65536, 131071)
BEST, OTHERS = 4, 6
LINES = {"softmax": 0, "layernorm": 2}


def picked(name: str, length: int, rows: int) -> list[RowPlan]:
    """The plans that the model likes best, and some that it likes at all."""
    found = sorted(candidates(length, "bf16", HOPPER), key=lambda p: launch_time(p, HOPPER, LINES[name], rows))
    fit = [p for p in found if launch_time(p, HOPPER, LINES[name], rows) < float("inf")]
    others = fit[BEST : len(fit) // 2]
    return fit[:BEST] + random.sample(others, min(OTHERS, len(others)))


def launcher(name: str, plan: RowPlan, rows: int, x: list[Any], y: list[Any], lines: list[Any]) -> Any:
    if name == "softmax":
        softmax = build_softmax_module(rows, plan.length, plan.dtype, plan=plan)
        return lambda i: softmax(x[i], y[i], rows)
    layernorm = build_layernorm_module(plan.length, plan.dtype, plan=plan)
    return lambda i: layernorm(x[i], *lines, y[i], rows)


def main() -> None:
    parser = timing.arguments("Plans of row kernels beside what their model expects.", "the first length only")
    parser.add_argument("lengths", nargs="*", type=int, help="of rows; some of every kind by default")
    given = parser.parse_args()
    for length in LENGTHS[:1] if given.quick else given.lengths or LENGTHS:
        rows = MANY // (2 * length)
        x = [torch.randn(rows, length, device="cuda", dtype=torch.bfloat16) for _ in range(SETS)]
        y = [torch.empty_like(t) for t in x]
        lines = [torch.randn(length, device="cuda", dtype=torch.bfloat16) for _ in range(2)]
        copy = median_ms({"copy": lambda i, x=x, y=y: y[i].copy_(x[i])}, 2)["copy"]
        bytes_each = 2 * rows * length * 2 / HOPPER.processors / HOPPER.bytes_per_cycle
        for name in LINES:
            for plan in picked(name, length, rows):
                run = launcher(name, plan, rows, x, y, lines)
                run(0)
                speed = copy / median_ms({"": run}, 2)[""]
                expected = bytes_each / launch_time(plan, HOPPER, LINES[name], rows)
                kind = "staged" if plan.staged else "direct" if plan.keep else "again"
                print(
                    f"{name} {length}: {kind}, {plan.lanes} lanes, {plan.rows} rows, cluster {plan.cluster}: "
                    f"{speed:.2f} of the copy, expected {expected:.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()

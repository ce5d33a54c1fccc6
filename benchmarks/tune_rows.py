"""Which plan of a row is fastest on this GPU: threads, blocks of a cluster and cache hints, for each benchmark shape.

Run it: python benchmarks/tune_rows.py [seconds]

Prints TB/s of every variant, best first; the table of plans in kernels/blocks/rows.py is read off it.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import Any

import torch

from benchmarks.gpu import SETS, SHAPES, median_ms
from kernels.blocks import rows
from kernels.norm import layernorm, rmsnorm, softmax

HINTS = {"cs/cs": ("streaming", "streaming"), "-/cs": (None, "streaming"), "-/-": (None, None),
         "na/cs": ("no_allocate", "streaming"), "nc/cs": ("read_only_no_allocate", "streaming")}  # fmt: skip
SHAPES_OF_BLOCKS = {
    1024: [(1, 32), (1, 64), (1, 128)],
    4096: [(1, 64), (1, 128), (1, 256), (2, 128)],
    8192: [(1, 128), (1, 256), (1, 512), (2, 128), (2, 256)],
    16384: [(1, 256), (1, 512), (1, 1024), (2, 256), (2, 512), (4, 128), (4, 256)],
    32768: [(1, 1024), (2, 512), (2, 1024), (4, 256), (4, 512), (8, 128), (8, 256)],
}


def planned(shape: tuple[int, int], hints: tuple[Any, Any], n: int, dtype: str, *_: Any) -> rows.RowPlan:
    """The plan of a variant, in place of `plan_row`."""
    cluster, threads = shape
    width = 8
    return rows.RowPlan(n, dtype, threads, width, -(-n // (width * threads * cluster)), cluster, *hints)


def variants(n: int, hints: bool) -> list[tuple[str, Any, int]]:
    out = []
    for shape in SHAPES_OF_BLOCKS[n]:
        out.append((f"{shape[0]}x{shape[1]} cs/cs", partial(planned, shape, HINTS["cs/cs"]), 1))
    for name in list(HINTS)[1:] if hints else ["-/-"]:
        shape = SHAPES_OF_BLOCKS[n][-2 if n > 8192 else 1]
        out.append((f"{shape[0]}x{shape[1]} {name}", partial(planned, shape, HINTS[name]), 1))
    return out


def bandwidth(module: Any, build: Any, arguments: Any, plan: Any, early: int, moved: int) -> float:
    rows.EARLY_TURNS = early
    module.plan_row = plan
    run = build()
    return moved / median_ms(lambda i: run(*arguments(i)), 20) / 1e9


def main() -> None:
    until = time.monotonic() + float(sys.argv[1] if len(sys.argv) > 1 else 300)
    for m, n in reversed(SHAPES):
        x = [torch.randn(m, n, device="cuda", dtype=torch.bfloat16) for _ in range(SETS)]
        y = [torch.empty_like(t) for t in x]
        gamma, beta = (torch.randn(n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        moved = 2 * m * n * 2
        copy = moved / median_ms(lambda i: y[i].copy_(x[i]), 40) / 1e9
        print(f"{m}x{n}: copy {copy:.2f}", flush=True)
        kernels = {
            "softmax": (softmax, lambda: softmax.build_softmax_module.__wrapped__(m, n, "bf16"), lambda i: (x[i], y[i], m)),
            "rmsnorm": (rmsnorm, lambda: rmsnorm.build_rmsnorm_module.__wrapped__(n, "bf16"),
                        lambda i: (x[i], gamma, y[i], m)),
            "layernorm": (layernorm, lambda: layernorm.build_layernorm_module.__wrapped__(n, "bf16"),
                          lambda i: (x[i], gamma, beta, y[i], m)),
        }  # fmt: skip
        for name, (module, build, arguments) in kernels.items():
            found = []
            for label, plan, early in variants(n, name == "softmax"):
                if time.monotonic() > until:
                    break
                found.append((bandwidth(module, build, arguments, plan, early, moved), label))
            text = "  ".join(f"{label} {value:.2f}" for value, label in sorted(found, reverse=True))
            print(f"  {name}: {text}", flush=True)


if __name__ == "__main__":
    main()

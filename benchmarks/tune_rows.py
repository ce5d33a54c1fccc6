"""Which plan of a row is fastest on this GPU: threads, blocks of a cluster, cache hints, for each benchmark shape.

Not a comparison, so not run with the others: python benchmarks/tune_rows.py [seconds]

Prints TB/s of every variant, best first; the table of plans in kernels/blocks/rows.py is read off it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from gpu import SETS, SHAPES, median_ms

from kernels.blocks import rows
from kernels.norm import layernorm, rmsnorm, softmax

HINTS: dict[str, tuple[str | None, str | None]] = {
    "cs/cs": ("streaming", "streaming"), "-/cs": (None, "streaming"), "-/-": (None, None),
    "na/cs": ("no_allocate", "streaming"), "na/-": ("no_allocate", None),
}  # fmt: skip
"""Of loads / of stores."""
BLOCKS = {
    1024: [(1, 32), (1, 64), (1, 128)],
    4096: [(1, 64), (1, 128), (1, 256), (2, 128)],
    8192: [(1, 128), (1, 256), (1, 512), (2, 128), (2, 256)],
    16384: [(1, 512), (1, 1024), (2, 256), (2, 512), (4, 128), (4, 256)],
    32768: [(1, 1024), (2, 512), (4, 256), (4, 512), (8, 128), (8, 256)],
}
"""(blocks of a cluster, threads of a block) by the length of a row."""


@dataclass(frozen=True)
class Variant:
    """One plan to try."""

    cluster: int
    threads: int
    hints: str = "cs/cs"

    def __str__(self) -> str:
        return f"{self.cluster}x{self.threads} {self.hints}"

    def plan(self, n: int, dtype: str, *_: Any, **__: Any) -> rows.RowPlan:
        """In place of `plan_row`."""
        turns = -(-n // (8 * self.threads * self.cluster))
        return rows.RowPlan(n, dtype, self.threads, 8, turns, self.cluster, *HINTS[self.hints])


def variants(n: int) -> list[Variant]:
    found = [Variant(*shape) for shape in BLOCKS[n]]
    middle = found[1] if n <= 8192 else found[-2]
    return found + [Variant(middle.cluster, middle.threads, hints) for hints in list(HINTS)[1:]]


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


def bandwidth(module: Any, build: Callable[[], Any], arguments: Any, variant: Variant, moved: int) -> float:
    module.plan_row = variant.plan
    run = build()
    return moved / median_ms(lambda i: run(*arguments(i)), 20) / 1e9


def main() -> None:
    share = float(sys.argv[1] if len(sys.argv) > 1 else 300) / len(SHAPES) / 3
    for m, n in reversed(SHAPES):
        moved = 2 * m * n * 2
        for name, (module, build, arguments) in kernels(m, n).items():
            until, found = time.monotonic() + share, []
            for variant in variants(n):
                if time.monotonic() < until:
                    found.append((bandwidth(module, build, arguments, variant, moved), str(variant)))
            text = "  ".join(f"{label} {value:.2f}" for value, label in sorted(found, reverse=True))
            print(f"{m}x{n} {name}: {text}", flush=True)


if __name__ == "__main__":
    main()

"""A layer of experts on a Hopper GPU beside a composition of torch's functions, in one run, the sides in turns.

    python benchmarks/moe.py [--quick] [--tokens 16,1024] [--random 6 --seed 1]

Microseconds of a whole layer, router to sum, by replays of a CUDA graph: bf16, and fp8 with scales of blocks. The peer
is softmax, topk, sort, `torch._grouped_mm`, silu, `torch._grouped_mm` and index_add in bf16. Read is the share of a
long copy's bandwidth at which a plain layer reads the weights of the experts that its tokens chose. Copy is the time of
a graph that only copies as many bytes, half of them read and half written, in that of the plain layer. Results are
poisoned before they are checked. With --random so many layers and numbers of tokens are drawn instead, which a seed
draws again. Without a GPU, and with --quick, a small layer runs on virtual GPUs.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import timing

from flydsl.kernels.moe import references

TOKENS = (1, 16, 128, 1024, 8192, 32768)
LARGEST_ERROR = {"plain": 0.02, "fp8_blockscale": 0.1}
"""Of a layer beside torch's, in bf16 as well."""
COPY = 1 << 30
"""Bytes of the copy whose bandwidth is the measure."""


@dataclass(frozen=True)
class Layer:
    """Sizes of a layer."""

    model: int
    inter: int
    experts: int
    topk: int

    def __str__(self) -> str:
        return f"{self.model}/{self.inter} {self.experts} experts, {self.topk} each"


LAYERS = (Layer(7168, 2048, 256, 8), Layer(2048, 768, 128, 8))
MOST_WEIGHTS = 1 << 33
"""Of a random layer: with those of the peer and of both kinds they fit on a GPU."""
SMALL = Layer(256, 128, 8, 2)
VIRTUAL = {"gfx942": ("plain",), "gfx950": ("fp8",)}


def random_layers(count: int, seed: int) -> list[tuple[Layer, int]]:
    """Layers of sizes that kernels of both kinds take, each with a number of tokens."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        model, inter = (128 * int(n) for n in (rng.integers(4, 65), rng.integers(2, 33)))
        experts = int(2 ** rng.integers(3, 9))
        layer = Layer(model, inter, experts, int(rng.integers(1, min(experts, 8) + 1)))
        if 3 * model * inter * experts <= MOST_WEIGHTS:
            found.append((layer, int(2 ** rng.uniform(0, 13))))
    return found


# On the virtual GPU --------------------------------------------------------------------------------------------------


def numbers(layer: Layer, tokens: int) -> list[Any]:
    """x, logits, w1 and w2."""
    import ml_dtypes

    rng = np.random.default_rng()
    shapes = ((tokens, layer.model), (tokens, layer.experts), (layer.experts, 2 * layer.inter, layer.model),
              (layer.experts, layer.model, layer.inter))  # fmt: skip
    return [(rng.standard_normal(shape) * shape[-1] ** -0.5 * 4).astype(ml_dtypes.bfloat16) for shape in shapes]


def on_virtual_gpus(layer: Layer, tokens: int) -> list[list[str]]:
    """Rows of a table: what a call computes is checked, what it takes is of the host."""
    import flydsl.ops as ops

    rows = []
    x, logits, w1, w2 = numbers(layer, tokens)
    want = references.moe(x, *references.route(logits, layer.topk), w1, w2)
    for arch, kinds in VIRTUAL.items():
        os.environ["ARCH"] = arch
        for kind in kinds:
            experts = ops.moe_weights(w1, w2, kind)
            ops.moe(x, logits, experts, topk=layer.topk)
            start = time.perf_counter()
            y = ops.moe(x, logits, experts, topk=layer.topk)
            took = time.perf_counter() - start
            error = np.linalg.norm(y.astype(float) - want) / np.linalg.norm(want)
            assert error < 0.1, (arch, kind, error)
            rows.append([f"{arch} {kind}, {tokens} tokens", f"{took * 1e3:.1f}", f"{error:.1e}"])
    return rows


# On a GPU ------------------------------------------------------------------------------------------------------------


def by_torch(layer: Layer, x: Any, logits: Any, w1: Any, w2: Any) -> Any:
    """The composition, without a look at sizes on the host."""
    import torch

    weights, ids = torch.softmax(logits.float(), -1).topk(layer.topk, -1)
    weights = weights / weights.sum(-1, keepdim=True)
    experts, order = ids.flatten().sort(stable=True)
    ends = torch.searchsorted(experts, torch.arange(layer.experts, device=x.device), right=True).int()
    tokens = order // layer.topk
    grouped: Any = torch._grouped_mm  # pyright: ignore[reportPrivateImportUsage]
    gate, up = grouped(x[tokens], w1.transpose(1, 2), offs=ends).chunk(2, -1)
    rows = grouped(torch.nn.functional.silu(gate) * up, w2.transpose(1, 2), offs=ends)
    return torch.zeros_like(x).index_add(0, tokens, rows * weights.flatten()[order, None].to(x.dtype))


def replay(run: Callable[[], Any]) -> Callable[[], Any]:
    """A graph of one call."""
    import torch

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def copy_of(size: int) -> Callable[[], Any]:
    """A copy that moves so many bytes, read or written."""
    import torch

    source = torch.empty(size // 2, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


def copied_per_second() -> float:
    """Bytes of a long copy, read or written, in a second."""
    return 2 * COPY / timing.launch_ms({"copy": copy_of(2 * COPY)}, 5, 10)["copy"] * 1e3


def on_gpu(layer: Layer, counts: list[int]) -> list[list[str]]:
    import torch

    import flydsl.ops as ops

    def drawn(*shape: int) -> Any:
        return torch.randn(*shape, device="cuda", dtype=torch.bfloat16) * shape[-1] ** -0.5

    w1, w2 = drawn(layer.experts, 2 * layer.inter, layer.model), drawn(layer.experts, layer.model, layer.inter)
    kinds = {kind: ops.moe_weights(w1, w2, kind) for kind in ("plain", "fp8_blockscale")}
    bandwidth, rows = copied_per_second(), []
    for tokens in counts:
        x = torch.randn(tokens, layer.model, device="cuda", dtype=torch.bfloat16)
        logits = torch.randn(tokens, layer.experts, device="cuda", dtype=torch.bfloat16)
        peer, errors = by_torch(layer, x, logits, w1, w2).float(), {}
        for kind, experts in kinds.items():
            out = torch.full_like(x, float("nan"))
            ops.moe(x, logits, experts, topk=layer.topk, out=out)
            errors[kind] = float((out.float() - peer).norm() / peer.norm())
            assert errors[kind] < LARGEST_ERROR[kind], (layer, tokens, errors)
            del out
        del peer
        sides = {"torch": replay(lambda x=x, logits=logits: by_torch(layer, x, logits, w1, w2))}
        for kind, experts in kinds.items():
            sides[kind] = replay(lambda x=x, logits=logits, e=experts: ops.moe(x, logits, e, topk=layer.topk))
        chosen = torch.softmax(logits.float(), -1).topk(layer.topk, -1)[1].unique().numel()
        size = chosen * 3 * layer.inter * layer.model * 2
        copied = copy_of(size)  # its arrays live as long as the graph
        sides["copy"] = replay(copied)
        taken = {name: ms * 1e3 for name, ms in timing.launch_ms(sides, 5, 20 if tokens < 8192 else 5).items()}
        read = size / taken["plain"] * 1e6 / bandwidth
        cells = [f"{taken[name]:.1f}" for name in ("torch", *kinds)]
        ratios = [f"{taken['torch'] / taken[kind]:.2f}x" for kind in kinds]
        rows.append(
            [
                f"{layer}, {tokens} tokens",
                *cells,
                *ratios,
                f"{read:.2f}",
                f"{taken['copy'] / taken['plain']:.2f}",
                *(f"{error:.0e}" for error in errors.values()),
            ]
        )
        print(*rows[-1], flush=True)
    return rows


def main() -> None:
    parser = timing.arguments(__doc__ or "", "a small layer on virtual GPUs")
    parser.add_argument("--tokens", help="numbers of tokens, with commas between them")
    parser.add_argument("--random", type=int, default=0, help="how many layers to draw instead of those that are named")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6, help="what they are drawn by")
    given = parser.parse_args()
    there = False
    if not given.quick:
        import torch

        there = torch.cuda.is_available()
    if there:
        counts = [int(number) for number in given.tokens.split(",")] if given.tokens else [*TOKENS]
        todo = [(layer, counts) for layer in LAYERS]
        if given.random:
            print(f"layers of --seed {given.seed}")
            todo = [(layer, [tokens]) for layer, tokens in random_layers(given.random, given.seed)]
        rows = [row for layer, counts in todo for row in on_gpu(layer, counts)]
        head = ["us", "torch", "bf16", "fp8 blocks", "bf16 is", "fp8 is", "read", "copy", "bf16 error", "fp8 error"]
    else:
        rows, head = on_virtual_gpus(SMALL, 24), ["virtual GPU, ms", "ours", "error"]
    timing.print_table(head, rows)
    timing.keep("moe", {"rows": rows}, given)


if __name__ == "__main__":
    main()

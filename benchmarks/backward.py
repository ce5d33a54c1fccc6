"""Gradients of row kernels and cross-entropy beside a plain copy, torch and torch.compile.

Run it: python benchmarks/backward.py [--quick] [--seed 7] [--drawn 4]

Beside the named lengths there are some of each drawn by a seed, every second one odd: rows then begin anywhere.
Bandwidth counts each matrix read once and each written once: three for softmax and the norms, two for the gradient of
a cross-entropy, one for its loss. *Of the copy* is relative to the bandwidth of `Tensor.copy_` on the same matrix; a
*read* is torch's sum of the same bytes as f32.
Times are taken as in benchmarks/gpu.py. Gradients of weights are part of what is timed, and everything that a call of
`flydsl.ops` allocates.
"""

from __future__ import annotations

import math
import os
import random
import sys
from collections.abc import Callable
from typing import Any

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import timing
from gpu import SETS, median_ms

MOVED = 256 << 20
LENGTHS = {
    "rms_norm backward": (1024, 4096, 8192, 16384, 65536, 4097, 50257),
    "layer_norm backward": (1024, 4096, 8192, 16384, 65536, 4097, 50257),
    "softmax backward": (1024, 4096, 32768, 131072, 50257), "cross_entropy": (32000, 50257, 131072),
    "cross_entropy backward": (32000, 50257, 131072),
}  # fmt: skip
SPANS = {
    "rms_norm backward": (200, 262_144), "layer_norm backward": (200, 262_144), "softmax backward": (200, 262_144),
    "cross_entropy": (1000, 140_000), "cross_entropy backward": (1000, 140_000),
}  # fmt: skip
"""The least and the greatest length that is drawn."""
MATRICES = {"cross_entropy": 1, "cross_entropy backward": 2}


def drawn(seed: int, count: int) -> dict[str, list[int]]:
    """Lengths that nobody chose, log-uniform over `SPANS`: odd ones and such as come, in turns."""
    rng = random.Random(seed)
    spans = {name: [math.log(end) for end in span] for name, span in SPANS.items()}
    return {
        name: [int(math.exp(rng.uniform(*span))) | (index % 2 == 0) for index in range(count)]
        for name, span in spans.items()
    }


def sides(name: str, m: int, n: int) -> dict[str, Callable[[int], Any]]:
    """What runs each side on a set of buffers; gradients by the ops themselves, as a backward pass calls them."""
    from flydsl.ops import cross_entropy_loss, norms, softmax_rows

    kind, aten = torch.bfloat16, torch.ops.aten
    x, dy = ([torch.randn(m, n, device="cuda", dtype=torch.float32).to(kind) for _ in range(SETS)] for _ in range(2))
    w, b = (torch.randn(n, device="cuda").to(kind) for _ in range(2))
    wide = x[0].float()
    rstd = torch.rsqrt((wide**2).mean(1) + 1e-5)
    mean = wide.mean(1)
    labels, one, lse = torch.randint(0, n, (m,), device="cuda"), torch.ones((), device="cuda", dtype=kind), None
    del wide
    if name == "softmax backward":
        y = [torch.softmax(t, 1) for t in x]
        ours = lambda i: softmax_rows.BACKWARD.run(dy[i], y[i])  # noqa: E731
        theirs = lambda i: aten._softmax_backward_data(dy[i], y[i], 1, kind)  # noqa: E731
    elif name == "rms_norm backward":
        ours = lambda i: norms.RMS_BACKWARD.run(dy[i], x[i], w, rstd[None], n)  # noqa: E731
        theirs = lambda i: aten._fused_rms_norm_backward(dy[i], x[i], [n], rstd[:, None], w, [True, True])  # noqa: E731
    elif name == "layer_norm backward":
        both = torch.stack([mean, rstd])
        ours = lambda i: norms.LAYER_BACKWARD.run(dy[i], x[i], w, both, n, True, True)  # noqa: E731
        theirs = lambda i: aten.native_layer_norm_backward(  # noqa: E731
            dy[i], x[i], [n], mean[:, None], rstd[:, None], w, b, [True, True, True]
        )
    else:
        lse = [cross_entropy_loss.CROSS_ENTROPY.run(t, labels, -100, 1, 0.0)[1:] for t in x]
        if name == "cross_entropy":
            ours = lambda i: cross_entropy_loss.CROSS_ENTROPY.run(x[i], labels, -100, 1, 0.0)  # noqa: E731
            theirs = lambda i: torch.nn.functional.cross_entropy(x[i], labels)  # noqa: E731
        else:
            ours = lambda i: cross_entropy_loss.BACKWARD.run(one, x[i], labels, *lse[i], -100, 0.0)  # noqa: E731
            logs, total = torch.log_softmax(x[0], 1), torch.tensor(float(m), device="cuda", dtype=kind)

            def theirs(i: int) -> Any:
                inner = aten.nll_loss_backward(one, logs, labels, None, 1, -100, total)
                return aten._log_softmax_backward_data(inner, logs, 1, kind)

    copies = [torch.empty_like(t) for t in x]
    runs = {"ours": ours, "torch": theirs, "copy": lambda i: copies[i].copy_(x[i])}
    if name == "cross_entropy":
        words = [t.view(-1)[: m * n // 2 * 2].view(torch.float32) for t in x]
        runs["read"] = lambda i: words[i].sum()
    return runs


def main() -> None:
    parser = timing.arguments(__doc__ or "", "the first length of each only, one round")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of the lengths that are drawn")
    parser.add_argument("--drawn", type=int, default=4, help="lengths of each that are drawn beside the named ones")
    given = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, seed {given.seed}", flush=True)
    rows, others = [], drawn(given.seed, given.drawn)
    for name, lengths in LENGTHS.items():
        for n in lengths[:1] if given.quick else (*lengths, *others[name]):
            m = max(MOVED // (4 * n), 1)
            runs = sides(name, m, n)
            for side, run in list(runs.items()):
                try:
                    run(0)
                except RuntimeError as error:
                    print(f"{name} {m}x{n}: {side} cannot: {str(error)[:80]}", file=sys.stderr)
                    del runs[side]
            times = median_ms(runs, 1 if given.quick else 4)
            bytes_each = 2 * m * n
            speeds = {s: MATRICES.get(name, 3) * bytes_each / ms / 1e9 for s, ms in times.items() if s != "copy"}
            copy = 2 * bytes_each / times["copy"] / 1e9
            rows.append({"name": name, "m": m, "n": n, "copy": copy, **speeds})
            shown = " ".join(f"{side} {speed:5.2f} TB/s" for side, speed in speeds.items())
            print(f"{name:24} {m:>7}x{n:<7} bf16 {shown}  ours / copy {speeds['ours'] / copy:.2f}", flush=True)
            torch.cuda.empty_cache()
    timing.keep("backward", {"rows": rows, "seed": given.seed}, given)


if __name__ == "__main__":
    main()

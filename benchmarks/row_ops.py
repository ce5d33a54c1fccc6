"""The other ops of rows (fused additions, gated units, rotations, quantisers) beside a plain copy and torch.compile.

Run it: python benchmarks/row_ops.py [--seed N] [--drawn 2] [--only rope] [--only-copy] [--quick]

Lengths are drawn log-uniform over 128 to 32768, odd ones and such as come in turns where an op takes them, with as many
rows as 256 MB of the first tensor ask for. Bandwidth counts each argument read once and each result written once;
*of the copy* is relative to `Tensor.copy_` of as many bytes. Times are taken as in benchmarks/gpu.py, and everything
that a call of `flydsl.ops` allocates is part of them. Results are checked against torch's in float64. ``--quick``
checks small shapes on the virtual GPU, without times.
"""

from __future__ import annotations

import math
import os
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import timing

import flydsl.ops as ops
from flydsl.ops import gated_units

MOVED = 256 << 20
SHORTEST, LONGEST = 128, 32768
SETS = 3
EPS = 1e-5
KINDS = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
TOLERANCE = {torch.bfloat16: 4e-3, torch.float16: 5e-4, torch.float32: 4e-6}
CODES = 3e-2
"""What results of 8 bits may differ by: a scale may be another in its last bit, and a code be the next one then."""

Tensors = tuple[Any, ...]


@dataclass(frozen=True)
class Measured:
    """An op: how many matrices and vectors it takes, ours, and torch's formula.

    ``step`` divides its lengths, and ``rows`` their number. Rows of a rotation are heads of ``head`` elements.
    """

    matrices: int
    ours: Callable[..., Tensors]
    formula: Callable[..., Tensors]
    vectors: int = 0
    step: int = 1
    rows: int = 1
    head: int = 0

    def arguments(self, m: int, n: int, kind: Any, device: str) -> Tensors:
        """Return fresh random arguments; those of a rotation end with its cosines and sines."""
        shape = (m, n // self.head, self.head) if self.head else (m, n)
        made = [torch.randn(shape, device=device).to(kind) for _ in range(self.matrices)]
        made += [torch.randn(n, device=device).to(kind) for _ in range(self.vectors)]
        if self.head:
            angles = torch.rand(m, self.head // 2, device=device) * 6
            made += [angles.cos().to(kind), angles.sin().to(kind)]
        return tuple(made)


def _gradients(dout: Any, gate: Any, up: Any) -> Tensors:
    chance = torch.sigmoid(gate)
    return dout * up * chance * (1 + gate * (1 - chance)), dout * gate * chance


def _rotated(x: Any, cos: Any, sin: Any) -> Tensors:
    a, b = x.chunk(2, -1)
    c, s = cos[:, None], sin[:, None]
    return (torch.cat((a * c - b * s, b * c + a * s), -1),)


def _scaled(x: Any, tops: Any, kind: Any, largest: float) -> Tensors:
    scale = tops.float() / largest
    codes = x.float() / scale
    return (codes.trunc() if kind is torch.int8 else codes).to(kind), scale


def _per_token(kind: Any, largest: float) -> Callable[[Any], Tensors]:
    return lambda x: _scaled(x, x.abs().amax(-1, keepdim=True), kind, largest)


def _per_block(rows: int) -> Callable[[Any], Tensors]:
    def formula(x: Any) -> Tensors:
        m, n = x.shape
        blocks = x.reshape(m // rows, rows, n // 128, 128)
        codes, scale = _scaled(blocks, blocks.abs().amax((1, 3), keepdim=True), torch.float8_e4m3fn, 448.0)
        return codes.reshape(m, n), scale.reshape(m // rows, n // 128)

    return formula


OPS = {
    "add_rms_norm": Measured(
        2, lambda x, r, w: ops.add_rms_norm(x, r, w, EPS),
        lambda x, r, w: (functional.rms_norm(x + r, w.shape, w, EPS), x + r), vectors=1,
    ),
    "add_layer_norm": Measured(
        2, lambda x, r, w, b: ops.add_layer_norm(x, r, w, b, EPS),
        lambda x, r, w, b: (functional.layer_norm(x + r, w.shape, w, b, EPS), x + r), vectors=2,
    ),
    "swiglu": Measured(2, lambda g, u: (ops.swiglu(g, u),), lambda g, u: (functional.silu(g) * u,)),
    "swiglu of halves": Measured(
        1, lambda x: (ops.swiglu(x),),
        lambda x: (functional.silu(x.chunk(2, -1)[0]) * x.chunk(2, -1)[1],), step=2,
    ),
    "geglu": Measured(2, lambda g, u: (ops.geglu(g, u),), lambda g, u: (functional.gelu(g) * u,)),
    "swiglu backward": Measured(3, lambda d, g, u: gated_units.BACKWARD.run(d, g, u, "silu"), _gradients),
    "rope": Measured(1, lambda x, c, s: (ops.rope(x, c, s),), _rotated, step=128, head=128),
    "rope, heads of 96": Measured(1, lambda x, c, s: (ops.rope(x, c, s),), _rotated, step=96, head=96),
    "quantize_per_token int8": Measured(
        1, lambda x: ops.quantize_per_token(x, "int8"), _per_token(torch.int8, 127.0)
    ),
    "quantize_per_token fp8": Measured(
        1, lambda x: ops.quantize_per_token(x, "fp8"), _per_token(torch.float8_e4m3fn, 448.0)
    ),
    "quantize_per_tensor fp8": Measured(
        1, lambda x: ops.quantize_per_tensor(x, "fp8"),
        lambda x: _scaled(x, x.abs().amax().reshape(1), torch.float8_e4m3fn, 448.0),
    ),
    "quantize_blocks 1x128": Measured(
        1, lambda x: ops.quantize_blocks(x, (1, 128)), _per_block(1), step=128
    ),
    "quantize_blocks 128x128": Measured(
        1, lambda x: ops.quantize_blocks(x, (128, 128)), _per_block(128), step=128, rows=128
    ),
    "quantize_mx mxfp4": Measured(1, lambda x: ops.quantize_mx(x, "mxfp4"), lambda x: (), step=32),
    "quantize_mx mxfp8": Measured(1, lambda x: ops.quantize_mx(x, "mxfp8"), lambda x: (), step=32),
}  # fmt: skip
"""What is measured; groups of 32 have no formula in torch."""


def draw(seed: int, count: int, longest: int, moved: int, only: str = "") -> Iterator[tuple[str, int, int, str]]:
    """Yield (op, rows, length, type) of ops whose names have ``only`` in them: the same for the same seed."""
    for name, op in OPS.items():
        rng = random.Random(f"{name} {seed}")
        for index in range(count if only in name else 0):
            n = int(math.exp(rng.uniform(math.log(SHORTEST), math.log(longest)))) | (index % 2 == 0)
            n = max(n // op.step, 1) * op.step
            kind = rng.choice(["bf16", "bf16", "f16", "f32"])
            m = max(moved // (n * KINDS[kind].itemsize) // op.rows, 1) * op.rows
            yield name, m, n, kind


def error_of(found: Tensors, wanted: Tensors) -> float:
    """Return the largest error of a result relative to its norm, in units of what its type allows."""
    errors = [0.0]
    for got, want in zip(found, wanted, strict=True):
        allowed = TOLERANCE.get(got.dtype, CODES)
        difference = (got.double().reshape(want.shape) - want.double()).norm() / want.double().norm()
        errors.append(float(difference) / allowed)
    return max(errors)


def check(name: str, arguments: Tensors) -> float:
    """Run an op once beside its formula, in float64 unless that rounds to codes; refuse a wrong result."""
    op = OPS[name]
    found = op.ours(*arguments)
    if name.startswith("quantize_mx"):
        return 0.0  # tests/kernels compare these bit by bit
    wide = arguments if name.startswith("quantize") else tuple(t.double() for t in arguments)
    error = error_of(found, op.formula(*wide))
    if not error < 1:
        sys.exit(f"{name} of {[tuple(t.shape) for t in arguments]} is wrong: {error:.2f} of what is allowed")
    return error


def measure(name: str, m: int, n: int, kind: str, peers: bool, rounds: int) -> dict[str, Any]:
    """Return the bandwidth of each side, and of a copy of as many bytes."""
    import gpu

    op = OPS[name]
    sets = [op.arguments(m, n, KINDS[kind], "cuda") for _ in range(SETS)]
    check(name, tuple(t[:256] if t.dim() > 1 else t for t in sets[0]))
    moved = sum(t.numel() * t.element_size() for t in (*sets[0], *op.ours(*sets[0])))
    source, target = (torch.empty(moved // 2, device="cuda", dtype=torch.uint8) for _ in range(2))
    runs: dict[str, Callable[[int], Any]] = {
        "ours": lambda i: op.ours(*sets[i % SETS]),
        "copy": lambda i: target.copy_(source),
    }
    if peers and not name.startswith("quantize_mx"):
        torch._dynamo.reset()
        compiled = torch.compile(op.formula, dynamic=False)
        runs["compile"] = lambda i: compiled(*sets[i % SETS])
    for run in runs.values():
        run(0)
    return {side: moved / ms / 1e9 for side, ms in gpu.median_ms(runs, rounds).items()}


def main() -> None:
    parser = timing.arguments(__doc__ or "", "small shapes on the virtual GPU, without times")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of the shapes that are drawn")
    parser.add_argument("--drawn", type=int, default=2, help="shapes of each op")
    parser.add_argument("--only", default="", help="a part of the names of ops")
    parser.add_argument("--only-copy", action="store_true", help="without torch.compile, which takes most time")
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    if given.quick:
        for name, m, n, kind in draw(given.seed, 1, 700, 10_000):
            error = check(name, OPS[name].arguments(m, n, KINDS[kind], "cpu"))
            print(f"{name:24} {m:>7}x{n:<6} {kind:4} error {error:.2f} of what is allowed")
        print("quick run: no times were taken")
        return
    rows = []
    for name, m, n, kind in draw(given.seed, given.drawn, LONGEST, MOVED, given.only):
        speeds = measure(name, m, n, kind, not given.only_copy, 3)
        rows.append({"name": name, "m": m, "n": n, "dtype": kind, **speeds})
        beside = f"  / compile {speeds['ours'] / speeds['compile']:.2f}" if "compile" in speeds else ""
        ratio = speeds["ours"] / speeds["copy"]
        print(f"{name:24} {m:>7}x{n:<6} {kind:4} {speeds['ours']:5.2f} TB/s  / copy {ratio:.2f}{beside}", flush=True)
        torch.cuda.empty_cache()
    timing.keep("row_ops", {"rows": rows, "seed": given.seed}, given)


if __name__ == "__main__":
    main()

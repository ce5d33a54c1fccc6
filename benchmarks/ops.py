"""Host time of a call of `flydsl.ops`, beside torch's own function and a `torch.library.custom_op` of the same kernels.

Run it: python benchmarks/ops.py [--quick]

Microseconds from one call to the next, the least of some rounds, on tensors of 128 x 1024 bf16, where the GPU is faster
than the host; without gradients, and with, which is the forward call with autograd's bookkeeping.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import timing

ROWS, LENGTH = 128, 1024
CALLS, ROUNDS = 300, 7


def microseconds(function: Callable[[], Any], calls: int, rounds: int) -> float:
    """Of one of many calls, the host not waiting for the GPU."""
    for _ in range(30):
        function()
    best = float("inf")
    for _ in range(rounds):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            function()
        best = min(best, (time.perf_counter() - start) / calls * 1e6)
    return best


def sides() -> dict[str, tuple[Callable[..., Any], ...]]:
    """Name -> (ours, torch's, the operator), each of (x, weight)."""
    import flydsl.ops as ops

    functional, operators = torch.nn.functional, torch.ops.flydsl
    bias = torch.zeros(LENGTH, device="cuda", dtype=torch.bfloat16)
    labels = torch.randint(0, LENGTH, (ROWS,), device="cuda")
    shape = (LENGTH,)
    return {
        "softmax": (lambda x, w: ops.softmax(x), lambda x, w: torch.softmax(x, -1), lambda x, w: operators.softmax(x)),
        "rms_norm": (
            lambda x, w: ops.rms_norm(x, shape, w, 1e-5), lambda x, w: functional.rms_norm(x, shape, w, 1e-5),
            lambda x, w: operators.rms_norm(x, w, 1e-5, LENGTH),
        ),
        "layer_norm": (
            lambda x, w: ops.layer_norm(x, shape, w, bias), lambda x, w: functional.layer_norm(x, shape, w, bias),
            lambda x, w: operators.layer_norm(x, w, bias, 1e-5, LENGTH),
        ),
        "add_rms_norm": (
            lambda x, w: ops.add_rms_norm(x, x, w, 1e-5), lambda x, w: functional.rms_norm(x + x, shape, w, 1e-5),
            lambda x, w: operators.add_rms_norm(x, x, w, 1e-5, LENGTH),
        ),
        "cross_entropy": (
            lambda x, w: ops.cross_entropy(x, labels), lambda x, w: functional.cross_entropy(x, labels),
            lambda x, w: operators.cross_entropy(x, labels, -100, 1, 0.0),
        ),
        "swiglu": (
            lambda x, w: ops.swiglu(x, x), lambda x, w: functional.silu(x) * x,
            lambda x, w: operators.glu(x, x, "silu"),
        ),
    }  # fmt: skip


def stages(x: torch.Tensor, learned: torch.Tensor) -> dict[str, Callable[[], Any]]:
    """What a call is made of: those of torch that it cannot do without, and what tells calls apart."""
    from flydsl.compiler.calls.native_replay import call_facts

    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, lane: Any, x: Any) -> Any:
            return torch.empty_like(x)

    facts, apply = call_facts(), Nothing.apply
    bare: Any = super(torch.autograd.Function, Nothing).apply  # pyright: ignore[reportAttributeAccessIssue]
    device = x.device.index
    return {
        "new tensor": lambda: torch.empty_like(x),
        "new tensor by autograd's apply": lambda: apply(None, learned),
        "the same without functorch": lambda: bare(None, learned),
        "current stream": lambda: torch._C._cuda_getCurrentRawStream(device),
        "facts of one tensor": lambda: facts(x),
        "whether torch traces": torch.compiler.is_compiling,
        "torch's launch into a tensor": lambda: x.zero_(),
    }


def main() -> None:
    given = timing.arguments(__doc__ or "", "few calls").parse_args()
    x = torch.randn(ROWS, LENGTH, device="cuda", dtype=torch.float32).to(torch.bfloat16)
    w = torch.ones(LENGTH, device="cuda", dtype=torch.bfloat16)
    learned = x.clone().requires_grad_(), w.clone().requires_grad_()
    calls, rounds = (20, 1) if given.quick else (CALLS, ROUNDS)
    table = []
    for name, functions in sides().items():
        plain = [microseconds(lambda f=f: f(x, w), calls, rounds) for f in functions]
        graded = [microseconds(lambda f=f: f(*learned), calls, rounds) for f in functions]
        table.append([name, *(f"{time_:.1f}" for time_ in (*plain, *graded))])
    timing.print_table(["", "ours", "torch", "operator", "ours, grad", "torch, grad", "operator, grad"], table)
    parts = [[name, f"{microseconds(f, calls, rounds):.2f}"] for name, f in stages(x, learned[0]).items()]
    timing.print_table(["part", "us"], parts)
    timing.keep("ops", {"rows": table, "parts": parts}, given)


if __name__ == "__main__":
    main()

"""Host time of a call of `flydsl.ops`, beside torch's own function and a `torch.library.custom_op` of the same kernels.

Run it: python benchmarks/ops.py [--quick]

Microseconds from one call to the next, all cells in turns, the least of some rounds, on tensors of 128 x 1024 bf16,
where the GPU is faster than the host; without gradients, and with, which is the forward call with autograd's
bookkeeping. Before, what calls give that repeat a recorded one is compared with torch in float64. A second table has
the parts of a call.
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
CALLS, ROUNDS = 50, 60
"""Short rounds, and many: the host has slow times of some milliseconds."""
CLOSE = 2e-2
"""Of the largest element, in bf16."""
Side = Callable[[], Any]


def microseconds(functions: list[Side], calls: int, rounds: int) -> list[float]:
    """Of one of many calls, the host not waiting for the GPU; the functions take turns."""
    for function in functions:
        for _ in range(30):
            function()
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for place, function in enumerate(functions):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(calls):
                function()
            best[place] = min(best[place], (time.perf_counter() - start) / calls * 1e6)
    return best


def sides() -> dict[str, tuple[Callable[..., Any], ...]]:
    """Name -> (ours, torch's, the operator), each of (x, weight, matrix)."""
    import flydsl.ops as ops

    functional, operators = torch.nn.functional, torch.ops.flydsl
    labels = torch.randint(0, LENGTH, (ROWS,), device="cuda")
    shape = (LENGTH,)
    return {
        "softmax": (
            lambda x, w, m: ops.softmax(x), lambda x, w, m: torch.softmax(x, -1), lambda x, w, m: operators.softmax(x)
        ),
        "rms_norm": (
            lambda x, w, m: ops.rms_norm(x, shape, w, 1e-5), lambda x, w, m: functional.rms_norm(x, shape, w, 1e-5),
            lambda x, w, m: operators.rms_norm(x, w, 1e-5, LENGTH),
        ),
        "layer_norm": (
            lambda x, w, m: ops.layer_norm(x, shape, w, w), lambda x, w, m: functional.layer_norm(x, shape, w, w),
            lambda x, w, m: operators.layer_norm(x, w, w, 1e-5, LENGTH),
        ),
        "add_rms_norm": (
            lambda x, w, m: ops.add_rms_norm(x, x, w, 1e-5)[0],
            lambda x, w, m: functional.rms_norm(x + x, shape, w, 1e-5),
            lambda x, w, m: operators.add_rms_norm(x, x, w, 1e-5, LENGTH)[0],
        ),
        "cross_entropy": (
            lambda x, w, m: ops.cross_entropy(x, labels), lambda x, w, m: functional.cross_entropy(x, labels),
            lambda x, w, m: operators.cross_entropy(x, labels, -100, 1, 0.0),
        ),
        "swiglu": (
            lambda x, w, m: ops.swiglu(x, x), lambda x, w, m: functional.silu(x) * x,
            lambda x, w, m: operators.glu(x, x, "silu"),
        ),
        "linear": (
            lambda x, w, m: ops.linear(x, m, w), lambda x, w, m: functional.linear(x, m, w),
            lambda x, w, m: operators.linear(x, m, w),
        ),
        "matmul": (
            lambda x, w, m: ops.matmul(x, m), lambda x, w, m: torch.matmul(x, m),
            lambda x, w, m: operators.matmul(x, m),
        ),
    }  # fmt: skip


def check(name: str, ours: Callable[..., Any], reference: Callable[..., Any], given: list[torch.Tensor]) -> float:
    """The largest difference of results and gradients to torch in float64, in parts of the largest element."""
    worst = 0.0
    for wants in (False, True, False, True, False, True):  # the third is the first that is repeated
        fresh = [torch.randn_like(x, dtype=torch.float32).to(x.dtype) for x in given]
        mine = [x.requires_grad_(wants) for x in fresh]
        exact = [x.detach().double().requires_grad_(wants) for x in fresh]
        pairs = [(ours(*mine), reference(*exact))]
        if wants:
            slope = torch.randn_like(pairs[0][1])
            found = torch.autograd.grad(pairs[0][0], mine, slope.to(pairs[0][0].dtype), allow_unused=True)
            want = torch.autograd.grad(pairs[0][1], exact, slope, allow_unused=True)
            pairs += [(a, b) for a, b in zip(found, want, strict=True) if b is not None]
        for a, b in pairs:
            worst = max(worst, float((a.detach().double() - b.detach()).abs().max() / b.detach().abs().max()))
    if not worst < CLOSE:
        raise SystemExit(f"{name} is off by {worst:.3g} of the largest element")
    return worst


def parts(x: torch.Tensor, learned: torch.Tensor, m: torch.Tensor) -> dict[str, Side]:
    """What a call is made of: those of torch that it cannot do without, what tells calls apart, and bare products."""
    from flydsl.compiler.calls.native_replay import call_facts
    from flydsl.kernels.gemm.hopper_matmul import hopper_gemm

    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return torch.empty_like(x)

    facts, device, product = call_facts(), x.device.index, torch.empty(ROWS, LENGTH, device="cuda", dtype=x.dtype)
    apply: Any = super(torch.autograd.Function, Nothing).apply  # pyright: ignore[reportAttributeAccessIssue]
    return {
        "a new tensor": lambda: torch.empty_like(x),
        "a new tensor by autograd's apply": lambda: apply(learned),
        "the current stream": lambda: torch._C._cuda_getCurrentRawStream(device),
        "the facts of one tensor": lambda: facts(x),
        "whether torch traces": torch.compiler.is_compiling,
        "a launch of torch's into a tensor": lambda: x.zero_(),
        "hopper_gemm": lambda: hopper_gemm(x, m, product),
    }


def main() -> None:
    given = timing.arguments(__doc__ or "", "few calls").parse_args()
    x = torch.randn(ROWS, LENGTH, device="cuda", dtype=torch.float32).to(torch.bfloat16)
    w = torch.ones(LENGTH, device="cuda", dtype=torch.bfloat16)
    m = torch.randn(LENGTH, LENGTH, device="cuda", dtype=torch.float32).to(torch.bfloat16)
    learned = [tensor.clone().requires_grad_() for tensor in (x, w, m)]
    calls, rounds = (20, 1) if given.quick else (CALLS, ROUNDS)
    rivals = sides()
    worst = [check(name, ours, theirs, [x, w, m]) for name, (ours, theirs, _) in rivals.items()]
    cells = [
        lambda f=f, tensors=tensors: f(*tensors)
        for functions in rivals.values() for tensors in ((x, w, m), learned) for f in functions
    ]  # fmt: skip
    times = iter(microseconds(cells, calls, rounds))
    table = [
        [name, *(f"{next(times):.1f}" for _ in range(6)), f"{error:.1e}"]
        for name, error in zip(rivals, worst, strict=True)
    ]
    columns = ["", "ours", "torch", "operator", "ours, grad", "torch, grad", "operator, grad", "difference"]
    timing.print_table(columns, table)
    rows = parts(x, learned[0], m)
    costs = [[name, f"{time_:.2f}"] for name, time_ in zip(rows, microseconds([*rows.values()], calls, rounds))]
    timing.print_table(["part", "us"], costs)
    timing.keep("ops", {"rows": table, "parts": costs}, given)


if __name__ == "__main__":
    main()

"""Host time of a call of `flydsl.ops`, beside torch's own function and a `torch.library.custom_op` of the same kernels.

Run it: python benchmarks/ops.py [--ops softmax,attention] [--rounds 20] [--quick]

Microseconds from one call to the next, all cells in turns, the least of some rounds, on tensors of 128 x 1024 bf16,
for attention 8 heads of 128 x 64, where the GPU is faster than the host; without gradients, and with, which is the
forward call with autograd's bookkeeping. Before, what calls give that repeat a recorded one is compared with torch in
float64. A second table has the parts of a call. Most of the time goes to compiling what is not in the cache, and to the
operators.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import timing

ROWS, LENGTH = 128, 1024
HEADS, PAGES = (1, 8, 128, 64), (32, 16, 8, 64)
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


def heads() -> dict[str, tuple[Callable[..., Any], ...]]:
    """`sides` of attention, each of (q, k, v)."""
    import flydsl.ops as ops

    theirs, operator = torch.nn.functional.scaled_dot_product_attention, torch.ops.flydsl.attention
    nothing, numbers = [None] * 5, (HEADS[-1] ** -0.5, -1, -1, 0.0, -1, -1, False)
    return {
        "scaled_dot_product_attention": (
            lambda q, k, v: ops.scaled_dot_product_attention(q, k, v, is_causal=True),
            lambda q, k, v: theirs(q, k, v, is_causal=True),
            lambda q, k, v: operator(q, k, v, *nothing, True, *numbers)[0],
        ),
        "attention": (ops.attention, theirs, lambda q, k, v: operator(q, k, v, *nothing, False, *numbers)[0]),
    }


def decoding() -> dict[str, tuple[Callable[..., Any], ...]]:
    """`sides` of a new token over pages, of (q,); torch's keys lie side by side."""
    import flydsl.ops as ops

    pages, tokens, kv_heads, size = PAGES
    tables = torch.randperm(pages, device="cuda").int().view(1, -1)
    lengths = torch.full((1,), pages * tokens, device="cuda", dtype=torch.int32)
    caches = [torch.randn(PAGES, device="cuda").bfloat16() for _ in range(2)]
    beside = [cache[tables[0].long()].view(1, -1, kv_heads, size).transpose(1, 2).contiguous() for cache in caches]
    keys, values = ({torch.bfloat16: cache, torch.float64: cache.double()} for cache in beside)
    numbers = (None, size**-0.5, -1, 0.0, 1.0, 1.0)
    attend, operator = torch.nn.functional.scaled_dot_product_attention, torch.ops.flydsl.paged_attention
    return {
        "paged_attention": (
            lambda q: ops.paged_attention(q, caches[0], caches[1], tables, lengths),
            lambda q: attend(q[:, :, None], keys[q.dtype], values[q.dtype]),
            lambda q: operator(q, *caches, tables, lengths, *numbers),
        )
    }


def check(name: str, ours: Callable[..., Any], reference: Callable[..., Any], given: list[torch.Tensor]) -> float:
    """The largest difference of results and gradients to torch in float64, in parts of the largest element."""
    worst, graded = 0.0, name != "paged_attention"
    for wants in (False, graded) * 3:  # the third is the first that is repeated
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
            a, b = a.detach().double(), b.detach().reshape(a.shape)
            worst = max(worst, float((a - b).abs().max() / b.abs().max()))
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


def options() -> argparse.Namespace:
    parser = timing.arguments(__doc__ or "", "few calls")
    parser.add_argument("--ops", help="names of ops, with commas between; all of them without it")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds of {CALLS} calls")
    return parser.parse_args()


def main() -> None:
    given = options()
    x = torch.randn(ROWS, LENGTH, device="cuda", dtype=torch.float32).to(torch.bfloat16)
    w = torch.ones(LENGTH, device="cuda", dtype=torch.bfloat16)
    m = torch.randn(LENGTH, LENGTH, device="cuda", dtype=torch.float32).to(torch.bfloat16)
    qkv = [torch.randn(HEADS, device="cuda").to(torch.bfloat16) for _ in range(3)]
    learned = [tensor.clone().requires_grad_() for tensor in (x, w, m)]
    calls, rounds = (20, 1) if given.quick else (CALLS, given.rounds)
    groups = (([x, w, m], sides()), (qkv, heads()), ([qkv[0][:, :, 0].contiguous()], decoding()))
    rivals = [(name, tensors, functions) for tensors, group in groups for name, functions in group.items()]
    if given.ops is not None:
        rivals = [rival for rival in rivals if rival[0] in given.ops.split(",")]
    worst = [check(name, ours, theirs, tensors) for name, tensors, (ours, theirs, _) in rivals]
    cells: dict[tuple[str, int, bool], Side] = {}
    for name, tensors, functions in rivals:
        for wants in (False, True) if name != "paged_attention" else (False,):
            own = [tensor.clone().requires_grad_(wants) for tensor in tensors]
            for place, function in enumerate(functions):
                cells[name, place, wants] = lambda function=function, own=own: function(*own)
    times = dict(zip(cells, microseconds([*cells.values()], calls, rounds), strict=True))
    columns = [(place, wants) for wants in (False, True) for place in range(3)]
    table = [
        [name, *(f"{times[name, *cell]:.1f}" if (name, *cell) in times else "" for cell in columns), f"{error:.1e}"]
        for (name, _, _), error in zip(rivals, worst, strict=True)
    ]
    heading = ["", "ours", "torch", "operator", "ours, grad", "torch, grad", "operator, grad", "difference"]
    timing.print_table(heading, table)
    rows = parts(x, learned[0], m)
    costs = [[name, f"{time_:.2f}"] for name, time_ in zip(rows, microseconds([*rows.values()], calls, rounds))]
    timing.print_table(["part", "us"], costs)
    if given.ops is None:
        timing.keep("ops", {"rows": table, "parts": costs}, given)


if __name__ == "__main__":
    main()

"""Ops and their gradients on a real Hopper GPU with every two of their features together, against float64: types, where
arrays lie, lengths that no piece divides. Each case is called four times with new numbers, the last ones by replays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from flydsl import ops
from tests.support import random_data
from tests.support.pairwise import crossed

WAYS = ("whole", "pitched", "odd", "late", "across", "expanded", "steps")
FEATURES: dict[str, tuple[Any, ...]] = {
    "op": (
        "softmax", "rms_norm", "layer_norm", "add_rms_norm", "add_layer_norm", "swiglu", "halves", "geglu",
        "geglu_tanh", "rope", "rope_neighbours", "loss_mean", "loss_sum", "loss_none", "loss_smoothed", "matmul",
        "batches", "linear",
    ),
    "dtype": ("float32", "float16", "bfloat16"),
    "x": WAYS,
    "y": WAYS,
    "gradient": WAYS,
    "rows": (1, 3, 300),
    "length": (2, 8, 64, 130, 1000, 8200),
    "mean": (0.0, 1.0),
    "weights": (0, 1, 2),
    "lead": ((), (2,)),
}  # fmt: skip
CASES = crossed(FEATURES)
UNIT = {"float32": 2e-5, "float16": 2**-9, "bfloat16": 2**-6}
DEPTH, EPS = 72, 1e-3
TIMES = 4

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.usefixtures("hopper")]


def laid(torch: Any, x: Any, way: str) -> Any:
    """Return an array in memory in one of the ways, in which nothing else is a number."""
    *lead, m, n = x.shape

    def blank(*shape: int) -> Any:
        return torch.full(shape, float("nan"), dtype=x.dtype, device=x.device)

    if way == "whole":
        return x.clone()
    if way == "expanded":
        return x[..., :1, :].clone().expand(x.shape)
    found = {
        "pitched": lambda: blank(*lead, m, n + 16)[..., 8 : 8 + n],
        "odd": lambda: blank(*lead, m + 2, n + 3)[..., 1:-1, 1 : 1 + n],
        "late": lambda: blank(x.numel() + 9)[1 : 1 + x.numel()].view(x.shape),
        "across": lambda: blank(*lead, n, m + 3)[..., :m].transpose(-1, -2),
        "steps": lambda: blank(*lead, 2 * m, 2 * n)[..., ::2, 1::2],
    }[way]()
    return found.copy_(x)


def turned(torch: Any, x: Any, cos: Any, sin: Any, neighbours: bool) -> Any:
    c, s = cos.to(x.dtype)[:, None], sin.to(x.dtype)[:, None]
    a, b = (x[..., 0::2], x[..., 1::2]) if neighbours else x.chunk(2, -1)
    both = a * c - b * s, b * c + a * s
    return torch.stack(both, -1).flatten(-2) if neighbours else torch.cat(both, -1)


def norm_of(functional: Any, name: str, n: int, arrays: list[Any]) -> tuple[list[Any], Any, Any]:
    """Return the arrays, the op and torch's function of a norm; RMSNorm has no bias."""
    most = (2 if "add" in name else 1) + (1 if "rms" in name else 2)
    norm = functional.rms_norm if "rms" in name else functional.layer_norm
    if "add" in name:
        op = getattr(ops, name)
        return arrays[:most], partial(op, eps=EPS), lambda x, y, *w: (norm(x + y, (n,), *w, eps=EPS), x + y)
    own = getattr(ops, name)
    return arrays[:most], lambda x, *w: own(x, (n,), *w, eps=EPS), lambda x, *w: norm(x, (n,), *w, eps=EPS)


def call_of(torch: Any, case: dict[str, Any], drawn: Callable[..., Any]) -> tuple[list[Any], Any, Any]:
    """Return the arrays of a call, the op, and what torch has for it."""
    name, m, n, lead, functional = case["op"], case["rows"], case["length"], case["lead"], torch.nn.functional
    x, y = (laid(torch, drawn(*lead, m, n), case[which]) for which in "xy")
    weights = [drawn(n) for _ in range(case["weights"])]
    if name == "softmax":
        return [x], lambda x: ops.softmax(x, -1), lambda x: functional.softmax(x, -1)
    if name.endswith("norm"):
        return norm_of(functional, name, n, [x, y, *weights] if "add" in name else [x, *weights])
    if name == "swiglu":
        return [x, y], ops.swiglu, lambda x, y: functional.silu(x) * y
    if name == "halves":
        return [x], ops.swiglu, lambda x: functional.silu(x[..., : n // 2]) * x[..., n // 2 :]
    if name.startswith("geglu"):
        how = "tanh" if name == "geglu_tanh" else "none"
        return [x, y], lambda x, y: ops.geglu(x, y, how), lambda x, y: functional.gelu(x, approximate=how) * y
    if name.startswith("rope"):
        heads, tables = laid(torch, drawn(2, m, 3, n), case["x"]), [drawn(m, n // 2) for _ in range(2)]
        near = name == "rope_neighbours"
        return [heads], lambda x: ops.rope(x, *tables, near), lambda x: turned(torch, x, *tables, near)
    if name.startswith("loss"):
        x = x.reshape(-1, n)
        labels = torch.from_numpy(random_data.generator().integers(0, n, len(x))).cuda()
        labels[1:2] = -100
        how = {"label_smoothing": 0.1} if name == "loss_smoothed" else {"reduction": name.removeprefix("loss_")}
        return [x], lambda x: ops.cross_entropy(x, labels, **how), lambda x: functional.cross_entropy(x, labels, **how)
    if name in ("matmul", "batches"):
        batch = (2,) if name == "batches" else ()
        a = laid(torch, drawn(*(batch or lead), m, DEPTH), case["x"])
        b = laid(torch, drawn(*batch, DEPTH, n), case["y"])
        return [a, b], ops.matmul, torch.matmul
    a, b = laid(torch, drawn(*lead, m, DEPTH), case["x"]), laid(torch, drawn(n, DEPTH), case["y"])
    return [a, b, *weights[:1]], ops.linear, functional.linear


def run(torch: Any, case: dict[str, Any]) -> None:
    rng, dtype = random_data.generator(), getattr(torch, case["dtype"])

    def drawn(*shape: int) -> Any:
        return torch.from_numpy(rng.normal(case["mean"], 1, shape)).to(dtype).cuda()

    arrays, op, reference = call_of(torch, case, drawn)
    mine = [x.detach().requires_grad_(True) for x in arrays]
    exact = [x.detach().double().requires_grad_(True) for x in arrays]
    with torch.no_grad():
        alone = op(*mine)
    got, want = op(*mine), reference(*exact)
    alone, got, want = ((x,) if torch.is_tensor(x) else x for x in (alone, got, want))
    unit = UNIT[case["dtype"]]
    left = 0.2 if case["op"] in ("matmul", "batches", "linear") else 1e-6  # of many terms little may be left
    for result, again, right in zip(got, alone, want, strict=True):
        limit = 2 * unit * (right.abs().max().item() + left)
        for found in (result, again):
            assert (found.double() - right).abs().max().item() <= limit, case
    steps = [drawn(*x.shape) for x in got]
    steps = [laid(torch, x, case["gradient"]) if x.dim() > 1 else x for x in steps]
    torch.autograd.backward(list(got), steps)
    torch.autograd.backward(list(want), [x.double() for x in steps])
    # Gradients of two elements are what is left of terms that are larger: those of norms a thousand times, and those of
    # softmax, which are made of its rounded results, as much as all that is given.
    terms = max(steps[0].abs().max().item() / 16, 1e-2) if case["op"] == "softmax" else 1e-2
    for number, (x, right) in enumerate(zip(mine, exact, strict=True)):
        off = (x.grad.double() - right.grad).abs().max().item()
        assert off <= 4 * unit * (right.grad.abs().max().item() + terms), (case, number, off)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_ops_and_gradients(number: int, torch: Any) -> None:
    for _ in range(TIMES):
        run(torch, CASES[number])

"""How fast plans of row kernels are on this GPU, beside what their model expects.

Not a comparison, so not run with the others:

    python benchmarks/tune_rows.py [--quick] [--plans N] [--jobs N] [--json FILE] [case ...]

A case is kernel:length:type, as softmax:50257:bf16 or layernorm_bwd:11115:bf16, and :rows where few are wanted. For
each, some of the plans that the model compares, the best of them and others at random, with the part of a copy's speed
that they have and that the model expects. The numbers of `Machine` in kernels/blocks/row_machine.py are fitted to it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import rows as cells

from flydsl.kernels.blocks.row_choice import RowTask, candidates, for_rows
from flydsl.kernels.blocks.row_machine import HOPPER
from flydsl.kernels.blocks.row_plan import RowPlan
from flydsl.kernels.blocks.row_time import launch_time
from flydsl.kernels.norm.column_sums import partial_rows
from flydsl.kernels.norm.cross_entropy import FORWARD, build_cross_entropy_module
from flydsl.kernels.norm.layernorm import build_layernorm_module
from flydsl.kernels.norm.norm_backward import backward_task, norm_backward_launcher
from flydsl.kernels.norm.rmsnorm import build_rmsnorm_module
from flydsl.kernels.norm.softmax import build_softmax_module
from flydsl.kernels.norm.softmax_backward import TASK, build_softmax_bwd_module

MOVED = 256 << 20
CASES = [
    f"{name}:{length}:bf16"
    for name in ("softmax", "layernorm")
    for length in (33, 129, 1000, 1001, 4096, 4097, 13832, 16384, 32768, 65536, 131071)
]
LINES = {"rmsnorm": 1, "layernorm": 2, "rmsnorm_bwd": 1, "layernorm_bwd": 1}
TASKS = {
    "softmax_bwd": TASK, "cross_entropy": FORWARD, "rmsnorm_bwd": backward_task(False),
    "layernorm_bwd": backward_task(True),
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    kernel: str
    length: int
    dtype: str
    few: int = 0

    @property
    def task(self) -> RowTask:
        return TASKS.get(self.kernel, RowTask())

    @property
    def rows(self) -> int:
        """So many that 256 MB are moved, where no number is given."""
        return self.few or MOVED // ((self.task.sources + self.task.targets) * self.length * cells.DTYPES[self.dtype])

    def expected(self, plan: RowPlan) -> float:
        """Microseconds, by the model."""
        machine = for_rows(HOPPER, plan.length * plan.size, self.task)
        return launch_time(plan, machine, LINES.get(self.kernel, 0), self.rows) / 1750


def parsed(text: str) -> Case:
    """The case that is written kernel:length:type, with :rows behind it or without."""
    kernel, length, dtype, *few = text.split(":")
    return Case(kernel, int(length), dtype, *map(int, few))


def picked(case: Case, count: int, only_rings: bool) -> list[RowPlan]:
    """The plans that the model likes best, and some that it likes at all."""
    machine = for_rows(HOPPER, case.length * cells.DTYPES[case.dtype], case.task)
    plans = candidates(case.length, case.dtype, machine, None, case.task, LINES.get(case.kernel, 0))
    found = sorted({p for p in plans if case.expected(p) < float("inf")}, key=case.expected)
    if only_rings:
        # All rings, and the best of the others.
        own = [plan for plan in found if plan.slots][:4]
        return [plan for plan in found if not plan.slots][: max(count - len(own), 2)] + own
    best = min(3, count)
    others = found[best:]
    return found[:best] + random.Random(case.length).sample(others, min(count - best, len(others)))


def runner(case: Case, plan: RowPlan | None, sets: int) -> Any:
    """(what runs a plan on a set of buffers, what copies one, a check)."""
    import torch

    kind = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}[case.dtype]
    m, n, dtype = case.rows, case.length, case.dtype
    x = [torch.randn(m, n, device="cuda").to(kind) for _ in range(sets)]
    y = [torch.empty_like(t) for t in x]
    gamma, beta = (torch.randn(n, device="cuda").to(kind) for _ in range(2))
    wide = slice(0, min(m, 8))
    if case.kernel == "softmax":
        kernel = build_softmax_module(m, n, dtype, plan=plan)
        return lambda i: kernel(x[i], y[i], m), x, y, lambda: torch.softmax(x[0][wide].double(), 1)
    if case.kernel == "rmsnorm":
        kernel = build_rmsnorm_module(n, dtype, plan=plan)
        norm = torch.nn.functional.rms_norm
        return (
            lambda i: kernel(x[i], gamma, y[i], m),
            x,
            y,
            lambda: norm(x[0][wide].double(), (n,), gamma.double(), 1e-5),
        )
    if case.kernel == "layernorm":
        kernel = build_layernorm_module(n, dtype, plan=plan)
        norm = torch.nn.functional.layer_norm
        return (
            lambda i: kernel(x[i], gamma, beta, y[i], m),
            x,
            y,
            lambda: norm(x[0][wide].double(), (n,), gamma.double(), beta.double(), 1e-5),
        )
    if case.kernel == "softmax_bwd":
        kernel = build_softmax_bwd_module(n, dtype, plan=plan)
        s = [torch.softmax(t, 1) for t in x]
        return (
            lambda i: kernel(x[i], s[i], y[i], m),
            x,
            y,
            lambda: (
                s[0][wide].double() * (x[0][wide].double() - (x[0][wide].double() * s[0][wide].double()).sum(1, True))
            ),
        )
    if case.task.sums:
        return gradients(case, plan, x, y, gamma)
    kernel = build_cross_entropy_module(n, dtype, plan=plan)
    target = torch.randint(0, n, (m,), device="cuda")
    loss, powers = torch.empty(m, device="cuda"), torch.empty(2, m, device="cuda")
    return (
        lambda i: kernel(x[i], target, loss, powers, m, -100, 0.0),
        x,
        [loss] * sets,
        lambda: torch.nn.functional.cross_entropy(x[0][wide].double(), target[wide], reduction="none"),
    )


def gradients(case: Case, plan: RowPlan | None, x: list[Any], dx: list[Any], gamma: Any) -> Any:
    """The same of a norm's gradients; what is checked is dx."""
    import torch

    m, n, centred = case.rows, case.length, case.task.sums > 1
    dy = [torch.randn_like(t) for t in x]
    wide = x[0].float()
    mean = wide.mean(1) if centred else None
    rstd = torch.rsqrt((wide**2).mean(1) - (0 if mean is None else mean**2) + 1e-5)
    sums, weights = ([torch.empty(size, n, device="cuda") for _ in range(2)] for size in (partial_rows(n, m), 1))
    kernel = norm_backward_launcher(centred, n, case.dtype, False, False, plan)
    shifts = (sums[1], weights[0][0], weights[1][0]) if centred else (None, weights[0][0], None)

    def expected() -> Any:
        some = slice(0, min(m, 8))
        normal = (x[0][some].double() - (0 if mean is None else mean[some, None].double())) * rstd[some, None].double()
        scaled = dy[0][some].double() * gamma.double()
        shift = scaled.mean(1, True) if centred else 0
        return (scaled - shift - normal * (scaled * normal).mean(1, True)) * rstd[some, None].double()

    return lambda i: kernel(dy[i], x[i], gamma, mean, rstd, dx[i], None, sums[0], *shifts, m), x, dx, expected


def prepare(case: Case, plan: RowPlan) -> None:
    """Compile a plan, in a process of its own."""
    runner(case, plan, 1)[0](0)


def measure(case: Case, plan: RowPlan, copy: float) -> dict[str, Any]:
    """Microseconds and the relative error."""
    import gpu
    import torch

    run, _, y, expected = runner(case, plan, gpu.SETS)
    y[0].fill_(float("nan"))
    run(0)
    want = expected()
    error = float((y[0][: len(want)].double() - want).norm() / want.norm())
    missed = int(torch.isnan(y[0]).sum())
    taken = gpu.median_ms({"": run}, 2)[""] * 1000
    return {"us": taken, "of_copy": copy / taken, "error": error, "missed": missed}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=CASES)
    parser.add_argument("--quick", action="store_true", help="two plans of the first two cases")
    parser.add_argument("--plans", type=int, default=8, help="of each case")
    parser.add_argument("--rings", action="store_true", help="of other plans the best only")
    parser.add_argument("--jobs", type=int, default=max((os.cpu_count() or 1) - 1, 1))
    parser.add_argument("--json", type=Path, help="where to write all that was measured")
    given = parser.parse_args(arguments)
    cases = [parsed(text) for text in (given.cases[:2] if given.quick else given.cases)]
    plans = 2 if given.quick else given.plans
    work = [(case, plan) for case in cases for plan in picked(case, plans, given.rings)]
    compile_ahead(work, given.jobs)
    import gpu
    import torch

    found = []
    copies: dict[Case, float] = {}
    for case, plan in work:
        if case not in copies:
            each = (case.task.sources + case.task.targets) * case.rows * case.length * cells.DTYPES[case.dtype] // 8
            x = [torch.randn(each, device="cuda") for _ in range(gpu.SETS)]
            y = [torch.empty_like(t) for t in x]
            copies[case] = gpu.median_ms({"": lambda i, x=x, y=y: y[i].copy_(x[i])}, 4)[""] * 1000
            print(f"{case.kernel} {case.rows}x{case.length} {case.dtype}: copy {copies[case]:.1f} us", flush=True)
        try:
            row = measure(case, plan, copies[case])
        except Exception as problem:
            row = {"us": 0.0, "of_copy": 0.0, "error": 0.0, "missed": 0}
            print(repr(problem)[:300])
        torch.cuda.empty_cache()
        expected = case.expected(plan)
        found.append({**asdict(case), **asdict(plan), **row, "copy": copies[case], "expected": expected})
        kind = "ring" if plan.slots else "ahead" if plan.stages else "staged" if plan.staged else "direct"
        print(
            f"  {kind}{'' if plan.keep else ' again'}, {plan.lanes} lanes of {plan.rows} rows, cluster {plan.cluster}, "
            f"{plan.chunks} chunks, {plan.slots} slots, crowd {plan.crowd}: {row['of_copy']:.3f} of the copy, expected "
            f"{copies[case] / expected:.3f}, error {row['error']:.1e} {row['missed'] or ''}",
            flush=True,
        )
        if given.json:
            given.json.write_text(json.dumps(found))


def compile_ahead(work: list[tuple[Case, RowPlan]], jobs: int) -> None:
    import multiprocessing

    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for result in [pool.apply_async(partial(prepare, *one)) for one in work]:
            try:
                result.get(120)
            except Exception as problem:  # it fails again, and is reported, when it is measured
                print(f"not compiled ahead: {problem!r}"[:300], file=sys.stderr)


if __name__ == "__main__":
    main()

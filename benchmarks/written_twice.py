"""Four kernels of `docs/kernels.md`, each with the language's pieces and by hand: time on a Hopper GPU, in turns.

    python benchmarks/written_twice.py [--quick]

The kernels are those of `tests/unit/copies`, which compares their machine code too. Microseconds are medians of
launches between events; results are poisoned before they are checked against float64. Without a GPU a quick run checks
small sizes on the virtual one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import timing

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.unit.copies import attention_twice, products_twice, written_twice
from tests.unit.copies.test_written_twice import launcher

FORMS = ("short", "by_hand")
COLUMNS, HEAD = 1000, 64
"""The length of a softmax's rows, and of attention's heads."""


@dataclass(frozen=True)
class Case:
    """A kernel in both forms: what it reads, the result's shape and type, and how a tensor is described to it."""

    name: str
    arrays: list[Any]
    result: tuple[tuple[int, ...], Any]
    launches: dict[str, Any]
    given: Callable[[int, Any], Any]
    want: Callable[[list[Any], np.ndarray[Any, Any]], Any]
    """The result in float64 at some rows of it."""


def forms(module: Any, prefix: str, count: int, launch: Callable[..., None]) -> dict[str, Any]:
    def of(kernel: Any) -> Any:
        return launcher(count, lambda *tensors: launch(kernel, *tensors))

    return {form: of(getattr(module, f"{prefix}_{form}")) for form in FORMS}


def aligned(_: int, tensor: Any) -> Any:
    return flyc.from_dlpack(tensor, assumed_align=16)


def transposes(rng: np.random.Generator, n: int) -> Case:
    def launch(kernel: Any, x: Any, y: Any) -> None:
        kernel(x, y).launch(grid=(n // 64, n // 64, 1), block=64)

    x = rng.integers(-999, 999, (n, n)).astype(np.int16)
    made = forms(written_twice, "transpose", 2, launch)
    return Case(f"transpose {n}x{n}", [x], ((n, n), np.int16), made, aligned, lambda a, rows: a[0].T[rows])


def softmaxes(rng: np.random.Generator, rows: int) -> Case:
    def launch(kernel: Any, x: Any, y: Any) -> None:
        kernel(x, y, COLUMNS, 32).launch(grid=rows, block=32)

    def want(a: list[Any], some: Any) -> Any:
        powers = np.exp(a[0][some].astype(np.float64))
        return powers / powers.sum(-1, keepdims=True)

    x, made = rng.standard_normal((rows, COLUMNS)).astype(np.float16), forms(written_twice, "softmax", 2, launch)
    return Case(f"softmax {rows}x{COLUMNS}", [x], ((rows, COLUMNS), np.float16), made, aligned, want)


def products(rng: np.random.Generator, n: int) -> Case:
    def launch(kernel: Any, x: Any, y: Any, z: Any) -> None:
        grid = (fx.ceildiv(z.shape[0], 64), fx.ceildiv(z.shape[1], 64), 1)
        kernel(x, y, z).launch(grid=grid, block=128)

    def given(index: int, tensor: Any) -> Any:
        step = 2 if index == 2 else 64
        return aligned(index, tensor).mark_shape_dynamic([0, 1], [1, step]).mark_stride_dynamic(0, step)

    def want(a: list[Any], some: Any) -> Any:
        return a[0][some].astype(np.float64) @ a[1].astype(np.float64).T

    a, b = (rng.standard_normal((n, n)).astype(np.float16) for _ in range(2))
    made = forms(products_twice, "hopper", 3, launch)
    return Case(f"GEMM {n}x{n}x{n}", [a, b], ((n, n), np.float32), made, given, want)


def attentions(rng: np.random.Generator, heads: int, length: int) -> Case:
    def launch(kernel: Any, q: Any, k: Any, v: Any, out: Any) -> None:
        grid = (fx.ceildiv(q.shape[1], 64), q.shape[0], 1)
        kernel(q, k, v, out, np.log2(np.e) / 8).launch(grid=grid, block=128)

    def given(index: int, tensor: Any) -> Any:
        return aligned(index, tensor).mark_shape_dynamic([0, 1]).mark_stride_dynamic(0, HEAD)

    def want(a: list[Any], some: Any) -> Any:
        q, k, v = (x[some].astype(np.float64) for x in a)
        powers = np.exp(q @ k.swapaxes(1, 2) / 8)
        return powers @ v / powers.sum(-1, keepdims=True)

    arrays = [rng.standard_normal((heads, length, HEAD)).astype(np.float16) for _ in range(3)]
    made = forms(attention_twice, "hopper", 4, launch)
    name = f"flash attention {heads} heads, {length}"
    return Case(name, arrays, ((heads, length, HEAD), np.float16), made, given, want)


def checked(case: Case, out: Any, rng: np.random.Generator) -> float:
    """The error of the result at rows drawn anew."""
    some = rng.integers(0, len(out), min(2, len(out)))
    want = np.asarray(case.want(case.arrays, some), np.float64)
    error = float(np.linalg.norm(out[some].astype(np.float64) - want) / np.linalg.norm(want))
    assert error < 2e-3, (case.name, error)
    return error


def on_the_virtual_gpu(case: Case, rng: np.random.Generator) -> list[str]:
    errors = []
    for launch in case.launches.values():
        out = np.full(case.result[0], -1, case.result[1])
        launch(*(case.given(i, t) for i, t in enumerate((*case.arrays, out))))
        errors.append(checked(case, out, rng))
    return [case.name, *(f"{error:.1e}" for error in errors)]


def on_a_gpu(case: Case, rng: np.random.Generator) -> list[str]:
    import torch

    there = [torch.from_numpy(x).cuda() for x in case.arrays]
    sides, errors = {}, []
    for form, launch in case.launches.items():
        out = torch.from_numpy(np.full(case.result[0], -1, case.result[1])).cuda()
        given = [case.given(i, t) for i, t in enumerate((*there, out))]
        launch(*given)
        errors.append(checked(case, out.cpu().numpy(), rng))
        sides[form] = lambda launch=launch, given=given: launch(*given)
    taken = timing.launch_ms(sides, 20, 10)
    return [case.name, *(f"{taken[form] * 1e3:.1f}" for form in FORMS), f"{taken['by_hand'] / taken['short']:.3f}",
            f"{max(errors):.1e}"]  # fmt: skip


def main() -> None:
    given = timing.arguments(__doc__ or "", "small sizes on the virtual GPU").parse_args()
    rng = np.random.default_rng()
    if given.quick:
        os.environ["ARCH"], os.environ["FLYDSL_COMPILE_OPT_LEVEL"] = "sm_90a", "0"
        cases = [transposes(rng, 64), softmaxes(rng, 3), products(rng, 64), attentions(rng, 1, 70)]
        head, rows = ["error", *FORMS], [on_the_virtual_gpu(case, rng) for case in cases]
    else:
        cases = [transposes(rng, 8192), softmaxes(rng, 65536), products(rng, 4096), attentions(rng, 64, 4096)]
        head, rows = ["us", *FORMS, "by hand / short", "error"], [on_a_gpu(case, rng) for case in cases]
    timing.print_table(head, rows)
    timing.keep("written_twice", {"rows": rows}, given)


if __name__ == "__main__":
    main()

"""Gradients of norms where every block has a strip of columns of all rows, on the virtual Hopper against float64.

Plans of a few blocks take short rows as those of a whole GPU take long ones.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import flydsl.ops as ops
from flydsl.kernels.blocks import inputs
from flydsl.kernels.blocks.row_machine import HOPPER
from flydsl.kernels.norm import layernorm, norm_backward, rmsnorm
from flydsl.kernels.norm.column_sums import partial_rows, partial_shape
from flydsl.kernels.norm.norm_backward import norm_backward_launcher
from flydsl.kernels.norm.strip_backward import WAVE
from flydsl.kernels.norm.strip_plan import BETWEEN, MOVED, TAKING, UNIT, StripPlan, rows_of_words, strip_plan

DTYPES: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
TOLERANCE = {"f32": 4e-6, "f16": 2e-3, "bf16": 1.6e-2}
CANARY = 7.0


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


def size_of(dtype: str) -> int:
    return np.dtype(DTYPES[dtype]).itemsize


class Case:
    """Rows of ``n`` elements that lie ``stride`` apart in matrices that begin ``ahead`` elements behind a multiple of
    16 bytes, with memory around them that nobody may write."""

    def __init__(
        self, n: int, m: int, dtype: str, *, centred: bool = True, added: bool = False, weight: str | None = "",
        stride: int | None = None, ahead: int = 0, others_ahead: int | None = None, seed: int = 0,
    ) -> None:  # fmt: skip
        self.n, self.m, self.dtype, self.centred, self.stride = n, m, dtype, centred, stride or n
        rng = np.random.default_rng([n, m, seed])
        self.x, self.dy, self.dx = (self.matrix(rng, ahead if k != 1 else others_ahead or ahead) for k in range(3))
        self.added = self.matrix(rng, ahead) if added else None
        self.dx_memory = self.dx.base
        self.dx_memory[...] = CANARY
        self.kind = None if weight is None else DTYPES[weight or dtype]
        self.gamma = None if self.kind is None else rng.standard_normal(n).astype(self.kind)
        self.mean = rng.standard_normal(m).astype(np.float32) if centred else None
        self.rstd = (rng.random(m) + 0.5).astype(np.float32)
        self.results = [np.full(n, np.nan, self.kind or np.float32) for _ in range(1 + centred)]

    def matrix(self, rng: np.random.Generator, ahead: int) -> Any:
        size = size_of(self.dtype)
        memory = np.full(max(self.m, 1) * self.stride + 64, np.nan, DTYPES[self.dtype])
        first = (-memory.ctypes.data // size) % (16 // size) + ahead
        found = memory[first : first + self.m * self.stride].reshape(self.m, self.stride)[:, : self.n]
        found[...] = rng.standard_normal(found.shape)
        return found

    def run(self, plan: StripPlan | None, sums: Any = None, blocks: int = HOPPER.processors) -> Any:
        if sums is None:
            held = -(-self.m // plan.rows_of_words) if plan else partial_rows(self.n, self.m)
            sums = np.full((max(held, 1), -(-self.n // 32) * 32), np.nan, np.float32)
        run = norm_backward_launcher(self.centred, self.n, self.dtype, False, self.added is not None, plan, blocks)
        run(
            self.dy, self.x, self.gamma, self.mean, self.rstd, self.dx, self.added, sums,
            np.full_like(sums, np.nan) if self.centred else None, *self.results, *[None] * (2 - len(self.results)),
            self.m,
        )  # fmt: skip
        return run

    def check(self) -> None:
        x, dy = (matrix.astype(np.float64) for matrix in (self.x, self.dy))
        gamma = 1.0 if self.gamma is None else self.gamma.astype(np.float64)
        normed = (x - (self.mean[:, None] if self.mean is not None else 0.0)) * self.rstd[:, None]
        d = dy * gamma
        want = d - normed * (d * normed).mean(1, keepdims=True) - (d.mean(1, keepdims=True) if self.centred else 0.0)
        want = want * self.rstd[:, None] + (0.0 if self.added is None else self.added.astype(np.float64))
        self.compare(self.dx, want, self.dtype)
        own = self.dtype if self.kind is DTYPES[self.dtype] else "f32"
        for found, total in zip(self.results, (dy * normed, dy), strict=False):
            self.compare(found, total.sum(0), own, max(self.m, 1) ** 0.5)
        self.dx[...] = CANARY
        assert (self.dx_memory == CANARY).all(), "something beside the rows was written"

    @staticmethod
    def compare(found: Any, want: Any, dtype: str, terms: float = 4.0) -> None:
        error = np.abs(found.astype(np.float64) - want).max(initial=0.0) / max(np.abs(want).max(initial=0.0), 1e-3)
        assert error < TOLERANCE[dtype] * terms, error


def planned(case: Case, blocks: int, **changed: int) -> StripPlan:
    weight = 0 if case.kind is None else np.dtype(case.kind).itemsize
    plan = strip_plan(case.n, case.dtype, blocks, 2 + (case.added is not None), 1 + case.centred, weight)
    assert plan is not None
    return replace(plan, **changed)


CASES = {
    "four groups, odd rows": (partial(Case, 3001, 70, "bf16"), 3, {"groups": 4}),
    "few rows": (partial(Case, 2501, 3, "f16", centred=False), 2, {"groups": 4}),
    "no row": (partial(Case, 2048, 0, "bf16"), 2, {}),
    "one row": (partial(Case, 4097, 1, "f16"), 2, {}),
    "rows apart, and a sum": (partial(Case, 2003, 37, "f16", stride=2011, added=True, ahead=3), 2, {}),
    "rows an even distance apart": (partial(Case, 2003, 21, "bf16", stride=2006, ahead=1, centred=False), 2, {}),
    "two groups of f32": (partial(Case, 6001, 40, "f32", ahead=1), 2, {"groups": 2}),
    "one group of f32": (partial(Case, 15_887, 9, "f32"), 2, {"groups": 1, "slots": 3, "lag": 1}),
    "one group of 16 bits": (partial(Case, 15_888, 30, "bf16", ahead=1), 2, {"groups": 1, "near": 0}),
    "a weight in shared memory": (partial(Case, 15_887, 21, "bf16", weight="f32"), 2, {"near": 4}),
    "lanes beyond a strip that fills shared memory": (partial(Case, 20_225, 5, "f32", centred=False), 3, {"words": 14}),
    "no weight": (partial(Case, 3333, 11, "bf16", weight=None, centred=False), 3, {}),
    "a strip of few columns": (partial(Case, 337, 50, "f16"), 21, {"words": 1}),
}
"""Rows, blocks, and what the plan is to have: that a case still is what it says."""


@pytest.mark.parametrize("name", CASES)
def test_gradients_by_strips(name: str) -> None:
    make, blocks, wanted = CASES[name]
    case = make()
    plan = planned(case, blocks)
    assert {field: getattr(plan, field) for field in wanted} == wanted
    launcher = case.run(plan)
    case.check()
    kernels = [kernel for one in launcher.specialisations for kernel in one.kernels if "strips" in kernel.name]
    assert kernels and all(plan.shared - BETWEEN <= kernel.shared_bytes <= plan.shared for kernel in kernels)


@pytest.mark.parametrize(
    "changed", [{"lag": 4, "delay": 0}, {"lag": 16, "delay": 8}, {"slots": 20, "lag": 16}], ids=str
)
def test_rows_wait_longer_or_shorter(changed: dict[str, int]) -> None:
    case = Case(4001, 75, "bf16", seed=1)
    case.run(planned(case, 2, **changed))
    case.check()


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    n=st.integers(64, 5000), m=st.integers(0, 90), dtype=st.sampled_from(sorted(DTYPES)), blocks=st.integers(1, 4),
    ahead=st.integers(0, 3), apart=st.integers(0, 9), centred=st.booleans(), added=st.booleans(),
    seed=st.integers(0, 1000),
)  # fmt: skip
def test_any_rows(
    n: int, m: int, dtype: str, blocks: int, ahead: int, apart: int, centred: bool, added: bool, seed: int
) -> None:
    case = Case(n, m, dtype, centred=centred, added=added, stride=n + apart, ahead=ahead, seed=seed)
    case.run(planned(case, blocks))
    case.check()


def test_dx_may_take_the_place_of_a_source() -> None:
    case = Case(3001, 33, "bf16", seed=2)
    gone = case.x.copy()
    case.dx, case.dx_memory = case.x, case.x.base
    case.run(planned(case, 3))
    found, case.x = case.dx.copy(), gone
    case.dx = np.full_like(gone, CANARY)
    case.dx_memory, case.dx = case.dx, case.dx.copy()
    case.dx[...] = found
    case.compare(case.dx, _dx_of(case), "bf16")


def _dx_of(case: Case) -> Any:
    x, dy, gamma = (array.astype(np.float64) for array in (case.x, case.dy, case.gamma))
    normed, d = (x - case.mean[:, None]) * case.rstd[:, None], dy * gamma
    return (d - d.mean(1, keepdims=True) - normed * (d * normed).mean(1, keepdims=True)) * case.rstd[:, None]


@pytest.mark.parametrize("why", ["rows of one matrix begin elsewhere in words", "no place for words"])
def test_rows_that_no_strips_fit_are_read_twice(why: str) -> None:
    """Launches find out when they are made: what is compiled has both ways."""
    elsewhere = why.startswith("rows")
    case = Case(5001, 40, "bf16", ahead=2, others_ahead=3 if elsewhere else 2)
    plan = planned(case, 2)
    narrow = np.full((1, 5024), np.nan, np.float32)
    assert elsewhere or -(-40 // plan.rows_of_words) <= 1
    if not elsewhere:
        narrow = np.full((1, 5025), np.nan, np.float32)[:, 1:]  # words begin in the middle of eight bytes
        narrow = narrow if narrow.ctypes.data % 8 else np.full((1, 5026), np.nan, np.float32)[:, 1:-1]
    case.run(plan, sums=narrow)
    case.check()


@pytest.mark.parametrize(
    ("n", "dtype", "centred", "blocks", "by_strips"),
    [
        (262_144, "bf16", True, 132, True), (206_850, "f16", True, 132, True), (186_001, "bf16", True, 132, False),
        (206_001, "bf16", False, 132, True), (190_001, "f16", False, 132, False), (160_001, "f32", True, 132, True),
        (262_144, "bf16", False, 132, False), (90_001, "f32", False, 132, False),
        (262_144, "bf16", True, 114, True), (262_144, "bf16", True, 16, False),
    ],
)  # fmt: skip
def test_which_rows_are_divided_over_all_blocks(
    n: int, dtype: str, centred: bool, blocks: int, by_strips: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of which a multiprocessor moves many bytes, or that no ring can sum, if a strip has place in a block."""

    class StripsError(Exception):
        pass

    class RingError(Exception):
        pass

    def raised(what: type[Exception]) -> Any:
        def run(*_: Any) -> None:
            raise what

        return run

    monkeypatch.setattr(norm_backward, "fit_strips", raised(StripsError))
    monkeypatch.setattr(norm_backward, "require_places", raised(RingError))
    norm_backward_launcher.cache_clear()
    with pytest.raises(StripsError if by_strips else RingError):
        Case(n, 1, dtype, centred=centred).run(None, blocks=blocks)
    norm_backward_launcher.cache_clear()


@pytest.mark.parametrize(("hip", "available", "blocks"), [(None, True, 114), (None, False, 132), ("7.0", True, 132)])
def test_modules_divide_rows_over_the_gpu_that_is_there(
    hip: str | None, available: bool, blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks that wait for each other cannot be more than there are multiprocessors."""
    facts = SimpleNamespace(multi_processor_count=114)
    cuda = SimpleNamespace(
        is_available=lambda: available, current_device=lambda: 0, get_device_properties=lambda _: facts
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(version=SimpleNamespace(hip=hip), cuda=cuda))
    inputs.multiprocessors_of.cache_clear()
    for module, build in ((layernorm, "build_layernorm_bwd_module"), (rmsnorm, "build_rmsnorm_bwd_module")):
        given: list[Any] = []
        monkeypatch.setattr(module, "norm_backward_launcher", lambda *arguments, given=given: given.extend(arguments))
        getattr(module, build).__wrapped__(262_144, "bf16")
        assert given[-1] == blocks
    inputs.multiprocessors_of.cache_clear()


def test_a_gradient_by_ops_of_rows_of_all_blocks() -> None:
    torch = pytest.importorskip("torch")
    n, blocks = 208_001, HOPPER.processors
    plan = strip_plan(n, "bf16", blocks, 2, 2, 2)
    assert plan is not None and plan.moved >= MOVED[2, True]
    x, dy = (torch.randn(2, n).to(torch.bfloat16) for _ in range(2))
    weights = [torch.randn(n).to(torch.bfloat16) for _ in range(2)]
    leaves = [tensor.clone().requires_grad_() for tensor in (x, *weights)]
    ops.layer_norm(leaves[0], (n,), *leaves[1:], eps=1e-5).backward(dy)
    wide = [tensor.double().requires_grad_() for tensor in (x, *weights)]
    torch.nn.functional.layer_norm(wide[0], (n,), *wide[1:], eps=1e-5).backward(dy.double())
    for ours, theirs in zip(leaves, wide, strict=True):
        assert ours.grad is not None and theirs.grad is not None
        assert float((ours.grad.double() - theirs.grad).abs().max() / theirs.grad.abs().max()) < 1e-2


def test_plans_have_place_for_all_columns_and_fit_a_multiprocessor() -> None:
    rng = np.random.default_rng(17)
    lengths = [*np.exp(rng.uniform(np.log(20_000), np.log(1 << 20), 60)).astype(int), 262_143, 262_144, 1 << 20]
    found = 0
    for n in map(int, lengths):
        for dtype, sums, sources in (("bf16", 2, 2), ("f16", 1, 3), ("f32", 2, 2), ("f32", 1, 2)):
            for blocks in (132, 114, 78):
                plan = strip_plan(n, dtype, blocks, sources, sums, size_of(dtype))
                if plan is None:
                    continue
                found += 1
                assert plan.lanes * plan.words * plan.per_word >= plan.columns + plan.per_word - 1
                assert plan.columns * blocks >= n > (plan.columns - UNIT) * blocks
                assert plan.slots > plan.lag >= max(plan.groups, plan.delay)  # others would wait for ever
                assert plan.slots % plan.senders == 0 == plan.lag % plan.groups
                assert plan.told >= plan.lag + plan.groups + plan.delay
                assert plan.shared <= HOPPER.shared and plan.slots >= plan.groups * plan.per_word
                assert plan.registers * plan.threads <= 65_536 and plan.waves * plan.groups == TAKING
                assert (plan.taking * TAKING + 40 * (plan.threads // WAVE - TAKING)) * WAVE <= 65_536
                assert partial_shape(n, 5000)[0] * rows_of_words(n, blocks) >= 5000 or blocks < 132
    assert found > 400

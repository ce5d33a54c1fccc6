"""The cases that `tests/gpu` runs on a real GPU, on the virtual one: its tensors, guards and references are right."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import flydsl.compiler as flyc
from tests.support import kernel_cases as cases
from tests.support.kernel_cases import Case

pytestmark = pytest.mark.torch

ROWS = [("f32", (3, 7)), ("bf16", (2, 1000)), ("f16", (3, 4097)), ("f32", (1, 1)), ("bf16", (2, 20000))]


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


def twice(case: Case) -> None:
    for _ in range(2):
        case.poison()
        case.run(None)
        case.check(case.out)
        case.refill()


@pytest.mark.parametrize(("dtype", "shape"), ROWS, ids=str)
@pytest.mark.parametrize("name", cases.ROW_KERNELS)
def test_rows(name: str, dtype: str, shape: tuple[int, int], torch: ModuleType) -> None:
    twice(cases.row_case(torch, name, dtype, shape, "cpu"))


@pytest.mark.parametrize("dtype", cases.DTYPES)
@pytest.mark.parametrize("name", cases.GEMMS)
def test_gemms(name: str, dtype: str, torch: ModuleType) -> None:
    twice(cases.gemm_case(torch, name, dtype, (65, 70, 34), "cpu"))


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_hopper_gemm(dtype: str, torch: ModuleType) -> None:
    twice(cases.hopper_case(torch, dtype, (70, 72, 40), "cpu"))


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_preshuffle_gemm(dtype: str, torch: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    twice(cases.preshuffle_case(torch, dtype, (70, 128, 128), "cpu"))


@pytest.mark.parametrize("name", cases.EXAMPLES)
def test_examples(name: str, torch: ModuleType) -> None:
    twice(cases.example_case(torch, name, flyc.current_device().target.generation, "cpu"))


@pytest.mark.parametrize("place", ["inside", "beside"])
def test_a_wrong_element_is_found(place: str, torch: ModuleType) -> None:
    case = cases.row_case(torch, "softmax", "bf16", (3, 7), "cpu")
    case.poison()
    case.run(None)
    wrong: Any = case.out if place == "inside" else case.guards[0][None]
    largest = int(case.out[0].float().argmax())  # a small element may be wrong by more than that
    wrong[0, largest] = wrong[0, largest] * 1.02 if place == "inside" else 1.0
    with pytest.raises(AssertionError, match="1 of 21 are wrong" if place == "inside" else "were written"):
        case.check(case.out)

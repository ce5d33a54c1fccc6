"""Every planted fault is reported: check, line, tensor, coordinate, block and threads; without it, nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest

import flydsl.compiler as flyc
from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, FlyDSLError, SanitizerError
from flydsl.compiler.options.hints import CHECKS, ON_REQUEST
from tests.unit.sanitize import (
    planted_async_amd,
    planted_async_copies,
    planted_async_products,
    planted_barrier,
    planted_bounds,
    planted_fields,
    planted_modes,
    planted_race,
    planted_uninit,
)
from tests.unit.sanitize.planting import Planted

ASYNC = [*planted_async_copies.CASES, *planted_async_amd.CASES, *planted_async_products.CASES]
CASES = [
    case
    for module in (planted_bounds, planted_fields, planted_modes, planted_race, planted_uninit, planted_barrier)
    for case in module.CASES
] + ASYNC
TOGETHER = ("race", "barrier", "async")
"""Checks of what several waves, or a wave and what goes on beside it, do to each other."""

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.check}-{case.name}")


def test_the_suite_is_large_enough() -> None:
    assert len(CASES) >= 80
    assert sum(case.check in TOGETHER for case in CASES) >= len(CASES) / 2
    assert {case.check for case in CASES} == {"bounds", "race", "uninit", "barrier", "async", "modes"}


@every_case
def test_fault_is_found(case: Planted) -> None:
    checks = (case.check,) if case.alone else ()
    with pytest.raises(SanitizerError) as caught, flyc.sanitize(*checks):
        case.execute(1)
    error, fault = caught.value, caught.value.fault
    assert isinstance(error, FlyDSLError) and isinstance(error, RuntimeError)
    assert error.location is not None
    assert (Path(error.location.file).resolve(), error.location.line) == (Path(case.file), case.line("FAULT"))
    assert fault.check == case.check
    assert (fault.tensor, fault.coordinate) == (case.tensor, case.coordinate)
    assert (fault.place.block, fault.place.thread) == ((case.block, 0, 0), (case.thread, 0, 0))
    if case.other_thread is not None:
        assert fault.other is not None
        assert fault.other.thread == (case.other_thread, 0, 0)
        assert fault.other.block == (case.block if case.other_block is None else case.other_block, 0, 0)
    if case.has_other_line:
        assert fault.other is not None and fault.other.location is not None
        assert fault.other.location.line == case.line("OTHER")
    for part in (case.tensor, str(fault.place.thread)):
        assert part in str(error)


@every_case
def test_same_kernel_without_the_fault_is_silent(case: Planted) -> None:
    with flyc.sanitize(*CHECKS, *ON_REQUEST):
        case.execute(0)


@every_case
def test_only_the_asked_check_is_made(case: Planted) -> None:
    with pytest.raises(SanitizerError) as caught, flyc.sanitize(case.check):
        case.execute(1)
    assert caught.value.fault.check == case.check


@pytest.mark.parametrize("case", planted_barrier.CASES, ids=lambda case: case.name)
def test_a_stray_barrier_is_an_error_in_any_case(case: Planted) -> None:
    with pytest.raises(DslRuntimeError, match="only part of a wave") as caught:
        case.execute(1)
    assert caught.value.location is not None and caught.value.location.line == case.line("FAULT")


@pytest.mark.parametrize("case", [case for case in ASYNC if case.garbage], ids=lambda case: case.name)
def test_work_that_nobody_waits_for_arrives_too_late(case: Planted) -> None:
    with pytest.raises(AssertionError):
        case.execute(1)


@pytest.mark.parametrize("case", ASYNC, ids=lambda case: case.name)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_right_program_does_not_depend_on_when_work_arrives(case: Planted, seed: int) -> None:
    with knobs.scope({knobs.ASYNC_SEED: seed}):
        case.execute(0)

"""The comparison of outputs, and the memory it is made on."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.autotune.agreement import Agreement, difference
from flydsl.autotune.buffers import Snapshot
from flydsl.compiler.backends.base import device_of
from flydsl.runtime import array_view
from tests.support import random_data

HOST = device_of([("host", 0)])


def snapshot(**arrays: Any) -> Snapshot:
    views = {name: array_view.of(array) for name, array in arrays.items()}
    return Snapshot({name: view for name, view in views.items() if view is not None}, HOST)


def verdict(before: np.ndarray, reference: np.ndarray, got: np.ndarray, check: Any = None) -> str | None:
    """What the comparison says of a run that left ``got`` where the reference left ``reference``."""
    array = before.copy()
    agreement = Agreement(snapshot(X=array), check)
    array[...] = reference
    agreement.take_reference()
    array[...] = got
    return agreement.disagreement()


@pytest.mark.parametrize(
    ("dtype", "small", "large"),
    [
        (np.float64, 1e-12, 1e-8),
        (np.float32, 1e-5, 1e-2),
        (np.float16, 1e-3, 5e-2),
        (ml_dtypes.bfloat16, 1e-2, 2e-1),
        (ml_dtypes.float8_e4m3fn, 0.1, 2.0),
    ],
)
def test_tolerances_follow_the_type(dtype: Any, small: float, large: float, rng: np.random.Generator) -> None:
    reference = rng.uniform(0.5, 2.0, 64)
    before = np.zeros(64, dtype)
    assert verdict(before, reference.astype(dtype), (reference * (1 + small)).astype(dtype)) is None
    found = verdict(before, reference.astype(dtype), (reference * (1 + large)).astype(dtype))
    assert found is not None and found.startswith("X differs in ")


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.int32, np.bool_])
def test_integers_have_to_be_equal(dtype: Any) -> None:
    reference = np.ones(9, dtype)
    got = reference.copy()
    assert verdict(np.zeros(9, dtype), reference, got) is None
    got[4] = 0
    said = f"X differs in 1 of 9 elements, first at [4]: {got[4]} instead of {reference[4]}"
    assert verdict(np.zeros(9, dtype), reference, got) == said


def test_large_integers_are_compared_exactly() -> None:
    reference = np.array([2**63], np.uint64)
    assert verdict(np.zeros(1, np.uint64), reference, reference + np.uint64(1)) is not None


def test_small_elements_among_large_ones() -> None:
    reference = np.array([1.0, 1e-9], np.float32)
    assert verdict(np.zeros(2, np.float32), reference, np.array([1.0, 1e-6], np.float32)) is None
    assert verdict(np.zeros(2, np.float32), reference, np.array([1.0, 1e-2], np.float32)) is not None


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("reference", "got", "agrees"),
    [
        ([NAN, 1.0], [NAN, 1.0], True),
        ([NAN, 1.0], [0.0, 1.0], False),
        ([0.0, 1.0], [NAN, 1.0], False),
        ([INF, 1.0], [INF, 1.0], True),
        ([INF, 1.0], [-INF, 1.0], False),
        ([INF, 1.0], [3e38, 1.0], False),
        ([3e38, 1.0], [INF, 1.0], False),
        ([0.0, 1.0], [-0.0, 1.0], True),
        ([0.0, 0.0], [1e-30, 0.0], False),
    ],
)
def test_special_values(reference: list[float], got: list[float], agrees: bool) -> None:
    arrays = (np.array(values, np.float32) for values in ([7.0, 7.0], reference, got))
    assert (verdict(*arrays) is None) is agrees


def test_checks_of_the_user() -> None:
    before, reference, got = np.zeros(3), np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.1, 3.0])
    assert verdict(before, reference, got, 0.2) is None and verdict(before, reference, got, 0.001) is not None
    assert verdict(before, reference, got, (0.0, 0.11)) is None and verdict(before, reference, got, (0.0, 0.09))
    assert verdict(before, reference, got, lambda got, expected: got["X"][0] == expected["X"][0]) is None
    assert verdict(before, reference, got, lambda got, expected: None) is None, "a check that raises nothing agrees"
    assert verdict(before, reference, got, lambda got, expected: np.bool_(False)) is not None


def test_a_tensor_that_only_one_of_them_writes() -> None:
    before = np.zeros(3)
    assert verdict(before, before, np.array([0.0, 5.0, 0.0])) is not None
    assert verdict(before, np.array([0.0, 5.0, 0.0]), before) is not None


def test_empty_tensors_agree() -> None:
    assert difference(np.zeros((0, 3)), np.zeros((0, 3)), 0.0) is None


# Memory --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.bool_, np.int64, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2])
def test_contents_are_put_back(dtype: Any) -> None:
    array = random_data.generator().integers(0, 2, (5, 7)).astype(dtype)
    before = array.copy()
    saved = snapshot(X=array)
    array[...] = 1 - before.astype(np.int64)
    saved.restore(["Y"])
    assert not np.array_equal(array, before)
    saved.restore()
    np.testing.assert_array_equal(array, before)
    saved.buffers["X"].zero(0)
    assert not array.astype(np.float32).any()


class OnlyDLPack:
    """An array known by its DLPack capsule alone."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **_: Any) -> Any:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize(
    "view",
    [lambda a: a[1:-1, 2:], lambda a: a.T, lambda a: a[::2], lambda a: a[0], lambda a: a[:0]],
    ids=["window", "transposed", "steps", "row", "empty"],
)
@pytest.mark.parametrize("wrap", [lambda a: a, OnlyDLPack], ids=["numpy", "dlpack"])
def test_views_keep_what_is_between_their_elements(view: Any, wrap: Any) -> None:
    base = random_data.generator().standard_normal((6, 8)).astype(np.float32)
    part, before = view(base), base.copy()
    saved = snapshot(X=wrap(part))
    base += 1
    moved = base.copy()
    saved.restore()
    np.testing.assert_array_equal(part, view(before))
    part += np.float32(0)
    view(moved)[...] = view(before)
    np.testing.assert_array_equal(base, moved)


def test_a_negative_stride() -> None:
    base = np.arange(6.0)
    saved = snapshot(X=base[::-1])
    base[...] = 0
    saved.restore()
    np.testing.assert_array_equal(base, np.arange(6.0))


def test_repeated_elements() -> None:
    base = np.arange(3.0)
    repeated = np.lib.stride_tricks.as_strided(base, (4, 3), (0, 8))
    saved = snapshot(X=repeated)
    base[...] = 0
    saved.restore()
    np.testing.assert_array_equal(base, np.arange(3.0))


def test_read_only_arrays_are_left_alone() -> None:
    array = np.arange(3.0)
    array.setflags(write=False)
    assert snapshot(X=array).buffers == {}


def test_a_description_cannot_be_measured_with() -> None:
    with pytest.raises(TypeError, match="holds nothing to measure with"):
        snapshot(X=flyc.TensorSpec((3,), np.float32))

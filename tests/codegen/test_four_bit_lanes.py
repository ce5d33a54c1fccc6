"""Words taken apart into four-bit elements and put together: right on the host, and without scratch on AMD GPUs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.tools.assembly import fact
from tests.unit.rocdl.device_code import AMD, assembly, launcher

LANES, THREADS = 8, 64
CODES = np.arange(THREADS * LANES).reshape(THREADS, LANES) * 7 % 16
PLACES = 4 * np.arange(LANES, dtype=np.uint32)
WORDS = (CODES.astype(np.uint32) << PLACES).sum(1, dtype=np.uint32).view(np.int32)
SIGNED = (CODES ^ 8) - 8
HALVES = np.array([0, 1, 2, 3, 4, 6, 8, 12] + [0, -1, -2, -3, -4, -6, -8, -12])[CODES]
"""Twice the value of each code of fp4."""


def taken_apart(word: Any, element: Any) -> Any:
    return fx.Vector.from_elements([word], fx.Int32).bitcast(element)


def widened(word: Any) -> Any:
    return taken_apart(word, fx.Int4).to(fx.Int32)


def as_floats(word: Any) -> Any:
    return taken_apart(word, fx.Int4).to(fx.Float32).to(fx.Int32)


def fp4(word: Any) -> Any:
    return (taken_apart(word, fx.Float4E2M1FN).to(fx.Float32) * 2.0).to(fx.Int32)


def fp4_of_half_a_word(word: Any) -> Any:
    short = fx.Vector.from_elements([word.to(fx.Int16)], fx.Int16).bitcast(fx.Float4E2M1FN)
    return (short.to(fx.Float32) * 2.0).to(fx.Int32)


def narrowed_to_half_a_word(word: Any) -> Any:
    whole = (taken_apart(word, fx.Float4E2M1FN)).to(fx.Float32)
    half = fx.Vector.from_elements([whole[lane] for lane in range(4)], fx.Float32)
    return half.to(fx.Float4E2M1FN).bitcast(fx.Int16).to(fx.Int32) & 0xFFFF


def one_by_one(word: Any) -> Any:
    four = taken_apart(word, fx.Int4)
    return fx.Vector.from_elements([four[lane].to(fx.Int32) for lane in range(LANES)], fx.Int32)


def put_together(word: Any) -> Any:
    four = taken_apart(word, fx.Int4)
    return fx.Vector.from_elements([four[LANES - 1 - lane] for lane in range(LANES)], fx.Int4).bitcast(fx.Int32)


def truncated(word: Any) -> Any:
    return (taken_apart(word, fx.Int4).to(fx.Int32) + 16).to(fx.Int4).bitcast(fx.Int32)


def narrowed(word: Any) -> Any:
    return taken_apart(word, fx.Float4E2M1FN).to(fx.Float32).to(fx.Float4E2M1FN).bitcast(fx.Int32)


def there_and_back(word: Any) -> Any:
    return taken_apart(word, fx.Float4E2M1FN).bitcast(fx.Int32)


TURNED = (CODES[:, ::-1].astype(np.uint32) << PLACES).sum(1, dtype=np.uint32).view(np.int32)
WAYS: dict[Callable[[Any], Any], Any] = {
    widened: SIGNED, as_floats: SIGNED, fp4: HALVES, fp4_of_half_a_word: HALVES[:, :4], one_by_one: SIGNED,
    put_together: TURNED[:, None], truncated: WORDS[:, None], narrowed: WORDS[:, None],
    narrowed_to_half_a_word: WORDS[:, None] & 0xFFFF, there_and_back: WORDS[:, None],
}  # fmt: skip


def program(way: Callable[[Any], Any], lanes: int) -> Any:
    def body(x: Any, y: Any, thread: Any) -> None:
        found = way(x[thread])
        for lane in range(lanes):
            y[thread * lanes + lane] = found[lane]

    return launcher(body, THREADS)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_elements_are_right(way: Callable[[Any], Any]) -> None:
    wanted = WAYS[way]
    found = np.zeros(wanted.size, np.int32)
    program(way, wanted.shape[1])(WORDS, found)
    np.testing.assert_array_equal(found, wanted.reshape(-1))


@pytest.mark.parametrize("arch", AMD)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_no_scratch_is_reserved(way: Callable[[Any], Any], arch: str) -> None:
    lanes = WAYS[way].shape[1]
    text = assembly(program(way, lanes), (WORDS, np.zeros(THREADS * lanes, np.int32)), arch)
    assert fact(text, "private_segment_fixed_size") == 0
    if way is there_and_back:
        assert "v_bfe" not in text and "v_and" not in text, "casts that cancel leave nothing"

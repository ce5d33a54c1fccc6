"""FlyDSL's own entry points of paged decoding, over caches in blocks of 16, on the virtual gfx942."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from kernels.attention.pa_decode_tile import pa_decode_tile
from kernels.pa_decode_fp8 import pa_decode_ps_launch
from tests.support import random_data
from tests.support.attention_reference import attend

LENGTHS, PAGE, HEADS, KV, D = [300, 37, 1], 16, 4, 2, 64


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


class Case:
    """Sequences as they are, and in caches; places that no token has are NaN."""

    def __init__(self, turned: bool, tokens: int = 1) -> None:
        rng = random_data.generator()
        counts = [-(-length // PAGE) for length in LENGTHS]
        self.pages = rng.permutation(sum(counts)).astype(np.int32)
        self.starts = np.array([0, *np.cumsum(counts)], np.int32)
        self.tables = np.full((len(LENGTHS), max(counts)), -1, np.int32)
        shape = (sum(counts), PAGE, KV, D)
        flat = [np.full(shape, np.nan, ml_dtypes.float8_e4m3fnuz) for _ in range(2)]
        self.contents = []
        for row, (length, count) in enumerate(zip(LENGTHS, counts, strict=True)):
            mine = self.pages[self.starts[row] : self.starts[row + 1]]
            self.tables[row, :count] = mine
            self.contents.append([rng.uniform(-1, 1, (length, KV, D)).astype(flat[0].dtype) for _ in range(2)])
            for cache, content in zip(flat, self.contents[-1], strict=True):
                for at in range(length):
                    cache[mine[at // PAGE], at % PAGE] = content[at]
        self.scales = [rng.uniform(0.5, 2, (shape[0], KV, PAGE)).astype(np.float32) for _ in range(2)]
        self.key_cache = flat[0].reshape(-1, PAGE, KV, D // 16, 16).transpose(0, 2, 3, 1, 4).copy()
        values = flat[1].transpose(0, 2, 3, 1)  # pages, kv heads, d, tokens
        self.value_cache = (
            values.reshape(-1, KV, D, PAGE // 16, 16).transpose(0, 1, 3, 2, 4).copy() if turned else values.copy()
        )
        self.lengths, self.tokens = np.array(LENGTHS, np.int32), tokens
        self.query = rng.uniform(-1, 1, (len(LENGTHS) * tokens, HEADS, D)).astype(np.float16)
        self.output = np.full(self.query.shape, np.nan, np.float16)

    def check(self, scales: Any, window: int | None = None) -> None:
        """``scales`` are numbers, or those of each token."""
        for row, content in enumerate(self.contents):
            wide = []
            for x, scale in zip(content, scales, strict=True):
                if np.ndim(scale) == 3:
                    of_row = (
                        scale[self.tables[row][: -(-len(x) // PAGE)]].swapaxes(1, 2).reshape(-1, KV)[: len(x), :, None]
                    )
                    wide.append(x.astype(np.float64) * of_row)
                else:
                    wide.append(x.astype(np.float64) * scale)
            mine = slice(row * self.tokens, (row + 1) * self.tokens)
            parts = [x.swapaxes(0, 1)[None] for x in (self.query[mine], *wide)]
            expected = attend(*parts, is_causal=True, window=(window, None))
            found = self.output[mine].swapaxes(0, 1)[None].astype(np.float64)
            # Keys and values are rounded to 16 bits once more where they have scales of their own.
            assert (np.abs(found - expected.out) <= 3 * expected.bound + 2e-3).all(), row


def test_a_table() -> None:
    """Scales of each token, values turned, and scales as numbers."""
    case = Case(turned=True)
    pa_decode_tile(case.output, case.query, case.key_cache, case.value_cache, case.tables, case.lengths, *case.scales)
    case.check(case.scales)
    pa_decode_tile(case.output, case.query, case.key_cache, case.value_cache, case.tables, case.lengths, 0.5, 2.0)
    case.check((0.5, 2.0))


def test_a_list_of_pages() -> None:
    """Two new tokens a sequence, a window, values that are not turned."""
    case = Case(turned=False, tokens=2)
    way = pa_decode_ps_launch(
        case.output, case.query, case.key_cache, case.value_cache, case.lengths, case.pages, case.starts, None,
        np.array([0.5], np.float32), sliding_window=100,
    )  # fmt: skip
    assert way == "ps_small_block"
    case.check((0.5, 1.0), window=100)


@pytest.mark.parametrize("place", [0, 1])
def test_caches_that_are_parts_of_one_array_are_refused(place: int) -> None:
    """Keys beside values of each page: what lies between pages would be taken for pages."""
    case = Case(turned=True)
    caches = [case.key_cache, case.value_cache]
    caches[place] = np.stack([caches[place]] * 2, 1)[:, 0]
    with pytest.raises(RuntimeError, match="is taken as it lies, and its elements lie apart"):
        pa_decode_tile(case.output, case.query, *caches, case.tables, case.lengths, 0.5, 2.0)


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(turned=False)
    with pytest.raises(ValueError, match=r"key_cache is \(pages, kv heads, d / 16, tokens, 16\)"):
        pa_decode_tile(case.output, case.query, case.value_cache, case.value_cache, case.tables, case.lengths, 1.0, 1.0)
    with pytest.raises(ValueError, match="shapes do not fit"):
        pa_decode_tile(case.output, case.query, case.key_cache, case.key_cache, case.tables, case.lengths, 1.0, 1.0)
    given = (case.query, case.key_cache, case.value_cache, case.tables, case.lengths, 1.0, 1.0)
    with pytest.raises(NotImplementedError, match="sliding_window is not supported by pa_decode_tile"):
        pa_decode_tile(case.output, *given, sliding_window=100, num_partitions=4)
    with pytest.raises(ValueError, match=r"3 sequences have \(2, 19\) tables"):
        pa_decode_tile(case.output, *given[:3], case.tables[:2], *given[4:])
    listed = (case.lengths, case.pages, case.starts, None, 1.0, 1.0)
    with pytest.raises(ValueError, match="sliding_window is 0 for all keys"):
        pa_decode_ps_launch(case.output, *given[:3], *listed, sliding_window=-1)
    with pytest.raises(NotImplementedError, match="query_scale is not supported by pa_decode_ps_launch"):
        pa_decode_ps_launch(case.output, *given[:3], *listed, query_scale=0.5)
    monkeypatch.setenv("ARCH", "sm_90a")
    with pytest.raises(NotImplementedError, match="are for AMD"):
        pa_decode_tile(case.output, case.query, case.key_cache, case.value_cache, case.tables, case.lengths, 1.0, 1.0)

"""FlyDSL's own entry points of paged decoding, over caches in blocks of 16, on the virtual gfx942."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from kernels.attention.pa_decode_tile import pa_decode_tile
from kernels.pa_decode_fp8 import pa_decode_ps_launch

LENGTHS, PAGE, HEADS, KV, D, PAGES = [300, 37, 1], 16, 4, 2, 64, 23


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


class Case:
    """Three sequences in caches of zeros; `test_crossed_caches` has what is computed."""

    def __init__(self, turned: bool) -> None:
        counts = [-(-length // PAGE) for length in LENGTHS]
        self.pages, self.starts = np.arange(PAGES, dtype=np.int32), np.array([0, *np.cumsum(counts)], np.int32)
        self.tables, self.lengths = np.zeros((len(LENGTHS), max(counts)), np.int32), np.array(LENGTHS, np.int32)
        self.key_cache = np.zeros((PAGES, KV, D // 16, PAGE, 16), ml_dtypes.float8_e4m3fnuz)
        values = (PAGES, KV, PAGE // 16, D, 16) if turned else (PAGES, KV, D, PAGE)
        self.value_cache = np.zeros(values, ml_dtypes.float8_e4m3fnuz)
        self.query, self.output = (np.zeros((len(LENGTHS), HEADS, D), np.float16) for _ in range(2))


def test_names_of_ways() -> None:
    case, listed = Case(turned=False), (np.zeros(1, np.int32), np.zeros(2, np.int32))
    given = (case.output[:0], case.query[:0], case.key_cache, case.value_cache, case.lengths[:0], *listed)
    assert pa_decode_ps_launch(*given) == "ps_small_block"


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

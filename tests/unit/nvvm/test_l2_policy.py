"""Priorities in the second-level cache: the instructions that carry them, and that what they move stays the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.target.copy_nvvm import L2_PRIORITIES, under_policy
from tests.support import random_data
from tests.unit.nvvm.running import Shared, launcher, ptx, run

nvvm = fx.nvvm
FORM = {32: ".b32", 64: ".v2.b32", 128: ".v4.b32"}
COPIES = {
    "load": "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes",
    "multicast": "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
    "store": "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group",
    "reduce": "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group",
    "bulk load": "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
    "bulk store": "cp.async.bulk.global.shared::cta.bulk_group",
}
"""What the copies of `moving` are in PTX, without a priority."""


def copying(bits: int, hint: str, l2: str | None) -> Any:
    """A body in which each thread copies ``bits`` of int32."""
    width = bits // 32
    atom = nvvm.CachedCopy(bits, hint, l2=l2)

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        thread = fx.thread_idx.x
        source, target = (fx.logical_divide(t, fx.make_layout(width, 1)) for t in (a, out))
        held = fx.make_rmem_tensor(width, fx.Int32)
        fx.copy_atom_call(fx.make_copy_atom(atom, fx.Int32), source[None, thread], held)
        fx.copy_atom_call(fx.make_copy_atom(atom, fx.Int32), held, target[None, thread])

    return body


def moving(l2: str | None) -> Any:
    """A body of two blocks: a box for both is stored and added, then another box and bytes without a map are moved."""

    def body(source: fx.Tensor, target: fx.Tensor, words: fx.Tensor) -> None:
        shared = Shared()
        place, barrier = shared.pointer(64, fx.Int32), shared.barriers()
        rank = nvvm.block_rank_in_cluster()
        if fx.thread_idx.x == 0:
            nvvm.mbarrier_init(barrier, 1)
            nvvm.fence_mbarrier_init()
        nvvm.cluster_sync()
        if fx.thread_idx.x == 0:
            nvvm.mbarrier_arrive_expect_tx(barrier, source.bytes)
        nvvm.cluster_sync()
        if (fx.thread_idx.x == 0) & (rank == 0):
            nvvm.tma_load(source, (0, 8), place, barrier, multicast=3, l2=l2)
        nvvm.mbarrier_wait(barrier, 0)
        if fx.thread_idx.x == 0:
            nvvm.tma_store(target, place, (rank * 4, 0), l2=l2)
            nvvm.tma_reduce(target, place, (rank * 4, 0), "add", l2=l2)
            nvvm.tma_commit_group()
            nvvm.tma_wait_group(0)
            nvvm.mbarrier_arrive_expect_tx(barrier, 64 + source.bytes)
            nvvm.tma_load(source, (4, 0), place, barrier, l2=l2)
            nvvm.bulk_load(fx.get_iter(words) + 4, place + 32, 64, barrier, l2=l2)
            nvvm.mbarrier_wait(barrier, 1)
            nvvm.bulk_store(place, fx.get_iter(words) + (32 + rank * 48), 192, l2=l2)
            nvvm.tma_commit_group()
            nvvm.tma_wait_group(0)
        nvvm.cluster_sync()

    return body


def maps(source: Any, target: Any, words: Any) -> tuple[Any, ...]:
    return nvvm.make_tensor_map(source, (4, 8), "none"), nvvm.make_tensor_map(target, (4, 8), "none"), words


LAUNCH: dict[str, Any] = {"threads": 32, "grid": 2, "cluster": 2, "maps": maps}


def arrays() -> tuple[Any, ...]:
    random = random_data.generator()
    source, words = (random.integers(-1000, 1000, shape, np.int32) for shape in ((8, 16), (128,)))
    return source, np.full((8, 8), -1, np.int32), words


@pytest.mark.parametrize("l2", [None, *L2_PRIORITIES])
def test_every_copy_moves_the_same_under_any_priority(l2: str | None) -> None:
    source, target, words = arrays()
    run(moving(l2), source, target, words, **LAUNCH)
    box = source[:4, 8:]
    np.testing.assert_array_equal(target, np.concatenate([box, box]) * 2)
    np.testing.assert_array_equal(words[32:], np.concatenate([source[4:, :8].reshape(-1), words[4:20]] * 2))


@pytest.mark.parametrize("l2", L2_PRIORITIES)
@pytest.mark.parametrize("bits", [32, 64, 128])
def test_accesses_move_the_same_under_any_priority(bits: int, l2: str) -> None:
    a, out = random_data.generator().integers(-1000, 1000, bits, np.int32), np.full(bits, -1, np.int32)
    run(copying(bits, "evict_last", l2), a, out)
    np.testing.assert_array_equal(out, a)


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("l2", [None, *L2_PRIORITIES])
def test_copies_carry_their_priority(copy: str, l2: str | None) -> None:
    text = ptx(launcher(moving(l2), 3, **LAUNCH), arrays())
    name = COPIES[copy]
    assert f"{name}.L2::cache_hint [" in text if l2 else f"{name} [" in text
    assert text.count("createpolicy") == (len(COPIES) if l2 else 0)
    assert l2 is None or f"createpolicy.fractional.L2::{l2}.b64" in text


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("hint", ["always", "no_allocate", "evict_last"])
@pytest.mark.parametrize("l2", L2_PRIORITIES)
def test_accesses_carry_their_priority(l2: str, hint: str, arch: str) -> None:
    first = {"always": ("ca", "wb")}.get(hint, (f"L1::{hint}",) * 2)
    for bits, form in FORM.items():
        a = np.zeros(bits, np.int32)
        text = ptx(launcher(copying(bits, hint, l2), 2), (a, a), arch)
        assert f"ld.global.{first[0]}.L2::cache_hint{form}" in text
        assert f"st.global.{first[1]}.L2::cache_hint{form}" in text
        assert text.count(f"createpolicy.fractional.L2::{l2}.b64") == 2


def every_policy() -> Iterator[tuple[str, str, str]]:
    """(name, architecture, PTX) of everything above, for assemblers."""
    for l2 in L2_PRIORITIES:
        yield f"copies under {l2}", "sm_90a", ptx(launcher(moving(l2), 3, **LAUNCH), arrays())
        for bits in FORM:
            a = np.zeros(bits, np.int32)
            for hint in ("always", "no_allocate", "evict_first"):
                yield f"{bits} {hint} {l2}", "sm_80", ptx(launcher(copying(bits, hint, l2), 2), (a, a), "sm_80")


def test_no_priority_leaves_the_instruction_as_it_is() -> None:
    assert under_policy("st.global.cs.b32 [$0], $1;", None) == "st.global.cs.b32 [$0], $1;"


def test_an_unknown_priority_is_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown priority 'often' of the L2 cache(.|\n)*use evict_first, evict_last"):
        nvvm.CachedCopy(128, "streaming", "often")
    source, target, words = arrays()
    with pytest.raises(ValueError, match="unknown priority 'evict_later' of the L2 cache"):
        run(moving("evict_later"), source, target, words, **LAUNCH)

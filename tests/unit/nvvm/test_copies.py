"""Copies with cache hints and cp.async: what they move on the virtual GPU, and the instruction each hint becomes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.base.errors import LoweringError
from flydsl.target.copy_nvvm import LOAD_HINTS, STORE_HINTS
from tests.support import random_data
from tests.unit.nvvm.running import Shared, launcher, ptx, run

nvvm = fx.nvvm
VECTOR = {32: "", 64: ".v2", 128: ".v4"}


def copying(bits: int, load: str, store: str, valid: int) -> Any:
    """A body in which each thread copies ``bits`` of int16; threads from ``valid`` on copy nothing."""
    width = bits // 16

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        thread = fx.thread_idx.x
        source = fx.logical_divide(a, fx.make_layout(width, 1))
        target = fx.logical_divide(out, fx.make_layout(width, 1))
        held = fx.make_rmem_tensor(width, fx.Int16)
        held.fill(0)
        if thread < valid:
            fx.copy_atom_call(fx.make_copy_atom(nvvm.CachedCopy(bits, load), fx.Int16), source[None, thread], held)
            fx.copy_atom_call(fx.make_copy_atom(nvvm.CachedCopy(bits, store), fx.Int16), held, target[None, thread])

    return body


@pytest.mark.parametrize("arch", ["sm_90a", "sm_80"])
@pytest.mark.parametrize("bits", [32, 64, 128])
def test_hinted_copies_move_their_bits(bits: int, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    size = 32 * bits // 16
    a, out = random_data.generator().integers(-1000, 1000, size, np.int16), np.full(size, -1, np.int16)
    run(copying(bits, "no_allocate", "global", 29), a, out)
    inside = 29 * bits // 16
    np.testing.assert_array_equal(out[:inside], a[:inside])
    assert (out[inside:] == -1).all()


@pytest.mark.parametrize("arch", ["sm_90a", "sm_80"])
@pytest.mark.parametrize("hint", LOAD_HINTS)
def test_each_hint_of_a_load_is_in_the_ptx(hint: str, arch: str) -> None:
    for bits, vector in VECTOR.items():
        a = np.zeros(32 * bits // 16, np.int16)
        text = ptx(launcher(copying(bits, hint, "always", 32), 2), (a, a), arch)
        assert f"ld.global.{LOAD_HINTS[hint]}{vector}.b32" in text


@pytest.mark.parametrize("hint", STORE_HINTS)
def test_each_hint_of_a_store_is_in_the_ptx(hint: str) -> None:
    for bits, vector in VECTOR.items():
        a = np.zeros(32 * bits // 16, np.int16)
        text = ptx(launcher(copying(bits, "always", hint, 32), 2), (a, a))
        assert f"st.global.{STORE_HINTS[hint]}{vector}.b32" in text


@pytest.mark.parametrize("hint", sorted(set(LOAD_HINTS) - set(STORE_HINTS)))
def test_hints_that_only_loads_have(hint: str) -> None:
    with pytest.raises(LoweringError, match=f"a store has no hint '{hint}'"):
        run(copying(32, "always", hint, 32), np.zeros(64, np.int16), np.zeros(64, np.int16))


def test_hinted_copies_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="no hinted copy of 16 bits"):
        nvvm.CachedCopy(16)
    with pytest.raises(ValueError, match="unknown cache hint 'often'"):
        nvvm.CachedCopy(32, "often")

    def body(a: fx.Tensor) -> None:
        held = fx.make_rmem_tensor(2, fx.Int16)
        fx.copy_atom_call(fx.make_copy_atom(nvvm.CachedCopy(32), fx.Int16), Shared().words(2, fx.Int16), held)
        a[0] = held[0]

    with pytest.raises(LoweringError, match="needs global memory as its source, which lies in shared memory"):
        run(body, np.zeros(2, np.int16))


def test_hinted_copies_belong_to_nvidia(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    with pytest.raises(ValueError, match=r"gfx942 does not have .*cached_copy"):
        run(copying(32, "always", "always", 32), np.zeros(64, np.int16), np.zeros(64, np.int16))


# cp.async --------------------------------------------------------------------------------------------


def through_shared(bits: int, cache: str) -> Any:
    """Each thread copies ``bits`` to shared memory asynchronously; everyone reads its neighbour's."""
    width = bits // 16

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        thread = fx.thread_idx.x
        words = Shared().words(64 * width, fx.Int16)
        source = fx.logical_divide(a, fx.make_layout(width, 1))
        place = fx.logical_divide(words, fx.make_layout(width, 1))
        atom = fx.make_copy_atom(nvvm.CpAsync(bits, cache), fx.Int16)
        fx.copy_atom_call(atom, source[None, thread], place[None, thread])
        nvvm.cp_async_commit_group()
        nvvm.cp_async_wait_group(0)
        fx.barrier()
        for i in fx.range_constexpr(width):
            out[thread * width + i] = words[(63 - thread) * width + i]

    return body


@pytest.mark.parametrize("arch", ["sm_90a", "sm_80"])
@pytest.mark.parametrize(("bits", "cache"), [(32, "ca"), (64, "ca"), (128, "ca"), (128, "cg")])
def test_cp_async(bits: int, cache: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    width = bits // 16
    a = random_data.generator().integers(-1000, 1000, 64 * width, np.int16)
    out = np.full_like(a, -1)
    run(through_shared(bits, cache), a, out, threads=64)
    np.testing.assert_array_equal(out.reshape(64, width), a.reshape(64, width)[::-1])
    text = ptx(launcher(through_shared(bits, cache), 2, threads=64), (a, out), arch)
    assert f"cp.async.{cache}.shared.global" in text and f", {bits // 8};" in text
    assert "cp.async.commit_group" in text and "cp.async.wait_group \t0" in text.replace(
        "wait_group 0", "wait_group \t0"
    )


def test_asynchronous_copies_that_cannot_be() -> None:
    with pytest.raises(ValueError, match=r"no cp\.async of 16 bits"):
        nvvm.CpAsync(16)
    with pytest.raises(ValueError, match="unknown cache 'cs'"):
        nvvm.CpAsync(128, "cs")
    with pytest.raises(ValueError, match="past the L1 cache moves 128 bits"):
        nvvm.CpAsync(64, "cg")

    def backwards(a: fx.Tensor) -> None:
        words = Shared().words(8, fx.Int16)
        fx.copy_atom_call(
            fx.make_copy_atom(nvvm.CpAsync(128), fx.Int16), words, fx.make_view(fx.get_iter(a), fx.make_layout(8, 1))
        )

    with pytest.raises(LoweringError, match=r"cp\.async copies global to shared memory, not shared to global"):
        run(backwards, np.zeros(8, np.int16), threads=1)

    def negative(a: fx.Tensor) -> None:
        nvvm.cp_async_wait_group(-1)

    with pytest.raises(ValueError, match="at least 0"):
        run(negative, np.zeros(8, np.int16), threads=1)

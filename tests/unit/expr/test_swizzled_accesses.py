"""Accesses through swizzles: one that is wider than what a swizzle keeps together is split, or refused for an atom."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.dialects.fly.payload import Pointer
from flydsl.layout.swizzle import Swizzle
from tests.support import random_data
from tests.unit.nvvm.running import llvm_text

ROWS = 64


def round_trip(view: Any, through: Any, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A tile written to shared memory element by element and read row by row."""

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        tile = view(shared_pointer())
        row = fx.thread_idx.x
        for i in fx.range_constexpr(8):
            tile[row, i] = x[row, i]
        fx.barrier()
        found = through(tile[row, None])
        for i in fx.range_constexpr(8):
            out[row, i] = found[i]

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=(1, 1, 1), block=(ROWS, 1, 1))

    out = np.zeros_like(x)
    launch(x, out)
    return out


def shared_pointer() -> Any:
    return fx.SharedAllocator().allocate(fx.Array[fx.Float16, ROWS * 8], alignment=1024).ptr


def by_pointer(base: int) -> Any:
    return lambda ptr: fx.make_view(
        fx.apply_swizzle(ptr, fx.make_swizzle(3, base, 3)), fx.make_layout((ROWS, 8), (8, 1))
    )


def by_layout(base: int) -> Any:
    rows = fx.make_layout((ROWS, 8), (8, 1))
    return lambda ptr: fx.make_view(ptr, fx.make_composed_layout(fx.make_swizzle(2, base, 3), rows))


def by_atom(row: Any) -> Any:
    held = fx.make_rmem_tensor(8, fx.Float16)
    fx.copy_atom_call(fx.make_copy_atom(fx.UniversalCopy128b(), 16), row, held)
    return held.load()


@pytest.fixture
def halves() -> np.ndarray[Any, Any]:
    return random_data.generator().standard_normal((ROWS, 8)).astype(np.float16)


@pytest.mark.parametrize("view", [*map(by_pointer, (1, 2, 3, 4)), *map(by_layout, (0, 1, 2, 3))])
def test_load_gives_the_elements_that_were_written(view: Any, halves: np.ndarray[Any, Any]) -> None:
    np.testing.assert_array_equal(round_trip(view, lambda row: row.load(), halves), halves)


@pytest.mark.parametrize("base", [1, 2, 3, 4])
def test_a_vector_through_a_pointer_too(base: int, halves: np.ndarray[Any, Any]) -> None:
    """Rows start at an odd element, so that even a piece of 16 bytes is not whole."""

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        swizzled = fx.apply_swizzle(shared_pointer(), fx.make_swizzle(3, base, 3)) + 1
        row = fx.thread_idx.x
        if row < ROWS - 1:
            (swizzled + row * 8).store(fx.Vector.from_elements([x[row, i] for i in range(8)], fx.Float16))
        fx.barrier()
        if row < ROWS - 1:
            whole = (swizzled + row * 8).load(fx.Float16x8)
            for i in fx.range_constexpr(8):
                out[row, i] = whole[i]
                out[row, i] = out[row, i] + (swizzled + row * 8 + i).load() - whole[i]

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=(1, 1, 1), block=(ROWS, 1, 1))

    out = np.zeros_like(halves)
    launch(halves, out)
    np.testing.assert_array_equal(out[:-1], halves[:-1])


@pytest.mark.parametrize(("view", "fits"), [(by_layout(3), True), (by_layout(2), False), (by_pointer(4), True),
                                            (by_pointer(3), False)])  # fmt: skip
def test_a_wide_atom_needs_its_elements_together(view: Any, fits: bool, halves: np.ndarray[Any, Any]) -> None:
    if fits:
        np.testing.assert_array_equal(round_trip(view, by_atom, halves), halves)
        return
    with pytest.raises(RuntimeError, match=r"keeps 4 neighbours together|exchanges pieces of 8") as refused:
        round_trip(view, by_atom, halves)
    assert "at most 4 elements" in str(refused.value) or "at most 64 bits" in str(refused.value)


def test_a_slice_at_an_element_inside_a_piece_is_no_whole_piece() -> None:
    """The offset is known, so it is no promise of the atom: elements 4 to 11 lie in two pieces of 8."""

    @flyc.kernel
    def kernel(out: fx.Tensor):
        eight = fx.make_composed_layout(fx.make_swizzle(2, 3, 3), 68, fx.make_layout(8, 1))
        shifted = fx.make_view(shared_pointer(), eight)
        out[0] = by_atom(shifted)[0]

    @flyc.jit
    def launch(out: fx.Tensor):
        kernel(out).launch(grid=(1, 1, 1), block=(1, 1, 1))

    with pytest.raises(RuntimeError, match="moves them apart"):
        launch(np.zeros(8, np.float16))


def test_no_access_promises_more_alignment_than_a_swizzle_leaves() -> None:
    @flyc.kernel
    def kernel(out: fx.Tensor):
        tile = by_pointer(3)(shared_pointer())
        found = tile[fx.thread_idx.x, None].load()
        out[fx.thread_idx.x] = found[0]

    @flyc.jit
    def launch(out: fx.Tensor):
        kernel(out).launch(grid=(1, 1, 1), block=(64, 1, 1))

    text = llvm_text(launch, (np.zeros(64, np.float16),), "sm_90a")
    found = {int(n) for n in re.findall(r"load <4 x half>, ptr addrspace\(3\) [^,]*, align (\d+)", text)}
    assert found == {8} and "load <8 x half>" not in text


def test_a_pointers_swizzle_counts_bytes() -> None:
    with pytest.raises(ValueError, match=r"S<3,1,3> exchanges pieces of 2 bytes, and an element f32 has 4") as refused:
        Pointer("f32", "shared", 16, Swizzle(3, 1, 3))
    assert "its base is at least 2 for f32" in str(refused.value)
    assert Pointer("f16", "shared", 128, Swizzle(3, 3, 3)).align == 8
    assert Pointer("f16", "shared", 128, Swizzle(3, 3, 3)).add_offset(2).align == 4
    with pytest.raises(ValueError, match="swizzled by S<3,3,3> already"):
        Pointer("f16", "shared", 128, Swizzle(3, 3, 3)).with_swizzle(Swizzle(3, 4, 3))

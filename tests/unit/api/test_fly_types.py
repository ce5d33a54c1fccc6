"""Types by name (`SwizzleType.get` and its neighbours), and what takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import typing as ft


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (ft.IntTupleType.get((4, (2, 8))), "(4,(2,8))"),
        (ft.LayoutType.get((4, 8), (1, 4)), "(4,8):(1,4)"),
        (ft.SwizzleType.get(3, 4, 3), "S<3,4,3>"),
        (ft.CoordSwizzleType.get(2, 0, 0, 1, (1,)), "CS<2,0,[0],1,[1]>"),
        (
            ft.ComposedLayoutType.get(ft.SwizzleType.get(2, 3, 3), 0, ft.LayoutType.get((8, 8), (8, 1))),
            "S<2,3,3> o 0 o (8,8):(8,1)",
        ),
        (ft.TileType.get([4, None]), "[4|*]"),
        (ft.CopyAtomType.get(ft.CopyOpUniversalCopyType.get(64), 32), None),
        (ft.MmaAtomType.get(ft.MmaOpUniversalFMAType.get(fx.Float32)), None),
    ],
)
def test_static_values_of_types(payload: Any, text: str | None) -> None:
    value = fx.static(payload)
    assert value.is_static
    assert text is None or str(value) == text


def test_types_by_keyword() -> None:
    assert ft.PointerType.get(elem_ty=fx.Float32, alignment=16) == ft.PointerType.get(fx.Float32, alignment=16)
    layout = ft.LayoutType.get(4, 1)
    assert ft.MemRefType.get(elem_ty=fx.Float32, layout=layout) == ft.MemRefType.get(fx.Float32, layout)
    copy, fma = ft.CopyOpUniversalCopyType.get(64), ft.MmaOpUniversalFMAType.get(fx.Float32)
    assert ft.CopyAtomType.get(copy_op=copy, val_bits=32) == ft.CopyAtomType.get(copy, 32)
    assert ft.MmaAtomType.get(mma_op=fma) == ft.MmaAtomType.get(fma)


def test_basis() -> None:
    assert str(ft.E(0) * 2) == "2E0" and str(ft.E(0, 1)) == "1E0E1" and ft.E() == 1
    assert ft.BasisType.get(3, (1,)) == ft.Basis(3, (1,))
    coordinates = fx.static(ft.CoordTensorType.get((0, 0), ft.LayoutType.get((4, 2), (ft.E(0), ft.E(1)))))
    assert str(coordinates[3, 1]) == "(3,1)"


def test_atoms_and_tiles_from_types() -> None:
    atom = ft.CopyAtomType.get(ft.CopyOpUniversalCopyType.get(32), 32)
    tiled = fx.static(ft.TiledCopyType.get(atom, ft.LayoutType.get((4, 2), (2, 1)), ft.TileType.get([4, 2])))
    assert isinstance(tiled, fx.TiledCopy)
    mma = ft.TiledMmaType.get(ft.MmaAtomType.get(fx.UniversalFMA(fx.Float32)), ft.LayoutType.get((2, 2, 1), (1, 2, 0)))
    assert isinstance(fx.static(mma), fx.TiledMma)
    atomic = ft.CopyOpUniversalAtomicType.get(fx.AtomicOp.Add, fx.Float32)
    assert fx.make_copy_atom(atomic, fx.Float32).val_bits == 32


def test_address_spaces() -> None:
    assert ft.is_generic_address_space(fx.AddressSpace.Shared)
    assert ft.is_generic_address_space(fx.AddressSpace.Shared, fx.AddressSpace.Shared)
    assert not ft.is_generic_address_space(fx.AddressSpace.Shared, fx.AddressSpace.Global)
    assert ft.is_target_address_space("#fly_rocdl.buffer_desc")
    assert not ft.is_target_address_space(fx.AddressSpace.Global)
    with pytest.raises(TypeError, match="expected an address space"):
        ft.PointerType.get(fx.Float32, 3.5)


def test_pointer_and_memref_types_in_a_kernel() -> None:
    @flyc.kernel
    def kernel(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        address = fx.ptrtoint(fx.get_iter(a))
        again = fx.inttoptr(ft.PointerType.get(fx.Float32, fx.AddressSpace.Global), address)
        assert again.alignment == 4 and again.address_space == fx.AddressSpace.Global
        fragment = fx.memref_alloca(ft.MemRefType.get(fx.Float32, ft.LayoutType.get(4, 1)))
        fragment.fill(2.0)
        as_int = fx.recast_iter(ft.PointerType.get(fx.Int32), again)
        bits = as_int[t].bitcast(fx.Float32)
        raw = fx.as_ir_value(bits)
        value = fx.as_dsl_value(raw)
        assert isinstance(value, fx.Float32) and isinstance(fx.as_dsl_value(raw, fx.Float32(0)), fx.Float32)
        assert fx.as_ir_value(3, keep_static=True) == 3
        out[t] = value * fragment[1] + again[t]

    @flyc.jit
    def launch(a: fx.Tensor, out: fx.Tensor) -> None:
        kernel(a, out).launch(grid=1, block=(32, 1, 1))

    x, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    launch(x, out)
    np.testing.assert_array_equal(out, x * 3)


def test_thread_index_is_a_tuple_of_three() -> None:
    assert isinstance(fx.thread_idx, ft.Tuple3D)


@pytest.mark.parametrize("swizzle", [ft.SwizzleType.get(2, 0, 3), fx.make_swizzle(2, 0, 3)], ids=["type", "value"])
def test_a_composed_layout_takes_a_swizzle_in_either_form(swizzle: Any) -> None:
    layout = fx.make_composed_layout(swizzle, fx.make_layout((4, 8), (8, 1)))
    assert str(layout) == "S<2,0,3> o 0 o (4,8):(8,1)"


def test_a_composed_layout_refuses_three_integers_for_a_swizzle() -> None:
    with pytest.raises(TypeError, match=r"not by \(2,0,3\)[\s\S]*make_swizzle\(mask, base, shift\)"):
        fx.make_composed_layout((2, 0, 3), fx.make_layout((4, 8), (8, 1)))

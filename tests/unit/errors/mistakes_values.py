"""Mistakes with values, layouts and copies."""

from __future__ import annotations

from flydsl.base.errors import (
    DSLCompileError,
    DslIndexError,
    DslRuntimeError,
    DslTypeError,
    DslValueError,
    LayoutError,
    LoweringError,
)
from tests.unit.errors.mistake import Mistake, in_kernel

VALUES = "Values"
LAYOUTS = "Layouts and tensors"
COPIES = "Copies and matrix instructions"

MISTAKES: tuple[Mistake, ...] = (
    in_kernel(
        VALUES,
        "`bool()` of a run-time value",
        DslRuntimeError,
        RuntimeError,
        ("run-time", "if"),
        """
        if bool(n > 2):  # here
            out[0] = 1
    """,
    ),
    in_kernel(
        VALUES,
        "`int()` of a run-time value",
        DslRuntimeError,
        RuntimeError,
        ("run-time Int32", "fx.Constexpr"),
        """
        out[0] = int(n) + 1  # here
    """,
    ),
    in_kernel(
        VALUES,
        "a run-time index into a Python list",
        DslRuntimeError,
        RuntimeError,
        ("run-time Int32",),
        """
        weights = [3, 1, 4]
        out[0] = weights[n]  # here
    """,
    ),
    in_kernel(
        VALUES,
        "bitwise operators on floats",
        DslTypeError,
        TypeError,
        ("Float32", "bitcast"),
        """
        out[0] = x[0] & 1  # here
    """,
    ),
    in_kernel(
        VALUES,
        "two narrow floats in one operation",
        DslValueError,
        ValueError,
        ("Float8E4M3FN", "Float8E5M2"),
        """
        a, b = x[0].to(fx.Float8E4M3FN), x[1].to(fx.Float8E5M2)
        out[0] = a + b  # here
    """,
    ),
    in_kernel(
        VALUES,
        "a bitcast to another width",
        DslValueError,
        ValueError,
        ("32", "64"),
        """
        out[0] = x[0].bitcast(fx.Int64)  # here
    """,
    ),
    in_kernel(
        VALUES,
        "a vector as a condition",
        DslRuntimeError,
        RuntimeError,
        ("truth value", "reduce"),
        """
        if fx.Vector.filled(4, 1, fx.Int32) > 0:  # here
            out[0] = 1
    """,
    ),
    in_kernel(
        VALUES,
        "an element outside a vector",
        DslIndexError,
        IndexError,
        ("4",),
        """
        v = fx.Vector.filled(4, 1, fx.Int32)
        out[0] = v[4]  # here
    """,
    ),
    in_kernel(
        VALUES,
        "an unknown reduction",
        DslValueError,
        ValueError,
        ("median", "add"),
        """
        out[0] = fx.Vector.filled(4, 1, fx.Int32).reduce("median")  # here
    """,
    ),
    in_kernel(
        LAYOUTS,
        "shape and stride of different structure",
        LayoutError,
        ValueError,
        ("(4,8)", "nested the same way"),
        """
        layout = fx.make_layout((4, 8), 1)  # here
    """,
    ),
    in_kernel(
        LAYOUTS,
        "an index with too many modes",
        LayoutError,
        ValueError,
        ("profile mismatch", "?:1"),
        """
        out[0, 0] = 1  # here
    """,
    ),
    in_kernel(
        LAYOUTS,
        "a composition that does not divide",
        LayoutError,
        ValueError,
        ("(6,4):(1,10)", "4:4"),
        """
        fx.composition(fx.make_layout((6, 4), (1, 10)), fx.make_layout(4, 4))  # here
    """,
    ),
    in_kernel(
        LAYOUTS,
        "the complement of an overlapping layout",
        LayoutError,
        ValueError,
        ("(4,4):(1,2)", "overlap"),
        """
        fx.complement(fx.make_layout((4, 4), (1, 2)), 64)  # here
    """,
    ),
    in_kernel(
        LAYOUTS,
        "`None` in a zipped divide",
        LayoutError,
        ValueError,
        ("divisor", "logical_divide"),
        """
        fx.zipped_divide(fx.make_layout((8, 8), (8, 1)), (4, None))  # here
    """,
    ),
    in_kernel(
        LAYOUTS,
        "the stride of a swizzled layout",
        DslTypeError,
        TypeError,
        ("S<2,3,3>",),
        """
        swizzle = fx.static(fx.SwizzleType.get(2, 3, 3))
        swizzled = fx.make_composed_layout(swizzle, fx.make_layout((8, 8), (8, 1)))
        print(swizzled.stride)  # here
    """,
    ),
    in_kernel(
        LAYOUTS,
        "a fragment of something without a static shape",
        DslTypeError,
        TypeError,
        ("static",),
        """
        fragment = fx.make_fragment_like(x)  # here
    """,
    ),
    in_kernel(
        LAYOUTS,
        "a register tensor without a number type",
        DslTypeError,
        TypeError,
        ("float", "fx.Float32"),
        """
        fragment = fx.make_rmem_tensor(4, float)  # here
    """,
    ),
    in_kernel(
        COPIES,
        "a copy between unequal ranks",
        DSLCompileError,
        RuntimeError,
        ("8:1", "(4,2):(1,4)", "rank"),
        """
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        flat = fx.make_rmem_tensor(8, fx.Float32)
        square = fx.make_rmem_tensor((4, 2), fx.Float32)
        fx.copy(atom, flat, square)  # here
    """,
    ),
    in_kernel(
        COPIES,
        "a wide copy of scattered elements",
        LoweringError,
        RuntimeError,
        ("4 neighbouring", "4:2", "narrower"),
        """
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        every_second = fx.make_view(fx.get_iter(x), fx.make_layout(4, 2))
        fx.copy_atom_call(atom, every_second, fx.make_rmem_tensor(4, fx.Float32))  # here
    """,
    ),
    in_kernel(
        COPIES,
        "a copy into another element type",
        DslTypeError,
        TypeError,
        ("does not convert", "Float32", "Float16"),
        """
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        tile = fx.logical_divide(x, fx.make_layout(2, 1))[None, 0]
        fx.copy(atom, tile, fx.make_fragment_like(tile, fx.Float16))  # here
    """,
    ),
    in_kernel(
        COPIES,
        "values that an atom does not divide",
        LayoutError,
        ValueError,
        ("3 values", "narrower"),
        """
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        fx.make_tiled_copy_tv(atom, fx.make_layout((4, 1), (1, 0)), fx.make_layout((1, 3), (0, 1)))  # here
    """,
    ),
    in_kernel(
        COPIES,
        "both traversal arguments",
        DslValueError,
        ValueError,
        ("traversal_order", "traversal_layout"),
        """
        mma = fx.make_mma_atom(fx.UniversalFMA(fx.Float32))
        acc, a, b = (fx.make_rmem_tensor((1, 2, 2), fx.Float32) for _ in range(3))
        order, layout = fx.GemmTraversalOrder.KNM, fx.make_layout(8, 1)
        fx.gemm(mma, acc, a, b, acc, traversal_order=order, traversal_layout=layout)  # here
    """,
    ),
    in_kernel(
        COPIES,
        "a gemm of unequal ranks",
        DSLCompileError,
        RuntimeError,
        ("rank",),
        """
        mma = fx.make_mma_atom(fx.UniversalFMA(fx.Float32))
        acc, a = (fx.make_rmem_tensor((1, 2, 2), fx.Float32) for _ in range(2))
        b = fx.make_rmem_tensor((1, 2), fx.Float32)
        fx.gemm(mma, acc, a, b, acc)  # here
    """,
    ),
)

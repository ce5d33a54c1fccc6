"""What the advice on mistakes with values, layouts and copies comes to: the bodies of kernels, by title."""

from __future__ import annotations

MENDS: dict[str, tuple[str, ...]] = {
    "`bool()` of a run-time value": (
        """
        if n > 2:
            out[0] = 1
        """,
        """
        out[0] = fx.arith.select(n > 2, fx.Int32(1), fx.Int32(0))
        out[1] = fx.max(n, 3)
        """,
    ),
    "`int()` of a run-time value": ("out[0] = n.to(fx.Int32) + 1",),
    "a run-time index into a Python list": (
        """
        weights = fx.make_rmem_tensor(3, fx.Int32)
        for i in fx.range_constexpr(3):
            weights[i] = (3, 1, 4)[i]
        out[0] = weights[n - 3]
        """,
    ),
    "bitwise operators on floats": ("out[0] = x[0].to(fx.Int32) & 1", "out[0] = x[0].bitcast(fx.Int32) & 1"),
    "two narrow floats in one operation": (
        """
        a, b = x[0].to(fx.Float8E4M3FN), x[1].to(fx.Float8E5M2)
        out[0] = (a.to(fx.Float32) + b).to(fx.Int32)
        """,
    ),
    "a bitcast to another width": ("out[0] = x[0].to(fx.Int64).to(fx.Int32)",),
    "a vector as a condition": (
        """
        v = fx.Vector.filled(4, 1, fx.Int32)
        if (v > 0).reduce("or"):
            out[0] = 1
        """,
        """
        v = fx.Vector.filled(4, 1, fx.Int32)
        out[0] = (v > 0).select(v, -v)[0]
        """,
    ),
    "an element outside a vector": (
        """
        v = fx.Vector.filled(4, 1, fx.Int32)
        out[0] = v[3] + v[-4]
        """,
    ),
    "an unknown reduction": (
        """
        v = fx.Vector.filled(4, 1, fx.Int32)
        out[0] = v.reduce("add") + v.reduce("mul") + v.reduce("max") + v.reduce("min")
        out[1] = v.reduce("and") + v.reduce("or") + v.reduce("xor")
        w = fx.Vector.filled(4, 1.0, fx.Float32)
        out[2] = (w.reduce("maxnum") + w.reduce("minnum")).to(fx.Int32)
        """,
    ),
    "shape and stride of different structure": ("layout = fx.make_layout((4, 8), (8, 1))",),
    "an index with too many modes": ("out[0] = 1",),
    "a composition that does not divide": ("fx.composition(fx.make_layout((6, 4), (1, 10)), fx.make_layout(3, 2))",),
    "the complement of an overlapping layout": ("fx.complement(fx.make_layout((4, 4), (1, 4)), 64)",),
    "`None` in a zipped divide": (
        "fx.logical_divide(fx.make_layout((8, 8), (8, 1)), (4, None))",
        "fx.zipped_divide(fx.make_layout((8, 8), (8, 1)), (4,))",
    ),
    "the stride of a swizzled layout": (
        """
        swizzle = fx.static(fx.SwizzleType.get(2, 3, 3))
        swizzled = fx.make_composed_layout(swizzle, fx.make_layout((8, 8), (8, 1)))
        parts = swizzled.inner, swizzled.offset, swizzled.outer
        assert str(parts[2].stride) == "(8,1)"
        """,
    ),
    "a fragment of something without a static shape": (
        "fragment = fx.make_fragment_like(fx.zipped_divide(x, fx.make_layout(4, 1))[None, 0])",
    ),
    "a register tensor without a number type": ("fragment = fx.make_rmem_tensor(4, fx.Float32)",),
    "a copy between unequal ranks": (
        """
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        flat = fx.make_rmem_tensor(8, fx.Float32)
        square = fx.make_rmem_tensor((4, 2), fx.Float32)
        flat.fill(1.0)
        fx.copy(atom, fx.logical_divide(flat, fx.make_layout(4, 1)), square)
        """,
    ),
    "a wide copy of scattered elements": (
        """
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        every_second = fx.make_view(fx.get_iter(x), fx.make_layout(4, 2))
        fx.copy(atom, every_second, fx.make_rmem_tensor(4, fx.Float32))
        """,
        """
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        neighbours = fx.make_view(fx.get_iter(x), fx.make_layout(4, 1))
        fx.copy_atom_call(atom, neighbours, fx.make_rmem_tensor(4, fx.Float32))
        """,
    ),
    "a copy into another element type": (
        """
        tile = fx.logical_divide(x, fx.make_layout(2, 1))[None, 0]
        half = fx.make_fragment_like(tile, fx.Float16)
        half.store(tile.load().to(fx.Float16))
        """,
    ),
    "values that an atom does not divide": (
        """
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        fx.make_tiled_copy_tv(atom, fx.make_layout((4, 1), (1, 0)), fx.make_layout((1, 3), (0, 1)))
        """,
        """
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        fx.make_tiled_copy_tv(atom, fx.make_layout((4, 1), (1, 0)), fx.make_layout((1, 4), (0, 1)))
        """,
    ),
    "both traversal arguments": (
        """
        mma = fx.make_mma_atom(fx.UniversalFMA(fx.Float32))
        acc, a, b = (fx.make_rmem_tensor((1, 2, 2), fx.Float32) for _ in range(3))
        for tensor in (acc, a, b):
            tensor.fill(1.0)
        fx.gemm(mma, acc, a, b, acc, traversal_layout=fx.make_layout((2, 2, 2), (4, 2, 1)))
        """,
        """
        mma = fx.make_mma_atom(fx.UniversalFMA(fx.Float32))
        acc, a, b = (fx.make_rmem_tensor((1, 2, 2), fx.Float32) for _ in range(3))
        for tensor in (acc, a, b):
            tensor.fill(1.0)
        fx.gemm(mma, acc, a, b, acc, traversal_order=fx.GemmTraversalOrder.KNM)
        """,
    ),
    "a gemm of unequal ranks": (
        """
        mma = fx.make_mma_atom(fx.UniversalFMA(fx.Float32))
        acc, a = (fx.make_rmem_tensor((1, 2, 2), fx.Float32) for _ in range(2))
        b = fx.make_rmem_tensor((1, 2, 2), fx.Float32)
        for tensor in (acc, a, b):
            tensor.fill(1.0)
        fx.gemm(mma, acc, a, b, acc)
        """,
    ),
    "more shared memory than the target has": (
        """
        shared = fx.SharedAllocator()
        tile = shared.allocate(fx.Array[fx.Float32, 64 * 128])
        more = shared.allocate(fx.Array[fx.Float32, 32 * 128])
        """,
        """
        Both = fx.Union["tile" : fx.Array[fx.Float32, 64 * 128], "more" : fx.Array[fx.Float32, 96 * 128]]
        either = fx.SharedAllocator().allocate(Both)
        """,
    ),
    "a second shared allocator": (
        """
        shared = fx.SharedAllocator()

        def tile(shared):
            return shared.allocate(fx.Array[fx.Int32, 4])

        first, second = tile(shared), tile(shared)
        """,
    ),
    "a field that memory cannot hold": (
        """
        Pair = fx.Struct["a" : fx.Int32, "b" : fx.Array[fx.Uint8, 4]]
        pair = fx.SharedAllocator().allocate(Pair)
        """,
    ),
    "assigning a field of a struct": (
        """
        @fx.struct
        class Point:
            x: fx.Int32
            y: fx.Int32

        point = Point(n, 2)
        point = point.replace(x=3)
        out[0] = point.x
        """,
    ),
    "poking a whole array": (
        """
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 4]).peek()
        for i in fx.range_constexpr(4):
            tile[i] = i + 1
        """,
        """
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 4])
        view = tile.peek().view(fx.make_layout(4, 1))
        view.fill(1)
        """,
    ),
    "a shuffle over a number of lanes that there is none for": ("out[0] = fx.shuffle_xor(n, 1, 4)",),
    "an unknown shuffle": (
        'out[0] = fx.gpu.shuffle(n, 1, 64, mode="xor") + fx.gpu.shuffle(n, 1, 64, mode="up")',
        'out[0] = fx.gpu.shuffle(n, 1, 64, mode="down") + fx.gpu.shuffle(n, 1, 64, mode="idx")',
    ),
}

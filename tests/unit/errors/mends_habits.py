"""What the advice on habits from other systems, and on calls of `fx`, comes to: the bodies of kernels, by title."""

from __future__ import annotations

_SQUARE = "square = fx.make_view(fx.get_iter(x), fx.make_layout((8, 8), (8, 1)))\n"
_TILE = "tile = fx.make_view(fx.get_iter(x), fx.make_layout(4, 1))\n"
_VECTOR = "v = fx.full(4, x[0])\n"
_ELEMENTS = (
    f"{_TILE}y = tile.load() + 1\ntile.store(y)",
    "x[0] = x[0] + 1",
)

MENDS: dict[str, tuple[str, ...]] = {
    "a layout whose fit only the running kernel knows": (
        "layout = fx.make_layout((n, 4), (1, n))\ntile = fx.logical_divide(layout, fx.make_layout(1, 1))\n"
        "out[1] = fx.get_scalar(fx.crd2idx(5, tile))",
        "layout = fx.make_layout((8, 4), (1, 64))\ntile = fx.logical_divide(layout, fx.make_layout(4, 1))\n"
        "out[1] = fx.get_scalar(fx.crd2idx(5, tile))",
    ),
    "the inverse of a layout whose strides are not known": (
        "inverse = fx.left_inverse(fx.make_layout((4, 8), (8, 1)))",
    ),
    "a slice with a step": ("every = fx.logical_divide(x, (2,))[0, None]\nout[0] = every[1].to(fx.Int32)",),
    "`...` as a coordinate": (f"{_SQUARE}part = square[None, 0]",),
    "a float as a coordinate": ("out[0] = x[x[0].to(fx.Int32)].to(fx.Int32)",),
    "an array as a coordinate": (
        "for i in range(4):\n    out[i] = x[i].to(fx.Int32)",
        f"{_TILE}atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)\n"
        "fx.copy(atom, tile, fx.make_rmem_tensor(4, fx.Float32))",
    ),
    "a slice of a shape": (f"{_SQUARE}part = fx.take(square.shape, 0, 1)",),
    "rows and columns apart": (f"{_SQUARE}out[0] = square[0, 1].to(fx.Int32)",),
    "a store by rows and columns apart": (f"{_SQUARE}square[0, 1] = 2.0",),
    "an assignment to an element of a vector": (f"{_VECTOR}v = v.insert(1.0, 0)\nout[0] = v[0].to(fx.Int32)",),
    "arithmetic on a whole tensor": _ELEMENTS,
    "a Python number beside a whole tensor": ("x[0] = 2 * x[0]", f"{_TILE}tile.store(2 * tile.load())"),
    "a change of a whole tensor in place": _ELEMENTS,
    "a part of a tensor set to another": ("x[0:4] = x[4:8].load()", "fx.copy(x[4:8], x[0:4])"),
    "the absolute value of a whole tensor": ("x[0] = abs(x[0])", f"{_TILE}tile.store(abs(tile.load()))"),
    "a comparison of a whole tensor": (
        "out[0] = (x[0] > 0).to(fx.Int32)", f"{_TILE}mask = tile.load() > 0\nout[0] = mask[0].to(fx.Int32)",
    ),
    "equality with a whole tensor": (
        "out[0] = (x[0] == 0).to(fx.Int32)", f"{_TILE}mask = tile.load() == 0\nout[0] = mask[0].to(fx.Int32)",
    ),
    "`@` between tensors": (
        "mma = fx.make_mma_atom(fx.UniversalFMA(fx.Float32))\n"
        "d, a, b = (fx.make_rmem_tensor((1, 2, 2), fx.Float32) for _ in range(3))\n"
        "for tensor in (d, a, b):\n    tensor.fill(1.0)\n"
        "fx.gemm(mma, d, a, b, d)\nout[0] = d[0].to(fx.Int32)",
    ),
    "`@` between vectors": (f'{_VECTOR}out[0] = (v * v).reduce("add").to(fx.Int32)',),
    "arithmetic with `None`": (f"{_VECTOR}y = n + 1\nz = v + 1\nout[0] = y",),
    "a whole tensor as a condition": (
        "y = 1 if x[0] > 0 else 2\nout[0] = y", "y = 1 if x is not None else 2\nout[0] = y",
    ),
    "a loop over a tensor": (
        "for i in range(out.shape[0]):\n    out[i] = x[i].to(fx.Int32)",
        f"{_TILE}y = [e for e in tile.load()]\nout[0] = y[0].to(fx.Int32)",
    ),
    "a search in a tensor": (
        "found = fx.Boolean(False)\nfor i in range(x.shape[0]):\n    found = found | (x[i] == fx.Float32(n))\n"
        "out[0] = found.to(fx.Int32)",
    ),
    "`len` of a tensor": ("out[0] = x.shape[0]", "out[0] = fx.size(x)"),
    "a loop over a number": ("for i in range(n):\n    out[i] = i",),
    "parentheses in place of brackets": ("out[0] = x.stride[0]",),
    "an index of the hardware as a number": ("out[0] = fx.thread_idx.x + 1",),
    "`round` of a run-time number": (
        "out[0] = fx.roundeven(x[0]).to(fx.Int32) + fx.round(x[0]).to(fx.Int32)", "out[0] = x[0].to(fx.Int32)",
    ),
    "`pow` with a modulus": (
        "out[0] = n**2 % 5", "power = fx.Int32(1)\nfor i in range(2):\n    power = power * n % 5\nout[0] = power",
    ),
    "a run-time exponent of `pow` with a modulus": ("out[0] = 2**n % 5",),
    "a run-time number as a key": (
        "out[0] = (n == 1).select(fx.Int32(2), fx.Int32(3))",
        "table = fx.make_rmem_tensor(8, fx.Int32)\ntable.fill(2)\nout[0] = table[n]",
    ),
    "NumPy's function of a number": ("out[0] = fx.exp(x[0]).to(fx.Int32)",),
    "NumPy's function of a vector": (f"{_VECTOR}out[0] = fx.max(v, 0)[0].to(fx.Int32)",),
    "NumPy's function of a tensor": (f'{_TILE}out[0] = tile.load().reduce("add").to(fx.Int32)',),
    "an array of NumPy from a tensor": (f"{_TILE}out[0] = fx.exp(tile.load())[0].to(fx.Int32)",),
    "a function of `math` on a tensor": (
        "out[0] = fx.exp(x[0]).to(fx.Int32)", f"{_TILE}out[0] = fx.exp(tile.load())[0].to(fx.Int32)",
    ),
    "a function of `fx` on a whole tensor": (
        "out[0] = fx.exp(x[0]).to(fx.Int32)", f"{_TILE}out[0] = fx.exp(tile.load())[0].to(fx.Int32)",
    ),
    "a function of `math` on a run-time number": ("out[0] = (fx.exp(x[0]) + fx.floor(x[0])).to(fx.Int32)",),
    "`range` of a run-time number outside a `for`": (
        "for i in range(n):\n    out[i] = x[i].to(fx.Int32)",
    ),
    "`assert` of a run-time condition": (
        'if not (n > 0):\n    fx.printf("too few: {}", n)',
    ),
    "a run-time number in a format": ('fx.printf("{:.3f}", x[0])',),
    "modes in another order": (
        f"{_SQUARE}y = fx.select(square, [1, 0])\nout[0] = y[1, 0].to(fx.Int32)",
        f"{_SQUARE}out[0] = square.T[1, 0].to(fx.Int32)",
    ),
    "a reshaped tensor": (
        "y = fx.make_view(fx.get_iter(x), fx.make_layout((8, 8), (8, 1)))\nout[0] = y[1, 0].to(fx.Int32)",
    ),
    "the number of elements of a tensor": ("out[0] = fx.size(x)", "out[0] = x.shape[0]"),
    "the number of modes of a tensor": ("out[0] = x.rank",),
    "the sum of a tensor": (
        f'{_TILE}out[0] = tile.load().reduce("add").to(fx.Int32)',
        'reduce = fx.coop.BlockReduce(fx.Float32)\nout[0] = reduce.reduce(x[0], "add").to(fx.Int32)',
    ),
    "the sum of a vector": (f'{_VECTOR}out[0] = v.reduce("add").to(fx.Int32)',),
    "a converted tensor": (
        "y = x[0].to(fx.Float16)\nout[0] = y.to(fx.Int32)",
        f"{_TILE}y = tile.load().to(fx.Float16)\nout[0] = y[0].to(fx.Int32)",
    ),
    "a method for a function": ("out[0] = fx.sqrt(fx.Float32(n)).to(fx.Int32)",),
    "a name with a letter missing": ("y = x.element_type",),
    "a name of Triton": ("out[0] = fx.block_idx.x + fx.thread_idx.x",),
    "a name of CUDA": ("fx.barrier()",),
    "an atomic as a function": (
        "every_second = fx.make_view(fx.get_iter(out), fx.make_layout(4, 2))\n"
        "fx.mem_ops.atomic_add(fx.get_iter(every_second), fx.Int32(1), fx.crd2idx(n - 4, every_second.layout))",
        "one = fx.make_rmem_tensor(1, fx.Int32)\none.fill(1)\n"
        "atom = fx.make_copy_atom(fx.UniversalAtomicAdd(fx.Int32), fx.Int32)\n"
        "fx.copy(atom, one, fx.make_view(fx.get_iter(out), fx.make_layout(1, 1)))",
    ),
    "a tile as CuTe writes it": (
        "y = fx.zipped_divide(x, fx.make_layout(4, 1))[None, 0]\nout[0] = y[0].to(fx.Int32)",
        f"{_SQUARE}atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)\n"
        "tiled = fx.make_tiled_copy_tv(atom, fx.make_layout((4, 1), (1, 0)), fx.make_layout((1, 4), (0, 1)))\n"
        "tile = fx.zipped_divide(square, (4, 4))[None, (0, 0)]\n"
        "part = tiled.get_slice(fx.thread_idx.x).partition_S(tile)",
    ),
    "an index as CuTe writes it": (
        "out[0] = fx.thread_idx.x + fx.block_idx.x + fx.lane_id() + fx.shuffle_xor(n, 1, 64)\nfx.barrier()",
    ),
    "a number type in small letters": ("y = fx.Float32(n)",),
    "a shuffle without a width": ("out[0] = fx.shuffle_xor(n, 1, 64)",),
    "a copy of an array of any length": (
        "target = fx.make_rmem_tensor(4, fx.Float32)\nfx.copy(fx.zipped_divide(x, 4)[None, 0], target)",
    ),
    "a `printf` in the style of C": ('fx.printf("{} {:.3f}", n, x[0])',),
    "a `printf` of an f-string": ('fx.printf("{} is first", x[0])',),
    "a B of (K, N) in `fx.gemm`": (
        """
        A = fx.make_view(fx.get_iter(x), fx.make_layout((1, 2), (2, 1)))
        B = fx.make_view(fx.get_iter(x), fx.make_layout((2, 1), (1, 1)))
        C = fx.make_view(fx.get_iter(x), fx.make_layout((1, 1), (1, 1)))
        mma = fx.make_tiled_mma(fx.make_mma_atom(fx.UniversalFMA(fx.Float32)), fx.make_layout((1, 1, 1), (0, 0, 0)))
        B = fx.select(B, [1, 0])
        a, b, c = mma.make_fragment_A(A), mma.make_fragment_B(B), mma.make_fragment_C(C)
        for tensor in (a, b, c):
            tensor.fill(1.0)
        fx.gemm(mma, c, a, b, c)
        """,
    ),
}  # fmt: skip

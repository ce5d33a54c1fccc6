"""Mistakes with memory, arguments and launches."""

from __future__ import annotations

from flydsl.base.errors import (
    DslFrozenInstanceError,
    DslRuntimeError,
    DslTypeError,
    DslValueError,
    LayoutError,
    LoweringError,
    UnsupportedError,
)
from tests.unit.errors.mistake import Mistake, in_kernel, whole_file

MEMORY = "Structs and shared memory"
ARGUMENTS = "Arguments and launches"

MISTAKES: tuple[Mistake, ...] = (
    in_kernel(
        MEMORY,
        "more shared memory than the target has",
        DslRuntimeError,
        RuntimeError,
        ("81920 bytes", "gfx942 has 65536", "Array[Float32, 8192]", "fx.Union"),
        """
        shared = fx.SharedAllocator()
        tile = shared.allocate(fx.Array[fx.Float32, 64 * 128])
        more = shared.allocate(fx.Array[fx.Float32, 96 * 128])  # here
    """,
    ),
    in_kernel(
        MEMORY,
        "a second shared allocator",
        DslRuntimeError,
        RuntimeError,
        ("one", "allocate"),
        """
        first = fx.SharedAllocator()
        second = fx.SharedAllocator()  # here
    """,
    ),
    in_kernel(
        MEMORY,
        "a field that memory cannot hold",
        DslTypeError,
        TypeError,
        ("Float4E2M1FN",),
        """
        Pair = fx.Struct["a" : fx.Int32, "b" : fx.Float4E2M1FN]
        pair = fx.SharedAllocator().allocate(Pair)  # here
    """,
    ),
    in_kernel(
        MEMORY,
        "assigning a field of a struct",
        DslFrozenInstanceError,
        AttributeError,
        ("replace",),
        """
        @fx.struct
        class Point:
            x: fx.Int32
            y: fx.Int32

        point = Point(n, 2)
        point.x = 3  # here
    """,
    ),
    in_kernel(
        MEMORY,
        "poking a whole array",
        UnsupportedError,
        NotImplementedError,
        ("element",),
        """
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 4])
        tile.poke([1, 2, 3, 4])  # here
    """,
    ),
    in_kernel(
        MEMORY,
        "an unknown shuffle",
        DslValueError,
        ValueError,
        ("rotate", "xor"),
        """
        out[0] = fx.gpu.shuffle(n, 1, 32, mode="rotate")  # here
    """,
    ),
    in_kernel(
        MEMORY,
        "a shuffle over a number of lanes that there is none for",
        DslValueError,
        ValueError,
        ("a shuffle over 3 lanes", "1, 2, 4, 8, 16, 32 or 64"),
        """
        out[0] = fx.shuffle_xor(n, 1, 3)  # here
    """,
    ),
    whole_file(
        ARGUMENTS,
        "a kernel called outside a jit function",
        DslRuntimeError,
        RuntimeError,
        ("outside a jit function", "@flyc.jit"),
        """
        @flyc.kernel
        def fill(out: fx.Tensor):
            out[fx.thread_idx.x] = 1


        fill(np.zeros(4, np.float32))  # here
    """,
    ),
    whole_file(
        ARGUMENTS,
        "a kernel that is called and never launched",
        DslRuntimeError,
        RuntimeError,
        ("'fill'", "never launched", ".launch("),
        """
        @flyc.kernel
        def fill(out: fx.Tensor):
            out[fx.thread_idx.x] = 1


        @flyc.jit
        def launch(out: fx.Tensor):
            fill(out)  # here


        launch(np.zeros(4, np.float32))
    """,
    ),
    whole_file(
        ARGUMENTS,
        "a kernel launched with brackets",
        DslTypeError,
        TypeError,
        ("fill[grid]", ".launch("),
        """
        @flyc.kernel
        def fill(out: fx.Tensor):
            out[fx.thread_idx.x] = 1


        fill[(1,)](np.zeros(4, np.float32))  # here
    """,
    ),
    whole_file(
        ARGUMENTS,
        "an argument of an unknown type",
        DslTypeError,
        TypeError,
        ("'out'", "str"),
        """
        @flyc.jit
        def fill(out: fx.Tensor):  # here
            pass


        fill("text")
    """,
    ),
    whole_file(
        ARGUMENTS,
        "a tensor without a unit stride",
        DslRuntimeError,
        RuntimeError,
        ("stride 1", "from_dlpack"),
        """
        @flyc.jit
        def fill(out: fx.Tensor):  # here
            pass


        fill(np.zeros((8, 8), np.float32)[::2, ::2])
    """,
    ),
    whole_file(
        ARGUMENTS,
        "nothing in the place of a tensor",
        DslTypeError,
        TypeError,
        ("argument 'bias'", "annotated fx.Tensor", "NoneType"),
        """
        @flyc.jit
        def add(out: fx.Tensor, bias: fx.Tensor = None):  # here
            pass


        add(np.zeros(8, np.float32))
    """,
    ),
    whole_file(
        ARGUMENTS,
        "a float for an integer parameter",
        DslTypeError,
        TypeError,
        ("argument 'n'", "Int32", "the float 3.5"),
        """
        @flyc.jit
        def fill(out: fx.Tensor, n: fx.Int32):  # here
            pass


        fill(np.zeros(8, np.float32), 7 / 2)
    """,
    ),
    whole_file(
        ARGUMENTS,
        "an array resized after it was wrapped",
        DslValueError,
        ValueError,
        ("argument 'out'", "extent 0 is 16 and was 8", "flyc.from_dlpack"),
        """
        @flyc.jit
        def fill(out: fx.Tensor):  # here
            pass


        out = np.zeros(8, np.float32)
        wrapped = flyc.from_dlpack(out)
        fill(wrapped)
        out.resize(16, refcheck=False)
        fill(wrapped)
    """,
    ),
    whole_file(
        ARGUMENTS,
        "an adaptor whose numbers are not what its types say",
        DslTypeError,
        TypeError,
        ("__c_abi_spec__", "'d'", "f32", '("f", …)'),
        """
        class Angle:
            def __init__(self, degrees):
                self.degrees = degrees

            def __get_ir_types__(self):
                return ["f32"]

            def __c_abi_spec__(self):
                return [("d", self.degrees)]


        flyc.JitArgumentRegistry.register_jit_arg(Angle, fx.Float32)


        @flyc.jit
        def turn(out: fx.Tensor, angle: Angle):  # here
            pass


        turn(np.zeros(8, np.float32), Angle(90.0))
    """,
    ),
    whole_file(
        ARGUMENTS,
        "a masked array",
        DslTypeError,
        TypeError,
        ("argument 'out'", "masked array", "filled("),
        """
        @flyc.jit
        def fill(out: fx.Tensor):  # here
            pass


        fill(np.ma.masked_array(np.zeros(8, np.float32), mask=[True, False] * 4))
    """,
    ),
    whole_file(
        ARGUMENTS,
        "a read-only array that the kernel writes",
        DslValueError,
        ValueError,
        ("'out'", "read-only", "copy()"),
        """
        @flyc.kernel
        def fill_kernel(out: fx.Tensor):
            out[fx.thread_idx.x] = 1.0  # here


        @flyc.jit
        def fill(out: fx.Tensor):
            fill_kernel(out).launch(grid=(1, 1, 1), block=(8, 1, 1))


        zeros = np.zeros(8, np.float32)
        zeros.flags.writeable = False
        fill(zeros)
    """,
    ),
    whole_file(
        ARGUMENTS,
        "a divisibility that is no power of two",
        DslValueError,
        ValueError,
        ("3", "power of two"),
        """
        x = np.zeros((8, 8), np.float32)
        flyc.from_dlpack(x).mark_layout_dynamic(divisibility=3)  # here
    """,
    ),
    whole_file(
        ARGUMENTS,
        "a Constexpr that is no constant",
        DslTypeError,
        TypeError,
        ("'tile'", "ndarray"),
        """
        @flyc.jit
        def fill(tile: fx.Constexpr[int]):  # here
            pass


        fill(np.zeros(3))
    """,
    ),
    whole_file(
        ARGUMENTS,
        "a block larger than the target allows",
        DslValueError,
        ValueError,
        ("2048 threads", "1024"),
        """
        @flyc.kernel
        def fill(out: fx.Tensor):
            out[fx.thread_idx.x] = 1


        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            fill(out).launch(grid=(1, 1, 1), block=(2048, 1, 1))  # here
    """,
    ),
    whole_file(
        ARGUMENTS,
        "a block that is not the known one",
        DslValueError,
        ValueError,
        ("128", "256"),
        """
        @flyc.kernel(known_block_size=(256, 1, 1))
        def fill(out: fx.Tensor):
            out[fx.thread_idx.x] = 1


        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            fill(out).launch(grid=(1, 1, 1), block=(128, 1, 1))  # here
    """,
    ),
    whole_file(
        ARGUMENTS,
        "a block size asked for and not known",
        DslRuntimeError,
        RuntimeError,
        ("known_block_size",),
        """
        @flyc.kernel
        def fill(out: fx.Tensor):
            threads, _, _ = fx.known_block_size()  # here


        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            fill(out).launch(grid=(1, 1, 1), block=(n, 1, 1))
    """,
    ),
    whole_file(
        ARGUMENTS,
        "too little dynamic shared memory",
        DslValueError,
        ValueError,
        ("smem", "1024"),
        """
        @flyc.kernel
        def fill(out: fx.Tensor):
            shared = fx.SharedAllocator(static=False)
            shared.allocate(fx.Array[fx.Float32, 256])


        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            fill(out).launch(grid=(1, 1, 1), block=(64, 1, 1), smem=512)  # here
    """,
    ),
    whole_file(
        ARGUMENTS,
        "more shared memory than there is",
        DslRuntimeError,
        RuntimeError,
        ("65536", "34464", "smem="),
        """
        @flyc.kernel
        def fill(out: fx.Tensor):
            out[fx.thread_idx.x] = 0.0


        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            fill(out).launch(grid=(1, 1, 1), block=(64, 1, 1), smem=100000)  # here
    """,
    ),
    whole_file(
        ARGUMENTS,
        "shared memory that is no number of bytes",
        DslTypeError,
        TypeError,
        ("smem", "1.5"),
        """
        @flyc.kernel
        def fill(out: fx.Tensor):
            out[fx.thread_idx.x] = 0.0


        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            fill(out).launch(grid=(1, 1, 1), block=(64, 1, 1), smem=1.5)  # here
    """,
    ),
    whole_file(
        ARGUMENTS,
        "a kernel that returns a value",
        DslTypeError,
        TypeError,
        ("tensor argument",),
        """
        @flyc.kernel
        def first(x: fx.Tensor):
            return x[0]  # here


        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            first(x).launch(grid=(1, 1, 1), block=(1, 1, 1))
    """,
    ),
    whole_file(
        ARGUMENTS,
        "a block that is empty at run time",
        DslRuntimeError,
        RuntimeError,
        ("(0, 1, 1)",),
        """
        @flyc.kernel
        def fill(out: fx.Tensor):
            out[fx.thread_idx.x] = 1


        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            fill(out).launch(grid=(1, 1, 1), block=(n - 5, 1, 1))  # here
    """,
    ),
    whole_file(
        ARGUMENTS,
        "a barrier that part of a block does not reach",
        DslRuntimeError,
        RuntimeError,
        ("barrier",),
        """
        @flyc.kernel
        def meet(out: fx.Tensor):
            if fx.thread_idx.x < 3:
                fx.barrier()  # here


        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            meet(out).launch(grid=(1, 1, 1), block=(64, 1, 1))
    """,
    ),
    whole_file(
        ARGUMENTS,
        "compiled code called with another element type",
        DslTypeError,
        TypeError,
        ("argument 'x'", "f32", "f64"),
        """
        @flyc.kernel
        def first(out: fx.Tensor, x: fx.Tensor):
            out[0] = x[0]


        @flyc.jit
        def run(out: fx.Tensor, x: fx.Tensor):
            first(out, x).launch()


        out, x = np.zeros(4, np.float32), np.ones(4, np.float32)
        compiled = flyc.compile(run, out, x)
        compiled(out, x.astype(np.float64))  # here
    """,
    ),
    whole_file(
        ARGUMENTS,
        "a compile hint that does not exist",
        DslValueError,
        ValueError,
        ("'waves'", "waves_per_eu"),
        """
        fast = flyc.compile[{"waves": 2}]  # here
    """,
    ),
    whole_file(
        ARGUMENTS,
        "launching with the description of an array",
        DslValueError,
        ValueError,
        ("argument 'out'", "no data", "warmup()"),
        """
        @flyc.kernel
        def fill(out: fx.Tensor):
            out[0] = 1


        @flyc.jit
        def run(out: fx.Tensor):  # here
            fill(out).launch()


        run(flyc.TensorSpec((4,), fx.Int32))
    """,
    ),
    whole_file(
        ARGUMENTS,
        "a tile across the modes of an array whose extents it does not fit",
        DslRuntimeError,
        RuntimeError,
        ("zipped_divide of 'x'", "a step of 4 does not fit the mode of extent 6", "from_dlpack"),
        """
        @flyc.kernel
        def kernel(x: fx.Tensor, out: fx.Tensor):
            tiles = fx.zipped_divide(x, fx.make_layout(4, 1))  # here
            out[0] = tiles[0, 1]


        @flyc.jit
        def launch(x: fx.Tensor, out: fx.Tensor):
            kernel(x, out).launch(grid=(1, 1, 1), block=(1, 1, 1))


        launch(np.zeros((4, 6), np.float32).T, np.zeros(4, np.float32))
    """,
    ),
    in_kernel(
        ARGUMENTS,
        "a layout whose fit only the running kernel knows",
        LoweringError,
        RuntimeError,
        ("for all that is known before the kernel runs", "arguments, and extents of tensors"),
        """
        rows = out[0]
        layout = fx.make_layout((rows, 4), (1, 64))
        tile = fx.logical_divide(layout, fx.make_layout(4, 1))  # here
        out[1] = fx.get_scalar(fx.crd2idx(5, tile))
    """,
    ),
    in_kernel(
        ARGUMENTS,
        "the inverse of a layout whose strides are not known",
        LayoutError,
        ValueError,
        ("has no inverse while compiling", "from_dlpack"),
        """
        inverse = fx.left_inverse(fx.make_layout((4, 8), (n, 1)))  # here
    """,
    ),
)

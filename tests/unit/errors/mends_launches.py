"""What the advice on arguments and launches comes to: whole programs, by the title of the mistake."""

from __future__ import annotations

_FILL = """
@flyc.kernel
def fill(out: fx.Tensor):
    out[fx.thread_idx.x] = 1


"""
_FILL_WITH = """
@flyc.kernel
def fill(out: fx.Tensor, n: fx.Constexpr[int]):
    out[fx.thread_idx.x] = n


"""
_LAUNCH = """@flyc.jit
def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
    """
_FILL_ZEROS = f"""{_FILL}@flyc.jit
def launch_fill(out: fx.Tensor):
    fill(out).launch(grid=(1, 1, 1), block=(4, 1, 1))


launch_fill(np.zeros(4, np.float32))
"""

MENDS: dict[str, tuple[str, ...]] = {
    "a tile across the modes of an array whose extents it does not fit": (
        """
@flyc.kernel
def tiled(x: fx.Tensor, out: fx.Tensor):
    tiles = fx.zipped_divide(x, (4, 1))
    out[0] = tiles[0, (0, 1)]


@flyc.jit
def run(x: fx.Tensor, out: fx.Tensor):
    tiled(x, out).launch(grid=(1, 1, 1), block=(1, 1, 1))


run(np.zeros((4, 6), np.float32).T, np.zeros(4, np.float32))
""",
    ),
    "a large array that can be written": (
        """
table = np.zeros(1 << 20)
table.flags.writeable = False


@flyc.kernel
def kernel(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
    out[0] = int(table[0])
""",
    ),
    "a long list": (
        """
table = tuple(range(20_000))


@flyc.kernel
def kernel(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
    out[0] = table[0]
""",
    ),
    "an iterator": (
        """
table = tuple(iter([1, 2]))


@flyc.kernel
def kernel(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
    out[0] = table[0]
""",
    ),
    "a kernel called outside a jit function": (_FILL_ZEROS,),
    "a kernel that is called and never launched": (_FILL_ZEROS,),
    "a kernel launched with brackets": (_FILL_ZEROS,),
    "an argument of an unknown type": (
        """
@flyc.jit
def fill(out: fx.Tensor, number, text: fx.Constexpr[str]):
    pass


fill(np.zeros(4), 3, "text")
""",
    ),
    "a tensor without a unit stride": (
        """
@flyc.jit
def fill(out: fx.Tensor):
    assert str(out.stride) == "(16,2)"


fill(flyc.from_dlpack(np.zeros((8, 8), np.float32)[::2, ::2]))
""",
    ),
    "nothing in the place of a tensor": (
        """
@flyc.jit
def add(out: fx.Tensor, bias: fx.Tensor | None = None):
    assert bias is None


add(np.zeros(8, np.float32))
""",
        """
@flyc.jit
def add(out: fx.Tensor, bias: fx.Tensor = None):
    pass


add(np.zeros(8, np.float32), np.zeros(8, np.float32))
""",
    ),
    "a float for an integer parameter": (
        """
@flyc.jit
def fill(out: fx.Tensor, n: fx.Int32):
    pass


fill(np.zeros(8, np.float32), int(7 / 2))
""",
        """
@flyc.jit
def fill(out: fx.Tensor, n: fx.Float32):
    pass


fill(np.zeros(8, np.float32), 7 / 2)
""",
    ),
    "an array resized after it was wrapped": (
        """
@flyc.jit
def fill(out: fx.Tensor):
    pass


out = np.zeros(8, np.float32)
fill(flyc.from_dlpack(out))
out.resize(16, refcheck=False)
fill(flyc.from_dlpack(out))
""",
        """
@flyc.jit
def fill(out: fx.Tensor):
    pass


out = np.zeros(8, np.float32)
wrapped = flyc.from_dlpack(out).mark_layout_dynamic()
fill(wrapped)
out.resize(16, refcheck=False)
fill(wrapped)
""",
    ),
    "an adaptor whose numbers are not what its types say": (
        """
class Angle:
    def __init__(self, degrees):
        self.degrees = degrees

    def __get_ir_types__(self):
        return ["f32"]

    def __c_abi_spec__(self):
        return [("f", self.degrees)]


flyc.JitArgumentRegistry.register_jit_arg(Angle, fx.Float32)


@flyc.jit
def turn(out: fx.Tensor, angle: Angle):
    pass


turn(np.zeros(8, np.float32), Angle(90.0))
""",
    ),
    "a masked array": (
        """
@flyc.jit
def fill(out: fx.Tensor, valid: fx.Tensor):
    pass


masked = np.ma.masked_array(np.zeros(8, np.float32), mask=[True, False] * 4)
fill(masked.filled(0), np.ma.getmaskarray(masked))
fill(masked.data, masked.mask)
""",
    ),
    "a read-only array that the kernel writes": (
        f"""{_FILL}@flyc.jit
def launch_fill(out: fx.Tensor):
    fill(out).launch(grid=(1, 1, 1), block=(8, 1, 1))


zeros = np.zeros(8, np.float32)
zeros.flags.writeable = False
launch_fill(zeros.copy())
""",
    ),
    "a divisibility that is no power of two": (
        """
x = np.zeros((8, 8), np.float32)
flyc.from_dlpack(x).mark_layout_dynamic(divisibility=1)
""",
    ),
    "a Constexpr that is no constant": (
        """
@flyc.jit
def fill(tile: fx.Tensor):
    pass


fill(np.zeros(3))
""",
    ),
    "a block larger than the target allows": (f"{_FILL}{_LAUNCH}fill(out).launch(grid=(2, 1, 1), block=(4, 1, 1))\n",),
    "a block that is not the known one": (
        f"{_FILL.replace('kernel', 'kernel(known_block_size=(4, 1, 1))')}{_LAUNCH}"
        "fill(out).launch(grid=(1, 1, 1), block=(4, 1, 1))\n",
        f"{_FILL}{_LAUNCH}fill(out).launch(grid=(1, 1, 1), block=(8, 1, 1))\n",
    ),
    "a block size asked for and not known": (
        f"{_FILL.replace('kernel', 'kernel(known_block_size=(4, 1, 1))').replace('= 1', '= fx.known_block_size()[0]')}"
        f"{_LAUNCH}fill(out).launch(grid=(1, 1, 1), block=(n - 1, 1, 1))\n",
        f"{_FILL.replace('= 1', '= fx.known_block_size()[0]')}"
        f"{_LAUNCH}fill(out).launch(grid=(1, 1, 1), block=(4, 1, 1))\n",
    ),
    "too little dynamic shared memory": (
        """
@flyc.kernel
def fill(out: fx.Tensor):
    shared = fx.SharedAllocator(static=False)
    shared.allocate(fx.Array[fx.Float32, 256])


@flyc.jit
def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
    fill(out).launch(grid=(1, 1, 1), block=(64, 1, 1))
""",
    ),
    "more shared memory than there is": (
        f"{_FILL}{_LAUNCH}fill(out).launch(grid=(1, 1, 1), block=(8, 1, 1), smem=50000)\n",
    ),
    "shared memory that is no number of bytes": (
        f"{_FILL}{_LAUNCH}fill(out).launch(grid=(1, 1, 1), block=(8, 1, 1), smem=16)\n",
        f"{_FILL}{_LAUNCH}fill(out).launch(grid=(1, 1, 1), block=(8, 1, 1), smem=n * 4)\n",
    ),
    "a kernel that returns a value": (
        """
@flyc.kernel
def first(out: fx.Tensor, x: fx.Tensor):
    out[0] = x[0].to(fx.Int32)


@flyc.jit
def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
    first(out, x).launch(grid=(1, 1, 1), block=(1, 1, 1))
""",
    ),
    "a block that is empty at run time": (f"{_FILL}{_LAUNCH}fill(out).launch(grid=(1, 1, 1), block=(n, 1, 1))\n",),
    "a barrier that part of a block does not reach": (
        """
@flyc.kernel
def meet(out: fx.Tensor):
    if fx.thread_idx.x < 3:
        out[fx.thread_idx.x] = 1
    fx.barrier()


@flyc.jit
def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
    meet(out).launch(grid=(1, 1, 1), block=(64, 1, 1))
""",
    ),
    "compiled code called with another element type": (
        """
@flyc.kernel
def first(out: fx.Tensor, x: fx.Tensor):
    out[0] = x[0].to(fx.Float32)


@flyc.jit
def run(out: fx.Tensor, x: fx.Tensor):
    first(out, x).launch()


out, x = np.zeros(4, np.float32), np.ones(4, np.float32)
compiled = flyc.compile(run, out, x)
run(out, x.astype(np.float64))
""",
    ),
    "a compile hint that does not exist": (
        """
fast = flyc.compile[{"waves_per_eu": 2}]
more = flyc.compile[{"maxnreg": 64, "fast_fp_math": True, "unsafe_fp_math": True, "llvm_options": {}}]
""",
    ),
    "launching with the description of an array": (
        f"""{_FILL}@flyc.jit
def run(out: fx.Tensor):
    fill(out).launch()


run(np.zeros(4, np.int32))
run.warmup(flyc.TensorSpec((4,), fx.Int32))
flyc.compile(run, flyc.TensorSpec((4,), fx.Int32))
""",
    ),
    "a kernel called with an argument missing": (f"{_FILL_WITH}{_LAUNCH}fill(out, 1).launch(block=4)\n",),
    "a kernel called with an argument too many": (f"{_FILL_WITH}{_LAUNCH}fill(out, 1).launch(block=4)\n",),
    "a run-time number for a compile-time parameter of a kernel": (
        f"{_FILL_WITH}{_LAUNCH.replace('n: fx.Int32', 'n: fx.Constexpr[int]')}fill(out, n).launch(block=4)\n",
        f"{_FILL_WITH.replace('fx.Constexpr[int]', 'fx.Int32')}{_LAUNCH}fill(out, n).launch(block=4)\n",
    ),
    "a float for a compile-time int": (
        f"{_FILL_WITH}{_LAUNCH}fill(out, int(2.5)).launch(block=4)\n",
        f"{_FILL_WITH.replace('[int]', '[float]').replace('= n', '= int(n)')}{_LAUNCH}fill(out, 2.5).launch(block=4)\n",
    ),
    "a launch without names": (f"{_FILL_WITH}{_LAUNCH}fill(out, 1).launch(grid=(1, 1, 1), block=(4, 1, 1))\n",),
    "a launch with a name that it lacks": (f"{_FILL_WITH}{_LAUNCH}fill(out, 1).launch(grid=1, block=4)\n",),
    "a grid that is divided by `/`": (
        f"{_FILL_WITH}{_LAUNCH}fill(out, 1).launch(grid=n // 2, block=4)\n",
        f"{_FILL_WITH}{_LAUNCH}fill(out, 1).launch(grid=fx.ceildiv(n, 256), block=4)\n",
    ),
    "a block that is divided by `/`": (
        f"{_FILL_WITH}{_LAUNCH}fill(out, 1).launch(block=out.shape[0] // 2)\n",
        f"{_FILL_WITH}{_LAUNCH}fill(out, 1).launch(block=fx.ceildiv(out.shape[0], 256))\n",
    ),
    "a kernel that takes any arguments": (
        """
@flyc.kernel
def fill(out: fx.Tensor, value: fx.Int32):
    out[0] = value


@flyc.jit
def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
    fill(out, n).launch()
""",
    ),
    "an `assert` of extents in a jit function": (
        """
@flyc.jit
def copy(out: fx.Tensor, x: fx.Tensor):
    pass


a, b = np.zeros(8, np.float32), np.zeros(8, np.float32)
assert a.shape == b.shape, "lengths differ"
copy(a, b)
""",
        """
@flyc.jit
def copy(out: fx.Tensor, x: fx.Tensor):
    assert out.shape[0] == x.shape[0], "lengths differ"


copy(flyc.from_dlpack(np.zeros(8, np.float32)), flyc.from_dlpack(np.zeros(8, np.float32)))
""",
    ),
    "a `raise` about extents in a jit function": (
        """
@flyc.jit
def copy(out: fx.Tensor, x: fx.Tensor, n: fx.Constexpr[int]):
    if out.shape[0] != x.shape[0] or n > 8 or out.dtype is not x.dtype:
        raise ValueError("they differ")


copy(flyc.from_dlpack(np.zeros(8, np.float32)), flyc.from_dlpack(np.zeros(8, np.float32)), 8)
""",
    ),
    "`try` inside a run-time branch": (
        """
@flyc.kernel
def kernel(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
    if n > 2:
        out[0] = 1
    else:
        out[0] = 2
""",
        """
def number(text):
    try:
        return int(text)
    except ValueError:
        return 7


@flyc.kernel
def kernel(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
    if n > 2:
        out[0] = number("seven")
""",
    ),
}

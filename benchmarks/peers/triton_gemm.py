"""Worker of `isa_quality.py`, run by Triton's own interpreter: the GEMM of its tutorial, compiled for one AMD target.

Like ours, it needs no mask along K and has a tile of 128 x 128 x 64, four waves, two stages and matrix instructions of
16 rows. With `known` it knows N and K while compiling, as ours does; with `run-time` they are arguments, as in the
tutorial. Pointers and numbers are stated to be multiples of 16.
"""

import sys

sys.path.insert(1, sys.path[0] + "/..")
from timing import Stopwatch

watch = Stopwatch()
with watch("import"):
    import triton

import triton.language as tl  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

TILE = (128, 128, 64)
N, K = 4096, 4096


def gemm(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tl.program_id(1), tl.program_id(0)
    rows, columns = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a_ptrs = a_ptr + (rows % M)[:, None] * K + depth[None, :]
    b_ptrs = b_ptr + columns[None, :] * K + depth[:, None]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(K // BK):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += BK
        b_ptrs += BK
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.float16), mask=(rows < M)[:, None])


def compiled(arch, known):
    types = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16", "M": "i32", "N": "i32", "K": "i32"}
    constants = {(6,): TILE[0], (7,): TILE[1], (8,): TILE[2]}
    if known:
        constants.update({(4,): N, (5,): K})
    names = [*types, "BM", "BN", "BK"]
    types.update({names[i]: "constexpr" for (i,) in constants})
    multiples = {(i,): [["tt.divisibility", 16]] for i in range(6) if (i,) not in constants}
    source = ASTSource(fn=triton.jit(gemm), signature=types, constexprs=constants, attrs=multiples)
    options = {"num_warps": 4, "num_stages": 2, "matrix_instr_nonkdim": 16}
    return triton.compile(source, target=GPUTarget("hip", arch, 64), options=options)


with watch("compile"):
    result = compiled(sys.argv[1], sys.argv[2] == "known")

watch.report(
    version=triton.__version__,
    python=sys.version.split()[0],
    assembly=result.asm["amdgcn"],
    lds=result.metadata.shared,
)

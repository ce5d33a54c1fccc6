"""Worker of `isa_table.py`, run by Triton's own interpreter: kernels of given tiles, compiled for one AMD target.

    triton_tiles.py gfx950 "f16 256x256x64, 8 waves" "attention d=128"

Products are those of Triton's tutorial with N and K known while compiling, two stages, and matrix instructions of 16
rows; those with block scales use `tl.dot_scaled`. Attention is the forward pass of the tutorial without a mask. It
prints JSON: for each name its assembly and LDS, or why Triton has none.
"""

import json
import re
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

N, K = 4096, 4096


def gemm(a_ptr, b_ptr, c_ptr, M, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, N: tl.constexpr,
         K: tl.constexpr, SUM: tl.constexpr):  # fmt: skip
    row, column = tl.program_id(1), tl.program_id(0)
    rows, columns = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a_ptrs = a_ptr + (rows % M)[:, None] * K + depth[None, :]
    b_ptrs = b_ptr + columns[None, :] * K + depth[:, None]
    total = tl.zeros((BM, BN), dtype=SUM)
    for _ in range(K // BK):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total, out_dtype=SUM)
        a_ptrs += BK
        b_ptrs += BK
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.float16), mask=(rows < M)[:, None])


def block_gemm(a_ptr, b_ptr, c_ptr, sa_ptr, sb_ptr, M, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
               N: tl.constexpr, K: tl.constexpr):  # fmt: skip
    """A scale for 128 elements of a row of A, and one for 128 by 128 elements of B."""
    row, column = tl.program_id(1), tl.program_id(0)
    rows, columns = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a_ptrs = a_ptr + (rows % M)[:, None] * K + depth[None, :]
    b_ptrs = b_ptr + columns[None, :] * K + depth[:, None]
    sa_ptrs, sb_ptrs = sa_ptr + rows % M, sb_ptr + column * BN // 128 * (K // 128)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(K // BK):
        part = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs))
        total += part * (tl.load(sa_ptrs) * tl.load(sb_ptrs))[:, None]
        a_ptrs += BK
        b_ptrs += BK
        sa_ptrs += M
        sb_ptrs += 1
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.bfloat16), mask=(rows < M)[:, None])


def mx_gemm(a_ptr, b_ptr, c_ptr, sa_ptr, sb_ptr, M, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
            N: tl.constexpr, K: tl.constexpr, KIND: tl.constexpr, PACK: tl.constexpr, B_KIND: tl.constexpr,
            B_PACK: tl.constexpr):  # fmt: skip
    row, column = tl.program_id(1), tl.program_id(0)
    rows, columns = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    groups = tl.arange(0, BK // 32)
    a_ptrs = a_ptr + (rows % M)[:, None] * (K // PACK) + tl.arange(0, BK // PACK)[None, :]
    b_ptrs = b_ptr + columns[None, :] * (K // B_PACK) + tl.arange(0, BK // B_PACK)[:, None]
    sa_ptrs = sa_ptr + (rows % M)[:, None] * (K // 32) + groups[None, :]
    sb_ptrs = sb_ptr + columns[:, None] * (K // 32) + groups[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(K // BK):
        a, b, sa, sb = tl.load(a_ptrs), tl.load(b_ptrs), tl.load(sa_ptrs), tl.load(sb_ptrs)
        total = tl.dot_scaled(a, sa, KIND, b, sb, B_KIND, total)
        a_ptrs += BK // PACK
        b_ptrs += BK // B_PACK
        sa_ptrs += BK // 32
        sb_ptrs += BK // 32
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.bfloat16), mask=(rows < M)[:, None])


def attention(q_ptr, k_ptr, v_ptr, o_ptr, scale, tokens, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head, first = tl.program_id(1), tl.program_id(0) * BM
    rows, keys, columns = first + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    base = head * tokens * D
    q = tl.load(q_ptr + base + rows[:, None] * D + columns[None, :])
    k_ptrs = k_ptr + base + keys[None, :] * D + columns[:, None]
    v_ptrs = v_ptr + base + keys[:, None] * D + columns[None, :]
    top = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    for _ in range(0, tokens, BN):
        scores = tl.dot(q, tl.load(k_ptrs)) * scale
        highest = tl.maximum(top, tl.max(scores, 1))
        powers = tl.exp2(scores - highest[:, None])
        shrink = tl.exp2(top - highest)
        total = total * shrink + tl.sum(powers, 1)
        result = tl.dot(powers.to(tl.bfloat16), tl.load(v_ptrs), result * shrink[:, None])
        top = highest
        k_ptrs += BN * D
        v_ptrs += BN * D
    tl.store(o_ptr + base + rows[:, None] * D + columns[None, :], (result / total[:, None]).to(tl.bfloat16))


def softmax(x_ptr, y_ptr, N: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, N)
    x = tl.load(x_ptr + row * N + columns).to(tl.float32)
    powers = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * N + columns, (powers / tl.sum(powers, 0)).to(tl.float16))


def compiled(arch, function, types, constants, **options):
    """A kernel whose pointers and numbers are multiples of 16."""
    names = [*types, *constants]
    places = {name: (names.index(name),) for name in names}
    source = ASTSource(
        fn=triton.jit(function),
        signature={**types, **dict.fromkeys(constants, "constexpr")},
        constexprs={places[name]: value for name, value in constants.items()},
        attrs={places[name]: [["tt.divisibility", 16]] for name, kind in types.items() if kind != "fp32"},
    )
    lanes = 64 if arch.startswith("gfx9") else 32
    return triton.compile(source, target=GPUTarget("hip", arch, lanes), options={"num_stages": 2, **options})


def made(arch, name):
    if name.startswith("attention"):
        types = {
            "q_ptr": "*bf16",
            "k_ptr": "*bf16",
            "v_ptr": "*bf16",
            "o_ptr": "*bf16",
            "scale": "fp32",
            "tokens": "i32",
        }
        sizes = {"D": int(name.split("=")[1]), "BM": 128, "BN": 64 if arch.startswith("gfx9") else 32}
        waves = 4 if arch.startswith("gfx9") else 8
        return compiled(arch, attention, types, sizes, num_warps=waves, waves_per_eu=2)
    if name.startswith("softmax"):
        return compiled(arch, softmax, {"x_ptr": "*fp16", "y_ptr": "*fp16"}, {"N": int(name.split()[1])}, num_warps=4)
    kind, *tile, waves, stages = re.fullmatch(r"(\w+) (\d+)x(\d+)x(\d+), (\d) waves(?:, (\d) stages)?", name).groups()
    sizes = {**dict(zip(("BM", "BN", "BK"), map(int, tile))), "N": N, "K": K}
    options = {"num_warps": int(waves), "matrix_instr_nonkdim": 16, "num_stages": int(stages or 2)}
    if kind.startswith("mx"):
        bits = [int(digit) for digit in kind.removeprefix("mxfp").split("_fp")]
        formats, packs = [["e2m1", "e4m3"][of == 8] for of in bits], [8 // of for of in bits]
        pointers = [["*u8", "*fp8e4nv"][of == 8] for of in bits]
        types = {"a_ptr": pointers[0], "b_ptr": pointers[-1], "c_ptr": "*bf16", "sa_ptr": "*u8", "sb_ptr": "*u8",
                 "M": "i32"}  # fmt: skip
        more = {"KIND": formats[0], "PACK": packs[0], "B_KIND": formats[-1], "B_PACK": packs[-1]}
        return compiled(arch, mx_gemm, types, {**sizes, **more}, **options)
    fp8 = "fp8e4b8" if arch == "gfx942" else "fp8e4nv"
    if kind == "blockscale":
        types = {"a_ptr": f"*{fp8}", "b_ptr": f"*{fp8}", "c_ptr": "*bf16", "sa_ptr": "*fp32", "sb_ptr": "*fp32",
                 "M": "i32"}  # fmt: skip
        return compiled(arch, block_gemm, types, sizes, **options)
    element = {"f16": "*fp16", "bf16": "*bf16", "fp8": f"*{fp8}", "int8": "*i8"}[kind]
    types = {"a_ptr": element, "b_ptr": element, "c_ptr": "*fp16", "M": "i32"}
    return compiled(arch, gemm, types, {**sizes, "SUM": tl.int32 if kind == "int8" else tl.float32}, **options)


found = {}
for name in sys.argv[2:]:
    try:
        result = made(sys.argv[1], name)
        found[name] = {"assembly": result.asm["amdgcn"], "lds": result.metadata.shared}
    except Exception as error:  # whatever keeps Triton from a kernel is what the table says of it
        found[name] = {"refused": f"{type(error).__name__}: {error}"[:80]}
print(json.dumps(found))

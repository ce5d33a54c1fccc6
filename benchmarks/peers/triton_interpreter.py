"""Worker of `virtual_gpu.py`, run by Triton's own environment with TRITON_INTERPRET=1: its kernels on the CPU."""

import sys

sys.path.insert(1, sys.path[0] + "/..")

import torch
import triton
import triton.language as tl
from timing import Stopwatch
from triton_kernels import add

ROWS, COLUMNS = 1024, 4096
LENGTH, BLOCK = 1 << 24, 1024
SIDE, TILE, DEPTH = 512, 128, 64


@triton.jit
def softmax(x_ptr, y_ptr, columns: tl.constexpr):
    at = tl.program_id(0) * columns + tl.arange(0, columns)
    x = tl.load(x_ptr + at)
    powers = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + at, powers / tl.sum(powers, axis=0))


@triton.jit
def gemm(a_ptr, b_ptr, c_ptr, side: tl.constexpr, tile: tl.constexpr, depth: tl.constexpr):
    rows = tl.program_id(0) * tile + tl.arange(0, tile)
    columns = tl.program_id(1) * tile + tl.arange(0, tile)
    total = tl.zeros((tile, tile), dtype=tl.float32)
    for first in range(0, side, depth):
        terms = first + tl.arange(0, depth)
        a = tl.load(a_ptr + rows[:, None] * side + terms[None, :])
        b = tl.load(b_ptr + columns[None, :] * side + terms[:, None])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + rows[:, None] * side + columns[None, :], total)


def run_softmax(watch, rounds):
    x = torch.randn(ROWS, COLUMNS)
    y = torch.full_like(x, float("nan"))
    for _ in range(rounds):
        with watch("softmax"):
            softmax[(ROWS,)](x, y, COLUMNS)
    torch.testing.assert_close(y, torch.softmax(x.double(), 1).float(), rtol=1e-4, atol=1e-7)


def run_add(watch, rounds):
    x, y = torch.randn(LENGTH), torch.randn(LENGTH)
    z = torch.full_like(x, float("nan"))
    for _ in range(rounds):
        with watch("add"):
            add[(LENGTH // BLOCK,)](x, y, z, LENGTH, BLOCK)
    assert torch.equal(z, x + y)


def run_gemm(watch, rounds):
    a, b = torch.randn(SIDE, SIDE).half(), torch.randn(SIDE, SIDE).half()
    c = torch.full((SIDE, SIDE), float("nan"))
    for _ in range(rounds):
        with watch("gemm"):
            gemm[(SIDE // TILE, SIDE // TILE)](a, b, c, SIDE, TILE, DEPTH)
    torch.testing.assert_close(c.double(), a.double() @ b.double().T, rtol=1e-3, atol=1e-3)


watch = Stopwatch()
# The first launches of a kernel do more than run it; the long one needs no more than one launch.
run_softmax(watch, 2)
run_add(watch, 1)
run_gemm(watch, 5)
watch.report(version=triton.__version__, torch=torch.__version__, python=sys.version.split()[0])

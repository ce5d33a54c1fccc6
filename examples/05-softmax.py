"""Softmax of the rows of a matrix, from the definition: a block a row, three turns over it, any length.

What is new here: a run-time loop that carries numbers, reductions over all threads of a block, and plain indexing
where no tile is needed. The library's softmax reads each row once and in wide accesses; this one is for reading.

Run it: python examples/05-softmax.py
"""

from __future__ import annotations

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx

THREADS = 256


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def softmax_rows(X: fx.Tensor, Y: fx.Tensor):
    x, y = X[fx.block_idx.x, :], Y[fx.block_idx.x, :]
    block = fx.coop.BlockReduce(fx.Float32)
    first, n = fx.thread_idx.x, x.shape[0]

    top = fx.Float32(float("-inf"))
    for i in range(first, n, THREADS):
        top = max(top, x[i])
    top = block.max(top)

    total = fx.Float32(0.0)
    for i in range(first, n, THREADS):
        total += fx.math.exp(x[i] - top)
    total = block.sum(total)

    for i in range(first, n, THREADS):
        y[i] = fx.math.exp(x[i] - top) / total


@flyc.jit
def softmax(X: fx.Tensor, Y: fx.Tensor, stream: fx.Stream = fx.Stream(None)):
    softmax_rows(X, Y).launch(grid=(X.shape[0], 1, 1), block=(THREADS, 1, 1), stream=stream)


def main() -> None:
    device = flyc.current_device()
    print(f"device: {device}, target: {device.target}")
    rng = np.random.default_rng()
    for shape in ((5, 1), (3, 7), (64, 1000), (2, 4097)):
        x = 10 * rng.standard_normal(shape, dtype=np.float32)
        y = np.full(shape, np.nan, np.float32)
        with device.arrays(x, y) as (dX, dY):
            softmax(dX, dY)
        powers = np.exp(x - x.max(axis=1, keepdims=True), dtype=np.float64)
        np.testing.assert_allclose(y, powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)
        print(f"softmax: {shape[0]} rows of {shape[1]} match NumPy")
    print("PASS")


if __name__ == "__main__":
    main()

"""Worker of `isa_quality.py` on our side: the preshuffle GEMM, compiled for the target that the parent chose.

Arrays are described, with a shape and no memory. With a folder as argument, the assembly that a dump wrote there is
handed over; without one the compile is as any other, and only its time is.
"""

from __future__ import annotations

import sys
from pathlib import Path

from timing import Stopwatch

TILE = (128, 128, 64)
M, N, K = 4096, 4096, 4096


def main() -> None:
    watch = Stopwatch()
    with watch("import"):
        import flydsl.compiler  # pyright: ignore[reportUnusedImport]
        import flydsl.expr  # pyright: ignore[reportUnusedImport]
    from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm

    spec = flydsl.compiler.TensorSpec
    a, b, c = spec((M, K), "float16"), spec((N, K), "float16"), spec((M, N), "float16")
    numbers = spec((M,), "float32")
    tile_m, tile_n, tile_k = TILE
    gemm = compile_preshuffle_gemm(
        N=N, K=K, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, in_dtype="fp16", out_dtype="fp16"
    )
    with watch("compile"):
        gemm.warmup(c, a, b, numbers, numbers, numbers, M, N)
    texts = [path.read_text() for path in Path(sys.argv[1]).rglob("*.s")] if sys.argv[1:] else [""]
    watch.report(version=flydsl.__version__, python=sys.version.split()[0], assembly=texts[0])


if __name__ == "__main__":
    main()

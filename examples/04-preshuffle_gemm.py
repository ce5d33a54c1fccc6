"""A matrix product as inference wants it: weights shuffled once on the host, activations through swizzled LDS.

What is new here: buffer tensors, whose reads beyond the end give zero, so that any number of rows works without masks;
a host layout that matches what lanes load; two tiles of LDS in turn, so that one is filled while the other is
multiplied; a scheduler of the hot loop, `Pipeline.schedule`, which spreads the accesses over the matrix instructions by
hints that the compiler checks against what it emitted; and the CShuffle epilogue, `store_rows`, which brings C into LDS
first so that neighbouring threads store neighbouring elements. The kernel is in `kernels/gemm/preshuffle_gemm.py`.

Run it: python examples/04-preshuffle_gemm.py [--m 512 --n 512 --k 512] [--dtype fp16|bf16|fp8] [--tile 128x128x64]
        [--epilogue cshuffle|direct] [--no-scheduler]
        (ARCH=gfx90a or gfx950 for another target; --m 4096 --n 4096 --k 4096 for a large one)
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import flydsl.compiler as flyc

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the kernels lie beside the examples
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm, shuffle_weight


def element_type(name: str, fnuz: bool) -> Any:
    """The element type of an input; targets differ in their 8-bit float."""
    if name == "fp8":
        return ml_dtypes.float8_e4m3fnuz if fnuz else ml_dtypes.float8_e4m3fn
    return {"fp16": np.float16, "bf16": ml_dtypes.bfloat16}[name]


def quantised(x: np.ndarray, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows scaled to the range of the type, and the scale of each row."""
    if dtype not in (ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e4m3fn):
        return x.astype(dtype), np.ones(len(x), np.float32)
    scale = (np.abs(x).max(axis=1) / float(ml_dtypes.finfo(dtype).max)).astype(np.float32)
    return (x / scale[:, None]).astype(dtype), scale


def amd_device() -> Any:
    """An AMD GPU if there is one, else the virtual one: the kernel is made of AMD's instructions."""
    if flyc.current_device().target.backend != "rocm":
        os.environ["FLYDSL_RUNTIME_KIND"] = "host"
    return flyc.current_device()


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="C = A * B^T with preshuffled B on the device at hand.")
    for name in "mnk":
        parser.add_argument(f"--{name}", type=int, default=512)
    parser.add_argument("--dtype", choices=("fp16", "bf16", "fp8"), default="fp16")
    parser.add_argument("--tile", default=None, help="rows x columns x depth of a block's tile, such as 128x128x64")
    parser.add_argument("--epilogue", choices=("cshuffle", "direct"), default="cshuffle", help="how C is stored")
    parser.add_argument("--no-scheduler", action="store_true", help="leave the order of the hot loop to LLVM")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] = ()) -> None:
    args, device = parsed(list(arguments)), amd_device()
    print(f"device: {device}, target: {device.target}")
    dtype = element_type(args.dtype, device.target.fnuz)
    m, n, k = args.m, args.n, args.k
    tile_m, tile_n, tile_k = map(int, (args.tile or f"128x128x{128 // np.dtype(dtype).itemsize}").split("x"))

    rng = np.random.default_rng()
    a, scale_a = quantised(rng.standard_normal((m, k), np.float32), dtype)
    b, scale_b = quantised(rng.standard_normal((n, k), np.float32), dtype)
    bias, c = np.zeros(n, np.float32), np.full((m, n), np.nan, np.float16)
    gemm = compile_preshuffle_gemm(
        N=n, K=k, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, in_dtype=args.dtype, out_dtype="fp16",
        enable_scheduler=not args.no_scheduler, use_cshuffle_epilog=args.epilogue == "cshuffle",
    )  # fmt: skip
    with device.arrays(c, a, shuffle_weight(b), scale_a, scale_b, bias) as arrays:
        gemm(*arrays, m, n)

    expected = (a.astype(np.float64) @ b.astype(np.float64).T) * np.outer(scale_a, scale_b)
    error = np.abs(c - expected).max() / np.abs(expected).max()
    assert error < 1e-3, error
    print(f"{args.dtype} {m} x {n} x {k} in tiles of {tile_m} x {tile_n} x {tile_k}: relative error {error:.1e}")
    print("PASS")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Every case that AMD's GEMMs are specified by, on virtual GPUs: a table of shapes, tiles and types, one run each.

`tests/support/amd_products.py` says how a run is judged. The tables are sampled (`SAMPLED` in `tests/conftest.py`);
`FLYDSL_TEST_ALL=1` runs all of them. Cases of more than `MANY` products are a table of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

from flydsl.base import knobs
from tests.support.amd_products import FAMILIES

Shape = tuple[int, int, int]
MANY = 70_000_000
CDNA, RDNA = ("gfx942", "gfx950"), ("gfx1100", "gfx1201")


@dataclass(frozen=True)
class Case:
    """A family of `amd_products`, where it runs, the extents of the product, and the options of its function."""

    family: str
    arch: str
    shape: Shape
    options: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        parts = [self.family, self.arch, "x".join(map(str, self.shape))]
        values = [f"{key}={value}" for key, value in self.options]
        return " ".join(parts + values).replace("[", "(").replace("]", ")")

    def run(self) -> None:
        FAMILIES[self.family](self.arch, *self.shape, **dict(self.options))


def case(family: str, arch: str, shape: Shape, **options: Any) -> Case:
    return Case(family, arch, shape, tuple(options.items()))


def tile(m: int, n: int, k: int) -> dict[str, int]:
    return {"tile_m": m, "tile_n": n, "tile_k": k}


def hgemm_tile(m: Any, n: Any, k: Any, stages: Any, waves: Any, split: Any = 1) -> dict[str, int]:
    names = ("BLOCK_M_WARPS", "BLOCK_N_WARPS", "BLOCK_K_WARPS")
    return {"TILE_M": m, "TILE_N": n, "TILE_K": k, "STAGES": stages, "SPLIT_K": split, **dict(zip(names, waves))}


# The specification's cases -------------------------------------------------------------------------------------------

EPILOGUES = ("none", "bias", "bias_relu", "bias_silu", "bias_gelu")
PLAIN = ("fp8", "int8", "int4", "bf16", "fp16")
DATA = ("fp4", "fp8", "a8w4")
MX_PAIRS = (("fp4", "fp4"), ("fp6", "fp4"), ("fp8", "fp4"), ("fp8", "fp8"))

PRESHUFFLE = [
    *(case("preshuffle", arch, (33, 1024, 2048), dtype=dtype, **tile(32, 64, 512), use_async_copy=copied)
      for arch, dtype, copied in product(CDNA, PLAIN, (False, True))),
    *(case("preshuffle", arch, (16, 5120, 8192), dtype=dtype, **tile(16, 64, 512), use_async_copy=copied)
      for arch, dtype, copied in product(CDNA, PLAIN, (False, True))),
    *(case("preshuffle", arch, (17, 128, 512), dtype=dtype, out=out, **tile(32, 64, 128), epilogue=epilogue)
      for arch, (dtype, out), epilogue in product(CDNA, (("fp8", "bf16"), ("int8", "fp16"), ("bf16", "bf16"),
                                                         ("int4", "fp16"), ("fp16", "fp16")), EPILOGUES)),
    *(case("preshuffle", arch, (70, 192, 640), dtype=dtype, **tile(32, 64, 128), **more)
      for arch, dtype in product(CDNA, ("bf16", "fp8"))
      for more in ({"lds_stage": 1}, {"use_cshuffle_epilog": True}, {"xcd_swizzle": 2}, {"waves_per_eu": 2},
                   {"use_cshuffle_epilog": True, "use_async_copy": True, "xcd_swizzle": 5})),
    *(case("w4a16", arch, (33, 1024, 2048), dtype=dtype, group_size=group, **tile(32, 64, 512), use_async_copy=copied)
      for arch, dtype, group, copied in product(CDNA, ("bf16", "fp16"), (32, 0), (False, True))),
    *(case("mx", "gfx950", (33, 1024, 2048), a=a, b=b, **tile(32, 64, 512), use_async_copy=copied)
      for (a, b), copied in product(MX_PAIRS, (False, True))),
    *(case("mx", "gfx950", shape, a=a, b=b, **sizes)
      for (a, b), (shape, sizes) in product(MX_PAIRS, (((64, 2048, 2048), tile(64, 128, 128)),
                                                       ((32, 2048, 2048), tile(32, 128, 256)),
                                                       ((133, 512, 1024), tile(64, 256, 256)),
                                                       ((256, 512, 1024), tile(128, 256, 256))))
      if not (b == "fp8" and sizes["tile_n"] == 256)),
    *(case("mx", "gfx950", (45, 256, 1024), a="fp4", out=out, **tile(32, 64, 256), **more)
      for out, more in (("fp16", {"lds_stage": 1}), ("bf16", {"use_cshuffle_epilog": True, "xcd_swizzle": 3}))),
    *(case("fp4_4w", "gfx950", shape) for shape in ((256, 256, 1024), (512, 256, 1536))),
]  # fmt: skip
BLOCKSCALE = [
    case("blockscale", arch, (m, n, k), out=out, use_async_copy=arch == "gfx950")
    for arch, (n, k), m, out in product(
        CDNA, ((7168, 2304), (2112, 7168), (3072, 1536)), (1, 7, 16, 33, 64), ("bf16", "fp16")
    )
]
HGEMM = [
    *(case("hgemm", arch, (65, 1024, 8192), dtype=dtype, **hgemm_tile(64, 128, 64, 2, (2, 2), 8), launches=2)
      for arch, dtype in product(CDNA, ("f16", "bf16"))),
    *(case("hgemm", arch, (8, 5120, 2880), dtype=dtype, **hgemm_tile(16, 64, 64, 5, (1, 2), 3), HAS_BIAS=True)
      for arch, dtype in product(CDNA, ("f16", "bf16"))),
    case("hgemm", "gfx950", (2048, 2048, 2048), **hgemm_tile(128, 128, 64, 4, (4, 4, 1)), launches=1),
    case("hgemm", "gfx942", (2048, 2048, 2048), **hgemm_tile(128, 128, 64, 2, (2, 2, 1)), launches=1),
    *(case("hgemm", "gfx950", (m, n, k), dtype=dtype, **hgemm_tile(*sizes))
      for dtype in ("f16", "bf16")
      for m, n, k, sizes in (
          (32, 384, 7168, (32, 64, 64, 5, (2, 2), 16)), (32, 7168, 2048, (16, 64, 128, 4, (1, 1, 2))),
          (32, 384, 16384, (32, 64, 256, 3, (1, 4), 16)), (8, 5120, 2880, (16, 64, 64, 5, (1, 2), 3)),
          (32, 2880, 2048, (16, 64, 128, 4, (1, 2))))),
    *(case("hgemm", "gfx942", (m, n, k), dtype=dtype, **hgemm_tile(128, 128, 64, 2, (2, 2)), launches=1)
      for dtype, (m, n, k) in product(("f16", "bf16"), ((128, 128, 512), (512, 512, 512), (1024, 1024, 1024)))),
    *(case("hgemm", "gfx950", (m, 320, 512), dtype=dtype, few=True, TILE_N=64, N_TILE_REPEAT=repeat, SPLIT_K=split,
           HAS_BIAS=biased)
      for m, dtype, repeat, split, biased in ((1, "bf16", 1, 1, False), (9, "bf16", 2, 2, True),
                                              (16, "f16", 5, 4, True))),
    *(case("a16w16", arch, (77, 130, 200), layout=layout, dtype=dtype, out=out, bias=biased, **more)
      for arch, layout in product(CDNA, ("nn", "nt", "tn", "tt"))
      for dtype, out, biased, more in (("bf16", "bf16", True, {}), ("f16", "f32", False, {"split_k": 2}),
                                       ("f16", "f16", True, {"block_m": 64, "block_n": 64, "block_k": 64, "stages": 3,
                                                             "m_waves": 2, "n_waves": 1, "k_waves": 2, "group_m": 2}))),
]  # fmt: skip
WAVES = [
    *(case("fp8_waves", arch, (333, 400, 640), waves=4, shuffled=shuffled, BLOCK_M=64, BLOCK_N=64, use_xcd_remap=remap)
      for arch, shuffled, remap in product(CDNA, (False, True), (False, True))),
    *(case("fp8_waves", "gfx950", (200, 260 + 12 * shuffled, 768), waves=waves, shuffled=shuffled, **more)
      for shuffled, (waves, more) in product((False, True), ((4, {}), (4, {"BLOCK_M": 128, "BLOCK_N": 256}),
                                                             (8, {}), (8, {"BLOCK_M": 128})))),
    case("fp8_waves", "gfx950", (512, 2112, 7168), waves=4, BLOCK_M=64, BLOCK_N=64),
    case("fp8_waves", "gfx950", (512, 2112, 7168), waves=8, BLOCK_M=128, BLOCK_N=256),
]  # fmt: skip
RDNA_CASES = [
    *(case("rdna", arch, shape, dtype=dtype, out=out)
      for arch, shape, (dtype, out) in product(
          RDNA, ((128, 128, 128), (256, 256, 256), (256, 256, 512), (512, 512, 512)),
          (("bf16", "bf16"), ("f16", "f16"), ("f16", "f32"), ("bf16", "f32")))),
    *(case("rdna", arch, (side, side, side), dtype="bf16", out="bf16") for arch, side in product(RDNA, (1024, 2048))),
    *(case("rdna", arch, (100, 130, 136), dtype="f16", out="f32", reg_m=1, reg_n=2, reg_k=2, **more)
      for arch in RDNA
      for more in ({"persistent_wgs": 3}, {"group_m": 1}, {"waves_per_eu": 2}, {"lds_layout": "kblock"},
                   {"a_k_pad": 8, "b_k_pad": 16}, {"sched_hint": False})),
    *(case("rdna_fp8", "gfx1201", shape) for shape in ((32, 128, 128), (32, 128, 256), (32, 256, 256), (45, 272, 512))),
    *(case("rdna_fp8", "gfx1201", (77, 144, 256), **tile(*sizes)) for sizes in ((16, 64, 32), (64, 128, 64))),
]  # fmt: skip
GFX1250 = [
    *(case("narrow", "gfx1250", shape, data="fp4", out=out, **tile(*sizes))
      for out in ("f32", "bf16")
      for shape, sizes in (((128, 512, 7168), (128, 128, 256)), ((1024, 1024, 1024), (256, 256, 256)))),
    *(case("narrow", "gfx1250", shape, data="fp8", scales=scales, out=out)
      for shape, scales, out in product(((128, 256, 256), (256, 256, 256), (1024, 1024, 1024)), ("mxscale", "ptpc"),
                                        ("f32", "bf16"))),
    *(case("narrow", "gfx1250", (m, 5632, 2816), data="a8w4", out="bf16") for m in (13, 33, 128)),
    *(case("narrow", "gfx1250", (m, 256, 512), data=data, out="f16", **tile(64, 64, 128))
      for m, data in product((1, 15, 100, 2048), DATA)),
    *(case("narrow", "gfx1250", (150, 208, 512), data=data, cluster_m=rows, cluster_n=columns, **tile(32, 64, 128),
           wave_specialized_tdm=apart)
      for data, (rows, columns), apart in product(DATA, ((2, 1), (2, 2), (4, 4)), (False, True))),
    *(case("narrow", "gfx1250", (150, 208, 512), data=data, gap=48, **tile(32, 64, 128)) for data in DATA),
    *(case("narrow", "gfx1250", (150, 208, 512), data=data, **tile(64, 64, 128), **more)
      for data in DATA
      for more in ({"use_scale_opsel": True}, {"l2_prefetch_distance": 2, "expert_sched_mode": False},
                   {"scale_load_path": "vgpr"})),
    *(case("narrow", "gfx1250", (33, 80, 1024), data=data, scales=scales, out=out, split_k=split, use_tdm_store=False,
           **tile(32, 64, 128))
      for (data, scales), out, split in product((("fp8", "ptpc"), ("fp4", "mxscale")), ("f32", "bf16"), (2, 4))),
    *(case("a8w8", "gfx1250", (m, 272, 768), blocks=blocks, cluster=cluster)
      for m, blocks, cluster in product((1, 77), (False, True), ((1, 1), (2, 2)))),
    *(case("a8w4", "gfx1250", (m, 272, 1024), cluster=cluster) for m, cluster in ((1, (1, 1)), (77, (2, 2)))),
    *(case("wmma_tdm", "gfx1250", shape, dtype=dtype, out=out, **sizes)
      for dtype, out in (("fp16", "fp16"), ("bf16", "f32"))
      for shape, sizes in (((128, 128, 64), tile(64, 128, 32)), ((256, 256, 256), tile(128, 128, 64)),
                           ((512, 512, 512), tile(256, 256, 128)), ((300, 400, 256), tile(128, 128, 64)),
                           ((1024, 1024, 1024), tile(256, 256, 128)), ((13, 512, 7168), tile(32, 128, 128)))),
    *(case("wmma_tdm", "gfx1250", (300, 400, 256), cluster_m=side, cluster_n=side, **tile(64, 64, 32), m_warp=2,
           n_warp=2, wave_specialized_tdm=apart)
      for side, apart in product((2, 4), (False, True))),
]  # fmt: skip
CASES = PRESHUFFLE + BLOCKSCALE + HGEMM + WAVES + RDNA_CASES + GFX1250


@pytest.mark.parametrize("given", [c for c in CASES if prod(c.shape) <= MANY], ids=str)
def test_specified(given: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", given.arch)
    given.run()


@pytest.mark.parametrize("given", [c for c in CASES if prod(c.shape) > MANY], ids=str)
def test_specified_large(given: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", given.arch)
    monkeypatch.setenv(knobs.COMPILE_OPT_LEVEL.name, "2")  # it runs for longer than it compiles
    given.run()


# Extents drawn at random ---------------------------------------------------------------------------------------------


def drawn(rng: np.random.Generator, *steps: int) -> Shape:
    """Extents of up to about 200, each a multiple of what the kernel asks for."""
    m, n, k = (step * int(rng.integers(1, max(200 // step, 4) + 1)) for step in steps)
    return m, n, k


RANDOM = [
    *((case("preshuffle", arch, (1, 64, 128), dtype=dtype, **tile(32, 64, 128), use_async_copy=arch == "gfx950"))
      for arch, dtype in product(CDNA, PLAIN)),
    *(case("w4a16", arch, (1, 64, 64), **tile(32, 64, 64)) for arch in CDNA),
    *(case("mx", "gfx950", (1, 64, 256), a=a, b=b, **tile(32, 64, 256)) for a, b in MX_PAIRS),
    *(case("blockscale", arch, (1, 64, 128), tiles=(32, 64, 128), use_cshuffle_epilog=arch == "gfx942")
      for arch in CDNA),
    *(case("hgemm", arch, (1, 64, 8), dtype=dtype, **hgemm_tile(32, 64, 32, 3, (2, 2))) for arch, dtype in
      zip(CDNA, ("f16", "bf16"))),
    *(case("a16w16", arch, (1, 1, 1), layout=layout, bias=True) for arch, layout in
      product(CDNA, ("nn", "nt", "tn", "tt"))),
    *(case("fp8_waves", arch, (1, step, 128), waves=4, BLOCK_M=64, BLOCK_N=64, shuffled=step == 16)
      for arch, step in product(CDNA, (1, 16))),
    *(case("rdna", arch, (1, 1, 8), dtype="bf16", out=out, reg_m=1, reg_n=2)
      for arch, out in product(RDNA, ("bf16", "f32"))),
    case("rdna_fp8", "gfx1201", (1, 16, 32)),
    *(case("narrow", "gfx1250", (1, 16, 256), data=data, scales=scales, **tile(32, 64, 128), use_tdm_store=staged)
      for (data, scales), staged in product((("fp4", "mxscale"), ("fp8", "mxscale"), ("a8w4", "ptpc")), (False, True))),
    *(case("a8w8", "gfx1250", (1, 16, 256), blocks=blocks) for blocks in (False, True)),
    case("a8w4", "gfx1250", (1, 16, 256)),
    *(case("wmma_tdm", "gfx1250", (1, 8, 64), **tile(32, 64, 32), m_warp=2, n_warp=2, use_tdm_store=staged)
      for staged in (False, True)),
]  # fmt: skip
"""For each kernel the steps that its extents may be drawn in, where a shape stands elsewhere."""


@pytest.mark.parametrize("given", RANDOM, ids=str)
def test_any_extent(given: Case, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", given.arch)
    shape = drawn(rng, *given.shape)
    Case(given.family, given.arch, shape, given.options).run()

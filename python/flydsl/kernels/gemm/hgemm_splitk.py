"""Half-precision products whose K is shared by blocks and waves, for gfx942 and gfx950.

hgemm_splitk_(c, a, b, bias, {"SPLIT_K": 8}, stream)
gemm_a16w16(a, b, layout="nt", bias=bias)

c[..., n] = sum over k of a[..., k] * b[n, k] + bias[n] in f16 or bf16, added up in f32. Blocks of one tile of c may
share K: each rounds its part to the type of c and adds it by atomic operations, so last bits depend on their order.
K may be any number, and its tiles need not divide by the shares.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.counters import counters_of
from flydsl.kernels.blocks.inputs import (
    address_of,
    lies_whole,
    on_given_stream,
    require_elements,
    require_type,
    stream_of,
    strides,
)
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.limits import hint_waves, refuse, target_now
from flydsl.kernels.gemm.lds_gemm import multiply_tiles
from flydsl.kernels.gemm.lds_plan import COUNTED_TILES, OUTPUTS, LdsPlan, choose_tiles

NAMES = {"f16": "fp16", "fp16": "fp16", "float16": "fp16", "bf16": "bf16", "bfloat16": "bf16", "f32": "f32",
         "float32": "f32"}  # fmt: skip
"""Element types by all their names; of A and B the first two."""


STRAIGHT = "both operands pass through LDS; weights that go straight to registers have compile_preshuffle_gemm"


@kept
def launcher(plan: LdsPlan, waves_per_eu: int = 0) -> Any:
    """``fn(C, A, B, BIAS, m, semaphore, signal, stream)``; both counters are zero before a launch and behind it."""

    @flyc.kernel(known_block_size=(plan.threads, 1, 1))
    def hgemm_kernel(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, bias: fx.Tensor, m: fx.Int32, semaphore: fx.Tensor, signal: fx.Tensor
    ):
        multiply_tiles(C, A, B, (bias, bias, bias), m, (semaphore, signal), plan)

    @flyc.jit
    def hgemm(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, BIAS: fx.Tensor, m: fx.Int32, semaphore: fx.Tensor,
        signal: fx.Tensor, stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        plan.require_call("a product of halves through LDS")
        require_type((C,), OUTPUTS[plan.out])
        rows = fx.Int64(m)
        matrices = (("C", C, rows * plan.n, plan.ldc), ("A", A, rows * plan.k, plan.lda),
                    ("B", B, plan.n * plan.k, plan.ldb))  # fmt: skip
        require_elements(*(given for *given, stride in matrices if not stride))
        if plan.biased:
            require_elements(("BIAS", BIAS, plan.n))
        if plan.split_k > 1:
            tiles = plan.blocks(m)[0] * plan.column_tiles
            require_elements(("semaphore", semaphore, tiles), ("signal", signal, tiles))
        hgemm_kernel(C, A, B, BIAS, m, semaphore, signal).launch(
            grid=plan.blocks(m), block=(plan.threads, 1, 1), stream=stream
        )

    return hint_waves(hgemm, waves_per_eu)


def compile_hgemm_kernel(
    dtype: str, n: int, k: int, TILE_M: int = 128, TILE_N: int = 128, TILE_K: int = 64, STAGES: int = 2,
    SPLIT_K: int = 1, BLOCK_M_WARPS: int = 2, BLOCK_N_WARPS: int = 2, BLOCK_K_WARPS: int = 1, B_TO_LDS: bool = True,
    HAS_BIAS: bool = False,
) -> Any:  # fmt: skip
    """Return the launcher ``fn(C, A, B, BIAS, m, semaphore, signal, stream)``; m differs per call.

    ``semaphore`` and ``signal`` are i32 with an element for every tile of C, zero before the first launch.
    """
    refuse("B_TO_LDS", B_TO_LDS, True, STRAIGHT)
    name = known_type(dtype)
    plan = LdsPlan(n, k, TILE_M, TILE_N, TILE_K, name, name, STAGES, SPLIT_K, BLOCK_M_WARPS, BLOCK_N_WARPS,
                   BLOCK_K_WARPS, biased=HAS_BIAS)  # fmt: skip
    whole_columns(n, TILE_N)
    return launcher(plan)


def known_type(dtype: Any) -> str:
    name = NAMES.get(str(dtype).removeprefix("torch."))
    if name not in ("fp16", "bf16"):
        raise NotImplementedError(f"the elements must be f16 or bf16, got {dtype}")
    return name


def whole_columns(n: int, tile: int) -> None:
    if n % tile:
        raise ValueError(f"n must be a multiple of TILE_N = {tile}, got {n}; gemm_a16w16 takes any n")


# Few rows --------------------------------------------------------------------------------------------


def compile_small_m_hgemm_kernel(
    dtype: str, n: int, k: int, *, TILE_N: int = 128, TILE_K: int = 64, SPLIT_K: int = 1, BLOCK_N_WARPS: int = 2,
    N_TILE_REPEAT: int = 1, PERSISTENT_N_TILES: int = 1, WAVES_PER_EU_HINT: int = 0, B_TO_LDS_UNROLL: int = 0,
    B_TO_LDS: bool = True, HAS_BIAS: bool = False,
) -> Any:  # fmt: skip
    """Return the same launcher for tiles of 16 rows; a block makes the tiles of its repeats one after the other."""
    refuse("B_TO_LDS", B_TO_LDS, True, STRAIGHT)
    refuse("B_TO_LDS_UNROLL", B_TO_LDS_UNROLL, 0, "the loop goes once around the ring of tiles an iteration")
    name = known_type(dtype)
    whole_columns(n, TILE_N)
    plan = LdsPlan(n, k, 16, TILE_N, TILE_K, name, name, 3, SPLIT_K, 1, BLOCK_N_WARPS, biased=HAS_BIAS,
                   column_tiles=N_TILE_REPEAT * PERSISTENT_N_TILES)  # fmt: skip
    return launcher(plan, WAVES_PER_EU_HINT)


def iter_small_m_registry_configs(n: int, k: int, dtype: str = "bf16") -> Iterator[dict[str, int]]:
    """Arguments of `compile_small_m_hgemm_kernel` that fit an extent: its tiles, shares of K and waves."""
    for tile_n, tile_k, split, waves in product((64, 128), (64, 128), (1, 2, 4, 8), (1, 2, 4)):
        try:
            LdsPlan(n, k, 16, tile_n, tile_k, known_type(dtype), known_type(dtype), 3, split, 1, waves)
        except ValueError:
            continue
        if n % tile_n == 0:
            yield {"TILE_N": tile_n, "TILE_K": tile_k, "SPLIT_K": split, "BLOCK_N_WARPS": waves}


def small_m_kernel_name(dtype: str, n: int, k: int, **config: int) -> str:
    """Return a name that says which kernel it is."""
    return "_".join(
        ["small_m_hgemm", dtype, f"n{n}", f"k{k}", *(f"{key.lower()}{config[key]}" for key in sorted(config))]
    )


# Functions of arrays ---------------------------------------------------------------------------------


def counters_for(plan: LdsPlan, a: Any) -> tuple[Any, Any]:
    """Return both counters of a launch; what stands there is not read where no blocks share K."""
    if plan.split_k == 1:
        return a, a
    counters = counters_of(a, 2 * COUNTED_TILES)
    return counters[:COUNTED_TILES], counters[COUNTED_TILES : 2 * COUNTED_TILES]


def require_counters(plan: LdsPlan, m: int) -> None:
    tiles = -(-m // plan.tile_m) * plan.grid_n * plan.column_tiles
    if plan.split_k > 1 and tiles > COUNTED_TILES:
        raise ValueError(
            f"blocks that share K count {COUNTED_TILES} tiles of C at most, and {m} rows have {tiles}; use larger "
            "tiles, or a split of 1"
        )


def hgemm_splitk_(
    c: Any, a: Any, b: Any, bias: Any = None, hgemm_kwargs: dict[str, Any] | None = None, stream: Any = None
) -> None:
    """c = a times b transposed, plus a bias: a is [..., K], b [N, K], c [..., N], all contiguous.

    ``hgemm_kwargs`` are arguments of `compile_hgemm_kernel`; what is not among them is chosen for the shape.
    """
    (n, k), m = b.shape, int(np.prod(a.shape[:-1]))
    name = known_type(a.dtype)
    for what, x, shape in (("a", a, (m, k)), ("b", b, (n, k)), ("c", c, (m, n))):
        if (int(np.prod(x.shape[:-1])), x.shape[-1]) != shape or x.dtype != a.dtype:
            raise ValueError(f"{what} must have rows {shape} of {a.dtype}, got {tuple(x.shape)} of {x.dtype}")
        if not lies_whole(x):
            raise ValueError(f"{what} must be contiguous; gemm_a16w16 takes matrices whose rows lie apart")
    check_bias(bias, n, a.dtype)
    given = named(hgemm_kwargs, HGEMM, "hgemm_kwargs", {"B_TO_LDS": (True, STRAIGHT)})
    tiles = {**choose_tiles(m, n, k, lds_bytes()), **given}
    run(LdsPlan(n, k, dtype=name, out=name, biased=bias is not None, **tiles), c, a, b, bias, m, stream)


HGEMM = {
    "TILE_M": "tile_m", "TILE_N": "tile_n", "TILE_K": "tile_k", "STAGES": "stages", "SPLIT_K": "split_k",
    "BLOCK_M_WARPS": "m_waves", "BLOCK_N_WARPS": "n_waves", "BLOCK_K_WARPS": "k_waves",
}  # fmt: skip
A16W16 = {
    "block_m": "tile_m", "block_n": "tile_n", "block_k": "tile_k", "stages": "stages", "split_k": "split_k",
    "m_waves": "m_waves", "n_waves": "n_waves", "k_waves": "k_waves", "group_m": "group_m",
}  # fmt: skip
"""Arguments by which callers name what a plan has."""


def named(
    given: dict[str, Any] | None, known: dict[str, str], what: str, refused: dict[str, tuple[Any, str]]
) -> dict[str, Any]:
    """Return a caller's choices by the plan's names; those that are not offered may only ask for what is done
    anyway."""
    choices = dict(given or {})
    for name, (usual, why) in refused.items():
        refuse(name, choices.pop(name, usual), usual, why)
    unknown = sorted(set(choices) - set(known))
    if unknown:
        raise ValueError(f"{what} may name {', '.join(known)}, not {', '.join(unknown)}")
    return {known[name]: value for name, value in choices.items()}


@on_given_stream
def run(plan: LdsPlan, c: Any, a: Any, b: Any, bias: Any, m: int, stream: Any) -> None:
    """Launch a plan on arrays."""
    require_counters(plan, m)
    stream = stream_of(a, stream)
    launcher(plan)(c, a, b, a if bias is None else bias, m, *counters_for(plan, a), stream)


def lds_bytes() -> int:
    """LDS of a workgroup on the target of a call."""
    return target_now().lds_bytes


# Any layout ------------------------------------------------------------------------------------------


def check_bias(bias: Any, n: int, dtype: Any) -> None:
    if bias is not None and (bias.dtype != dtype or tuple(bias.shape) != (n,) or not lies_whole(bias)):
        raise ValueError(f"bias must be {(n,)} of {dtype}, contiguous; got {tuple(bias.shape)} of {bias.dtype}")


def leading_stride(x: Any, letter: str, name: str) -> int:
    """Return the stride of a matrix that is row-major (n) or column-major (t); what copies of 16 bytes need is
    checked."""
    along, other = (1, 0) if letter == "n" else (0, 1)
    steps = strides(x)
    if x.shape[along] > 1 and steps[along] != 1:
        kind = "row-major" if letter == "n" else "column-major"
        raise ValueError(f"{name} must be {kind} for this layout, and its strides are {steps}")
    stride = steps[other] if x.shape[other] > 1 else -(-x.shape[along] // 8) * 8
    address = address_of(x)
    if stride <= 0 or stride % 8 or address % 16:
        raise ValueError(
            f"{name} must begin at a multiple of 16 bytes and have a leading stride of 8 elements or a multiple; "
            f"its address is {address:#x} and its stride {stride}; pad its lines, or copy it"
        )
    return stride


def new_matrix(like: Any, m: int, n: int, dtype: str) -> Any:
    if isinstance(like, np.ndarray):
        import ml_dtypes

        return np.empty((m, n), {"fp16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}[dtype])
    import torch

    return like.new_empty((m, n), dtype={"fp16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[dtype])


def gemm_a16w16(
    a: Any, b: Any, out: Any = None, bias: Any = None, user_kwargs: dict[str, Any] | None = None, stream: Any = None,
    layout: str = "nt", out_dtype: Any = None,
) -> Any:  # fmt: skip
    """out[m, n] = sum over k of a[m, k] * b[k, n] + bias[n], for any M, N and K; out is made where it is not given.

    ``layout`` says of a and then of b whether it is row-major (n) or column-major (t): "nt" is a[M, K] times the
    transposed view of a weight [N, K]. ``user_kwargs`` may name block_m, block_n, block_k, stages, split_k, m_waves,
    n_waves, k_waves and group_m. ``out_dtype`` is f16, bf16 or f32.
    """
    if len(layout) != 2 or set(layout) - set("nt"):
        raise ValueError(f"layout must be nn, nt, tn or tt, got {layout!r}")
    (m, k), (depth, n), name = a.shape, b.shape, known_type(a.dtype)
    if depth != k or b.dtype != a.dtype:
        raise ValueError(f"a is {(m, k)} of {a.dtype} and b {(depth, n)} of {b.dtype}; they must share K and the type")
    check_bias(bias, n, a.dtype)
    asked = str(out.dtype if out is not None else out_dtype or a.dtype).removeprefix("torch.")
    if asked not in NAMES:
        raise ValueError(f"out_dtype must be f16, bf16 or f32, got {asked}")
    out = new_matrix(a, m, n, NAMES[asked]) if out is None else out
    steps = strides(out)
    if tuple(out.shape) != (m, n) or (m > 1 and steps[0] < n) or (m and n > 1 and steps[1] != 1):
        raise ValueError(f"out must be {(m, n)} with contiguous rows, got {tuple(out.shape)}, strides {steps}")
    if m == 0:
        return out
    halves = "tiles are read block of rows by block of rows, whatever their half"
    given = named(user_kwargs, A16W16, "user_kwargs", {"use_half_tile_interleaved": (False, halves)})
    tiles = {**choose_tiles(m, n, k, lds_bytes()), **given}
    plan = LdsPlan(
        n, k, dtype=name, out=NAMES[asked], biased=bias is not None, a_transposed=layout[0] == "t",
        b_transposed=layout[1] == "n", lda=leading_stride(a, layout[0], "a"), ldb=leading_stride(b, layout[1], "b"),
        ldc=steps[0] if m > 1 else n, **tiles,
    )  # fmt: skip
    run(plan, out, a, b, bias, m, stream)
    return out

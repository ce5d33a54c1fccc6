"""Products of groups of rows on Hopper, each with a matrix of its own: what a mixture of experts computes.

    hopper_grouped_gemm(A, B, C, sizes, *, rows=None, to_rows=None, add=False, row_scale=None, block_scales=None,
                        scale_c=None, activation="none", alpha=1.0, expected_rows=None, weights_first=False,
                        use_fast_accum=False, config=None, stream=None)

B is (groups, K, N), bf16, f16, fp8 or int8, with either mode contiguous, as A and C. How many rows a group has is known
to the device alone: the host reads nothing back, and a call may be captured into a graph. Groups may have any size, and
none.

- **Contiguous**: A is (rows, K) and C (rows, N). ``sizes`` are int32 (groups), where each group *ends*, as ``offs`` of
  ``torch._grouped_mm``: group g has rows sizes[g - 1] to sizes[g]. Rows behind the last group are not written.
- **Masked**: A is (groups, rows, K) and C (groups, rows, N). ``sizes`` are how many rows of each group count; the
  others are neither read nor written.
- **Gathered**, of contiguous groups: ``rows`` are int32, one for each row of the product, which row of A it is. A may
  then have any number of rows; an index outside of A stands for a row of zeros.
- **Scattered**, of contiguous groups: ``to_rows`` are int32, one for each row of the product, in which row of C it
  is written, or to which it is added (``add=True``, atomically, in C's type: in f32 the order of sums is free). An
  index outside of C stands for no row.

With ``scale_c``, f32 of (rows of C, N / 128), results of groups that are neither masked nor scattered leave as fp8,
each 128 of a row over a scale of their own, which is written there: what a quantiser makes of results in bf16. Rows of
C then begin at multiples of 16 bytes.

``row_scale`` is f32, one number for each row of the product. The activation, alpha and ``block_scales`` are those of
`hopper_gemm`; scales of B have a group in front, those of A are A's. ``expected_rows`` is how many rows a group has on
average, where sizes of masked groups are far from the extent; it only helps to choose tiles. ``weights_first`` promises
that B and ``sizes`` are older than the launch before this one on the stream: B is then loaded while that one ends.
``use_fast_accum`` is that of `hopper_gemm`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from flydsl.compiler.calls.native_replay import Lanes
from flydsl.kernels.blocks.counters import counters_of
from flydsl.kernels.blocks.inputs import address_of, current_stream, on_stream, strides
from flydsl.kernels.gemm.hopper.checks import check_length
from flydsl.kernels.gemm.hopper.choice import choose_config
from flydsl.kernels.gemm.hopper.epilogue import QuantisingEpilogue
from flydsl.kernels.gemm.hopper.operands import (
    KEPT_CALLS,
    MULTIPLIED,
    WRITTEN,
    Bound,
    KeptCalls,
    OperandLines,
    call_key,
    lines_of,
    multiprocessors,
    operand_lines,
    packed_lines,
    type_of,
    zeros,
)  # fmt: skip
from flydsl.kernels.gemm.hopper.plan import LINE_BYTES, SCALED, GemmConfig, GemmKind, Problem, ceildiv
from flydsl.kernels.gemm.hopper.repeats import keep_call
from flydsl.kernels.gemm.hopper_gemm import build_hopper_gemm
from flydsl.kernels.gemm.hopper_matmul import check_block_scales, columns_of_one, run_of

LEAST_GROUPS, MOST_GROUPS = 32, 2048
GROUP_BYTES = 8
"""Of shared memory, for where a group ends, and the number of its first tile."""

_CALLS, _AGAIN = KeptCalls(), Lanes(KEPT_CALLS)


def hopper_grouped_gemm(
    A: Any, B: Any, C: Any, sizes: Any, *, rows: Any = None, to_rows: Any = None, add: bool = False,
    row_scale: Any = None, block_scales: tuple[Any, Any] | None = None, scale_c: Any = None, activation: str = "none",
    alpha: float = 1.0, expected_rows: int | None = None, weights_first: bool = False, use_fast_accum: bool = False,
    config: GemmConfig | None = None, stream: Any = None,
) -> None:  # fmt: skip
    """Write, or add, rows of A times the matrix of their group: see above."""
    scale_a, scale_b = block_scales or (None, None)
    given = (A, B, C, sizes, rows, to_rows, row_scale, scale_a, scale_b, scale_c)
    factor = None if alpha == 1 else float(alpha)
    numbers = (add, activation, factor is None, expected_rows, weights_first, use_fast_accum)
    plain = factor is None and config is None and stream is None
    if plain and _AGAIN.again(*given, *numbers) is not None:
        return
    device = A.get_device() if hasattr(A, "data_ptr") else -1
    key = call_key(given, numbers, config, device)
    now = current_stream(device) if stream is None else stream
    arguments = (A, B, C, row_scale, None, None, scale_c, factor, 0.0, scale_a, scale_b, sizes, rows, to_rows, None,
                 now)  # fmt: skip
    call = _CALLS.get(key)
    if call is not None:
        call(*arguments)
    else:
        call = _call_for(given, add, activation, expected_rows, weights_first, use_fast_accum, config, device)
        call = _CALLS.begin(key, call, *arguments)
    if plain:
        keep_call(_AGAIN, call, arguments, given, numbers)


def _call_for(
    given: tuple[Any, ...], add: bool, activation: str, expected_rows: int | None, weights_first: bool,
    use_fast_accum: bool, config: GemmConfig | None, device: int,
) -> Callable[..., None]:  # fmt: skip
    """Return what a call does for arrays of these shapes, strides and types."""
    A, B, C, _, rows, to_rows, _, scale_a, _, scale_c = given
    _check(*given, add, activation)
    groups, k, n = B.shape
    if 0 in C.shape or groups == 0 or 0 in (rows.shape if rows is not None else A.shape[:-1]):
        return lambda *_: None
    if k == 0:
        return _without_products(add, activation, config)
    a, b = operand_lines(A, 1, "A"), operand_lines(B, 0, "B")
    types = type_of(A, "A", MULTIPLIED), type_of(B, "B", MULTIPLIED), type_of(C, "C", WRITTEN)
    along_n, piece = lines_of(C)
    piece = piece if along_n else C.dtype.itemsize  # a piece would have rows, and groups begin and end at any
    masked, gathers, block_scaled = A.ndim == 3, rows is not None, scale_a is not None
    if not masked and not a.along_k:  # rows that are gathered are lines, and TMA reads no box that begins at any row
        a = OperandLines(True, is_ragged=True)
    if to_rows is not None and not along_n:
        raise ValueError(f"rows of C that an index names are contiguous, and its strides are {strides(C)}")
    # Groups that follow each other are at most as many as rows.
    used = groups if masked else min(groups, rows.shape[0] if gathers else A.shape[0])
    if expected_rows is None:
        expected_rows = A.shape[1] if masked else ceildiv(rows.shape[0] if gathers else A.shape[0], used)
    sms = multiprocessors(device)
    problem = Problem(
        max(expected_rows, 1), n, k, used, types[0].width // 8, a.along_k, b.along_k, types[2].width, along_n,
        min(a.line_bytes, b.line_bytes), columns_of_one(activation), block_scaled, True, quantises=scale_c is not None,
        gathers=gathers, c_aligned=piece == LINE_BYTES and to_rows is None,
        run=run_of(types[0], block_scaled, use_fast_accum), integer=types[0].is_integer,
    )  # fmt: skip
    most = max(LEAST_GROUPS, 1 << (groups - 1).bit_length())
    if config is None:
        config = choose_config(problem, sms)
        beside = GROUP_BYTES * (most + 64) + (0 if scale_c is None else QuantisingEpilogue.bytes(config))
        if config.fitting_stages(beside) < config.stages:  # a ring comes before boxes that TMA takes away
            config = replace(config, sends=False)
        config = replace(config, stages=min(config.stages, config.fitting_stages(beside)))
    scatter = "" if to_rows is None else "add" if add else "store"
    kind = GemmKind(
        *types, a.along_k, b.along_k, along_n, piece, False, activation, block_scaled, most, masked, gathers, scatter,
        quantises=scale_c is not None, weights_first=weights_first and not (gathers or b.is_ragged),
        run=problem.run if config.adds_runs(problem) else 0,
    )  # fmt: skip
    check_length(k, kind, config)
    run = build_hopper_gemm(kind, config, sms)
    if a.is_ragged or b.is_ragged:
        drawing = _drawing(run) if config.draws else run
        return lambda A, B, *rest: drawing(*packed_lines([(A, 1, a), (B, 0, b)], rest[-1]), *rest)
    run = run if device < 0 else Bound(run)
    return _drawing(run) if config.draws else run


def _drawing(run: Callable[..., None]) -> Callable[..., None]:
    """Give each call a counter of the tiles that were drawn."""

    def call(A: Any, *more: Any) -> None:
        with on_stream(A, more[-1]):
            taken = counters_of(A)
        run(A, *more[:-2], taken, more[-1])

    return call


def _without_products(add: bool, activation: str, config: GemmConfig | None) -> Callable[..., None]:
    """K is 0, and TMA has nothing to copy: products of zeros are the same."""

    def call(A: Any, B: Any, C: Any, row_scale: Any, _column: Any, _bias: Any, scale_c: Any, *more: Any) -> None:
        sizes, rows, to_rows, _, stream = more[-5:]
        with on_stream(A, stream):
            a, b = zeros(A, (*A.shape[:-1], 16)), zeros(B, (B.shape[0], B.shape[-1], 16)).swapaxes(-1, -2)
        hopper_grouped_gemm(a, b, C, sizes, rows=rows, to_rows=to_rows, add=add, row_scale=row_scale,
                            scale_c=scale_c, activation=activation, config=config, stream=stream)  # fmt: skip

    return call


def _check(
    A: Any, B: Any, C: Any, sizes: Any, rows: Any, to_rows: Any, row_scale: Any, scale_a: Any, scale_b: Any,
    scale_c: Any, add: bool, activation: str,
) -> None:  # fmt: skip
    """Refuse what the kernel cannot take."""
    shapes = f"A {tuple(A.shape)}, B {tuple(B.shape)}, C {tuple(C.shape)}"
    if B.ndim != 3 or A.ndim not in (2, 3) or A.ndim != C.ndim:
        raise ValueError(f"B is (groups, K, N), A and C are matrices or one for each group, got {shapes}")
    groups, k, n = B.shape
    if A.ndim == 3 and (rows is not None or to_rows is not None or A.shape[0] != groups):
        raise ValueError(f"masked groups have a matrix each and are not gathered or scattered, got {shapes}")
    many, count = columns_of_one(activation), A.shape[-2] if rows is None else rows.shape[0]
    lead = (groups,) if A.ndim == 3 else ()
    fits = tuple(C.shape) == (*lead, count, n // many) if to_rows is None else C.shape[-1] == n // many
    if A.shape[-1] != k or n % many or not fits:
        raise ValueError(f"shapes do not fit: {shapes}; B is (groups, K, N), and the product has {count} rows")
    if groups > MOST_GROUPS:
        raise ValueError(f"there are at most {MOST_GROUPS} groups, got {groups}")
    wanted = (("sizes", sizes, (groups,)), ("rows", rows, (count,)), ("to_rows", to_rows, (count,)))
    for name, index, shape in wanted:
        if index is not None and (tuple(index.shape) != shape or str(index.dtype).removeprefix("torch.") != "int32"):
            raise ValueError(f"{name} are int32 of shape {shape}, got {index.dtype} of {tuple(index.shape)}")
    if row_scale is not None and (A.ndim == 3 or tuple(row_scale.shape) not in ((count,), (1,))):
        raise ValueError(f"row_scale has shape {tuple(row_scale.shape)}, and the product {count} rows in one matrix")
    if A.dtype != B.dtype:
        raise ValueError(f"A is {A.dtype} and B is {B.dtype}: give both the same type")
    if add and (to_rows is None or C.dtype.itemsize == 1):
        raise ValueError("rows are added where to_rows says, in f32, f16 or bf16")
    if scale_c is not None:
        _check_scales_of_results(C, scale_c, to_rows)
    check_block_scales(A, B, scale_a, scale_b)


def _check_scales_of_results(C: Any, scale_c: Any, to_rows: Any) -> None:
    """Refuse scales that the kernel cannot write."""
    names = [str(array.dtype).removeprefix("torch.") for array in (C, scale_c)]
    if C.ndim != 2 or to_rows is not None or C.shape[1] % SCALED or names[0] != "float8_e4m3fn":
        raise ValueError(
            f"results with scales are float8_e4m3fn, of groups that are neither masked nor scattered, and have a "
            f"multiple of {SCALED} columns; got {names[0]} of {tuple(C.shape)}"
        )
    wanted = C.shape[0], C.shape[1] // SCALED
    if tuple(scale_c.shape) != wanted or names[1] != "float32":
        raise ValueError(f"scale_c is float32 of shape {wanted}, got {names[1]} of {tuple(scale_c.shape)}")
    if 0 not in C.shape and lines_of(C) != (True, LINE_BYTES):
        raise ValueError(
            f"rows of results with scales are contiguous and begin at multiples of {LINE_BYTES} bytes, got strides "
            f"{strides(C)} at {address_of(C):#x}"
        )

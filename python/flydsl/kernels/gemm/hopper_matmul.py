"""Matrix products on Hopper for arrays as they come: `hopper_gemm` writes into C, `hopper_matmul` returns it.

    hopper_gemm(A, B, C, bias, activation="silu")       C = hopper_matmul(A, B, out_dtype=torch.float32)

C = act(alpha * row_scale * (A @ B) * column_scale + bias + beta * D). A is (M, K), B is (K, N), C and D are (M, N), or
all of them with the same batch in front. Each may have either of its modes contiguous: ``weights.T`` of an (N, K)
matrix is as good as any B. Lines that TMA cannot read, those that do not start at multiples of 16 bytes, are copied
together first. How the kernel is built for a product is decided by `hopper/choice.py`, once for each shape.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from flydsl.compiler.calls.native_replay import Lanes
from flydsl.kernels.blocks.activation import ACTIVATIONS, GATES
from flydsl.kernels.blocks.inputs import address_of, current_stream, empty_beside, on_stream, strides
from flydsl.kernels.gemm.few_rows.kernel import build_few_rows
from flydsl.kernels.gemm.few_rows.plan import MOST_ROWS, FewRows, choose_few_rows
from flydsl.kernels.gemm.hopper.checks import check_length
from flydsl.kernels.gemm.hopper.choice import choose_config, copies_words
from flydsl.kernels.gemm.hopper.operands import (
    KEPT_CALLS,
    MULTIPLIED,
    WRITTEN,
    Bound,
    KeptCalls,
    OperandLines,
    bf16_like,
    call_key,
    check_arrays,
    lines_of,
    multiprocessors,
    operand_lines,
    packed_lines,
    type_of,
    zeros,
)  # fmt: skip
from flydsl.kernels.gemm.hopper.plan import (
    BLOCK_ROWS,
    LINE_BYTES,
    RUN,
    SCALED,
    GemmConfig,
    GemmKind,
    PackedKind,
    Problem,
    ceildiv,
)
from flydsl.kernels.gemm.hopper.repeats import keep_call
from flydsl.kernels.gemm.hopper.weights import BLOCK_WORDS
from flydsl.kernels.gemm.hopper_gemm import build_hopper_gemm

Call = Callable[..., None]
_CALLS = KeptCalls()
_WRITTEN, _MADE, _LINEAR4 = Lanes(KEPT_CALLS), Lanes(KEPT_CALLS), Lanes(KEPT_CALLS)
"""Calls of `hopper_gemm` with numbers that its code has, of `hopper_matmul` with two matrices, of `hopper_linear4`."""
NO_GROUPS = (None,) * 4


def hopper_matmul(A: Any, B: Any, *, out: Any = None, out_dtype: Any = None, **how: Any) -> Any:
    """Return a @ B, with everything that `hopper_gemm` has; into ``out``, or a new array of ``out_dtype`` or of A's
    type.

    Products of 8-bit numbers are bf16 unless ``out_dtype`` says otherwise.
    """
    alone = out is None and out_dtype is None and not how
    if alone and (found := _MADE.again(A, B)) is not None:
        return found
    check_arrays(A, B)
    if out is None:
        shape = (*A.shape[:-1], B.shape[-1] // columns_of_one(how.get("activation", "none")))
        if out_dtype is None and A.dtype.itemsize == 1:
            out_dtype = bf16_like(A)
        with on_stream(A, how.get("stream")):
            out = empty_beside(A, shape, out_dtype or A.dtype)
    if alone:
        keep_call(_MADE, *_launched((A, B, out, None, None, None, None)), (A, B), made=out)
    else:
        hopper_gemm(A, B, out, **how)
    return out


def hopper_gemm(
    A: Any, B: Any, C: Any, bias: Any = None, *, alpha: float = 1.0, beta: float = 0.0, D: Any = None,
    row_scale: Any = None, column_scale: Any = None, block_scales: tuple[Any, Any] | None = None,
    activation: str = "none", use_fast_accum: bool = False, config: GemmConfig | None = None, stream: Any = None,
) -> None:  # fmt: skip
    """Write C = act(alpha * row_scale * (A @ B) * column_scale + bias + beta * D).

    Arrays are PyTorch's or NumPy's; the stream is torch's current one unless another is given. ``bias`` and
    ``column_scale`` have N elements, ``row_scale`` M, or any of them one. D is not read if beta is 0. The activation
    "swiglu" makes one column of two, silu(even) * odd, so that C is (M, N / 2). ``block_scales`` of fp8 matrices are
    f32 of (M, K / 128) for A, each of 1 x 128, and of (K / 128, N / 128) for B, each of 128 x 128, with either mode
    contiguous; extents that are no multiples are rounded up. Tensor cores add up products of fp8 in 14 bits: sums
    in f32 take those of each 256 along K, unless ``use_fast_accum`` leaves all of K to tensor cores.
    """
    scales = scale_a, scale_b = block_scales or (None, None)
    plain = alpha == 1 and not beta and config is None and stream is None
    # What a repeated call costs is in these lines.
    if plain:
        found = _WRITTEN.again(
            A, B, C, bias, row_scale, column_scale, scale_a, scale_b, activation, use_fast_accum
        )  # fmt: skip
        if found is not None:
            return
    if beta and D is None:
        raise ValueError(f"beta is {beta}, and there is no D: give D=C to add to what C holds")
    given = (A, B, C, row_scale, column_scale, bias, D if beta else None)
    call, arguments = _launched(given, scales, alpha, beta, activation, use_fast_accum, config, stream)
    if plain:
        tensors = (A, B, C, bias, row_scale, column_scale, scale_a, scale_b)
        keep_call(_WRITTEN, call, arguments, tensors, (activation, use_fast_accum))


def _launched(
    given: tuple[Any, ...], scales: tuple[Any, Any] = (None, None), alpha: float = 1.0, beta: float = 0.0,
    activation: str = "none", use_fast_accum: bool = False, config: GemmConfig | None = None, stream: Any = None,
) -> tuple[Call, tuple[Any, ...]]:  # fmt: skip
    """Make a call on (A, B, C, row_scale, column_scale, bias, D); return what makes such calls, and its arguments."""
    device = given[0].get_device() if hasattr(given[0], "data_ptr") else -1
    factor = None if alpha == 1 else float(alpha)
    key = call_key((*given, *scales), (activation, use_fast_accum, factor is None), config, device)
    call, now = _CALLS.get(key), current_stream(device) if stream is None else stream
    arguments = (*given, factor, float(beta), *scales, *NO_GROUPS, now)
    if call is None:
        made = _call_for(given, scales, activation, use_fast_accum, config, device)
        return _CALLS.begin(key, made, *arguments), arguments
    call(*arguments)
    return call, arguments


def hopper_linear4(
    x: Any, packed: Any, scales: Any, y: Any, *, zeros: Any = None, bias: Any = None, kind: str = "int4",
    group_size: int = 128, activation: str = "none", config: GemmConfig | FewRows | None = None, stream: Any = None,
) -> None:  # fmt: skip
    """Write y = act(x @ ((codes - zeros) * scales)^T + bias): x (M, K) and y (M, N), bf16 or f16.

    ``packed`` are codes (N, K) by `shuffle_weights`. ``scales`` and ``zeros`` are (N, K / group_size), of x's type;
    without zeros codes are taken less 8. With kind "mxfp4" codes are e2m1, scales their exponents in uint8, groups are
    of 32, and x is bf16. Groups are of 32 or of a multiple of 64. Of more than 8 rows (code - zero) * scale is rounded
    to x's type first.
    """
    given, numbers = (x, packed, y, scales, zeros, bias), (kind, group_size, activation)
    plain = config is None and stream is None
    if plain and _LINEAR4.again(*given, *numbers) is not None:
        return
    device = x.get_device() if hasattr(x, "data_ptr") else -1
    key = call_key(given, numbers, config, device)
    now = current_stream(device) if stream is None else stream
    arguments = (x, packed, y, None, None, bias, None, None, 0.0, scales, zeros, *NO_GROUPS, now)
    call = _CALLS.get(key)
    if call is not None:
        call(*arguments)
    else:
        made = _linear4_for(given, PackedKind(kind, group_size), activation, config, device)
        call = _CALLS.begin(key, made, *arguments)
    if plain:
        keep_call(_LINEAR4, call, arguments, given, numbers)


# The way to the kernel -------------------------------------------------------------------------------


def _call_for(
    given: tuple[Any, ...], scales: tuple[Any, Any], activation: str, use_fast_accum: bool, config: GemmConfig | None,
    device: int,
) -> Call:  # fmt: skip
    """Return what `hopper_gemm` does for arrays of these shapes, strides and types."""
    A, B, C, row_scale, column_scale, bias, D = given
    _check(A, B, C, row_scale, column_scale, bias, D, activation)
    (m, k), n = A.shape[-2:], B.shape[-1]
    block_scaled = scales[0] is not None
    check_block_scales(A, B, *scales)
    if 0 in C.shape:
        return lambda *_: None
    if k == 0:
        return _without_products(activation, config)
    a, b = operand_lines(A, 1, "A"), operand_lines(B, 0, "B")
    types = type_of(A, "A", MULTIPLIED), type_of(B, "B", MULTIPLIED), type_of(C, "C", WRITTEN)
    along_n, piece = lines_of(C)
    sms = multiprocessors(device)
    batches = C.shape[0] if C.ndim == 3 else 1
    line_bytes = min(a.line_bytes, b.line_bytes)
    problem = Problem(m, n, k, batches, types[0].width // 8, a.along_k, b.along_k, types[2].width, along_n, line_bytes,
                      columns_of_one(activation), block_scaled, c_aligned=piece == LINE_BYTES,
                      run=run_of(types[0], block_scaled, use_fast_accum), integer=types[0].is_integer,
                      adds=D is not None)  # fmt: skip
    is_ragged = a.is_ragged or b.is_ragged
    words = min(a.words, b.words) if is_ragged and config is None else 0
    words = words if words and copies_words(replace(problem, words=words), sms) else 0
    config = config or choose_config(replace(problem, words=words), sms)
    first, second = ((types[1], b), (types[0], a)) if config.swapped else ((types[0], a), (types[1], b))
    kind = GemmKind(
        first[0], second[0], types[2], first[1].along_k, second[1].along_k, along_n != config.swapped, piece,
        C.ndim == 3, activation, block_scaled, run=problem.run if config.adds_runs(problem) else 0, words=words,
    )  # fmt: skip
    check_length(k, kind, config)
    run = build_hopper_gemm(kind, config, sms)
    if is_ragged and not words:
        return lambda A, B, *rest: run(*packed_lines([(A, 1, a), (B, 0, b)], rest[-1]), *rest)
    return run if device < 0 else Bound(run)


def _linear4_for(
    given: tuple[Any, ...], form: PackedKind, activation: str, config: GemmConfig | FewRows | None, device: int
) -> Call:
    """Return what `hopper_linear4` does for arrays of these shapes, strides and types."""
    x, _, y, *_ = given
    _check_linear4(*given, form, activation)
    (m, k), n = x.shape, y.shape[1]
    if 0 in y.shape:
        return lambda *_: None
    lines, sms = operand_lines(x, 1, "x"), multiprocessors(device)
    dtype, out = type_of(x, "x", MULTIPLIED), type_of(y, "y", WRITTEN)
    along_n, piece = lines_of(y)
    problem = Problem(m, n, k, c_width=out.width, c_along_n=along_n, line_bytes=lines.line_bytes, packed=True)
    few = m <= MOST_ROWS and out.width > 8
    config = config or (choose_few_rows(problem, sms) if few else choose_config(problem, sms))
    if isinstance(config, FewRows):
        if config.rows < m or not config.can_hold(k):
            raise ValueError(f"x is {m} x {k}, more than {config} has room for")
        pieces = lines.along_k and not lines.is_ragged and k % (8 * LINE_BYTES // dtype.width) == 0
        few_rows = build_few_rows(form, activation, pieces, config)
        return few_rows if device < 0 else Bound(few_rows)
    lines = lines if lines.along_k else OperandLines(True, is_ragged=True)
    kind = GemmKind(dtype, dtype, out, c_along_n=not along_n, piece_bytes=piece, activation=activation, packed=form)
    run = build_hopper_gemm(kind, config, sms)
    if lines.is_ragged:
        return lambda x, *rest: run(*packed_lines([(x, 1, lines)], rest[-1]), *rest)
    return run if device < 0 else Bound(run)


def _without_products(activation: str, config: GemmConfig | None) -> Call:
    """K is 0, and TMA has nothing to copy: products of zeros are the same."""

    def call(A: Any, B: Any, C: Any, row_scale: Any, column_scale: Any, bias: Any, D: Any, alpha: float | None,
             beta: float, *more: Any) -> None:  # fmt: skip
        with on_stream(A, more[-1]):
            a, b = zeros(A, (*A.shape[:-1], 16)), zeros(B, (*B.shape[:-2], B.shape[-1], 16)).swapaxes(-1, -2)
        hopper_gemm(a, b, C, bias, beta=beta, D=D, row_scale=row_scale,
                    column_scale=column_scale, activation=activation, config=config, stream=more[-1])  # fmt: skip

    return call


# What was given --------------------------------------------------------------------------------------


def _check(A: Any, B: Any, C: Any, row_scale: Any, column_scale: Any, bias: Any, D: Any, activation: str) -> None:
    """Refuse what the kernel cannot take."""
    shapes = f"A {tuple(A.shape)}, B {tuple(B.shape)}, C {tuple(C.shape)}"
    if not A.ndim == B.ndim == C.ndim or A.ndim not in (2, 3):
        raise ValueError(f"A, B and C are matrices, or batches of them, got shapes {shapes}")
    (*batch, m, k), n = A.shape, B.shape[-1]
    many = columns_of_one(activation)
    if tuple(B.shape) != (*batch, k, n) or tuple(C.shape) != (*batch, m, n // many) or n % many:
        raise ValueError(
            f"shapes do not fit: {shapes}; A is (M, K), B is (K, N), C is (M, {'N' if many == 1 else 'N / 2'})"
        )
    if D is not None and tuple(D.shape) != (*batch, m, n):
        raise ValueError(f"D has shape {tuple(D.shape)}, and the product {(*batch, m, n)}")
    for name, vector, extent in (("bias", bias, n), ("column_scale", column_scale, n), ("row_scale", row_scale, m)):
        if vector is not None and tuple(vector.shape) not in ((extent,), (1,)):
            what = "rows" if vector is row_scale else "columns"
            raise ValueError(f"{name} has shape {tuple(vector.shape)}, and the product has {extent} {what}")
    types = type_of(A, "A", MULTIPLIED), type_of(B, "B", MULTIPLIED)
    type_of(C, "C", WRITTEN)
    mixed = all(kind.width == 8 for kind in types) and types[0].is_integer == types[1].is_integer
    if types[0] is not types[1] and not mixed:
        raise ValueError(f"A is {A.dtype} and B is {B.dtype}: give both the same type")
    if activation not in {**ACTIVATIONS, **GATES}:
        raise ValueError(f"activation must be one of {', '.join([*ACTIVATIONS, *GATES])}, got {activation!r}")


def run_of(dtype: Any, block_scaled: bool, use_fast_accum: bool) -> int:
    """Return after how many steps of K sums in f32 take what tensor cores added up; 0, if those add up all."""
    return 0 if use_fast_accum or block_scaled or dtype.width > 8 or dtype.is_integer else RUN


def columns_of_one(activation: str) -> int:
    """Columns of the product that a column of C is made of."""
    return 2 if activation in GATES else 1


def check_block_scales(A: Any, B: Any, scale_a: Any, scale_b: Any) -> None:
    """Refuse scales of blocks that are not those of A and B; there may be none."""
    if scale_a is None and scale_b is None:
        return
    if scale_a is None or scale_b is None or A.dtype.itemsize > 1 or type_of(A, "A", MULTIPLIED).is_integer:
        raise ValueError(f"scales of blocks are for both matrices, and those are fp8; A is {A.dtype}")
    steps = ceildiv(A.shape[-1], SCALED)
    wanted = (*A.shape[:-1], steps), (*B.shape[:-2], steps, ceildiv(B.shape[-1], SCALED))
    for name, matrix, scale, shape in (("A", A, scale_a, wanted[0]), ("B", B, scale_b, wanted[1])):
        if tuple(scale.shape) != shape or str(scale.dtype).removeprefix("torch.") != "float32":
            raise ValueError(
                f"scales of {name} {tuple(matrix.shape)} are float32 of shape {shape}, "
                f"got {scale.dtype} of {tuple(scale.shape)}"
            )


def _check_linear4(
    x: Any, packed: Any, y: Any, scales: Any, zeros: Any, bias: Any, form: PackedKind, activation: str
) -> None:
    """Refuse what the kernel cannot take."""
    shapes = f"x {tuple(x.shape)}, y {tuple(y.shape)}, packed {tuple(packed.shape)}"
    if x.ndim != 2 or y.ndim != 2 or x.shape[0] != y.shape[0] or 0 in x.shape:
        raise ValueError(f"x is (M, K) and y (M, N), got {shapes}")
    (_, k), n = x.shape, y.shape[1]
    blocks = ceildiv(n, BLOCK_ROWS), ceildiv(k, BLOCK_ROWS), BLOCK_WORDS
    if tuple(packed.shape) != blocks or str(packed.dtype).removeprefix("torch.") != "int32":
        raise ValueError(f"weights of {n} x {k} are int32 of {blocks}, as shuffle_weights gives them, got "
                         f"{packed.dtype}, {shapes}")  # fmt: skip
    wanted = zip(blocks, strides(packed), (blocks[1] * BLOCK_WORDS, BLOCK_WORDS, 1), strict=True)
    if address_of(packed) % LINE_BYTES or any(count > 1 and step != whole for count, step, whole in wanted):
        raise ValueError("weights are contiguous and begin at a multiple of 16 bytes, as shuffle_weights gives them, "
                         f"got strides {strides(packed)} at {address_of(packed):#x}")  # fmt: skip
    names = [str(array.dtype).removeprefix("torch.") for array in (x, scales)]
    types = {"int4": (("bfloat16", "float16"), names[0]), "mxfp4": (("bfloat16",), "uint8")}
    if form.name not in types:
        raise ValueError(f"kind is one of {', '.join(types)}, got {form.name!r}")
    known, of_scales = types[form.name]
    if names[0] not in known or names[1] != of_scales:
        raise ValueError(f"x of {form.name} weights is {' or '.join(known)} and scales are {of_scales}, got {names}")
    if form.group != 32 and (form.group < BLOCK_ROWS or form.group % BLOCK_ROWS or form.name == "mxfp4"):
        raise ValueError(f"groups of {form.name} are of 32{' or of 64s' * (form.name == 'int4')}, got {form.group}")
    for name, array in (("scales", scales), ("zeros", zeros)):
        if array is not None and tuple(array.shape) != (n, ceildiv(k, form.group)):
            raise ValueError(f"{name} are {(n, ceildiv(k, form.group))}, got {tuple(array.shape)}")
    if zeros is not None and (form.name == "mxfp4" or zeros.dtype != scales.dtype):
        raise ValueError("zeros are for int4, of the type of the scales")
    if bias is not None and tuple(bias.shape) != (n,):
        raise ValueError(f"bias has shape {tuple(bias.shape)}, and the product has {n} columns")
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation must be one of {', '.join(ACTIVATIONS)}, got {activation!r}")

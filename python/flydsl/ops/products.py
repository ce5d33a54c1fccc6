"""`flydsl.ops.matmul`, `linear`, `scaled_mm`, `grouped_mm` and `linear_int4`.

On Hopper they run the family of `kernels/gemm/hopper_gemm.py`, on AMD's targets the kernel that a model of clocks likes
best (`amd_products.py`); in f32, and elsewhere, `kernels/gemm/tiled.py`, which every target has.
"""

from __future__ import annotations

from math import prod
from operator import index
from typing import Any

from flydsl.kernels.blocks.inputs import on_host, strides
from flydsl.kernels.gemm.hopper_grouped import MOST_GROUPS, hopper_grouped_gemm
from flydsl.kernels.gemm.hopper_matmul import hopper_gemm, hopper_linear4
from flydsl.ops import amd_products, arrays
from flydsl.ops.amd_products import Product, ways
from flydsl.ops.op import (
    Arguments,
    Op,
    all_there,
    check_written,
    fall_back,
    host_numbers,
    numpy_only,
    one_place,
    put,
    same_kind,
    why_not_rows,
)

SIDE = 128
"""Of a block that has a scale."""
HOPPER_BITS = ("float8_e4m3fn", "float8_e5m2")
EIGHT_BITS = (*HOPPER_BITS, "float8_e4m3fnuz")
WRITTEN = {"bfloat16": "bf16", "float16": "f16", "float32": "f32"}


def is_hopper(x: Any) -> bool:
    """Return whether kernels on this array run on Hopper, real or virtual."""
    return arrays.arch_of(x) == "sm_90a"


def multiply(a: Any, b: Any, c: Any, bias: Any = None) -> None:
    """c = a @ b + bias, of matrices or batches of them."""
    if 0 in c.shape:
        return
    bias = None if bias is None else arrays.line(bias, c.shape[-1])
    if is_hopper(a) and arrays.type_name(a) != "f32":
        hopper_gemm(_in_lines(a), _in_lines(b), c, bias)
    elif a.shape[-1] == 0:
        c[...] = 0 if bias is None else bias
    elif len(c.shape) == 3:
        for place in range(c.shape[0]):
            multiply(a[place], b[place], c[place])
    else:
        result = c if amd_products.is_plain(c) else arrays.empty_like(c)
        ways(Product(arrays.arch_of(a), a, b, result, bias))[0].run()
        if result is not c:
            arrays.copy_into(c, result)


def _in_lines(x: Any) -> Any:
    """Return matrices whose rows or columns are contiguous: themselves, or a copy."""
    return x if 1 in strides(x)[-2:] and not arrays.has_odd_steps(x) else arrays.copied(x)  # not torch's `contiguous`


# Matrices and batches ------------------------------------------------------------------------------------------------


def _product(a: Any, b: Any) -> Arguments:
    return (arrays.empty(a, (*a.shape[:-1], b.shape[-1])),)


def _wanted(like: Arguments, wanted: list[bool]) -> Arguments:
    """Return arrays for gradients, empty ones for those that nobody wants."""
    return tuple(arrays.empty_like(x) if want else arrays.empty(x, (0,)) for x, want in zip(like, wanted, strict=False))


def _product_gradients(arguments: Arguments, results: Arguments) -> None:
    dc, a, b, wanted = arguments
    dc = arrays.rows(dc).reshape(dc.shape)
    if wanted[0]:
        multiply(dc, b.swapaxes(-1, -2), results[0])
    if wanted[1]:
        multiply(a.swapaxes(-1, -2), dc, results[1])


MATMUL_BACKWARD = Op(
    "matmul_backward", "Tensor dc, Tensor a, Tensor b, bool[] wanted",
    lambda dc, a, b, wanted: _wanted((a, b), wanted), _product_gradients, results=2, tensors=3,
)  # fmt: skip
MATMUL = Op(
    "matmul", "Tensor a, Tensor b", _product, lambda a, results: multiply(a[0], a[1], results[0]), tensors=2,
    gradient=MATMUL_BACKWARD, saved=lambda a, results: (a, ()), chosen=True,
)  # fmt: skip


def why_not_matmul(input: Any, other: Any) -> str | None:
    """Return why there is no kernel, or None."""
    all_there(other=other)
    return why_not_rows(input, other)


def how_matmul(input: Any, other: Any, *, out: Any = None) -> str:
    """Return what `explain` adds: the kernels for such matrices with their clocks."""
    return _reckoning(*(x[0] if len(x.shape) == 3 else x for x in _as_batches(input, other)[:2]))


def _reckoning(a: Any, b: Any, bias: Any = None) -> str:
    """Ways to a product, the one that is taken first; empty where there is but one."""
    if is_hopper(a) or 0 in (*a.shape, *b.shape):
        return ""
    found = ways(Product(arrays.arch_of(a), a, b, arrays.empty(a, (a.shape[0], b.shape[1])), bias))
    return f": {found[0]}" + "".join(f"; not {other}" for other in found[1:])


def _as_batches(a: Any, b: Any) -> tuple[Any, Any, tuple[int, ...]]:
    """Return two arrays as matrices or as batches of the same size, and the shape of the product."""
    shape = (*a.shape[:-1], *b.shape[-1:] * (len(b.shape) > 1))
    rows = a.reshape(1, -1) if len(a.shape) == 1 else a
    columns = b.reshape(-1, 1) if len(b.shape) == 1 else b
    if rows.shape[-1] != columns.shape[-2]:
        m, k, n = prod(rows.shape[:-1]), rows.shape[-1], columns.shape[-1]
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({m}x{k} and {columns.shape[-2]}x{n})")
    if len(columns.shape) == 2:
        return rows.reshape(prod(rows.shape[:-1]), rows.shape[-1]), columns, shape
    batch = _broadcast(tuple(rows.shape[:-2]), tuple(columns.shape[:-2]))
    wide = [_expanded(x, (*batch, *x.shape[-2:])) for x in (rows, columns)]
    end = (*rows.shape[-2:-1] * (len(a.shape) > 1), *columns.shape[-1:] * (len(b.shape) > 1))
    first, second = (x.reshape(prod(batch), *x.shape[-2:]) for x in wide)
    return first, second, (*batch, *end)


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Return the batch that two batches make together."""
    rank = max(len(a), len(b))
    pairs = list(zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True))
    for mode, (x, y) in enumerate(pairs):
        if x != y and 1 not in (x, y):
            raise RuntimeError(
                f"The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton dimension {mode}"
            )
    return tuple(y if x == 1 else x for x, y in pairs)


def _expanded(x: Any, shape: tuple[int, ...]) -> Any:
    if tuple(x.shape) == shape:
        return x
    return arrays.np.broadcast_to(x, shape) if arrays.is_array(x) else x.expand(shape)


@MATMUL.answers("input", "other", absent=("out",))
def matmul(input: Any, other: Any, *, out: Any = None) -> Any:
    """Return the product of two arrays, as `torch.matmul`: vectors, matrices, and batches that are broadcast.

    Takes f32, f16 and bf16 of one type; sums are f32's, and the result is rounded once. f32 is multiplied as such,
    slower than others. Gradients are products of the same kind.
    """
    if out is None and not arrays.is_followed() and (known := MATMUL.lanes.again(input, other)) is not None:
        return known
    reason = why_not_matmul(input, other)
    if reason is not None:
        if arrays.is_array(input):
            numpy_only("matmul", reason)
        return fall_back("matmul", reason, lambda: arrays.met_torch().matmul(input, other, out=out))
    if not input.shape or not other.shape:
        raise RuntimeError("both arguments to matmul need to be at least 1D")
    a, b, shape = _as_batches(input, other)
    if out is not None and tuple(getattr(out, "shape", ())) == shape == (*a.shape[:-1], b.shape[-1]):
        return MATMUL(a, b, out=out)
    if out is None and len(input.shape) == len(other.shape) == 2:
        return MATMUL(input, other, key=())
    check_written("matmul", out, input, input, other, shape=shape)
    return put(out, MATMUL(a, b).reshape(shape))


# Linear layers -------------------------------------------------------------------------------------------------------


def _linear(x: Any, weight: Any, bias: Any) -> Arguments:
    return (arrays.empty(x, (*x.shape[:-1], weight.shape[0])),)


def _launch_linear(arguments: Arguments, results: Arguments) -> None:
    x, weight, bias = arguments
    multiply(arrays.rows(x), weight.swapaxes(0, 1), arrays.rows(results[0]), bias)


def _linear_gradients(arguments: Arguments, results: Arguments) -> None:
    dy, x, weight, wanted = arguments
    dx, dweight, dbias = results
    dy, x = arrays.rows(dy), arrays.rows(x)
    if wanted[0]:
        multiply(dy, weight, arrays.rows(dx))
    if wanted[1]:
        multiply(dy.swapaxes(0, 1), x, dweight)
    if wanted[2]:
        ones = arrays.empty(dy, (1, dy.shape[0]))
        arrays.filled(ones, 1.0)
        multiply(ones, dy, dbias.reshape(1, -1))


LINEAR_BACKWARD = Op(
    "linear_backward", "Tensor dy, Tensor x, Tensor weight, bool[] wanted",
    lambda dy, x, weight, wanted: (*_wanted((x, weight), wanted), arrays.empty(x, (weight.shape[0] * wanted[2],))),
    _linear_gradients, results=3, tensors=3,
)  # fmt: skip
LINEAR = Op(
    "linear", "Tensor x, Tensor weight, Tensor? bias", _linear, _launch_linear, tensors=3, gradient=LINEAR_BACKWARD,
    saved=lambda a, results: (a[:2], ()), chosen=True,
)  # fmt: skip


def why_not_linear(input: Any, weight: Any, bias: Any) -> str | None:
    """Return why there is no kernel, or None."""
    all_there(weight=weight)
    return why_not_rows(input, weight, bias)


def how_linear(input: Any, weight: Any, bias: Any = None) -> str:
    """Return what `explain` adds: the kernels for such matrices with their clocks."""
    return _reckoning(arrays.rows(input), weight.swapaxes(0, 1), bias)


@LINEAR.answers("input", "weight", "bias")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """input @ weightᵀ + bias, as `torch.nn.functional.linear`: input (…, K), weight (N, K), bias (N). Types, sums and
    gradients as of `matmul`; the bias is added before the result is rounded.
    """
    if not arrays.is_followed() and (found := LINEAR.lanes.again(input, weight, bias)) is not None:
        return found
    reason = why_not_linear(input, weight, bias)
    if reason is None and len(weight.shape) != 2:
        reason = "the weight is no matrix"
    if reason is not None:
        if arrays.is_array(input):
            numpy_only("linear", reason)
        return fall_back("linear", reason, lambda: arrays.met_torch().nn.functional.linear(input, weight, bias))
    n, k = weight.shape
    if not input.shape or input.shape[-1] != k:
        m, last = prod(input.shape[:-1]), input.shape[-1] if input.shape else 1
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({m}x{last} and {k}x{n})")
    if bias is not None and tuple(bias.shape) != (n,):
        if not arrays.is_array(bias) and tuple(bias.shape) in ((), (1,)):
            return linear(input, weight, bias.expand(n))
        raise RuntimeError(f"the bias of a layer of {n} features has shape ({n},), got {tuple(bias.shape)}")
    return LINEAR(input, weight, bias, key=())


# fp8 with scales -----------------------------------------------------------------------------------------------------


def _scaled(a: Any, b: Any, scale_a: Any, scale_b: Any, bias: Any, out: str, use_fast_accum: bool) -> Arguments:
    return (arrays.empty(a, (a.shape[0], b.shape[1]), out),)


def _launch_scaled(arguments: Arguments, results: Arguments) -> None:
    a, b, scale_a, scale_b, bias, out, use_fast_accum = arguments
    if not is_hopper(a):
        if a.shape[1] == 0:
            results[0][...] = 0 if bias is None else bias
        elif 0 not in results[0].shape:
            product = Product(arrays.arch_of(a), a, b, results[0], bias, (scale_a, scale_b))
            amd_products.scaled_way(product, out, _of_blocks(b, scale_a, scale_b)).run()
        return
    a, b, bias = _in_lines(a), _in_lines(b), None if bias is None else arrays.line(bias, b.shape[1])
    if _of_blocks(b, scale_a, scale_b):
        hopper_gemm(a, b, results[0], bias, block_scales=(_in_lines(scale_a), _in_lines(scale_b)))
    else:
        rows, columns = (arrays.line(scale, prod(scale.shape)) for scale in (scale_a, scale_b))
        hopper_gemm(a, b, results[0], bias, row_scale=rows, column_scale=columns, use_fast_accum=use_fast_accum)


def _of_blocks(mat2: Any, scale_a: Any, scale_b: Any) -> bool:
    """Return whether scales are those of blocks, and not of rows and columns or of all."""
    if prod(scale_a.shape) == prod(scale_b.shape) == 1:
        return False
    return scale_a.shape[-1:] != (1,) or scale_b.shape[-1:] != mat2.shape[-1:]


SCALED_MM = Op(
    "scaled_mm", "Tensor a, Tensor b, Tensor scale_a, Tensor scale_b, Tensor? bias, str out, bool use_fast_accum",
    _scaled, _launch_scaled, tensors=5,
)  # fmt: skip


def why_not_scaled(input: Any, mat2: Any, scale_a: Any, scale_b: Any, bias: Any, out_dtype: Any) -> str | None:
    """Return why there is no kernel, or None."""
    all_there(mat2=mat2, scale_a=scale_a, scale_b=scale_b)
    one_place(input, mat2, scale_a, scale_b, bias)
    names = [str(x.dtype).removeprefix("torch.") for x in (input, mat2)]
    if any(name not in EIGHT_BITS for name in names):
        return f"matrices are {' or '.join(EIGHT_BITS)}, got {names[0]} and {names[1]}"
    if not is_hopper(input):
        arch, out = arrays.arch_of(input), _out_name(out_dtype)
        reason = amd_products.why_not_scaled(arch, names, _of_blocks(mat2, scale_a, scale_b), out, bias is not None)
        if reason is not None:
            return reason
    elif any(name not in HOPPER_BITS for name in names):
        return f"on Hopper matrices are {' or '.join(HOPPER_BITS)}, got {names[0]} and {names[1]}"
    return same_kind(scale_a, scale_b)


def how_scaled(
    input: Any, mat2: Any, scale_a: Any, scale_b: Any, bias: Any = None, out_dtype: Any = None,
    use_fast_accum: bool = False,
) -> str:  # fmt: skip
    """Return what `explain` adds: the kernel for such matrices with its clocks."""
    if is_hopper(input) or 0 in (*input.shape, *mat2.shape):
        return ""
    result, out = arrays.empty(input, (input.shape[0], mat2.shape[1]), _out_name(out_dtype)), _out_name(out_dtype)
    product = Product(arrays.arch_of(input), input, mat2, result, bias, (scale_a, scale_b))
    return f": {amd_products.scaled_way(product, out, _of_blocks(mat2, scale_a, scale_b))}"


def _out_name(out_dtype: Any) -> str:
    name = "bfloat16" if out_dtype is None else getattr(out_dtype, "__name__", str(out_dtype)).removeprefix("torch.")
    if name not in WRITTEN:
        raise ValueError(f"out_dtype must be one of {', '.join(WRITTEN)}, got {out_dtype}")
    return WRITTEN[name]


def scaled_mm(
    input: Any, mat2: Any, scale_a: Any, scale_b: Any, bias: Any = None, out_dtype: Any = None,
    use_fast_accum: bool = False,
) -> Any:  # fmt: skip
    """Return (scale_a · input) @ (scale_b · mat2) + bias of fp8 matrices (M, K) and (K, N), as ``torch._scaled_mm``.

    Scales are f32: of one element each; (M, 1) and (1, N); or of blocks, (M, K / 128) and (K / 128, N / 128), with
    either mode contiguous, extents rounded up. The result is bf16 unless ``out_dtype`` says f16 or f32. Hopper adds up
    256 products of fp8 in 14 bits, with scales of blocks 128, and those sums in f32; with ``use_fast_accum``, and
    without scales of blocks, all of K in 14 bits. Other targets always add up in f32.
    """
    name = _out_name(out_dtype)
    if not arrays.is_followed():
        found = SCALED_MM.lanes.again(input, mat2, scale_a, scale_b, bias, name, use_fast_accum)
        if found is not None:
            return found
    reason = why_not_scaled(input, mat2, scale_a, scale_b, bias, out_dtype)
    if len(input.shape) != 2 or len(mat2.shape) != 2 or input.shape[1] != mat2.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({_by(input.shape)} and {_by(mat2.shape)})")
    (m, k), n = input.shape, mat2.shape[1]
    steps = -(-k // SIDE)
    known = (
        ("of a tensor", (1,), (1,)), ("of rows and columns", (m, 1), (1, n)),
        ("of blocks", (m, steps), (steps, -(-n // SIDE))),
    )  # fmt: skip
    got = tuple(scale_a.shape), tuple(scale_b.shape)
    whole = prod(got[0]) == 1 and prod(got[1]) == 1
    if not whole and got not in [(a, b) for _, a, b in known]:
        shapes = "; ".join(f"{what}: {a} and {b}" for what, a, b in known)
        raise ValueError(f"scales of {_by(input.shape)} and {_by(mat2.shape)} are {shapes}; got {got[0]} and {got[1]}")
    if any(arrays.type_name(scale) != "f32" for scale in (scale_a, scale_b)):
        raise ValueError(f"scales are float32, got {scale_a.dtype} and {scale_b.dtype}")
    if bias is not None and tuple(bias.shape) != (n,):
        raise RuntimeError(f"the bias of a product of {n} columns has shape ({n},), got {tuple(bias.shape)}")
    if reason is not None:
        if arrays.is_array(input):
            numpy_only("scaled_mm", reason)
        torch = arrays.met_torch()
        kept = {"bias": bias, "out_dtype": torch.bfloat16 if out_dtype is None else out_dtype}
        kept["use_fast_accum"] = use_fast_accum
        return fall_back("scaled_mm", reason, lambda: torch._scaled_mm(input, mat2, scale_a, scale_b, **kept))
    return SCALED_MM(input, mat2, scale_a, scale_b, bias, name, use_fast_accum, key=(name, use_fast_accum))


def _by(shape: Any) -> str:
    return "x".join(map(str, shape))


# Groups --------------------------------------------------------------------------------------------------------------


def _grouped(a: Any, b: Any, offs: Any) -> Arguments:
    return (arrays.empty(a, (a.shape[0], b.shape[2])),)


GROUPED_MM = Op(
    "grouped_mm", "Tensor a, Tensor b, Tensor offs", _grouped,
    lambda a, results: hopper_grouped_gemm(_in_lines(a[0]), _in_lines(a[1]), results[0], arrays.line(a[2], len(a[2]))),
    tensors=3, check=lambda a, _, offs: _check_ends(on_host(offs), len(a)),
)  # fmt: skip


def why_not_grouped(mat_a: Any, mat_b: Any, offs: Any, bias: Any, out_dtype: Any) -> str | None:
    """Return why there is no kernel, or None."""
    all_there(mat_b=mat_b)
    one_place(mat_a, mat_b, offs, bias)
    reason = why_not_rows(mat_a, mat_b)
    if reason is not None:
        return reason
    if len(mat_a.shape) != 2 or len(mat_b.shape) != 3 or offs is None or bias is not None:
        return "groups are rows of a matrix, each with a matrix of its own, that end where offs says, without a bias"
    if out_dtype is not None and out_dtype != mat_a.dtype:
        return "the result has the type of the matrices"
    if arrays.type_name(mat_a) == "f32" or not is_hopper(mat_a):
        return "groups are multiplied in f16 and bf16, on Hopper"
    if mat_b.shape[0] > MOST_GROUPS:
        return f"there are more than {MOST_GROUPS} groups"
    if arrays.wants_gradient(mat_a, mat_b):
        return "its gradient has no kernel"
    return None


@GROUPED_MM.answers("mat_a", "mat_b", "offs", absent=("bias", "out_dtype"))
def grouped_mm(mat_a: Any, mat_b: Any, *, offs: Any = None, bias: Any = None, out_dtype: Any = None) -> Any:
    """Rows of a matrix times the matrix of their group, as ``torch._grouped_mm``: (rows, K), (groups, K, N), and int32
    ``offs``, where each group ends. f16 and bf16; sums are f32's. Rows behind the last group are not written. For
    gathered and scattered rows, masked groups and scales see `flydsl.kernels.gemm.hopper_grouped`.
    """
    if bias is None and out_dtype is None and not arrays.is_followed():
        found = GROUPED_MM.lanes.again(mat_a, mat_b, offs)
        if found is not None:
            return found
    reason = why_not_grouped(mat_a, mat_b, offs, bias, out_dtype)
    if reason is not None:
        if arrays.is_array(mat_a):
            numpy_only("grouped_mm", reason)
        torch = arrays.met_torch()
        kept = {"offs": offs, "bias": bias, "out_dtype": out_dtype}
        return fall_back("grouped_mm", reason, lambda: torch._grouped_mm(mat_a, mat_b, **kept))
    if mat_a.shape[1] != mat_b.shape[1]:
        raise RuntimeError(f"contraction dimension of mat_a and mat_b must match, got {_by(mat_a.shape)} and "
                           f"{_by(mat_b.shape)}")  # fmt: skip
    if tuple(offs.shape) != (mat_b.shape[0],) or str(offs.dtype).split(".")[-1] != "int32":
        raise ValueError(f"offs are int32 of shape ({mat_b.shape[0]},), got {offs.dtype} of {tuple(offs.shape)}")
    _check_ends(host_numbers(offs), len(mat_a))
    return GROUPED_MM(mat_a, mat_b, offs, key=())


def _check_ends(ends: Any, rows: int) -> None:
    """Refuse ends of groups that lie outside or go back; None are not known."""
    if ends is not None and ends.size and not (ends.min() >= 0 and ends.max() <= rows):
        raise IndexError(f"offs say where groups of {rows} rows end, got {ends.min()} to {ends.max()}")
    if ends is not None and (ends[1:] < ends[:-1]).any():
        raise ValueError(f"offs must not decrease: each group ends behind the one before, got {ends}")


# Weights of four bits ------------------------------------------------------------------------------------------------


def _linear_int4(x: Any, weight: Any, scales: Any, zeros: Any, bias: Any, group: int, kind: str) -> Arguments:
    return (arrays.empty(x, (*x.shape[:-1], scales.shape[0])),)


def _launch_int4(arguments: Arguments, results: Arguments) -> None:
    x, weight, scales, zeros, bias, group, kind = arguments
    bias = None if bias is None else arrays.line(bias, prod(bias.shape))
    scales, zeros = _in_lines(scales), None if zeros is None else _in_lines(zeros)
    given = {"zeros": zeros, "bias": bias, "kind": kind, "group_size": group}
    if 0 in (*x.shape, scales.shape[0]):
        results[0][...] = 0 if bias is None else bias
    elif not is_hopper(x):
        amd_products.multiply_int4(arrays.rows(x), weight, scales, arrays.rows(results[0]), group)
    else:
        hopper_linear4(arrays.rows(x), weight, scales, arrays.rows(results[0]), **given)


LINEAR_INT4 = Op(
    "linear_int4", "Tensor x, Tensor weight, Tensor scales, Tensor? zeros, Tensor? bias, SymInt group, str kind",
    _linear_int4, _launch_int4, tensors=5,
)  # fmt: skip


def why_not_int4(input: Any, weight: Any, scales: Any, zeros: Any, bias: Any, group_size: int, kind: str) -> str | None:
    """Return why there is no kernel, or None; torch has nothing to leave this to."""
    all_there(weight=weight, scales=scales)
    one_place(input, weight, scales, zeros, bias)
    if not input.shape or len(scales.shape) != 2:
        raise RuntimeError(f"x is (…, K) and scales are (N, groups), got {tuple(input.shape)}, {tuple(scales.shape)}")
    reason = why_not_rows(input)
    if reason is None and arrays.type_name(input) == "f32":
        return "activations are f16 or bf16"
    if reason is None and not is_hopper(input):
        arch = arrays.arch_of(input)
        return amd_products.why_not_int4(arch, input, scales, zeros, bias, group_size, kind)
    return reason


@LINEAR_INT4.answers("input", "weight", "scales", "zeros", "bias", "group_size", "kind")
def linear_int4(
    input: Any, weight: Any, scales: Any, zeros: Any = None, bias: Any = None, *, group_size: int = 128,
    kind: str = "int4",
) -> Any:  # fmt: skip
    """input @ ((codes - zeros) * scales)ᵀ + bias: a layer whose weights have four bits, for inference.

    input is (…, K) of bf16 or f16, ``weight`` the codes (N, K) by `flydsl.kernels.gemm.hopper_weights.shuffle_weights`,
    scales and zeros are (N, K / group_size) of input's type; without zeros codes are taken less 8. With kind "mxfp4"
    codes are e2m1 and scales exponents of groups of 32, in uint8. Weights are rounded to input's type, sums are f32's.
    On gfx942 and gfx950 codes are shuffled by `flydsl.kernels.gemm.preshuffle_w4a16.shuffle_weights`; groups have 32
    elements or all of K, N and K are multiples of 64, and there are neither zeros nor a bias.
    """
    if not arrays.is_followed():
        if (found := LINEAR_INT4.lanes.again(input, weight, scales, zeros, bias, group_size, kind)) is not None:
            return found
    group_size = index(group_size)
    reason = why_not_int4(input, weight, scales, zeros, bias, group_size, kind)
    numpy_only("linear_int4", reason)
    return LINEAR_INT4(input, weight, scales, zeros, bias, group_size, kind, key=(group_size, kind))

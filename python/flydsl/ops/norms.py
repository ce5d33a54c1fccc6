"""`rms_norm`, `layer_norm`, and both of a sum: `add_rms_norm`, `add_layer_norm`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

from flydsl.kernels.blocks.inputs import multiprocessors
from flydsl.kernels.blocks.row_machine import HOPPER
from flydsl.kernels.norm.column_sums import partial_shape
from flydsl.kernels.norm.layernorm import build_fused_add_layernorm_module, build_layernorm_module
from flydsl.kernels.norm.norm_backward import norm_backward_launcher
from flydsl.kernels.norm.norm_rows import check_weight_dtype
from flydsl.kernels.norm.rmsnorm import build_fused_add_rmsnorm_module, build_rmsnorm_module
from flydsl.ops import arrays
from flydsl.ops.op import (
    Arguments,
    Op,
    all_there,
    check_normalized,
    check_written,
    fall_back,
    numpy_only,
    one_place,
    put,
    shape_of,
    why_not_rows,
)


def _matrix(x: Any, length: int) -> Any:
    """Rows of ``length`` elements, which may be several dimensions."""
    return arrays.rows(x if x.shape[-1] == length else x.reshape(*_leading(x, length), length))


def _leading(x: Any, length: int) -> tuple[int, ...]:
    """Return the dimensions in front of those that are normalised."""
    lead, rest = len(x.shape), 1
    while rest < length and lead:
        lead -= 1
        rest *= x.shape[lead]
    return tuple(x.shape[:lead])


def _lines(length: int, *values: Any) -> list[Any]:
    return [None if value is None else arrays.line(value, length) for value in values]


def _statistics(kept: Arguments) -> list[Any]:
    """Return (mean and) 1 / deviation of all rows, where they are kept for the gradient; they are one array, since
    each that a call makes costs it host time."""
    return [kept[0][place] for place in range(kept[0].shape[0])] if kept else []


# Forward -------------------------------------------------------------------------------------------------------------


def _rms(x: Any, weight: Any, eps: float, length: int) -> Arguments:
    return arrays.empty_like(x), arrays.empty(x, (1, prod(_leading(x, length))), "f32")


def _layer(x: Any, weight: Any, bias: Any, eps: float, length: int) -> Arguments:
    return arrays.empty_like(x), arrays.empty(x, (2, prod(_leading(x, length))), "f32")


def _like(x: Any, *_: Any) -> Arguments:
    """Return the norm alone."""
    return (arrays.empty_like(x),)


def _twice_like(x: Any, *_: Any) -> Arguments:
    """Return the norm and the sum alone."""
    return arrays.empty_like(x), arrays.empty_like(x)


def _launch_rms(arguments: Arguments, results: Arguments) -> None:
    x, weight, eps, length = arguments
    x, y = _matrix(x, length), _matrix(results[0], length)
    if len(x) and length:
        run = build_rmsnorm_module(length, arrays.NAMES[x.dtype], len(results) > 1, eps)
        arrays.launch(run, x, x, *_lines(length, weight), y, *_statistics(results[1:]), len(x))


def launch_rms(build: Callable[..., Any], arguments: Arguments, results: Arguments) -> None:
    """Write the norm alone by the launcher that ``build`` gives."""
    x, weight, eps, length = arguments
    x, y = _matrix(x, length), _matrix(results[0], length)
    if len(x) and length:
        arrays.launch(build(length, arrays.NAMES[x.dtype], eps), x, x, *_lines(length, weight), y, len(x))


def _launch_layer(arguments: Arguments, results: Arguments) -> None:
    x, weight, bias, eps, length = arguments
    x, y = _matrix(x, length), _matrix(results[0], length)
    if len(x) and length:
        run = build_layernorm_module(length, arrays.NAMES[x.dtype], len(results) > 1, eps)
        arrays.launch(run, x, x, *_lines(length, weight, bias), y, *_statistics(results[1:]), len(x))


def _add_rms(x: Any, residual: Any, weight: Any, eps: float, length: int) -> Arguments:
    return arrays.empty_like(x), *_rms(x, weight, eps, length)


def _add_layer(x: Any, residual: Any, weight: Any, bias: Any, eps: float, length: int) -> Arguments:
    return arrays.empty_like(x), *_layer(x, weight, bias, eps, length)


def _launch_add(build: Any, arguments: Arguments, results: Arguments) -> None:
    x, residual, *weights, eps, length = arguments
    x, residual, y, added = (_matrix(value, length) for value in (x, residual, *results[:2]))
    if len(x) and length:
        run = build(length, arrays.NAMES[x.dtype], len(results) > 2, eps)
        lines, stats = _lines(length, *weights), _statistics(results[2:])
        arrays.launch(run, x, x, residual, *lines, y, added, *stats, len(x))


# Gradients -----------------------------------------------------------------------------------------------------------


def _gradients(
    centred: bool, dy: Any, dadded: Any, x: Any, weight: Any, stats: list[Any], length: int, results: Arguments
) -> None:
    """Write dx and the weights' gradients; ``stats`` are (mean and) 1 / deviation of all rows."""
    matrix, gradient, dx = (_matrix(value, length) for value in (x, dy, results[0]))
    count = len(matrix)
    weights = [*results[1:], None][:2]
    if not count or not length:
        for value in results[1:]:
            arrays.filled(value, 0.0)
        return
    extra = None if dadded is None else _matrix(dadded, length)
    sums = [arrays.empty(x, partial_shape(length, count), "f32") for _ in range(1 + centred)]
    blocks = multiprocessors(x) if getattr(x, "is_cuda", False) else HOPPER.processors
    run = norm_backward_launcher(centred, length, arrays.NAMES[x.dtype], False, extra is not None, None, blocks)
    *mean, rstd = stats
    arrays.launch(
        run, x, gradient, matrix, *_lines(length, weight), mean[0] if mean else None, rstd, dx, extra, sums[0],
        sums[1] if centred else None,
        *(None if value is None or value.shape[0] == 0 else arrays.line(value, length) for value in weights),
        count,
    )  # fmt: skip


def _weight_like(weight: Any, x: Any) -> Any:
    """Return the gradient of a weight; an empty array stands for one that is not there."""
    return arrays.empty(x, (0,)) if weight is None else arrays.empty_like(weight)


def _like_both(x: Any, like: Any, scaled: bool, shifted: bool) -> Arguments:
    """Return the gradients of LayerNorm's arrays; weight and bias are alike."""
    return arrays.empty_like(x), _weight_like(like if scaled else None, x), _weight_like(like if shifted else None, x)


def _kept(x: Any, weight: Any, bias: Any, stats: Any, length: int) -> tuple[Arguments, Arguments]:
    """Return what LayerNorm's gradient needs. Each array that autograd keeps costs a call time, so the bias is not
    among them where there is a weight, which says what it is like."""
    return (x, bias if weight is None else weight, stats), (length, weight is not None, bias is not None)


RMS_BACKWARD = Op(
    "rms_norm_backward", "Tensor dy, Tensor x, Tensor? weight, Tensor stats, SymInt length",
    lambda dy, x, weight, stats, length: (arrays.empty_like(x), _weight_like(weight, x)),
    lambda a, results: _gradients(False, a[0], None, a[1], a[2], _statistics(a[3:4]), a[4], results),
    tensors=4, results=2,
)  # fmt: skip
RMS_NORM = Op(
    "rms_norm", "Tensor x, Tensor? weight, float eps, SymInt length", _rms, _launch_rms, results=2, tensors=2,
    bare=_like, in_place=True, gradient=RMS_BACKWARD, saved=lambda a, results: ((a[0], a[1], results[1]), (a[3],)),
)  # fmt: skip
LAYER_BACKWARD = Op(
    "layer_norm_backward",
    "Tensor dy, Tensor x, Tensor? like, Tensor stats, SymInt length, bool scaled, bool shifted",
    lambda dy, x, like, stats, length, scaled, shifted: _like_both(x, like, scaled, shifted),
    lambda a, results: _gradients(True, a[0], None, a[1], a[2] if a[5] else None, _statistics(a[3:4]), a[4], results),
    tensors=4, results=3,
)  # fmt: skip
LAYER_NORM = Op(
    "layer_norm", "Tensor x, Tensor? weight, Tensor? bias, float eps, SymInt length", _layer, _launch_layer,
    results=2, tensors=3, bare=_like, in_place=True, gradient=LAYER_BACKWARD,
    saved=lambda a, results: _kept(a[0], a[1], a[2], results[1], a[4]),
)  # fmt: skip
ADD_RMS_BACKWARD = Op(
    "add_rms_norm_backward", "Tensor dy, Tensor dadded, Tensor added, Tensor? weight, Tensor stats, SymInt length",
    lambda dy, dadded, added, weight, stats, length: (arrays.empty_like(added), _weight_like(weight, added)),
    lambda a, results: _gradients(False, a[0], a[1], a[2], a[3], _statistics(a[4:5]), a[5], results),
    tensors=5, results=2,
)  # fmt: skip
ADD_RMS_NORM = Op(
    "add_rms_norm", "Tensor x, Tensor residual, Tensor? weight, float eps, SymInt length", _add_rms,
    partial(_launch_add, build_fused_add_rmsnorm_module), outputs=2, results=3, tensors=3, bare=_twice_like,
    gradient=ADD_RMS_BACKWARD, saved=lambda a, results: ((results[1], a[2], results[2]), (a[4],)), spread=(0, 0, 1),
    passed=2,
)  # fmt: skip
ADD_LAYER_BACKWARD = Op(
    "add_layer_norm_backward",
    "Tensor dy, Tensor dadded, Tensor added, Tensor? like, Tensor stats, SymInt length, bool scaled, bool shifted",
    lambda dy, dadded, added, like, stats, length, scaled, shifted: _like_both(added, like, scaled, shifted),
    lambda a, results: _gradients(True, a[0], a[1], a[2], a[3] if a[6] else None, _statistics(a[4:5]), a[5], results),
    tensors=5, results=3,
)  # fmt: skip
ADD_LAYER_NORM = Op(
    "add_layer_norm", "Tensor x, Tensor residual, Tensor? weight, Tensor? bias, float eps, SymInt length", _add_layer,
    partial(_launch_add, build_fused_add_layernorm_module), outputs=2, results=3, tensors=4, bare=_twice_like,
    gradient=ADD_LAYER_BACKWARD, saved=lambda a, results: _kept(results[1], a[2], a[3], results[2], a[5]),
    spread=(0, 0, 1, 2), passed=2,
)  # fmt: skip


# One pass by itself --------------------------------------------------------------------------------------------------


def length_of_rows(x: Any, weight: Any = None, bias: Any = None) -> int:
    """Return the length of rows that kernels take with weights of their type, or of f32 with rows of 16 bits."""
    if (reason := why_not_rows(x)) is not None:
        raise TypeError(f"a norm has no kernel for this: {reason}")
    check_normalized(x, tuple(x.shape[-1:]), weight, bias)
    for value in (weight, bias):
        if value is not None:
            check_weight_dtype(arrays.NAMES[x.dtype], arrays.type_name(value) or str(value.dtype))
    if weight is not None and bias is not None and weight.dtype != bias.dtype:
        raise ValueError(f"weight and bias have one type, got {weight.dtype} and {bias.dtype}")
    return x.shape[-1]


def with_statistics(op: Op, x: Any, *weights: Any, eps: float) -> tuple[Any, ...]:
    """Return the norm of each row, (its mean,) and 1 / its deviation, which no gradient follows."""
    y, stats = op.run(x, *weights, float(eps), length_of_rows(x, *weights))
    return y, *(value.reshape(tuple(x.shape[:-1])) for value in _statistics((stats,)))


def gradients_by(dy: Any, x: Any, weight: Any, *stats: Any, dadded: Any = None) -> tuple[Any, Any, Any]:
    """Return the gradients of x, weight and bias, with what `with_statistics` gave; None stands for no weight, and for
    the bias of a norm that has none. ``dadded`` is added to the first."""
    length, lead, centred = length_of_rows(x, weight), tuple(x.shape[:-1]), len(stats) > 1
    all_there(dy=dy, **dict(zip(("rstd", "mean"), reversed(stats))))
    one_place(x, dy, dadded, *stats)
    for name, value in (("dy", dy), ("dresidual", dadded)):
        if value is not None and tuple(value.shape) != tuple(x.shape):
            raise ValueError(f"{name} has the shape of x, {tuple(x.shape)}, got {tuple(value.shape)}")
        if value is not None and value.dtype != x.dtype:
            raise TypeError(f"{name} has the type of x, {x.dtype}, got {value.dtype}")
    if any(arrays.NAMES.get(value.dtype) != "f32" for value in stats):
        raise TypeError(f"statistics are f32, got {[str(value.dtype) for value in stats]}")
    if any(prod(value.shape) != prod(lead) for value in stats):
        raise ValueError(f"statistics are one for each row, {lead}, got {[tuple(value.shape) for value in stats]}")
    dx, like = arrays.empty_like(x), arrays.empty(x, (length,)) if weight is None else weight
    found = [None if weight is None else arrays.empty_like(weight), arrays.empty_like(like) if centred else None]
    stats_of_rows = [arrays.numbers(value) for value in stats]
    results = tuple(arrays.empty(x, (0,)) if value is None else value for value in found[: 1 + centred])
    _gradients(centred, dy, dadded, x, weight, stats_of_rows, length, (dx, *results))
    return dx, found[0], found[1]


# Calls ---------------------------------------------------------------------------------------------------------------


def _arranged(normalized_shape: Any, weight: Any, x: Any) -> tuple[tuple[int, ...], Any]:
    """Return (the shape that is normalised, the weight): a weight may stand in the place of its shape."""
    if arrays.is_array(normalized_shape) or arrays.is_tensor(normalized_shape):
        if weight is not None:
            raise TypeError("normalized_shape is a shape, or a weight which then has no place of its own")
        return tuple(normalized_shape.shape), normalized_shape
    if normalized_shape is None:
        one_place(x, weight)
        return tuple(x.shape[-1:] if weight is None else weight.shape), weight
    return shape_of(normalized_shape), weight


_WEIGHT = ("normalized_shape", "weight")
"""The former may be the latter, whose shape it is then."""


def _known(normalized_shape: Any, weight: Any, x: Any) -> tuple[Any, Any]:
    """Return the shape and the weight by which a call is known, both in their places: a weight says its shape."""
    return (None, normalized_shape) if arrays.is_tensor(normalized_shape) else _arranged(normalized_shape, weight, x)


def _epsilon(eps: float | None) -> float:
    """Torch's default for an RMSNorm: the distance from 1 to the next f32, for narrower types too."""
    return 2.0**-23 if eps is None else float(eps)


@RMS_NORM.answers("input", "weight", "normalized_shape", "eps", absent=("out",), stands=_WEIGHT)
def rms_norm(
    input: Any, normalized_shape: Any = None, weight: Any = None, eps: float | None = None, *, out: Any = None
) -> Any:
    """x / sqrt(mean(x^2) + eps) * weight over the last dimensions, as `torch.nn.functional.rms_norm`.

    ``rms_norm(x, weight)`` takes the shape from the weight. f32, f16 and bf16; computes in f32. Results are within
    2e-6 of a row's largest element in f32, within a rounding of the type (1e-3 in f16, 8e-3 in bf16) else. Gradients
    are within twice that of the largest of the terms that they are the differences of, weights' gradients within that
    times the root of the number of rows: where terms cancel, fewer digits are right, as with torch.
    """
    if weight is None and not isinstance(normalized_shape, (int, tuple)):
        normalized_shape, weight = _known(normalized_shape, weight, input)
    if out is None and not arrays.is_followed():
        found = RMS_NORM.lanes.again(input, weight, normalized_shape, eps)
        if found is not None:
            return found
    key = (normalized_shape, eps)
    shape, weight = _arranged(normalized_shape, weight, input)
    one_place(input)
    if len(input.shape) < len(shape):
        raise ValueError(f"Input tensor must have at least {len(shape)} dimensions, but got {len(input.shape)}")
    check_normalized(input, shape, weight)
    reason = why_not_rows(input, weight)
    if reason is None:
        return _normalised(RMS_NORM, (input, weight, _epsilon(eps)), shape, out, key)
    if arrays.is_array(input):
        numpy_only("rms_norm", reason)
    return fall_back(
        "rms_norm", reason, lambda: arrays.met_torch().nn.functional.rms_norm(input, shape, weight, eps), out
    )  # fmt: skip


@LAYER_NORM.answers("input", "weight", "bias", "normalized_shape", "eps", absent=("out",), stands=_WEIGHT)
def layer_norm(
    input: Any, normalized_shape: Any = None, weight: Any = None, bias: Any = None, eps: float = 1e-5, *,
    out: Any = None,
) -> Any:  # fmt: skip
    """Return (x - mean) / sqrt(var + eps) * weight + bias over the last dimensions, as
    `torch.nn.functional.layer_norm`.

    f32, f16 and bf16; computes in f32, the variance from differences to the mean. Accuracy as of `rms_norm`.
    """
    if weight is None and not isinstance(normalized_shape, (int, tuple)):
        normalized_shape, weight = _known(normalized_shape, weight, input)
    if out is None and not arrays.is_followed():
        found = LAYER_NORM.lanes.again(input, weight, bias, normalized_shape, eps)
        if found is not None:
            return found
    key = (normalized_shape, eps)
    shape, weight = _arranged(normalized_shape, weight, input)
    check_normalized(input, shape, weight, bias)
    reason = why_not_rows(input, weight, bias)
    if reason is None:
        return _normalised(LAYER_NORM, (input, weight, bias, float(eps)), shape, out, key)
    if arrays.is_array(input):
        numpy_only("layer_norm", reason)
    functional = arrays.met_torch().nn.functional
    return fall_back("layer_norm", reason, lambda: functional.layer_norm(input, shape, weight, bias, eps), out)


def _normalised(op: Op, arguments: Arguments, shape: tuple[int, ...], out: Any, key: Any) -> Any:
    """Return the norm over the last dimensions. Several are one row only where they follow each other, as ``out`` may
    not."""
    if out is None or len(shape) == 1:
        return op(*arguments, prod(shape), out=out, key=key)
    check_written(op.name, out, arguments[0], *arguments)
    return put(out, op(*arguments, prod(shape), key=key))


@ADD_RMS_NORM.answers("input", "residual", "weight", "eps")
def add_rms_norm(input: Any, residual: Any, weight: Any = None, eps: float | None = None) -> tuple[Any, Any]:
    """Return (rms_norm(input + residual), input + residual) over the last dimension; the sum is rounded to its type
    first.

    The sum is exact to a rounding; accuracy of the norm and of gradients as of `rms_norm`.
    """
    if not arrays.is_followed() and (found := ADD_RMS_NORM.lanes.again(input, residual, weight, eps)) is not None:
        return found
    _check_pair(input, residual)
    shape = tuple(input.shape[-1:])
    check_normalized(input, shape, weight)
    reason = why_not_rows(input, residual, weight)
    if reason is None:
        return ADD_RMS_NORM(input, residual, weight, _epsilon(eps), shape[0], key=(eps,))
    if arrays.is_array(input):
        numpy_only("add_rms_norm", reason)
    norm = arrays.met_torch().nn.functional.rms_norm
    return fall_back("add_rms_norm", reason, lambda: (norm(added := input + residual, shape, weight, eps), added))


@ADD_LAYER_NORM.answers("input", "residual", "weight", "bias", "eps")
def add_layer_norm(
    input: Any, residual: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> tuple[Any, Any]:
    """Return (layer_norm(input + residual), input + residual) over the last dimension; accuracy as of
    `add_rms_norm`."""
    if not arrays.is_followed():
        found = ADD_LAYER_NORM.lanes.again(input, residual, weight, bias, eps)
        if found is not None:
            return found
    _check_pair(input, residual)
    shape = tuple(input.shape[-1:])
    check_normalized(input, shape, weight, bias)
    reason = why_not_rows(input, residual, weight, bias)
    if reason is None:
        return ADD_LAYER_NORM(input, residual, weight, bias, float(eps), shape[0], key=(eps,))
    if arrays.is_array(input):
        numpy_only("add_layer_norm", reason)
    norm = arrays.met_torch().nn.functional.layer_norm
    return fall_back(
        "add_layer_norm", reason, lambda: (norm(added := input + residual, shape, weight, bias, eps), added)
    )


def _check_pair(input: Any, residual: Any) -> None:
    all_there(residual=residual)
    one_place(input, residual)
    if tuple(input.shape) != tuple(residual.shape):
        raise ValueError(f"input and residual have one shape, got {tuple(input.shape)} and {tuple(residual.shape)}")

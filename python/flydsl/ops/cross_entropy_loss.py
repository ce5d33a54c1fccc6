"""`flydsl.ops.cross_entropy`."""

from __future__ import annotations

from math import prod
from operator import index
from typing import Any

import numpy as np

from flydsl.kernels.blocks.counters import counters_of
from flydsl.kernels.blocks.inputs import on_host
from flydsl.kernels.norm.cross_entropy import build_cross_entropy_bwd_module, build_cross_entropy_module
from flydsl.ops import arrays
from flydsl.ops.op import Arguments, Op, all_there, fall_back, host_numbers, numpy_only, one_place, why_not_rows

REDUCTIONS = ("none", "mean", "sum")
LABELS = ("int64", "int32", "uint8")


def _allocate(logits: Any, target: Any, ignore: int, reduction: int, smoothing: float) -> Arguments:
    """Return the loss, and in one array the losses of rows, what their powers are, and a factor of gradients."""
    lead = tuple(logits.shape[:-1])
    loss = arrays.empty(logits, lead if reduction == 0 else ())
    return loss, arrays.empty(logits, (3 * prod(lead) + 1,), "f32")


def _parts(stats: Any) -> tuple[Any, Any, Any]:
    rows = stats.shape[0] // 3
    return stats[:rows], stats[rows : 3 * rows].reshape(2, rows), stats[3 * rows :]


def _launch(arguments: Arguments, results: Arguments) -> None:
    logits, target, ignore, reduction, smoothing = arguments
    loss, stats = results
    matrix, labels = arrays.rows(logits), _flat(target)
    m, n = matrix.shape
    if not m:
        arrays.filled(loss, float("nan") if reduction == 1 else 0.0)
        return
    each, powers, scale = _parts(stats)
    run, stream = build_cross_entropy_module(n, arrays.NAMES[matrix.dtype], smoothing > 0), arrays.stream_of(matrix)
    given = (matrix, labels, each, powers, m, ignore, smoothing, stream)
    if reduction:
        run(*given, loss.reshape(1), scale, counters_of(matrix), int(reduction == 1))
    else:
        run(*given)
        arrays.filled(scale, 1.0)
        arrays.copy_into(arrays.numbers(loss), each.astype(loss.dtype) if arrays.is_array(each) else each)


def _launch_backward(arguments: Arguments, results: Arguments) -> None:
    dloss, logits, target, stats, ignore, smoothing = arguments
    matrix, out = arrays.rows(logits), arrays.rows(results[0])
    _, powers, scale = _parts(stats)
    m, n = matrix.shape
    if m and n:
        arrays.launch(
            build_cross_entropy_bwd_module(n, arrays.NAMES[matrix.dtype]), matrix, matrix, _flat(target), powers,
            _flat(dloss), out, m, ignore, smoothing, scale,
        )  # fmt: skip


def _flat(x: Any) -> Any:
    """Return an array as a vector, in the order of bytes that kernels read."""
    if arrays.is_array(x):
        return np.ascontiguousarray(x, x.dtype.newbyteorder("=")).reshape(-1)
    return x.contiguous().reshape(-1)


BACKWARD = Op(
    "cross_entropy_backward",
    "Tensor dloss, Tensor logits, Tensor target, Tensor stats, int ignore_index, float label_smoothing",
    lambda dloss, logits, *_: (arrays.empty_like(logits),), _launch_backward, tensors=4,
)  # fmt: skip
CROSS_ENTROPY = Op(
    "cross_entropy", "Tensor logits, Tensor target, int ignore_index, int reduction, float label_smoothing", _allocate,
    _launch, results=2, tensors=2, gradient=BACKWARD,
    saved=lambda a, results: ((a[0], a[1], results[1]), (a[2], a[4])), spread=(0,),
    check=lambda logits, target, ignore, *_: _check_classes(on_host(target), logits, ignore),
)  # fmt: skip


def why_not(input: Any, target: Any, weight: Any) -> str | None:
    """Return why a call is left to torch, or None."""
    all_there(target=target)
    one_place(input, target, weight)
    if weight is not None:
        return "weights of classes have no kernel"
    if len(input.shape) > 2:
        return "classes in a dimension that is not the last have no kernel"
    reason = why_not_rows(input)
    same_rank = reason is None and len(target.shape) == len(input.shape)
    if same_rank and (not arrays.is_array(target) or _label_type(target) not in LABELS):
        return "targets with as many dimensions as the logits, as probabilities of classes have, have no kernel"
    if reason is None and input.shape and input.shape[-1] == 0 and arrays.count_rows(input):
        return "there are no classes"
    return reason


@CROSS_ENTROPY.answers("input", "target", "ignore_index", "reduction", "label_smoothing", absent=("weight",))
def cross_entropy(
    input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """Return the cross-entropy of logits (N, C) or (C,) with indices of classes, as
    `torch.nn.functional.cross_entropy`.

    Targets are int64, int32 or uint8. One pass over the logits forward and one backward, in f32. A row's loss is within
    1e-5 of its size, and so is the mean, which is rounded to the logits' type as torch's is; gradients are within 4e-6
    in f32 and a rounding of the type else, relative to the gradient of a row's loss: few digits are right of what is
    left where the target has nearly all of a row, as with torch. The gradient reads the logits again, not a copy: to
    change them in between is an error.
    """
    if weight is None and not arrays.is_followed():
        found = CROSS_ENTROPY.lanes.again(input, target, ignore_index, reduction, label_smoothing)
        if found is not None:
            return found
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    reason = why_not(input, target, weight)
    if reason is None:
        _check(input, target, ignore_index)
        numbers = (index(ignore_index), REDUCTIONS.index(reduction), float(label_smoothing))
        return CROSS_ENTROPY(input, target, *numbers, key=(ignore_index, reduction, label_smoothing))
    if arrays.is_array(input):
        numpy_only("cross_entropy", reason)
    functional = arrays.met_torch().nn.functional
    return fall_back(
        "cross_entropy", reason,
        lambda: functional.cross_entropy(
            input, target, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
        ),
    )  # fmt: skip


def _check(input: Any, target: Any, ignore_index: int) -> None:
    """Refuse what torch refuses; targets in a GPU's memory are not read for it."""
    if len(input.shape) not in (1, 2) or len(target.shape) != len(input.shape) - 1:
        raise ValueError(f"Expected logits (N, C) and N targets, got {tuple(input.shape)} and {tuple(target.shape)}")
    if tuple(target.shape) != tuple(input.shape[:-1]):
        raise ValueError(
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({target.shape[0]})."
        )
    if _label_type(target) not in LABELS:
        raise RuntimeError(f"targets are indices of classes, int64, int32 or uint8; got {target.dtype}")
    _check_classes(host_numbers(target), input, ignore_index)


def _label_type(target: Any) -> str:
    return target.dtype.name if arrays.is_array(target) else str(target.dtype).split(".")[-1]


def _check_classes(labels: Any, logits: Any, ignore_index: int) -> None:
    """Refuse classes that logits do not have; None are not known."""
    if labels is not None:
        labels = labels.reshape(-1)
        wrong = labels[(labels != ignore_index) & ((labels < 0) | (labels >= logits.shape[-1]))]
        if wrong.size:
            raise IndexError(f"Target {wrong[0]} is out of bounds.")

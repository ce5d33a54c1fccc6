"""`flydsl.ops.all_reduce`."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any

import flydsl.compiler as flyc
from flydsl.base.errors import FlyDSLError
from flydsl.kernels.blocks.inputs import lies_whole
from flydsl.kernels.comm.rank_collectives import Collectives
from flydsl.ops import arrays
from flydsl.ops.op import Arguments, Op, fall_back, numpy_only, why_not_rows


@dataclass
class _Place:
    """A group of ranks on a kind of memory: what serves it, or why nothing of ours does."""

    group: object
    collectives: Collectives | None = None
    reason: str | None = None


_places: list[_Place] = []
_of_ranks: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_of_groups: dict[tuple[int, str], int] = {}
"""By the identity of a process group, which its place keeps alive, and the device."""


def _place_of(x: Any, group: object) -> int:
    """Return the number of the place for an array and a group; it is made at the first call, by all ranks together."""
    if isinstance(group, flyc.Rank):
        if group not in _of_ranks:
            _places.append(_Place(None, Collectives(group)))
            _of_ranks[group] = len(_places) - 1
        return _of_ranks[group]
    device = "cpu" if arrays.is_array(x) else x.device
    key = (id(group), str(device))
    if key not in _of_groups:
        _places.append(_made_place(group, device))
        _of_groups[key] = len(_places) - 1
    return _of_groups[key]


def _made_place(group: object, device: object) -> _Place:
    try:
        check = "always" if str(device) == "cpu" else "new"
        return _Place(group, Collectives(flyc.process_rank(group, device=device), check=check))
    except FlyDSLError as error:
        return _Place(group, reason=error.message)


def _launch(arguments: Arguments, results: Arguments) -> None:
    x, number = arguments
    collectives = _places[number].collectives
    assert collectives is not None
    stream = None if arrays.is_array(x) or x.device.type == "cpu" else arrays.stream_of(x)
    collectives.all_reduce(x, results[0], stream=stream)


BACKWARD = Op("all_reduce_backward", "Tensor dy, int place", lambda dy, _: (arrays.empty_like(dy),), _launch)
ALL_REDUCE = Op(
    "all_reduce", "Tensor x, int place", lambda x, _: (arrays.empty_like(x),), _launch,
    gradient=BACKWARD, saved=lambda arguments, _: ((), arguments[1:]),
)  # fmt: skip


def why_not(input: Any, group: object = None) -> str | None:
    """Return why a call is left to the process group, or None."""
    reason = why_not_rows(input)
    if reason is None and not lies_whole(input):
        reason = "the tensor is not contiguous"
    return reason or _places[_place_of(input, group)].reason


def all_reduce(input: Any, group: object = None) -> Any:
    """Return the sum of a tensor over all ranks, the same bits on every rank. All ranks call it with the same shape and
    type.

    ``group`` is a process group of `torch.distributed`, the default one if None, or a `flyc.Rank`. Takes f32, f16 and
    bf16 of any shape; adds in f32, in the order of ranks, and rounds once. What our kernels cannot do (other types,
    ranks on several machines or out of each other's reach) the group's own collective does. The gradient is the
    all-reduce of the gradient.
    """
    reason = why_not(input, group)
    if reason is None:
        return ALL_REDUCE(input, _place_of(input, group))
    if arrays.is_array(input):
        numpy_only("all_reduce", reason)
    return fall_back("all_reduce", reason, lambda: _by_group(input, group))


def _by_group(input: Any, group: object) -> Any:
    result = input.clone(memory_format=arrays.met_torch().contiguous_format)
    arrays.met_torch().distributed.all_reduce(result, group=group)
    return result

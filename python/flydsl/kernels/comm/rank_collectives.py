"""The collectives of one rank: its stage and signals, which way a call takes, and what ranks must agree on.

    collectives = Collectives(rank)          # flyc.virtual_ranks(n).run(...), or flyc.process_rank()
    total = collectives.all_reduce(x)

Arrays are NumPy's or torch's, f32, f16 or bf16, contiguous, of any size. All ranks make the same calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

import flydsl.compiler as flyc
from flydsl.kernels.blocks.inputs import address_of, lies_whole, stream_of, target_of
from flydsl.kernels.comm.all_reduce_norm import build_all_reduce_rms_norm
from flydsl.kernels.comm.collectives import MULTICAST, THREADS, build_collective
from flydsl.kernels.comm.model import DEFAULT_LINK, Link, fastest_way
from flydsl.kernels.comm.narrow_wire import wire_bytes
from flydsl.kernels.comm.packs import PACK_BYTES, PARTS

NAMES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
BLOCKS = 16
HALVES = 2
Check = Literal["always", "new", "never"]


class Collectives:
    """Calls that all ranks make together. ``max_bytes`` of an array are exchanged at once; larger sums take turns.

    ``check`` says when ranks tell each other what they are about to do, so that a disagreement is an error on all of
    them and not a wrong result: at every call, at the first of each size and type, or never.
    """

    def __init__(
        self, rank: flyc.Rank, *, max_bytes: int = 1 << 20, blocks: int = BLOCKS, threads: int = THREADS,
        check: Check = "always", link: Link = DEFAULT_LINK,
    ) -> None:  # fmt: skip
        self.rank, self.world, self.blocks, self.threads = rank, rank.world, blocks, threads
        self.max_bytes = -(-max_bytes // PACK_BYTES) * PACK_BYTES
        self.check, self.link = check, link
        self._agreed: set[Any] = set()
        # A part of each rank may end in a pack of its own, so there is one more for every rank.
        self.stage = rank.symmetric((HALVES, PARTS, self.max_bytes + PACK_BYTES * self.world), np.uint8)
        self.signals = rank.symmetric((blocks, self.world + 2), np.int32)

    def all_reduce(
        self, x: Any, out: Any = None, *, way: str | None = None, wire: Literal["fp8"] | None = None,
        stream: object = None,
    ) -> Any:  # fmt: skip
        """Return the sum over ranks, the same bits on each. ``way`` is one of `collectives.COLLECTIVES`, or the
        fastest.

        ``wire="fp8"`` sends numbers in 8 bits, which is quicker and rounds more (`narrow_wire.py`).
        """
        flat, result, target = self._arrays(x, out)
        if wire not in (None, "fp8"):
            raise ValueError(f'numbers are sent in their own type or as wire="fp8", not {wire!r}')
        self._agree("all_reduce", x, way, wire)
        most = self.max_bytes // flat.itemsize
        for start in range(0, flat.shape[0], most):
            part = flat[start : start + most]
            count = part.shape[0]
            chosen = way or self._fastest(part, wire)
            self._launch(chosen, part, target[start : start + most], count, stream, wire)
        return result

    def _fastest(self, x: Any, wire: str | None) -> str:
        multicast = self.rank.multicast and wire is None and target_of(x).generation == "hopper"
        size = wire_bytes(x.shape[0]) if wire else x.nbytes
        return fastest_way(self.world, size, self.link, multicast=multicast)

    def all_gather(self, x: Any, out: Any = None, *, stream: object = None) -> Any:
        """Return what all ranks give, one after the other: a mode of ranks in front of x's."""
        return self._exchange("all_gather", x, out, self.world, 1, stream)

    def reduce_scatter(self, x: Any, out: Any = None, *, stream: object = None) -> Any:
        """Return the sum over ranks of x[rank]; the first mode of x is that of ranks."""
        return self._exchange("reduce_scatter", x, out, 1, self.world, stream)

    def all_to_all(self, x: Any, out: Any = None, *, stream: object = None) -> Any:
        """out[r] is x[this rank] of rank r; the first mode of both is that of ranks."""
        return self._exchange("all_to_all", x, out, self.world, self.world, stream)

    def all_reduce_rms_norm(
        self, x: Any, residual: Any, weight: Any, *, eps: float = 1e-6, out: Any = None, stream: object = None
    ) -> Any:
        """RMSNorm over the last mode of (all_reduce(x) + residual), times ``weight``; ``residual`` becomes that sum."""
        flat, result, target = self._arrays(x, out)
        _check_like("residual", residual, x, tuple(x.shape))
        _check_like("weight", weight, x, tuple(x.shape[-1:]))
        self._agree("all_reduce_rms_norm", x, eps)
        n = x.shape[-1]
        m = flat.shape[0] // n if n else 0
        self._require_room(m * -(-n * flat.itemsize // PACK_BYTES) * PACK_BYTES)
        if m:
            launch = build_all_reduce_rms_norm(self._type(x), self.threads)
            rows = (flat, residual.reshape(-1), weight, target)
            launch(*rows, self.stage, self.signals, m, n, eps, self.blocks, stream_of(x, stream))
        return result

    # Parts of a call ---------------------------------------------------------------------------

    def _exchange(self, name: str, x: Any, out: Any, gives: int, takes: int, stream: object) -> Any:
        if takes > 1 and (not x.shape or x.shape[0] != self.world):
            raise ValueError(f"{name} takes an array whose first mode is the {self.world} ranks, got {tuple(x.shape)}")
        shape = (*((self.world,) if gives > 1 else ()), *(x.shape[1:] if takes > 1 else x.shape))
        flat, result, target = self._arrays(x, out, shape)
        self._agree(name, x)
        n = flat.shape[0] // takes
        self._require_room(takes * -(-n * flat.itemsize // PACK_BYTES) * PACK_BYTES)
        if n:
            self._launch(name, flat, target, n, stream)
        return result

    def _launch(self, name: str, x: Any, out: Any, n: int, stream: object, wire: str | None = None) -> None:
        if name in MULTICAST and not self.rank.multicast:
            raise ValueError(f"{name} needs memory with an address for all ranks, and this memory has none")
        if wire is not None and target_of(x).fnuz:
            wire = "fp8_fnuz"
        launch = build_collective(name, self._type(x), self.world, self.threads, wire)
        launch(x, out, self.stage, self.signals, n, self.blocks, stream_of(x, stream))

    def _arrays(self, x: Any, out: Any, shape: Sequence[int] | None = None) -> tuple[Any, Any, Any]:
        """x in one mode; the result, and it in one mode."""
        self._type(x)
        shape = tuple(x.shape) if shape is None else tuple(shape)
        if out is None:
            out = np.empty(shape, x.dtype) if isinstance(x, np.ndarray) else x.new_empty(shape)
        if tuple(out.shape) != shape or out.dtype != x.dtype:
            raise ValueError(f"the result is {x.dtype} of shape {shape}, and out is {out.dtype} of {tuple(out.shape)}")
        if not (lies_whole(x) and lies_whole(out)):
            raise ValueError("collectives take contiguous arrays")
        self._check_apart(x, out)
        return x.reshape(-1), out, out.reshape(-1)

    def _check_apart(self, x: Any, out: Any) -> None:
        """Refuse a result over x, unless threads write where they have read: all of it, or this rank's part."""
        apart, part = address_of(out) - address_of(x), self.rank.number * min(x.nbytes, out.nbytes)
        in_place = apart == (part if out.nbytes < x.nbytes else -part if x.nbytes < out.nbytes else 0)
        if -out.nbytes < apart < x.nbytes and not in_place:
            raise ValueError(
                "out lies partly over x: give it memory of its own, or x's, or this rank's part where the one is a "
                "part of the other"
            )

    @staticmethod
    def _type(x: Any) -> str:
        name = str(x.dtype).rpartition(".")[2]
        if name not in NAMES:
            raise TypeError(f"collectives take {', '.join(NAMES)}, not {name}")
        return NAMES[name]

    def _require_room(self, size: int) -> None:
        if size > self.max_bytes:
            raise ValueError(f"{size} bytes are exchanged at once, and the stage has {self.max_bytes}: raise max_bytes")

    def _agree(self, name: str, x: Any, *options: object) -> None:
        call = (name, tuple(x.shape), str(x.dtype), *(option for option in options if option is not None))
        if self.check == "always" or (self.check == "new" and call not in self._agreed):
            self.rank.agree("call, shape, type and options of a collective", call)
            self._agreed.add(call)


def _check_like(name: str, array: Any, x: Any, shape: tuple[int, ...]) -> None:
    """Refuse what the kernel would read or write elsewhere: it counts elements from the first."""
    if tuple(array.shape) != shape or array.dtype != x.dtype:
        raise ValueError(f"{name} is {x.dtype} of shape {shape}, got {array.dtype} of {tuple(array.shape)}")
    if not lies_whole(array):
        raise ValueError(f"{name} must be contiguous, and its elements lie apart")

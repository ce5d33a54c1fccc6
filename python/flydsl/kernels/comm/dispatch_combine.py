"""Tokens sent to the ranks of their experts, and what those made of them sent back: expert parallelism on one machine.

A token goes once to every rank that has one of its experts. Where it arrives is drawn from a counter of that rank, so
the order of arrival differs from run to run; what comes back is added in the order of ranks, so sums do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.inputs import check_start, is_for_cuda, stream_of, strides, target_of
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.narrow import FORMATS, quantised
from flydsl.kernels.comm.collectives import DTYPES
from flydsl.kernels.comm.packs import PACK_BYTES

MOST_WORLD, MOST_EXPERTS_PER_TOKEN = 8, 64
WORDS = PACK_BYTES // 4
BITS = {
    "float32": 32, "float16": 16, "bfloat16": 16, "float8_e4m3fn": 8, "float8_e4m3fnuz": 8, "float4_e2m1fn_x2": 4,
}  # fmt: skip
"""Types of rows, and bits of an element. Two numbers of four bits are a byte, also where an array has bytes only."""
_SUMS = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
"""Types that `combine` adds."""
QUANT_TYPES = ("none", "fp8_direct_cast")


def type_name(dtype: Any) -> str:
    """Return the name of a type of NumPy or torch, or the name itself; bytes hold numbers of four bits."""
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = str(dtype).rpartition(".")[2]
    return "float4_e2m1fn_x2" if name == "uint8" else name


@dataclass(frozen=True)
class FlyDSLDispatchCombineConfig:
    """What is fixed for all calls: ranks, the length of a token's row, its types, and how many tokens and experts.

    Rows are sent as ``dispatch_dtype``, with ``scale_dim`` scales of ``scale_type_size`` bytes each, and come back as
    ``combine_dtype``, bf16 where rows have 8 bits or less. ``combine_quant_type="fp8_direct_cast"`` rounds them to 8
    bits on the way back.
    """

    rank: int
    world_size: int
    hidden_dim: int
    max_num_inp_token_per_rank: int
    num_experts_per_rank: int
    num_experts_per_token: int
    dispatch_dtype: Any = "float32"
    combine_dtype: Any = None
    scale_dim: int = 0
    scale_type_size: int = 0
    enable_std_moe: bool = False
    zero_copy: bool = False
    combine_quant_type: str = "none"
    block_num: int = 16
    threads: int = 256

    def __post_init__(self) -> None:
        if not 1 <= self.world_size <= MOST_WORLD:
            raise ValueError(f"there are 1 to {MOST_WORLD} ranks, not {self.world_size}")
        if not 1 <= self.num_experts_per_token <= MOST_EXPERTS_PER_TOKEN:
            raise ValueError(f"a token has 1 to {MOST_EXPERTS_PER_TOKEN} experts, not {self.num_experts_per_token}")
        if self.enable_std_moe or self.zero_copy:
            raise NotImplementedError("rows arrive in the order of arrival: leave enable_std_moe and zero_copy out")
        if self.combine_quant_type not in QUANT_TYPES:
            raise ValueError(f"combine_quant_type is one of {', '.join(QUANT_TYPES)}, not {self.combine_quant_type!r}")
        if self.row_type not in BITS:
            raise TypeError(f"rows are {', '.join(BITS)}, not {self.row_type}")
        if self.sum_type not in _SUMS:
            raise TypeError(f"rows are added as {', '.join(_SUMS)}, not {self.sum_type}")
        for bits in (BITS[self.row_type], self.back_bits):
            if self.hidden_dim * bits % (8 * PACK_BYTES):
                raise ValueError(f"rows of {self.hidden_dim} elements of {bits} bits are no multiple of 16 bytes")

    @property
    def row_type(self) -> str:
        return type_name(self.dispatch_dtype)

    @property
    def sum_type(self) -> str:
        if self.combine_dtype is not None:
            return type_name(self.combine_dtype)
        return self.row_type if self.row_type in _SUMS else "bfloat16"

    @property
    def back_bits(self) -> int:
        """Bits of an element on the way back."""
        return 8 if self.combine_quant_type == "fp8_direct_cast" else BITS[self.sum_type]

    @property
    def scale_bytes(self) -> int:
        """Bytes of scales that go with a row."""
        return self.scale_dim * self.scale_type_size


def _packs(tensor: fx.Tensor, row: fx.Int32, kind: type[fx.Numeric], width: int = 0) -> Any:
    """Return a row of words as packs of 16 bytes, or of ``width`` elements: (elements of a pack, packs)."""
    width = width or PACK_BYTES * 8 // kind.width
    start = fx.recast_iter(kind, fx.get_iter(tensor[row, None])).aligned(PACK_BYTES)
    return fx.make_view(
        start, fx.make_layout((width, fx.Int32(tensor.shape[1]) * 32 // (width * kind.width)), (1, width))
    )


@kept
def make_dispatch_jit(threads: int = 256) -> Any:
    """fn(x, indices, weights, scales, slots, rows, facts, shares, codes, counter, signals, n, experts, most, ...).

    ``blocks`` and ``stream`` follow. ``x`` and ``rows`` are words of 32 bits, ``scales`` bytes, which arrive in
    ``codes``; both are one byte wide where there are none. ``slots[token, rank]`` is where a token arrived, or -1. Of
    an arrived row, ``facts`` has the origin (rank * most + token) and the experts, ``shares`` their weights.
    """

    @flyc.jit
    def draw_slots(
        indices: fx.Tensor, weights: fx.Tensor, slots: fx.Tensor, facts: fx.Symmetric, shares: fx.Symmetric,
        counter: fx.Symmetric, place: tuple[fx.Int32, fx.Int32, fx.Int32],
    ) -> None:  # fmt: skip
        """A token's row on every rank that has one of its experts, and what goes with it."""
        token, experts, most = place
        top = indices.shape[1]
        for rank in range(counter.world):
            slots[token, rank] = -1
        for k in range(top):
            rank = indices[token, k] // experts
            if slots[token, rank] < 0:
                slot = fx.atomic("add", counter.at(rank), 1, at=0, scope="system")
                slots[token, rank] = slot
                there, shared = facts.at(rank), shares.at(rank)
                there[slot, 0] = counter.rank * most + token
                for j in range(top):
                    there[slot, j + 1] = indices[token, j]
                    shared[slot, j] = weights[token, j]

    @flyc.kernel(known_block_size=(threads, 1, 1), name="dispatch")
    def dispatch_kernel(
        x: fx.Tensor, indices: fx.Tensor, weights: fx.Tensor, scales: fx.Tensor, slots: fx.Tensor, rows: fx.Symmetric,
        facts: fx.Symmetric, shares: fx.Symmetric, codes: fx.Symmetric, counter: fx.Symmetric, signals: fx.Symmetric,
        n: fx.Int32, experts: fx.Int32, most: fx.Int32,
    ):  # fmt: skip
        part = fx.ceildiv(n, fx.grid_dim.x)
        first = fx.block_idx.x * part
        last = fx.min(first + part, n)
        for token in range(first + fx.thread_idx.x, last, threads):
            draw_slots(indices, weights, slots, facts, shares, counter, (token, experts, most))
        fx.barrier()
        for token in range(first, last):
            for rank in range(rows.world):
                slot = slots[token, rank]
                if slot >= 0:
                    source, target = _packs(x, token, fx.Int32), _packs(rows.at(rank), slot, fx.Int32)
                    for pack in range(fx.thread_idx.x, x.shape[1] // WORDS, threads):
                        target[None, pack].store(source[None, pack].load())
                    arrived = codes.at(rank)
                    for i in range(fx.thread_idx.x, scales.shape[1], threads):
                        arrived[slot, i] = scales[token, i]
        fx.rank_barrier(signals)

    @flyc.jit
    def dispatch(
        x: fx.Tensor, indices: fx.Tensor, weights: fx.Tensor, scales: fx.Tensor, slots: fx.Tensor, rows: fx.Symmetric,
        facts: fx.Symmetric, shares: fx.Symmetric, codes: fx.Symmetric, counter: fx.Symmetric, signals: fx.Symmetric,
        n: fx.Int32, experts: fx.Int32, most: fx.Int32, blocks: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        dispatch_kernel(
            x, indices, weights, scales, slots, rows, facts, shares, codes, counter, signals, n, experts, most
        ).launch(grid=(blocks, 1, 1), block=(threads, 1, 1), stream=stream)  # fmt: skip

    return dispatch


@kept
def make_combine_jit(dtype: str, threads: int = 256, wire: str | None = None) -> Any:
    """fn(rows, facts, slots, back, out, counter, signals, n, received, most, blocks, stream).

    Rows go ``back`` as they are, or rounded to ``wire``, a format of 8 bits.

    ``rows`` are what this rank made of the ``received`` tokens; ``out[token]`` is the sum of what came ``back`` for one
    of this rank's n tokens. Both are words of 32 bits.
    """
    kind = DTYPES[dtype]
    sent = kind if wire is None else FORMATS[wire]
    width = PACK_BYTES * 8 // sent.width

    @flyc.kernel(known_block_size=(threads, 1, 1), name="combine")
    def combine_kernel(
        rows: fx.Tensor, facts: fx.Symmetric, slots: fx.Tensor, back: fx.Symmetric, out: fx.Tensor,
        counter: fx.Symmetric, signals: fx.Symmetric, n: fx.Int32, received: fx.Int32, most: fx.Int32,
    ):  # fmt: skip
        count = fx.Int32(back.local.shape[1]) // WORDS
        if (fx.block_idx.x == 0) & (fx.thread_idx.x == 0):
            counter.local[0] = 0  # nobody sends before all have met below
        for arrived in range(fx.block_idx.x, received, fx.grid_dim.x):
            origin = facts.local[arrived, 0]
            source = _packs(rows, arrived, kind, width)
            target = _packs(back.at(origin // most), back.rank * most + origin % most, sent)
            for pack in range(fx.thread_idx.x, count, threads):
                row = source[None, pack].load()
                if fx.const_expr(wire is not None):
                    row = quantised(row.to(fx.Float32), wire)
                target[None, pack].store(row)
        # Rows of one token come from blocks of any number, so all blocks of all ranks have to meet.
        fx.rank_barrier(signals)
        fx.grid_barrier(signals.local[fx.grid_dim.x, None])
        for token in range(fx.block_idx.x, n, fx.grid_dim.x):
            target = _packs(out, token, kind, width)
            for pack in range(fx.thread_idx.x, count, threads):
                total = fx.Vector.from_elements([fx.Float32(0.0)] * width, fx.Float32)
                for rank in range(back.world):
                    if slots[token, rank] >= 0:
                        total = total + _packs(back.local, rank * most + token, sent)[None, pack].load().to(fx.Float32)
                target[None, pack].store(total.to(kind))

    @flyc.jit
    def combine(
        rows: fx.Tensor, facts: fx.Symmetric, slots: fx.Tensor, back: fx.Symmetric, out: fx.Tensor,
        counter: fx.Symmetric, signals: fx.Symmetric, n: fx.Int32, received: fx.Int32, most: fx.Int32,
        blocks: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        combine_kernel(rows, facts, slots, back, out, counter, signals, n, received, most).launch(
            grid=(blocks, 1, 1), block=(threads, 1, 1), stream=stream
        )

    return combine


def _like(array: Any, shape: Sequence[int], value: int = 0, *, as_type: str = "") -> Any:
    """Return an array of one number, of the library and device of another, and of its type or a given one."""
    if isinstance(array, np.ndarray):
        return np.full(shape, value, as_type or array.dtype)
    import torch

    return torch.full(
        tuple(shape), value, dtype=getattr(torch, as_type) if as_type else array.dtype, device=array.device
    )


def _met(array: Any, like: Any) -> Any:
    """Memory of the virtual GPU as a tensor of torch where a caller has such."""
    if isinstance(array, np.ndarray) and not isinstance(like, np.ndarray):
        import torch

        return torch.from_numpy(array)
    return array


def _rows(array: Any) -> Any:
    """Return an array, or one row of zeros where it has none: what is empty has no address."""
    return array if len(array) else _like(array, (1, *array.shape[1:]))


def _bits(array: Any, name: str) -> Any:
    """Return an array's memory as numbers of another size."""
    if isinstance(array, np.ndarray):
        return array.view(name)
    import torch

    return array.view(getattr(torch, name))


def _check_rows(array: Any) -> None:
    """Refuse rows that cannot be read as packs: elements lie side by side, and on an NVIDIA GPU packs where their size
    has them."""
    if not len(array):
        return
    down, across = strides(array)
    if across != 1:
        raise ValueError(f"elements of a row of input lie side by side, and are {across} apart: pass a contiguous copy")
    check_start("input", array)
    apart = down * array.dtype.itemsize
    if len(array) > 1 and apart % PACK_BYTES and is_for_cuda(array):
        raise ValueError(f"rows of input are reached {PACK_BYTES} bytes at once, and are {apart} bytes apart: "
                         "pass a contiguous copy")  # fmt: skip


class FlyDSLDispatchCombineIntraNodeOp:
    """Dispatch and combine of one rank, in turns. All ranks make the same calls, with arrays of NumPy or torch."""

    def __init__(self, config: FlyDSLDispatchCombineConfig, rank: flyc.Rank | None = None) -> None:
        self.config = config
        self.rank = rank = flyc.process_rank() if rank is None else rank
        if (rank.number, rank.world) != (config.rank, config.world_size):
            raise ValueError(f"this is rank {rank.number} of {rank.world}, not {config.rank} of {config.world_size}")
        most, top = config.max_num_inp_token_per_rank, config.num_experts_per_token
        room = most * config.world_size
        self._rows = rank.symmetric((room, config.hidden_dim * BITS[config.row_type] // 32), np.int32)
        self._back = rank.symmetric((room, config.hidden_dim * config.back_bits // 32), np.int32)
        self._facts, self._shares = rank.symmetric((room, top + 1), np.int32), rank.symmetric((room, top), np.float32)
        self._codes = rank.symmetric((room, max(config.scale_bytes, 1)), np.uint8)
        self._sums = rank.symmetric((room, -(-top // WORDS) * WORDS), np.int32)
        self._counter = rank.symmetric(1, np.int32)
        self._signals = rank.symmetric((config.block_num + 1, config.world_size + 1), np.int32)
        self._slots: Any = None
        self._scales: Any = None
        self._received = self._given = 0

    def dispatch(
        self, input: Any, weights: Any, scales: Any, indices: Any, packed_recv_x: object = None, *,
        stream: object = None,
    ) -> tuple[Any, Any, Any, Any, int]:  # fmt: skip
        """Send tokens to the ranks of their experts; what arrived here: rows, weights, experts, origins, how many.

        An origin is (rank of the token) * (most tokens of a rank) + (number of the token). Scales that arrived are
        `received_scales`.
        """
        if packed_recv_x is not None:
            raise NotImplementedError("rows arrive in memory of their own: pass None for packed_recv_x")
        if self._slots is not None:
            raise RuntimeError("dispatch and combine take turns, and this dispatch follows another")
        self._check(input, weights, scales, indices)
        config, n = self.config, len(input)
        self._slots, self._given = _like(input, (max(n, 1), config.world_size), -1, as_type="int32"), n
        given = [_rows(array) for array in (input, indices, weights)]
        codes = _like(input, (max(n, 1), 1), as_type="uint8") if scales is None else _bits(_rows(scales), "uint8")
        make_dispatch_jit(config.threads)(
            _bits(given[0], "int32"), *given[1:], codes, self._slots, self._rows, self._facts, self._shares,
            self._codes, self._counter, self._signals, n, config.num_experts_per_rank,
            config.max_num_inp_token_per_rank, config.block_num, stream_of(input, stream),
        )  # fmt: skip
        self._received = count = int(self._counter.local[0])
        self._scales = scales
        rows, shares, facts = (_met(kept.local[:count], input) for kept in (self._rows, self._shares, self._facts))
        return rows.view(input.dtype), shares, facts[:, 1:], facts[:, 0], count

    @property
    def received_scales(self) -> Any:
        """The scales that arrived with the rows of the last dispatch, as they were given."""
        if self._scales is None:
            raise RuntimeError("no scales were sent")
        return _met(self._codes.local[: self._received], self._scales).view(self._scales.dtype)

    def _check(self, input: Any, weights: Any, scales: Any, indices: Any) -> None:
        config, n = self.config, len(input)
        if n > config.max_num_inp_token_per_rank:
            raise ValueError(f"{n} tokens are given, and {config.max_num_inp_token_per_rank} are the most")
        width = config.hidden_dim // 2 if BITS[config.row_type] == 4 else config.hidden_dim
        expected = ((n, width), (n, config.num_experts_per_token), (n, config.num_experts_per_token))
        given = tuple(tuple(array.shape) for array in (input, weights, indices))
        if given != expected or type_name(input.dtype) != config.row_type:
            raise ValueError(f"input, weights and indices have the shapes {expected}, the first is {config.row_type}")
        if (scales is not None) != bool(config.scale_bytes):
            raise ValueError(f"a row has {config.scale_dim} scales, and they are {'not ' * (scales is None)}given")
        if scales is not None:
            size = (n, config.scale_dim, config.scale_type_size)
            if (*scales.shape, scales.dtype.itemsize) != size:
                raise ValueError(f"scales have the shape {size[:2]}, in numbers of {size[2]} bytes")
        _check_rows(input)
        if n and not 0 <= int(indices.min()) <= int(indices.max()) < config.world_size * config.num_experts_per_rank:
            raise ValueError(f"experts are numbered 0 to {config.world_size * config.num_experts_per_rank - 1}")

    def combine(self, input: Any, weights: Any = None, *, stream: object = None) -> Any:
        """Send rows back to where their tokens came from; the sum over ranks for each token of this rank.

        With ``weights``, (rows, experts of a token) of f32, their sums too: (rows, weights).
        """
        if self._slots is None:
            raise RuntimeError("combine follows a dispatch")
        config = self.config
        if tuple(input.shape) != (self._received, config.hidden_dim) or type_name(input.dtype) != config.sum_type:
            raise ValueError(f"{self._received} rows of {config.hidden_dim} {config.sum_type} have arrived")
        top = config.num_experts_per_token
        if weights is not None and (
            tuple(weights.shape) != (self._received, top) or type_name(weights.dtype) != "float32"
        ):
            raise ValueError(f"weights are float32 of the shape {(self._received, top)}")
        _check_rows(input)
        wire = None
        if config.combine_quant_type == "fp8_direct_cast":
            wire = "fp8_fnuz" if target_of(input).fnuz else "fp8"
        out = self._summed(input, self._back, _SUMS[config.sum_type], wire, stream)
        if weights is None:
            self._slots = None
            return out
        padded = _like(weights, (self._received, self._sums.local.shape[1]))
        padded[:, :top] = weights
        sums = self._summed(padded, self._sums, "f32", None, stream)
        self._slots = None
        return out, sums[:, :top]

    def _summed(self, rows: Any, back: Any, dtype: str, wire: str | None, stream: object) -> Any:
        """Return the sum over ranks of the rows that were made of each token of this rank."""
        config, width = self.config, rows.shape[1]
        out = _like(rows, (max(self._given, 1), width))
        sent = _bits(_rows(rows), "int32")
        make_combine_jit(dtype, config.threads, wire)(
            sent, self._facts, self._slots, back, _bits(out, "int32"), self._counter, self._signals, self._given,
            self._received, config.max_num_inp_token_per_rank, config.block_num, stream_of(rows, stream),
        )  # fmt: skip
        return out[: self._given]

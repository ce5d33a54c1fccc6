"""What a thread has of a row: accesses of the plan's width, put together to vectors that are computed on.

The row's length is known while compiling. What lies beyond the row is filled with a neutral value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.cache_hints import Hint, copy_atom
from flydsl.kernels.blocks.inputs import require_matrices
from flydsl.kernels.blocks.row_choice import RowChoice, lines_beside
from flydsl.kernels.blocks.row_machine import machine_of_target
from flydsl.kernels.blocks.row_plan import ACCESS_BYTES, DTYPES, READ_AHEAD, RowPlan
from flydsl.kernels.blocks.row_resources import UNUSED, resident, ring_places, told_registers


@flyc.jit
def launch_rows(
    kernel: Callable[[RowPlan], Any], rows: Any, choice: RowChoice, stream: fx.Stream | None, matrices: Sequence[Any],
    lines: Sequence[Any] = (), spares: bool = False,
) -> None:  # fmt: skip
    """Launch ``kernel(plan)`` for ``rows`` rows of some matrices, with the plan for so many; ``lines`` go with each.

    The first matrix is a source of the plan's type. None stands for no matrix and no line. ``spares`` is for a kernel
    whose threads may be told to do with fewer registers than the compiler takes (`told_registers`).
    """
    require_matrices(matrices, rows, choice.many.length)

    def launch(plan: RowPlan) -> None:
        require_places(matrices, lines, rows, plan)
        _launch(kernel(plan), rows, plan, stream, lines_beside(lines, plan.dtype) if spares else 0)

    if fx.const_expr(choice.apart is None):
        _launch_so_many(launch, rows, choice)
    else:
        if begin_alike([matrix for matrix in matrices if matrix is not None], choice.many):
            _launch_so_many(launch, rows, choice)
        else:
            launch(choice.apart)


@flyc.jit
def _launch_so_many(launch: Callable[[RowPlan], None], rows: Any, choice: RowChoice) -> None:
    if fx.const_expr(choice.limit == 0):
        launch(choice.many)
    else:
        if rows <= choice.limit:
            launch(choice.few or choice.many)
        else:
            launch(choice.many)


def in_place(target: fx.Tensor, plan: RowPlan) -> bool:
    """Return whether a target's rows are written where those of a source were, if these are in shared memory."""
    return target.dtype is DTYPES[plan.dtype]


def require_places(matrices: Sequence[Any], lines: Sequence[Any], rows: Any, plan: RowPlan) -> None:
    """Refuse rows and lines that begin where a plan's accesses do not reach them; None stands for no matrix or line.

    On NVIDIA's GPUs such an access ends all that a process does there.
    """
    if not fx.nvvm.is_target():
        return
    if plan.anywhere:
        matrices = ()
    elif plan.staged:  # but for those in place, rows are written to memory from registers
        matrices = [matrix for matrix in matrices if matrix is not None and not in_place(matrix, plan)]
    for array in (*matrices, *lines):
        if array is None or plan.width == 1:
            continue
        unit = min(plan.width * array.dtype.width // 8, ACCESS_BYTES)
        behind = fx.Uint64(fx.ptrtoint(fx.get_iter(array))) % unit
        fits, numbers, text = behind == 0, [behind], "an array begins {} bytes behind a multiple of that"
        if array.rank == 2:
            apart = fx.Int64(array.stride[0]) * array.dtype.width // 8
            fits = fits & ((apart % unit == 0) | (rows < 2))
            numbers, text = [behind, apart], f"{text}, with rows {{}} bytes apart"
        fx.require(
            fits | (rows < 1), f"rows of {plan.length} elements are reached {unit} bytes at once, and {text}", *numbers,
            hint="pass a copy, which begins at one: x.clone(), x.copy(); flydsl.ops make it where it is needed",
        )  # fmt: skip


def begin_alike(matrices: list[Any], plan: RowPlan) -> Any:
    """Return whether rows of all matrices begin at the same place in a piece of 16 bytes, counted in elements."""
    width = ACCESS_BYTES // plan.size

    def place(matrix: Any) -> Any:
        size = matrix.dtype.width // 8
        return fx.Uint64(fx.ptrtoint(fx.get_iter(matrix))) % (width * size) // size

    first, *others = matrices
    alike = fx.Boolean(True)
    for other in others:
        steps = fx.Int64(other.stride[0]) - fx.Int64(first.stride[0])
        alike = alike & (place(other) == place(first)) & (steps % width == 0)
    return alike


def _launch(kernel: Any, rows: Any, plan: RowPlan, stream: fx.Stream | None, lines: int) -> None:
    cluster = (plan.cluster, 1, 1) if plan.cluster > 1 else None
    blocks = fx.ceildiv(rows, plan.tile_rows)
    if plan.stays:
        blocks = fx.min(blocks, _most_blocks(plan, blocks))
    told = told_registers(plan, machine_of_target(), lines) if fx.nvvm.is_target() else None
    kernel.launch(
        grid=(blocks * plan.cluster, 1, 1), block=(plan.threads, 1, 1), cluster=cluster, stream=stream,
        value_attrs={"fly.maxnreg": told} if told else {}, pdl=fx.nvvm.has_dependent_launches(),
    )  # fmt: skip


def _most_blocks(plan: RowPlan, tiles: Any) -> Any:
    """Return how many blocks that stay a launch has at most: where others begin as some end, and waves share a row, at
    least two tiles for each, so that one is on its way."""
    here = fx.Int32(places(plan))
    if plan.relays == 1:
        return here
    each = 2 if plan.lanes > machine_of_target().wave else 1
    return fx.max(here, fx.min(tiles // each, here * plan.relays))


def places(plan: RowPlan) -> int:
    """Return how many blocks that stay, or clusters of them, the machine has at once."""
    machine = machine_of_target()
    if plan.slots:
        return ring_places(plan, machine)
    lines = plan.sums > 0  # those of a gradient's weight
    processors = machine.processors - UNUSED.get(plan.cluster, 0)
    found = max(processors * (plan.crowd if plan.counted else resident(plan, machine, lines)) // plan.cluster, 1)
    return found // plan.width * plan.width if plan.shifted and plan.counted else found


def row_start(tensor: fx.Tensor, row: fx.Int32) -> Any:
    """Return where a row of a matrix begins."""
    # AMD's scalar unit has half as many instructions to multiply a number that has no sign.
    return fx.get_iter(tensor[row if fx.nvvm.is_target() else fx.Int64(fx.Uint32(row)), None])


class Share:
    """The part of a row that this thread has: vectors ``lane``, ``lane + lanes``, … of its block's ``here`` ones.

    ``row`` is which of the block's rows that is, ``offset`` where the block's part of it begins, in vectors.
    """

    def __init__(self, plan: RowPlan) -> None:
        self.plan = plan
        self.lane = fx.thread_idx.x % plan.lanes if plan.rows > 1 else fx.thread_idx.x
        self.row = fx.thread_idx.x // plan.lanes if plan.rows > 1 else 0
        self.offset: Any = 0
        self.here: Any = plan.share
        self.least = plan.vectors - (plan.cluster - 1) * plan.share
        """What every block of a cluster has at least."""
        if plan.cluster > 1:
            self.offset = fx.block_idx.x % plan.cluster * plan.share
            if plan.vectors % plan.cluster:
                self.here = fx.max(fx.min(plan.vectors - self.offset, fx.Int32(plan.share)), fx.Int32(0))

    def vector(self, access: int) -> Any:
        """Return which of the block's vectors an access is to."""
        return self.lane + access * self.plan.lanes

    def inside(self, access: int) -> Any:
        """Return whether an access is to the row: True where that is known while compiling."""
        return True if (access + 1) * self.plan.lanes <= self.least else self.vector(access) < self.here

    def accesses(self, iteration: int) -> range:
        return range(iteration * self.plan.accesses, (iteration + 1) * self.plan.accesses)

    def within(self, vector: fx.Vector, iteration: int) -> Any:
        """Return the vector with zero in place of elements beyond the row, where there may be some."""
        insides = [self.inside(access) for access in self.accesses(iteration)]
        if all(inside is True for inside in insides):
            return vector
        factors = [
            fx.Float32(1.0) if inside is True else inside.select(fx.Float32(1.0), fx.Float32(0.0)) for inside in insides
        ]
        repeated = [factor for factor in factors for _ in range(self.plan.width)]
        return vector * fx.Vector.from_elements(repeated, fx.Float32)

    def within_or_zero(self, vector: fx.Vector, iteration: int) -> Any:
        """`within` for rows whose elements beyond the row are no finite numbers."""
        insides = self.insides(iteration)
        return vector if insides is None else picked(vector, insides, 0.0, fx.Float32)

    def columns(self, iteration: int) -> list[Any]:
        """Return which elements of the row the elements of a vector are."""
        starts = [(self.offset + self.vector(access)) * self.plan.width for access in self.accesses(iteration)]
        return [start + place for start in starts for place in range(self.plan.width)]

    def insides(self, iteration: int) -> list[Any] | None:
        """Return which elements of a vector are of the row; None where all are known to be."""
        found = [inside for access in self.accesses(iteration) for inside in [self.inside(access)] * self.plan.width]
        return None if all(inside is True for inside in found) else found

    def counted(self, iteration: int) -> Any:
        """Return how many elements of a vector are of the row."""
        insides = [self.inside(access) for access in self.accesses(iteration)]
        known = fx.Float32(float(sum(self.plan.width for inside in insides if inside is True)))
        asked = [inside for inside in insides if inside is not True]
        whole = float(self.plan.width)
        return sum((inside.select(fx.Float32(whole), fx.Float32(0.0)) for inside in asked), known)

    def count_of_wave(self, group: int) -> Any:
        """Return how many elements of the row the ``group`` lanes of this wave have."""
        plan, first = self.plan, self.lane // group * group
        known, more = 0, fx.Int32(0)
        for access in range(plan.iterations * plan.accesses):
            if self.inside(access) is True:
                known += group
            else:
                inside = fx.min(self.here - first - access * plan.lanes, fx.Int32(group))
                more = more + fx.max(inside, fx.Int32(0))
        return fx.Float32((more + known) * plan.width)

    def count(self) -> Any:
        """Return how many elements of the row this thread has."""
        plan = self.plan
        if isinstance(self.here, int) and self.here % plan.lanes == 0:
            return fx.Float32(self.here // plan.lanes * plan.width)
        vectors = fx.max((self.here - self.lane + plan.lanes - 1) // plan.lanes, fx.Int32(0))
        return fx.Float32(vectors * plan.width)


def picked(vector: fx.Vector, insides: list[Any], fill: Any, dtype: Any) -> Any:
    """Return the vector with ``fill`` in place of elements that are not inside."""
    other = dtype(fill)
    halves = zip(insides[::2], insides[1::2], strict=False)
    if dtype.width == 16 and len(insides) % 2 == 0 and all(low is high for low, high in halves):
        # Both halves of a word are inside, or none: a word is taken at once.
        words, filled = vector.bitcast(fx.Int32), fx.Vector.filled(2, fill, dtype).bitcast(fx.Int32)
        parts = [inside.select(words[i], filled[0]) if inside is not True else words[i]
                 for i, inside in enumerate(insides[::2])]  # fmt: skip
        return fx.Vector.from_elements(parts, fx.Int32).bitcast(dtype)
    parts = [vector[i] if inside is True else inside.select(vector[i], other) for i, inside in enumerate(insides)]
    return fx.Vector.from_elements(parts, dtype)


def vectors_of(start: fx.Pointer, plan: RowPlan, count: int | None = None) -> Any:
    """Return what begins at a pointer, a row or ``count`` vectors, as (values of a vector, vectors)."""
    line = fx.make_view(start, fx.make_layout(plan.length if count is None else count * plan.width, 1))
    return fx.logical_divide(line, fx.make_layout(plan.width, 1))


class Access:
    """How one of a thread's vectors is moved: ``per`` accesses for each of the plan's, in pieces of ``width``.

    Elements wider than the plan's take several accesses of 16 bytes.
    """

    def __init__(self, plan: RowPlan, vectors: Any, dtype: Any, hint: Hint | None) -> None:
        self.per = max(plan.width * dtype.width // 8 // ACCESS_BYTES, 1)
        self.width = plan.width // self.per
        self.atom = copy_atom(self.width * dtype.width, dtype, hint)
        self.vectors = vectors
        self.fragment = fx.make_rmem_tensor(plan.width * plan.accesses, dtype)
        self.pieces = fx.logical_divide(self.fragment, fx.make_layout(self.width, 1))

    def pairs(self, vector: fx.Vector, place: int) -> list[tuple[Any, Any]]:
        """Return (memory, register) of the accesses to a vector, which is the ``place``-th of a iteration."""
        column = self.vectors[None, vector]
        parts = fx.logical_divide(column, fx.make_layout(self.width, 1)) if self.per > 1 else None
        return [
            (column if parts is None else parts[None, part], self.pieces[None, place * self.per + part])
            for part in range(self.per)
        ]


@flyc.jit
def load_iteration(
    vectors: Any, share: Share, iteration: int, fill: float | None, hint: Hint | None = None, dtype: Any = None
) -> Any:
    """Return one of this thread's vectors, in the row's type or ``dtype``; elements beyond the row are ``fill``, or
    anything of the row where that is None.

    Lanes beyond the row load its last vector: behind a branch, a wave would wait for one load before it begins another.
    """
    kind = dtype or DTYPES[share.plan.dtype]
    access = Access(share.plan, vectors, kind, hint)
    insides = [share.inside(number) for number in share.accesses(iteration)]
    masked = not all(inside is True for inside in insides)
    if fx.const_expr(masked and share.least <= 0):
        access.fragment.fill(0.0 if fill is None else fill)
    for place, number in enumerate(share.accesses(iteration)):
        if fx.const_expr(insides[place] is True or share.least > 0):
            vector = share.vector(number) if insides[place] is True else fx.min(share.vector(number), share.here - 1)
            for memory, register in access.pairs(vector, place):
                fx.copy_atom_call(access.atom, memory, register)
        else:
            if insides[place]:
                for memory, register in access.pairs(share.vector(number), place):
                    fx.copy_atom_call(access.atom, memory, register)
    vector = access.fragment.load()
    if fx.const_expr(masked and share.least > 0 and fill is not None):
        vector = picked(vector, share.insides(iteration), fill, kind)
    return vector


@flyc.jit
def store_iteration(
    vector: fx.Vector,
    vectors: Any,
    share: Share,
    iteration: int,
    alive: Any,
    hint: Hint | None = None,
    dtype: Any = None,
) -> None:
    """Write one of this thread's vectors, rounded to the row's type or ``dtype``, if its row is ``alive``."""
    kind = dtype or DTYPES[share.plan.dtype]
    access = Access(share.plan, vectors, kind, hint)
    access.fragment.store(vector.to(kind))
    for place, number in enumerate(share.accesses(iteration)):
        inside = share.inside(number)
        writes = inside if alive is True else alive if inside is True else inside & alive
        if fx.const_expr(writes is True):
            for memory, register in access.pairs(share.vector(number), place):
                fx.copy_atom_call(access.atom, register, memory)
        else:
            if writes:
                for memory, register in access.pairs(share.vector(number), place):
                    fx.copy_atom_call(access.atom, register, memory)


class Line:
    """This thread's vectors of a row, or of a tensor that goes with every row, as f32.

    Either all are loaded at once and kept, in their own type, which takes half the registers; or each is loaded when it
    is asked for, as often as it is. ``keep`` may be a number: so many are kept, and the others are not. ``held`` are
    those that were loaded before. ``anew`` are the same vectors by other addresses, for loads behind the first pass:
    LLVM keeps an address that is used again, and on AMD's GPUs, where few distances are part of an instruction, a
    thread of a long row has hundreds.
    """

    anew: Any = None

    def __init__(
        self, vectors: Any, share: Share, fill: float | None, *, keep: bool | int, hint: Hint | None = None,
        again: Hint | None = None, dtype: Any = None, held: list[Any] | None = None, anew: Any = None,
    ) -> None:  # fmt: skip
        self.vectors, self.share, self.fill, self.hint, self.again_hint = vectors, share, fill, hint, again
        self.dtype, self.anew = dtype, anew
        kept = share.plan.iterations if keep is True else min(int(keep), share.plan.iterations)
        self.held = [self._load(iteration, hint) for iteration in range(kept)] if held is None else held

    def _load(self, iteration: int, hint: Hint | None) -> Any:
        return load_iteration(self.vectors, self.share, iteration, self.fill, hint, self.dtype)

    @property
    def kind(self) -> Any:
        """The type of the elements in memory."""
        return self.dtype or DTYPES[self.share.plan.dtype]

    def widen(self) -> None:
        """Keep what was loaded as the f32 that are computed on."""
        self.held = [self._wide(vector) for vector in self.held]

    def loaded(self, iteration: int, *, again: bool) -> Any:
        """Return the vector of a iteration in its own type."""
        if again:
            self._begin_again()
        return self._own(iteration, self.again_hint if again else self.hint)

    def _begin_again(self) -> None:
        if self.anew is not None:
            self.vectors = self.anew

    def _own(self, iteration: int, hint: Hint | None) -> Any:
        return self.held[iteration] if iteration < len(self.held) else self._load(iteration, hint)

    def _get(self, iteration: int, hint: Hint | None) -> Any:
        return self._wide(self._own(iteration, hint))

    def _wide(self, vector: Any) -> Any:
        return widened(vector) if self.share.plan.width > 1 else vector.to(fx.Float32)

    def __getitem__(self, iteration: int) -> Any:
        """Return the vector of a iteration."""
        return self._get(iteration, self.hint)

    def __iter__(self) -> Iterator[Any]:
        plan = self.share.plan
        if plan.passes:
            return self._some_ahead(min(READ_AHEAD, plan.iterations))
        return (self._get(iteration, self.hint) for iteration in range(plan.iterations))

    def _some_ahead(self, ahead: int) -> Iterator[Any]:
        """Return the vectors, ``ahead`` of which are on their way beside the one that is given."""
        coming, count = [self._begun(iteration, self.hint) for iteration in range(ahead)], self.share.plan.iterations
        for iteration in range(count):
            if iteration + ahead < count:
                coming.append(self._begun(iteration + ahead, self.hint))
            yield self._wide(self._completed(coming[iteration], iteration))

    def _begun(self, iteration: int, hint: Hint | None) -> Any:
        return self._load(iteration, hint)

    def _completed(self, vector: Any, iteration: int) -> Any:
        return vector

    def again(self) -> Iterator[Any]:
        """Return the vectors, which were iterated over before; see `in_turn`."""
        self._begin_again()
        return self._in_turn(self.again_hint)

    def in_turn(self) -> Iterator[Any]:
        """Return the vectors, for a loop that stores results: each is loaded before the one ahead of it is given, since
        no load passes a store that stands before it."""
        self._begin_again()
        return self._in_turn(self.hint)

    def _in_turn(self, hint: Hint | None) -> Iterator[Any]:
        count = self.share.plan.iterations
        if self.held:
            yield from (self._get(iteration, hint) for iteration in range(count))
            return
        following = self._load(0, hint)
        for iteration in range(count):
            vector = following
            following = self._load(iteration + 1, hint) if iteration + 1 < count else None
            yield self._wide(vector)

    def of_first_lane(self) -> Any:
        """Return the first vector of the row's first lane, whichever lane asks; it is loaded once more."""
        share = copy(self.share)
        share.lane = fx.Int32(0)
        return self._wide(load_iteration(self.vectors, share, 0, self.fill, self.hint, self.dtype))

    def again_at(self, iteration: int) -> Any:
        """Return a vector that was loaded before."""
        self._begin_again()
        return self._get(iteration, self.again_hint)

    def mapped(self, function: Callable[[Any], Any]) -> Callable[[], Iterable[Any]]:
        """Return a function of each vector, to be iterated over several times: kept if the row is, else computed
        again."""
        if not self.held:
            return lambda: (function(vector) for vector in self.again())
        results = [function(vector) for vector in self.again()]
        return lambda: results


def widened(vector: Any, zero: Any = 0) -> Any:
    """Return the vector as f32.

    A bf16 is the upper half of an f32. PTX has a conversion of a half that must be taken out of its word first, which
    are two instructions for every second element; by words it is one for each. ``zero`` is a number that the result is
    to depend on.
    """
    if not widens_by_words(vector):
        return vector.to(fx.Float32)
    words = vector.bitcast(fx.Int32)
    low, high = (words * (zero + 65536)).bitcast(fx.Float32), (words & (zero - 65536)).bitcast(fx.Float32)
    parts = [half[i] for i in range(words.numel) for half in (low, high)]
    return fx.Vector.from_elements(parts, fx.Float32)


def widened_again(vector: Any, nothing: Any) -> Any:
    """Return the vector as f32, by instructions of its own: ``nothing`` is a number that is always zero, which LLVM
    does not know. It would keep what was made f32 before, in twice the registers."""
    if vector.dtype.width == 32:
        return vector.to(fx.Float32)
    if widens_by_words(vector):
        return widened(vector, nothing)  # what halves are taken out by depends on it: no more instructions
    return (vector.bitcast(fx.Int32) ^ nothing).bitcast(vector.dtype).to(fx.Float32)


def widens_by_words(vector: Any) -> bool:
    return vector.dtype is fx.BFloat16 and vector.numel % 2 == 0 and fx.nvvm.is_target()


def loaded_after(vector: Any, others: Iterable[Any], width: int, nothing: Any) -> Any:
    """Return the vector, which depends on others that were loaded ``width`` elements at once, by bits that are always
    zero: all of these loads begin before any of them is waited for."""
    bits, zero = _bits(vector), fx.Int32(0)
    for other in others:
        parts = _bits(other)
        for part in parts[:: max(width * len(parts) // other.numel, 1)]:
            zero = zero | (fx.Int32(part) & nothing)
    bits[0] = bits[0] ^ bits[0].dtype(zero)
    return fx.Vector.from_elements(bits, bits[0].dtype).bitcast(vector.dtype)


def _bits(vector: Any) -> list[Any]:
    """Return what a vector consists of as integers: words, or 16 bits each where these are odd in number."""
    parts = vector.bitcast(fx.Int32 if vector.numel * vector.dtype.width % 32 == 0 else fx.Int16)
    return [parts[part] for part in range(parts.numel)]

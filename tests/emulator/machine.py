"""Launches: workgroups of waves that run a kernel of a code object, one instruction after the other."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice, product
from typing import Any

import ml_dtypes
import numpy as np

from tests.emulator.accesses import memory_instruction
from tests.emulator.arena import Arena, Fault
from tests.emulator.code_object import Argument, CodeObject, Descriptor
from tests.emulator.disassembly import Instruction, instructions
from tests.emulator.matrices import matrix_instruction
from tests.emulator.operands import register
from tests.emulator.scalar import scalar_instruction
from tests.emulator.shared_memory import shared_instruction
from tests.emulator.tensor_mover import tensor_move
from tests.emulator.vector import vector_instruction
from tests.emulator.wave import TTMP, Wave, Workgroup, mask_from

SLICE = 20_000
"""Instructions of a wave after which others go on, so that those that wait for each other come to an end."""
SEGMENT = 64
"""Bytes of which a segment of arguments is a multiple."""
AT_ONCE = 64
"""Workgroups that run side by side."""
_NOTHING = (
    "s_nop", "s_delay_alu", "s_wait_alu", "s_waitcnt_depctr", "s_clause", "s_setprio", "s_sendmsg", "s_inst_prefetch",
    "s_set_inst_prefetch_distance", "s_code_end", "s_setreg_imm32_b32", "s_setreg_b32", "v_nop", "s_waitcnt_vscnt",
    "s_set_vgpr_msb", "s_prefetch_inst", "s_barrier_signal", "global_prefetch_b8", "s_set_gpr_idx_off", "s_wait_idle",
)  # fmt: skip
"""Instructions that change nothing of what is computed."""
_WAITS = {
    "s_wait_loadcnt": ("load",), "s_wait_storecnt": ("store",), "s_wait_dscnt": ("ds",), "s_wait_kmcnt": ("scalar",),
    "s_wait_loadcnt_dscnt": ("load", "ds"), "s_wait_storecnt_dscnt": ("store", "ds"), "s_wait_samplecnt": (),
    "s_wait_bvhcnt": (), "s_wait_expcnt": (), "s_wait_xcnt": (), "s_wait_asynccnt": ("async",),
    "s_wait_tensorcnt": ("tensor",),
}  # fmt: skip
_QUEUES_OF_9 = {"vmcnt": "load", "lgkmcnt": "ds"}


def generation_of(arch: str) -> float:
    """9, 11 or 12; what gfx1250 has is newer than 12."""
    return 12.5 if arch.startswith("gfx125") else int(arch.removeprefix("gfx")[:-2])


@cache
def _fp8(arch: str) -> tuple[Any, Any]:
    if arch in ("gfx940", "gfx941", "gfx942"):
        return ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz
    return ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2


# Decoding --------------------------------------------------------------------------------------


def _waits(one: Instruction, generation: float) -> Callable[[Wave], Any] | None:
    if one.name == "s_waitcnt":
        counts = {name: int(count) for name, count in re.findall(r"(\w+)\((\d+)\)", one.text)}

        def wait(w: Wave) -> None:
            for name, left in counts.items():
                if name == "lgkmcnt":
                    if left == 0:
                        w.wait("scalar", 0)
                    elif w.queues["scalar"]:
                        continue  # scalar loads come in any order: nothing is sure yet
                if name in _QUEUES_OF_9:
                    w.wait(_QUEUES_OF_9[name], left)

        return wait
    if one.name in _WAITS:
        number = int(one.operands[0], 0)
        counted = {"load": number & 63, "ds": number & 63, "store": number & 63}
        if one.name.endswith("_dscnt") and "_" in one.name[7:-6]:
            counted = {"load": number >> 8 & 63, "store": number >> 8 & 63, "ds": number & 63}
        queues = _WAITS[one.name]

        def wait_for(w: Wave) -> None:
            for queue in queues:
                w.wait(queue, counted.get(queue, number))

        return wait_for
    return None


def _control(one: Instruction) -> Callable[[Wave], Any] | None:
    """What ends or stops a wave: a word that the run of its workgroup understands."""
    if one.name in ("s_endpgm", "s_endpgm_saved"):
        return lambda w: "end"
    if one.name in ("s_barrier", "s_barrier_wait"):
        return lambda w: "barrier"
    if one.name in ("s_sleep", "s_yield"):
        return lambda w: "pause"
    if one.name == "s_getreg_b32" and "HW_REG_IB_STS2, 6, 4" in one.text:
        return lambda w: w.set_scalar(register_number(one), 0)  # no clusters
    if one.name in _NOTHING:
        return lambda w: None
    if one.name == "s_trap":
        return lambda w: _trap(one)
    return None


def register_number(one: Instruction) -> int:
    place = register(one.operands[0])
    assert place is not None
    return place.number


def _trap(one: Instruction) -> None:
    raise Fault(f"the kernel traps: {one.text}")


def _unknown(one: Instruction) -> Callable[[Wave], Any]:
    def run(w: Wave) -> None:
        raise NotImplementedError(f"no emulation of {one.text}")

    return run


_MODIFIERS = frozenset((
    "offset", "offset0", "offset1", "offen", "lds", "scale_offset",
    "sc0", "sc1", "nt", "glc", "slc", "dlc", "th", "scope", "nv",
    "clamp", "mul", "div", "op_sel", "op_sel_hi", "neg_lo", "neg_hi",
    "dst_sel", "dst_unused", "src0_sel", "src1_sel",
    "quad_perm", "dpp8", "row_shl", "row_shr", "row_ror", "row_mirror", "row_half_mirror", "row_share", "row_newbcast",
    "row_xmask", "row_bcast", "wave_shr", "wave_shl", "wave_ror", "wave_rol",
    "row_mask", "bank_mask", "bound_ctrl", "fi",
    "cbsz", "abid", "blgp", "bitop3", "byte_sel",
    *(f"matrix_{side}_{what}" for side in "ab" for what in ("fmt", "scale", "scale_fmt", "reuse")),
))  # fmt: skip
"""Those that are understood, or change nothing of what is computed."""


def decode(one: Instruction, generation: float, lanes: int) -> Callable[[Wave], Any]:
    said = () if one.name.startswith(("s_wait", "s_delay", "s_setreg", "s_getreg")) else one.modifiers
    if not _MODIFIERS.issuperset(said):
        return _unknown(one)
    try:
        found = (
            _waits(one, generation) or _control(one) or scalar_instruction(one)
            or matrix_instruction(one, generation) or memory_instruction(one, generation) or shared_instruction(one)
            or tensor_move(one) or vector_instruction(one, generation, lanes)
        )  # fmt: skip
    except NotImplementedError as error:
        return _unknown(Instruction(one.address, one.name, "", (), {}, f"{one.text} ({error})", one.end))
    return found or _unknown(one)


def _both(first: Callable[[Wave], Any], second: Callable[[Wave], Any]) -> Callable[[Wave], Any]:
    """Two instructions that read before either writes."""

    def run(w: Wave) -> None:
        before = w.v.copy()
        first(w)
        after = w.v.copy()
        w.v[:] = before
        second(w)
        changed = after != before
        w.v[changed] = after[changed]

    return run


class Program:
    """The instructions of a code object for waves of so many lanes, decoded as they are reached."""

    def __init__(self, code: CodeObject, arch: str, lanes: int) -> None:
        listed = instructions(code.listing)
        self.generation, self.lanes = generation_of(arch), lanes
        self.listed = {group[0].address: group for group in listed}
        self.steps: dict[int, tuple[int, Callable[[Wave], Any]]] = {}

    def step(self, pc: int) -> tuple[int, Callable[[Wave], Any]]:
        found = self.steps.get(pc)
        if found is None:
            if pc not in self.listed:
                raise Fault(f"no instruction at {pc:#x}")
            group = self.listed[pc]
            runs = [decode(one, self.generation, self.lanes) for one in group]
            found = self.steps[pc] = (group[0].end, runs[0] if len(runs) == 1 else _both(*runs))
        return found


# Running ---------------------------------------------------------------------------------------


def _waves_of(program: Program, wave: Wave) -> Iterator[str]:
    """Run a wave; it says where it stops for others."""
    count = 0
    step = program.step
    while True:
        at = wave.pc
        wave.pc, run = step(at)
        try:
            said = run(wave)
        except Fault as error:
            raise Fault(f"{program.listed[at][0].text} at {at:#x}: {error}") from None
        if said is not None:
            if said == "end":
                wave.wait_all()
                wave.ended = True
                return
            yield said
        count += 1
        if count % SLICE == 0:
            yield "pause"


def _run_workgroup(program: Program, waves: list[Wave]) -> Iterator[None]:
    """Run the waves of a workgroup until all have ended; it stops now and then for other workgroups."""
    runs = {wave: _waves_of(program, wave) for wave in waves}
    waiting: set[Wave] = set()
    while runs:
        for wave in [wave for wave in runs if wave not in waiting]:
            said = next(runs[wave], "end")
            if said == "end":
                del runs[wave]
            elif said == "barrier":
                waiting.add(wave)
        if runs and len(waiting) == len(runs):
            waiting.clear()
        yield


class Launch:
    """One launch of a kernel."""

    def __init__(
        self, arena: Arena, code: CodeObject, code_base: int, arch: str, kernel: str, grid: tuple[int, int, int],
        block: tuple[int, int, int], dynamic_lds: int, arguments: bytes,
    ) -> None:  # fmt: skip
        self.arena, self.code_base, self.arch, self.grid, self.block = arena, code_base, arch, grid, block
        self.descriptor, self.listed = code.kernels[kernel]
        self.lanes = 32 if self.descriptor.wave32 else 64
        self.program = Program(code, arch, self.lanes)
        self.lds_bytes = self.descriptor.lds_bytes + dynamic_lds
        # Loads of constants may be as long as their alignment, which the segment is a multiple of.
        self.kernargs = arena.put(arguments + bytes(-len(arguments) % SEGMENT)) if arguments else 0

    def _vectors(self) -> tuple[int, int]:
        """How many vector and accumulation registers a wave has."""
        generation, rsrc1 = generation_of(self.arch), self.descriptor.rsrc1
        count = (rsrc1 & 63) + 1
        if generation == 9:
            total, vectors = 8 * count, 4 * ((self.descriptor.rsrc3 & 63) + 1)
            return min(vectors, total), max(total - vectors, 0)
        return count * (16 if self.arch == "gfx1250" else 8 if self.lanes == 32 else 4), 0

    def _wave(self, group: Workgroup, number: int, place: tuple[int, int, int]) -> Wave:
        descriptor: Descriptor = self.descriptor
        wave = Wave(group, *self._vectors(), self.code_base)
        x, y, z = self.block
        thread = np.arange(self.lanes) + number * self.lanes
        ids = thread % x | thread // x % y << 10 | thread // (x * y) << 20
        wave.v[0] = ids.astype(np.uint32)
        wave.set_exec(mask_from(thread < x * y * z))
        if descriptor.properties & ~(1 << 3 | 1 << 10 | 1 << 11):
            raise NotImplementedError(f"kernel code properties {descriptor.properties:#x}")
        user: list[int] = []
        if descriptor.properties & 8:
            user += [self.kernargs & 0xFFFFFFFF, self.kernargs >> 32]
        length, first = descriptor.preload & 127, descriptor.preload >> 7
        if length:
            data = self.arena.read(self.kernargs + 4 * first, 4 * length)
            user += struct.unpack(f"<{length}I", data)
        if len(user) > descriptor.user_registers:
            raise Fault(f"{len(user)} user registers, and the descriptor has {descriptor.user_registers}")
        wave.s[: len(user)] = user
        at = descriptor.user_registers
        if generation_of(self.arch) >= 12:
            wave.s[TTMP + 9] = place[0]
            wave.s[TTMP + 7] = place[1] | place[2] << 16
            wave.s[TTMP + 6] = 0
        else:
            for axis in range(3):
                if descriptor.workgroup_register(axis):
                    wave.s[at] = place[axis]
                    at += 1
        wave.pc = descriptor.entry
        return wave

    def _workgroup(self, place: tuple[int, int, int]) -> Iterator[None]:
        fp8, bf8 = _fp8(self.arch)
        lds = np.full(self.lds_bytes, 0xA5, np.uint8)
        group = Workgroup(self.arena, lds, self.lanes == 32, generation_of(self.arch), fp8, bf8)
        threads = self.block[0] * self.block[1] * self.block[2]
        waves = [self._wave(group, number, place) for number in range(-(-threads // self.lanes))]
        return _run_workgroup(self.program, waves)

    def run(self) -> None:
        x, y, z = self.grid
        places = ((i, j, k) for k, j, i in product(range(z), range(y), range(x)))
        running: list[Iterator[None]] = []
        with np.errstate(all="ignore"):
            while True:
                running += [self._workgroup(place) for place in islice(places, AT_ONCE - len(running))]
                if not running:
                    return
                running = [group for group in running if next(group, running) is not running]


def argument_bytes(
    listed: tuple[Argument, ...], size: int, given: Callable[[int, int], bytes], grid: tuple[int, int, int],
    block: tuple[int, int, int],
) -> bytes:  # fmt: skip
    """The segment of arguments: what the caller gives one after the other, and what the runtime adds."""
    found, number = bytearray(size), 0
    for argument in listed:
        if argument.kind.startswith("hidden_"):
            data = _hidden(argument, grid, block)
        else:
            data = given(number, argument.size)
            number += 1
        found[argument.offset : argument.offset + argument.size] = data
    return bytes(found)


def _hidden(argument: Argument, grid: tuple[int, int, int], block: tuple[int, int, int]) -> bytes:
    axis = "xyz".find(argument.kind[-1])
    values = {"hidden_block_count": grid, "hidden_group_size": block}
    value = values.get(argument.kind[:-2], (0, 0, 0))[axis] if axis >= 0 else 0
    return value.to_bytes(argument.size, "little")

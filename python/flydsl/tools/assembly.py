"""Reading AMD assembly: a kernel's registers and memory, and the instructions of its main loop."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property

from flydsl.base.records import dataclass

_LABEL = re.compile(r"(\.L\w+):")
_BRANCH = re.compile(r"\s+s_(c?)branch\w*\s+(\.L\w+)")
_INSTRUCTION = re.compile(r"\s+([a-z]+_\w+)(?:\s|$)")
_TARGET = re.compile(r'\.amdgcn_target "[\w.]+-amd-amdhsa-\w*-(gfx\w+)')
_SHAPE = re.compile(r"v_(?:mfma|smfmac)(?:_scale)?_\w+?_(\d+)x\d+x(\d+)")
_TWICE = re.compile(r"read2|write2|2addr")
_NARROW = re.compile(r"(cbsz|blgp):([0-4])")
_SLOW = {"ds_write_b128": 20, "ds_bpermute_b32": 8, "v_exp_f32_e32": 8, "v_rcp_f32_e32": 8, "v_log_f32_e32": 8}
ISSUE, FULL_16, FULL_32 = 4, 16, 32
"""Clocks in which a SIMD issues an instruction of a wave, and in which its matrix core is busy with one of 16 rows and
one of 32 rows. Sources: LLVM's SISchedule.td (passes of four clocks), AMD's matrix instruction calculator, published
traces of waves on gfx950: 16x16x32 in 16-bit floats 16 clocks, 16x16x128 f8f6f4 32 with 8-bit floats and 16 with
narrower ones, ds_write_b128 20, exp, rcp, log and ds_bpermute 8, everything else 4."""
RDNA_ISSUE = 1
WMMA = {"gfx11": {16: 32, 8: 16, 4: 8}, "gfx12": {16: 16, 8: 8, 4: 4}}
"""The same for waves of 32: clocks of 16x16x16 by the bits of an element. Sources: AMD's rates for RDNA 3 (512 half
floating-point operations a clock and compute unit) and RDNA 4 (1024, and 2048 of 8 bits), with two SIMDs each. Those
of gfx1250 are not published."""
MATRIX = ("v_mfma", "v_wmma", "v_smfmac", "v_swmmac")
MEMORY = ("buffer_", "global_", "flat_", "tensor_")
_CACHE = re.compile(r"(?:buffer|global)_(?:gl[01]_)?(?:inv|wb)")
"""Instructions that clear a cache, not accesses."""
_WIDTHS = {"dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16, "b16": 2, "b32": 4, "b64": 8, "b96": 12, "b128": 16,
           "ubyte": 1, "sbyte": 1, "ushort": 2, "sshort": 2, "short": 2, "byte": 1, "u8": 1, "u16": 2}  # fmt: skip


def issue_clocks(line: str, arch: str = "") -> int | None:
    """Clocks of a SIMD that a line of assembly takes, of a matrix instruction as long as the matrix core is busy; None
    where they are not known. Without ``arch`` it is one of CDNA."""
    found = _INSTRUCTION.match(line)
    if found is None:
        return 0
    if arch.startswith(("gfx10", "gfx11", "gfx12")):
        return _clocks_of_32_lanes(found[1], arch)
    shape = _SHAPE.match(found[1])
    if shape is None:
        return _SLOW.get(found[1], ISSUE)
    clocks = FULL_16 if int(shape[1]) == 16 else FULL_32
    if "f8f6f4" in found[1]:
        narrow = {side: int(code) >= 2 for side, code in _NARROW.findall(line)}
        return clocks if narrow.get("cbsz") and narrow.get("blgp") else 2 * clocks
    return 2 * clocks if found[1].endswith("_f32") and int(shape[2]) <= 4 else clocks


def _clocks_of_32_lanes(name: str, arch: str) -> int | None:
    if not name.startswith(MATRIX):
        return RDNA_ISSUE
    rates = WMMA.get(arch[:5]) if arch != "gfx1250" else None
    bits = 8 if name.endswith(("fp8", "bf8", "iu8")) else 4 if name.endswith("iu4") else 16
    return rates[bits] if rates and "16x16x16" in name else None


def width_of(name: str) -> int:
    """Bytes of a lane that an access to memory or LDS moves, by its name; 0 where that does not say it."""
    twice = 2 if _TWICE.search(name) else 1
    return twice * next((_WIDTHS[part] for part in name.split("_") if part in _WIDTHS), 0)


@dataclass(frozen=True)
class MainLoop:
    """Lines of a loop with matrix instructions in the order of the text, of which an iteration takes some."""

    lines: tuple[str, ...]
    arch: str = ""

    @property
    def names(self) -> list[str]:
        return [found[1] for line in self.lines if (found := _INSTRUCTION.match(line))]

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.names)

    @property
    def matrix(self) -> int:
        """Matrix instructions."""
        return sum(name.startswith(MATRIX) for name in self.names)

    @property
    def vector(self) -> int:
        """Other vector instructions."""
        return sum(name.startswith("v_") for name in self.names) - self.matrix

    @property
    def scalar(self) -> int:
        """Scalar instructions that do not wait."""
        return sum(name.startswith("s_") and not name.startswith("s_wait") for name in self.names)

    @property
    def clocks(self) -> int:
        """Issue clocks of all lines; those that are not known count as none."""
        return sum(issue_clocks(line, self.arch) or 0 for line in self.lines)

    def clocks_of(self, *prefixes: str) -> int | None:
        """Issue clocks of the instructions that begin so, if they are known."""
        found = [issue_clocks(line, self.arch) for line in self.lines if line.lstrip().startswith(prefixes)]
        return None if None in found else sum(count or 0 for count in found)

    @property
    def matrix_share(self) -> float:
        """The part of all issue clocks in which matrix instructions run; NaN where it is not known."""
        matrix = self.clocks_of(*MATRIX)
        return float("nan") if matrix is None else matrix / self.clocks

    @property
    def waits(self) -> int:
        """Instructions that wait for memory."""
        return sum(name.startswith("s_wait") for name in self.names)

    def accesses(self, *prefixes: str) -> Counter[int]:
        """Return how many accesses there are of each width in bytes of a lane."""
        return Counter(width_of(name) for name in self.names if name.startswith(prefixes) and not _CACHE.match(name))

    @cached_property
    def iteration(self) -> MainLoop:
        """An iteration of the loop: its way back to the start with all matrix instructions and the fewest clocks.

        A loop may have code for rare cases, such as another maximum in a softmax: of a branch the shorter way is taken.
        """
        starts = [i for i, line in enumerate(self.lines) if _LABEL.match(line) or _BRANCH.match(self.lines[i - 1])]
        starts = sorted({0, *starts})
        blocks = {start: (start, end) for start, end in zip(starts, [*starts[1:], len(self.lines)])}
        labels = {found[1]: i for i in starts if (found := _LABEL.match(self.lines[i]))}
        best: dict[int, MainLoop] = {0: MainLoop((), self.arch)}
        ends: list[MainLoop] = []
        for start in starts:  # the text has blocks behind those that branch to them, but for the way back
            if start not in best:
                continue
            way = MainLoop((*best[start].lines, *self.lines[slice(*blocks[start])]), self.arch)
            for target in self._targets(blocks[start][1], labels):
                if target == 0:
                    ends.append(way)
                elif target > start and _better(way, best.get(target)):
                    best[target] = way
        return min(ends, key=lambda way: (-way.matrix, way.clocks), default=self)

    def _targets(self, end: int, labels: dict[str, int]) -> list[int]:
        """Return where the block before a line goes on: at a label of the loop, or there."""
        found = _BRANCH.match(self.lines[end - 1])
        behind = [end] if end < len(self.lines) else []
        if found is None:
            return behind
        target = [labels[found[2]]] if found[2] in labels else []
        return target + (behind if found[1] else [])


def _better(way: MainLoop, other: MainLoop | None) -> bool:
    return other is None or (-way.matrix, way.clocks) < (-other.matrix, other.clocks)


def main_loop(assembly: str) -> MainLoop:
    """Return the innermost loop with the most matrix instructions; of several, the one whose iteration takes fewest
    clocks."""
    lines, labels = assembly.splitlines(), {}
    found = _TARGET.search(assembly)
    arch = found[1] if found else ""
    loops: dict[int, int] = {}
    for number, line in enumerate(lines):
        if found := _LABEL.match(line):
            labels[found[1]] = number
        elif (found := _BRANCH.match(line)) and found[2] in labels:
            loops[labels[found[2]]] = number
    found_loops = [(start, end, MainLoop(tuple(lines[start : end + 1]), arch)) for start, end in loops.items()]
    found_loops = [one for one in found_loops if one[2].matrix]
    inner = [loop for start, end, loop in found_loops
             if not any(start < first and last <= end for first, last, _ in found_loops)]  # fmt: skip
    if not inner:
        raise ValueError("the assembly has no loop with matrix instructions")
    return min(inner, key=lambda loop: (-loop.iteration.matrix, loop.iteration.clocks))


def kernels(assembly: str) -> dict[str, str]:
    """Return the text of each kernel, behind the line of the target, and its part of the metadata."""
    head = next((line for line in assembly.splitlines() if ".amdgcn_target" in line), "")
    code, _, notes = assembly.partition("amdhsa.kernels:")
    records = {found[1]: record for record in re.split(r"\n  - ", notes)
               if (found := re.search(r"\.symbol:\s+'?(\w+)\.kd", record))}  # fmt: skip
    return {name: "\n".join((head, code[code.index(f"\n{name}:") :].partition(".end_amdhsa_kernel")[0], record))
            for name, record in records.items()}  # fmt: skip


def fact(assembly: str, name: str) -> int:
    """Return a number of the kernel's metadata, such as ``vgpr_count``; 0 for ``agpr_count`` where a target has
    none."""
    found = re.search(rf"\.{name}:\s+(\d+)", assembly)
    if found is None and name == "agpr_count":
        return 0
    if found is None:
        raise ValueError(f"the assembly does not state .{name}")
    return int(found[1])

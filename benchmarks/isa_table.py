"""One table for every kernel of the library on every AMD target, beside Triton's kernel of the same tile.

`python benchmarks/isa_quality.py --kernels` shows it. Of each kernel:

- VGPRs of both kinds, AGPRs among them, SGPRs, spills, LDS bytes, and waves of a SIMD that the registers and LDS allow;
- of the main loop, for each matrix instruction (`MFMA` of them in an iteration): other vector instructions (`VALU`),
  accesses to LDS and to memory, each by bytes of a lane (`16x0.50` are 0.5 of 16 bytes), waits and scalar instructions.
  Of a branch in the loop the shorter way counts; of several loops the one that is fastest, where no key is masked;
- VALU / MFMA: issue clocks of other vector instructions and of LDS over those of matrix instructions;
- share: the part of all issue clocks in which matrix instructions run, by the table of `flydsl.tools.assembly`;
- conflicts: extra clocks by bank conflicts for each access to LDS, by `flyc.lds_report` of a small run.

Kernels over rows have no matrix instruction: all of their code is counted, for each access to memory. Triton's numbers
are scaled to our matrix instruction where its own makes more or fewer products.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import timing
from amd_kernels import CASES
from amd_kernels.case import SMALL, Case
from compile_time import HERE, TRITON_PYTHON, environment, make_triton_environment

import flydsl.compiler as flyc
from flydsl.tools.assembly import MATRIX, MEMORY, MainLoop, fact, kernels, main_loop

TARGETS = ("gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")
QUICK = ("hgemm f16 128x128x64", "softmax 4096 f16")
"""Kernels of a quick run, on the first target."""
REGISTERS = {"gfx9": (512, 8, 8), "gfx11": (1536, 24, 16), "gfx12": (1536, 24, 16), "gfx1250": (1024, 16, 16)}
"""Of a lane of a SIMD: registers that its waves share, the step in which a wave gets them, and waves at most. Sources:
LLVM's AMDGPUBaseInfo.cpp (getTotalNumVGPRs, getVGPRAllocGranule, getMaxWavesPerEU)."""
LDS_STEP = {"gfx950": 1280}
"""Bytes in which a block gets LDS, 512 on other targets. Source: LLVM's AMDGPUBaseInfo.cpp (getLdsDwGranularity)."""
LDS_BYTES = {"gfx942": 65536, "gfx950": 163840, "gfx1100": 65536, "gfx1201": 65536, "gfx1250": 327680}
SIMDS = {"gfx9": 4, "gfx11": 2, "gfx12": 2, "gfx1250": 4}
HEAD = ["kernel", "VGPRs", "AGPRs", "SGPRs", "spills", "LDS bytes", "waves", "MFMA", "VALU", "LDS", "memory", "waits",
        "scalar", "VALU / MFMA", "share", "conflicts"]  # fmt: skip
SGPRS, SGPR_STEP = 800, 16
"""Scalar registers that waves of a SIMD share on gfx9, and the step in which a wave gets them; on others each wave has
all it can address. Source: LLVM's AMDGPUBaseInfo.cpp (getTotalNumSGPRs, getSGPRAllocGranule)."""
COMPARED = ("VGPRs", "AGPRs", "spills", "LDS bytes", "VALU", "LDS", "memory", "waits", "scalar")
"""Columns of which less is better; of waves, more is. LDS and memory are compared by the number of accesses, LDS bytes
by what a block gets, SGPRs by the waves that they leave."""


@contextmanager
def settings(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def assembly_of(case: Case, arch: str) -> str:
    """Compile a kernel for a target and give its assembly."""
    with (
        tempfile.TemporaryDirectory() as cache,
        tempfile.TemporaryDirectory() as folder,
        settings(FLYDSL_DEBUG_DUMP_ASM="1", FLYDSL_DUMP_DIR=folder, FLYDSL_RUNTIME_CACHE_DIR=cache, ARCH=arch,
                 COMPILE_ONLY="1"),
    ):  # fmt: skip
        function, arguments = case.described(arch)
        function.warmup(*arguments)
        return next(Path(folder).rglob("*.s")).read_text()


def conflicts_of(case: Case, arch: str) -> float | None:
    """Extra clocks for each access to LDS of a wave, or None where there is none to report of."""
    with tempfile.TemporaryDirectory() as cache, settings(ARCH=arch, FLYDSL_RUNTIME_CACHE_DIR=cache):
        function, arguments = case.filled(arch, SMALL)
        report = flyc.lds_report(function, *arguments)
    executed = sum(row.executed for row in report.rows)
    return report.extra_cycles / executed if executed else None


def waves_of(arch: str, text: str, lds: int) -> int:
    """Waves of a SIMD at once, by registers of both kinds and LDS."""
    family = "gfx9" if arch.startswith("gfx9") else arch if arch in REGISTERS else arch[:5]
    total, step, most = REGISTERS[family]
    waves = min(total // (-(-max(fact(text, "vgpr_count"), 1) // step) * step), most)
    if family == "gfx9":
        waves = min(waves, SGPRS // (-(-max(fact(text, "sgpr_count"), 1) // SGPR_STEP) * SGPR_STEP))
    threads = re.search(r"\.max_flat_workgroup_size:\s+(\d+)", text)
    lanes = fact(text, "wavefront_size")
    of_block = -(-int(threads[1]) // lanes) if threads else 1
    blocks = min(waves * SIMDS[family] // of_block, LDS_BYTES[arch] // lds if lds else 1 << 16)
    return max(blocks * of_block // SIMDS[family], min(waves, 1))


def products_of(loop: MainLoop) -> int:
    """Products of the loop's matrix instruction, by its name: M x N x K."""
    name = next(name for name in loop.names if name.startswith(MATRIX))
    found = re.search(r"_(\d+)x(\d+)x(\d+)", name)
    return int(found[1]) * int(found[2]) * int(found[3]) if found else 1


class Row:
    """The numbers of a kernel. ``like`` is the row of ours that a peer's is scaled to."""

    def __init__(self, arch: str, text: str, lds: int | None = None, like: Row | None = None) -> None:
        self.arch, self.products = arch, 0
        try:
            loop = main_loop(text).iteration
            self.products = products_of(loop)
            each = loop.matrix * self.products / (like.products if like else self.products)
        except ValueError:
            loop = MainLoop(tuple(text.splitlines()), arch)
            each = max(sum(loop.accesses(*MEMORY).values()), 1)
        lds = fact(text, "group_segment_fixed_size") if lds is None else lds
        local, memory = loop.accesses("ds_"), loop.accesses(*MEMORY)
        matrix = loop.clocks_of(*MATRIX)
        busy = (loop.clocks_of("v_") or 0) - (matrix or 0) + (loop.clocks_of("ds_") or 0)
        self.widths = {"LDS": local, "memory": memory}
        self.each = each
        self.numbers: dict[str, float] = {
            "VGPRs": fact(text, "vgpr_count"), "AGPRs": fact(text, "agpr_count"), "SGPRs": fact(text, "sgpr_count"),
            "spills": fact(text, "vgpr_spill_count") + fact(text, "sgpr_spill_count"), "LDS bytes": lds,
            "waves": waves_of(arch, text, lds), "MFMA": loop.matrix, "VALU": loop.vector / each,
            "LDS": sum(local.values()) / each, "memory": sum(memory.values()) / each, "waits": loop.waits / each,
            "scalar": loop.scalar / each,
        }  # fmt: skip
        if self.products and matrix:
            self.numbers |= {"VALU / MFMA": busy / matrix, "share": loop.matrix_share}

    def compared(self, column: str) -> float:
        step = LDS_STEP.get(self.arch, 512) if column == "LDS bytes" else 0
        return -(-self.numbers[column] // step) * step if step else self.numbers[column]

    def cells(self) -> list[str]:
        return [self._cell(column) for column in HEAD[1:]]

    def _cell(self, column: str) -> str:
        if column in self.widths:
            found = self.widths[column]
            return (
                " ".join(f"{width or '?'}x{found[width] / self.each:.2f}" for width in sorted(found, reverse=True))
                or "0"
            )
        number = self.numbers.get(column)
        return "-" if number is None else str(number) if isinstance(number, int) else f"{number:.2f}"


def worse(ours: Row, theirs: Row) -> list[str]:
    """Columns in which ours is more than theirs."""
    more = [column for column in COMPARED if ours.compared(column) > theirs.compared(column) * 1.005 + 1e-9]
    return more + (["waves, of which it has fewer"] if ours.numbers["waves"] < theirs.numbers["waves"] else [])


def peers_for(arch: str, names: list[str]) -> dict[str, Any]:
    """Triton's kernels for a target: assembly and LDS of each, or why there is none."""
    if not names:
        return {}
    make_triton_environment()
    with tempfile.TemporaryDirectory() as folder:
        wanted = environment(folder, TRITON_CACHE_DIR=folder, TRITON_DEFAULT_FP_FUSION="1")
        command = [str(TRITON_PYTHON), str(HERE / "peers" / "triton_tiles.py"), arch, *names]
        done = subprocess.run(command, env=wanted, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def show_kernels(targets: Any, quick: bool = False, static: bool = False) -> dict[str, Any]:
    """The table, target by target; nothing is run for a ``static`` one."""
    found: dict[str, Any] = {}
    for arch in targets[:1] if quick else targets:
        cases = [case for case in CASES if arch in case.archs and (not quick or case.name in QUICK)]
        peers = {} if quick else peers_for(arch, sorted({case.peer for case in cases if case.peer}))
        found[arch] = {}
        print(f"\n{arch}", flush=True)
        rows: list[list[str]] = []
        for case in cases:
            for name, row in rows_of(case, arch, peers, static or quick):
                found[arch][name] = row
                rows.append([name, *row])
        timing.print_table(HEAD, rows)
    return found


def rows_of(case: Case, arch: str, peers: dict[str, Any], static: bool) -> Iterator[tuple[str, list[str]]]:
    """The rows of a case: one for each of its kernels, and Triton's behind it."""
    texts = kernels(assembly_of(case, arch))
    conflicts = None if static else conflicts_of(case, arch)
    for symbol, text in texts.items():
        name = case.name if len(texts) == 1 else f"{case.name}: {symbol}"
        row = Row(arch, text)
        if conflicts is not None and fact(text, "group_segment_fixed_size"):
            row.numbers["conflicts"] = round(conflicts, 2)
        yield name, row.cells()
        peer = peers.get(case.peer)
        if peer is not None and "assembly" not in peer:
            yield f"  triton: {peer['refused']}", ["-"] * (len(HEAD) - 1)
        elif peer is not None:
            theirs = Row(arch, next(iter(kernels(peer["assembly"]).values())), peer["lds"], row)
            more = worse(row, theirs)
            yield f"  triton {case.peer}" + (f"; ours has more {', '.join(more)}" if more else ""), theirs.cells()

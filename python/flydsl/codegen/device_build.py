"""Stage C: LLVM text of kernels to objects and assembly, by the LLVM in llvmlite or by one installed elsewhere.

`FLYDSL_COMPILE_LLVM_DIR` names the other one. Ours optimises the text in either case; its `llc` then selects the
instructions, and its `ld.lld` links AMD code objects.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from flydsl.base.errors import LoweringError
from flydsl.base.records import dataclass, replace
from flydsl.codegen.llvm_build import emit_assembly, emit_object, optimised_text
from flydsl.codegen.llvm_options import Setting, active, option_scope

# An instruction that LLVM made itself has no line; it takes that of the one before instead of line 0.
_LINES: tuple[Setting, ...] = (("use-unknown-locations", "Disable"),)
_DEBUG_MARK = "!llvm.dbg.cu"
# Lanes that do not run count for these. LLVM 22 knows it of the calls, but not of the instructions that they become: it
# moved them, and what makes their operands, into branches of a few lanes.
_STAYING: tuple[Setting, ...] = (("disable-machine-sink", True),)
_MOVED = re.compile(
    r"@llvm\.amdgcn\.(mfma\.scale|permlane64|permlanex?16\.var|permlane\.(bcast|up|down|xor|idx)|mov\.dpp8)\b"
)
_MOVED_ON_GFX11 = "@llvm.amdgcn.wmma."
_ASSEMBLY = re.compile(r"\basm (?:\w+ )*\"[^\"]")
"""Inline assembly that is not empty."""
_ROCM_LLVM = Path("/opt/rocm/llvm/bin")


@dataclass(frozen=True)
class DeviceBuild:
    """For what kernels are compiled, how hard, and by whose LLVM (None: llvmlite's)."""

    triple: str
    cpu: str
    features: str
    level: int
    llvm_dir: Path | None = None

    def object_code(self, text: str) -> bytes:
        """Return the object file of LLVM text."""
        if self.llvm_dir is not None:
            return self._llc(text, "obj")
        if self.triple.startswith("amdgcn") and _ASSEMBLY.search(text):
            return replace(self, llvm_dir=_with_assembler())._llc(text, "obj")
        with option_scope((*active(), *self._own_options(text))):
            return emit_object(text, self.triple, self.cpu, self.features, self.level)

    def assembly(self, text: str) -> str:
        """Return the assembly of LLVM text; PTX for NVIDIA."""
        if self.llvm_dir is not None:
            return self._llc(text, "asm").decode()
        with option_scope((*active(), *self._own_options(text))):
            return emit_assembly(text, self.triple, self.cpu, self.features, self.level)

    def _own_options(self, text: str) -> tuple[Setting, ...]:
        """Return the options that the text needs, whatever the caller asks for."""
        moved = _MOVED.search(text) or (self.cpu.startswith("gfx11") and _MOVED_ON_GFX11 in text)
        return (*(_LINES if _DEBUG_MARK in text else ()), *(_STAYING if moved else ()))

    def linker(self) -> tuple[str, ...]:
        """Return the command that links, if the other LLVM has to do it."""
        return () if self.llvm_dir is None else (outside_tool(self.llvm_dir, "ld.lld"),)

    def _llc(self, text: str, kind: str) -> bytes:
        assert self.llvm_dir is not None
        optimised = optimised_text(text, self.triple, self.cpu, self.features, self.level)
        settings = (*active(), *self._own_options(text))
        with tempfile.TemporaryDirectory(prefix="flydsl-llc-") as folder:
            source, target = Path(folder) / "kernels.ll", Path(folder) / "kernels.out"
            source.write_text(optimised, encoding="utf-8")
            command = [
                *(outside_tool(self.llvm_dir, "llc"), f"-O{self.level}", f"-mtriple={self.triple}"),
                *(f"-mcpu={self.cpu}", f"-mattr={self.features}", f"-filetype={kind}", "-relocation-model=pic"),
                *(f"-{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in settings),
                *("-o", str(target), str(source)),
            ]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise LoweringError(
                    f"{command[0]} does not compile the kernels: {done.stderr.strip()}",
                    hint="FLYDSL_COMPILE_LLVM_DIR names this LLVM; unset it to use the one in llvmlite",
                )
            return target.read_bytes()


def _with_assembler() -> Path:
    """Return the folder of an installed LLVM: llvmlite's has no assembler for AMD GPUs, and would end the process."""
    for name in ("llc-22", "llc"):
        found = shutil.which(name)
        if found is not None and Path(found).resolve().name == "llc":
            return Path(found).resolve().parent
    if (_ROCM_LLVM / "llc").exists():
        return _ROCM_LLVM
    raise LoweringError(
        "the kernel has inline assembly, which the LLVM in llvmlite cannot turn into code of AMD GPUs",
        hint="install LLVM 22 (apt install llvm-22), or name one with FLYDSL_COMPILE_LLVM_DIR; the virtual GPU runs "
        "the kernel without it",
    )


def outside_tool(folder: Path, name: str) -> str:
    """Return a tool of the LLVM installed in a folder, which may be its `bin` or the one above."""
    for candidate in (folder / name, folder / "bin" / name):
        if candidate.exists():
            return str(candidate)
    raise LoweringError(
        f"FLYDSL_COMPILE_LLVM_DIR is {folder}, which has no {name}",
        hint="name the folder of an LLVM installation that has llc and ld.lld in it or in its bin folder",
    )

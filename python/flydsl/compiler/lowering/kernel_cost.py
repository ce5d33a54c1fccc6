"""What a compiled kernel costs: registers, spills, shared memory, occupancy and instructions, read off its code.

`fn.specialisations[i].kernels` has one `KernelCost` for each kernel. The code is made again when it is first asked
for, and for the target, also where the virtual GPU runs it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from flydsl.base import knobs
from flydsl.base.lazy import lazy_module
from flydsl.base.records import dataclass, field
from flydsl.compiler.backends.families import device_family
from flydsl.compiler.options.hints import Hints, option_settings
from flydsl.runtime import nvidia_tools
from flydsl.target.occupancy import waves_per_file
from flydsl.target.target import Target

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from flydsl.backends import device_code
    from flydsl.codegen import llvm_options
    from flydsl.compiler.lowering import driver
    from flydsl.compiler.tracing import trace
    from flydsl.dialects import xdsl_loading
    from flydsl.passes.shared import known_bits
else:
    device_code = lazy_module("flydsl.backends.device_code")
    llvm_options = lazy_module("flydsl.codegen.llvm_options")
    driver = lazy_module("flydsl.compiler.lowering.driver")
    trace = lazy_module("flydsl.compiler.tracing.trace")
    xdsl_loading = lazy_module("flydsl.dialects.xdsl_loading")
    known_bits = lazy_module("flydsl.passes.shared.known_bits")

_AMD_FACTS = "amdhsa.kernels:"
"""Where the metadata of a code object begin in assembly."""

CLASSES: tuple[tuple[str, str], ...] = (
    ("matrix", r"v_mfma|v_wmma|v_smfmac|wgmma\.mma|mma\.sync"),
    ("shared reads", r"ds_read|ds_load|ld\.shared|ldmatrix"),
    ("shared writes", r"ds_write|ds_store|st\.shared|stmatrix"),
    ("shared, other", r"ds_"),
    ("copies to shared", r"cp\.async|\w+_load_lds|tensor_load|buffer_load\w* .*lds$|global_load_async"),
    ("global loads", r"(global|buffer|flat|scratch)_load|ld\.(global|local)"),
    ("global stores", r"(global|buffer|flat|scratch)_store|st\.(global|local)"),
    ("atomics", r"\w+_atomic|atom\.|red\."),
    ("waits", r"s_wait|cp\.async\.\w*\.?wait|wgmma\.wait|mbarrier\.try_wait"),
    ("barriers", r"s_barrier|bar(rier)?\.|mbarrier"),
    ("branches", r"s_c?branch|@?%?p?\d*\s*bra\b|bra"),
    ("scalar", r"s_|ld\.param"),
    ("vector", r"v_|\w+(\.\w+)*"),
)
"""Class of instructions to how their names begin; the first that fits counts."""

_PATTERNS = tuple((name, re.compile(pattern)) for name, pattern in CLASSES)


@dataclass(frozen=True)
class KernelCost:
    """One kernel for one target. What nobody says is None: NVIDIA's registers where there is no ``ptxas``."""

    name: str
    target: str
    threads: int | None
    registers: int | None
    accumulation_registers: int | None
    scalar_registers: int | None
    spills: int | None
    scratch_bytes: int | None
    shared_bytes: int
    """Of the kernel's own arrays, and of its launches as far as they are known before."""
    occupancy: int | None
    """Waves on one register file (a SIMD, a quarter of a multiprocessor)."""
    instructions: Counter[str]
    """Class of instruction to how many stand in the text."""
    asm: str = field(repr=False)
    """Assembly; PTX for NVIDIA."""
    llvm: str = field(repr=False)
    """LLVM text of all kernels that were compiled together, before it is optimised."""

    @property
    def ptx(self) -> str:
        """The kernel's PTX; empty for AMD."""
        return self.asm if self.target.startswith("sm_") else ""

    def rows(self) -> list[tuple[str, str]]:
        """Return what there is to show, in words."""
        found: list[tuple[str, Any]] = [
            ("threads", self.threads), ("registers", self.registers),
            ("accumulation registers", self.accumulation_registers or None),
            ("scalar registers", self.scalar_registers), ("spilled registers", self.spills),
            ("scratch bytes", self.scratch_bytes), ("shared bytes", self.shared_bytes),
            ("waves per register file", self.occupancy),
        ]  # fmt: skip
        rows = [(name, "?" if value is None else str(value)) for name, value in found
                if value is not None or name == "registers"]  # fmt: skip
        return rows + [(name, str(self.instructions[name])) for name, _ in CLASSES if self.instructions[name]]

    def __str__(self) -> str:
        rows = self.rows()
        left, right = (max(len(row[i]) for row in rows) for i in (0, 1))
        lines = [f"  {name:<{left}}  {value:>{right}}" for name, value in rows]
        return "\n".join([f"{self.name} for {self.target}", *lines])

    def _repr_html_(self) -> str:
        body = "".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in self.rows())
        head = f"<tr><th colspan=2>{escape(self.name)} for {escape(self.target)}</th></tr>"
        return f"<table>{head}{body}</table>"


def instruction_classes(lines: Iterable[str]) -> Counter[str]:
    """Return how many instructions of each class there are among lines of assembly or PTX."""
    found: Counter[str] = Counter()
    for line in lines:
        text = re.split(r";|//", line, maxsplit=1)[0].strip()
        text = re.sub(r"^@!?%\w+\s+", "", text)
        if not text or text.endswith(":") or text[0] in ".{}()$" or text.startswith("//"):
            continue
        found[next((name for name, pattern in _PATTERNS if pattern.match(text)), "vector")] += 1
    return found


# Reading ---------------------------------------------------------------------------------------


def _dynamic_shared(module: Operation) -> Counter[str]:
    """Return how many bytes of shared memory launches give each kernel beside its own arrays."""
    found: Counter[str] = Counter()
    for op in module.walk():
        if op.name == "gpu.launch_func":
            sizes = list(op.properties["operandSegmentSizes"].get_values())  # type: ignore[union-attr]
            given = known_bits.constant_of(op.operands[sum(sizes[:10])]) if sizes[10] else 0
            name = op.properties["kernel"].nested_references.data[-1].data  # type: ignore[union-attr]
            found[name] = max(found[name], given or 0)
    return found


def _of_amd(name: str, text: str, llvm: str, target: Target, launched: int) -> KernelCost:
    start = text.index(f"\n{name}:\n") + 1
    end = text.index(".section", start)
    body = text[start:end]
    facts = next(part for part in text[text.index(_AMD_FACTS) :].split("\n  - ")[1:]
                 if re.search(rf"\.name:\s+{re.escape(name)}\n", part))  # fmt: skip

    def fact(what: str) -> int:
        found = re.search(rf"\.{what}:\s+(\d+)", facts)
        return int(found[1]) if found else 0

    size = re.search(r"\.reqd_workgroup_size:\s+- (\d+)\s+- (\d+)\s+- (\d+)", facts)
    threads = int(size[1]) * int(size[2]) * int(size[3]) if size else None
    vector, shared = fact("vgpr_count"), fact("group_segment_fixed_size") + launched
    waves = waves_per_file(target, vector, shared, threads or fact("max_flat_workgroup_size"))
    return KernelCost(
        name, target.arch, threads, vector, fact("agpr_count"), fact("sgpr_count"),
        fact("vgpr_spill_count") + fact("sgpr_spill_count"), fact("private_segment_fixed_size"), shared, waves,
        instruction_classes(body.splitlines()[1:]), body, llvm,
    )  # fmt: skip


def _of_nvidia(name: str, text: str, llvm: str, target: Target, launched: int, said: dict[str, int]) -> KernelCost:
    start = re.search(rf"\.entry {re.escape(name)}\(", text)
    assert start is not None, name
    end = text.index("\n}\n", start.start()) + 3
    body = text[text.rindex("\n", 0, start.start()) + 1 : end]
    block = re.search(r"\.(?:reqntid|maxntid) (\d+)(?:, (\d+))?(?:, (\d+))?", body)
    threads = None if block is None else int(block[1]) * int(block[2] or 1) * int(block[3] or 1)
    arrays = re.findall(r"\.shared [^;\[]*?([\w$]+)\[(\d+)\]", text)  # of all kernels
    shared = launched + sum(int(size) for array, size in arrays if re.search(rf"(?<![\w$]){re.escape(array)}\b", body))
    registers = said.get("registers")
    waves = None if registers is None else waves_per_file(target, registers, shared, threads or target.wave_size)
    code = body[body.index("{") :].splitlines()
    return KernelCost(name, target.arch, threads, registers, None, None, said.get("spills"), said.get("stack"), shared,
                      waves, instruction_classes(code), body, llvm)  # fmt: skip


# Making the code again -------------------------------------------------------------------------


def kernel_costs(
    func: Callable[..., Any], arguments: list[Any], target: Target, hints: Hints
) -> tuple[KernelCost, ...]:
    """Return what `Specialisation.kernels` gives: costs of the kernels of a function for arguments like these."""
    # The IR libraries are loaded when code is made, and not when this package is imported.
    xdsl_loading.load(trace, driver)
    module, _ = trace.trace(func, arguments, target, hints)
    kernels = device_code.kernel_functions(module)
    names = [op.attributes["sym_name"].data for op in kernels]  # type: ignore[union-attr]
    launched = _dynamic_shared(module)
    for step in driver.passes_for(target, hints):
        step.run(module)
    family = device_family(target.backend)
    text = family.device_text(module, target, False)
    with llvm_options.option_scope(option_settings(hints)):
        assembly = family.assembly(text, target, knobs.COMPILE_OPT_LEVEL.get(), knobs.COMPILE_LLVM_DIR.get())
    if _AMD_FACTS in assembly:
        return tuple(_of_amd(name, assembly, text, target, launched[name]) for name in names)
    said = nvidia_tools.usage_by_ptxas(assembly.encode(), target.arch)
    return tuple(_of_nvidia(name, assembly, text, target, launched[name], said.get(name, {})) for name in names)

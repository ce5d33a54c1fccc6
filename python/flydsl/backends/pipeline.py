"""Every pass by name, and what follows stage A: stage B (to the llvm dialect) and stage C (binary).

A call that asks for no dump goes from the end of stage A straight to LLVM text (`device_code.py`). These passes serve
dumps, `fly-opt` and tools that take over in between; a test holds both ways to the same optimised code.

Order, and why:
- In the gpu module first convert-scf-to-cf, for LLVM has blocks only; cse while operations still have their
  meaning; then convert-gpu-to-rocdl or -nvvm, which converts all dialects of a kernel at once.
- The target is attached when the kernels are in its dialect.
- The host's part goes dialect by dialect, control flow before the arithmetic inside it; each pass leaves casts where
  types change, which reconcile-unrealized-casts removes at the end.
- The debug scope is attached to finished functions, and gpu-module-to-binary comes last.
"""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.backends.lowering.gpu_module_to_binary import gpu_module_to_binary
from flydsl.backends.lowering.kernel_conversion import convert_gpu_to_nvvm, convert_gpu_to_rocdl
from flydsl.backends.lowering.rule_conversion import convert_arith_to_llvm, convert_math_to_llvm, convert_vector_to_llvm
from flydsl.base.errors import LoweringError
from flydsl.base.records import dataclass, field
from flydsl.passes import pipeline
from flydsl.passes.convert_cf_to_llvm import convert_cf_to_llvm
from flydsl.passes.convert_func_to_llvm import convert_func_to_llvm
from flydsl.passes.convert_scf_to_cf import convert_scf_to_cf
from flydsl.passes.cse import cse
from flydsl.passes.ensure_debug_info_scope_on_llvm_func import ensure_debug_info_scope_on_llvm_func
from flydsl.passes.fly_rocdl_cluster_attr import fly_rocdl_cluster_attr
from flydsl.passes.gpu_to_llvm import gpu_to_llvm
from flydsl.passes.nvvm_attach_target import nvvm_attach_target
from flydsl.passes.pipeline import Pass
from flydsl.passes.reconcile_unrealized_casts import reconcile_unrealized_casts
from flydsl.passes.rocdl_attach_target import CODE_FLAGS, rocdl_attach_target
from flydsl.passes.shared.walk import gpu_modules
from flydsl.target.target import Target

_LATER = (
    Pass("convert-scf-to-cf", "Turn structured loops and branches into blocks.", convert_scf_to_cf),
    Pass("cse", "Compute repeated pure operations once.", cse),
    Pass(
        "convert-gpu-to-rocdl",
        "Convert kernels to the llvm and rocdl dialects.",
        convert_gpu_to_rocdl,
        ("chip",),
        {"chipset": "chip"},
        ("index-bitwidth", "runtime", "use-bare-ptr-memref-call-conv"),
    ),
    Pass("convert-gpu-to-nvvm", "Convert kernels to the llvm and nvvm dialects.", convert_gpu_to_nvvm, ("chip",)),
    Pass("fly-rocdl-cluster-attr", "Turn a kernel's cluster size into a function attribute.", fly_rocdl_cluster_attr),
    Pass(
        "rocdl-attach-target",
        "Say for which AMD GPU the kernels are compiled.",
        rocdl_attach_target,
        ("chip", "features", "O", "abi", "triple", *CODE_FLAGS),
        {},
        ("l", "module"),
    ),
    Pass(
        "nvvm-attach-target",
        "Say for which NVIDIA GPU the kernels are compiled.",
        nvvm_attach_target,
        ("chip", "features", "O"),
    ),
    Pass("convert-cf-to-llvm", "Convert branches between blocks to the llvm dialect.", convert_cf_to_llvm),
    Pass(
        "gpu-to-llvm",
        "Give launches operands of LLVM types.",
        gpu_to_llvm,
        (),
        {},
        ("use-bare-pointers-for-host", "use-bare-pointers-for-kernels", "intersperse-sizes-for-kernels"),
    ),
    Pass("convert-vector-to-llvm", "Convert vector operations to the llvm dialect.", convert_vector_to_llvm),
    Pass("convert-math-to-llvm", "Convert mathematical functions to the llvm dialect.", convert_math_to_llvm),
    Pass("convert-arith-to-llvm", "Convert arithmetic to the llvm dialect.", convert_arith_to_llvm),
    Pass("convert-func-to-llvm", "Convert functions, calls and returns to the llvm dialect.", convert_func_to_llvm),
    Pass("reconcile-unrealized-casts", "Drop the casts that conversions left behind.", reconcile_unrealized_casts),
    Pass(
        "ensure-debug-info-scope-on-llvm-func",
        "Give every function a debug scope.",
        ensure_debug_info_scope_on_llvm_func,
        (),
        {},
        ("emission-kind",),
    ),
    Pass(
        "gpu-module-to-binary",
        "Compile gpu modules for their targets.",
        gpu_module_to_binary,
        ("format",),
        {},
        ("opts", "toolkit", "section", "l"),
    ),
)

PASSES: dict[str, Pass] = pipeline.PASSES | {p.name: p for p in _LATER}
"""Every pass of the project by name."""


@dataclass(frozen=True)
class Step:
    """What one dump shows: passes that run together, on the whole module or inside its gpu modules."""

    passes: tuple[str, ...]
    options: dict[str, dict[str, str]] = field(default_factory=dict)
    in_gpu_module: bool = False
    name: str = ""

    @property
    def title(self) -> str:
        return self.name or "-".join(self.passes)

    def texts(self) -> list[str]:
        """Return the passes as a pipeline writes them: ``name`` or ``name{option=value}``."""
        shown = {name: " ".join(f"{k}={v}" for k, v in self.options.get(name, {}).items()) for name in self.passes}
        return [f"{name}{{{options}}}" if options else name for name, options in shown.items()]

    def run(self, module: Operation) -> None:
        for name in self.passes:
            for op in gpu_modules(module) if self.in_gpu_module else [module]:
                PASSES[name].run(op, **self.options.get(name, {}))


def stage_b(target: Target, level: int, debug_info: bool) -> tuple[Step, ...]:
    """From the end of stage A to the llvm dialect, the host's part and the kernels'."""
    dialect = target.family.dialect
    if not dialect:
        raise LoweringError(f"{target.arch} has no dialect of its own, so there is no stage B for it")
    convert, attach = f"convert-gpu-to-{dialect}", f"{dialect}-attach-target"
    kernels = ("convert-scf-to-cf", "cse", convert, *(("fly-rocdl-cluster-attr",) if dialect == "rocdl" else ()))
    steps = [
        Step(kernels, {convert: {"chip": target.arch}}, in_gpu_module=True, name=f"convert-scf-to-cf-cse-{convert}"),
        Step((attach,), {attach: {"chip": target.arch, "O": str(level)}}),
        Step(("convert-scf-to-cf",)),
        Step(("convert-cf-to-llvm",)),
        Step(("gpu-to-llvm",)),
        Step(("convert-vector-to-llvm",)),
        Step(("convert-math-to-llvm", "convert-arith-to-llvm"), name="convert-arith-to-llvm"),
        Step(("convert-func-to-llvm",)),
        Step(("reconcile-unrealized-casts",)),
    ]
    if debug_info:
        steps.append(Step(("ensure-debug-info-scope-on-llvm-func",)))
    return tuple(steps)


STAGE_C = Step(("gpu-module-to-binary",), {"gpu-module-to-binary": {"format": "fatbin"}})

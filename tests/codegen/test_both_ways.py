"""The short way to LLVM text and the passes of stage B end in the same code.

Every kernel of the repository is compiled both ways; after LLVM's optimiser the two must be equal up to names. The
inputs of the filecheck tests, which hold more operations than the kernels use, are compared likewise.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flydsl.backends.cuda import compile as cuda_compile
from flydsl.backends.pipeline import PASSES, stage_b
from flydsl.backends.rocm import compile as rocm_compile
from flydsl.codegen.llvm_build import optimised_text
from flydsl.codegen.module_emitter import emit_module_text
from flydsl.passes.walk import gpu_modules
from flydsl.target.target import Target
from flydsl.tools.ir_reader import read_module
from tests.codegen.repository_kernels import KERNELS, RepositoryKernel, after_stage_a, cases

FILECHECK = Path(__file__).resolve().parents[1] / "filecheck" / "passes"


def normalised(text: str) -> str:
    """LLVM text with local names replaced by numbers in order of appearance, comments dropped."""
    lines: list[str] = []
    names: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        return names.setdefault(match[0], f"%{len(names)}")

    for line in re.sub(r";.*", "", text).splitlines():
        if line.startswith("define"):
            names.clear()
        line = re.sub(r"^([\w.$-]+):", r"%\1:", line)
        lines.append(re.sub(r"%[\w.$-]+", number, line).rstrip())
    return "\n".join(line for line in lines if line)


def optimised(text: str, target: Target) -> str:
    if target.backend == "rocm":
        triple, features = rocm_compile.TRIPLE, rocm_compile.features_of(target)
    else:
        triple, features = cuda_compile.TRIPLE, cuda_compile.FEATURES[target.arch]
    return normalised(optimised_text(text, triple, target.arch, features))


@pytest.mark.parametrize(
    "kernel, arch", cases("gfx942", "sm_90a"), ids=lambda value: getattr(value, "name", value)
)  # fmt: skip
def test_every_kernel(kernel: RepositoryKernel, arch: str) -> None:
    module, target = after_stage_a(kernel, arch)
    family = rocm_compile if target.backend == "rocm" else cuda_compile
    short = family.device_text(module, target)
    for step in stage_b(target, 2, False):
        step.run(module)
    (gpu_module,) = gpu_modules(module)
    assert optimised(family.converted_text(gpu_module, target), target) == optimised(short, target)


_TO_LLVM = (
    *("convert-scf-to-cf", "convert-cf-to-llvm", "convert-vector-to-llvm", "convert-math-to-llvm"),
    *("convert-arith-to-llvm", "convert-func-to-llvm", "reconcile-unrealized-casts"),
)


@pytest.mark.parametrize("name", ["convert-scf-to-cf", "convert-vector-to-llvm", "convert-arith-to-llvm",
                                  "convert-math-to-llvm"])  # fmt: skip
def test_operations(name: str) -> None:
    text = (FILECHECK / f"{name}.mlir").read_text(encoding="utf-8")
    short = emit_module_text(read_module(text, name))
    module = read_module(text, name)
    for step in _TO_LLVM:
        PASSES[step].run(module)
    left = {op.name for op in module.walk() if not op.name.startswith(("llvm.", "builtin.module"))}
    assert not left, f"not converted: {left}"
    # Only the amount of inlining could tell calls of helpers apart, so they are compared optimised too.
    assert normalised(optimised_text(emit_module_text(module))) == normalised(optimised_text(short))


def test_normalising_tells_code_apart() -> None:
    one = "define void @f(i32 %x) {\nentry:\n  %a = add i32 %x, 1\n  ret void\n}"
    assert normalised(one) == normalised(one.replace("%a", "%other"))
    assert normalised(one) != normalised(one.replace("add", "sub"))


def test_no_kernel_is_forgotten(repository: Path) -> None:
    """A file of kernels/ that builds a kernel is compiled by the tests of this folder."""
    listed = (Path(__file__).parent / "repository_kernels.py").read_text(encoding="utf-8")
    for file in sorted((repository / "kernels").rglob("*.py")):
        builders = re.findall(r"^def (build_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
        assert not builders or any(name in listed for name in builders), f"list {file} in repository_kernels.py"
    assert len({kernel.name for kernel in KERNELS}) == len(KERNELS)

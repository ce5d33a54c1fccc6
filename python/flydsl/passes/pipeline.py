"""The passes by name and the stages they form.

Order, and why:
- fly-rewrite-func-signature first: nothing with run-time parts may cross a boundary afterwards.
- fly-canonicalize folds what became static, so that lowering sees fewer operations.
- fly-layout-lowering removes the algebra; only plain pointers and atom calls are left.
- fly-int-swizzle-simplify then shortens the bit arithmetic that swizzles left behind.
- fly-convert-atom-call-to-ssa-form turns register operands into vectors, which
- fly-promote-regmem-to-vectorssa needs to see: it follows loads and stores, not atom calls.
- convert-fly-to-rocdl or -nvvm last: atoms become instructions of the target.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import field

from flydsl.base.records import dataclass
from flydsl.passes.canonicalize import canonicalize
from flydsl.passes.convert_atom_call_to_ssa_form import convert_atom_call_to_ssa_form
from flydsl.passes.convert_fly_to_nvvm import convert_fly_to_nvvm
from flydsl.passes.convert_fly_to_rocdl import convert_fly_to_rocdl
from flydsl.passes.fly_canonicalize import fly_canonicalize
from flydsl.passes.int_swizzle_simplify import int_swizzle_simplify
from flydsl.passes.layout_lowering import lower_layouts
from flydsl.passes.mark_memory import mark_memory
from flydsl.passes.promote_regmem_to_vectorssa import promote_regmem_to_vectorssa
from flydsl.passes.rewrite_func_signature import rewrite_func_signature
from flydsl.target.family import family


@dataclass(frozen=True)
class Pass:
    """A pass: its name on the command line and in dumps, a sentence, what runs it, and the options it takes."""

    name: str
    summary: str
    run: Callable[..., None]
    options: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Options by the name upstream has for them, to ours."""
    accepted: tuple[str, ...] = ()
    """Options of upstream that change nothing here: pointers are bare, and the toolchain is the package's own."""


PASSES: dict[str, Pass] = {
    p.name: p
    for p in (
        Pass("fly-mark-memory", "Note names and layouts of memory, for the sanitizers' reports.", mark_memory),
        Pass(
            "fly-rewrite-func-signature",
            "Remove fly values from function and region boundaries.",
            rewrite_func_signature,
        ),
        Pass("fly-canonicalize", "Fold static layout algebra and drop dead values.", fly_canonicalize),
        Pass(
            "fly-layout-lowering",
            "Lower layout algebra and tiled operations to arithmetic and atom calls.",
            lower_layouts,
        ),
        Pass("fly-int-swizzle-simplify", "Shorten the bit arithmetic of swizzles.", int_swizzle_simplify),
        Pass("canonicalize", "Drop dead and repeated operations.", canonicalize),
        Pass(
            "fly-convert-atom-call-to-ssa-form",
            "Give atom calls vector operands and results.",
            convert_atom_call_to_ssa_form,
        ),
        Pass(
            "fly-promote-regmem-to-vectorssa", "Turn register memory into vector values.", promote_regmem_to_vectorssa
        ),
        Pass(
            "convert-fly-to-rocdl", "Convert fly pointers and atoms to LLVM pointers and rocdl.", convert_fly_to_rocdl
        ),
        Pass("convert-fly-to-nvvm", "Convert fly pointers and atoms to LLVM pointers and nvvm.", convert_fly_to_nvvm),
    )
}


def stage_a_names(of: str) -> tuple[str, ...]:
    """Return the passes of stage A for targets of a family; the conversion may be one that a backend brings along."""
    return (
        "fly-rewrite-func-signature",
        "fly-canonicalize",
        "fly-layout-lowering",
        "fly-int-swizzle-simplify",
        "canonicalize",
        "fly-convert-atom-call-to-ssa-form",
        "fly-promote-regmem-to-vectorssa",
        family(of).conversion,
        "canonicalize",
    )


def stage_a(of: str, checks: Collection[str] = ()) -> tuple[Pass, ...]:
    """From traced fly operations to upstream dialects with structured control flow; ``checks`` as in `with_checks`."""
    return with_checks(tuple(PASSES[name] for name in stage_a_names(of)), checks)


_WATCH_REGISTERS = frozenset({"bounds", "uninit", "async"})


def with_checks(passes: tuple[Pass, ...], checks: Collection[str]) -> tuple[Pass, ...]:
    """Stage A for the active sanitizers. Registers stay memory for those that watch them."""
    if not _WATCH_REGISTERS.isdisjoint(checks):
        passes = tuple(step for step in passes if step.name != "fly-promote-regmem-to-vectorssa")
    return (PASSES["fly-mark-memory"], *passes) if checks else passes

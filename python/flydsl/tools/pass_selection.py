"""Which passes a command line asks for, and running them.

``--fly-canonicalize --canonicalize`` runs in the order written. A pipeline names where each pass
runs: ``builtin.module(fly-canonicalize,gpu.module(canonicalize))``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from xdsl.ir import Operation

from flydsl.backends.pipeline import PASSES
from flydsl.base.records import dataclass
from flydsl.tools.original_forms import compiled_forms
from flydsl.tools.original_forms.compiled_forms import LATER
from flydsl.tools.original_forms.table import ORIGINAL

ACCEPTED: dict[str, str] = {
    "gpu-kernel-outlining": "Accepted and ignored: kernels are traced into a gpu.module of their own.",
    "fly-gpu-stream-inject": "Accepted and ignored: a launch carries its stream from the start.",
}
"""Passes that pipelines written for the original name, and that have nothing to do here."""

ROOT = "builtin.module"
ANCHORS = (ROOT, "gpu.module", "func.func", "gpu.func", "llvm.func")
_TOKEN = re.compile(r"\s*([\w.\-]+|[(),]|\{(?:[^{}]|\{[^{}]*\})*\})")


class UnknownPassError(Exception):
    """A pass or pipeline that cannot be understood."""


@dataclass(frozen=True)
class Step:
    """One pass, and the operations it runs on."""

    name: str
    anchors: tuple[str, ...] = (ROOT,)
    options: tuple[tuple[str, str], ...] = ()

    def run(self, module: Operation, as_compiled: bool = True) -> None:
        """Run the pass, in the form that the compiler has or that the original's `fly-opt` prints."""
        if self.name in PASSES:
            run = PASSES[self.name].run if as_compiled else ORIGINAL.get(self.name, PASSES[self.name].run)
            if self.name in LATER:
                compiled_forms.as_compiled(module)
            if run is PASSES[self.name].run and self.name.startswith("convert-fly-to-"):
                compiled_forms.check_copies(module)
            for op in _anchored(module, self.anchors):
                run(op, **dict(self.options))


def pass_names() -> dict[str, str]:
    """Every name a command line may use, with one line about it."""
    return {name: found.summary for name, found in PASSES.items()} | ACCEPTED


def step(name: str, options: str = "") -> Step:
    """Return the pass of that name, run on the whole module; options are written ``key=value key=value``."""
    if name not in pass_names():
        known = "\n".join(f"  {known}" for known in pass_names())
        raise UnknownPassError(f"unknown pass '{name}'; the passes are\n{known}")
    return Step(name, options=() if name in ACCEPTED else _options(name, options))


def _options(name: str, text: str) -> tuple[tuple[str, str], ...]:
    known, renamed, accepted = PASSES[name].options, PASSES[name].renamed, PASSES[name].accepted
    found: list[tuple[str, str]] = []
    for word in _words(name, text):
        key, equals, value = word.partition("=")
        if equals and key in accepted:
            continue
        key = renamed.get(key, key)
        if not known:
            raise UnknownPassError(f"pass '{name}' takes no options, got {text}")
        if key not in known or not equals:
            raise UnknownPassError(f"pass '{name}' takes {', '.join(f'{k}=…' for k in known)}, got '{word}'")
        found.append((key, value))
    return tuple(found)


def _words(name: str, text: str) -> list[str]:
    """``key=value`` one by one; quotes or braces keep a value with spaces together, as upstream has it."""
    inner = text.strip()
    if inner.startswith("{") and inner.endswith("}"):
        inner = inner[1:-1]
    try:
        return shlex.split(re.sub(r"=\{([^{}]*)\}", r"='\1'", inner))
    except ValueError as error:
        raise UnknownPassError(f"the options of pass '{name}' end inside a quotation: {text}") from error


def parse_pipeline(text: str) -> list[Step]:
    """``builtin.module(a,gpu.module(b,c))`` as steps; the outer ``builtin.module`` may be left out."""
    tokens = _tokens(text)
    steps = list(_steps(tokens, ()))
    if tokens:
        raise UnknownPassError(f"the pipeline '{text}' closes a parenthesis it never opened")
    return steps


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise UnknownPassError(f"cannot read the pipeline '{text}' from column {at + 1} on")
        tokens.append(match[1])
        at = match.end()
    return tokens[::-1]


def _steps(tokens: list[str], around: tuple[str, ...]) -> Iterator[Step]:
    """Consume tokens (kept last first) up to the closing parenthesis of ``around``."""
    while tokens and tokens[-1] != ")":
        name = tokens.pop()
        if name == ",":
            continue
        if tokens and tokens[-1] == "(":
            if name not in ANCHORS:
                raise UnknownPassError(f"a pipeline nests in {', '.join(ANCHORS)}, not in '{name}'")
            tokens.pop()
            yield from _steps(tokens, (*around, name))
            if not tokens:
                raise UnknownPassError(f"the pipeline never closes the parenthesis after '{name}'")
            tokens.pop()
            continue
        found = step(name, tokens.pop() if tokens and tokens[-1].startswith("{") else "")
        yield Step(found.name, around or (ROOT,), found.options)


def _anchored(module: Operation, anchors: tuple[str, ...]) -> list[Operation]:
    """Return the operations that ``anchors``, read from outside in, lead to."""
    found = [module]
    for anchor in anchors[1:] if anchors[0] == ROOT else anchors:
        found = [
            op for outer in found for region in outer.regions for block in region.blocks for op in block.ops
            if op.name == anchor
        ]  # fmt: skip
    return found

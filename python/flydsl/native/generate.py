"""Make the LLVM text and the constants of this package from its C sources: `python -m flydsl.native.generate`.

It needs clang and opt of LLVM 22. clang writes each source for two processors without optimising; what differs is
removed (target lines, attributes of calling conventions), and the rest has to be the same. `opt`, knowing of no target,
tidies up what is compiled as a part of kernels, and optimises what is compiled on its own: a user's machine then only
has to write the code.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
SOURCES = FOLDER / "src"
TRIPLES = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")
LAYOUT = 'target datalayout = "e-m:e-i64:64-i128:128-n32:64-S128"\n'
"""What both have in common."""
_CLANG = (
    "clang-22", "-S", "-emit-llvm", "-O1", "-Xclang", "-disable-llvm-passes", "-std=c11", "-ffreestanding",
    "-fno-strict-aliasing", "-fno-finite-loops", "-ffp-contract=off", "-fno-stack-protector",
    "-fno-discard-value-names", "-Wall", "-Wextra", "-Werror", "-o", "-",
)  # fmt: skip
_TIDY, _OPTIMISE = "function(sroa,early-cse,simplifycfg,instcombine,simplifycfg)", "default<O2>"
_KEPT = ("noinline", "alwaysinline", "noreturn")
"""Attributes of functions that the text keeps; LLVM finds out the others itself."""
_DROPPED = re.compile(
    r",? !\S+ ![0-9]+|,? #[0-9]+|\b(?:noundef|zeroext|signext|dso_local|local_unnamed_addr|unnamed_addr|noalias)\b ?"
)
_DEFINED = re.compile(r"^define (?:internal )?(.* @fly\.)")
_ENUM = re.compile(r"enum (\w+) \{(.*?)\};", re.DOTALL)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def common_text(name: str, triple: str) -> str:
    """Return the text of one source for a processor, without what belongs to that processor."""
    command = [*_CLANG, f"--target={triple}", f"{name}.c"]
    return _stripped(subprocess.run(command, cwd=SOURCES, check=True, capture_output=True, text=True).stdout)


def _stripped(text: str) -> str:
    groups = dict(re.findall(r"^attributes (#[0-9]+) = \{ (.*) \}$", text, re.MULTILINE))
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(("; ModuleID", "source_filename", "target ", "attributes ", "!", "; Function Attrs")):
            continue
        if line.startswith("declare") and "@llvm." in line:
            continue  # LLVM's reader knows its own functions
        found = re.search(r" (#[0-9]+) \{$", line)
        kept = [word for word in _KEPT if found and word in groups[found[1]].split()]
        line = _DEFINED.sub(r"define internal \1", _DROPPED.sub("", line))
        lines.append(f"{line.removesuffix(' {')} {' '.join(kept)} {{" if kept else line)
    return re.sub("\n{3,}", "\n\n", "\n".join(lines))


def generated_text(name: str) -> str:
    """Return what is committed for one source."""
    text, other = (common_text(name, triple) for triple in TRIPLES)
    if text != other:
        raise ValueError(f"{name}.c is not the same for every processor")
    passes = _OPTIMISE if re.search("^define (?!internal )", text, re.MULTILINE) else _TIDY
    command = ["opt-22", "-S", f"-passes={passes}", "-o", "-"]
    tidy = subprocess.run(command, input=LAYOUT + text, check=True, capture_output=True, text=True).stdout
    return f"; Made from src/{name}.c by `python -m flydsl.native.generate`.\n{_own_names(_stripped(tidy), name)}\n"


def _own_names(text: str, name: str) -> str:
    """Return the text with its private functions and variables under names that no kernel has."""
    private = re.findall(r"^define internal .* @(\w+)\(|^@(\S+) = ", text, re.MULTILINE)
    names = "|".join(re.escape(function or variable) for function, variable in private)
    return re.sub(rf"@({names})(?![\w.])", rf"@fly.{name}.\1", text) if names else text


def source_names() -> list[str]:
    return sorted(path.stem for path in SOURCES.glob("*.c"))


# Constants -----------------------------------------------------------------------------------------------------------


def constants_text() -> str:
    """Return the enums of the header as Python."""
    lines = ['"""Numbers of `src/native.h`, made by `python -m flydsl.native.generate`."""', ""]
    lines.append("from __future__ import annotations")
    known: dict[str, int] = {}
    for _, body in _ENUM.findall(_COMMENT.sub("", (SOURCES / "native.h").read_text())):
        lines.append("")
        following = 0
        for member in filter(None, (part.strip() for part in body.split(","))):
            name, _, value = (part.strip() for part in member.partition("="))
            following = sum(_number(part, known) for part in value.split("+")) if value else following
            known[name] = following
            lines.append(f"{name} = {following}")
            following += 1
    return "\n".join(lines) + "\n"


def _number(text: str, known: dict[str, int]) -> int:
    word = text.strip()
    return known[word] if word in known else int(word, 0)


def main() -> None:
    for name in source_names():
        (FOLDER / f"{name}.ll").write_text(generated_text(name))
    (FOLDER / "constants.py").write_text(constants_text())


if __name__ == "__main__":
    sys.exit(main())

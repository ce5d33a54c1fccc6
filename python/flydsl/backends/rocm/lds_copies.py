"""Copies from memory straight into LDS, as LLVM is told of them.

LLVM takes such a copy for a write that any read of LDS may depend on, and has each of them wait until every copy has
landed, those for later stages included. The language orders reads and copies by waits and barriers, which the program
writes; so here reads and copies are given scopes that do not alias, and LLVM moves no access across a wait or a
barrier. The fences cost no instruction: their scope is the thread itself.

    call void @llvm.amdgcn.raw.ptr.buffer.load.lds(...), !alias.scope !2
    fence syncscope("singlethread") acq_rel
    call void @llvm.amdgcn.s.waitcnt(i32 3953)
    fence syncscope("singlethread") acq_rel
    %x = load <4 x i32>, ptr addrspace(3) %p, align 16, !alias.scope !3, !noalias !2
"""

from __future__ import annotations

import re

_COPY = re.compile(r"call void @llvm\.amdgcn\.(?:raw\.ptr\.buffer|global)\.load\.lds\b")
_READ = re.compile(r"= load (?!atomic|volatile)[^@]*, ptr addrspace\(3\) |= call .*@llvm\.amdgcn\.ds\.read\.tr")
_ORDER = re.compile(r"call void @llvm\.amdgcn\.s\.(?:waitcnt|barrier)\(")
_FENCE = '  fence syncscope("singlethread") acq_rel'
_NODE = re.compile(r"^!(\d+) = ", re.MULTILINE)


def order_lds_copies(text: str) -> str:
    """LLVM text whose reads of LDS wait for copies into it where the program says so, and nowhere else."""
    if not _COPY.search(text):
        return text
    first = max((int(number) for number in _NODE.findall(text)), default=-1) + 1
    copies, reads = f"!{first + 3}", f"!{first + 4}"
    lines = []
    for line in text.splitlines():
        if _COPY.search(line):
            lines.append(f"{line}, !alias.scope {copies}")
        elif _READ.search(line):
            lines.append(f"{line}, !alias.scope {reads}, !noalias {copies}")
        elif _ORDER.search(line):
            lines += [_FENCE, line, _FENCE]
        else:
            lines.append(line)
    lines += [
        f'!{first} = !{{!"lds"}}',
        f'!{first + 1} = !{{!"copies", !{first}}}',
        f'!{first + 2} = !{{!"reads", !{first}}}',
        f"{copies} = !{{!{first + 1}}}",
        f"{reads} = !{{!{first + 2}}}",
    ]
    return "\n".join(lines) + "\n"

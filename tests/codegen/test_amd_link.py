"""Our linker of AMD objects beside `ld.lld`: the same segments, sections, symbols, notes and instructions."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from flydsl.backends.rocm import compile as rocm_compile
from flydsl.base.errors import LoweringError
from flydsl.codegen import code_object
from flydsl.codegen.amd_link import Unlinkable, linked
from flydsl.codegen.code_object import Linking
from tests.codegen.amd_tools import disassembled, read_with, tool
from tests.codegen.repository_kernels import AMD, RepositoryKernel, after_stage_a, cases

ONE_OF_EACH = [cases(arch)[0] for arch in AMD if arch != "gfx942"]
OURS_ALONE = (".comment", ".shstrtab")
"""Sections that say who linked, and of what names."""


def object_of(kernel: RepositoryKernel, arch: str, line_tables: bool = False) -> bytes:
    module, target = after_stage_a(kernel, arch)
    text = rocm_compile.device_text(module, target, line_tables)
    return rocm_compile.build_for(target, 2).object_code(text)


def sections(data: bytes, folder: Path) -> list[list[str]]:
    """Name, kind, address, size, entry size, flags, alignment of each section; where loaded ones are in the file."""
    rows = []
    for line in read_with("llvm-readelf", ["-S", "-W"], data, folder).splitlines():
        if not line.lstrip().startswith("[") or "Name" in line or "] .  " in line:
            continue
        cells = line.split("]", 1)[1].split()
        if len(cells) < 9 or cells[0] in OURS_ALONE:
            continue
        loaded = int(cells[2], 16) != 0
        rows.append([*cells[:3], cells[3] if loaded else "", *cells[4:-3], cells[-1]])
    return rows


def same(ours: bytes, theirs: bytes, folder: Path) -> None:
    assert sections(ours, folder) == sections(theirs, folder)
    hashes = ["--hash-table", "--gnu-hash-table"]
    for flags in (["-l"], ["-s", "--dyn-syms"], ["-d"], ["-n"], ["-r"], hashes, ["-x", ".rodata"]):
        first, second = (read_with("llvm-readelf", [*flags, "-W"], data, folder) for data in (ours, theirs))
        first, second = (text.replace(" .comment", "") for text in (first, second))
        assert first == second, flags
    assert disassembled(ours, folder) == disassembled(theirs, folder)
    assert ours[:20] == theirs[:20] and ours[48:52] == theirs[48:52]  # kind, machine and the processor's flags


def with_lld(data: bytes) -> bytes:
    return Linking(data, (tool("ld.lld"),)).result()


@pytest.mark.parametrize("kernel, arch", [*cases("gfx942"), *ONE_OF_EACH], ids=lambda v: getattr(v, "name", v))
def test_the_same_code_object_as_a_linker_makes(kernel: RepositoryKernel, arch: str, tmp_path: Path) -> None:
    data = object_of(kernel, arch)
    same(linked(data), with_lld(data), tmp_path)


def test_line_tables_are_kept(tmp_path: Path) -> None:
    kernel, arch = cases("gfx942")[0]
    data = object_of(kernel, arch, line_tables=True)
    ours, theirs = (read_with("llvm-dwarfdump", ["--debug-line"], d, tmp_path) for d in (linked(data), with_lld(data)))
    assert "vectorAdd" in ours
    assert ours == theirs


def assembled(source: str, folder: Path) -> bytes:
    """The object of a few lines of assembly."""
    (folder / "a.s").write_text(source)
    command = [tool("llvm-mc"), "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-filetype=obj", "a.s", "-o", "a.o"]
    subprocess.run(command, cwd=folder, check=True)
    return (folder / "a.o").read_bytes()


REFERENCES = """
.text
.globl f
.protected f
.type f,@function
f:
  s_getpc_b64 s[0:1]
  s_add_u32 s0, s0, table@rel32@lo+4
  s_addc_u32 s1, s1, table@rel32@hi+12
  s_add_u32 s0, s0, g@rel32@lo+4
  s_endpgm
.size f, .-f
.section .text.more,"ax",@progbits
.hidden g
.globl g
g:
  s_nop 3
  s_endpgm
.section .rodata.cst16,"aM",@progbits,16
.p2align 4
table:
  .long 1,2,3,4
.section .rodata,"a",@progbits
.p2align 6
place:
  .quad f - .
  .long absolute
.set absolute, 77
"""


def test_references_between_sections(tmp_path: Path) -> None:
    data = assembled(REFERENCES, tmp_path)
    ours, theirs = linked(data), with_lld(data)
    names = [read_with("llvm-nm", ["--no-sort"], d, tmp_path).splitlines() for d in (ours, theirs)]
    assert [row.split()[1:] for row in names[0]] == [row.split()[1:] for row in names[1]]
    assert "t g" in "\n".join(names[0])  # hidden, so it is nobody else's
    address = {row.split()[2]: int(row.split()[0], 16) for row in names[0]}
    image = loaded(ours)
    code = address["f"]
    low, high = struct.unpack_from("<I", image, code + 8)[0], struct.unpack_from("<i", image, code + 16)[0]
    assert code + 4 + (high << 32 | low) == address["table"]
    assert struct.unpack_from("<4I", image, address["table"]) == (1, 2, 3, 4)
    assert address["place"] + struct.unpack_from("<q", image, address["place"])[0] == address["f"]
    assert struct.unpack_from("<I", image, address["place"] + 8) == (77,)


def loaded(data: bytes) -> bytes:
    """A code object as a loader has it in memory."""
    start, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    image = bytearray(1 << 16)
    for number in range(count):
        kind, _, offset, address, _, in_file, _, _ = struct.unpack_from("<IIQQQQQQ", data, start + number * size)
        if kind == 1:
            image[address : address + in_file] = data[offset : offset + in_file]
    return bytes(image)


@pytest.mark.parametrize(
    "source, refused",
    [
        (".globl f\nf:\n s_getpc_b64 s[0:1]\n s_add_u32 s0, s0, h@rel32@lo+4\n", "leaves 'h' to another object"),
        (".globl f\nf:\n s_endpgm\n.data\nd: .quad 5\n", "section .data is written to"),
        (".globl f\nf:\n s_endpgm\n.section .rodata\nd: .quad f\n", "the address of 'f', which only the loader knows"),
        (".globl f\nf:\n s_add_u32 s0, s0, f@gotpcrel32@lo+4\n", "relocations of kind 8"),
        (".globl f\nf:\n s_endpgm\n.section .rodata\nd: .quad f-.\n", "'f', which another object may replace"),
        (".section .rodata\nd: .quad 1\n", "has no code"),
    ],
    ids=["undefined", "written", "absolute", "got", "replaceable", "no code"],
)
def test_what_it_cannot_link_it_refuses(source: str, refused: str, tmp_path: Path) -> None:
    with pytest.raises(Unlinkable, match=refused):
        linked(assembled(source, tmp_path))


WRITTEN = ".globl f\nf:\n s_endpgm\n.data\nd: .quad 5\n"


def test_what_it_refuses_goes_to_a_linker(tmp_path: Path) -> None:
    assert ".data" in read_with("llvm-readelf", ["-S"], Linking(assembled(WRITTEN, tmp_path)).result(), tmp_path)


def test_without_any_linker_kernels_are_linked_and_the_rest_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_object, "_NAMES", ())
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    monkeypatch.setattr(code_object.importlib.util, "find_spec", lambda name: None)
    code_object.linker_command.cache_clear()
    data = object_of(*cases("gfx942")[0])
    assert Linking(data).result() == linked(data)
    with pytest.raises(LoweringError, match=r"section \.data is written to, and no ld\.lld was found"):
        Linking(assembled(WRITTEN, tmp_path))
    code_object.linker_command.cache_clear()


def test_no_process_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a linker was started")

    data = object_of(*cases("gfx942")[0])
    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert Linking(data).result()[:4] == b"\x7fELF"

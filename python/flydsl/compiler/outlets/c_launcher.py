"""The C header and C source of an exported jit function.

The header has one typed function to launch with, one that explains a status, and two that load and unload. The source
checks the arguments, packs them as the native entry wants them and calls it. What does not depend on the function is
kept as C in `export_runtime/`, and copied into the source, so that an export needs nothing but itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from importlib import resources
from pathlib import PurePath
from typing import Any

from flydsl.backends.launcher import field_offsets
from flydsl.base import native_names
from flydsl.base.native_names import DRIVER_ATTRIBUTES_ENTRY, DRIVER_ENTRY, ENTRY, TENSOR_MAP_ENTRY, handle_symbol
from flydsl.base.records import dataclass
from flydsl.compiler.artifacts.artifact import STATUS
from flydsl.compiler.outlets.c_arguments import CArgument, comment, declaration
from flydsl.target.family import family

STATUSES: dict[str, tuple[int, str]] = {
    "OK": (0, "it went well"),
    "BAD_BLOCK": (native_names.BAD_BLOCK, "a block extent is below 1, or the block has too many threads"),
    "BAD_GRID": (native_names.BAD_GRID, "a grid extent is negative or too large"),
    "NO_MEMORY": (native_names.NO_MEMORY, "there was no memory for a workgroup"),
    "BAD_ARGUMENT": (native_names.BAD_ARGUMENT, "an argument is not what the code was compiled for"),
    "NOT_LOADED": (native_names.NOT_LOADED, "the code is on no device yet"),
    "NO_DRIVER": (native_names.NO_DRIVER, "the driver's library is not on this machine"),
    "BAD_CLUSTER": (native_names.BAD_CLUSTER, "the grid is no whole number of clusters"),
    "BAD_SHARED": (native_names.BAD_SHARED, "a launch asks for too few or too many bytes of shared memory"),
    "BAD_MAP_ADDRESS": (native_names.BAD_MAP_ADDRESS, "a tensor does not start where the copy engine can read"),
    "BAD_MAP_STRIDE": (native_names.BAD_MAP_STRIDE, "a tensor's rows are not padded as the copy engine needs them"),
    "BAD_MAP_EXTENT": (native_names.BAD_MAP_EXTENT, "a tensor is empty, or too long for the copy engine"),
    "BAD_LAYOUT": (native_names.BAD_LAYOUT, "a kernel's layout algebra has no answer for an extent or stride"),
    "BAD_RESIDENT": (native_names.BAD_RESIDENT, "blocks wait for each other, and are too many to run at once"),
    "SITE_BASE": (native_names.SITE_BASE, "from here on: a failure that a kernel found, at a place in its source"),
    "DRIVER_BASE": (native_names.DRIVER_BASE, "from here on: the driver's own status plus this number"),
}
"""Name -> number and meaning of what a launcher returns."""

LOCAL_NAMES = frozenset(
    {"block", "report", "status", "refuse", "explain", "device_ready", "device_enter", "device_leave"}
)
"""Names that the body of the launch function uses, which no parameter may hide."""

_OPTIONAL_MACROS = {TENSOR_MAP_ENTRY: "TENSOR_MAP_ENCODE", DRIVER_ATTRIBUTES_ENTRY: "DRIVER_LAUNCH_EX"}
"""Entries of the driver that only some launchers call -> what the C of the device calls them."""


@dataclass(frozen=True)
class CFunction:
    """Everything that the C of one exported function is written from."""

    name: str
    python_name: str
    version: str
    device: str
    target: str
    shared_bytes: int
    arguments: tuple[CArgument, ...]
    constants: Mapping[str, str]
    kernels: tuple[str, ...]
    sites: tuple[tuple[str, int, str], ...]
    binary: bytes
    tensor_maps: bool = False
    """Whether the launcher asks the driver to make tensor maps."""
    launch_attributes: bool = False
    """Whether the launcher launches with attributes, such as pdl=True."""
    writes: frozenset[int] = frozenset()
    """Numbers of the argument block that are addresses behind which the code may write."""

    @cached_property
    def symbols(self) -> dict[str, str]:
        """Symbols of the native launcher -> the names they have in the exported object."""
        own = {ENTRY: f"{self.name}_{ENTRY}"}
        if not family(self.device).virtual:
            own |= {name: f"{self.name}_{name}" for name in (DRIVER_ENTRY, *self._optional_entries)}
            own |= {handle_symbol(kernel): f"{self.name}_handle{i}" for i, kernel in enumerate(self.kernels)}
        return own

    @property
    def _optional_entries(self) -> list[str]:
        asked = {TENSOR_MAP_ENTRY: self.tensor_maps, DRIVER_ATTRIBUTES_ENTRY: self.launch_attributes}
        return [name for name, is_used in asked.items() if is_used]

    @property
    def argument_format(self) -> str:
        return "".join(slot.form for argument in self.arguments for slot in argument.slots)

    @property
    def prototype(self) -> str:
        parameters = ", ".join(declaration(a.c_type, a.name) for a in self.arguments)
        return f"int32_t {self.name}_launch({parameters})"


_C_ESCAPES = {'"': r"\"", "\\": r"\\", "\n": r"\n", "\t": r"\t", "?": r"\?"}
"""A question mark is among them because two begin a trigraph."""


def c_string(text: str) -> str:
    """Return a C string literal."""
    return '"' + "".join(map(_in_c, text)) + '"'


def _in_c(character: str) -> str:
    """Return a character in a C literal. Octal escapes have three digits, so what follows them cannot join in, as with
    hex."""
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that is no UTF-8, as Python holds it
        return f"\\{code - 0xDC00:03o}"
    return _C_ESCAPES.get(character) or (character if code >= 32 and code != 127 else f"\\{code:03o}")


_ERROR_NOTES = (
    "What a status means, with the kernel's file and line where it has one. For the last failure of the calling thread",
    "the text has its details. It stays valid until the thread's next failure.",
)

# Header ----------------------------------------------------------------------------------------


def header_text(function: CFunction) -> str:
    """Return the header: C11 or newer, and C++."""
    guard = f"FLY_EXPORT_{function.name.upper()}_H"
    parts = [
        comment(_title(function)),
        f"#ifndef {guard}\n#define {guard}",
        "#include <stdbool.h>\n#include <stdint.h>",
        '#ifdef __cplusplus\nextern "C" {\n#endif',
        *_typedefs(function),
        _status_enum(function),
        comment(_launch_notes(function)),
        f"{function.prototype};",
        comment(_ERROR_NOTES),
        f"const char *{function.name}_error(int32_t status);",
        comment(_load_notes(function)),
        f"int32_t {function.name}_load(int32_t device);\nvoid {function.name}_unload(void);",
        "#ifdef __cplusplus\n}\n#endif",
        "#endif",
    ]
    return "\n\n".join(parts) + "\n"


def _title(function: CFunction) -> list[str]:
    virtual = family(function.device).virtual
    where = f"on the host, as a virtual {function.target}" if virtual else f"on {function.target}"
    objects = f", {function.name}.o and fly_pool.o" if virtual else f" and {function.name}.o"
    link = f"{function.name}.c{objects}, {family(function.device).export_links}"
    return [
        f"{function.name}: the jit function '{function.python_name}', exported by FlyDSL {function.version}.",
        "",
        f"Runs {where}. Link {link}.",
    ]


def _typedefs(function: CFunction) -> list[str]:
    """Return the types of the arguments; those of tensors are the same in every export, and defined once."""
    found = {name: text for argument in function.arguments for name, text in argument.typedefs.items()}
    return [
        f"#ifndef {name.upper()}_DEFINED\n#define {name.upper()}_DEFINED\n{text}\n#endif"
        for name, text in found.items()
    ]


def _status_enum(function: CFunction) -> str:
    prefix = function.name.upper()
    rows = [f"    {prefix}_{name} = {number}, /* {meaning} */" for name, (number, meaning) in STATUSES.items()]
    return "\n".join(["enum {", *rows, "};"])


def _launch_notes(function: CFunction) -> list[str]:
    when = "and returns when it is done" if family(function.device).virtual else "and returns when it is on the stream"
    lines = [f"Runs '{function.python_name}' {when}; 0, or a status that {function.name}_error explains.", ""]
    for argument in function.arguments:
        lines.append(f"{argument.name}: {argument.notes[0]}")
        lines += [f"    {note}" for note in argument.notes[1:]]
    lines += [f"compiled in: {name} = {value}" for name, value in function.constants.items()]
    return lines


def _load_notes(function: CFunction) -> list[str]:
    name = function.name
    if family(function.device).virtual:
        return [
            f"Starts the thread pool; {name}_launch does so by itself. There is only device 0. Unloading does nothing."
        ]
    return [
        f"Brings the kernels onto a device; needed once before {name}_launch. They are on one device at a time: unload",
        "them, when nothing runs any more, before loading them on another.",
    ]


# Source ----------------------------------------------------------------------------------------


def source_text(function: CFunction) -> str:
    """Return the source: C11 with what gcc and clang add to it."""
    runtime = resources.files("flydsl.compiler.outlets").joinpath("export_runtime")
    device = family(function.device).export_parts
    parts = [
        comment([*_title(function)[:1], f"See {function.name}.h."]),
        "#define _GNU_SOURCE",
        f'#include "{function.name}.h"',
        "\n".join(f"#include <{name}>" for name in family(function.device).export_includes),
        "\n".join(
            ["enum {", *(f"    STATUS_{name} = {number}," for name, (number, _) in STATUSES.items() if number), "};"]
        ),
        _sites(function),
        *([] if family(function.device).virtual else [_image(function), _kernel_table(function)]),
        *(runtime.joinpath(part).read_text().rstrip() for part in ("common.c", *device)),
        _block(function),
        _explain(function),
        _launch(function),
        _other_functions(function),
    ]
    return "\n\n".join(parts) + "\n"


def _sites(function: CFunction) -> str:
    """Places that a failure can name. Files go by their last name: where they lay on this machine helps nobody."""
    rows = []
    for file, line, text in function.sites:
        message, _, help_ = text.partition("\n")
        place = f"{PurePath(file).name}:{line}" if file else function.python_name
        rows.append(f"    {{{c_string(place)}, {c_string(message)}, {c_string(help_)}}},")
    head = "/* Places that a failure can name. */\nstatic const struct {\n    const char *place, *message, *help;\n}"
    body = "\n".join(rows or ['    {"", "", ""},'])
    counts = f"#define FUNCTION {c_string(function.python_name)}\n#define SITES {len(rows)}"
    return f"{counts}\n\n{head} sites[] = {{\n{body}\n}};"


def _image(function: CFunction) -> str:
    """Return the device binary, ending in a zero, which PTX needs and a code object does not mind."""
    data = function.binary + b"\0"
    rows = (", ".join(map(str, data[start : start + 32])) for start in range(0, len(data), 32))
    body = ",\n    ".join(rows)
    return f"_Alignas(4096) static const unsigned char image[] = {{\n    {body}}};"


def _kernel_table(function: CFunction) -> str:
    symbols = function.symbols
    rows = [f"    {{{c_string(kernel)}, &{symbols[handle_symbol(kernel)]}}}," for kernel in function.kernels]
    return "\n".join(
        [
            "/* Set when the code is loaded, read by the native launcher. */",
            *(f"extern void *{new};" for old, new in symbols.items() if old != ENTRY),
            "",
            f"#define DRIVER_LAUNCH {symbols[DRIVER_ENTRY]}",
            *(f"#define {macro} {symbols[name]}" for name, macro in _OPTIONAL_MACROS.items() if name in symbols),
            f"#define SHARED_BYTES {function.shared_bytes}",
            f"#define KERNELS {len(function.kernels)}",
            "",
            "static const struct {\n    const char *name;\n    void **handle;\n} kernels[] = {",
            *(rows or ["    {NULL, NULL},"]),
            "};",
        ]
    )


def _slots(function: CFunction) -> list[Any]:
    return [slot for argument in function.arguments for slot in argument.slots]


def _block(function: CFunction) -> str:
    """Return the argument block as a struct, with its offsets asserted: the native entry reads it by offset."""
    slots = _slots(function)
    fields = [f"    {declaration(slot.c_type, f'slot{i}')};" for i, slot in enumerate(slots)]
    checks = [
        f'_Static_assert(offsetof(struct block, slot{i}) == {offset}, "the argument block is laid out otherwise");'
        for i, offset in enumerate(field_offsets(function.argument_format))
    ]
    entry = f"extern int32_t {function.symbols[ENTRY]}(void *block, int64_t *report);"
    return "\n".join(["struct block {", *fields, "};", "", *checks, "", entry])


_FIELDS = re.compile(r"\{(\w+)\}")
_FILLED = {
    "grid": ("%s", "extents(buffer, sizeof buffer, report)"),
    "block": ("%s", "extents(buffer, sizeof buffer, report == NULL ? NULL : report + 3)"),
    "tensor": ("%s", "message_of(about, sizeof about, report)"),
    "help": ("%s", "help_of(report)"),
}


def _filled(field: str) -> tuple[str, str]:
    """Return what stands for a field of a message in C's format, and the value; a number is one of the report."""
    return _FILLED.get(field) or ("%lld", f"number_of(report, {field})")


def _explain(function: CFunction) -> str:
    """Return a function that writes the text of a status that the native entry returned."""
    cases = []
    for status, (message, hint) in STATUS.items():
        sentence = f"{message}; {hint}"
        values = ["place_of(report)", *(_filled(name)[1] for name in _FIELDS.findall(sentence))]
        form = _FIELDS.sub(lambda field: _filled(field[1])[0], sentence)
        text = c_string(f"%s: a launch in '{function.python_name}' {form}")
        cases.append(
            f"    case {status}:\n        snprintf(text, sizeof text, {text}, {', '.join(values)});\n        break;"
        )
    return "\n".join(
        [
            "static void explain(int32_t status, const int64_t *report) {",
            "    char buffer[96] = {0}, about[512] = {0};",
            "    (void)buffer;",
            "    (void)about;",
            "    text_status = status;",
            "    switch (status) {",
            *cases,
            "    default:",
            "        if (status >= STATUS_DRIVER_BASE)",
            "            explain_driver_at(status - STATUS_DRIVER_BASE, report);",
            "        else if (status >= STATUS_SITE_BASE && status < STATUS_SITE_BASE + SITES)",
            "            explain_site(status - STATUS_SITE_BASE);",
            "        else",
            '            say("status %lld has no meaning here", status);',
            "    }",
            "}",
        ]
    )


def _launch(function: CFunction) -> str:
    refusals = [
        f"    if ({check.condition})\n"
        f"        return refuse(STATUS_BAD_ARGUMENT, {c_string(check.message)}, (long long)({check.value}));"
        for argument in function.arguments
        for check in argument.checks
    ]
    values = ",\n        ".join(slot.expression for slot in _slots(function))
    return "\n".join(
        [
            f"{function.prototype} {{",
            *refusals,
            f"    struct block block = {{\n        {values}}};",
            "    int64_t report[7] = {0};",
            "    int32_t status = device_ready();",
            "    if (status == 0)",
            "        status = device_enter();",
            "    if (status != 0)",
            "        return status;",
            f"    status = {function.symbols[ENTRY]}(&block, report);",
            "    device_leave();",
            "    if (status != 0)",
            "        explain(status, report);",
            "    return status;",
            "}",
        ]
    )


def _other_functions(function: CFunction) -> str:
    meanings = [
        f"    case {number}:\n        return {c_string(meaning)};"
        for name, (number, meaning) in STATUSES.items()
        if name in ("OK", "BAD_ARGUMENT", "NOT_LOADED", "NO_DRIVER")
    ]
    return "\n".join(
        [
            f"const char *{function.name}_error(int32_t status) {{",
            "    if (status != 0 && status == text_status)",
            "        return text;",
            "    switch (status) {",
            *meanings,
            "    default:",
            "        explain(status, NULL);",
            "        return text;",
            "    }",
            "}",
            "",
            f"int32_t {function.name}_load(int32_t device) {{ return load_once(device); }}",
            "",
            f"void {function.name}_unload(void) {{ unload_once(); }}",
        ]
    )

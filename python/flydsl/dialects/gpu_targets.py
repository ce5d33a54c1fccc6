"""Targets of gpu modules and the binaries made for them: attributes of upstream that xDSL lacks.

gpu.module @kernels [#rocdl.target<chip = "gfx942">] { … }
gpu.binary @kernels [#gpu.object<#rocdl.target<chip = "gfx942">, bin = "\7FELF…">]
"""

from __future__ import annotations

from xdsl.dialects.builtin import BytesAttr, DictionaryAttr, IntegerAttr, StringAttr, i32
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from flydsl.base.errors import DslValueError

# What xDSL lacks of the gpu dialect -----------------------------------------------------------


class ShuffleMode(StrEnum):
    """Which lane a shuffle reads."""

    XOR = "xor"
    UP = "up"
    DOWN = "down"
    IDX = "idx"


@irdl_attr_definition
class ShuffleModeAttr(EnumAttribute[ShuffleMode], SpacedOpaqueSyntaxAttribute):
    """``#gpu<shuffle_mode xor>``"""

    name = "gpu.shuffle_mode"


class _Target(ParametrizedAttribute):
    """``<O = 3, chip = "gfx942">``: what differs from upstream's defaults, by name."""

    entries: DictionaryAttr

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.entries.data.items(), lambda item: _print_entry(printer, *item))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        if parser.parse_optional_punctuation("<") is None:
            return [DictionaryAttr({})]
        entries: dict[str, Attribute] = {}
        while parser.parse_optional_punctuation(">") is None:
            key = parser.parse_identifier()
            parser.parse_punctuation("=")
            value = parser.parse_optional_integer()
            entries[key] = IntegerAttr(value, i32) if value is not None else parser.parse_attribute()
            parser.parse_optional_punctuation(",")
        return [DictionaryAttr(entries)]

    def text(self, key: str, default: str = "") -> str:
        """Return the value of an entry that is a string."""
        found = self.entries.data.get(key)
        return found.data if isinstance(found, StringAttr) else default

    def number(self, key: str, default: int) -> int:
        found = self.entries.data.get(key)
        return found.value.data if isinstance(found, IntegerAttr) else default

    @classmethod
    def of(cls, **entries: str | int) -> _Target:
        """Return a target from its entries, empty ones left out."""
        kept = {key: value for key, value in entries.items() if value != ""}
        return cls(
            DictionaryAttr({k: IntegerAttr(v, i32) if isinstance(v, int) else StringAttr(v) for k, v in kept.items()})
        )


def _print_entry(printer: Printer, key: str, value: Attribute) -> None:
    printer.print_string(f"{key} = ")
    if isinstance(value, IntegerAttr):
        printer.print_string(str(value.value.data))
    else:
        printer.print_attribute(value)


@irdl_attr_definition
class RocdlTargetAttr(_Target):
    """``#rocdl.target<chip = "gfx942">``"""

    name = "rocdl.target"


@irdl_attr_definition
class NvvmTargetAttr(_Target):
    """``#nvvm.target<chip = "sm_90a", features = "+ptx88">``"""

    name = "nvvm.target"


_FORMATS = ("offload", "assembly", "bin", "fatbin")


@irdl_attr_definition
class ObjectAttr(ParametrizedAttribute):
    """``#gpu.object<#rocdl.target, bin = "…">``: code for one target."""

    name = "gpu.object"

    target: Attribute
    format: StringAttr
    data: BytesAttr

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.target)
            printer.print_string(", ")
            if self.format.data != "fatbin":
                printer.print_string(f"{self.format.data} = ")
            printer.print_bytes_literal(self.data.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            target = parser.parse_attribute()
            parser.parse_punctuation(",")
            kind = next((word for word in _FORMATS if parser.parse_optional_keyword(word) is not None), None)
            if kind is not None:
                parser.parse_punctuation("=")
            text = parser.parse_optional_str_literal()
            data = parser.parse_bytes_literal() if text is None else text.encode()
        return [target, StringAttr(kind or "fatbin"), BytesAttr(data)]


TARGET_ATTRIBUTES: tuple[type[Attribute], ...] = (RocdlTargetAttr, NvvmTargetAttr, ObjectAttr)


def optimisation_level(text: str) -> int:
    """Return the option ``O`` of a pass that attaches a target."""
    if text not in ("0", "1", "2", "3"):
        raise DslValueError(f"the optimisation level O is 0 to 3, not '{text}'")
    return int(text)

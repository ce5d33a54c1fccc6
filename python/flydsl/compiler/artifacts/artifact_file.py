"""Artifacts as bytes: a header in JSON, binary sections, and a digest over both. Reading one runs nothing.

    magic · format version · length of the header · SHA-256 of all that follows · header · sections

The header holds the key that the artifact was made for, in full, so that a file under another key's name is refused.
Reading answers with an artifact or with None: a damaged file is no error, just no artifact.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import struct
from collections.abc import Callable, Mapping
from typing import Any

from flydsl.compiler.artifacts.artifact import Artifact

MAGIC = b"FLYDSLA\n"
FORMAT = 2
LARGEST = 1 << 28
"""Bytes of the largest file that is read."""

_HEAD = struct.Struct("<8sII32s")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_sites(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, list) and [type(part) for part in item] == [str, int, str] for item in value
    )


def _is_writes(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, list) and [type(part) for part in item] == [int, bool, int] for item in value
    )


def _is_environment(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, list) and len(item) == 2 and type(item[0]) is str and isinstance(item[1], (str, type(None)))
        for item in value
    )


def _is_format(value: Any) -> bool:
    """A `struct` format of an argument block. Anything else would fail where it is first used."""
    if not isinstance(value, str) or len(value) > 1 << 16 or not set(value) <= set("?bBhHiIqQfdeP"):
        return False
    return struct.calcsize("@" + value) >= 0


_FIELDS: Mapping[str, Callable[[Any], bool]] = {
    "name": _is_text,
    "target": _is_text,
    "device": _is_text,
    "argument_format": _is_format,
    "kernels": _is_texts,
    "sites": _is_sites,
    "sanitizer": _is_text,
    "writes": _is_writes,
    "environment": _is_environment,
    "prints": lambda value: isinstance(value, bool),
}
"""What the header says of each field that is not a section."""

_SECTIONS = ("host_object", "device_binary", "cubin")


def to_bytes(artifact: Artifact, key: str) -> bytes:
    """An artifact and the key it was made for."""
    fields = {field.name: getattr(artifact, field.name) for field in dataclasses.fields(artifact)}
    sections = [fields.pop(name) for name in _SECTIONS]
    header = {"key": key, "fields": fields, "sections": [len(section) for section in sections]}
    text = json.dumps(header, ensure_ascii=True, separators=(",", ":")).encode()
    body = b"".join((text, *sections))
    return _HEAD.pack(MAGIC, FORMAT, len(text), _digest(FORMAT, len(text), body)) + body


def _digest(version: int, length: int, body: bytes | memoryview) -> bytes:
    digest = hashlib.sha256(struct.pack("<II", version, length))
    digest.update(body)
    return digest.digest()


def from_bytes(data: bytes, key: str | None = None) -> Artifact | None:
    """The artifact in some bytes if they are whole and were made for the key; without a key, for whatever key."""
    found = read(data)
    if found is None or (key is not None and found[1] != key):
        return None
    return found[0]


def read(data: bytes) -> tuple[Artifact, str] | None:
    """The artifact in some bytes and the key it was made for, or None."""
    if len(data) < _HEAD.size or len(data) > LARGEST:
        return None
    magic, version, length, digest = _HEAD.unpack_from(data)
    body = memoryview(data)[_HEAD.size :]
    if magic != MAGIC or version != FORMAT or length > len(body) or digest != _digest(version, length, body):
        return None
    try:
        header = json.loads(bytes(body[:length]))
        return _artifact(header, bytes(body[length:])), header["key"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, struct.error):
        return None  # the digest is right, but it was not we who wrote it


def _artifact(header: Any, sections: bytes) -> Artifact:
    fields, lengths = header["fields"], header["sections"]
    if not isinstance(header["key"], str) or set(fields) != set(_FIELDS):
        raise ValueError("these are not the fields of an artifact")
    if not all(valid(fields[name]) for name, valid in _FIELDS.items()):
        raise ValueError("a field has a value of the wrong kind")
    if len(lengths) != len(_SECTIONS) or not all(type(n) is int and n >= 0 for n in lengths):
        raise ValueError("these are not the sections of an artifact")
    if sum(lengths) != len(sections):
        raise ValueError("the sections do not fill the file")
    values: dict[str, Any] = {**fields, "kernels": tuple(fields["kernels"])}
    values["sites"] = tuple(tuple(site) for site in fields["sites"])
    values["environment"] = tuple(tuple(variable) for variable in fields["environment"])
    values["writes"] = tuple(tuple(write) for write in fields["writes"])
    numbers, sites = len(fields["argument_format"]), len(fields["sites"])
    if not all(0 <= number < numbers and 0 <= site < sites for number, _, site in values["writes"]):
        raise ValueError("a write is of an argument or at a site that does not exist")
    start = 0
    for name, length in zip(_SECTIONS, lengths):
        values[name] = sections[start : start + length]
        start += length
    return Artifact(**values)

"""Artifacts as bytes: whole or refused, whatever the bytes are."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import random
import struct
import tracemalloc
from typing import Any

import pytest

from flydsl.compiler.artifacts import artifact as artifact_file
from flydsl.compiler.artifacts.artifact import _FIELDS, _SECTIONS, FORMAT, MAGIC, Artifact, from_bytes, read, to_bytes

ARTIFACT = Artifact(
    name="käse\udce9", target="gfx942", device="host", argument_format="PiqfdP", host_object=bytes(range(256)) * 3,
    device_binary=b".version 8.8", cubin=b"\x7fELF", kernels=("k_0", "k_1"),
    sites=(("a.py", 3, "wrong\nhelp"), ("", 0, "")), prints=True,
    sanitizer="{}", writes=((0, True, 0), (5, False, 1)),
)  # fmt: skip


def test_what_is_written_is_read() -> None:
    data = to_bytes(ARTIFACT, "the key\n…")
    assert from_bytes(data, "the key\n…") == ARTIFACT
    assert read(data) == (ARTIFACT, "the key\n…")
    assert to_bytes(ARTIFACT, "the key\n…") == data
    assert b"pickle" not in data


def test_every_field_of_an_artifact_is_covered() -> None:
    assert {field.name for field in dataclasses.fields(Artifact)} == {*_FIELDS, *_SECTIONS}


def test_another_key_is_refused() -> None:
    assert from_bytes(to_bytes(ARTIFACT, "one key"), "another key") is None


def test_every_flipped_bit_is_refused() -> None:
    data = to_bytes(ARTIFACT, "key")
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 1 << at % 8
        assert from_bytes(bytes(damaged), "key") is None


def test_every_truncation_is_refused() -> None:
    data = to_bytes(ARTIFACT, "key")
    for length in range(len(data)):
        assert from_bytes(data[:length], "key") is None
    assert from_bytes(data + b"\0", "key") is None


def sealed(header: Any, sections: bytes = b"", version: int = FORMAT) -> bytes:
    """A file with a digest that is right, whatever it holds: one that somebody made on purpose."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = text + sections
    digest = hashlib.sha256(struct.pack("<II", version, len(text)) + body).digest()
    return struct.pack("<8sII32s", MAGIC, version, len(text), digest) + body


FIELDS = {"name": "n", "target": "t", "device": "host", "argument_format": "P", "kernels": [], "sites": [],
          "prints": False, "sanitizer": "", "writes": [], "environment": []}  # fmt: skip


def header(**changes: Any) -> dict[str, Any]:
    return {"key": "key", "fields": {**FIELDS, **changes}, "sections": [0] * len(_SECTIONS)}


def test_a_file_made_on_purpose_is_read_if_it_is_right() -> None:
    assert from_bytes(sealed(header()), "key") is not None


FORGED = {
    "not JSON": b"{",
    "not UTF-8": b"\xff\xfe",
    "a list": [],
    "a number": 5,
    "nothing": {},
    "deeply nested": b"[" * 100_000,
    "a huge number": b'{"key": ' + b"9" * 100_000 + b"}",
    "key of another type": {**header(), "key": 5},
    "fields of another type": {**header(), "fields": [1]},
    "a field too many": header(extra=1),
    "a field too few": {**header(), "fields": {"name": "n"}},
    "name of another type": header(name=5),
    "format with a count": header(argument_format="999999999s"),
    "format of unknown letters": header(argument_format="z"),
    "format too long": header(argument_format="P" * 100_000),
    "kernels of another type": header(kernels=["a", 1]),
    "kernels as text": header(kernels="abc"),
    "variables as text": header(environment="abc"),
    "a variable without a value": header(environment=[["A"]]),
    "a variable with a number": header(environment=[["A", 5]]),
    "sites of two": header(sites=[["a", 1]]),
    "sites with a float": header(sites=[["a", 1.5, "b"]]),
    "sites with a bool": header(sites=[["a", True, "b"]]),
    "prints a number": header(prints=1),
    "writes of another type": header(writes=[[0, 1, 0]], sites=[["a", 1, ""]]),
    "a write of no argument": header(writes=[[1, True, 0]], sites=[["a", 1, ""]]),
    "a write before the arguments": header(writes=[[-1, True, 0]], sites=[["a", 1, ""]]),
    "a write at no site": header(writes=[[0, True, 1]], sites=[["a", 1, ""]]),
    "one section": {**header(), "sections": [0]},
    "a negative section": {**header(), "sections": [-1, 1, *[0] * (len(_SECTIONS) - 2)]},
    "a section beyond the end": {**header(), "sections": [1 << 60, *[0] * (len(_SECTIONS) - 1)]},
    "sections as text": {**header(), "sections": "0" * len(_SECTIONS)},
    "sections of booleans": {**header(), "sections": [False] * len(_SECTIONS)},
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_header_is_refused(name: str) -> None:
    assert read(sealed(FORGED[name])) is None


def test_another_version_of_the_format_is_refused() -> None:
    assert read(sealed(header(), version=FORMAT + 1)) is None


def test_two_thousand_mutations() -> None:
    """Bits, bytes, lengths, pieces moved, repeated and dropped: never an artifact, an exception or much memory."""
    rng = random.Random()
    data = to_bytes(ARTIFACT, "key")
    tracemalloc.start()
    try:
        for _ in range(2000):
            mutated = mutate(data, rng)
            assert mutated == data or from_bytes(mutated, "key") is None
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_mutations_under_a_right_digest() -> None:
    """The header changed and sealed again: an artifact that is well formed, or none."""
    rng = random.Random()
    text = json.dumps(header(kernels=["a"], sites=[["f", 1, "m"]])).encode()
    for _ in range(2000):
        found = read(sealed(mutate(text, rng)))
        if found is not None:
            artifact, key = found
            assert isinstance(artifact, Artifact) and isinstance(key, str)
            struct.Struct("@" + artifact.argument_format)
            assert all(isinstance(line, int) for _, line, _ in artifact.sites)


def mutate(data: bytes, rng: random.Random) -> bytes:
    """One to three random edits."""
    found = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at, length = rng.randrange(len(found) + 1), rng.choice((1, 2, 4, 8, 64))
        match rng.randrange(6):
            case 0 if found:
                found[at % len(found)] ^= 1 << rng.randrange(8)
            case 1:
                found[at : at + length] = rng.randbytes(length)
            case 2:
                del found[at : at + length]
            case 3:
                found[at:at] = rng.randbytes(length)
            case 4:
                found[at:at] = found[:length]
            case _:
                found[at : at + 4] = struct.pack("<I", rng.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF)))
    return bytes(found)


def test_a_file_beyond_all_measure_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = to_bytes(ARTIFACT, "key")
    monkeypatch.setattr(artifact_file, "LARGEST", len(data) - 1)
    assert read(data) is None

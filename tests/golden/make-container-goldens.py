#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes container-v1.cairn from docs/formats/cairn-file.md alone, without Cairn's code.

The writer's test compares its own bytes with this file, so that the document, this second
implementation and the writer have to agree. Run it only to look at how a file comes about: a golden
file of a released version never changes.
"""
import pathlib
import struct
import sys

SYNC = b"\xf0\x9f\xaa\xa8CHK1"
END = b"\xf0\x9f\xaa\xa8END1"


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def sealed(data):
    return data + struct.pack("<I", crc32c(data))


def chunk(offset, sequence, kind, payload):
    header = sealed(SYNC + struct.pack("<4sIQIIIII", kind, 0, offset, len(payload), len(payload),
                                       crc32c(payload), sequence, 0))
    return header + payload + bytes(-len(payload) % 16)


def container(chunks):
    out = sealed(b"\x89CAIRN\r\n" + struct.pack("<HH", 1, 0))
    index = b""
    for sequence, (kind, payload) in enumerate(chunks):
        index += struct.pack("<Q4sIIIII", len(out), kind, 0, len(payload), len(payload),
                             crc32c(payload), 0)
        out += chunk(len(out), sequence, kind, payload)
    index_offset = len(out)
    out += chunk(index_offset, len(chunks), b"INDX", index)
    return out + sealed(END + struct.pack("<QQI", index_offset, len(out) + 32, len(chunks)))


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    (folder / "container-v1.cairn").write_bytes(
        container([(b"xMSG", b"hello, cairn\n"), (b"xNIL", b"")]))

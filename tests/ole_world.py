"""A writer of the container in which the old Office formats lie."""

import struct

MARK = bytes.fromhex("d0cf11e0a1b11ae1")


def ole(*streams):
    """A container of the old Office formats with streams (name, bytes) of at least 4,096 bytes each."""
    sectors, chain, entries = [], [], [directory_entry("Root Entry", 5, 0xFFFFFFFE, 0, child=1)]
    for position, (name, content) in enumerate(streams, start=1):
        content = content.ljust(4096, b"\0")
        pieces = [content[i:i + 512].ljust(512, b"\0") for i in range(0, len(content), 512)]
        first = len(sectors)
        sectors += pieces
        chain += [*range(first + 1, first + len(pieces)), 0xFFFFFFFE]
        following = position + 1 if position < len(streams) else 0xFFFFFFFF
        entries.append(directory_entry(name, 2, first, len(content), right=following))
    directory = b"".join(entries).ljust(-(-len(entries) // 4) * 512, b"\0")
    first_directory = len(sectors)
    pieces = [directory[i:i + 512] for i in range(0, len(directory), 512)]
    sectors += pieces
    chain += [*range(first_directory + 1, first_directory + len(pieces)), 0xFFFFFFFE]
    tables = -(-(len(chain) + 1) // 127)  # of 128 numbers, its own sectors among them
    first_table = len(sectors)
    chain += [0xFFFFFFFD] * tables
    table = struct.pack(f"<{tables * 128}I", *chain, *[0xFFFFFFFF] * (tables * 128 - len(chain)))
    header = MARK + bytes(16) + struct.pack(
        "<HHHHH6xIIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, tables, first_directory, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0, 0)[:-4]
    places = [*range(first_table, first_table + tables), *[0xFFFFFFFF] * (109 - tables)]
    return header + struct.pack("<109I", *places) + b"".join(sectors) + table


def directory_entry(name, kind, start, size, right=0xFFFFFFFF, child=0xFFFFFFFF):
    raw = name.encode("utf-16-le") + b"\0\0"
    return (raw.ljust(64, b"\0") + struct.pack("<HBBIII", len(raw), kind, 1, 0xFFFFFFFF, right, child)
            + bytes(36) + struct.pack("<IQ", start, size))

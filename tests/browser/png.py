"""Pixels of a PNG as Chromium writes it: 8 bits a channel, not interlaced."""
import struct
import zlib


def pixels(data):
    """(width, height, channels, rows as bytearrays)."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("not a PNG")
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] != zlib.crc32(kind + body):
            raise ValueError(f"chunk {kind!r} is damaged")
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            channels = {0: 1, 2: 3, 6: 4}.get(colour)
            if depth != 8 or interlaced or not channels:
                raise ValueError(f"colour type {colour}, depth {depth}, interlaced {interlaced}")
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    raw = zlib.decompress(packed)
    stride = width * channels
    rows, above = [], bytearray(stride)
    for y in range(height):
        line = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        _unfilter(raw[y * (stride + 1)], line, above, channels)
        rows.append(line)
        above = line
    return width, height, channels, rows


def _unfilter(kind, line, above, step):
    if kind == 1:
        for i in range(step, len(line)):
            line[i] = (line[i] + line[i - step]) & 255
    elif kind == 2:
        for i, up in enumerate(above):
            line[i] = (line[i] + up) & 255
    elif kind == 3:
        for i, up in enumerate(above):
            left = line[i - step] if i >= step else 0
            line[i] = (line[i] + (left + up) // 2) & 255
    elif kind == 4:
        for i, up in enumerate(above):
            left, corner = (line[i - step], above[i - step]) if i >= step else (0, 0)
            guess = left + up - corner
            a, b, c = abs(guess - left), abs(guess - up), abs(guess - corner)
            near = left if a <= b and a <= c else up if b <= c else corner
            line[i] = (line[i] + near) & 255
    elif kind:
        raise ValueError(f"filter {kind}")


def statistics(data):
    """(share of the commonest colour, how many colours, its brightness 0 .. 255)."""
    width, height, channels, rows = pixels(data)
    counts = {}
    for row in rows:
        for x in range(0, len(row), channels):
            colour = bytes(row[x:x + min(channels, 3)])
            counts[colour] = counts.get(colour, 0) + 1
    common = max(counts, key=counts.get)
    return counts[common] / (width * height), len(counts), sum(common) / len(common)

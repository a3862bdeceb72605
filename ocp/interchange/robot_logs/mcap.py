"""MCAP files, written: messages of named topics over time, with an index and checks.

Records are those of the format's specification, version 0: one chunk without compression, an index
of its messages by channel, and a summary at the end, so that a reader seeks without reading all.
"""

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK = 1, 2, 3, 4, 5, 6
MESSAGE_INDEX, CHUNK_INDEX, STATISTICS, SUMMARY_OFFSET, DATA_END = 7, 8, 11, 14, 15


@dataclass(frozen=True, slots=True)
class Channel:
    """Messages of one topic and one type.

    Args:
        topic: its name, as "/joint_states".
        type: name of the messages' type, as "sensor_msgs/msg/JointState".
        schema: definition of that type, in the words of `.msg` files.
        messages: (nanoseconds, bytes) of each, in the order of time.
    """

    topic: str
    type: str
    schema: str
    messages: Sequence[tuple[int, bytes]]


def mcap_bytes(channels: Sequence[Channel], library: str) -> bytes:
    """Return the content of an MCAP file of the profile `ros2`.

    Args:
        channels: of the file.
        library: name of the program that writes it.
    """
    definitions = [
        record
        for number, channel in enumerate(channels)
        for record in (_schema(number + 1, channel), _channel(number, channel))
    ]
    rows = sorted(
        (time, number, data)
        for number, channel in enumerate(channels)
        for time, data in channel.messages
    )
    messages = [
        _record(MESSAGE, struct.pack("<HIQQ", number, k, time, time) + data)
        for k, (time, number, data) in enumerate(rows)
    ]
    parts = [*definitions, *messages]
    places = list(accumulate((len(part) for part in parts), initial=0))[len(definitions) :]
    entries: dict[int, list[bytes]] = {number: [] for number in range(len(channels))}
    for (time, number, _), place in zip(rows, places):
        entries[number].append(struct.pack("<QQ", time, place))
    begin, end = (rows[0][0], rows[-1][0]) if rows else (0, 0)

    content = b"".join(parts)
    sizes = struct.pack("<QQQI", begin, end, len(content), zlib.crc32(content))
    chunk = _record(CHUNK, sizes + _text("") + struct.pack("<Q", len(content)) + content)
    data = MAGIC + _record(HEADER, _text("ros2") + _text(library))
    chunk_start, index = len(data), b""
    index_places = {}
    for number, pairs in entries.items():
        index_places[number] = chunk_start + len(chunk) + len(index)
        index += _record(MESSAGE_INDEX, struct.pack("<H", number) + _array(b"".join(pairs)))
    data += chunk + index
    data += _record(DATA_END, struct.pack("<I", zlib.crc32(data)))

    chunk_index = _record(
        CHUNK_INDEX,
        struct.pack("<QQQQ", begin, end, chunk_start, len(chunk))
        + _counts(index_places)
        + struct.pack("<Q", len(index))
        + _text("")
        + struct.pack("<QQ", len(content), len(content)),
    )
    statistics = _record(
        STATISTICS,
        struct.pack("<QHIIIIQQ", len(rows), len(channels), len(channels), 0, 0, 1, begin, end)
        + _counts({number: len(pairs) for number, pairs in entries.items()}),
    )
    groups = {
        SCHEMA: b"".join(definitions[::2]),
        CHANNEL: b"".join(definitions[1::2]),
        STATISTICS: statistics,
        CHUNK_INDEX: chunk_index,
    }
    summary, offsets = b"", b""
    for opcode, group in groups.items():
        place = len(data) + len(summary)
        offsets += _record(SUMMARY_OFFSET, struct.pack("<BQQ", opcode, place, len(group)))
        summary += group
    # The footer's check covers the footer itself, up to the check
    starts = struct.pack("<QQ", len(data), len(data) + len(summary))
    summary += offsets + struct.pack("<BQ", FOOTER, len(starts) + 4) + starts
    return data + summary + struct.pack("<I", zlib.crc32(summary)) + MAGIC


def _schema(number: int, channel: Channel) -> bytes:
    named = struct.pack("<H", number) + _text(channel.type) + _text("ros2msg")
    return _record(SCHEMA, named + _array(channel.schema.encode()))


def _channel(number: int, channel: Channel) -> bytes:
    named = struct.pack("<HH", number, number + 1) + _text(channel.topic) + _text("cdr")
    return _record(CHANNEL, named + _array(b""))


def _record(opcode: int, content: bytes) -> bytes:
    return struct.pack("<BQ", opcode, len(content)) + content


def _text(text: str) -> bytes:
    return _array(text.encode())


def _array(content: bytes) -> bytes:
    return struct.pack("<I", len(content)) + content


def _counts(numbers: Mapping[int, int]) -> bytes:
    return _array(b"".join(struct.pack("<HQ", key, value) for key, value in numbers.items()))

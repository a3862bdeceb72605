"""Messages of ROS 2 as bytes: common data representation (CDR), little-endian, and definitions."""

import struct
from collections.abc import Sequence

import numpy as np

STRING = "std_msgs/msg/String"
JOINT_STATE = "sensor_msgs/msg/JointState"
TRANSFORMS = "tf2_msgs/msg/TFMessage"
WRENCH = "geometry_msgs/msg/WrenchStamped"
JOINT_TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"

# Of every type its fields, and the types that these are of
_FIELDS = {
    "std_msgs/String": "string data",
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "builtin_interfaces/Duration": "int32 sec\nuint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "sensor_msgs/JointState": (
        "std_msgs/Header header\nstring[] name\n"
        "float64[] position\nfloat64[] velocity\nfloat64[] effort"
    ),
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
    "geometry_msgs/Transform": (
        "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation"
    ),
    "geometry_msgs/TransformStamped": (
        "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform"
    ),
    "tf2_msgs/TFMessage": "geometry_msgs/TransformStamped[] transforms",
    "geometry_msgs/Wrench": "geometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque",
    "geometry_msgs/WrenchStamped": "std_msgs/Header header\ngeometry_msgs/Wrench wrench",
    "trajectory_msgs/JointTrajectoryPoint": (
        "float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\n"
        "float64[] effort\nbuiltin_interfaces/Duration time_from_start"
    ),
    "trajectory_msgs/JointTrajectory": (
        "std_msgs/Header header\nstring[] joint_names\n"
        "trajectory_msgs/JointTrajectoryPoint[] points"
    ),
}


def definition(kind: str) -> str:
    """Return the definition of a type of messages, and of all types that it is made of.

    Args:
        kind: name of the type, as "sensor_msgs/msg/JointState".
    """
    found: dict[str, str] = {}
    waiting = [kind.replace("/msg/", "/")]
    while waiting:
        name = waiting.pop(0)
        if name in found:
            continue
        found[name] = _FIELDS[name]
        types = [line.split()[0].removesuffix("[]") for line in _FIELDS[name].splitlines()]
        waiting += [each for each in types if each in _FIELDS]
    first, *others = found.items()
    parts = [first[1], *(f"{'=' * 80}\nMSG: {name}\n{fields}" for name, fields in others)]
    return "\n".join(parts) + "\n"


class Writer:
    """Bytes of one message, field by field, each aligned to its size."""

    def __init__(self) -> None:
        """Begin an empty message."""
        self._parts: list[bytes] = []
        self._size = 0

    @property
    def content(self) -> bytes:
        """The bytes of the message, with the four that name the representation."""
        return b"\x00\x01\x00\x00" + b"".join(self._parts)

    def pack(self, form: str, *values: float) -> None:
        """Write numbers of one type, as `struct` calls it."""
        size = struct.calcsize(form)
        self._add(bytes(-self._size % size) if values else b"")
        self._add(struct.pack(f"<{len(values)}{form}", *values))

    def text(self, text: str) -> None:
        """Write a text, its length before it and a zero byte behind it."""
        data = text.encode() + b"\0"
        self.pack("I", len(data))
        self._add(data)

    def texts(self, texts: Sequence[str]) -> None:
        """Write a sequence of texts."""
        self.pack("I", len(texts))
        for text in texts:
            self.text(text)

    def numbers(self, numbers: np.ndarray) -> None:
        """Write a sequence of float64."""
        self.pack("I", len(numbers))
        self.pack("d", *numbers.tolist())

    def time(self, nanoseconds: int) -> None:
        """Write a time or a duration."""
        seconds, rest = divmod(nanoseconds, 10**9)
        self.pack("i", seconds)
        self.pack("I", rest)

    def header(self, nanoseconds: int, frame: str) -> None:
        """Write a Header: a time, and the frame in which the message is meant."""
        self.time(nanoseconds)
        self.text(frame)

    def _add(self, data: bytes) -> None:
        self._parts.append(data)
        self._size += len(data)

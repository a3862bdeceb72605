"""Buffer of machine code with labels and tables, whose references are resolved at the end."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

WIDTH = 32  # bytes of a vector of four numbers; tables are aligned to it
Sizes = tuple[Sequence[int], Sequence[int]]  # entries of each input, and of each output


class Text(ABC):
    """Machine code of a processor; only the processor knows how a reference to a label reads."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self.labels: dict[str, int] = {}
        self.references: list[tuple[int, str]] = []

    def emit(self, code: str | bytes, *numbers: int) -> None:
        """Append bytes (raw, or hexadecimal digits), then signed 32-bit numbers."""
        data = bytes.fromhex(code) if isinstance(code, str) else code
        data += b"".join(number.to_bytes(4, "little", signed=True) for number in numbers)
        self.parts.append(data)
        self.size += len(data)

    def refer(self, label: str) -> None:
        """Let the code before or after this place refer to a label, as `resolve` reads it."""
        self.references.append((self.size, label))

    def label(self, name: str) -> None:
        """Put a label at the current place."""
        self.labels[name] = self.size

    def align(self, size: int) -> None:
        """Append zeros up to a multiple of so many bytes."""
        self.emit(bytes(-self.size % size))

    def table(self, label: str, data: bytes) -> None:
        """Append a labelled, aligned table of data."""
        self.align(WIDTH)
        self.label(label)
        self.emit(data)

    @abstractmethod
    def resolve(self, data: bytearray, place: int, target: int) -> None:
        """Write the distance from a reference's `place` to its `target` into the code `data`."""

    def to_bytes(self) -> bytes:
        """Return the machine code with all distances to labels filled in."""
        data = bytearray(b"".join(self.parts))
        for place, label in self.references:
            self.resolve(data, place, self.labels[label])
        return bytes(data)

"""Buffer of machine code with labels, and the entry and exit of a CasADi function.

Calls follow the C conventions (System V application binary interface, AMD64). A function of
CasADi, (arg, res, iw, w, mem), gets pointers to the entries of its inputs and outputs.
"""

from collections.abc import Sequence

WIDTH = 32  # bytes of a vector of four numbers; tables are aligned to it
Sizes = tuple[Sequence[int], Sequence[int]]  # entries of each input, and of each output


class Text:
    """Machine code whose references to labels are resolved at the end."""

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

    def emit_to(self, code: str, label: str) -> None:
        """Append an instruction that ends with the 32-bit distance to a label."""
        self.emit(code, 0)
        self.references.append((self.size, label))

    def label(self, name: str) -> None:
        """Put a label at the current place."""
        self.labels[name] = self.size

    def table(self, label: str, data: bytes) -> None:
        """Append a labelled, aligned table of data."""
        self.emit(bytes(-self.size % WIDTH))
        self.label(label)
        self.emit(data)

    def begin_function(self, label: str) -> None:
        """Append the entry of a CasADi function.

        arg and res are kept at rsp and rsp + 8; three numbers fit from rsp + 16 on. rbx is w,
        aligned to WIDTH, so that the function asks for four numbers more than it uses.
        """
        self.emit(bytes(-self.size % 16))
        self.label(label)
        self.emit("53 55 41 54 41 55 41 56 41 57")  # push rbx, rbp, r12, r13, r14, r15
        self.emit("48 83 EC 28")  # sub rsp, 40
        self.emit("48 89 3C 24 48 89 74 24 08")  # mov [rsp], rdi; mov [rsp + 8], rsi
        self.emit("48 8D 59 1F 48 83 E3 E0")  # lea rbx, [rcx + 31]; and rbx, -32

    def end_function(self) -> None:
        """Append the exit of a CasADi function, which returns 0."""
        self.emit("C5 F8 77 48 83 C4 28")  # vzeroupper; add rsp, 40
        self.emit("41 5F 41 5E 41 5D 41 5C 5D 5B")  # pop r15, r14, r13, r12, rbp, rbx
        self.emit("31 C0 C3")  # xor eax, eax; ret

    def load_input(self, number: int, start: int = 0) -> None:
        """Point rsi to an input's entries, from entry `start` on."""
        self.emit("48 8B 04 24 48 8B B0", 8 * number)  # mov rax, [rsp]; mov rsi, [rax + 8 number]
        if start:
            self.emit("48 81 C6", 8 * start)  # add rsi, 8 start

    def load_output(self, number: int, absent: str = "") -> None:
        """Point rdi to an output's entries; jump to the label `absent` if the caller wants none."""
        self.emit("48 8B 44 24 08")  # mov rax, [rsp + 8]
        self.emit("48 8B B8", 8 * number)  # mov rdi, [rax + 8 number]
        if absent:
            self.emit("48 85 FF")  # test rdi, rdi
            self.emit_to("0F 84", absent)  # jz

    def to_bytes(self) -> bytes:
        """Return the machine code with all distances to labels filled in."""
        data = bytearray(b"".join(self.parts))
        for end, label in self.references:
            data[end - 4 : end] = (self.labels[label] - end).to_bytes(4, "little", signed=True)
        return bytes(data)

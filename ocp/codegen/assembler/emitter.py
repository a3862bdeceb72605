"""Machine code as it is written: bytes, labels, and what a function begins and ends with.

By the rules of the C library's functions (System V application binary interface, AMD64): a function
of CasADi, (arg, res, iw, w, mem), gets pointers to its inputs' and its outputs' entries.
"""

from collections.abc import Sequence

WIDTH = 32  # bytes of four numbers, which memory is aligned to


class Text:
    """Machine code with labels: what refers to one is put right in the end."""

    def __init__(self):
        self.parts: list[bytes] = []
        self.size = 0
        self.labels: dict[str, int] = {}
        self.wanted: list[tuple[int, str]] = []

    def add(self, code: str | bytes, *numbers: int) -> None:
        """Add bytes, given or as hexadecimal digits, and numbers of 32 bits."""
        data = bytes.fromhex(code) if isinstance(code, str) else code
        data += b"".join(number.to_bytes(4, "little", signed=True) for number in numbers)
        self.parts.append(data)
        self.size += len(data)

    def to(self, code: str, label: str) -> None:
        """Add an instruction that ends with how far away a label is."""
        self.add(code, 0)
        self.wanted.append((self.size, label))

    def mark(self, label: str) -> None:
        """Put a label here."""
        self.labels[label] = self.size

    def table(self, label: str, data: bytes) -> None:
        """Put a label here, before bytes that are aligned."""
        self.add(bytes(-self.size % WIDTH))
        self.mark(label)
        self.add(data)

    def begin(self, label: str) -> None:
        """Begin a function: arg and res are kept at rsp and rsp + 8, and from rsp + 16 on there is
        room for three numbers; rbx is w, aligned, of which a function wants four numbers more."""
        self.add(bytes(-self.size % 16))
        self.mark(label)
        self.add("53 55 41 54 41 55 41 56 41 57")  # push rbx, rbp, r12, r13, r14, r15
        self.add("48 83 EC 28")  # sub rsp, 40
        self.add("48 89 3C 24 48 89 74 24 08")  # mov [rsp], rdi; mov [rsp + 8], rsi
        self.add("48 8D 59 1F 48 83 E3 E0")  # lea rbx, [rcx + 31]; and rbx, -32

    def end(self) -> None:
        """End a function, which succeeds."""
        self.add("C5 F8 77 48 83 C4 28")  # vzeroupper; add rsp, 40
        self.add("41 5F 41 5E 41 5D 41 5C 5D 5B")  # pop r15, r14, r13, r12, rbp, rbx
        self.add("31 C0 C3")  # xor eax, eax; ret

    def input(self, number: int, start: int = 0) -> None:
        """Point rsi to an input's entries, from one on."""
        self.add("48 8B 04 24 48 8B B0", 8 * number)  # mov rax, [rsp]; mov rsi, [rax + 8 number]
        if start:
            self.add("48 81 C6", 8 * start)  # add rsi, 8 start

    def output(self, number: int, unwanted: str = "") -> None:
        """Point rdi to an output's entries; go to a label where it is `unwanted`."""
        self.add("48 8B 44 24 08")  # mov rax, [rsp + 8]
        self.add("48 8B B8", 8 * number)  # mov rdi, [rax + 8 number]
        if unwanted:
            self.add("48 85 FF")  # test rdi, rdi
            self.to("0F 84", unwanted)  # jz

    def bytes(self) -> bytes:
        """Return all."""
        data = bytearray(b"".join(self.parts))
        for end, label in self.wanted:
            data[end - 4 : end] = (self.labels[label] - end).to_bytes(4, "little", signed=True)
        return bytes(data)


Sizes = tuple[Sequence[int], Sequence[int]]  # of inputs and of outputs, entries of each

"""A graph's steps over many instants: for every four of them, inputs are put side by side, the
steps run, and outputs go where they belong; the last four are filled up with the very last one.

Registers: rbx inputs, outputs and results of four instants; rbp constants; r12 what calls a
function of the C library for four instants. The first of these is kept at rsp + 16.
"""

from ocp.codegen.assembler.emitter import WIDTH, Sizes, Text

LANES = 4
FIRST = 16  # place on the stack
LOAD, STORE = 0x8B, 0x89


def mapped(text: Text, label: str, body: bytes, sizes: Sizes, count: int) -> None:
    """Add a function of so many instants around the steps' code, and what it calls. It refers to
    the labels `constants` and `nothing`, zeros as many as an input has."""
    _taken(text)
    _given(text)
    _each(text)
    text.begin(label)
    text.add("48 C7 44 24 10", 0)  # mov qword [rsp + 16], 0
    text.to("48 8D 2D", "constants")  # lea rbp, [rip + ...]
    text.to("4C 8D 25", "each")  # lea r12, [rip + ...]
    text.mark("more")
    place = 0
    for number, size in enumerate(sizes[0]):
        text.input(number)
        _called(text, "taken", place, size, count)
        place += size
    text.add(body)
    for number, size in enumerate(sizes[1]):
        text.output(number)
        text.add("48 89 FE")  # mov rsi, rdi
        _called(text, "given", place, size, count)
        place += size
    text.add("48 83 44 24 10 04")  # add qword [rsp + 16], 4
    text.add("48 81 7C 24 10", count)  # cmp qword [rsp + 16], count
    text.to("0F 8C", "more")  # jl
    text.end()


def _called(text, label, place, size, count):
    """Call what takes or gives so many entries of four instants, in memory from a place on."""
    text.add("48 8D BB", WIDTH * place)  # lea rdi, [rbx + ...]
    text.add("BA", size)  # mov edx, size
    text.add("B9", count - 1)  # mov ecx, count - 1
    text.to("E8", label)  # call


def _taken(text):
    """Add what puts rdx entries at rsi, of each of four instants, side by side at rdi; zeros where
    there is no input."""
    text.mark("taken")
    text.add("49 89 D5 48 85 F6")  # mov r13, rdx: from one instant to the next; test rsi, rsi
    text.to("0F 85", "there")  # jnz
    text.to("48 8D 35", "nothing")  # lea rsi, [rip + ...]
    text.add("45 31 ED")  # xor r13d, r13d
    text.mark("there")
    _pointers(text)
    text.to("0F 84", "empty")  # jz
    text.mark("take")
    for lane in range(LANES):
        _apart(text, LOAD, lane)
        _beside(text, STORE, lane)
    _next(text, "take")
    text.mark("empty")
    text.add("C3")  # ret


def _given(text):
    """Add what puts rdx entries, side by side at rdi, where each of four instants has them at rsi,
    if they are wanted."""
    text.mark("given")
    text.add("48 85 F6")  # test rsi, rsi
    text.to("0F 84", "unwanted")  # jz
    text.add("49 89 D5")  # mov r13, rdx
    _pointers(text)
    text.to("0F 84", "unwanted")  # jz
    text.mark("give")
    for lane in range(LANES):
        _beside(text, LOAD, lane)
        _apart(text, STORE, lane)
    _next(text, "give")
    text.mark("unwanted")
    text.add("C3")  # ret


def _apart(text, opcode, lane):
    """Take or put rcx where an instant has its own entry."""
    text.add(bytes([0x49, opcode, 0x0C, 0xC0 | lane]))  # mov, rcx and [r(8 + lane) + 8 rax]


def _beside(text, opcode, lane):
    """Take or put rcx where the entries of all four instants are."""
    text.add(bytes([0x48, opcode, 0x4F, 8 * lane]))  # mov, rcx and [rdi + 8 lane]


def _each(text):
    """Add what calls the C library's function at rax for four instants: of numbers at r14 and r15,
    with results at r13."""
    text.mark("each")
    text.add("C5 F8 77 50")  # vzeroupper; push rax
    for lane in range(LANES):
        text.add(bytes([0xC4, 0xC1, 0x7B, 0x10, 0x46, 8 * lane]))  # vmovsd xmm0, [r14 + 8 lane]
        text.add(bytes([0xC4, 0xC1, 0x7B, 0x10, 0x4F, 8 * lane]))  # vmovsd xmm1, [r15 + 8 lane]
        text.add("FF 14 24")  # call [rsp]
        text.add(bytes([0xC4, 0xC1, 0x7B, 0x11, 0x45, 8 * lane]))  # vmovsd [r13 + 8 lane], xmm0
    text.add("58 C3")  # pop rax; ret


def _pointers(text):
    """Add what puts in r8 to r11 where four instants begin, the last of which is rcx; then rax is
    zero, and the zero flag tells that there are no entries."""
    for lane in range(LANES):
        text.add(bytes([0x48, 0x8B, 0x44, 0x24, FIRST + 8]))  # mov rax, [rsp + 24]
        text.add(bytes([0x48, 0x83, 0xC0, lane]))  # add rax, lane
        text.add("48 39 C8 48 0F 4F C1 49 0F AF C5")  # cmp rax, rcx; cmovg rax, rcx; imul rax, r13
        text.add(bytes([0x4C, 0x8D, 0x04 | lane << 3, 0xC6]))  # lea r(8 + lane), [rsi + 8 rax]
    text.add("31 C0 48 85 D2")  # xor eax, eax; test rdx, rdx


def _next(text, label):
    """Add the end of a loop over rdx entries."""
    text.add("48 83 C7 20 48 FF C0 48 39 D0")  # add rdi, 32; inc rax; cmp rax, rdx
    text.to("0F 8C", label)  # jl

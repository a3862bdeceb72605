"""Loop of a graph's code over many instants, four at a time.

Inputs of four instants are interleaved, the graph runs once on vectors, and outputs are put back;
the last batch is filled up with the very last instant.

Registers: rbx inputs, outputs and results of four instants; rbp constants; r12 the routine that
calls a function of the C library four times. The batch's first instant is kept at rsp + 16.
"""

from ocp.codegen.assembler.emitter import WIDTH, Sizes, Text

LANES = 4
FIRST = 16  # place on the stack
LOAD, STORE = 0x8B, 0x89


def write_batch_loop(text: Text, label: str, body: bytes, sizes: Sizes, count: int) -> None:
    """Write a CasADi function at many instants, and the routines that it calls.

    Args:
        text: machine code so far; it needs the tables `constants` and `nothing` (zeros, as many as
            the longest input has entries).
        label: name of the function.
        body: machine code of the graph at four instants.
        sizes: entries per instant of each input and output.
        count: number of instants.
    """
    _write_interleave(text)
    _write_scatter(text)
    _write_library_call(text)
    text.begin_function(label)
    text.emit("48 C7 44 24 10", 0)  # mov qword [rsp + 16], 0
    text.emit_to("48 8D 2D", "constants")  # lea rbp, [rip + ...]
    text.emit_to("4C 8D 25", "library_call")  # lea r12, [rip + ...]
    text.label("next_batch")
    place = 0
    for number, size in enumerate(sizes[0]):
        text.load_input(number)
        _call(text, "interleave", place, size, count)
        place += size
    text.emit(body)
    for number, size in enumerate(sizes[1]):
        text.load_output(number)
        text.emit("48 89 FE")  # mov rsi, rdi
        _call(text, "scatter", place, size, count)
        place += size
    text.emit("48 83 44 24 10 04")  # add qword [rsp + 16], 4
    text.emit("48 81 7C 24 10", count)  # cmp qword [rsp + 16], count
    text.emit_to("0F 8C", "next_batch")  # jl
    text.end_function()


def _call(text: Text, label: str, place: int, size: int, count: int) -> None:
    """Call a routine for `size` entries of four instants, in memory from `place` on."""
    text.emit("48 8D BB", WIDTH * place)  # lea rdi, [rbx + ...]
    text.emit("BA", size)  # mov edx, size
    text.emit("B9", count - 1)  # mov ecx, count - 1
    text.emit_to("E8", label)  # call


def _write_interleave(text: Text) -> None:
    """Write the routine that copies rdx entries of four instants from rsi side by side to rdi.

    An absent input counts as zeros.
    """
    text.label("interleave")
    text.emit("49 89 D5 48 85 F6")  # mov r13, rdx: from one instant to the next; test rsi, rsi
    text.emit_to("0F 85", "there")  # jnz
    text.emit_to("48 8D 35", "nothing")  # lea rsi, [rip + ...]
    text.emit("45 31 ED")  # xor r13d, r13d
    text.label("there")
    _write_pointers(text)
    text.emit_to("0F 84", "empty")  # jz
    text.label("interleave_entry")
    for lane in range(LANES):
        _move_apart(text, LOAD, lane)
        _move_beside(text, STORE, lane)
    _write_next_entry(text, "interleave_entry")
    text.label("empty")
    text.emit("C3")  # ret


def _write_scatter(text: Text) -> None:
    """Write the routine that copies rdx interleaved entries at rdi to four instants at rsi."""
    text.label("scatter")
    text.emit("48 85 F6")  # test rsi, rsi
    text.emit_to("0F 84", "absent")  # jz: nobody wants this output
    text.emit("49 89 D5")  # mov r13, rdx
    _write_pointers(text)
    text.emit_to("0F 84", "absent")  # jz
    text.label("scatter_entry")
    for lane in range(LANES):
        _move_beside(text, LOAD, lane)
        _move_apart(text, STORE, lane)
    _write_next_entry(text, "scatter_entry")
    text.label("absent")
    text.emit("C3")  # ret


def _move_apart(text: Text, opcode: int, lane: int) -> None:
    """Load or store rcx at an instant's own entry."""
    text.emit(bytes([0x49, opcode, 0x0C, 0xC0 | lane]))  # mov, rcx and [r(8 + lane) + 8 rax]


def _move_beside(text: Text, opcode: int, lane: int) -> None:
    """Load or store rcx among the interleaved entries."""
    text.emit(bytes([0x48, opcode, 0x4F, 8 * lane]))  # mov, rcx and [rdi + 8 lane]


def _write_library_call(text: Text) -> None:
    """Write the routine that calls the function at rax for four pairs at r14, r15, into r13."""
    text.label("library_call")
    text.emit("C5 F8 77 50")  # vzeroupper; push rax
    for lane in range(LANES):
        text.emit(bytes([0xC4, 0xC1, 0x7B, 0x10, 0x46, 8 * lane]))  # vmovsd xmm0, [r14 + 8 lane]
        text.emit(bytes([0xC4, 0xC1, 0x7B, 0x10, 0x4F, 8 * lane]))  # vmovsd xmm1, [r15 + 8 lane]
        text.emit("FF 14 24")  # call [rsp]
        text.emit(bytes([0xC4, 0xC1, 0x7B, 0x11, 0x45, 8 * lane]))  # vmovsd [r13 + 8 lane], xmm0
    text.emit("58 C3")  # pop rax; ret


def _write_pointers(text: Text) -> None:
    """Point r8 to r11 to the batch's instants, none beyond the last one, rcx.

    Afterwards rax is zero, and the zero flag tells that there are no entries.
    """
    for lane in range(LANES):
        text.emit(bytes([0x48, 0x8B, 0x44, 0x24, FIRST + 8]))  # mov rax, [rsp + 24]
        text.emit(bytes([0x48, 0x83, 0xC0, lane]))  # add rax, lane
        text.emit("48 39 C8 48 0F 4F C1 49 0F AF C5")  # cmp rax, rcx; cmovg rax, rcx; imul rax, r13
        text.emit(bytes([0x4C, 0x8D, 0x04 | lane << 3, 0xC6]))  # lea r(8 + lane), [rsi + 8 rax]
    text.emit("31 C0 48 85 D2")  # xor eax, eax; test rdx, rdx


def _write_next_entry(text: Text, label: str) -> None:
    """Close a loop over rdx entries."""
    text.emit("48 83 C7 20 48 FF C0 48 39 D0")  # add rdi, 32; inc rax; cmp rax, rdx
    text.emit_to("0F 8C", label)  # jl

"""Results of long computations that are kept on disk, and found by the content of their inputs.

An entry is arrays of numbers, no code of Python's. Its name is the hash of all that it follows
from: the inputs, the sources of this package, versions, and the processor. Its file begins with the
hash of the rest, and lies in the folder of machine code, in which nobody else can write. So nothing
stale, cut or planted is read; whatever is wrong with a file, the result is computed again.
"""

import hashlib
import json
import os
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np

from ocp.codegen.compiler.shared_library import NoCompiler, machine, private_folder, processor

SWITCH = "OCP_KEPT"  # "0" keeps nothing, and reads nothing
ROOM = 500_000_000  # bytes of all entries; those that were not read for the longest time go first
ENDING = ".kept"
HASH = 32  # bytes of the hash before an entry
BEGUN = time.time()
AGE = 1.0  # s before BEGUN: a source that changed later may not be what was imported
# Wings with the functions whose results are kept, all that these call, and records of trees
WINGS = (
    "models",
    "mechanics",
    "dynamics",
    "motion",
    "problem",
    "transcription",
    "codegen",
    "interior_point",
    "solvers",
)
REMEMBERED = 32
Parts = Mapping[str, np.ndarray]
_MATRICES: dict[int, tuple[ca.DM, bytes]] = {}  # hashes by identity, which the matrix keeps


def recall(kind: str, known_by: Iterable, make: Callable[[], Parts]) -> Parts:
    """Return the kept result of a computation, or make and keep it.

    Args:
        kind: of result; names of files begin with it.
        known_by: all inputs that it follows from, as `digest` takes them.
        make: computes it, as arrays by name.
    """
    if not is_kept():
        return make()
    file = _folder() / f"{kind}_{_name(kind, known_by)}{ENDING}"
    parts = _read(file)
    if parts is None:
        parts = make()
        _write(file, parts)
    return parts


@cache
def is_kept() -> bool:
    """Tell whether results are kept: not if that is switched off, sources have changed since they
    were imported, or the folder is not one's own."""
    if os.environ.get(SWITCH) == "0" or not sources():
        return False
    try:
        private_folder()
    except (NoCompiler, OSError):
        return False
    return True


def digest(*parts: object) -> bytes:
    """Return the hash of arrays, sparse matrices, texts and bytes, by kind, shape and content."""
    known = hashlib.sha256()
    for each in parts:
        if isinstance(each, ca.DM):
            known.update(_matrix_digest(each))
            continue
        if isinstance(each, np.ndarray):
            head, data = f"{each.dtype.str}{each.shape}", np.ascontiguousarray(each).tobytes()
        elif isinstance(each, bytes):
            head, data = "bytes", each
        else:
            head, data = type(each).__name__, str(each).encode()
        known.update(f"{head},{len(data)};".encode() + data)
    return known.digest()


def _matrix_digest(matrix: ca.DM) -> bytes:
    """Return the hash of a sparse matrix, which nobody changes; the last ones are remembered."""
    if id(matrix) not in _MATRICES:
        pattern = matrix.sparsity()
        lists = pattern.colind(), pattern.row(), matrix.nonzeros()
        _MATRICES[id(matrix)] = matrix, digest(str(matrix.shape), *map(np.array, lists))
        for oldest in list(_MATRICES)[:-REMEMBERED]:
            del _MATRICES[oldest]
    return _MATRICES[id(matrix)][1]


@cache
def sources() -> str:
    """Return a hash of the sources of the WINGS, "" where these are not to be had or may have
    changed since they were imported."""
    folder, known = Path(__file__).parents[1], hashlib.sha256()
    every = [os.path.join(folder, name) for name in os.listdir(folder)]
    for wing in WINGS:
        every += (
            os.path.join(path, name) for path, _, names in os.walk(folder / wing) for name in names
        )
    files = sorted(file for file in every if file.endswith((".py", ".c")))
    for file in files:
        state = os.stat(file)
        if max(state.st_mtime, state.st_ctime) > BEGUN - AGE:
            return ""
        content = Path(file).read_bytes()
        known.update(f"{os.path.relpath(file, folder)},{len(content)};".encode() + content)
    return known.hexdigest() if files else ""


def is_source(module: str) -> bool:
    """Tell whether the source of a module of that name is one of `sources`."""
    package, _, rest = module.partition(".")
    return package == __name__.partition(".")[0] and rest.partition(".")[0] in WINGS


@cache
def _surroundings() -> bytes:
    """Return the hash of all beside the inputs that a result follows from."""
    versions = sys.version, ca.CasadiMeta.version(), np.__version__
    return digest(sources(), *versions, *machine(), processor())


def _name(kind: str, known_by: Iterable) -> str:
    return digest(_surroundings(), kind, *known_by).hex()


@cache
def _folder() -> Path:
    return private_folder()


def _read(file: Path) -> Parts | None:
    """Return the arrays of a file, None if there is none or its content is not what was written."""
    try:
        data = file.read_bytes()
        if hashlib.sha256(data[HASH:]).digest() != data[:HASH]:
            raise ValueError("damaged")
        os.utime(file)
        return _unpack(memoryview(data)[HASH:])
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        _remove(file)
        return None


def _write(file: Path, parts: Parts) -> None:
    """Write a file at once; where that fails nothing is kept."""
    payload = _pack(parts)
    data = hashlib.sha256(payload).digest() + payload
    try:
        number, temporary = tempfile.mkstemp(dir=file.parent, prefix="new-")
        try:
            with os.fdopen(number, "wb") as open_file:
                open_file.write(data)
            Path(temporary).replace(file)
        except OSError:
            _remove(Path(temporary))
            raise
    except OSError:
        return
    _make_room(len(data))


def _pack(parts: Parts) -> bytes:
    arrays = {name: np.ascontiguousarray(array) for name, array in parts.items()}
    table = [[name, each.dtype.str, list(each.shape)] for name, each in arrays.items()]
    head = json.dumps(table).encode()
    return (
        struct.pack("<Q", len(head)) + head + b"".join(each.tobytes() for each in arrays.values())
    )


def _unpack(data: memoryview) -> dict[str, np.ndarray]:
    (size,) = struct.unpack_from("<Q", data)
    parts, place = {}, 8 + size
    for name, kind, shape in json.loads(bytes(data[8:place])):
        array = np.frombuffer(data, dtype=kind, count=int(np.prod(shape)), offset=place)
        parts[name] = array.reshape(shape)
        place += array.nbytes
    return parts


_written = 0  # bytes since the folder was looked through


def _make_room(size: int) -> None:
    """Remove the entries that were not read for the longest time once they fill the ROOM; look at
    the first entry that a process writes, and whenever a tenth of the room has been written."""
    global _written
    looked = _written > 0
    _written += size
    if looked and _written < ROOM / 10:
        return
    _written = 1
    states = []
    for each in _folder().glob(f"*{ENDING}"):
        try:
            state = each.stat()
        except OSError:  # another process has removed it
            continue
        states.append((state.st_mtime, state.st_size, each))
    total = sum(size for _, size, _ in states)
    for _, length, each in sorted(states):
        if total <= ROOM:
            break
        _remove(each)
        total -= length


def _remove(file: Path) -> None:
    try:
        file.unlink()
    except OSError:  # gone, or not to be removed: it is overwritten
        return

"""Archive of named arrays: an .npz file that numpy reads too, whose sizes are checked first.

Size, compression and array header of a member are checked before memory is taken. A digest over all
members tells a damaged file from a sound one. Nothing in a file is run.
"""

import hashlib
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping

import numpy as np

LARGEST = 64 * 2**20  # bytes that a file of any size may unpack to
RATIO = 16  # beyond that, so many times its own size
MEMBERS = 5000
WORDS = 2**21  # characters of a text
DEEPEST = 40  # levels of brackets in a text of JSON
HEADER = re.compile(
    rb"\{'descr': '([<|][biuf][1-8]|<U(\d{1,8}))', 'fortran_order': (False|True), "
    rb"'shape': \(((?:\d{1,10},? ?)*)\), \} *\n?"
)
DIGEST = "digest"
SIGNATURE = b"PK"  # with which an archive begins
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error)


def pack_arrays(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the bytes of a file of named arrays, the same for the same arrays."""
    members = {name: _npy(array) for name, array in arrays.items()}
    members[DIGEST] = _npy(np.array(_digest(members)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(f"{name}.npy")
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return buffer.getvalue()


def unpack_arrays(content: bytes) -> dict[str, np.ndarray]:
    """Return the arrays of a file's bytes; raise ValueError if it is damaged or too large."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = _members(archive, max(LARGEST, RATIO * len(content)))
    except BROKEN as error:
        if not content.startswith(SIGNATURE):
            raise ValueError(
                f"it begins with {content[:20]!r}, a .npz with {SIGNATURE!r}"
            ) from None
        if "not a zip file" in str(error):  # its directory, which stands last, is missing
            cut = f"of its {len(content)} bytes, the end is not that of a .npz: cut off or changed"
            raise ValueError(cut) from None
        raise ValueError(f"{type(error).__name__}: {error}") from None
    arrays = {name: _array(name, member) for name, member in members.items()}
    digest = arrays.pop(DIGEST, None)
    if digest is None:
        raise ValueError("it has no digest")
    if str(digest) != _digest({name: members[name] for name in arrays}):
        raise ValueError("its digest is that of another content")
    return arrays


def text_of(array: np.ndarray) -> str:
    """Return the text of an array; raise ValueError if it is none, too long, or nested too deep."""
    if array.shape or array.dtype.kind != "U":
        raise ValueError("expected a text")
    text = str(array)
    inside = np.frombuffer(re.sub(r'"(?:[^"\\]|\\.)*"', "", text).encode("utf-32-le"), "<u4")
    opening, closing = (np.isin(inside, [ord(each) for each in pair]) for pair in ("[{", "]}"))
    depth = np.cumsum(opening.astype(int) - closing)
    if depth.max(initial=0) > DEEPEST:
        raise ValueError(f"its header is nested more than {DEEPEST} deep")
    return text


def _members(archive: zipfile.ZipFile, most: int) -> dict[str, bytes]:
    """Return {name: bytes} of an archive's members, which together have no more than `most`."""
    infos = archive.infolist()
    if len(infos) > MEMBERS:
        raise ValueError(f"it has {len(infos)} members, expected at most {MEMBERS}")
    if sum(info.file_size for info in infos) > most:
        raise ValueError(f"it unpacks to more than {most} bytes")
    members = {}
    for info in infos:
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"member {info.filename!r}: unknown compression")
        with archive.open(info) as stream:  # read by size, where more would be unpacked at once
            members[info.filename.removesuffix(".npy")] = stream.read(info.file_size)
    return members


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _array(name: str, member: bytes) -> np.ndarray:
    """Return the array of an .npy member, whose header must say what its bytes are."""
    if member[:8] != b"\x93NUMPY\x01\x00" or len(member) < 10:
        raise ValueError(f"member {name!r}: no array")
    begin = 10 + int.from_bytes(member[8:10], "little")
    header = HEADER.fullmatch(member[10:begin])
    if header is None:
        raise ValueError(f"member {name!r}: no array of numbers or words")
    kind, characters, fortran, sizes = header.groups()
    shape = tuple(int(size) for size in re.findall(rb"\d+", sizes))
    if characters is not None and (shape or int(characters) > WORDS):
        raise ValueError(f"member {name!r}: a text of {characters.decode()} characters")
    values = np.dtype(kind.decode())
    count = 1
    for size in shape:
        count *= size
    if count * values.itemsize != len(member) - begin or len(shape) > 3:
        raise ValueError(f"member {name!r}: its size is not what its header says")
    array = np.frombuffer(member, values, offset=begin)
    return array.reshape(shape, order="F" if fortran == b"True" else "C")


def _digest(members: Mapping[str, bytes]) -> str:
    """Return the hash of members by name, in any order."""
    total = hashlib.sha256()
    for name in sorted(members):
        total.update(f"{name}/{len(members[name])}/".encode())
        total.update(members[name])
    return total.hexdigest()

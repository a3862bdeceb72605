"""Damaged and crafted result files: one kind of error that names the file, in little memory."""

import io
import json
import os
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

import ocp
from ocp import load
from ocp.storage.array_archive import pack_arrays, unpack_arrays
from ocp.storage.result_bytes import solution_bytes

ROOT = Path(__file__).parents[2]
MEMORY = 200e6  # bytes that reading any file of a few MB may take, beside those of the program
WATCHED = """
import os, resource, sys
def memory():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
RUN = ("exec", "compile", "import", "pickle", "marshal", "subprocess", "os.system", "os.exec")
def watch(event, _):
    if event.startswith(RUN):
        print(event, "was run", file=sys.stderr)
        sys.stderr.flush()
        os._exit(3)
"""
FLIPS = """
import random
from ocp.storage.result_files import read_solution
from ocp.storage.result_bytes import solution_bytes
good = open(sys.argv[1], "rb").read()
random.seed(1)
solution_bytes(read_solution(good, "good.npz"))
sys.addaudithook(watch)
before = memory()
refused = equal = 0
for _ in range(500):
    flipped = bytearray(good)
    flipped[random.randrange(len(good))] ^= 1 << random.randrange(8)
    try:
        equal += solution_bytes(read_solution(bytes(flipped), "flipped.npz")) == good
    except ValueError as error:
        refused += str(error).startswith("flipped.npz: not a result file of this program")
print(refused, equal, memory() - before)
"""
CRAFTED = """
import difflib, lzma  # what suggestions in errors and a packing load
from ocp import load
load(sys.argv[1])
sys.addaudithook(watch)
before = memory()
refused = []
for path in sys.argv[2:]:
    try:
        load(path)
    except ValueError as error:
        refused.append(str(error).startswith(path + ": not a result file of this program"))
print(sum(refused), len(sys.argv) - 2, memory() - before)
"""


def run(script, *paths):
    """The three numbers that a script prints, in a process that ends if it runs anything else."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WATCHED + script, *map(str, paths)],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


@pytest.mark.commands
def test_flipped_bits_are_refused_or_change_nothing(quick, tmp_path):
    """Of 500 such files 68 once raised something else than was promised."""
    ocp.save(quick, tmp_path / "quick.npz")
    refused, equal, memory = run(FLIPS, tmp_path / "quick.npz")
    assert refused + equal == 500 and refused > 300
    assert memory < MEMORY


def stored(name, *, size=0, kind=zipfile.ZIP_DEFLATED, content=b"", level=1):
    """The bytes of a zip with one member: its content, then zeros up to a size."""
    buffer = io.BytesIO()
    archive = zipfile.ZipFile(buffer, "w", kind, compresslevel=level)
    with archive, archive.open(f"{name}.npy", "w") as member:
        member.write(content)
        for _ in range(size // 2**20):
            member.write(bytes(2**20))
    return buffer.getvalue()


def npy(text):
    """The head of an .npy whose header is a text."""
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def large():
    """Few bytes that unpack to 70 MB, as they say, and such as say less."""
    shape = "{'descr': '<f8', 'fortran_order': False, 'shape': (9175040,), }"
    honest = stored("points", size=70 * 2**20, content=npy(shape))
    where = honest.index(b"PK\x01\x02") + 24  # the size in the directory
    return {"bomb": honest, "liar": honest[:where] + struct.pack("<I", 2**20) + honest[where + 4 :]}


def heads():
    """Array headers that ask for more than there is, or for code."""
    return {
        "shape": "{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999,), }",
        "negative": "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
        "many": f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({'1, ' * 5000}), }}",
        "objects": "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "code": "__import__('os').abort()",
        "nested": "(" * 9000,
        "text": "{'descr': '<U99999999', 'fortran_order': False, 'shape': (), }",
    }


def changed(arrays, path, value):
    """The arrays of a sound file with one entry of its header changed."""
    header = json.loads(str(arrays["header"]))
    *folders, last = path
    place = header
    for folder in folders:
        place = place[folder]
    place[last] = value
    return arrays | {"header": np.array(json.dumps(header))}


def headers(arrays):
    """Sound containers whose headers say what cannot be, {name: arrays}."""
    mesh = {"method": "radau", "intervals": 10**9, "order": 3}
    stages = {"method": "radau", "intervals": 1, "order": 10**5}
    paths = {
        "mesh": (("problem", "phases", 0, "motion"), mesh),
        "stages": (("problem", "phases", 0, "motion"), stages),
        "spline": (("problem", "phases", 0, "motion", "points"), 10**9),
        "degree": (("problem", "phases", 0, "motion", "degree"), 10**9),
        "question": (("tapes", 0, 0), [[0, "__class__"]]),
        "reach": (("tapes", 0, 0), [[0, "position", "nowhere"]]),
        "other end": (("tapes", 0, 0), [[1, "q"]]),
        "size": (("tapes", 0, 1), [10**9]),
        "operations": (("operations",), ["CALL"] * 60),
        "tape": (("problem", "phases", 0, "constraints", 0, "function"), {"tape": -1}),
        "none": (("problem",), None),
        "number": (("duration",), 10**400),
        "endless": (("duration",), "inf"),
        "list": (("statistics",), [1]),
        "words": (("explanation",), [1]),
        "mass": (("problem", "tree", "links", 0, "mass"), 3.0),
        "home": (("problem", "tree", "joints", 1, "home", 0, 0), 1e300),
        "bound": (("problem", "phases", 0, "constraints", 0, "upper"), [9.0, 9.0]),
        "rows": (("problem", "phases", 0, "constraints", 0, "upper"), [9.0] * 3),
    }
    return {name: changed(arrays, *change) for name, change in paths.items()}


def tables(arrays):
    """Sound containers whose arrays are none of a solution, {name: arrays}."""
    steps = arrays["tape_0_steps"].copy()
    steps[1, -1] = 10**6
    deep = np.array("[" * 100000 + "]" * 100000)
    return {
        "deep": arrays | {"header": deep},
        "wide": arrays | {"header": np.array("[" + "[]," * (6 * 10**5) + "[]]")},
        "loop": arrays | {"tape_0_steps": steps},
        "codes": arrays | {"tape_0_steps": steps + 1000},
        "nothing": {name: array for name, array in arrays.items() if name != "points"},
        "infinite": arrays | {"points": np.full((2, 12), np.nan)},
        "moved": arrays | {"points": arrays["points"] + 0.5},
        "huge": arrays | {"points": np.zeros((2, 3 * 10**6))},
        "times": arrays | {"t": np.zeros(10**6), "q": np.zeros((2, 10**6))},
        "words": arrays | {"lifted": np.array("words")},
    }


@pytest.mark.commands
def test_crafted_files_are_refused_in_little_memory(quick, tmp_path):
    """A file of 1.6 MB once took 1.6 GB."""
    arrays = unpack_arrays(solution_bytes(quick))
    contents = large()
    contents |= {name: stored("points", content=npy(text)) for name, text in heads().items()}
    contents["packing"] = stored("points", size=2**20, kind=zipfile.ZIP_LZMA, level=None)
    contents["locked"] = stored("points", size=2**20).replace(
        b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"
    )
    contents["empty"] = b""
    contents |= {f"h-{name}": pack_arrays(parts) for name, parts in headers(arrays).items()}
    contents |= {f"a-{name}": pack_arrays(parts) for name, parts in tables(arrays).items()}
    paths = [tmp_path / f"{name}.npz" for name in contents]
    for path, content in zip(paths, contents.values()):
        path.write_bytes(content)
    assert max(map(len, contents.values())) < 4e6
    ocp.save(quick, tmp_path / "quick.npz")
    refused, count, memory = run(CRAFTED, tmp_path / "quick.npz", *paths)
    assert refused == count == len(paths) and memory < MEMORY


@pytest.mark.parametrize(
    ("name", "words"), [("bomb", "it unpacks to more than 67108864 bytes"), ("liar", "Bad CRC-32")]
)
def test_nothing_is_unpacked_beyond_what_is_allowed_and_said(name, words):
    content = large()[name]
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=words):
            unpack_arrays(content)
        assert tracemalloc.get_traced_memory()[1] < 5e6  # bytes
    finally:
        tracemalloc.stop()


def test_a_member_of_another_file_is_noticed(quick, tmp_path):
    """Each member is sound by itself: the digest over all of them is not."""
    arrays = unpack_arrays(solution_bytes(quick))
    with zipfile.ZipFile(
        io.BytesIO(pack_arrays(arrays | {"points": arrays["points"] + 0.5}))
    ) as other:
        points = other.read("points.npy")
    path = tmp_path / "mixed.npz"
    ocp.save(quick, tmp_path / "quick.npz")
    with zipfile.ZipFile(tmp_path / "quick.npz") as sound, zipfile.ZipFile(path, "w") as mixed:
        for name in sound.namelist():
            mixed.writestr(name, points if name == "points.npy" else sound.read(name))
    with pytest.raises(ValueError, match=r"mixed\.npz: .*digest"):
        load(path)


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_what_is_no_regular_file_is_not_read(path):
    with pytest.raises(ValueError, match=f"{path}: is a device, expected a regular file"):
        load(path)

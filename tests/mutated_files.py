"""Files with deliberate damage, which every reader must read or refuse by name.

    python tests/mutated_files.py [KIND ...] [--count N] [--seed S] [--sound PATH ...] [--case K]

Sound files of each kind, or those of one's own, are changed at random: bytes flipped, cut out,
doubled, numbers and words put in the place of others, in result files behind a digest that is
right. Each is read in a child process that has 1 GB beyond what it begins with, and 10 s for a
file. Printed is how many were read and refused, and by its number whatever else happened: an error
of another kind than ValueError or without the file's name, a signal, a hang, too much memory.
`--case K` prints the path of that file. Exit status 1: something else happened.
"""

import argparse
import json
import re
import resource
import select
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

import ocp

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from c3d_files import DEC, INTEL, MIPS, plain_file  # noqa: E402
from mjcf_texts import BARS, MODEL, PULLED, muscle  # noqa: E402
from osim_texts import (  # noqa: E402
    ACTING,
    CHAIN,
    EXPONENTIAL,
    FREE,
    HIP_AXES,
    MESH,
    MUSCLES,
    OLD,
    PASSIVE,
    SHAPES,
    TERMS,
    leg,
    leg_along,
    looking,
    oldest,
    turning,
)
from urdf_texts import ARM, FINGERS, SOLES  # noqa: E402

from ocp import load, load_model, read_table, save_table, solve  # noqa: E402
from ocp.interchange import Table  # noqa: E402
from ocp.interchange.xml_elements import Misstated  # noqa: E402
from ocp.problems.arms import two_link_time  # noqa: E402
from ocp.storage.array_archive import pack_arrays, unpack_arrays  # noqa: E402

MEMORY = 2**30  # bytes beyond those that a reader begins with
START, PATIENCE = 60.0, 10.0  # s for the first file of a child, and for others
KINDS = ("trc", "mot", "sto", "csv", "c3d", "urdf", "mjcf", "npz", "osim", "fits")
ENDINGS = {"mjcf": "xml", "fits": "osim"}
WITHIN = 1.0  # m: so that fits of wraps are tried however bad they are
WORDS = (  # in place of others
    *b"0 -1 1e308 -1e-320 nan inf 1e400 4294967296 = , < > & [ { null yes mm deg fixed".split(),
    *(b"", b" ", b"\t", b"\n", b"\0", b"\xff", b'"', b"units=", b"endheader", b"\xef\xbb\xbf"),
)
TOKENS = tuple(map(re.compile, (rb"[-+\w.]+|[<>\"=/,;\t\n]", rb"-?\d[\d.]*(?:e[-+]?\d+)?")))


# Sound files --------------------------------------------------------------------------------------


def originals(kind: str, folder: Path) -> list[bytes]:
    """Return sound files of a kind."""
    if kind == "c3d":
        return [plain_file(each, scale) for each in (INTEL, DEC, MIPS) for scale in (-1.0, 0.5)]
    if kind == "urdf":
        return [text.encode() for text in (ARM, FINGERS, SOLES)]
    if kind == "mjcf":
        pulled = PULLED.format("".join(map(muscle, ("past", "round", "inside"))))
        return [text.encode() for text in (MODEL, BARS, pulled)]
    if kind == "osim":
        passive = (f'<{name} name="{name}">{more}</{name}>' for name, more in PASSIVE.items())
        legs = leg(*MUSCLES, *ACTING), leg(*passive)
        sums = turning(TERMS.replace("0.004", "0"), "a b")
        others = leg_along(TERMS), sums, EXPONENTIAL, looking(SHAPES + MESH), oldest(*HIP_AXES)
        return [text.encode() for text in (CHAIN, FREE, OLD, *legs, *others)]
    if kind == "fits":
        return [leg(MUSCLES[-1]).encode()]
    path = folder / f"sound.{kind}"
    if kind == "npz":
        ocp.save(solve(two_link_time.problem(points=8)), path)
    else:
        t = np.linspace(0.0, 0.07, 8)
        names = [f"{name}.{axis}" for name in ("KNEE", "HIP") for axis in "xyz"]
        labels, unit = (names, "m") if kind == "trc" else (("hip", "knee", "tip"), "rad")
        values = np.cos(np.outer(np.arange(1, len(labels) + 1), t))
        save_table(Table(t=t, labels=labels, values=values, units=[unit] * len(labels)), path)
    return [path.read_bytes()]


# Damage -------------------------------------------------------------------------------------------


def mutated(content: bytes, kind: str, rng: np.random.Generator) -> bytes:
    """Return a file's bytes after one change or some."""
    for _ in range(int(rng.choice([1, 1, 1, 1, 2, 8]))):
        if kind == "npz" and rng.random() < 0.7:
            content = _repacked(content, rng)
        elif kind in ("c3d", "npz") or rng.random() < 0.4:
            content = _other_bytes(content, rng)
        else:
            content = _other_words(content, rng)
    return content


def _other_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Return bytes of which some are others, gone, or there twice."""
    size = max(len(content), 1)
    begin = int(rng.integers(size if rng.random() < 0.5 else min(size, 1536)))
    end = begin + int(rng.choice([1, 1, 1, 2, 4, 64]))
    change = rng.integers(6)
    if change == 0:
        return content[:begin]
    if change == 1:
        return content[:begin] + content[end:]
    if change == 2:
        return content[:end] + content[begin:]
    random = bytes(rng.integers(256, size=end - begin, dtype=np.uint8).tolist())
    other = random if change < 5 else bytes([int(rng.choice([0, 1, 127, 128, 255]))])
    return content[:begin] + other + content[begin + len(other) :]


def _other_words(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a text of which a word, or a number, is another, one of its own, gone, or there many
    times."""
    token = TOKENS[rng.integers(len(TOKENS))]
    places = [match.span() for match in token.finditer(content)]
    if not places:
        return content + b"0"
    (begin, end), (first, last) = (places[k] for k in rng.integers(len(places), size=2))
    others = (WORDS[rng.integers(len(WORDS))], content[first:last], content[begin:end] * 300)
    other = others[rng.choice(3, p=(0.6, 0.35, 0.05))]
    return content[:begin] + other + content[end:]


def _repacked(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a result file of which an array or its header is another, under a digest of these."""
    try:
        arrays = dict(unpack_arrays(content))
    except ValueError:
        return content
    name = list(arrays)[rng.integers(len(arrays))] if rng.random() < 0.5 else "header"
    if name == "header" and name in arrays:
        text = _other_words(str(arrays[name]).encode(), rng).decode(errors="replace")
        arrays[name] = np.array(text)
    elif name in arrays:
        arrays[name] = _other_array(arrays[name], rng)
    return pack_arrays(arrays)


def _other_array(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    change = rng.integers(4)
    if change == 0 or not array.size or array.dtype.kind not in "if":
        return array.ravel()[: array.size // 2]
    if change == 1:
        return array.astype(float if array.dtype.kind == "i" else int)
    other = array.copy()
    extremes = (-1, 0, 2**31 - 1) if array.dtype.kind == "i" else (np.nan, np.inf, -1e300, 0.0)
    other.flat[rng.integers(array.size)] = extremes[rng.integers(len(extremes))]
    return other


# Readers ------------------------------------------------------------------------------------------


def outcome(kind: str, path: Path) -> str:
    """Return "read", "refused", or what else happened."""
    models: dict[str, Callable[[Path], object]] = dict.fromkeys(
        ("urdf", "mjcf", "osim"), load_model
    )
    models["fits"] = partial(load_model, fits=WITHIN)
    reader: Callable[[Path], object] = {"npz": load, **models}.get(kind, read_table)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("error", RuntimeWarning)
            reader(path)
    except Exception as error:
        if type(error) in (ValueError, Misstated) and path.name in str(error):
            return "refused"
        return f"{type(error).__name__}: {error}".replace("\n", " ")[:200]
    return "read"


def lay_out(kind: str, folder: Path, sound: Sequence[Path] = ()) -> None:
    """Write the sound files of a kind, or copies of others, into a folder."""
    contents = [path.read_bytes() for path in sound] or originals(kind, folder)
    for number, content in enumerate(contents):
        (folder / f"{kind}.{number}.sound").write_bytes(content)


def written(kind: str, case: int, seed: int, folder: Path) -> Path:
    """Return the path of a damaged file of this number, which is written in a folder."""
    rng = np.random.default_rng([seed, KINDS.index(kind), case])
    sound = sorted(folder.glob(f"{kind}.*.sound"))
    content = sound[rng.integers(len(sound))].read_bytes()
    path = folder / f"damaged.{ENDINGS.get(kind, kind)}"
    path.write_bytes(mutated(content, kind, rng))
    return path


def serve(kind: str, seed: int, first: int, last: int, folder: Path) -> None:
    """Print the outcome of each file, with as much memory as is allowed."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for case in range(first, last):
        print(json.dumps(outcome(kind, written(kind, case, seed, folder))), flush=True)


def outcomes(kind: str, seed: int, count: int, folder: Path) -> Iterator[tuple[int, str]]:
    """Yield the numbers of damaged files and what became of them, in child processes."""
    first = 0
    while first < count:
        command = [sys.executable, __file__, kind, "--serve", str(first), str(count)]
        command += ["--seed", str(seed), "--folder", str(folder)]
        silent, patience = subprocess.DEVNULL, START
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=silent, bufsize=0)
        with child:
            while first < count:
                ready, _, _ = select.select([child.stdout], [], [], patience)
                line = child.stdout.readline() if ready and child.stdout else b""
                if not line:
                    break
                yield first, json.loads(line)
                first, patience = first + 1, PATIENCE
            if first < count:
                yield first, _end_of(child) if ready else "hang"
                child.kill()
                first += 1


def _end_of(child: subprocess.Popen[bytes]) -> str:
    """Return how a child ended that says nothing any more."""
    status = child.wait()
    return f"ended by signal {-status}" if status < 0 else f"ended with status {status}"


def run(arguments: Sequence[str] | None = None) -> int:
    """Try what the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("kinds", metavar="KIND", nargs="*", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--count", type=int, default=2000, help="files of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sound", type=Path, nargs="+", default=[], help="files that are changed")
    parser.add_argument("--case", type=int, help="write this file alone, and print its path")
    parser.add_argument("--serve", type=int, nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    flags = parser.parse_args(arguments)
    if flags.serve:
        serve(flags.kinds[0], flags.seed, *flags.serve, flags.folder)
        return 0
    bad = 0
    for kind in flags.kinds or KINDS:
        folder = Path(tempfile.mkdtemp(prefix="mutated_files_"))
        lay_out(kind, folder, flags.sound)
        if flags.case is not None:
            print(written(kind, flags.case, flags.seed, folder))
            continue
        counts: Counter[str] = Counter()
        for case, word in outcomes(kind, flags.seed, flags.count, folder):
            counts[word if word in ("read", "refused") else "else"] += 1
            if word not in ("read", "refused"):
                print(f"  {kind} --case {case}: {word}", flush=True)
        print(f"{kind}: {counts['read']} read, {counts['refused']} refused, {counts['else']} else")
        bad += counts["else"]
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(run())

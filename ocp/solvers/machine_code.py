"""C text as machine code: compiled by the system's compiler, and kept on disk by content.

A library's name has two hashes: that of what it is made of, by what and for which machine, and that
of its own bytes, which is checked before it is loaded. It appears by an atomic rename in a folder
that nobody else can write in, so concurrent runs may share the cache, and nothing stale, cut or
planted is loaded.
"""

import hashlib
import os
import platform
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

HASH = 32  # hexadecimal digits of a hash that are kept
Loaded = TypeVar("Loaded")


class NoCompiler(RuntimeError):
    """Raised when no C compiler is found, or the one found does not work, or nowhere to keep what
    it makes."""


def load_compiled(
    name: str,
    sources: Mapping[str, str],
    load: Callable[[Path], Loaded],
    *,
    flags: Sequence[str],
    versions: Sequence[str] = (),
) -> Loaded:
    """Return what `load` makes of the library of C `sources`, {file: text}, the first of which is
    compiled with the compiler's `flags`; `load` raises RuntimeError or OSError where it cannot.

    The library's name begins with `name`, and depends on `versions` beside the sources. Raises
    NoCompiler with the reason if it cannot be had.
    """
    compiler = find_compiler()
    parts = (*versions, _version(compiler), *_machine(), *flags, *sources, *sources.values())
    name = f"{name}_{_hash(chr(0).join(parts).encode())}"
    try:
        folder = private_folder()
        library = _kept(folder, name) or _built(compiler, sources, flags, folder, name)
        try:
            return load(library)
        except (RuntimeError, OSError) as error:  # sound, yet not for this system: once more
            library.unlink()
            library = _built(compiler, sources, flags, folder, name)
            return _loaded(load, library, error)
    except OSError as error:
        raise NoCompiler(f"cannot compile in {cache_folder()}: {error}") from None


def find_compiler() -> str:
    """Return the path of the C compiler: $CC, or cc, gcc, clang.

    Raises NoCompiler if there is none.
    """
    wanted = [os.environ["CC"]] if os.environ.get("CC") else ["cc", "gcc", "clang"]
    for name in wanted:
        path = shutil.which(name)
        if path:
            return path
    raise NoCompiler(f"no C compiler found (looked for {', '.join(wanted)})")


def cache_folder() -> Path:
    """Return the folder of machine code: $OCP_CACHE, or `ocp` in the user's cache folder."""
    if os.environ.get("OCP_CACHE"):
        return Path(os.environ["OCP_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ocp"


def private_folder() -> Path:
    """Return the cache folder, made if there is none, in which nobody else can write.

    Raises NoCompiler if it is a link, another's, or one in which others may have written.
    """
    folder = cache_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not hasattr(os, "geteuid"):
        return folder
    state = os.lstat(folder)
    words = None
    if not stat.S_ISDIR(state.st_mode):
        words = "is no folder of its own"
    elif state.st_uid != os.geteuid():
        words = "belongs to another user"
    elif state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        words = "can be written by other users"
    if words:
        raise NoCompiler(f"cache folder {folder} {words}: remove it, or name another as OCP_CACHE")
    if stat.S_IMODE(state.st_mode) != 0o700:
        folder.chmod(0o700)
    return folder


@lru_cache
def _version(compiler: str) -> str:
    """Return what a compiler says of its version."""
    done = subprocess.run(
        [compiler, "--version"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return f"{compiler} {done.stdout}"


def _machine() -> tuple[str, ...]:
    """Return words for what a library runs on: system, processor, size of addresses, C library."""
    return sys.platform, platform.machine(), str(struct.calcsize("P")), *platform.libc_ver()


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:HASH]


def _kept(folder: Path, name: str) -> Path | None:
    """Return the library of a name whose content is as its own name says, or None.

    Others are removed: cut short by a full disk, changed, or somebody else's.
    """
    sound = None
    for library in sorted(folder.glob(f"{name}_*.so")):
        state = os.lstat(library)
        content = library.read_bytes() if stat.S_ISREG(state.st_mode) else b""
        if library.stem.removeprefix(f"{name}_") == _hash(content):
            sound = library
        else:
            library.unlink()
    return sound


def _built(
    compiler: str, sources: Mapping[str, str], flags: Sequence[str], folder: Path, name: str
) -> Path:
    """Compile C text and return the library.

    Raises NoCompiler with the compiler's last line.
    """
    with tempfile.TemporaryDirectory(dir=folder) as work:
        for file, text in sources.items():
            (Path(work) / file).write_text(text, encoding="utf-8")
        source, built = Path(work) / next(iter(sources)), Path(work) / "library.so"
        done = subprocess.run(
            [compiler, *flags, "-o", str(built), str(source), "-lm"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise NoCompiler(
                f"{compiler} failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}"
            )
        library = folder / f"{name}_{_hash(built.read_bytes())}.so"
        os.replace(built, library)
    return library


def _loaded(load: Callable[[Path], Loaded], library: Path, error: Exception) -> Loaded:
    """Return what is loaded of a library; raise NoCompiler if it does not load either."""
    try:
        return load(library)
    except (RuntimeError, OSError):
        words = str(error).strip().splitlines()
        raise NoCompiler(f"{library}: cannot be loaded: {words[-1]}") from None

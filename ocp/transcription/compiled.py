"""Kernels as machine code: C that CasADi generates, compiled by the system's compiler, and kept on
disk by content.

-O1 is as fast as -O3 on such straight-line code and compiles ten times sooner. A library's name has
two hashes: that of what it is made of, by what and for which machine, and that of its own bytes,
which is checked before it is loaded. It appears by an atomic rename in a folder that nobody else
can write in, so concurrent runs may share the cache, and nothing stale, cut or planted is loaded.
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
from functools import lru_cache
from pathlib import Path

import casadi as ca

FLAGS = ("-O1", "-fPIC", "-shared")
HASH = 32  # hexadecimal digits of a hash that are kept


class NoCompiler(RuntimeError):
    """Raised when no C compiler is found, or the one found does not work, or nowhere to keep what
    it makes."""


def compile_function(function):
    """Return the function as loaded machine code.

    Raises NoCompiler with the reason if that cannot be had.
    """
    compiler, code = find_compiler(), generate(function)
    parts = (ca.__version__, _version(compiler), *_machine(), *FLAGS, code)
    name = f"{function.name()}_{_hash(chr(0).join(parts).encode())}"
    try:
        folder = private_folder()
        library = _kept(folder, name) or _built(compiler, code, folder, name)
        try:
            return ca.external(function.name(), str(library))
        except RuntimeError as error:  # sound, yet not for this system: once more
            library.unlink()
            library = _built(compiler, code, folder, name)
            return _loaded(function.name(), library, error)
    except OSError as error:
        raise NoCompiler(f"cannot compile in {cache_folder()}: {error}") from None


def find_compiler():
    """Return the path of the C compiler: $CC, or cc, gcc, clang.

    Raises NoCompiler if there is none.
    """
    wanted = [os.environ["CC"]] if os.environ.get("CC") else ["cc", "gcc", "clang"]
    for name in wanted:
        path = shutil.which(name)
        if path:
            return path
    raise NoCompiler(f"no C compiler found (looked for {', '.join(wanted)})")


def cache_folder():
    """Return the folder of compiled kernels: $OCP_CACHE, or `ocp` in the user's cache folder."""
    if os.environ.get("OCP_CACHE"):
        return Path(os.environ["OCP_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ocp"


def private_folder():
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


def generate(function):
    """Return the C text of a function."""
    generator = ca.CodeGenerator(function.name())
    generator.add(function)
    return generator.dump()


@lru_cache
def _version(compiler):
    """Return what a compiler says of its version."""
    done = subprocess.run(
        [compiler, "--version"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return f"{compiler} {done.stdout}"


def _machine():
    """Return words for what a library runs on: system, processor, size of addresses, C library."""
    return sys.platform, platform.machine(), str(struct.calcsize("P")), *platform.libc_ver()


def _hash(content):
    return hashlib.sha256(content).hexdigest()[:HASH]


def _kept(folder, name):
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


def _built(compiler, code, folder, name):
    """Compile C text and return the library.

    Raises NoCompiler with the compiler's last line.
    """
    with tempfile.TemporaryDirectory(dir=folder) as work:
        source, built = Path(work) / "kernel.c", Path(work) / "kernel.so"
        source.write_text(code, encoding="utf-8")
        done = subprocess.run(
            [compiler, *FLAGS, "-o", str(built), str(source), "-lm"],
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


def _loaded(name, library, error):
    """Return a function of a library; raise NoCompiler if it does not load either."""
    try:
        return ca.external(name, str(library))
    except RuntimeError:
        words = str(error).strip().splitlines()
        raise NoCompiler(f"{library}: cannot be loaded: {words[-1]}") from None

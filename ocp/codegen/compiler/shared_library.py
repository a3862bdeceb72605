"""C text as machine code: compiled by the system's compiler, and kept on disk by content.

A library's name has two hashes: that of what it is made of, by what and for which machine, and that
of its own bytes, which is checked before it is loaded. It appears by an atomic rename in a folder
that nobody else can write in, so concurrent runs may share the cache, and nothing stale, cut or
planted is loaded.
"""

import os
import platform
import re
import signal
import stat
import struct
import sys
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import subprocess

LONGEST = 900.0  # s that a compiler may take: half a minute is usual for the largest kernels
ANSWERED = 30.0  # s within which it tells its version
HASH = 32  # hexadecimal digits of a hash that are kept
NATIVE = "-march=native"  # with it a library is known by its processor
PROCESSOR = Path("/proc/cpuinfo")
OF_PROCESSOR = re.compile(r"vendor_id|cpu family|model|stepping|flags|CPU \w+|Features")
Loaded = TypeVar("Loaded")
_UNDER_WAY: list[tuple["subprocess.Popen", float]] = []  # compilers and when each must have ended


class NoCompiler(RuntimeError):
    """Raised when no C compiler is found, or the one found does not work, or nowhere to keep what
    it makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """What is, or is to be, a library: its `name` with the hash of what it is made of, the path of
    the `compiler`, and the `flags` for it.

    All it does raises NoCompiler with the reason if it cannot be done.
    """

    name: str
    compiler: str
    flags: tuple[str, ...]

    def kept(self, load: Callable[[Path], Loaded]) -> Loaded | None:
        """Return what `load` makes of the library if it is there and sound, else None; one that
        does not load, with RuntimeError or OSError, is not for this system and is removed."""
        with _kept_in_cache():
            library = _kept(private_folder(), self.name)
            if library is None:
                return None
            try:
                return load(library)
            except (RuntimeError, OSError):
                library.unlink()
                return None

    def begun(self, sources: Mapping[str, str]) -> "Build":
        """Return the Build of C `sources`, {file: text}, the first of which is compiled. It begins
        when fewer are under way than there are cores."""
        _make_room()
        with _kept_in_cache():
            build = Build(self, sources)
        _UNDER_WAY.append((build.process, build.deadline))
        return build


class Build:
    """A library that a compiler is making meanwhile."""

    def __init__(self, code: Code, sources: Mapping[str, str]) -> None:
        import shutil  # what is compiled alone needs these
        import subprocess
        import tempfile

        self.code, folder = code, Path(tempfile.mkdtemp(dir=private_folder()))
        self.cleared = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        for file, text in sources.items():
            (folder / file).write_text(text, encoding="utf-8")
        self.source = folder / next(iter(sources))
        self.library, self.errors = folder / "library.so", folder / "errors"
        command = [code.compiler, *code.flags, "-o", str(self.library), str(self.source), "-lm"]
        quiet: Any = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                command, stderr=errors, start_new_session=hasattr(os, "killpg"), **quiet
            )
        self.deadline = time.monotonic() + LONGEST
        self.ended = weakref.finalize(self, _end, self.process)

    def result(self) -> Path:
        """Return the library, when it is there; only once.

        Raises NoCompiler with the compiler's last line, or where it takes too long.
        """
        try:
            return self._placed()
        except OSError as error:
            raise _refused(error) from None
        finally:
            self.ended()
            self.cleared()

    def _placed(self) -> Path:
        _wait(self.process, self.deadline)
        if self.process.returncode is None:
            raise NoCompiler(f"{self.code.compiler} has not ended within {LONGEST:g} s")
        if self.process.returncode:
            words = self.errors.read_text(errors="replace").strip().splitlines()
            last = (words or ["no message"])[-1]
            raise NoCompiler(f"{self.code.compiler} failed: {last}")
        name = f"{self.code.name}_{_hash(self.library.read_bytes())}.so"
        return self.library.replace(private_folder() / name)


def code_of(name: str, made_of: Sequence[str], flags: Sequence[str]) -> Code:
    """Return the Code of a library whose name begins with `name`, of all the texts that it is
    `made_of` and compiled with `flags`.

    Raises NoCompiler with the reason if there is no compiler.
    """
    compiler = find_compiler()
    own = [processor()] if NATIVE in flags else []
    parts = (_version(compiler), *_machine(), *own, *flags, *made_of)
    known = f"{name}_{_hash(chr(0).join(parts).encode())}"
    return Code(name=known, compiler=compiler, flags=tuple(flags))


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
    return begin_load(name, sources, load, flags=flags, versions=versions)()


def begin_load(
    name: str,
    sources: Mapping[str, str],
    load: Callable[[Path], Loaded],
    *,
    flags: Sequence[str],
    versions: Sequence[str] = (),
) -> Callable[[], Loaded]:
    """Begin to compile, and return what waits for what `load_compiled` returns, to be called once.

    Both raise NoCompiler with the reason if it cannot be had.
    """
    code = code_of(name, (*versions, *sources, *sources.values()), flags)
    found = code.kept(load)
    if found is not None:
        return lambda: found
    build = code.begun(sources)
    return lambda: load_library(load, build.result())


def load_library(load: Callable[[Path], Loaded], library: Path) -> Loaded:
    """Return what is loaded of a library; raise NoCompiler with the reason if it cannot be."""
    try:
        return load(library)
    except (RuntimeError, OSError) as error:
        words = (str(error).strip().splitlines() or ["no message"])[-1]
        raise NoCompiler(f"{library}: cannot be loaded: {words}") from None


def find_compiler() -> str:
    """Return the path of the C compiler: $CC, or cc, gcc, clang.

    Raises NoCompiler if there is none.
    """
    import shutil  # which few programs need

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
    import subprocess  # which few programs need

    try:
        done = subprocess.run(
            [compiler, "--version"],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=ANSWERED,
        )
    except subprocess.TimeoutExpired:
        raise NoCompiler(f"{compiler} --version has not ended within {ANSWERED:g} s") from None
    return f"{compiler} {done.stdout}"


def _machine() -> tuple[str, ...]:
    """Return words for what a library runs on: system, processor, size of addresses, C library."""
    return sys.platform, platform.machine(), str(struct.calcsize("P")), *platform.libc_ver()


@lru_cache
def processor() -> str:
    """Return words for the processor and what it can do, "" where they are not to be had."""
    try:
        with PROCESSOR.open(encoding="utf-8", errors="replace") as lines:
            own = [*takewhile(str.strip, lines)]  # of the first one
    except OSError:
        return ""
    told = [line.strip() for line in own if OF_PROCESSOR.match(line)]
    able = any(line.startswith(("flags", "Features")) for line in told)
    return "\n".join(told) if able else ""


def _hash(content: bytes) -> str:
    import hashlib  # which few programs need

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


def _make_room() -> None:
    """Wait until fewer compilers run than there are cores."""
    cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    _UNDER_WAY[:] = [each for each in _UNDER_WAY if each[0].poll() is None]
    while len(_UNDER_WAY) >= cores:
        _wait(*_UNDER_WAY.pop(0))


def _wait(process: "subprocess.Popen", deadline: float) -> None:
    """Wait until a compiler has ended, or a time (s) has come."""
    import subprocess

    with suppress(subprocess.TimeoutExpired):
        process.wait(max(0.0, deadline - time.monotonic()))


def _end(process: "subprocess.Popen") -> None:
    """End a compiler that still runs, with all that it has started."""
    if process.poll() is not None:
        return
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


@contextmanager
def _kept_in_cache() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _refused(error) from None


def _refused(error: OSError) -> NoCompiler:
    return NoCompiler(f"cannot compile in {cache_folder()}: {error}")

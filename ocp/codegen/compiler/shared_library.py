"""C compiled into shared libraries, cached on disk by content.

A library's name has two hashes: of its sources, compiler, flags and machine, and of its own bytes,
which is checked before it is loaded. It appears by an atomic rename in a folder that nobody else
can write in. So concurrent runs may share the cache, and nothing stale, cut or planted is loaded.
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
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import subprocess

LONGEST = 900.0  # s that a compiler may take: half a minute is usual for the largest kernels
ANSWERED = 30.0  # s within which it tells its version
HASH = 32  # hexadecimal digits of a hash that are kept
NATIVE = "-march=native"  # with it a library is known by its processor
PROCESSOR = Path("/proc/cpuinfo")
FEATURES = re.compile(r"vendor_id|cpu family|model|stepping|flags|CPU \w+|Features")
Loaded = TypeVar("Loaded")
Load = Callable[[Path], Loaded]  # raises RuntimeError or OSError if it cannot load a library
_RUNNING: list[tuple["subprocess.Popen", float]] = []  # compilers, and when each must have ended


class NoCompiler(RuntimeError):
    """Raised if no C compiler is found, it does not work, or its output cannot be kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Identity of a library: `name` with the hash of its sources, `compiler` path, and `flags`."""

    name: str
    compiler: str
    flags: tuple[str, ...]

    def load_cached(self, load: Load[Loaded]) -> Loaded | None:
        """Return the result of `load` for the cached library, None if there is no sound one.

        One that does not load is not for this system, and is removed. Raises NoCompiler if the
        cache cannot be used.
        """
        with _os_errors_as_no_compiler():
            library = _find_cached(private_folder(), self.name)
            if library is None:
                return None
            try:
                return load(library)
            except (RuntimeError, OSError):
                library.unlink()
                return None

    def start(self, sources: Mapping[str, str]) -> "Build":
        """Start to compile C `sources`, {file: text}, as soon as a core is free.

        The first source is compiled, others are included. Raises NoCompiler.
        """
        _wait_for_core()
        with _os_errors_as_no_compiler():
            build = Build(self, sources)
        _RUNNING.append((build.process, build.deadline))
        return build


class Build:
    """A running compiler and its folder of sources, both gone when the build is."""

    def __init__(self, code: Code, sources: Mapping[str, str]) -> None:
        import shutil  # cached libraries do without these
        import subprocess
        import tempfile

        self.code, folder = code, Path(tempfile.mkdtemp(dir=private_folder()))
        self.remove_folder = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        for file, text in sources.items():
            (folder / file).write_text(text, encoding="utf-8")
        source = folder / next(iter(sources))
        self.library, self.errors = folder / "library.so", folder / "errors"
        command = [code.compiler, *code.flags, "-o", str(self.library), str(source), "-lm"]
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=hasattr(os, "killpg"),
            )
        self.deadline = time.monotonic() + LONGEST
        self.kill = weakref.finalize(self, _kill, self.process)

    def result(self) -> Path:
        """Wait for the library and move it into the cache; only once.

        Raises NoCompiler with the compiler's last line, or if it takes too long.
        """
        try:
            _wait(self.process, self.deadline)
            if self.process.returncode is None:
                raise NoCompiler(f"{self.code.compiler} has not ended within {LONGEST:g} s")
            if self.process.returncode:
                words = self.errors.read_text(errors="replace").strip().splitlines()
                last = (words or ["no message"])[-1]
                raise NoCompiler(f"{self.code.compiler} failed: {last}")
            name = f"{self.code.name}_{_hash(self.library.read_bytes())}.so"
            return self.library.replace(private_folder() / name)
        except OSError as error:
            raise _no_compiler(error) from None
        finally:
            self.kill()
            self.remove_folder()


def library_code(name: str, known_by: Sequence[str], flags: Sequence[str]) -> Code:
    """Return the Code of a library.

    Args:
        name: its name begins so.
        known_by: texts that it follows from.
        flags: of the compiler.

    Raises:
        NoCompiler: there is none.
    """
    compiler = find_compiler()
    own = [processor()] if NATIVE in flags else []
    parts = (_version(compiler), *machine(), *own, *flags, *known_by)
    known = f"{name}_{_hash(chr(0).join(parts).encode())}"
    return Code(name=known, compiler=compiler, flags=tuple(flags))


def begin_load(
    name: str,
    sources: Mapping[str, str],
    load: Load[Loaded],
    *,
    flags: Sequence[str],
    versions: Sequence[str] = (),
) -> Callable[[], Loaded]:
    """Begin to compile C sources unless cached.

    Args:
        name: the library's name begins so.
        sources: {file: text}; the first is compiled, others are included.
        load: loads the library's path.
        flags: of the compiler.
        versions: texts, beside the sources, with which the library changes.

    Returns:
        A function that waits, once, for what `load` makes of the library.

    Raises:
        NoCompiler: with the reason, as the function returned does.
    """
    code = library_code(name, (*versions, *sources, *sources.values()), flags)
    found = code.load_cached(load)
    if found is not None:
        return lambda: found
    build = code.start(sources)
    return lambda: load_library(load, build.result())


def load_library(load: Load[Loaded], library: Path) -> Loaded:
    """Return the result of `load` for a library; raise NoCompiler with the reason if it cannot."""
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
    """Return a compiler's path and the answer to --version."""
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


def machine() -> tuple[str, ...]:
    """Return system, processor, size of addresses and C library: caches are shared by machines."""
    return sys.platform, platform.machine(), str(struct.calcsize("P")), *platform.libc_ver()


@lru_cache
def processor() -> str:
    """Return the processor's model and features, "" if the system does not tell."""
    try:
        with PROCESSOR.open(encoding="utf-8", errors="replace") as lines:
            own = [*takewhile(str.strip, lines)]  # of the first one
    except OSError:
        return ""
    lines_of = [line.strip() for line in own if FEATURES.match(line)]
    has_features = any(line.startswith(("flags", "Features")) for line in lines_of)
    return "\n".join(lines_of) if has_features else ""


def _hash(content: bytes) -> str:
    import hashlib  # which few programs need

    return hashlib.sha256(content).hexdigest()[:HASH]


def _find_cached(folder: Path, name: str) -> Path | None:
    """Return the library of a name whose content has the hash in its file name, or None.

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


def _wait_for_core() -> None:
    """Wait until fewer compilers run than there are cores."""
    cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    _RUNNING[:] = [each for each in _RUNNING if each[0].poll() is None]
    while len(_RUNNING) >= cores:
        _wait(*_RUNNING.pop(0))


def _wait(process: "subprocess.Popen", deadline: float) -> None:
    """Wait until a compiler has ended, or the deadline (s) has passed."""
    import subprocess

    with suppress(subprocess.TimeoutExpired):
        process.wait(max(0.0, deadline - time.monotonic()))


def _kill(process: "subprocess.Popen") -> None:
    """End a compiler that still runs, with all processes that it has started."""
    if process.poll() is not None:
        return
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


@contextmanager
def _os_errors_as_no_compiler() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _no_compiler(error) from None


def _no_compiler(error: OSError) -> NoCompiler:
    return NoCompiler(f"cannot compile in {cache_folder()}: {error}")

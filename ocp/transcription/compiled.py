"""Kernels as machine code: C that CasADi generates, compiled by the system's compiler, and kept on
disk by content.

-O1 is as fast as -O3 on such straight-line code and compiles ten times sooner. A library's name is
the hash of its C text, CasADi's version, compiler and flags, and it appears by an atomic rename, so
concurrent runs may share the cache and nothing stale is ever loaded.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import casadi as ca

FLAGS = ("-O1", "-fPIC", "-shared")


class NoCompiler(RuntimeError):
    """Raised when no C compiler is found, or the one found does not work."""


def compile_function(function):
    """Return the function as loaded machine code.

    Raises NoCompiler with the reason if that cannot be had.
    """
    compiler = find_compiler()
    code = generate(function)
    key = hashlib.sha256("\0".join([ca.__version__, compiler, *FLAGS, code]).encode()).hexdigest()[
        :32
    ]
    library = cache_folder() / f"{function.name()}_{key}.so"
    if not library.exists():
        _build(compiler, code, library)
    return ca.external(function.name(), str(library))


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


def generate(function):
    """Return the C text of a function."""
    generator = ca.CodeGenerator(function.name())
    generator.add(function)
    return generator.dump()


def _build(compiler, code, library):
    try:
        library.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=library.parent) as folder:
            source, built = Path(folder) / "kernel.c", Path(folder) / "kernel.so"
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
            os.replace(built, library)
    except OSError as error:
        raise NoCompiler(f"cannot compile in {library.parent}: {error}") from None

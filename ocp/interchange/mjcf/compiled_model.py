"""MJCF files compiled by MuJoCo, and its messages with their place in the file."""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from ocp.interchange.mjcf.equalities import MjModel, MjSpec, object_name
from ocp.interchange.reader_notes import Remarks
from ocp.interchange.xml_elements import Misstated, check_includes, file_content, parse_xml
from ocp.mechanics.model.joints import GROUND
from ocp.version import MissingExtra, install_hint

INCLUDE = rb"<include\b[^>]*?\bfile\s*=\s*[\"\']([^\"\']+)"
SAID = re.compile(
    r"^(?:XML )?(?:Error: )*(?P<words>.*?)"
    r"(?: Element (?:name '(?P<name>[^']*)', id -?\d+|'(?P<tag>\w+)'))?(?:, line (?P<line>\d+))?$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A file compiled by MuJoCo.

    `spec` is MuJoCo's statement of the file and `compiled` the model; `links` and `joints` are the
    names of its bodies and joints in the tree, by their numbers; `warned` are MuJoCo's warnings,
    `absent` the files of meshes and pictures that are not there; `shapes` ("visual" or "collision")
    show links.
    """

    spec: MjSpec
    compiled: MjModel
    path: Path
    links: Sequence[str]
    joints: Mapping[int, str]
    warned: Sequence[str]
    absent: Sequence[str]
    shapes: str

    @contextmanager
    def located_errors(self, joint: int | None = None) -> Iterator[None]:
        """Name the file, and the line and name of a joint by its number, in the ValueErrors of
        the block."""
        try:
            yield
        except Misstated:
            raise
        except ValueError as error:
            if joint is None:
                raise Misstated(f"{self.path.name}: {error}") from None
            lines = {each.id: each.info.removeprefix("line ") for each in self.spec.joints}
            place = _place(self.path, lines.get(joint, ""))
            raise Misstated(f"{place}: <joint> {self.joints[joint]!r}: {error}") from None


def compile_model(path: Path, shapes: str) -> Model:
    """Return the Model of a file.

    Args:
        path: of the file.
        shapes: "visual" or "collision", those that show links.

    Raises:
        ValueError: the file is wrong; the message names it, and where MuJoCo tells it the line.
        ModuleNotFoundError: MuJoCo is not installed.
    """
    try:
        import mujoco
    except ImportError:
        raise MissingExtra(f"{path.name}: MuJoCo is needed: {install_hint('mjcf')}") from None
    check_includes(path, INCLUDE)
    try:
        with quiet(mujoco) as warned:
            spec = mujoco.MjSpec.from_file(str(path))
            absent = _without_absent(mujoco, spec, path)
            spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE  # of muscles, which are none
            model = spec.compile()
    except Misstated:
        raise
    except (ValueError, RuntimeError) as error:
        words = " ".join(str(error).split())
        if "parse error" in words:
            parse_xml(file_content(path), path.name)  # says it better
        raise _located_error(path, words) from None
    try:
        model.names.decode("utf-8")
    except UnicodeDecodeError as error:
        other = model.names[error.start : error.start + 2].hex(" ")
        raise Misstated(
            f"{path.name}: expected names in UTF-8, got one with other bytes ({other})"
        ) from None
    if model.nbody < 2:
        raise ValueError(f"{path.name}: it has no body but the world")
    bodies = [object_name(model, "BODY", k) or f"body {k}" for k in range(model.nbody)]
    names = [name if name != GROUND else f"{name} of the file" for name in bodies]
    joints = {
        k: object_name(model, "JOINT", k) or f"{names[model.jnt_bodyid[k]]} joint {k + 1}"
        for k in range(model.njnt)
    }
    said = tuple(dict.fromkeys(" ".join(words.split()) for words in warned))
    return Model(
        spec=spec,
        compiled=model,
        path=path,
        links=names,
        joints=joints,
        warned=said,
        absent=absent,
        shapes=shapes,
    )


def major_version() -> int:
    """Return the major version of the MuJoCo that reads files."""
    import mujoco

    return int(mujoco.__version__.partition(".")[0])


@contextmanager
def quiet(mujoco: ModuleType) -> Iterator[list[str]]:
    """Collect MuJoCo's warnings, which it would print and write to a file of its own."""
    words: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(words.append)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield words
        words += [str(each.message) for each in caught]
    finally:
        mujoco.set_mju_user_warning(before)


def _without_absent(mujoco: ModuleType, spec: MjSpec, path: Path) -> list[str]:
    """Remove shapes and pictures without a file from a statement, and return the files.

    Raises Misstated where the mass of a body follows from one.
    """
    meshes = _absent(spec.meshes, path.parent / spec.meshdir)
    pictures = _absent(spec.textures, path.parent / spec.texturedir)
    for geom in list(spec.geoms):
        if geom.meshname in meshes:
            body, line = geom.parent, geom.info.removeprefix("line ")
            never = (
                spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
            )
            if not (body.explicitinertial or never or geom.mass == 0 or geom.density == 0):
                raise Misstated(
                    f"{_place(path, line)}: <geom> of body {body.name!r}: its mass follows from a "
                    f"mesh that is not there, {meshes[geom.meshname]}; state an <inertial>"
                )
            spec.delete(geom)
    for material in spec.materials:
        for k, name in enumerate(material.textures):
            if name in pictures:
                material.textures[k] = ""
    for each in [*spec.meshes, *spec.textures]:
        if each.name in (meshes if each in spec.meshes else pictures):
            spec.delete(each)
    return [*meshes.values(), *pictures.values()]


def _absent(assets: Sequence[MjSpec], folder: Path) -> dict[str, str]:
    """Return {name: file} of assets whose files are not there."""
    return {
        each.name: str(folder / each.file)
        for each in assets
        if each.file and not (folder / each.file).is_file()
    }


def _located_error(path: Path, words: str) -> Misstated:
    """Return MuJoCo's error with its place first."""
    parts = SAID.match(words)
    if parts is None:
        return Misstated(f"{path.name}: {words}")
    tag = f"<{parts['tag']}>: " if parts["tag"] else ""
    name = f"{parts['name']!r}: " if parts["name"] else ""
    return Misstated(f"{_place(path, parts['line'] or '')}: {tag}{name}{parts['words']}")


def _place(path: Path, line: str) -> str:
    """Return the name of a file and a line, which may be one of the files that it includes."""
    if line and b"<include" in file_content(path):
        return f"{path.name} or a file that it includes, line {line}"
    return f"{path.name}:{line}" if line else path.name


def ignored_parts(model: Model) -> Remarks:
    """Return by kind MuJoCo's warnings, and parts of a file that have no counterpart here."""
    data = model.compiled
    flexes = [object_name(data, "FLEX", k) or f"flex {k + 1}" for k in range(data.nflex)]
    moved = [model.links[k] for k in range(1, data.nbody) if data.body_mocapid[k] >= 0]
    plugins = [model.links[k] for k in range(1, data.nbody) if data.body_plugin[k] >= 0]
    crossed = [
        model.joints[k] for k in range(data.njnt) if data.jnt_range[k][0] > data.jnt_range[k][1]
    ]
    return {
        "MuJoCo warns": model.warned,
        "files that are not there, what shows them is left out": model.absent,
        "flexes are left out, but for the bodies of their vertices": flexes,
        "forces that plugins give bodies are left out": plugins,
        "bodies that are moved from outside (mocap) stand still": moved,
        "ranges whose lower end is above the upper one count for none": crossed,
    }

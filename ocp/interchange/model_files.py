"""Models from files and into files: URDF, xacro, MJCF, OpenSim's, mock-up units."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path

from numpy.typing import ArrayLike

from ocp.interchange.c_code.fmu import fmu_archive
from ocp.interchange.fitted_wraps import fit_wraps
from ocp.interchange.mjcf.reader import read_mjcf
from ocp.interchange.opensim.osim_writer import opensim_text
from ocp.interchange.opensim.reader import read_opensim
from ocp.interchange.reader_notes import Remarks, warn_of_remarks
from ocp.interchange.urdf.reader import read_urdf
from ocp.interchange.urdf.writer import urdf_text
from ocp.interchange.urdf.xacro import expand_macros
from ocp.interchange.xml_elements import Element, file_content, parse_xml
from ocp.mechanics.model.tree import Tree
from ocp.storage.atomic_files import write

SHAPES = ("visual", "collision")
REPAIRS = ("balance", "keep", "weld", "loosen")
ELSEWHERE = {
    "sdf": "SDF files are not read",
    "mujoco": "MJCF is read of files in UTF-8 without macros",
    "mujocoinclude": "a part of other MJCF files; load the file that includes it",
}
BESIDE = {b"<?": b"?>", b"<!--": b"-->", b"<!": b">"}  # what may stand before the first element
OPENSIM = "OpenSimDocument"
DOWN = (0.0, 0.0, -9.81)  # m/s2, where a file states no gravity
# by the ending of a file: its content, and what is to be said of it
WRITERS: Mapping[str, Callable[[Tree, str], tuple[str | bytes, Remarks]]] = {
    ".osim": opensim_text,
    ".fmu": fmu_archive,
}


def load_model(
    path: str | PathLike[str],
    *,
    base: str | None = None,
    repair: str | Sequence[str] | None = None,
    gravity: ArrayLike | None = None,
    folders: Sequence[str | PathLike[str]] = (),
    arguments: Mapping[str, object] | None = None,
    shapes: str = "visual",
    soles: Sequence[str] = (),
    fits: float | None = None,
) -> Tree:
    """Return the Tree of a model's file: URDF, xacro (URDF with macros), MJCF or OpenSim's .osim.

    Names of links and joints are those of the file. What is repaired, left out or not found, as a
    mesh, is said by a ModelWarning.

    Args:
        path: of the file.
        base: of a URDF file's root link: "fixed" (the default), "free" (three slides and a ball) or
            "planar" (along x and z, about y), the last two without drives; of an MJCF file "fixed"
            holds its free joints.
        repair: some of "balance" (inertias of no body become the nearest one's), "keep" (those that
            only break the triangle inequality stay, before "balance"), "weld" (joints that move no
            mass are fixed) and "loosen" (joints that follow an unknown joint follow none). Without
            it
            such a file is refused, but for inertias of frames that hardly have any mass.
        gravity: (3,), m/s2, instead of the file's, or of 9.81 along -z.
        folders: where else meshes of packages may be.
        arguments: {name: value} of a file of macros.
        shapes: of links: the file's "visual" ones or its "collision" shapes.
        soles: links of a URDF file that get points "LINK.1" and so on, the lowest of their
            collision
            shapes where no joint has moved.
        fits: largest root-mean-square error of a length (m) of the polynomials that `fit_wraps`
            puts in place of muscles' wrapped paths; None keeps the exact wraps.

    Raises:
        ValueError: the file states something wrong; the message names file, line and element.
        ModuleNotFoundError: the extra `xacro` or `mjcf` is missing.
    """
    path = Path(path)
    repairs = (repair,) if isinstance(repair, str) else tuple(repair or ())
    for each in repairs:
        if each not in REPAIRS:
            raise ValueError(
                f"load_model: repair: expected some of {', '.join(REPAIRS)}, got {each!r}"
            )
    if shapes not in SHAPES:
        raise ValueError(f"load_model: shapes: expected one of {', '.join(SHAPES)}, got {shapes!r}")
    if _is_mjcf(path):
        _check_plain(path, arguments)
        if soles:
            raise ValueError(
                f"{path.name}: soles are found in URDF files alone; state points of the tree"
            )
        tree, remarks = read_mjcf(path, base=base, repair=repairs, gravity=gravity, shapes=shapes)
    else:
        root = _root(path, arguments)
        if root.tag in ELSEWHERE:
            raise root.wrong(ELSEWHERE[root.tag])
        if root.tag == OPENSIM:
            if base is not None or soles:
                raise root.wrong(
                    "an OpenSim file states its joints to the ground and its contacts itself"
                )
            others = tuple(Path(folder) for folder in folders)
            tree, remarks = read_opensim(
                root, path, repair=repairs, gravity=gravity, folders=others
            )
        else:
            tree, remarks = read_urdf(
                root,
                path,
                base="fixed" if base is None else base,
                repair=repairs,
                gravity=DOWN if gravity is None else gravity,
                folders=tuple(Path(folder) for folder in folders),
                shapes=shapes,
                soles=(soles,) if isinstance(soles, str) else tuple(soles),
            )
    paths = (visual.path for link in tree.links for visual in link.visuals if visual.path)
    absent = [each for each in dict.fromkeys(paths) if not Path(each).is_file()]
    warn_of_remarks(path.name, {**remarks, "meshes that are not there": absent})
    return tree if fits is None else fit_wraps(tree, within=fits)


def _is_mjcf(path: Path) -> bool:
    """Tell whether the first element of a file is that of MJCF."""
    if path.suffix == ".xacro":
        return False
    rest = file_content(path).removeprefix(b"\xef\xbb\xbf").lstrip()
    while end := next((end for start, end in BESIDE.items() if rest.startswith(start)), b""):
        rest = rest.partition(end)[2].lstrip()
    return rest.startswith(b"<mujoco") and rest[7:8] in (b" ", b"\t", b"\r", b"\n", b"/", b">")


def _check_plain(path: Path, arguments: Mapping[str, object] | None) -> None:
    """Raise ValueError if arguments are given for a file without macros."""
    if arguments:
        raise ValueError(f"{path.name}: only files named .xacro take arguments, got {[*arguments]}")


def _root(path: Path, arguments: Mapping[str, object] | None) -> Element:
    """Return the root element of a file, its macros expanded."""
    if path.suffix == ".xacro":
        file_content(path)  # says what is wrong with the file itself
        return parse_xml(expand_macros(path, arguments or {}), path.name)
    _check_plain(path, arguments)
    root = parse_xml(file_content(path), path.name)
    if any(each.tag.startswith("xacro:") for each in root.children):
        raise root.wrong("it has macros: a file of macros is named .xacro")
    return root


def save_model(tree: Tree, path: str | PathLike[str], *, name: str | None = None) -> None:
    """Write a tree as a file of a model, by its ending: OpenSim's .osim, a unit .fmu of the
    Functional Mock-up Interface, else URDF.

    Numbers read back the same, in OpenSim's poses to rounding. In URDF a floating base is left out,
    and is that of `load_model(..., base="free")`. What the format has no word for is said by a
    ModelWarning, where the motion of bodies does not depend on it.

    Args:
        tree: the robot or body.
        path: of the file.
        name: of the model, by default that of the file.

    Raises:
        ValueError: the motion depends on what the format has no word for, which is named.
        OSError: nothing can be written there.
    """
    path = Path(path)
    content_of = WRITERS.get(path.suffix, urdf_text)
    content, remarks = content_of(tree, path.stem if name is None else name)
    write(path, content)
    warn_of_remarks(path.name, remarks)

"""The `ocp model` command: what the file of a model holds and what was left out of it."""

import argparse
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from math import isfinite

from ocp.cli.exit_status import DONE, REFUSED, refuse
from ocp.cli.flags import read_line
from ocp.interchange import ModelWarning, load_model, save_model
from ocp.mechanics import Joint, Tree
from ocp.mechanics.muscles import PolynomialPath, muscles_of
from ocp.mechanics.values.validation import unit_of
from ocp.text_tables import Line, align

OPEN = "without end"


def command(arguments: Sequence[str]) -> int:
    """Print the contents of a file of a model: links, coordinates, what acts, what was left out."""
    parser = argparse.ArgumentParser(
        prog="ocp model", description=command.__doc__, allow_abbrev=False
    )
    parser.add_argument("file", metavar="FILE", help="URDF, xacro, MJCF or .osim")
    words = "write it as another model too, by the ending: .osim or .urdf"
    parser.add_argument("--save", metavar="FILE", help=words)
    words = "draw it: bodies, muscles, surfaces that they wrap over, points (.png, .svg or .pdf)"
    parser.add_argument("--plot", metavar="FILE", help=words)
    words = "what may be mended, of balance, keep, weld and loosen, separated by commas"
    parser.add_argument("--repair", default="", metavar="WORDS", help=words)
    words = "polynomials in place of wrapped paths, as near as METRES (root mean square)"
    parser.add_argument("--fits", type=float, metavar="METRES", help=words)
    flags = read_line(parser, arguments)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ModelWarning)
            repair = [*filter(None, flags.repair.split(","))]
            tree = load_model(flags.file, repair=repair, fits=flags.fits)
            if flags.save is not None:
                save_model(tree, flags.save)
            if flags.plot is not None:
                from ocp.plots import plot_model

                plot_model(tree, flags.plot)
        print(align(_summary(tree)))
        print()
        print(align(_coordinate(joint) for joint in tree.moving if joint.unit is None))
        for each in caught:
            print(f"\n{each.message}")
    except REFUSED as error:
        return refuse("ocp model", error)
    return DONE


def _summary(tree: Tree) -> Iterator[Line]:
    """Yield the parts of a tree by kind."""
    mass = sum(float(link.mass) for link in tree.links)
    heavy = sum(bool(link.mass) for link in tree.links)
    yield "links", f"{len(tree.links)}, {heavy} of them with mass, {mass:.6g} kg in all"
    followers = [joint for joint in tree.joints if joint.follows is not None]
    fixed = sum(joint.kind == "fixed" for joint in tree.joints)
    yield (
        "joints",
        f"{len(tree.joints)}: {fixed} fixed, {len(followers)} that follow a coordinate",
    )
    driven = sum(joint.actuated and joint.unit is None for joint in tree.moving)
    states = len(tree.states)
    yield "coordinates", f"{tree.dof - states}, {driven} of them driven, and {states} states"
    yield "gravity", f"{' '.join(f'{part:g}' for part in tree.gravity)} m/s2"
    looks = [each for link in tree.links for each in link.visuals]
    if looks:
        meshes = sum(each.kind == "mesh" for each in looks)
        yield "looks", f"{meshes} meshes and {len(looks) - meshes} shapes"
    for what, parts in (("loops", tree.loops), ("points", tree.points)):
        if parts:
            yield what, f"{len(parts)}: {', '.join(part.name for part in parts):.60}"
    fits = [each.path for each in muscles_of(tree) if isinstance(each.path, PolynomialPath)]
    if fits:
        worst = 1e3 * max(each.rms or 0.0 for each in fits)
        yield "fitted paths", f"{len(fits)}, {worst:.3g} mm off at worst (root mean square)"
    for kind, count in Counter(type(each).__name__ for each in tree.elements).items():
        yield kind, str(count)


def _coordinate(joint: Joint) -> Line:
    """Return a coordinate with its range and the limits of its drive."""
    ranges = [("", joint.position, unit_of(joint, "q"))]
    if joint.actuated:
        ranges.append(("driven ", joint.torque, unit_of(joint, "tau")))
    words = [
        f"{what}{low:g} to {high:g} {unit}" if isfinite(low) or isfinite(high) else f"{what}{OPEN}"
        for what, (low, high), unit in ranges
    ]
    return joint.name, ", ".join(words)

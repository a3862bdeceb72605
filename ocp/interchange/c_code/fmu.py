"""Trees as functional mock-up units of model exchange (FMI 2.0), with exact slopes.

A unit's states are q and qd, its inputs the torques of the drives, its outputs the places of the
tree's points, its parameters what the tree leaves open (FMI 2.0.4, sections 2 and 3).
"""

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import casadi as ca

from ocp.codegen.c_source import c_number
from ocp.codegen.compiler.shared_library import NoCompiler, begin_load, machine
from ocp.dynamics import forward_dynamics
from ocp.interchange.c_code.c_folder import WORD, c_header, c_source
from ocp.interchange.c_code.tree_functions import PARAMETERS, check_plain_states, dense_function
from ocp.interchange.reader_notes import Remarks
from ocp.mechanics.kinematics.kinematics import positions
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import Parameter, nominal, parameters_of
from ocp.mechanics.values.validation import unit_of
from ocp.storage.atomic_files import bytes_of
from ocp.version import VERSION

MODEL = Path(__file__).with_name("fmu_model.c")
FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fvisibility=hidden", "-fPIC", "-shared")
# folder and ending of a library by system and processor
PLATFORMS = {
    ("linux", "x86_64"): ("linux64", "so"),
    ("darwin", "x86_64"): ("darwin64", "dylib"),
    ("win32", "AMD64"): ("win64", "dll"),
}
EPOCH = (1980, 1, 1, 0, 0, 0)  # of all files: the same tree makes the same unit
UNITS = {  # exponents of the SI's base units
    "m": {"m": 1},
    "m/s": {"m": 1, "s": -1},
    "m/s2": {"m": 1, "s": -2},
    "rad": {"rad": 1},
    "rad/s": {"rad": 1, "s": -1},
    "rad/s2": {"rad": 1, "s": -2},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N m": {"kg": 1, "m": 2, "s": -2},
    "kg": {"kg": 1},
    "kg m2": {"kg": 1, "m": 2},
    "N m/rad": {"kg": 1, "m": 2, "s": -2, "rad": -1},
    "N m s/rad": {"kg": 1, "m": 2, "s": -1, "rad": -1},
    "N/m": {"kg": 1, "s": -2},
    "N s/m": {"kg": 1, "s": -1},
    "s": {"s": 1},
    "1/s": {"s": -1},
    "1/s2": {"s": -2},
}


class Variable(NamedTuple):
    """A variable of a unit: `name`, `causality`, `variability`, `unit`, `start` (None: computed),
    and the row of the state of which it is the rate (None: of none)."""

    name: str
    causality: str
    variability: str
    unit: str
    start: float | None = None
    rate_of: int | None = None


def fmu_archive(tree: Tree, name: str) -> tuple[bytes, Remarks]:
    """Return a tree as the bytes of a functional mock-up unit, and by kind what is to be said.

    The unit holds its C sources and, where there is a C compiler, the library for this machine.

    Args:
        tree: the robot or body.
        name: of the unit.

    Raises:
        ValueError: the name is no word of C, or the tree has loops, states of elements or stays.
    """
    if not WORD.fullmatch(name):
        raise ValueError(f"save_model: a unit's name is a word of C such as 'arm', got {name!r}")
    check_plain_states("save_model", tree)
    if tree.loops:
        loops = ", ".join(loop.name for loop in tree.loops)
        raise ValueError(
            f"save_model: the states of a unit are independent, and the tree has the loops {loops}"
        )
    functions, variables = _functions(tree), _variables(tree)
    sources = {
        f"{name}.c": c_source(name, functions),
        f"{name}.h": c_header(name, functions, f"Dynamics of a tree by ocp {VERSION}"),
    }
    content = "".join([*sources.values(), bytes_of(MODEL).decode(), repr(variables)])
    token = sha256(content.encode()).hexdigest()[:32]
    sources = {"fmu_model.c": _model(tree, name, variables, token), **sources}
    files: dict[str, str | bytes] = {
        "modelDescription.xml": _description(name, variables, token, [f"{name}.c", "fmu_model.c"]),
        **{f"sources/{file}": text for file, text in sources.items()},
    }
    remarks: dict[str, list[str]] = {}
    system, processor = machine()[:2]
    try:
        folder, ending = PLATFORMS[system, processor]
        files[f"binaries/{folder}/{name}.{ending}"] = _library(name, sources)
    except (NoCompiler, KeyError) as error:
        why = error if isinstance(error, NoCompiler) else f"none for {system} on {processor}"
        remarks["sources without a library"] = [f"{why}"]
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as unit:
        for file, text in files.items():
            unit.writestr(zipfile.ZipInfo(file, EPOCH), text, zipfile.ZIP_DEFLATED)
    return archive.getvalue(), remarks


def _functions(tree: Tree) -> dict[str, ca.Function]:
    """Return `rates`, the accelerations and places of a state, and `rates_along` a direction."""
    n, known = tree.dof, parameters_of(tree)
    now = {name: ca.SX.sym(name, n) for name in ("q", "qd", "tau")}
    values = ca.SX.sym(PARAMETERS, len(known))
    places = positions(tree, now["q"], tree.points) if tree.points else []
    results = [forward_dynamics(tree, now["q"], now["qd"], now["tau"]), ca.vertcat(*places)]
    results = [ca.SX(ca.densify(each)) for each in results]
    results = ca.substitute(results, [ca.vertcat(*(p.expression for p in known))], [values])
    now[PARAMETERS] = values
    along = {
        f"{name}_along": ca.SX.sym(f"{name}_along", each.numel()) for name, each in now.items()
    }
    turned = [
        ca.jtimes(each, ca.vertcat(*now.values()), ca.vertcat(*along.values())) for each in results
    ]
    names = ("qdd", "places")
    return {
        "rates": dense_function("rates", now, dict(zip(names, results)), ()),
        "rates_along": dense_function("rates_along", now | along, dict(zip(names, turned)), ()),
    }


def _variables(tree: Tree) -> list[Variable]:
    """Return the variables of a unit in the order of their values."""
    moving, neutral = tree.moving, nominal(tree).neutral
    state = partial(Variable, causality="output", variability="continuous")
    drives = [joint for joint in moving if joint.actuated]
    return [
        *(
            state(name=joint.name, unit=unit_of(joint, "q"), start=start)
            for joint, start in zip(moving, neutral)
        ),
        *(
            state(name=f"{joint.name}.rate", unit=unit_of(joint, "qd"), start=0.0, rate_of=k)
            for k, joint in enumerate(moving)
        ),
        *(
            Variable(
                f"{joint.name}.acceleration",
                "local",
                "continuous",
                unit_of(joint, "qdd"),
                rate_of=len(moving) + k,
            )
            for k, joint in enumerate(moving)
        ),
        *(
            Variable(f"{joint.name}.drive", "input", "continuous", unit_of(joint, "tau"), 0.0)
            for joint in drives
        ),
        *(
            Variable(f"{point.name}.{axis}", "output", "continuous", "m")
            for point in tree.points
            for axis in "xyz"
        ),
        *(_parameter(each) for each in parameters_of(tree)),
    ]


def _parameter(parameter: Parameter) -> Variable:
    return Variable(parameter.name, "parameter", "tunable", parameter.unit, parameter.value)


def _model(tree: Tree, name: str, variables: Sequence[Variable], token: str) -> str:
    """Return the source of the unit's interface."""
    rows = {joint.name: k for k, joint in enumerate(tree.moving)}
    starts = [each.start for each in variables if each.start is not None]
    inputs = sum(each.causality == "input" for each in variables)
    states = 2 * tree.dof
    start = [*starts[:states], *starts[states + inputs :]]
    words = {
        "NAME": name,
        "TOKEN": token,
        "STATES": f"{tree.dof}",
        "INPUTS": f"{inputs}",
        "OUTPUTS": f"{3 * len(tree.points)}",
        "PARAMETERS": f"{len(parameters_of(tree))}",
        "DRIVEN": ", ".join(f"{rows[each]}" for each in tree.driven) or "0",
        "START": ", ".join(map(c_number, start)),
    }
    return re.sub("@([A-Z]+)@", lambda found: words[found[1]], bytes_of(MODEL).decode())


def _description(
    name: str, variables: Sequence[Variable], token: str, sources: Sequence[str]
) -> str:
    """Return the text of modelDescription.xml."""
    outputs = [k for k, each in enumerate(variables, 1) if each.causality == "output"]
    rates = [k for k, each in enumerate(variables, 1) if each.rate_of is not None]
    computed = [
        k
        for k, each in enumerate(variables, 1)
        if each.start is None and (each.causality == "output" or each.rate_of is not None)
    ]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<fmiModelDescription fmiVersion="2.0" modelName="{name}" guid="{token}"'
        f' generationTool="ocp {VERSION}" variableNamingConvention="flat"'
        ' numberOfEventIndicators="0">',
        f'  <ModelExchange modelIdentifier="{name}" canGetAndSetFMUstate="true"'
        ' canSerializeFMUstate="true" providesDirectionalDerivative="true"'
        ' completedIntegratorStepNotNeeded="true">',
        "    <SourceFiles>",
        *(f'      <File name="{file}"/>' for file in sources),
        "    </SourceFiles>",
        "  </ModelExchange>",
        *_unit_definitions(variables),
        "  <ModelVariables>",
        *(_scalar(k, each) for k, each in enumerate(variables)),
        "  </ModelVariables>",
        "  <ModelStructure>",
        *_unknowns("Outputs", outputs),
        *_unknowns("Derivatives", rates),
        *_unknowns("InitialUnknowns", computed),
        "  </ModelStructure>",
        "</fmiModelDescription>",
        "",
    ]
    return "\n".join(lines)


def _unit_definitions(variables: Sequence[Variable]) -> list[str]:
    """Return the lines on the units in use, of those with a known make-up."""
    used = dict.fromkeys(each.unit for each in variables if each.unit)
    lines = []
    for unit in used:
        exponents = "".join(f' {base}="{power}"' for base, power in UNITS.get(unit, {}).items())
        inside = f"<BaseUnit{exponents}/>" if exponents else ""
        lines.append(f"    <Unit name={quoteattr(unit)}>{inside}</Unit>")
    return ["  <UnitDefinitions>", *lines, "  </UnitDefinitions>"] if lines else []


def _scalar(reference: int, variable: Variable) -> str:
    """Return the line on a variable."""
    given = variable.start is not None
    initial = ""
    if variable.causality not in ("input", "parameter"):
        initial = f' initial="{"exact" if given else "calculated"}"'
    real = f" unit={quoteattr(variable.unit)}" if variable.unit else ""
    real += f' start="{variable.start!r}"' if given else ""
    real += "" if variable.rate_of is None else f' derivative="{variable.rate_of + 1}"'
    return (
        f'    <ScalarVariable name={quoteattr(variable.name)} valueReference="{reference}"'
        f' causality="{variable.causality}" variability="{variable.variability}"{initial}>'
        f"<Real{real}/></ScalarVariable>"
    )


def _unknowns(kind: str, rows: Sequence[int]) -> list[str]:
    """Return the lines on the unknowns of a kind."""
    lines = [f'      <Unknown index="{row}"/>' for row in rows]
    return [f"    <{kind}>", *lines, f"    </{kind}>"] if rows else []


def _library(name: str, sources: Mapping[str, str]) -> bytes:
    """Return the bytes of the library of a unit.

    Raises:
        NoCompiler: there is none, or it fails.
    """
    whole = {"whole.c": "".join(f'#include "{file}"\n' for file in sources if file.endswith(".c"))}
    return begin_load(f"fmu_{name}", {**whole, **sources}, bytes_of, flags=FLAGS)()

"""The house keeps its order: wings stand on one another, and what leaves the program has one home
each."""

import ast
import re
from functools import cache

import pytest
from sources import ROOT, modules

FLOORS = (
    {"version", "lazy", "startup", "pickling", "spelling", "text_tables", "index_sets"},
    {"mechanics", "motion", "codegen"},
    {"dynamics", "solvers"},
    {"problem", "interior_point"},
    {"transcription"},
    {"solution", "diagnosis"},
    {"certificate", "storage"},
    {"report", "solving"},
    {"sensitivity", "mpc", "estimation"},
    {"interchange"},
    {"plots"},
    {"studies"},
    {"cli"},
)
LARGEST_FOLDER = 15
FLOOR = {wing: floor for floor, wings in enumerate(FLOORS) for wing in wings}


@cache
def files():
    """Trees of all files below `ocp`."""
    return {ROOT / path: tree for path, tree in modules().items() if path.parts[0] == "ocp"}


@cache
def nodes(path):
    """All nodes of a file."""
    return [*ast.walk(files()[path])]


def wing(path):
    """Folder (or file) below `ocp` that a file belongs to."""
    return path.relative_to(ROOT / "ocp").with_suffix("").parts[0]


@cache
def imported(path):
    """Dotted names that a file imports."""
    names = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def dotted(node):
    """Dotted name of an expression, from the last part on that is no name."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


@cache
def calls():
    """Dotted names of everything that each file calls."""
    return {
        path: {dotted(node.func) for node in nodes(path) if isinstance(node, ast.Call)}
        for path in files()
    }


def test_a_wing_stands_only_on_lower_ones():
    upward = []
    for path in files():
        own = wing(path)
        for name in imported(path):
            root, _, rest = name.partition(".")
            other = rest.partition(".")[0]
            if root == "ocp" and own in FLOOR and other != own and other in FLOOR:
                upward += [(path.name, name)] if FLOOR[other] >= FLOOR[own] else []
            if root == "ocp" and own in FLOOR and other not in FLOOR:
                upward.append((path.name, name))
    assert upward == []


def test_no_module_imports_itself_by_way_of_others():
    """Local imports and those for type checkers count; faces of packages load late."""
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path
        for path in files()
        if path.name != "__init__.py"
    }
    edges = {
        name: {
            target
            for whole in imported(path)
            for target in (whole, whole.rpartition(".")[0])
            if target in modules and target != name
        }
        for name, path in modules.items()
    }
    while leaves := {name for name, targets in edges.items() if not targets & edges.keys()}:
        edges = {name: targets for name, targets in edges.items() if name not in leaves}
    assert not edges  # what is left stands in a circle, or upon one


def test_folders_hold_at_most_fifteen_files():
    crowded = {}
    for folder in (
        each for wing in ("ocp", "models", "problems") for each in (ROOT / wing).rglob("*/")
    ):
        kept = [each for each in folder.iterdir() if each.is_file() and each.suffix != ".pyc"]
        if len(kept) > LARGEST_FOLDER:
            crowded[str(folder.relative_to(ROOT))] = len(kept)
    assert crowded == {}


def test_problems_and_models_import_from_public_faces():
    inner = []
    others = {path: tree for path, tree in modules().items() if path.parts[0] != "ocp"}
    for path, tree in others.items():
        for name in modules_of(tree):
            root, *rest = name.split(".")
            face = (ROOT.joinpath(*name.split(".")) / "__init__.py").exists()
            own = rest[:1] in (["models"], ["problems"])
            if root == "ocp" and len(rest) > 1 and not (face or own):
                inner.append((str(path), name))
    assert inner == []


def modules_of(tree):
    """Dotted names of the modules that a file imports from, or as a whole."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_names_that_load_late_are_no_modules_of_their_package():
    """Importing the module would put it in the place of the name."""
    shadowed = {}
    for path in (*(ROOT / "ocp").rglob("__init__.py"), *ROOT.glob("[mp]*s/**/__init__.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        late = {
            alias.name
            for block in tree.body
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
            for node in ast.walk(block)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        if clash := late & {each.stem for each in path.parent.iterdir()}:
            shadowed[str(path.relative_to(ROOT))] = clash
    assert shadowed == {}


def test_every_wing_says_its_purpose_in_a_line():
    for name in FLOOR:
        page = ROOT / "ocp" / name / "__init__.py"
        if page.exists():
            line = (ast.get_docstring(files()[page]) or "").partition("\n")[0]
            assert 10 < len(line) <= 98, name


def homes(*names):
    """Files, as wing/name, that call any of these."""
    return {f"{wing(path)}/{path.stem}" for path, called in calls().items() if called & {*names}}


def test_graphs_solvers_files_and_words_have_one_home():
    assert homes("ca.nlpsol") <= {"solvers/casadi_plugins"}
    assert homes("open", "np.load", "os.replace") <= {
        "storage/atomic_files",
        "storage/result_files",
        "codegen/shared_library",
    }
    reads = {  # package files of its own, or temporary ones, are read elsewhere too
        f"{wing(path)}/{path.stem}"
        for path, called in calls().items()
        if any(name.endswith((".read_bytes", ".read_text")) for name in called)
    }
    closed = ("storage/", "solution/", "interchange/")
    assert not {home for home in reads if home.startswith(closed)}
    assert {home.partition("/")[0] for home in homes("print")} <= {"cli"}
    # loops are closed, and paths sampled, in numbers, hundreds of times
    numbers = {"mechanics/loop_assembly", "mechanics/path_fits"}
    splines = {"dynamics/tensor_splines"}  # tables are splines, which CasADi has as functions
    texts = {"mechanics/expression_data"}  # expressions have a text as functions alone
    inertias = {"dynamics/exponentials"}  # are moved in expressions as a whole, not by entries
    written = {"interchange/tree_functions"}  # functions are what C is written of
    functions = homes("ca.Function") - numbers - splines - texts - inertias - written
    assert {home.partition("/")[0] for home in functions} <= {
        "transcription",
        "solvers",
        "codegen",
        "interior_point",
    }


def test_a_motion_is_asked_for_its_phases_in_few_files():
    """Elsewhere there are parts, at least one, whether phases were stated or not."""
    asked = re.compile(r"(?<!\bproblem)(?<!\btranscription)\.phases\b|\bproblem\.phases(?!\.)\b")
    asking = set()
    for path in files():
        lines = path.read_text(encoding="utf-8").splitlines()
        if any(asked.search(line) for line in lines if "ocp.problem.phases" not in line):
            asking.add(path.relative_to(ROOT).as_posix())
    assert len(asking) <= 5, asking


def test_processes_data_bases_and_pictures_have_one_wing():
    for path in files():
        roots = {name.partition(".")[0] for name in imported(path)}
        assert wing(path) in ("studies",) or not roots & {"multiprocessing", "concurrent"}
        assert wing(path) == "studies" or "sqlite3" not in roots
        assert wing(path) == "plots" or "matplotlib" not in roots


def test_test_files_have_names_of_their_own():
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]  # as which pytest has them
    assert sorted(names) == sorted({*names})


def test_few_types_are_any():
    """The budget is what there is, imports counted too, so that it can only fall."""
    tomllib = pytest.importorskip("tomllib")  # Python 3.11
    budgets = tomllib.loads((ROOT / "tests" / "budgets.toml").read_text(encoding="utf-8"))
    paths = (path for path in files() if not {"models", "problems"} & {*path.parts})
    words = sum(len(re.findall(r"\bAny\b", path.read_text(encoding="utf-8"))) for path in paths)
    assert words == budgets["types"]["any"], "lower the budget to what is left"

"""The way through a solve: the functions and files of the house that a simple one enters."""

import subprocess
import sys

import pytest

COUNT = """
import sys
from pathlib import Path
import ocp
from ocp.problems.arms.two_link_time import problem

stated, house, entered = problem(), str(Path(ocp.__file__).parent), set()

def watch(frame, event, argument):
    code = frame.f_code
    named = not code.co_name.startswith("<")  # no comprehension, no lambda
    if event == "call" and named and code.co_filename.startswith(house):
        entered.add((code.co_filename, code.co_name, code.co_firstlineno))

sys.setprofile(watch)
solution = ocp.solve(stated)
sys.setprofile(None)
assert solution.success
print(len(entered), len({file for file, *_ in entered}))
"""


@pytest.mark.commands
def test_a_solve_of_two_links_enters_few_functions_and_files():
    """In a process of its own, where nothing is kept of other solves."""
    ran = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)
    functions, files = map(int, ran.stdout.split())
    assert functions <= 450 and files <= 60

"""Run one task of one system in this process, and print what it took as a line of JSON.

`python child.py MODULE TASK SETTINGS REPEATS LIMIT`: the settings are JSON, the limit is one of
processor time (s). Nothing of `ocp` is imported
here, for some systems bring a CasADi of their own.
"""

import contextlib
import importlib
import json
import os
import resource
import sys
import time
from typing import Any

START = "RESULT "  # what the line begins with


def run(module: str, task: str, settings: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Return processor seconds of the import, of the first run and of the others, and the answer.

    `cold` counts from the start of the interpreter to the end of the first run.
    """
    begin = time.process_time()
    system = importlib.import_module(module)
    imported = time.process_time()
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        answer = system.TASKS[task](**settings)
        seconds.append(time.process_time() - start)
        if len(seconds) == 1:
            cold = time.process_time()
    return {
        "version": system.version(),
        "import": imported - begin,
        "cold": cold,
        "seconds": seconds,
        **answer(),
    }


def main() -> None:
    """Do what the command line says, with everything else that is printed sent to stderr."""
    module, task, settings, repeats, limit = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
    stdout = os.dup(1)
    os.dup2(2, 1)  # of C++ as well
    with contextlib.redirect_stdout(sys.stderr):
        result = run(module, task, json.loads(settings), int(repeats))
    with os.fdopen(stdout, "w") as out:
        print(START + json.dumps(result), file=out)


if __name__ == "__main__":
    main()

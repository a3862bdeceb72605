"""The `ocp` command as `python -m ocp`."""

import sys

from ocp.cli.main import command

sys.exit(command())

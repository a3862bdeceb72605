"""The `ocp` command as `python -m ocp`."""

import sys

from ocp.cli.command import command

sys.exit(command())

"""List what runs as `python -m problems.NAME`."""

from ocp.cli.listing import line, modules
from ocp.studies import aligned

if __name__ == "__main__":
    print(
        aligned(
            [(f"python -m problems.{name}", line(module)) for name, module in modules().items()]
        )
    )

"""Types of what the functions of this house take and return."""

from typing import Any, TypeAlias

# A CasADi matrix, SX, MX or DM alike. They have no base in common, and CasADi types its operations
# for each alone: of a union a checker refuses every sum, so it sees nothing.
Matrix: TypeAlias = Any

# Numbers of a record: given as anything that numpy reads, kept as nested tuples.
Numbers: TypeAlias = Any

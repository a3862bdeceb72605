"""Types of what the functions of this house take and return."""

from typing import Any, TypeAlias

# A CasADi matrix, SX, MX or DM alike; CasADi ships no types, so a checker sees Any.
Matrix: TypeAlias = Any

# Numbers of a record: given as anything that numpy reads, kept as nested tuples.
Numbers: TypeAlias = Any

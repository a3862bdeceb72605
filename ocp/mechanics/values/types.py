"""Types of what the functions of this house take and return."""

from typing import Any, TypeAlias

# A CasADi matrix, SX, MX or DM alike; CasADi ships no types, so a checker sees Any.
Matrix: TypeAlias = Any

# Numbers of a record: given as anything that numpy reads, kept as nested tuples.
Numbers: TypeAlias = Any

# A number of a record: a float, or an Open number of parameters, whose module stands on this one.
Number: TypeAlias = Any

"""CasADi functions as C, compiled by the system's compiler."""

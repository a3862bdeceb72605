"""The file of a study: rows, leases, repair, identity of cells."""

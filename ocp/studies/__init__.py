"""Many solves: tasks, designs of parameters, workers, a data base, tables, solvers compared."""

"""From a problem to a nonlinear program: methods, variables, kernels, sparse derivatives, laws."""

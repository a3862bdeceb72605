"""Assembly of rows, Jacobians and Hessians from blocks of kernels."""

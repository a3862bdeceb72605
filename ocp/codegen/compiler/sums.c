/* Constant sparse matrices times vectors, row by row.

   Before this text stands the type `sum`: starts of rows, places in the vector, and weights. */

static void add_rows(const struct sum *p, const double *vector, int first, double *result) {
  for (int i = 0; i < p->rows; ++i) {
    double total = 0;
    if (vector)
      for (int e = p->starts[i]; e < p->starts[i + 1]; ++e)
        total += p->weight[e] * vector[p->from[e]];
    result[i] = first ? total : result[i] + total;
  }
}

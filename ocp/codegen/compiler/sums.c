/* Constant sparse matrices times vectors, row by row.

   Before this stands the type `sum`: of every row where its entries start, from which places of the
   vector they take a number, and their weights. */

static void summed(const struct sum *p, const double *vector, int first, double *result) {
  for (int i = 0; i < p->rows; ++i) {
    double total = 0;
    if (vector)
      for (int e = p->starts[i]; e < p->starts[i + 1]; ++e)
        total += p->weight[e] * vector[p->from[e]];
    result[i] = first ? total : result[i] + total;
  }
}

/* Sums of products of kernels' values with constant weights, put in their places.

   Of every product: at each instant of a run, values go to the places of a block, slots after
   pairs; blocks of a run times their weights are columns of numbers, of which each is added where
   it belongs. Before this stand the tables: INPUTS, nonzeros[], products[] and what these name. */

typedef double vector __attribute__((vector_size(64), aligned(8)));
enum { LANES = 8, TILE = 4 };

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
static void multiplied(const double *block, int stride, int inner, const double *weight, int last,
                       double *out) {
  for (int first = 0; first < stride; first += LANES * TILE)
    for (int k = 0; k < last; ++k) {
      const double *w = weight + (long)k * inner;
      vector sums[TILE] = {{0}};
      for (int i = 0; i < inner; ++i) {
        const vector *from = (const vector *)(block + (long)i * stride + first);
        for (int t = 0; t < TILE; ++t) sums[t] += w[i] * from[t];
      }
      vector *to = (vector *)(out + (long)k * stride + first);
      for (int t = 0; t < TILE; ++t) to[t] = sums[t];
    }
}

static void add(const struct product *p, const double **given, double *work, double *result) {
  double *block = work, *out = work + (long)p->stride * p->slots * p->longest;
  const int *where = p->where;
  const double *weight = p->weight;
  for (int r = 0; r < p->runs; ++r) {
    int first = p->starts[r], count = p->starts[r + 1] - first, inner = count * p->slots;
    for (long j = 0; j < (long)p->stride * inner; ++j) block[j] = 0;
    for (int i = 0; i < count; ++i) {
      double *at = block + (long)i * p->slots * p->stride;
      const double *from[INPUTS];
      for (int k = 0; k < INPUTS; ++k) from[k] = given[k] + (long)(first + i) * nonzeros[k];
      for (const struct entry *e = p->entry; e < p->entry + p->entries; ++e)
        at[e->place] += from[e->input][e->nonzero];
    }
    multiplied(block, p->stride, inner, weight, p->last, out);
    weight += (long)inner * p->last;
    for (int k = 0; k < p->last; ++k)
      for (int j = 0; j < p->pairs; ++j, ++where)
        if (*where >= 0) result[*where] += out[(long)k * p->stride + j];
  }
}

/* Sums of scattered products: values of kernels times constant weights, added at their places.

   For every product and run: values of each instant go to the places of a block, slots after pairs;
   those `alone` are copied, later ones added. The block times the weights gives columns of numbers,
   stretches of which go to the result, or are added to it unless ONCE tells that nothing else goes
   there. Before this text stand the tables: INPUTS, ONCE, nonzeros[], products[] and theirs. */

typedef double vector __attribute__((vector_size(64), aligned(8)));
enum { LANES = 8, TILE = 4 };

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
static void multiply(const double *block, int stride, int inner, const double *weight, int last,
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
  const double *weight = p->weight;
  for (long j = 0; j < (long)p->stride * p->slots * p->longest; ++j) block[j] = 0;
  for (int r = 0; r < p->runs; ++r) {
    int first = p->starts[r], count = p->starts[r + 1] - first, inner = count * p->slots;
    for (int i = 0; i < count; ++i) {
      double *at = block + (long)i * p->slots * p->stride;
      const double *from[INPUTS];
      for (int k = 0; k < INPUTS; ++k) from[k] = given[k] + (long)(first + i) * nonzeros[k];
      const struct entry *e = p->entry, *more = e + p->alone, *end = e + p->entries;
      for (; e < more; ++e) at[e->place] = from[e->input][e->nonzero];
      for (; e < end; ++e) at[e->place] += from[e->input][e->nonzero];
    }
    multiply(block, p->stride, inner, weight, p->last, out);
    weight += (long)inner * p->last;
    for (const struct stretch *s = p->stretch + p->ends[r]; s < p->stretch + p->ends[r + 1]; ++s) {
      const double *from = out + s->from;
      double *to = result + s->to;
      for (int j = 0; j < s->length; ++j) to[j] = ONCE ? from[j] : to[j] + from[j];
    }
  }
}

/* Unknowns that a factorisation solves for by large numbers. */

/* Rows t to t + `rows` of a strip B less what L' has of the rows after. */
static inline void subtract_below(const double *A, int m, int t, int rows, double *B) {
  lanes sum[4][PARTS] = {{{0}}};
  for (int i = t + rows; i < m; i++)
    for (int k = 0; k < rows; k++)
      for (int part = 0; part < PARTS; part++)
        sum[k][part] += A[(size_t)i * m + t + k] * *(const lanes *)(B + i * WIDE + part * LANES);
  for (int k = rows - 1; k >= 0; k--) {
    lanes *row = (lanes *)(B + (t + k) * WIDE);
    for (int part = 0; part < PARTS; part++) row[part] -= sum[k][part];
    for (int after = k + 1; after < rows; after++)
      for (int part = 0; part < PARTS; part++)
        row[part] -= A[(size_t)(t + after) * m + t + k] *
                     *(const lanes *)(B + (t + after) * WIDE + part * LANES);
  }
}

/* Strip B (m, WIDE) := P' inv(L') B. */
static void backward_strip(const double *A, int m, const int *pivot, double *B) {
  int t = m / 4 * 4;
  if (t < m) subtract_below(A, m, t, m - t, B);
  while ((t -= 4) >= 0) subtract_below(A, m, t, 4, B);
  for (int k = m, with; k > 0;) {
    k -= pivot[k - 1] < 0 ? 2 : 1;
    int from = swap_partner(pivot, k, &with);
    for (int j = 0; from != with && j < WIDE; j++) swap(B + from * WIDE + j, B + with * WIDE + j);
  }
}

enum { PROBES = 2 };
static const double MARGIN = 16; /* by which sums of random signs and sizes may fall short */

/* Fill with random numbers of both signs from 1 to 2 in size, the same at every call. */
static void fill_randomly(double *random, int count) {
  word state = 1;
  for (int k = 0; k < count; k++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    double size = 1 + (double)(state >> 33) / 1073741824.0;
    random[k] = size < 2 ? size : 1 - size;
  }
}

/* Tell whether a front seems to solve for a pivot by more than `limit`: the product of what it
   solves for by with `random` vectors, which have no part in `dual` rows, costs as much as a
   solution, and is seldom smaller by more than MARGIN than the largest number in a row. `work` has
   room for PROBES times WIDE + 1 numbers a pivot and one a row beside. */
static int seems_weak(const Plan *plan, const Front *f, const Store *s, const int *dual,
                      double limit, const double *random, double *work) {
  const int *pivot = s->pivot + f->own, *beside = plan->list + f->beside;
  size_t count = (size_t)f->pivots * WIDE;
  double *sums = work, *t = sums + PROBES * count, *u = t + f->pivots;
  const double *strip = s->rows + f->rest;
  memset(sums, 0, sizeof(double) * PROBES * count);
  memset(u, 0, sizeof(double) * PROBES * f->wide);
  for (int k = 0; k < f->width; k++)
    for (int probe = 0; probe < PROBES; probe++)
      u[probe * f->wide + k] = dual[beside[k]] ? 0 : random[probe * plan->most_wide + k];
  for (int j = 0; j < f->wide; j += WIDE, strip += count)
    for (int probe = 0; probe < PROBES; probe++)
      add_strip_times(strip, f->pivots, u + probe * f->wide + j, sums + probe * count);
  for (int probe = 0; probe < PROBES; probe++, sums += count) {
    for (int i = 0; i < f->pivots; i++) {
      t[i] = 0;
      for (int k = 0; k < WIDE; k++) t[i] += sums[i * WIDE + k];
    }
    diagonal(s->d + 2 * f->own, pivot, f->pivots, t);
    backward(s->rows + f->square, f->pivots, pivot, t);
    for (int i = 0; i < f->pivots; i++)
      if (!(fabs(t[i]) * MARGIN <= limit) && !dual[plan->list[f->own + i]]) return 1;
  }
  return 0;
}

/* Unknowns, none of them `dual`, that a factorisation solves for by more than `limit` times others
   of later fronts, in `weak`; return how many. */
static int find_weak_rows(const Plan *plan, double *a, const int *dual, double limit, int *weak) {
  Store s = storage_of(plan, a);
  size_t room = (size_t)plan->most_pivots * (WIDE + 1) + plan->most_wide;
  double *W = ROOM(double, PROBES * room);
  double *random = ROOM(double, PROBES * (size_t)plan->most_wide);
  char *large = ROOM(char, plan->most_pivots);
  int count = 0, open[WIDE];
  fill_randomly(random, PROBES * plan->most_wide);
  for (int q = 0; q < plan->fronts; q++) {
    const Front *f = plan->front + q;
    const int *pivot = s.pivot + f->own, *own = plan->list + f->own;
    const int *beside = plan->list + f->beside;
    if (!seems_weak(plan, f, &s, dual, limit, random, W)) continue;
    memset(large, 0, f->pivots);
    for (int j = 0; j < f->width; j += WIDE) {
      const double *strip = s.rows + f->rest + (size_t)j * f->pivots;
      int columns = f->width - j < WIDE ? f->width - j : WIDE;
      diagonal_strip(s.d + 2 * f->own, pivot, f->pivots, strip, W);
      backward_strip(s.rows + f->square, f->pivots, pivot, W);
      for (int k = 0; k < WIDE; k++) open[k] = k < columns && !dual[beside[j + k]];
      for (int i = 0; i < f->pivots; i++) {
        int over = 0;
        for (int k = 0; k < WIDE; k++) over |= open[k] & !(fabs(W[i * WIDE + k]) <= limit);
        large[i] |= over;
      }
    }
    for (int i = 0; i < f->pivots; i++)
      if (large[i] && !dual[own[i]]) weak[count++] = own[i];
  }
  free(W), free(random), free(large);
  return count;
}

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

/* Unknowns, none of them `dual`, that a factorisation solves for by more than `limit` times others
   of later fronts, in `weak`; return how many. */
static int find_weak_rows(const Plan *plan, double *a, const int *dual, double limit, int *weak) {
  Store s = storage_of(plan, a);
  double *W = ROOM(double, (size_t)plan->most_pivots * WIDE);
  char *large = ROOM(char, plan->most_pivots);
  int count = 0, open[WIDE];
  for (int q = 0; q < plan->fronts; q++) {
    const Front *f = plan->front + q;
    const int *pivot = s.pivot + f->own, *own = plan->list + f->own;
    const int *beside = plan->list + f->beside;
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
  free(W), free(large);
  return count;
}

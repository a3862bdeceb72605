/* Unknowns that a factorisation solves for by large numbers. */

/* B (m, w) := P' inv(L') B. */
static void backward_rows(const double *A, int m, const int *pivot, double *B, int w) {
  for (int i = m - 1; i > 0; i--)
    for (int t = 0; t < i; t++) {
      double l = A[(size_t)i * m + t], *row = B + (size_t)t * w;
      const double *below = B + (size_t)i * w;
      if (l == 0) continue;
      for (int j = 0; j < w; j++) row[j] -= l * below[j];
    }
  for (int k = m, with; k > 0;) {
    k -= pivot[k - 1] < 0 ? 2 : 1;
    int from = swap_partner(pivot, k, &with);
    if (from == with) continue;
    for (int j = 0; j < w; j++) swap(B + (size_t)from * w + j, B + (size_t)with * w + j);
  }
}

/* Unknowns, none of them `dual`, that a factorisation solves for by more than `limit` times others
   of later fronts, in `weak`; return how many. */
static int find_weak_rows(const Plan *plan, double *a, const int *dual, double limit, int *weak) {
  Store s = storage_of(plan, a);
  double *W = ROOM(double, (size_t)plan->most_pivots * plan->most_wide);
  int count = 0;
  for (int q = 0; q < plan->fronts; q++) {
    const Front *f = plan->front + q;
    const int *pivot = s.pivot + f->own, *beside = plan->list + f->beside;
    diagonal(s.d + 2 * f->own, pivot, f->pivots, s.rows + f->rest, W, f->wide);
    backward_rows(s.rows + f->square, f->pivots, pivot, W, f->wide);
    for (int i = 0; i < f->pivots; i++) {
      int own = plan->list[f->own + i], large = 0;
      const double *row = W + (size_t)i * f->wide;
      for (int j = 0; j < f->width && !dual[own]; j++)
        large |= !dual[beside[j]] && !(fabs(row[j]) <= limit);
      if (large) weak[count++] = own;
    }
  }
  free(W);
  return count;
}

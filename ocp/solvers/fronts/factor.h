/* Factorisation and solution by a plan. The workspace behind IPOPT's values holds the pivots' rows
   of all fronts, D, and row exchanges. */

typedef struct {
  double *rows, *d;
  int *pivot;
} Store;

static int64_t storage_size(const Plan *plan) {
  return plan->pattern.entries + plan->size + 3 * (int64_t)plan->pattern.n + WIDE;
}

static Store storage_of(const Plan *plan, double *a) {
  double *rows = a + plan->pattern.entries, *d = rows + plan->size;
  return (Store){rows, d, (int *)(d + 2 * (int64_t)plan->pattern.n)};
}

/* Add what is left of a child, C (lower triangle), to the rows of its parent's pivots, or to what
   is `left` of the parent. */
static void add_child(const Plan *plan, const Front *child, const double *C, const Front *to,
                   double *square, double *rest, double *left) {
  const Run *run = plan->run + child->runs;
  int inner = 0; /* runs among the parent's pivots */
  while (inner < child->run_count && run[inner].to < to->pivots) inner++;
  for (int a = left ? inner : 0; a < child->run_count; a++)
    for (int i = run[a].from; i < run[a].from + run[a].count; i++) {
      const double *row = C + (size_t)i * child->wide;
      int at = run[a].to + i - run[a].from, beside = at - to->pivots;
      for (int b = left ? inner : 0; b <= a && (left || b < inner); b++) {
        int begin = run[b].from, end = run[b].from + run[b].count, first = run[b].to - begin;
        if (end > i + 1) end = i + 1;
        if (!left && beside >= 0) {
          for (int j = begin; j < end; j++) rest[(size_t)(first + j) * to->wide + beside] += row[j];
          continue;
        }
        double *goal = left ? left + (size_t)beside * to->wide - to->pivots
                            : square + (size_t)at * to->pivots;
        for (int j = begin; j < end; j++) goal[first + j] += row[j];
      }
    }
}

static double largest(const double *square, int m) {
  double most = 0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j <= i; j++) most = fmax(most, fabs(square[(size_t)i * m + j]));
  return most;
}

/* The rows that were taken out of a front, in `stuck`. */
static void find_stuck_rows(const Plan *plan, const Front *f, const int *pivot, const double *d,
                            int *stuck) {
  int *order = ROOM(int, f->pivots);
  memcpy(order, plan->list + f->own, sizeof(int) * f->pivots);
  for (int k = 0, to; k < f->pivots; k += pivot[k] < 0 ? 2 : 1) {
    int from = swap_partner(pivot, k, &to), t = order[from];
    order[from] = order[to], order[to] = t;
  }
  for (int k = 0; k < f->pivots; k++)
    if (d[2 * k] == OUT) *stuck++ = order[k];
  free(order);
}

/* Factorise the values that begin `a`, and count negative eigenvalues. Return how many rows were
   taken out of singular fronts, and these in `stuck` (n). */
static int factorise(const Plan *plan, double *a, int *negative, int *stuck) {
  Store s = storage_of(plan, a);
  int m = plan->most_pivots, count = 0;
  double *pile = malloc(sizeof(double) * (plan->pile + WIDE)), *work = ROOM(double, 2 * m);
  double *Z = ROOM(double, (size_t)m * plan->most_wide);
  if (!pile) abort();
  memset(s.rows, 0, sizeof(double) * plan->size), *negative = 0;
  for (int k = 0; k < plan->pattern.entries; k++) s.rows[plan->place[k]] += a[k];
  for (int q = 0; q < plan->fronts; q++) {
    const Front *f = plan->front + q;
    double *square = s.rows + f->square, *X = s.rows + f->rest, *left = pile + f->left;
    int *pivot = s.pivot + f->own;
    for (int c = f->child; c >= 0; c = plan->front[c].next)
      add_child(plan, plan->front + c, pile + plan->front[c].left, f, square, X, NULL);
    double least = 1e-14 * fmin(1, largest(square, f->pivots));
    int out = ldl(square, f->pivots, pivot, s.d + 2 * f->own, least, work, negative);
    if (out) find_stuck_rows(plan, f, pivot, s.d + 2 * f->own, stuck + count), count += out;
    forward(square, f->pivots, pivot, X, f->wide);
    diagonal(s.d + 2 * f->own, pivot, f->pivots, X, Z, f->wide);
    product(X, Z, f->pivots, f->wide, left);
    for (int c = f->child; c >= 0; c = plan->front[c].next)
      add_child(plan, plan->front + c, pile + plan->front[c].left, f, square, X, left);
  }
  free(pile), free(work), free(Z);
  return count;
}

/* Solve for a right-hand side (n), in place. */
static void solve_with(const Plan *plan, double *a, double *x) {
  Store s = storage_of(plan, a);
  double *t = ROOM(double, plan->most_pivots), *u = ROOM(double, plan->most_wide);
  for (int q = 0; q < plan->fronts; q++) {
    const Front *f = plan->front + q;
    const int *own = plan->list + f->own, *beside = plan->list + f->beside;
    const int *pivot = s.pivot + f->own;
    for (int i = 0; i < f->pivots; i++) t[i] = x[own[i]];
    forward(s.rows + f->square, f->pivots, pivot, t, 1);
    diagonal(s.d + 2 * f->own, pivot, f->pivots, t, t, 1);
    memset(u, 0, sizeof(double) * f->wide);
    for (int i = 0; i < f->pivots; i++) {
      const double *row = s.rows + f->rest + (size_t)i * f->wide;
      for (int j = 0; j < f->wide; j++) u[j] += t[i] * row[j];
      x[own[i]] = t[i];
    }
    for (int j = 0; j < f->width; j++) x[beside[j]] -= u[j];
  }
  for (int q = plan->fronts - 1; q >= 0; q--) {
    const Front *f = plan->front + q;
    const int *own = plan->list + f->own, *beside = plan->list + f->beside;
    const int *pivot = s.pivot + f->own;
    memset(u, 0, sizeof(double) * f->wide);
    for (int j = 0; j < f->width; j++) u[j] = x[beside[j]];
    for (int i = 0; i < f->pivots; i++) {
      const double *row = s.rows + f->rest + (size_t)i * f->wide;
      double sum = 0;
      for (int j = 0; j < f->wide; j++) sum += row[j] * u[j];
      t[i] = sum;
    }
    diagonal(s.d + 2 * f->own, pivot, f->pivots, t, t, 1);
    for (int i = 0; i < f->pivots; i++) t[i] = x[own[i]] - t[i];
    backward(s.rows + f->square, f->pivots, pivot, t);
    for (int i = 0; i < f->pivots; i++) x[own[i]] = t[i];
  }
  free(t), free(u);
}

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

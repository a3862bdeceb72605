/* Factorisation and solution by a plan. The workspace behind IPOPT's values holds the pivots' rows
   of all fronts, D, and row exchanges. */

typedef struct {
  double *rows, *d;
  int *pivot;
} Store;

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

/* The rows that were taken out of a front, in `stuck`; `order` has room for its pivots. */
static void find_stuck_rows(const Plan *plan, const Front *f, const int *pivot, const double *d,
                            int *order, int *stuck) {
  memcpy(order, plan->list + f->own, sizeof(int) * f->pivots);
  for (int k = 0, to; k < f->pivots; k += pivot[k] < 0 ? 2 : 1) {
    int from = swap_partner(pivot, k, &to), t = order[from];
    order[from] = order[to], order[to] = t;
  }
  for (int k = 0; k < f->pivots; k++)
    if (d[2 * k] == OUT) *stuck++ = order[k];
}

/* Factorise the values that begin `a`, in a `room` of room_size, and count negative eigenvalues. Return how many rows were
   taken out of singular fronts, and these in `stuck` (n). */
static int factorise(const Plan *plan, double *a, double *room, int *negative, int *stuck) {
  Store s = storage_of(plan, a);
  int m = plan->most_pivots, count = 0;
  double *pile = room, *work = pile + plan->pile + WIDE, *Z = work + 2 * m;
  int *order = (int *)(Z + (size_t)m * plan->most_wide);
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
    if (out) find_stuck_rows(plan, f, pivot, s.d + 2 * f->own, order, stuck + count), count += out;
    forward(square, f->pivots, pivot, X, f->wide);
    diagonal(s.d + 2 * f->own, pivot, f->pivots, X, Z, f->wide);
    product(X, Z, f->pivots, f->wide, left);
    for (int c = f->child; c >= 0; c = plan->front[c].next)
      add_child(plan, plan->front + c, pile + plan->front[c].left, f, square, X, left);
  }
  return count;
}

/* Solve for a right-hand side (n), in place. */
static void solve_with(const Plan *plan, double *a, double *room, double *x) {
  Store s = storage_of(plan, a);
  double *t = room, *u = room + plan->most_pivots;
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
}

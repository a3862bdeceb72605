/* Factorisation and solution by a plan. The workspace behind IPOPT's values holds the pivots' rows
   of all fronts, D, and row exchanges. */

typedef struct {
  double *rows, *d;
  int *pivot;
} Store;

/* The first place from which strips are lines of the cache. */
static double *strips_of(double *a) {
  return a + (64 - (uintptr_t)a % 64) % 64 / sizeof *a;
}

static Store storage_of(const Plan *plan, double *a) {
  double *rows = strips_of(a + plan->pattern.entries);
  double *d = rows + plan->size;
  return (Store){rows, d, (int *)(d + 2 * (int64_t)plan->pattern.n)};
}

/* Where the rows of a child are among those of its parent, in `at`; return how many are pivots. */
static int rows_in_parent(const Plan *plan, const Front *child, int pivots, int *at) {
  int k = 0, inner = 0;
  for (const Run *r = plan->run + child->runs, *end = r + child->run_count; r < end; r++) {
    if (r->to < pivots) inner += r->count;
    for (int j = 0; j < r->count; j++) at[k++] = r->to + j;
  }
  return inner;
}

static inline void add_numbers(const double *restrict row, int count, double *restrict to) {
  int j = 0;
  for (; j + LANES <= count; j += LANES) *(lanes *)(to + j) += *(const lanes *)(row + j);
  for (; j < count; j++) to[j] += row[j];
}

/* Add numbers `from` to `end` of a child's row to their places in its parent's, run by run. */
static void add_runs(const Run *r, const double *row, int from, int end, double *goal) {
  for (; from < end; r++) {
    int here = r->from + r->count - from;
    add_numbers(row + from, here, goal + r->to + from - r->from);
    from += here;
  }
}

/* Likewise to a row of strips of m rows, from column `first` of the parent on. */
static void add_to_strips(const Run *r, const double *row, int from, int end, int first, int m,
                          double *goal) {
  for (; from < end; r++)
    for (int k = 0; k < r->count;) {
      int column = r->to + k - first, within = column % WIDE, here = WIDE - within;
      if (here > r->count - k) here = r->count - k;
      add_numbers(row + from, here, goal + (size_t)(column - within) * m + within);
      k += here, from += here;
    }
}

/* Add what is left of a child, C (upper triangle), to the rows of its parent's pivots, or to what
   is `left` of the parent. `at` is room for whole numbers. */
static void add_child(const Plan *plan, const Front *child, const double *C, const Front *to,
                      double *square, double *rest, double *left, int *at) {
  int m = to->pivots, inner = rows_in_parent(plan, child, m, at), count = child->width;
  const Run *outer = plan->run + child->runs;
  while (outer < plan->run + child->runs + child->run_count && outer->to < m) outer++;
  if (!left)
    for (int i = 0; i < inner; i++) {
      const double *row = C + (size_t)i * child->wide;
      for (int j = i; j < inner; j++) square[(size_t)at[j] * m + at[i]] += row[j];
      add_to_strips(outer, row, inner, count, m, m, rest + at[i] * WIDE);
    }
  for (int i = inner; left && i < count; i++) {
    while (outer->from + outer->count <= i) outer++;
    double *goal = left + (size_t)(at[i] - m) * to->wide - m;
    add_runs(outer, C + (size_t)i * child->wide, i, count, goal);
  }
}

static double largest(const double *square, int m) {
  double most = 0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j <= i; j++) most = larger(most, fabs(square[(size_t)i * m + j]));
  return most;
}

/* What a pivot is more than, over the largest number of a front. Where nothing is left to wait for,
   the multiplier of an inequality at its bound has what the barrier leaves it, 1e-15 and less, and
   always negative: a positive one so small is what rounding leaves of dependent rows. */
static const double NOISE = 1e-14;
static double least_pivot(const Front *f) { return f->waited ? 1e-17 : NOISE; }

/* The rows that were taken out of a front, in `stuck`; return how many. Multipliers of which no more
   than `noise` is left count as `negative`, if they have not. `order` has room for its pivots. */
static int find_stuck_rows(const Plan *plan, const Front *f, const int *pivot, const double *d,
                           double noise, int *order, int *stuck, int *negative) {
  int count = 0;
  memcpy(order, plan->list + f->own, sizeof(int) * f->pivots);
  for (int k = 0, to; k < f->pivots; k += pivot[k] < 0 ? 2 : 1) {
    int from = swap_partner(pivot, k, &to), t = order[from];
    order[from] = order[to], order[to] = t;
  }
  for (int k = 0; k < f->pivots; k++) {
    int dual = plan->dual && plan->dual[order[k]], alone = pivot[k] >= 0;
    *negative += dual && alone && d[2 * k] > 0 && d[2 * k] <= noise;
    if (d[2 * k] == OUT) stuck[count++] = order[k];
  }
  return count;
}

/* Factorise the values that begin `a`, in a `room` of room_size, and count negative eigenvalues. Return how many rows were
   taken out of singular fronts, and these in `stuck` (n). */
static int factorise(const Plan *plan, double *a, double *room, int *negative, int *stuck) {
  Store s = storage_of(plan, a);
  int m = plan->most_pivots, count = 0;
  double *pile = strips_of(room), *Z = pile + plan->pile, *work = Z + (size_t)m * plan->most_wide;
  int *order = (int *)(work + 2 * m);
  *negative = 0;
  for (int q = 0, k = 0; q < plan->fronts; q++) {
    const Front *f = plan->front + q;
    double *square = s.rows + f->square, *X = s.rows + f->rest, *left = pile + f->left;
    int *pivot = s.pivot + f->own;
    memset(square, 0, sizeof(double) * (f->rest - f->square + (int64_t)f->wide * f->pivots));
    for (; k < f->entries; k++) s.rows[plan->place[k]] += a[plan->entry[k]];
    for (int c = f->child; c >= 0; c = plan->front[c].next)
      add_child(plan, plan->front + c, pile + plan->front[c].left, f, square, X, NULL, order);
    double size = fmin(1, largest(square, f->pivots)), least = least_pivot(f) * size;
    double *d = s.d + 2 * f->own;
    int out = ldl(square, f->pivots, pivot, d, least, work, negative);
    if (out || f->waited)
      count += find_stuck_rows(plan, f, pivot, d, NOISE * size, order, stuck + count, negative);
    int64_t end = (int64_t)f->wide * f->pivots, strip = (int64_t)f->pivots * WIDE;
    for (int64_t at = 0; at < end; at += STRIPS * strip)
      forward_strips(square, f->pivots, pivot, X + at, at + STRIPS * strip <= end ? STRIPS : 1);
    for (int64_t at = 0; at < end; at += strip)
      diagonal_strip(s.d + 2 * f->own, pivot, f->pivots, X + at, Z + at);
    product(Z, X, f->pivots, f->wide, left);
    for (int c = f->child; c >= 0; c = plan->front[c].next)
      add_child(plan, plan->front + c, pile + plan->front[c].left, f, square, X, left, order);
  }
  return count;
}

/* Solve for a right-hand side (n), in place. */
static void solve_with(const Plan *plan, double *a, double *room, double *x) {
  Store s = storage_of(plan, a);
  double *t = room, *u = room + plan->most_pivots, *sums = u + plan->most_wide;
  for (int q = 0; q < plan->fronts; q++) {
    const Front *f = plan->front + q;
    const int *own = plan->list + f->own, *beside = plan->list + f->beside;
    const int *pivot = s.pivot + f->own;
    const double *strip = s.rows + f->rest;
    for (int i = 0; i < f->pivots; i++) t[i] = x[own[i]];
    forward(s.rows + f->square, f->pivots, pivot, t);
    diagonal(s.d + 2 * f->own, pivot, f->pivots, t);
    for (int j = 0; j < f->wide; j += WIDE, strip += (size_t)f->pivots * WIDE)
      times_strip(strip, f->pivots, t, u + j);
    for (int i = 0; i < f->pivots; i++) x[own[i]] = t[i];
    for (int j = 0; j < f->width; j++) x[beside[j]] -= u[j];
  }
  for (int q = plan->fronts - 1; q >= 0; q--) {
    const Front *f = plan->front + q;
    const int *own = plan->list + f->own, *beside = plan->list + f->beside;
    const int *pivot = s.pivot + f->own;
    const double *strip = s.rows + f->rest;
    memset(u, 0, sizeof(double) * f->wide);
    memset(sums, 0, sizeof(double) * WIDE * f->pivots);
    for (int j = 0; j < f->width; j++) u[j] = x[beside[j]];
    for (int j = 0; j < f->wide; j += WIDE, strip += (size_t)f->pivots * WIDE)
      add_strip_times(strip, f->pivots, u + j, sums);
    for (int i = 0; i < f->pivots; i++) {
      t[i] = 0;
      for (int k = 0; k < WIDE; k++) t[i] += sums[i * WIDE + k];
    }
    diagonal(s.d + 2 * f->own, pivot, f->pivots, t);
    for (int i = 0; i < f->pivots; i++) t[i] = x[own[i]] - t[i];
    backward(s.rows + f->square, f->pivots, pivot, t);
    for (int i = 0; i < f->pivots; i++) x[own[i]] = t[i];
  }
}

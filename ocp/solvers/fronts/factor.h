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

/* Add the rows of a child, C (upper triangle), that are pivots of its parent to these. `at` is room
   for where these go. */
static void add_to_pivots(const Plan *plan, const Front *child, const double *C, const Front *to,
                          double *square, double *rest, int *at) {
  int m = to->pivots, count = child->width, inner = 0;
  const Run *outer = plan->run + child->runs, *last = outer + child->run_count;
  for (; outer < last && outer->to < m; outer++)
    for (int j = 0; j < outer->count; j++) at[inner++] = outer->to + j;
  for (int i = 0; i < inner; i++) {
    const double *row = C + (size_t)i * child->wide;
    for (int j = i; j < inner; j++) square[(size_t)at[j] * m + at[i]] += row[j];
    add_to_strips(outer, row, inner, count, m, m, rest + at[i] * WIDE);
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

/* What is beside the pivots of a front: strips X, these over D in Z, and what is `left`, to which
   that of a child, C, is added. */
typedef struct {
  const Plan *plan;
  const Front *front, *child;
  const double *square, *d, *C;
  const int *pivot;
  double *X, *Z, *left;
} Beside;

/* Do the kth piece of what is to be done there. Each writes numbers of its own. */
typedef void (*Piece)(const Beside *beside, int k);

/* Where a thread puts what is left of fronts, `pile`, and what it works with, `desk`; negative
   eigenvalues that it has met, and the rows that were taken out, where their fronts' rows begin
   in `stuck`, -1 elsewhere. It may `share` the pieces of a front with a `crew` of threads. */
typedef struct {
  double *pile, *desk;
  int negative, *stuck;
  void (*share)(void *crew, Piece piece, const Beside *beside, int count);
  void *crew;
} Bench;

/* Note the rows that were taken out of a front. Multipliers of which no more than `noise` is left
   count as negative, if they have not. `order` has room for its pivots. */
static void find_stuck_rows(const Plan *plan, const Front *f, const int *pivot, const double *d,
                            double noise, int *order, Bench *bench) {
  int *stuck = bench->stuck + f->own;
  memcpy(order, plan->list + f->own, sizeof(int) * f->pivots);
  for (int k = 0, to; k < f->pivots; k += pivot[k] < 0 ? 2 : 1) {
    int from = swap_partner(pivot, k, &to), t = order[from];
    order[from] = order[to], order[to] = t;
  }
  for (int k = 0; k < f->pivots; k++) {
    int dual = plan->dual && plan->dual[order[k]], alone = pivot[k] >= 0;
    bench->negative += dual && alone && d[2 * k] > 0 && d[2 * k] <= noise;
    if (d[2 * k] == OUT) *stuck++ = order[k];
  }
}

static void solve_strips(const Beside *beside, int k) {
  int m = beside->front->pivots;
  int64_t strip = (int64_t)m * WIDE, at = k * STRIPS * strip;
  int left = beside->front->wide / WIDE - k * STRIPS, strips = left < STRIPS ? 1 : STRIPS;
  forward_strips(beside->square, m, beside->pivot, beside->X + at, strips);
  for (int s = 0; s < strips; s++, at += strip)
    diagonal_strip(beside->d, beside->pivot, m, beside->X + at, beside->Z + at);
}

/* The widest strips of what is left go first, as threads end together then. */
static void multiply(const Beside *beside, int k) {
  const Front *f = beside->front;
  int j = f->wide - (k + 1) * WIDE;
  multiply_strip(beside->Z, beside->X, f->pivots, f->wide, j, beside->left);
}

enum { SLICE = 64 }; /* rows of a child in a piece */

static void add_to_left(const Beside *beside, int k) {
  const Plan *plan = beside->plan;
  const Front *child = beside->child;
  int m = beside->front->pivots, i = 0, end = (k + 1) * SLICE;
  const Run *r = plan->run + child->runs;
  for (const Run *last = r + child->run_count; r < last && r->to < m; r++) i = r->from + r->count;
  if (i < k * SLICE) i = k * SLICE;
  if (end > child->width) end = child->width;
  for (; i < end; i++) {
    while (r->from + r->count <= i) r++;
    double *goal = beside->left + (size_t)(r->to + i - r->from - m) * beside->front->wide - m;
    add_runs(r, beside->C + (size_t)i * child->wide, i, child->width, goal);
  }
}

/* Products of a front from which its pieces are shared, some .2 ms: assumed. */
static const double SHARED = 3e6;

static void do_pieces(const Bench *bench, Piece piece, const Beside *beside, int count) {
  double pivots = beside->front->pivots, wide = beside->front->wide;
  if (bench->share && pivots * wide * wide >= SHARED)
    bench->share(bench->crew, piece, beside, count);
  else
    for (int k = 0; k < count; k++) piece(beside, k);
}

/* Factorise fronts `from` to `end`, what is left of all that add to them being there. */
static void factorise_fronts(const Plan *plan, double *a, Bench *bench, int from, int end) {
  Store s = storage_of(plan, a);
  int m = plan->most_pivots;
  double *pile = bench->pile, *Z = strips_of(bench->desk), *work = Z + (size_t)m * plan->most_wide;
  int *order = (int *)(work + 2 * m);
  for (int q = from, k = from ? plan->front[from - 1].entries : 0; q < end; q++) {
    const Front *f = plan->front + q;
    double *square = s.rows + f->square, *X = s.rows + f->rest, *left = pile + f->left;
    int *pivot = s.pivot + f->own;
    memset(square, 0, sizeof(double) * (f->rest - f->square + (int64_t)f->wide * f->pivots));
    for (; k < f->entries; k++) s.rows[plan->place[k]] += a[plan->entry[k]];
    for (int c = f->child; c >= 0; c = plan->front[c].next)
      add_to_pivots(plan, plan->front + c, pile + plan->front[c].left, f, square, X, order);
    double size = fmin(1, largest(square, f->pivots)), least = least_pivot(f) * size;
    double *d = s.d + 2 * f->own;
    int out = ldl(square, f->pivots, pivot, d, least, work, &bench->negative);
    if (out || f->waited)
      find_stuck_rows(plan, f, pivot, d, NOISE * size, order, bench);
    Beside beside = {plan, f, NULL, square, d, NULL, pivot, X, Z, left};
    do_pieces(bench, solve_strips, &beside, (f->wide / WIDE + STRIPS - 1) / STRIPS);
    do_pieces(bench, multiply, &beside, f->wide / WIDE);
    for (int c = f->child; c >= 0; c = plan->front[c].next) {
      beside.child = plan->front + c, beside.C = pile + beside.child->left;
      do_pieces(bench, add_to_left, &beside, (beside.child->width + SLICE - 1) / SLICE);
    }
  }
}

/* A bench in a `room` of room_size, before any front. */
static Bench first_bench(const Plan *plan, double *room, int *stuck) {
  double *pile = strips_of(room);
  for (int v = 0; v < plan->pattern.n; v++) stuck[v] = -1;
  return (Bench){pile, pile + plan->pile, 0, stuck, NULL, NULL};
}

/* Put the rows that were taken out at the beginning of their list; return how many. */
static int gather_stuck(const Plan *plan, int *stuck) {
  int count = 0;
  for (int v = 0; v < plan->pattern.n; v++)
    if (stuck[v] >= 0) stuck[count++] = stuck[v];
  return count;
}

/* Factorise the values that begin `a`, in a `room` of room_size, and count negative eigenvalues.
   Return how many rows were taken out of singular fronts, and these in `stuck` (n). */
static int factorise(const Plan *plan, double *a, double *room, int *negative, int *stuck) {
  Bench bench = first_bench(plan, room, stuck);
  factorise_fronts(plan, a, &bench, 0, plan->fronts);
  *negative = bench.negative;
  return gather_stuck(plan, stuck);
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

/* Dense kernels, matrices by rows. L D L' has pivots of one or two rows (Bunch & Kaufman 1977). */

#ifdef __AVX512F__
enum { LANES = 8, TALL = 8 };
#else
enum { LANES = 4, TALL = 4 };
#endif

enum { WIDE = 8, PARTS = WIDE / LANES }; /* columns of a strip, and its vectors in a row */
enum { STRIPS = 2 / PARTS };             /* that are solved at once, as registers suffice */

typedef double lanes __attribute__((vector_size(8 * LANES), aligned(8)));

/* Keep a vector in a register, where a compiler would read it anew for every product with it: reads
   take longer than the products then. */
#ifdef __AVX__
#define KEEP_IN_REGISTER(vector) __asm__("" : "+v"(vector))
#else
#define KEEP_IN_REGISTER(vector) (void)(vector)
#endif

static double larger(double x, double y) { return x > y ? x : y; }

static void swap(double *x, double *y) {
  double t = *x;
  *x = *y, *y = t;
}

/* Swap rows and columns k < p of the lower triangle of A (m, m), and what L there is of them. */
static void swap_pivots(double *A, int m, int k, int p) {
  if (p == k) return;
  double *row = A + (size_t)k * m, *other = A + (size_t)p * m;
  for (int j = 0; j < k; j++) swap(row + j, other + j);
  swap(row + k, other + p);
  for (int j = k + 1; j < p; j++) swap(A + (size_t)j * m + k, other + j);
  for (int i = p + 1; i < m; i++) swap(A + (size_t)i * m + k, A + (size_t)i * m + p);
}

/* Return the row to pivot with k, and whether two rows are the pivot; -1 where all that is left in
   column k is no more than `least`. */
static int choose_pivot(const double *A, int m, int k, double least, int *two) {
  const double alpha = 0.6403882032022076; /* (1 + sqrt 17) / 8 */
  double own = fabs(A[(size_t)k * m + k]), best = 0, most = 0;
  int r = k;
  *two = 0;
  for (int i = k + 1; i < m; i++) {
    double size = fabs(A[(size_t)i * m + k]);
    if (size > best) best = size, r = i;
  }
  if (larger(own, best) <= least) return -1;
  if (own >= alpha * best) return k;
  for (int j = k; j < r; j++) most = larger(most, fabs(A[(size_t)r * m + j]));
  for (int i = r + 1; i < m; i++) most = larger(most, fabs(A[(size_t)i * m + r]));
  if (own * most >= alpha * best * best) return k;
  *two = fabs(A[(size_t)r * m + r]) < alpha * most;
  return r;
}

/* row (count) -= a x, and b y where there are two. The last numbers are a vector, too, whatever it
   shares with the one before. */
static inline void subtract_rows(double *restrict row, int count, double a,
                                 const double *restrict x, double b, const double *restrict y,
                                 int two) {
  int j = 0, rest = count - LANES;
  if (rest < 0) {
    for (; j < count; j++) row[j] -= a * x[j] + (two ? b * y[j] : 0);
    return;
  }
  lanes last = *(lanes *)(row + rest) - a * *(const lanes *)(x + rest);
  if (two) last -= b * *(const lanes *)(y + rest);
  for (; j < rest; j += LANES) {
    lanes *part = (lanes *)(row + j);
    *part -= a * *(const lanes *)(x + j);
    if (two) *part -= b * *(const lanes *)(y + j);
  }
  *(lanes *)(row + rest) = last;
}

/* Factorise the lower triangle of A (m, m) into L, below its diagonal, and D: d[2 k], d[2 k + 1]
   the diagonal and what is below it. pivot[k] is the row swapped with k, -1 - row where k and
   k + 1 are one pivot, of which k + 1 was swapped. Adds to `negative` D's negative eigenvalues. A row
   of which no more than `least` is left is taken out: its D is OUT. Return how many. `work` 2 m. */
static const double OUT = 1e200;

static int ldl(double *A, int m, int *pivot, double *d, double least, double *work, int *negative) {
  double *one = work, *other = work + m;
  int stuck = 0;
  for (int k = 0, two; k < m;) {
    int p = choose_pivot(A, m, k, least, &two);
    if (p < 0) A[(size_t)k * m + k] = OUT, p = k, stuck++;
    swap_pivots(A, m, two ? k + 1 : k, p);
    double a = A[(size_t)k * m + k];
    d[2 * k] = a, d[2 * k + 1] = 0, pivot[k] = two ? -1 - p : p;
    for (int i = k + 1; i < m; i++) one[i] = A[(size_t)i * m + k];
    if (!two) {
      *negative += a < 0;
      for (int i = k + 1; i < m; i++) {
        double *row = A + (size_t)i * m, l = row[k] = one[i] / a;
        if (l == 0) continue;
        subtract_rows(row + k + 1, i - k, l, one + k + 1, 0, NULL, 0);
      }
      k += 1;
      continue;
    }
    double b = one[k + 1], c = A[(size_t)(k + 1) * m + k + 1], det = a * c - b * b;
    *negative += det < 0 ? 1 : (a + c < 0 ? 2 : 0);
    d[2 * k + 1] = b, d[2 * k + 2] = c, d[2 * k + 3] = 0, pivot[k + 1] = -1 - p;
    A[(size_t)(k + 1) * m + k] = 0;
    for (int i = k + 2; i < m; i++) other[i] = A[(size_t)i * m + k + 1];
    for (int i = k + 2; i < m; i++) { /* by fma, as compilers would fuse either product */
      double *row = A + (size_t)i * m;
      double l = row[k] = fma(-b, other[i], c * one[i]) / det;
      double h = row[k + 1] = fma(-b, one[i], a * other[i]) / det;
      if (l == 0 && h == 0) continue;
      subtract_rows(row + k + 2, i - k - 1, l, one + k + 2, h, other + k + 2, 1);
    }
    k += 2;
  }
  return stuck;
}

/* Return the row that was swapped with `*with`, for the pivot that begins at k. */
static int swap_partner(const int *pivot, int k, int *with) {
  *with = pivot[k] < 0 ? k + 1 : k;
  return pivot[k] < 0 ? -1 - pivot[k] : pivot[k];
}

/* b (m) := P b. */
static void permute(const int *pivot, int m, double *b) {
  for (int k = 0, to; k < m; k += pivot[k] < 0 ? 2 : 1) {
    int from = swap_partner(pivot, k, &to);
    swap(b + from, b + to);
  }
}

static inline int all_zero(const double *column, int m, int rows) {
  int some = 0;
  for (int k = 0; k < rows; k++) some |= column[(size_t)k * m] != 0;
  return !some;
}

/* Rows i to i + `rows` of some strips B less what L has of the rows before. */
static inline void subtract_above(const double *A, int m, int i, int rows, double *B, int strips) {
  lanes sum[4][STRIPS][PARTS] = {{{{0}}}};
  const double *L = A + (size_t)i * m;
  size_t apart = (size_t)m * WIDE;
  int t = 0;
  while (t < i && all_zero(L + t, m, rows)) t++; /* of rows that go beside others */
  for (; t < i; t++) {
    lanes row[STRIPS][PARTS];
    for (int s = 0; s < strips; s++)
      for (int part = 0; part < PARTS; part++) {
        row[s][part] = *(const lanes *)(B + s * apart + t * WIDE + part * LANES);
        KEEP_IN_REGISTER(row[s][part]);
      }
    for (int k = 0; k < rows; k++)
      for (int s = 0; s < strips; s++)
        for (int part = 0; part < PARTS; part++)
          sum[k][s][part] += L[(size_t)k * m + t] * row[s][part];
  }
  for (int s = 0; s < strips; s++, B += apart)
    for (int k = 0; k < rows; k++) {
      lanes *row = (lanes *)(B + (i + k) * WIDE);
      for (int part = 0; part < PARTS; part++) row[part] -= sum[k][s][part];
      for (int before = 0; before < k; before++)
        for (int part = 0; part < PARTS; part++)
          row[part] -= L[(size_t)k * m + i + before] *
                       *(const lanes *)(B + (i + before) * WIDE + part * LANES);
    }
}

static inline void subtract_all_above(const double *A, int m, double *B, int strips) {
  int i = 0;
  for (; i + 4 <= m; i += 4) subtract_above(A, m, i, 4, B, strips);
  for (; i < m; i++) subtract_above(A, m, i, 1, B, strips);
}

/* Strips B (m, WIDE), STRIPS or one, := inv(L) P B. */
static void forward_strips(const double *A, int m, const int *pivot, double *B, int strips) {
  for (int k = 0, to; k < m; k += pivot[k] < 0 ? 2 : 1) {
    int from = swap_partner(pivot, k, &to);
    for (int s = 0; from != to && s < strips; s++)
      for (int j = 0; j < WIDE; j++)
        swap(B + (s * m + from) * WIDE + j, B + (s * m + to) * WIDE + j);
  }
  if (strips == STRIPS) subtract_all_above(A, m, B, STRIPS);
  else subtract_all_above(A, m, B, 1);
}

/* b (m) := inv(L) P b. */
static void forward(const double *A, int m, const int *pivot, double *b) {
  permute(pivot, m, b);
  for (int i = 1; i < m; i++) {
    const double *row = A + (size_t)i * m;
    double sum = 0;
    for (int t = 0; t < i; t++) sum += row[t] * b[t];
    b[i] -= sum;
  }
}

/* b (m) := inv(D) b, and likewise a strip X (m, WIDE), into Z. */
static void diagonal(const double *d, const int *pivot, int m, double *b) {
  for (int k = 0; k < m; k++) {
    if (pivot[k] >= 0) {
      b[k] /= d[2 * k];
      continue;
    }
    double a = d[2 * k], o = d[2 * k + 1], c = d[2 * k + 2], det = a * c - o * o, s = b[k];
    b[k] = (c * s - o * b[k + 1]) / det, b[k + 1] = (a * b[k + 1] - o * s) / det;
    k++;
  }
}

static void diagonal_strip(const double *d, const int *pivot, int m, const double *X, double *Z) {
  for (int k = 0; k < m; k++) {
    const lanes *x = (const lanes *)(X + k * WIDE), *y = x + PARTS;
    lanes *u = (lanes *)(Z + k * WIDE), *v = u + PARTS;
    if (pivot[k] >= 0) {
      double by = 1 / d[2 * k];
      for (int part = 0; part < PARTS; part++) u[part] = x[part] * by;
      continue;
    }
    double det = d[2 * k] * d[2 * k + 2] - d[2 * k + 1] * d[2 * k + 1];
    double a = d[2 * k] / det, b = d[2 * k + 1] / det, c = d[2 * k + 2] / det;
    for (int part = 0; part < PARTS; part++) {
      u[part] = c * x[part] - b * y[part];
      v[part] = a * y[part] - b * x[part];
    }
    k++;
  }
}

/* b (m) := P' inv(L') b. */
static void backward(const double *A, int m, const int *pivot, double *b) {
  for (int i = m - 1; i > 0; i--)
    for (int t = 0; t < i; t++) b[t] -= A[(size_t)i * m + t] * b[i];
  for (int k = m, with; k > 0;) {
    k -= pivot[k - 1] < 0 ? 2 : 1;
    int from = swap_partner(pivot, k, &with);
    swap(b + from, b + with);
  }
}

/* u (WIDE) := B' t of a strip B (m, WIDE). */
static void times_strip(const double *B, int m, const double *t, double *u) {
  for (int part = 0; part < WIDE; part += LANES) {
    lanes even = {0}, odd = {0};
    int i = 0;
    for (; i + 2 <= m; i += 2) {
      even += t[i] * *(const lanes *)(B + i * WIDE + part);
      odd += t[i + 1] * *(const lanes *)(B + (i + 1) * WIDE + part);
    }
    if (i < m) even += t[i] * *(const lanes *)(B + i * WIDE + part);
    *(lanes *)(u + part) = even + odd;
  }
}

/* sums (m, WIDE) += products of the rows of a strip B (m, WIDE) with u (WIDE), entry by entry. */
static void add_strip_times(const double *B, int m, const double *u, double *sums) {
  for (int part = 0; part < WIDE; part += LANES) {
    lanes own = *(const lanes *)(u + part);
    for (int i = 0; i < m; i++)
      *(lanes *)(sums + i * WIDE + part) += own * *(const lanes *)(B + i * WIDE + part);
  }
}

/* Columns j to j + WIDE of C (w, w) := -Z' X, in blocks on and above the diagonal; Z and X are strips
   of m rows, and C rows. */
static void multiply_strip(const double *Z, const double *X, int m, int w, int j, double *C) {
  for (int i = 0; i < j + WIDE; i += TALL) {
    lanes sum[TALL][PARTS] = {{{0}}};
    const double *z = Z + (size_t)(i / WIDE) * WIDE * m + i % WIDE, *x = X + (size_t)j * m;
    for (int r = 0; r < m; r++, x += WIDE, z += WIDE) {
      lanes row[PARTS];
      for (int part = 0; part < PARTS; part++) {
        row[part] = *(const lanes *)(x + part * LANES);
        KEEP_IN_REGISTER(row[part]);
      }
      for (int k = 0; k < TALL; k++)
        for (int part = 0; part < PARTS; part++) sum[k][part] += z[k] * row[part];
    }
    for (int k = 0; k < TALL; k++)
      for (int part = 0; part < PARTS; part++)
        *(lanes *)(C + (size_t)(i + k) * w + j + part * LANES) = -sum[k][part];
  }
}

/* Dense kernels, matrices by rows. L D L' has pivots of one or two rows (Bunch & Kaufman 1977). */

typedef double quad __attribute__((vector_size(32), aligned(8)));

enum { WIDE = 12 }; /* rows beside pivots are padded to multiples of this */

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
  if (fmax(own, best) <= least) return -1;
  if (own >= alpha * best) return k;
  for (int j = k; j < r; j++) most = fmax(most, fabs(A[(size_t)r * m + j]));
  for (int i = r + 1; i < m; i++) most = fmax(most, fabs(A[(size_t)i * m + r]));
  if (own * most >= alpha * best * best) return k;
  *two = fabs(A[(size_t)r * m + r]) < alpha * most;
  return r;
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
        for (int j = k + 1; j <= i; j++) row[j] -= l * one[j];
      }
      k += 1;
      continue;
    }
    double b = one[k + 1], c = A[(size_t)(k + 1) * m + k + 1], det = a * c - b * b;
    *negative += det < 0 ? 1 : (a + c < 0 ? 2 : 0);
    d[2 * k + 1] = b, d[2 * k + 2] = c, d[2 * k + 3] = 0, pivot[k + 1] = -1 - p;
    A[(size_t)(k + 1) * m + k] = 0;
    for (int i = k + 2; i < m; i++) other[i] = A[(size_t)i * m + k + 1];
    for (int i = k + 2; i < m; i++) {
      double *row = A + (size_t)i * m;
      double l = row[k] = (c * one[i] - b * other[i]) / det;
      double h = row[k + 1] = (a * other[i] - b * one[i]) / det;
      if (l == 0 && h == 0) continue;
      for (int j = k + 2; j <= i; j++) row[j] -= l * one[j] + h * other[j];
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

/* B (m, w) := inv(L) P B. */
static void forward(const double *A, int m, const int *pivot, double *B, int w) {
  for (int k = 0, to; k < m; k += pivot[k] < 0 ? 2 : 1) {
    int from = swap_partner(pivot, k, &to);
    if (from == to) continue;
    for (int j = 0; j < w; j++) swap(B + (size_t)from * w + j, B + (size_t)to * w + j);
  }
  for (int i = 1; i < m; i++) {
    double *row = B + (size_t)i * w;
    for (int t = 0; t < i; t++) {
      double l = A[(size_t)i * m + t];
      const double *above = B + (size_t)t * w;
      if (l == 0) continue;
      for (int j = 0; j < w; j++) row[j] -= l * above[j];
    }
  }
}

/* Z := inv(D) X, both (m, w); they may be one. */
static void diagonal(const double *d, const int *pivot, int m, const double *X, double *Z, int w) {
  for (int k = 0; k < m;) {
    const double *x = X + (size_t)k * w, *y = x + w;
    double *u = Z + (size_t)k * w, *v = u + w, a = d[2 * k];
    if (pivot[k] >= 0) {
      for (int j = 0; j < w; j++) u[j] = x[j] / a;
      k += 1;
      continue;
    }
    double b = d[2 * k + 1], c = d[2 * k + 2], det = a * c - b * b;
    for (int j = 0; j < w; j++) {
      double s = x[j], t = y[j];
      u[j] = (c * s - b * t) / det, v[j] = (a * t - b * s) / det;
    }
    k += 2;
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

/* C (w, w) := -X' Z in blocks on and below the diagonal; X and Z (m, w), w a multiple of WIDE. */
static void product(const double *X, const double *Z, int m, int w, double *C) {
  for (int i = 0; i < w; i += 4)
    for (int j = 0; j <= i + 3; j += WIDE) {
      quad sum[12] = {{0}};
      const double *x = X + i, *z = Z + j;
      for (int r = 0; r < m; r++, x += w, z += w) {
        quad left = *(const quad *)z, mid = *(const quad *)(z + 4), right = *(const quad *)(z + 8);
        for (int k = 0; k < 4; k++) {
          quad all = {x[k], x[k], x[k], x[k]};
          sum[3 * k] += all * left, sum[3 * k + 1] += all * mid, sum[3 * k + 2] += all * right;
        }
      }
      for (int k = 0; k < 4; k++)
        for (int part = 0; part < 3; part++)
          *(quad *)(C + (size_t)(i + k) * w + j + 4 * part) = -sum[3 * k + part];
    }
}

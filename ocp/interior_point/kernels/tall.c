/* Matrix kernels of the interior point: sparse and tall matrices, and triangular solves.

   Rows of tall matrices have nonzeros in a few tiles of eight columns, listed by `first` and `tile`,
   and are `width` apart. Exported functions take their arguments as one block of 64-bit numbers
   (sparse_kernels.py has the same as assembled machine code). */

#include <math.h>

typedef double lanes __attribute__((vector_size(64), aligned(8)));
enum { TILE = 8 };

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define CLONED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONED
#endif

/* out = A B: row r has values[entry[e]] at column[e], e of start[r] to start[r + 1] */
CLONED static void multiply(int rows, const int *start, const int *entry, const int *column,
                       const double *values, const int *first, const int *tile, const double *tall,
                       long width, const int *own_first, const int *own_tile, double *out) {
  for (int r = 0; r < rows; ++r) {
    double *to = out + r * width;
    for (int t = own_first[r]; t < own_first[r + 1]; ++t)
      *(lanes *)(to + TILE * own_tile[t]) = (lanes){0};
    for (int e = start[r]; e < start[r + 1]; ++e) {
      const double value = values[entry[e]], *from = tall + column[e] * width;
      for (int t = first[column[e]]; t < first[column[e] + 1]; ++t)
        *(lanes *)(to + TILE * tile[t]) += value * *(const lanes *)(from + TILE * tile[t]);
    }
  }
}

static inline void packed(int count, const int *row, const double *weight, const double *from,
                          long width, lanes *to) {
  for (int r = 0; r < count; ++r) {
    lanes part = *(const lanes *)(from + row[r] * width);
    to[r] = weight ? weight[r] * part : part;
  }
}

/* core += L' diag(weight) R over groups of rows that have numbers in the same tiles; below the
   diagonal and on it where that is symmetric */
CLONED static void cross(int groups, const int *begin, const int *left_row, const int *right_row,
                    const double *weight, const int *first, const int *tile, const double *left,
                    const double *right, long width, int symmetric, lanes *work, double *core) {
  for (int g = 0; g < groups; ++g) {
    const int at = begin[g], count = begin[g + 1] - at, tiles = first[g + 1] - first[g];
    const int *own = tile + first[g];
    lanes *one = work, *other = work + (long)tiles * count;
    for (int k = 0; k < tiles; ++k) {
      packed(count, left_row + at, weight ? weight + at : weight, left + TILE * own[k], width,
             one + (long)k * count);
      packed(count, right_row + at, 0, right + TILE * own[k], width, other + (long)k * count);
    }
    for (int i = 0; i < tiles; ++i)
      for (int j = 0; j < (symmetric ? i + 1 : tiles); ++j) {
        lanes sums[TILE] = {{0}};
        const double *a = (const double *)(one + (long)i * count);
        const lanes *b = other + (long)j * count;
        for (int r = 0; r < count; ++r)
          for (int q = 0; q < TILE; ++q) sums[q] += a[TILE * r + q] * b[r];
        double *to = core + TILE * own[i] * width + TILE * own[j];
        for (int q = 0; q < TILE; ++q) *(lanes *)(to + q * width) += sums[q];
      }
  }
}

/* rows `column` of a tall matrix become minus the inverse of a block times rows `row` of another;
   returns the largest number */
CLONED static double take(int blocks, int size, const int *row, const int *column, const double *inverse,
                    const double *from, long width, const int *first, const int *tile,
                    double *tall) {
  double most[TILE] = {0};
  for (int b = 0; b < blocks; ++b)
    for (int i = 0; i < size; ++i) {
      const int to = column[b * size + i];
      for (int t = first[to]; t < first[to + 1]; ++t) {
        lanes sum = {0};
        for (int j = 0; j < size; ++j)
          sum -= inverse[(b * size + i) * size + j] *
                 *(const lanes *)(from + row[b * size + j] * width + TILE * tile[t]);
        *(lanes *)(tall + to * width + TILE * tile[t]) = sum;
        for (int q = 0; q < TILE; ++q) most[q] = fabs(sum[q]) > most[q] ? fabs(sum[q]) : most[q];
      }
    }
  double largest = 0;
  for (int q = 0; q < TILE; ++q) largest = most[q] > largest ? most[q] : largest;
  return largest;
}

/* out[to[k]] += values[k] x[from[k]] */
static void gather(long count, const int *to, const int *from, const double *values, const double *x,
              double *out) {
  for (long k = 0; k < count; ++k) out[to[k]] += values[k] * x[from[k]];
}

/* out[c] = the sum of values[k] x[from[k]], k of start[c] to start[c + 1] */
static void sum_up(long count, const int *start, const int *from, const double *values, const double *x,
            double *out) {
  for (long c = 0; c < count; ++c) {
    double sums[4] = {0};
    int k = start[c];
    for (; k + 4 <= start[c + 1]; k += 4)
      for (int q = 0; q < 4; ++q) sums[q] += values[k + q] * x[from[k + q]];
    for (; k < start[c + 1]; ++k) sums[0] += values[k] * x[from[k]];
    out[c] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
}

/* x becomes the solution of L L' x, of the lower triangle L (size, size) */
CLONED static void solve(long size, const double *lower, double *x) {
  for (long i = 0; i < size; ++i) {
    const double *row = lower + i * size;
    lanes sums = {0};
    double rest = x[i];
    long k = 0;
    for (; k + TILE <= i; k += TILE) sums += *(const lanes *)(row + k) * *(const lanes *)(x + k);
    for (; k < i; ++k) rest -= row[k] * x[k];
    for (int q = 0; q < TILE; ++q) rest -= sums[q];
    x[i] = rest / row[i];
  }
  for (long i = size; i-- > 0;) {
    const double *row = lower + i * size, value = x[i] /= row[i];
    for (long k = 0; k < i; ++k) x[k] -= value * row[k];
  }
}

#define AT(k) ((void *)a[k])

void sparse_times_tall(const long long *a) {
  multiply((int)a[0], AT(1), AT(2), AT(3), AT(4), AT(5), AT(6), AT(7), (long)a[8], AT(9), AT(10),
           AT(11));
}
void tall_product(const long long *a) {
  cross((int)a[0], AT(1), AT(2), AT(3), AT(4), AT(5), AT(6), AT(7), AT(8), (long)a[9], (int)a[10],
        AT(11), AT(12));
}
double block_substitution(const long long *a) {
  return take((int)a[0], (int)a[1], AT(2), AT(3), AT(4), AT(5), (long)a[6], AT(7), AT(8), AT(9));
}
void sparse_matvec(const long long *a) { gather((long)a[0], AT(1), AT(2), AT(3), AT(4), AT(5)); }
void column_sums(const long long *a) { sum_up((long)a[0], AT(1), AT(2), AT(3), AT(4), AT(5)); }
void cholesky_solve(const long long *a) { solve((long)a[0], AT(1), AT(2)); }

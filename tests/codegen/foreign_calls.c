/* Calls machine code of another processor or calling convention, with numbers of a file.

   A record is eight integers: bytes of code; places in it of the function and of the C library's
   addresses; numbers of inputs and outputs; room; then the sizes of inputs and outputs, the code,
   and the inputs. Outputs go to the standard output. FUNCTIONS is the C library's table, made by
   WRAP(name, arguments). What a function must restore is looked at around each call. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef int (*Code)(const double **, double **, int64_t *, double *, void *) CONVENTION;
typedef double (*Library)(double, double) CONVENTION;
#define ONE(name) static CONVENTION double my_##name(double x, double y) { return name(x); }
#define TWO(name) static CONVENTION double my_##name(double x, double y) { return name(x, y); }
DEFINITIONS

#ifdef __aarch64__
#define HELD(f) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15)
#define VECTOR(k) register double v##k asm("d" #k) = k;
#define KIND "w"
#else
#define HELD(f) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15)
#define VECTOR(k) register double v##k asm("xmm" #k) = k;
#define KIND "x"
#endif
#define USED(k) asm volatile("" : "+" KIND(v##k));
#define CHANGED(k) || v##k != k

static int call(Code code, const double **arg, double **res, double *work) {
  HELD(VECTOR)
  HELD(USED)
  int result = code(arg, res, 0, work, 0);
  HELD(USED)
  return result HELD(CHANGED);
}

int main(int count, char **names) {
  static Library library[] = {TABLE};
  FILE *file = fopen(names[1], "rb");
  int64_t head[8];
  while (fread(head, sizeof head, 1, file) == 1) {
    int64_t size = head[0], n_in = head[3], n_out = head[4], sizes[n_in + n_out + 1], n;
    n = fread(sizes, 8, n_in + n_out, file);
    char *code = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    n += fread(code, 1, size, file);
    memcpy(code + head[2], library, sizeof library);
    if (mprotect(code, size, PROT_READ | PROT_EXEC)) return 1;
    const double *arg[n_in + 1];
    double *res[n_out + 1], *work = malloc(8 * head[5] + 64);
    for (int64_t k = 0; k < n_in; ++k) {
      double *values = malloc(8 * sizes[k] + 8);
      n += fread(values, 8, sizes[k], file);
      arg[k] = values;
    }
    for (int64_t k = 0; k < n_out; ++k) res[k] = calloc(sizes[n_in + k] + 1, 8);
    if (call((Code)(code + head[1]), arg, res, work)) return 2;
    for (int64_t k = 0; k < n_out; ++k) fwrite(res[k], 8, sizes[n_in + k], stdout);
    munmap(code, size);
  }
  return 0;
}

/* A scalar function at many instants, LANES of them at once as vectors.

   Before this text stand the type `lanes`, CasADi's text, at_once() with the function's operations,
   INPUTS, OUTPUTS, and sizes[] of inputs and outputs per instant. The last batch is filled up with
   the very last instant. The last input of `mapped` is the number of instants; `instants` tells it
   to the library too, before CasADi asks for the sizes of `mapped`. */

#if defined(__GNUC__) && !defined(__clang__)
#define QUICK __attribute__((optimize("O3")))
#else
#define QUICK
#endif

QUICK static void interleave(const double *from, int size, int count, lanes *to) {
  const double *at[LANES];
  for (int l = 0; l < LANES; ++l) at[l] = from + (long)(l < count ? l : count - 1) * size;
  for (int i = 0; i < size; ++i)
    for (int l = 0; l < LANES; ++l) to[i][l] = at[l][i];
}

QUICK static void separate(const lanes *from, int size, int count, double *to) {
  for (int l = 0; l < count; ++l)
    for (int i = 0; i < size; ++i) to[(long)l * size + i] = from[i][l];
}

static int evaluate_instants(long count, const casadi_real **arg, casadi_real **res) {
  lanes room[ROOM + 1];
  for (long first = 0; first < count; first += LANES) {
    int some = count - first < LANES ? (int)(count - first) : LANES;
    lanes *at = room, *results[OUTPUTS + 1];
    const lanes *inputs[INPUTS + 1];
    for (int k = 0; k < INPUTS; at += sizes[k++]) {
      inputs[k] = at;
      if (arg[k]) interleave(arg[k] + first * sizes[k], sizes[k], some, at);
      else for (int i = 0; i < sizes[k]; ++i) at[i] = none;
    }
    const int *size = sizes + INPUTS;
    for (int k = 0; k < OUTPUTS; at += size[k++]) results[k] = at;
    at_once(inputs, results);
    for (int k = 0; k < OUTPUTS; ++k)
      if (res[k]) separate(results[k], size[k], some, res[k] + first * size[k]);
  }
  return 0;
}

static casadi_int shapes[INPUTS + OUTPUTS + 1][3];

CASADI_SYMBOL_EXPORT int mapped(const casadi_real **arg, casadi_real **res, casadi_int *iw,
                                casadi_real *w, int mem) {
  return evaluate_instants((long)arg[INPUTS][0], arg, res);
}
CASADI_SYMBOL_EXPORT casadi_int mapped_n_in(void) { return INPUTS + 1; }
CASADI_SYMBOL_EXPORT casadi_int mapped_n_out(void) { return OUTPUTS; }
CASADI_SYMBOL_EXPORT const casadi_int *mapped_sparsity_in(casadi_int k) {
  static const casadi_int one[] = {1, 1, 1};
  return k < INPUTS ? shapes[k] : one;
}
CASADI_SYMBOL_EXPORT const casadi_int *mapped_sparsity_out(casadi_int k) {
  return shapes[INPUTS + k];
}
CASADI_SYMBOL_EXPORT int instants(const casadi_real **arg, casadi_real **res, casadi_int *iw,
                                  casadi_real *w, int mem) {
  for (int k = 0; k < INPUTS + OUTPUTS; ++k) {
    shapes[k][0] = sizes[k];
    shapes[k][1] = (casadi_int)arg[0][0];
    shapes[k][2] = 1;
  }
  return 0;
}
CASADI_SYMBOL_EXPORT casadi_int instants_n_in(void) { return 1; }
CASADI_SYMBOL_EXPORT casadi_int instants_n_out(void) { return 0; }

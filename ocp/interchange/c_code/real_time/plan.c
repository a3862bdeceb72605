#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "$name.h"

typedef ${name}_plan State;
typedef struct {
  const int *place;
  const double *s;
  int count;
} Line;

#define CALL(key) ${name}_##key(p->argument, p->result, p->whole_work, p->work, 0)
#define STATUS(word) ${upper}_##word
#define FUNCTION(key) int ${name}_##key(const double **, double **, int *, double *, int)

FUNCTION(bounds);
FUNCTION(constraints);
FUNCTION(gradient);
FUNCTION(jacobian);
FUNCTION(hessian);

#include "fronts.h"
#include "kernels.h"
#include "factor.h"
#include "tables.h"
#include "newton_steps.h"
#include "filter_search.h"

void ${name}_begin(State *plan) { begin(plan); }

int ${name}_step(State *plan, const double *values, double passed, int newton) {
  return step(plan, values, passed, newton);
}

void ${name}_guess(State *plan) { memcpy(plan->x, guess_x, sizeof guess_x); }

int ${name}_solve(State *plan, const double *values, int iterations, int *status) {
  return solve(plan, values, iterations, status);
}

double ${name}_duration(const State *plan) { return duration_of(plan); }

void ${name}_motion(const State *plan, double t, double *q, double *qd, double *qdd) {
  motion(plan, t, q, qd, qdd);
}

double ${name}_violation(State *plan) { return violation(plan); }

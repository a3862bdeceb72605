/* Moves from the first point, and the variables of the program that wrote this folder after each;
   then a search from the first guess, which must meet all bounds if it has ended at an optimum. */

#include <math.h>
#include <stdio.h>

#include "$name.h"

$arrays
static ${name}_plan plan;

int main(void) {
  double worst = 0;
  for (int k = 0; k < $steps; k++) {
    double off = 0;
    ${name}_begin(&plan);
    int taken = ${name}_step(&plan, values + k * $PARAMETERS, passed[k], 1);
    for (int i = 0; i < $WHOLE; i++) {
      double expected = x[k * $WHOLE + i];
      off = fmax(off, fabs(plan.x[i] - expected) / fmax(1.0, fabs(expected)));
    }
    printf("step %d: %d, %.1e\n", k, taken, off);
    worst = taken == 1 ? fmax(worst, off) : 1.0;
  }
  int status;
  ${name}_begin(&plan), ${name}_guess(&plan);
  int taken = ${name}_solve(&plan, own, 1000, &status);
  double off = ${name}_violation(&plan);
  printf("search: %d iterations, status %d, violation %.1e\n", taken, status, off);
  if (status == ${upper}_SOLVED && !(off <= $met)) return 1;
  return worst <= $tolerance ? 0 : 1;
}

/* Steps of a plan from lines of moves: seconds that have passed, Newton steps at most, and values of
   the parameters. Prints for each the Newton steps taken, the duration, and where the motion begins;
   with the argument `x` all variables. At the end microseconds of a step, to stderr. */

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "${name}.h"

static ${name}_plan plan;

int main(int count, char **words) {
  int whole = count > 1 && !strcmp(words[1], "x"), newton, steps = 0;
  double passed, values[${upper}_PARAMETERS + 1], q[${upper}_COORDINATES], spent = 0;
  ${name}_begin(&plan);
  while (scanf("%lf %d", &passed, &newton) == 2) {
    for (int k = 0; k < ${upper}_PARAMETERS; k++)
      if (scanf("%lf", values + k) != 1) return 1;
    clock_t begin = clock();
    int taken = ${name}_step(&plan, values, passed, newton);
    spent += (double)(clock() - begin), steps++;
    if (taken < 0) fprintf(stderr, "parameter %d: outside its bounds\n", -taken);
    ${name}_motion(&plan, 0.0, q, NULL, NULL);
    printf("%d %.17g", taken, ${name}_duration(&plan));
    for (int k = 0; whole && k < ${upper}_VARIABLES; k++) printf(" %.17g", plan.x[k]);
    for (int k = 0; !whole && k < ${upper}_COORDINATES; k++) printf(" %.17g", q[k]);
    printf("\n");
  }
  fprintf(stderr, "%d steps, %.1f us each\n", steps, 1e6 * spent / CLOCKS_PER_SEC / (steps ? steps : 1));
  return 0;
}

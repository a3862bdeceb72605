/* Motions of a plan from lines of moves: seconds that have passed, Newton steps at most, and values
   of the parameters. Prints for each the Newton steps taken, the duration, and where the motion
   begins; with the argument `x` all variables. With the argument `search` each line is a search from
   the first guess instead, which takes so many iterations at most and the time that has passed for
   nothing. At the end microseconds of a line, to stderr. */

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "${name}.h"

static ${name}_plan plan;

int main(int count, char **words) {
  int whole = 0, searches = 0, newton, steps = 0, status = ${upper}_SOLVED;
  for (int k = 1; k < count; k++) {
    whole = whole || !strcmp(words[k], "x"), searches = searches || !strcmp(words[k], "search");
  }
  double passed, values[${upper}_PARAMETERS + 1], q[${upper}_COORDINATES], spent = 0;
  ${name}_begin(&plan);
  while (scanf("%lf %d", &passed, &newton) == 2) {
    for (int k = 0; k < ${upper}_PARAMETERS; k++)
      if (scanf("%lf", values + k) != 1) return 1;
    clock_t begin = clock();
    if (searches) ${name}_guess(&plan);
    int taken = searches ? ${name}_solve(&plan, values, newton, &status)
                         : ${name}_step(&plan, values, passed, newton);
    spent += (double)(clock() - begin), steps++;
    if (taken < 0) fprintf(stderr, "parameter %d: outside its bounds\n", -taken);
    if (status != ${upper}_SOLVED) fprintf(stderr, "search: status %d\n", status);
    ${name}_motion(&plan, 0.0, q, NULL, NULL);
    printf("%d %.17g", taken, ${name}_duration(&plan));
    for (int k = 0; whole && k < ${upper}_VARIABLES; k++) printf(" %.17g", plan.x[k]);
    for (int k = 0; !whole && k < ${upper}_COORDINATES; k++) printf(" %.17g", q[k]);
    printf("\n");
  }
  double each = 1e6 * spent / CLOCKS_PER_SEC / (steps ? steps : 1);
  fprintf(stderr, "%d %s, %.1f us each\n", steps, searches ? "searches" : "steps", each);
  return 0;
}

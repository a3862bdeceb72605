/* A plan's motions, searched for and by steps in real time, by ocp $version, in SI units. Nothing is
   allocated; plans in threads of their own may run at once.
   parameters: $parameters
   coordinates: $coordinates */
#ifndef ${upper}_H
#define ${upper}_H

#ifdef __cplusplus
extern "C" {
#endif

enum { ${upper}_PARAMETERS = $PARAMETERS, ${upper}_COORDINATES = $COORDINATES, ${upper}_VARIABLES = $WHOLE };

/* How a search ends: at an optimum, near one, after the iterations given, where bounds cannot be
   met, without a step, too far away, at values that are no numbers. */
enum {
    ${upper}_SOLVED, ${upper}_NEARLY_SOLVED, ${upper}_TOO_LONG, ${upper}_INFEASIBLE,
    ${upper}_STUCK, ${upper}_DIVERGING, ${upper}_NO_NUMBER
};

/* The point at which the next step begins; of it `x` is for others: the duration if it is free, then
   control points one after another, then torques that are variables, then parameters. */
typedef struct {
    double x[$WHOLE], v[$SIZE], y[$ROWS], z_lower[$SIZE], z_upper[$SIZE];
    double x_lower[$WHOLE], x_upper[$WHOLE], g_lower[$CONSTRAINTS], g_upper[$CONSTRAINTS];
    double lower[$SIZE], upper[$SIZE], least_below[$SIZE], least_above[$SIZE], target[$ROWS];
    double low[$SIDES], high[$SIDES], g[$CONSTRAINTS], multiplier[$CONSTRAINTS], row[$ROWS];
    double raw[$RAW], whole[$WHOLE], slope[$SIZE], entry[$KEPT], diagonal[$SIZE];
    double below[$SIZE], above[$SIZE], dz_lower[$SIZE], dz_upper[$SIZE], right[$UNKNOWNS], left[$UNKNOWNS];
    double scale[$ROWS], entry_scale[$KEPT], objective_scale, room_of_search[$SEARCH];
    double value[$ENTRIES], factors[$FACTORS], room[$ROOM], work[$WORK];
    int whole_work[$WHOLE_WORK], stuck[$UNKNOWNS];
    const double *argument[$ARGUMENTS];
    double *result[$RESULTS];
} ${name}_plan;

/* The motion that was solved, at the parameters' own values. */
void ${name}_begin(${name}_plan *plan);

/* The motion for other values of the parameters, after `passed` seconds of the former: one Newton
   step, and others up to `newton` while a row is violated by more than 1e-3. Returns how many were
   taken; -1 - k, and nothing changes, if value k is outside its bounds. */
int ${name}_step(${name}_plan *plan, const double *values, double passed, int newton);

/* The first guess of the motion, at the parameters' own values, as the point of a search. */
void ${name}_guess(${name}_plan *plan);

/* The optimal motion for values of the parameters, by an interior point with a filter from the
   motion at hand, in at most so many `iterations`; steps go on from there. Returns how many were
   taken, and sets the status; -1 - k, and nothing changes, if value k is outside its bounds. */
int ${name}_solve(${name}_plan *plan, const double *values, int iterations, int *status);

/* The duration of the motion. */
double ${name}_duration(const ${name}_plan *plan);

/* Coordinates, rates and accelerations at time t; those of which the pointer is NULL are left out. */
void ${name}_motion(const ${name}_plan *plan, double t, double *q, double *qd, double *qdd);

/* The largest violation of a bound, in the program's units. */
double ${name}_violation(${name}_plan *plan);

#ifdef __cplusplus
}
#endif

#endif

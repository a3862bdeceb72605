/* Newton steps of an interior point in real time, on the tables of one program: see
   ocp/solving/real_time_newton.py. Nothing is allocated, and nothing kept but in the state. */

static const double FLOOR = 1e-3, RAISED = 1e-2, SHARE = 0.1, CENTRED = 0.1, BOUNDARY = 0.995;
static const double MET = 1e-3, CLOSEST = 1e-9, SOFT = 1e-8, RELAXED = 1e-8, MOST = 1e-4;
static const double FIRST_SHIFT = 1e-4, MORE = 8.0, LARGEST_SHIFT = 1e40;
static const double LEAST = 64 * 2.220446049250313e-16, STEEP = 100, LEAST_SCALE = 1e-8;

static double scale_of(double slope) {
  return slope > STEEP && isfinite(slope) ? fmax(LEAST_SCALE, STEEP / slope) : 1.0;
}

/* Bounds of variables and rows, from values of the parameters. */
static void set_bounds(State *p, const double *values) {
  double *lower = p->x_lower, *upper = p->x_upper, *g_lower = p->g_lower, *g_upper = p->g_upper;
  p->argument[0] = values, p->result[0] = p->low, p->result[1] = p->high;
  CALL(bounds);
  memcpy(g_lower, closed_g_lower, sizeof closed_g_lower);
  memcpy(g_upper, closed_g_upper, sizeof closed_g_upper);
  memcpy(lower, closed_lower, sizeof closed_lower);
  memcpy(upper, closed_upper, sizeof closed_upper);
  for (int k = 0; k < OPEN_ROWS; k++) {
    g_lower[open_row[k]] = p->low[row_source[k]], g_upper[open_row[k]] = p->high[row_source[k]];
  }
  for (int k = 0; k < OPEN_VARIABLES; k++) {
    int v = open_variable[k], from = variable_source[k];
    double one = (p->low[from] - constant[k]) / factor[k];
    double other = (p->high[from] - constant[k]) / factor[k];
    lower[v] = fmax(lower[v], factor[k] < 0 ? other : one);
    upper[v] = fmin(upper[v], factor[k] < 0 ? one : other);
  }
  for (int k = 0; k < GIVEN; k++) lower[given[k]] = upper[given[k]] = values[FREE + k];
  for (int k = 0; k < WHOLE; k++) lower[k] = fmin(lower[k], upper[k]);
  for (int k = 0; k < EQUALITIES; k++) p->target[k] = g_lower[order[k]] * p->scale[k];
  for (int k = 0; k < SIZE; k++) {
    int slack = k - VARIABLES, row = slack < 0 ? 0 : order[EQUALITIES + slack];
    double by = slack < 0 ? 1.0 : p->scale[EQUALITIES + slack];
    double least = slack < 0 ? lower[moving[k]] : g_lower[row];
    double most = slack < 0 ? upper[moving[k]] : g_upper[row];
    least = by * (least - fmin(MOST, RELAXED * fmax(1.0, fabs(least))));
    most = by * (most + fmin(MOST, RELAXED * fmax(1.0, fabs(most))));
    p->lower[k] = least, p->upper[k] = most;
    p->least_below[k] = LEAST * fmax(1.0, isfinite(least) ? fabs(least) : 0.0);
    p->least_above[k] = LEAST * fmax(1.0, isfinite(most) ? fabs(most) : 0.0);
  }
}

static void place_variables(State *p, const double *v) {
  for (int k = 0; k < FIXED; k++) p->x[fixed[k]] = p->x_lower[fixed[k]];
  for (int k = 0; k < VARIABLES; k++) p->x[moving[k]] = v[k];
}

/* Values of rows, from those of the program. */
static void row_values(State *p, const double *v, double *row) {
  for (int k = 0; k < ROWS; k++) {
    double value = p->g[order[k]] * p->scale[k];
    row[k] = value - (k < EQUALITIES ? p->target[k] : v[VARIABLES + k - EQUALITIES]);
  }
}

static double largest_row(const State *p) {
  double most = 0;
  for (int k = 0; k < ROWS; k++) most = fmax(most, fabs(p->row[k]));
  return most;
}

static void set_jacobian(State *p) {
  memcpy(p->value + AT_JACOBIAN, p->entry, sizeof p->entry);
  for (int k = 0; k < ROWS - EQUALITIES; k++) p->value[AT_SLACKS + k] = -1.0;
}

/* f's gradient, the Jacobian, values of rows, and the Hessian of the Lagrangian. */
static void evaluate(State *p) {
  p->argument[0] = p->x, p->argument[1] = NULL, p->result[0] = NULL, p->result[1] = p->whole;
  CALL(gradient);
  for (int k = 0; k < VARIABLES; k++) p->slope[k] = p->objective_scale * p->whole[moving[k]];
  p->argument[0] = p->x, p->argument[1] = NULL, p->result[0] = p->g, p->result[1] = p->raw;
  CALL(jacobian);
  for (int k = 0; k < KEPT; k++) p->entry[k] = p->raw[kept[k]] * p->entry_scale[k];
  row_values(p, p->v, p->row);
  memset(p->multiplier, 0, sizeof p->multiplier);
  for (int k = 0; k < ROWS; k++) p->multiplier[order[k]] = p->y[k] * p->scale[k];
  p->argument[0] = p->x, p->argument[1] = NULL, p->result[0] = p->raw;
  p->argument[2] = &p->objective_scale, p->argument[3] = p->multiplier;
  CALL(hessian);
  for (int k = 0; k < CURVED; k++) p->value[k] = p->raw[curved[k]];
  set_jacobian(p);
}

/* Negative eigenvalues of the system with S = `soft`, or at least so much, in its rows; -1 where it
   is singular or has entries that are no numbers. */
static int negative_eigenvalues(State *p, const double *soft, double least) {
  int negative = 0;
  for (int k = 0; k < ROWS; k++) p->value[AT_ROWS + k] = -fmax(soft ? soft[k] : 0.0, least);
  for (int k = 0; k < ENTRIES; k++)
    if (!isfinite(p->value[k])) return -1;
  memcpy(p->factors, p->value, sizeof p->value);
  return factorise(&plan, p->factors, p->room, &negative, p->stuck) ? -1 : negative;
}

/* Factorise with a diagonal and a shift; whether the inertia is that of a minimum. */
static int factorise_with(State *p, const double *diagonal, double shift, const double *soft) {
  for (int k = 0; k < SIZE; k++) p->value[AT_DIAGONAL + k] = diagonal[k] + shift;
  int negative = negative_eigenvalues(p, soft, 0.0);
  if (negative < ROWS) negative = negative_eigenvalues(p, soft, SOFT);
  return negative == ROWS;
}

/* Factorise with the least shift tried that gives the inertia of a minimum. */
static int shift_and_factorise(State *p) {
  for (double shift = 0; shift <= LARGEST_SHIFT; shift = shift > 0 ? MORE * shift : FIRST_SHIFT)
    if (factorise_with(p, p->diagonal, shift, NULL)) return 1;
  return 0;
}

/* Solve for the right-hand side, in place, and refine the solution once. */
static void solve_precisely(State *p) {
  memcpy(p->left, p->right, sizeof p->right);
  solve_with(&plan, p->factors, p->room, p->right);
  for (int k = 0; k < ENTRIES; k++) {
    int i = entry_i[k], j = entry_j[k];
    p->left[i] -= p->value[k] * p->right[j];
    if (i != j) p->left[j] -= p->value[k] * p->right[i];
  }
  solve_with(&plan, p->factors, p->room, p->left);
  for (int k = 0; k < SIZE + ROWS; k++) p->right[k] += p->left[k];
}

static double share(double most, double distance, double step) {
  double gone = -step / distance;
  return gone > most ? gone : most;
}

static double length(double most) { return most <= BOUNDARY ? 1.0 : BOUNDARY / most; }

/* One primal-dual step; 0 without one. */
static int newton_step(State *p) {
  double *dv = p->right, *dy = p->right + SIZE, products = 0, gone = 0, z_gone = 0;
  int bounds = 0;
  evaluate(p);
  for (int k = 0; k < SIZE; k++) {
    double below = p->below[k] = fmax(p->v[k] - p->lower[k], p->least_below[k]);
    double above = p->above[k] = fmax(p->upper[k] - p->v[k], p->least_above[k]);
    int low = isfinite(p->lower[k]) != 0, high = isfinite(p->upper[k]) != 0;
    bounds += low + high;
    products += (low ? p->z_lower[k] * below : 0.0) + (high ? p->z_upper[k] * above : 0.0);
    p->diagonal[k] = p->z_lower[k] / below + p->z_upper[k] / above;
  }
  double mu = fmax(FLOOR, fmin(SHARE * largest_row(p), RAISED));
  mu = fmax(mu, CENTRED * products / (bounds ? bounds : 1));
  if (!shift_and_factorise(p)) return 0;
  memset(p->right, 0, sizeof p->right);
  for (int k = 0; k < KEPT; k++) dv[entry_column[k]] -= p->entry[k] * p->y[entry_row[k]];
  for (int k = EQUALITIES; k < ROWS; k++) dv[VARIABLES + k - EQUALITIES] += p->y[k];
  for (int k = 0; k < SIZE; k++) dv[k] -= p->slope[k] + mu / p->above[k] - mu / p->below[k];
  for (int k = 0; k < ROWS; k++) dy[k] = -p->row[k];
  solve_precisely(p);
  for (int k = 0; k < SIZE; k++) {
    double z = p->z_lower[k], y = p->z_upper[k], below = p->below[k], above = p->above[k];
    if (!isfinite(dv[k])) return 0;
    double down = p->dz_lower[k] = mu / below - z - z / below * dv[k];
    double up = p->dz_upper[k] = mu / above - y + y / above * dv[k];
    gone = share(share(gone, below, dv[k]), above, -dv[k]);
    z_gone = share(share(z_gone, z, down), y, up);
  }
  double by = length(gone), z_by = length(z_gone);
  for (int k = 0; k < SIZE; k++) {
    p->v[k] += by * dv[k];
    p->z_lower[k] += z_by * p->dz_lower[k], p->z_upper[k] += z_by * p->dz_upper[k];
  }
  for (int k = 0; k < ROWS; k++) p->y[k] += by * dy[k];
  place_variables(p, p->v);
  return 1;
}

static double centred_distance(double distance, double z) {
  double middle = (distance - z) / 2;
  return middle + sqrt(middle * middle + FLOOR);
}

/* Move a variable and its multipliers onto the central path: a distance d with a multiplier z to
   the d' with the same d' - z', and of two bounds the nearer one. */
static void centre(State *p, int k, double v, double z) {
  double lower = p->lower[k], upper = p->upper[k], half = (upper - lower) / 2;
  double below = v - lower, above = upper - v;
  p->v[k] = v;
  if (below <= above && isfinite(lower))
    p->v[k] = lower + fmin(centred_distance(below, fmax(-z, 0.0)), half);
  if (below > above && isfinite(upper))
    p->v[k] = upper - fmin(centred_distance(above, fmax(z, 0.0)), half);
  p->z_lower[k] = FLOOR / fmax(p->v[k] - lower, p->least_below[k]);
  p->z_upper[k] = FLOOR / fmax(upper - p->v[k], p->least_above[k]);
}

/* Bring variables that have moved past their bounds back inside, onto the central path. */
static void move_inside(State *p) {
  for (int k = 0; k < SIZE; k++)
    if (p->v[k] - p->lower[k] < CLOSEST || p->upper[k] - p->v[k] < CLOSEST)
      centre(p, k, p->v[k], 0.0);
}

/* The basis or its derivative at s, in b (DEGREE + 1) for the control points from the one returned
   on (de Boor 1972). */
static int basis(double s, int derivative, double *b) {
  int from = DEGREE;
  while (from < POINTS - 1 && s >= knot[from + 1]) from++;
  memset(b, 0, sizeof(double) * (DEGREE + 1)), b[DEGREE] = 1;
  for (int d = 1; d <= DEGREE; d++) /* from degree d - 1 to degree d */
    for (int k = DEGREE - d; k <= DEGREE; k++) {
      int i = from - DEGREE + k;
      double own = knot[i + d] - knot[i], next = knot[i + d + 1] - knot[i + 1];
      double left = own > 0 ? b[k] / own : 0;
      double right = k < DEGREE && next > 0 ? b[k + 1] / next : 0;
      b[k] = d > DEGREE - derivative
                 ? d * (left - right)
                 : (s - knot[i]) * left + (knot[i + d + 1] - s) * right;
    }
  return from - DEGREE;
}

static double duration_of(const State *p) { return TIMED ? p->x[0] : DURATION; }

/* A coordinate, or its derivative by s, of the motion of x. */
static double on_curve(const double *x, int coordinate, int first, const double *b) {
  double sum = 0;
  for (int k = 0; k <= DEGREE; k++) sum += b[k] * x[TIMED + (first + k) * COORDINATES + coordinate];
  return sum;
}

/* Numbers along the motion, taken at later instants; beyond its end they stay. */
static void resample(double *vector, const Line *line, int lines, double by, double before,
                     double left, double *kept_numbers) {
  for (int k = 0; k < lines; k++) {
    const double *s = line[k].s;
    int last = line[k].count - 1, at = 0;
    for (int i = 0; i <= last; i++) kept_numbers[i] = vector[line[k].place[i]];
    for (int i = 0; i <= last; i++) {
      double later = (by + s[i] * left) / before;
      while (at < last - 1 && later >= s[at + 1]) at++;
      double share = fmin(fmax((later - s[at]) / (s[at + 1] - s[at]), 0.0), 1.0);
      double from = kept_numbers[at], to = kept_numbers[at + 1];
      vector[line[k].place[i]] = share < 1.0 ? from + share * (to - from) : to;
    }
  }
}

/* Let `by` seconds of the motion pass. */
static void pass_time(State *p, double by) {
  double before = duration_of(p), left = TIMED ? fmax(before - by, SHORTEST) : before;
  double *value = p->whole, b[DEGREE + 1];
  for (int i = 0; i < POINTS; i++) { /* at abscissae of the rest */
    int first = basis(fmin((by + abscissa[i] * left) / before, 1.0), 0, b);
    for (int c = 0; c < COORDINATES; c++) value[c * POINTS + i] = on_curve(p->x, c, first, b);
  }
  if (TIMED) p->x[0] = left;
  for (int j = 0; j < POINTS; j++)
    for (int c = 0; c < COORDINATES; c++) {
      double sum = 0;
      for (int i = 0; i < POINTS; i++) sum += value[c * POINTS + i] * through[i * POINTS + j];
      p->x[TIMED + j * COORDINATES + c] = sum;
    }
  for (int k = 0; k < VARIABLES; k++) p->v[k] = p->x[moving[k]];
  resample(p->v, variable_line, VARIABLE_LINES, by, before, left, p->raw);
  resample(p->z_lower, variable_line, VARIABLE_LINES, by, before, left, p->raw);
  resample(p->z_upper, variable_line, VARIABLE_LINES, by, before, left, p->raw);
  resample(p->y, row_line, ROW_LINES, by, before, left, p->raw);
}

static void evaluate_rows(State *p) {
  p->argument[0] = p->x, p->argument[1] = NULL, p->result[0] = p->g;
  CALL(constraints);
  row_values(p, p->v, p->row);
}

static void set_entry_scales(State *p) {
  for (int k = 0; k < KEPT; k++) p->entry_scale[k] = p->scale[entry_row[k]];
}

/* Divide f and rows by their slopes at x where these are steep. */
static void set_scales(State *p) {
  double steep = 0;
  p->argument[0] = p->x, p->argument[1] = NULL, p->result[0] = NULL, p->result[1] = p->whole;
  CALL(gradient);
  for (int k = 0; k < VARIABLES; k++) steep = fmax(steep, fabs(p->whole[moving[k]]));
  p->objective_scale = scale_of(steep);
  p->result[0] = p->g, p->result[1] = p->raw;
  CALL(jacobian);
  memset(p->row, 0, sizeof p->row);
  for (int k = 0; k < KEPT; k++)
    p->row[entry_row[k]] = fmax(p->row[entry_row[k]], fabs(p->raw[kept[k]]));
  for (int k = 0; k < ROWS; k++) p->scale[k] = scale_of(p->row[k]);
  set_entry_scales(p);
}

static void begin(State *p) {
  memset(p, 0, sizeof *p);
  memcpy(p->x, first_x, sizeof first_x), memcpy(p->v, first_v, sizeof first_v);
  memcpy(p->y, first_y, sizeof first_y);
  memcpy(p->z_lower, first_z_lower, sizeof first_z_lower);
  memcpy(p->z_upper, first_z_upper, sizeof first_z_upper);
  memcpy(p->scale, first_scale, sizeof first_scale), p->objective_scale = first_objective_scale;
  set_entry_scales(p), set_bounds(p, first_values);
}

/* -1 less the place of a value outside its bounds, 0 without one. */
static int beyond_bounds(const double *values) {
  for (int k = 0; k < PARAMETERS; k++)
    if (!(values[k] >= least_value[k] && values[k] <= most_value[k])) return -1 - k;
  return 0;
}

static int step(State *p, const double *values, double passed, int newton) {
  int beyond = beyond_bounds(values);
  if (beyond) return beyond;
  set_bounds(p, values), place_variables(p, p->v);
  if (passed != 0) pass_time(p, passed);
  move_inside(p), place_variables(p, p->v);
  for (int count = 0; count < newton; count++) {
    if (count) {
      evaluate_rows(p);
      if (largest_row(p) <= MET) return count;
    }
    if (!newton_step(p)) return count;
  }
  return newton;
}

static double violation(State *p) {
  double most = 0;
  evaluate_rows(p);
  for (int k = 0; k < WHOLE; k++)
    most = fmax(most, fmax(p->x_lower[k] - p->x[k], p->x[k] - p->x_upper[k]));
  for (int k = 0; k < CONSTRAINTS; k++)
    most = fmax(most, fmax(p->g_lower[k] - p->g[k], p->g[k] - p->g_upper[k]));
  return most;
}

static void motion(const State *p, double t, double *q, double *qd, double *qdd) {
  double duration = duration_of(p), s = fmin(fmax(t / duration, 0.0), 1.0), b[DEGREE + 1];
  double *out[] = {q, qd, qdd}, by = 1;
  for (int derivative = 0; derivative < 3; derivative++, by /= duration) {
    int first = basis(s, derivative, b);
    for (int c = 0; c < COORDINATES; c++)
      if (out[derivative]) out[derivative][c] = by * on_curve(p->x, c, first, b);
  }
}

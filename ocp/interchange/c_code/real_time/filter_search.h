/* The search of an interior point with a filter, on the tables of one program: see
   ocp/interior_point/interior_point.py, whose constants these are. Nothing is allocated: vectors
   are parts of the state's `room_of_search`. */

static const double TOLERANCE = 1e-8, FIRST_MU = 0.1, LARGEST_MU = 1e3, OF_MEAN = 0.8;
static const double MARGIN = 1e-5, LOWER_BY = 0.2, SUPERLINEAR = 1.5, TOLERATED = 10;
static const double UNSCALED_PRODUCT = 1e-4, UNSCALED_SLOPE = 1.0, FRACTION = 0.99, LEAST_SHIFT = 1e-20, FEWER = 1.0 / 3;
static const double MUCH_MORE = 100, REFINED = 1e-10, SHORT = 0.01, CORRECTED = 0.99;
static const double TINY = 10 * 2.220446049250313e-16, DIVERGED = 1e20, DISTANT = 1e10;
static const double VAST = 1e4, NEARLY = 1e-2, DAMPING = 1e-5, SCALED = 100, RESET = 1e10;
static const double LESS_THETA = 1e-5, LESS_PHI = 1e-8, ARMIJO = 1e-8, S_THETA = 1.1, S_PHI = 2.3;
static const double SHORTEST_STEP = 0.05, LARGEST_THETA = 1e4, SMALL_THETA = 1e-4;
static const double PUSH = 1e-2, LARGEST_Y = 1e3, ACCEPTABLE = 1e-6;
static const double ELASTIC = 1e3, GAIN = 0.9, RENEWED = 1e3, LEAST_ELASTIC = 1e-14;
static const double SIGMA_LEAST = 1e-6, SIGMA_MOST = 100, NEAR_ONE = 1e-2, SECTION = 1e-2;
enum { REFINEMENTS = 5, CORRECTIONS = 4, BLOCKED = 3, COLLAPSED = 3, SECTIONS = 8 };
enum { PAIRS = 500, ELASTIC_SIZE = SIZE + 2 * ROWS, GO_ON = -1, RESTORED = -2 };

typedef struct {
  double theta, phi;
} Pair;

typedef struct {
  Pair pair[PAIRS];
  int count;
  double largest, small;
} Filter;

/* A search of the program, or of the elastic one, `outer` being the search that it restores. Of the
   point at hand are v to `f`, of a step dv and dy, of a trial `place` and `found`. */
typedef struct Search Search;
struct Search {
  Search *outer;
  Filter filter, progress;
  int size, count, most_count, free, blocked, stalled, collapsed, tiny, imprecise;
  double mu, least_mu, most, shift, regularized, unshifted, f;
  double *v, *z_lower, *z_upper, *lower, *upper, *below, *above, *gradient, *diagonal, *pull;
  double *y, *row, *dv, *dy, *place, *found, *a, *b, *a_left, *b_left, *affine, *affine_y;
  double *centring, *centring_y, *corrected, *near, *pulled, *soft;
  double theta, stationarity, largest_row, by, by_bounds;
};

static double *take(double **next, int count) {
  double *taken = *next;
  *next += count;
  return taken;
}

/* A search's vectors, of the room that begins at `next`. */
static void take_vectors(Search *s, double **next) {
  double **wide[] = {&s->v, &s->z_lower, &s->z_upper, &s->lower, &s->upper, &s->below, &s->above,
                     &s->gradient, &s->diagonal, &s->pull, &s->dv, &s->place, &s->a, &s->a_left,
                     &s->affine, &s->centring};
  double **rows[] = {&s->y, &s->row, &s->dy, &s->found, &s->b, &s->b_left, &s->affine_y,
                     &s->centring_y, &s->corrected, &s->soft};
  for (size_t k = 0; k < sizeof wide / sizeof *wide; k++) *wide[k] = take(next, s->size);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) *rows[k] = take(next, ROWS);
  s->near = take(next, SIZE), s->pulled = take(next, SIZE);
}

static double largest_of(const double *vector, int count) {
  double most = 0;
  for (int k = 0; k < count; k++)
    if (!(fabs(vector[k]) <= most)) most = fabs(vector[k]);
  return most;
}

static int all_finite(const double *vector, int count) {
  for (int k = 0; k < count; k++)
    if (!isfinite(vector[k])) return 0;
  return 1;
}

static double one_norm(const double *vector, int count) {
  double sum = 0;
  for (int k = 0; k < count; k++) sum += fabs(vector[k]);
  return sum;
}

/* A distance below which there is rounding alone. */
static double least_distance(double bound) {
  return LEAST * fmax(1.0, isfinite(bound) ? fabs(bound) : 0.0);
}

static double below_of(const Search *s, const double *v, int k) {
  return fmax(v[k] - s->lower[k], least_distance(s->lower[k]));
}

static double above_of(const Search *s, const double *v, int k) {
  return fmax(s->upper[k] - v[k], least_distance(s->upper[k]));
}

/* 1 of a variable with a lower bound alone, -1 with an upper one alone. */
static int one_sided(const Search *s, int k) {
  return (isfinite(s->lower[k]) != 0) - (isfinite(s->upper[k]) != 0);
}

/* The barrier term of the objective, damped. */
static double barrier_term(const Search *s, const double *v, double mu) {
  double logarithms = 0, damped = 0;
  for (int k = 0; k < s->size; k++) {
    if (isfinite(s->lower[k])) {
      logarithms += log(below_of(s, v, k));
      if (one_sided(s, k) == 1) damped += below_of(s, v, k);
    }
    if (isfinite(s->upper[k])) {
      logarithms += log(above_of(s, v, k));
      if (one_sided(s, k) == -1) damped += above_of(s, v, k);
    }
  }
  return mu * (DAMPING * damped - logarithms);
}

static double barrier_slope(const Search *s, int k) {
  double centring = s->mu / s->above[k] - s->mu / s->below[k];
  return s->gradient[k] + centring + DAMPING * s->mu * one_sided(s, k);
}

/* Rows of the search, from those of the program. */
static void scaled_rows(State *p, const Search *s, const double *v, double *row) {
  row_values(p, v, row);
  for (int k = 0; s->outer && k < ROWS; k++) row[k] += v[SIZE + ROWS + k] - v[SIZE + k];
}

static void rows_at(State *p, const Search *s, const double *v, double *row) {
  place_variables(p, v);
  p->argument[0] = p->x, p->argument[1] = NULL, p->result[0] = p->g;
  CALL(constraints);
  scaled_rows(p, s, v, row);
}

static double own_objective(State *p, const double *v) {
  double f;
  place_variables(p, v);
  p->argument[0] = p->x, p->argument[1] = NULL, p->result[0] = &f, p->result[1] = NULL;
  CALL(gradient);
  return p->objective_scale * f;
}

static double objective_at(State *p, const Search *s, const double *v) {
  if (!s->outer) return own_objective(p, v);
  double elastic = 0, away = 0;
  for (int k = SIZE; k < ELASTIC_SIZE; k++) elastic += v[k];
  for (int k = 0; k < SIZE; k++) away += s->pulled[k] * (v[k] - s->near[k]) * (v[k] - s->near[k]);
  return ELASTIC * elastic + away / 2;
}

/* J' of the rows times y. */
static void pull_rows(const State *p, const Search *s, const double *y, double *out) {
  memset(out, 0, sizeof(double) * SIZE);
  for (int k = 0; k < KEPT; k++) out[entry_column[k]] += p->entry[k] * y[entry_row[k]];
  for (int k = EQUALITIES; k < ROWS; k++) out[VARIABLES + k - EQUALITIES] -= y[k];
  for (int k = 0; s->outer && k < ROWS; k++) out[SIZE + k] = -y[k], out[SIZE + ROWS + k] = y[k];
}

/* Evaluate all of the point at v, whose multipliers are there already. */
static void evaluate_point(State *p, Search *s) {
  double f;
  place_variables(p, s->v);
  p->argument[0] = p->x, p->argument[1] = NULL, p->result[0] = p->g, p->result[1] = p->raw;
  CALL(jacobian);
  for (int k = 0; k < KEPT; k++) p->entry[k] = p->raw[kept[k]] * p->entry_scale[k];
  scaled_rows(p, s, s->v, s->row);
  if (s->outer) {
    s->f = objective_at(p, s, s->v);
    for (int k = 0; k < SIZE; k++) s->gradient[k] = s->pulled[k] * (s->v[k] - s->near[k]);
    for (int k = SIZE; k < ELASTIC_SIZE; k++) s->gradient[k] = ELASTIC;
  } else {
    p->result[0] = &f, p->result[1] = p->whole;
    CALL(gradient);
    s->f = p->objective_scale * f;
    memset(s->gradient, 0, sizeof(double) * SIZE);
    for (int k = 0; k < VARIABLES; k++) s->gradient[k] = p->objective_scale * p->whole[moving[k]];
  }
  for (int k = 0; k < s->size; k++) s->below[k] = below_of(s, s->v, k);
  for (int k = 0; k < s->size; k++) s->above[k] = above_of(s, s->v, k);
  s->theta = one_norm(s->row, ROWS);
}

static int is_sound(const State *p, const Search *s) {
  return isfinite(s->f) && all_finite(s->row, ROWS) && all_finite(s->gradient, s->size) &&
         all_finite(p->entry, KEPT);
}

static double complementarity(const Search *s, double mu) {
  double most = 0;
  for (int k = 0; k < s->size; k++) {
    if (isfinite(s->lower[k])) most = fmax(most, fabs(s->z_lower[k] * s->below[k] - mu));
    if (isfinite(s->upper[k])) most = fmax(most, fabs(s->z_upper[k] * s->above[k] - mu));
  }
  return most;
}

static double error_of(const Search *s, double mu) {
  double rest = fmax(s->stationarity / s->by, s->largest_row);
  return fmax(rest, complementarity(s, mu) / s->by_bounds);
}

static int bounds_of(const Search *s) {
  int bounds = 0;
  for (int k = 0; k < s->size; k++) {
    bounds += (isfinite(s->lower[k]) != 0) + (isfinite(s->upper[k]) != 0);
  }
  return bounds;
}

static double mean_product(const Search *s) {
  double sum = 0;
  int bounds = bounds_of(s);
  for (int k = 0; k < s->size; k++) {
    if (isfinite(s->lower[k])) sum += s->z_lower[k] * s->below[k];
    if (isfinite(s->upper[k])) sum += s->z_upper[k] * s->above[k];
  }
  return bounds ? sum / bounds : 0.0;
}

/* First-order residuals of the point at hand. */
static void set_residuals(const State *p, Search *s) {
  int bounds = bounds_of(s);
  double z = one_norm(s->z_lower, s->size) + one_norm(s->z_upper, s->size);
  double total = z + one_norm(s->y, ROWS);
  pull_rows(p, s, s->y, s->pull);
  s->stationarity = 0;
  for (int k = 0; k < s->size; k++) {
    double slope = s->gradient[k] + s->pull[k] + (s->z_upper[k] - s->z_lower[k]);
    s->stationarity = fmax(s->stationarity, fabs(slope));
  }
  s->largest_row = largest_of(s->row, ROWS);
  s->by = fmax(SCALED, total / (bounds + ROWS > 1 ? bounds + ROWS : 1)) / SCALED;
  s->by_bounds = fmax(SCALED, z / (bounds > 1 ? bounds : 1)) / SCALED;
}

static int is_solved(const State *p, const Search *s) {
  if (!(error_of(s, 0.0) <= TOLERANCE)) return 0;
  if (s->outer) return 1;
  return s->stationarity / p->objective_scale <= UNSCALED_SLOPE &&
         complementarity(s, 0.0) / p->objective_scale <= UNSCALED_PRODUCT;
}

/* Add a pair, and drop those that are worse in both. */
static void add_pair(Filter *filter, double theta, double phi) {
  int left = 0;
  for (int k = 0; k < filter->count; k++)
    if (filter->pair[k].theta < theta || filter->pair[k].phi < phi)
      filter->pair[left++] = filter->pair[k];
  if (left == PAIRS) memmove(filter->pair, filter->pair + 1, sizeof(Pair) * --left);
  filter->pair[left] = (Pair){theta, phi}, filter->count = left + 1;
}

static void add_to_filter(Filter *filter, double theta, double phi) {
  add_pair(filter, (1 - LESS_THETA) * theta, phi - LESS_PHI * theta);
}

/* What rounding leaves of a barrier function, whose terms are near 1 or larger. */
static double rounding(double phi) { return TINY * fmax(1.0, fabs(phi)); }

static int filter_admits(const Filter *filter, Pair trial) {
  if (!(trial.theta <= filter->largest) || !isfinite(trial.phi)) return 0;
  for (int k = 0; k < filter->count; k++) {
    Pair each = filter->pair[k];
    if (!(trial.theta <= each.theta || trial.phi <= each.phi + rounding(each.phi))) return 0;
  }
  return 1;
}

/* Whether a step must lower the barrier function, and whether it lowers it enough. */
static int switches(const Filter *filter, Pair here, double slope, double length) {
  if (slope >= 0 || here.theta > filter->small) return 0;
  return length * pow(-slope, S_PHI) > pow(here.theta, S_THETA);
}

static int lowers(Pair here, Pair trial, double slope, double length) {
  return trial.phi - here.phi - rounding(here.phi) <= ARMIJO * length * slope;
}

static double least_length(const Filter *filter, Pair here, double slope) {
  double least = LESS_THETA;
  if (slope < 0) {
    least = fmin(least, LESS_PHI * here.theta / -slope);
    if (here.theta <= filter->small)
      least = fmin(least, pow(here.theta, S_THETA) / pow(-slope, S_PHI));
  }
  return fmax(SHORTEST_STEP * least, 1e-14);
}

/* Whether filter and descent accept a trial, which then augments the filter. */
static int accepts(Filter *filter, Pair here, Pair trial, double slope, double length) {
  int must = switches(filter, here, slope, length), low = lowers(here, trial, slope, length);
  if (!filter_admits(filter, trial)) return 0;
  if (must && !low) return 0;
  if (!must && !(trial.theta <= (1 - LESS_THETA) * here.theta ||
                 trial.phi - rounding(here.phi) <= here.phi - LESS_PHI * here.theta))
    return 0;
  if (!must) add_to_filter(filter, here.theta, here.phi);
  return 1;
}

static void begin_filter(Filter *filter, double theta) {
  filter->count = 0;
  filter->largest = LARGEST_THETA * fmax(1.0, theta);
  filter->small = SMALL_THETA * fmax(1.0, theta);
}

static void begin_barrier(Search *s, double mu) { s->mu = mu, begin_filter(&s->filter, s->theta); }

/* Go on by the monotone rule from a parameter of this mean product. */
static void fix_barrier(Search *s, double average) {
  s->free = s->tiny = 0;
  begin_barrier(s, fmin(fmax(OF_MEAN * average, s->least_mu), s->most));
}

static void lower_barrier(Search *s) {
  double least = s->least_mu;
  while (s->mu > least && (s->tiny > 1 || error_of(s, s->mu) <= TOLERATED * s->mu)) {
    s->tiny = 0;
    begin_barrier(s, fmax(least, fmin(LOWER_BY * s->mu, pow(s->mu, SUPERLINEAR))));
  }
}

/* Whether the point at hand is progress beside all former ones. */
static int progresses(const Search *s, double error) {
  double margin = MARGIN * fmin(1.0, error);
  for (int k = 0; k < s->progress.count; k++) {
    Pair former = s->progress.pair[k];
    if (!(s->f + margin <= former.phi || s->theta + margin <= former.theta)) return 0;
  }
  return 1;
}

/* Leave the barrier parameter to each step while there is progress, else to the monotone rule; the
   last step has the least one. */
static void update_barrier(Search *s) {
  double error = error_of(s, 0.0), average = mean_product(s);
  if (!isfinite(s->most)) s->most = fmax(LARGEST_MU * average, s->least_mu);
  if (error <= TOLERANCE) {
    s->free = 0;
    begin_barrier(s, s->least_mu);
    return;
  }
  if (!s->free && s->blocked && error_of(s, s->mu) <= TOLERATED * s->mu) s->blocked = 0;
  if (!(s->free && s->regularized != 0))
    s->collapsed = 0, s->unshifted = average;
  else
    s->collapsed = s->mu > 1.01 * s->least_mu ? 0 : s->collapsed + 1;
  if (s->collapsed >= COLLAPSED) {
    s->collapsed = 0, s->blocked = BLOCKED;
    fix_barrier(s, fmax(s->unshifted, average));
  } else if (s->tiny == 0 && s->blocked < BLOCKED && progresses(s, error)) {
    s->free = 1;
    add_pair(&s->progress, s->theta, s->f);
  } else if (s->free) {
    fix_barrier(s, average);
  } else {
    lower_barrier(s);
  }
}

/* The Hessian of the Lagrangian and the Jacobian, as entries of the linear system. */
static void linearise(State *p, const Search *s) {
  double weight = s->outer ? 0.0 : p->objective_scale;
  place_variables(p, s->v);
  memset(p->multiplier, 0, sizeof p->multiplier);
  for (int k = 0; k < ROWS; k++) p->multiplier[order[k]] = s->y[k] * p->scale[k];
  p->argument[0] = p->x, p->argument[1] = NULL, p->result[0] = p->raw;
  p->argument[2] = &weight, p->argument[3] = p->multiplier;
  CALL(hessian);
  for (int k = 0; k < CURVED; k++) p->value[k] = p->raw[curved[k]];
  set_jacobian(p);
}

/* Factorise with a diagonal and a shift; whether the inertia is that of a minimum. */
static int factorise_search(State *p, Search *s, double shift) {
  if (!s->outer) return factorise_with(p, s->diagonal, shift, NULL);
  for (int k = 0; k < s->size; k++) s->pull[k] = s->diagonal[k] + shift;
  for (int k = 0; k < ROWS; k++)
    s->soft[k] = 1.0 / s->pull[SIZE + k] + 1.0 / s->pull[SIZE + ROWS + k];
  for (int k = 0; k < SIZE; k++) s->pull[k] += s->pulled[k];
  return factorise_with(p, s->pull, 0.0, s->soft);
}

/* Factorise with a shift that gives the inertia of a minimum; the diagonal takes it. */
static int shift_search(State *p, Search *s) {
  double shift = 0;
  for (int k = 0; k < s->size; k++)
    s->diagonal[k] = s->z_lower[k] / s->below[k] + s->z_upper[k] / s->above[k];
  while (!factorise_search(p, s, shift)) {
    if (shift == 0)
      shift = s->shift == 0 ? FIRST_SHIFT : fmax(LEAST_SHIFT, FEWER * s->shift);
    else
      shift *= s->shift == 0 ? MUCH_MORE : MORE;
    if (shift > LARGEST_SHIFT) return 0;
  }
  s->regularized = shift;
  if (shift > 0) s->shift = shift;
  for (int k = 0; k < s->size; k++) s->diagonal[k] += shift;
  return 1;
}

/* dv and dy of right-hand sides a and b. */
static void solve_search(State *p, const Search *s, const double *a, const double *b, double *dv,
                         double *dy) {
  const double *up = s->diagonal + SIZE, *down = s->diagonal + SIZE + ROWS;
  memcpy(p->right, a, sizeof(double) * SIZE), memcpy(p->right + SIZE, b, sizeof(double) * ROWS);
  for (int k = 0; s->outer && k < ROWS; k++)
    p->right[SIZE + k] += a[SIZE + k] / up[k] - a[SIZE + ROWS + k] / down[k];
  solve_with(&plan, p->factors, p->room, p->right);
  memcpy(dv, p->right, sizeof(double) * SIZE), memcpy(dy, p->right + SIZE, sizeof(double) * ROWS);
  for (int k = 0; s->outer && k < ROWS; k++) {
    dv[SIZE + k] = (a[SIZE + k] + dy[k]) / up[k];
    dv[SIZE + ROWS + k] = (a[SIZE + ROWS + k] - dy[k]) / down[k];
  }
}

/* What is left of right-hand sides a and b by dv and dy. */
static void leave(State *p, Search *s, const double *dv, const double *dy) {
  pull_rows(p, s, dy, s->a_left);
  for (int k = 0; k < s->size; k++) {
    double own = s->diagonal[k] + (s->outer && k < SIZE ? s->pulled[k] : 0.0);
    s->a_left[k] += own * dv[k];
  }
  for (int k = 0; k < CURVED; k++) {
    int i = entry_i[k], j = entry_j[k];
    s->a_left[i] += p->value[k] * dv[j];
    if (i != j) s->a_left[j] += p->value[k] * dv[i];
  }
  memset(s->b_left, 0, sizeof(double) * ROWS);
  for (int k = 0; k < KEPT; k++) s->b_left[entry_row[k]] += p->entry[k] * dv[entry_column[k]];
  for (int k = EQUALITIES; k < ROWS; k++) s->b_left[k] -= dv[VARIABLES + k - EQUALITIES];
  for (int k = 0; s->outer && k < ROWS; k++) s->b_left[k] += dv[SIZE + ROWS + k] - dv[SIZE + k];
  for (int k = 0; k < s->size; k++) s->a_left[k] = s->a[k] - s->a_left[k];
  for (int k = 0; k < ROWS; k++) s->b_left[k] = s->b[k] - s->b_left[k];
}

/* The right-hand sides of the Newton step for rows of these values. */
static void set_right_side(const State *p, Search *s, const double *row) {
  pull_rows(p, s, s->y, s->pull);
  for (int k = 0; k < s->size; k++) s->a[k] = -(barrier_slope(s, k) + s->pull[k]);
  for (int k = 0; k < ROWS; k++) s->b[k] = -row[k];
}

/* The Newton step for rows of these values, refined; it begins at dv and dy if there is a first. */
static void set_direction(State *p, Search *s, const double *row, int first) {
  double left = INFINITY, last = INFINITY;
  set_right_side(p, s, row);
  if (!first) solve_search(p, s, s->a, s->b, s->dv, s->dy);
  double size = fmax(largest_of(s->a, s->size), largest_of(s->b, ROWS));
  for (int turn = 0; turn < REFINEMENTS; turn++) {
    leave(p, s, s->dv, s->dy);
    left = fmax(largest_of(s->a_left, s->size), largest_of(s->b_left, ROWS));
    if (!isfinite(left) || left <= REFINED * size || left > 0.5 * last) break;
    last = left;
    solve_search(p, s, s->a_left, s->b_left, s->pull, s->found);
    for (int k = 0; k < s->size; k++) s->dv[k] += s->pull[k];
    for (int k = 0; k < ROWS; k++) s->dy[k] += s->found[k];
  }
}

typedef struct {
  double average, tau, dual, primal;
} Quality;

/* The model of the squared residuals after the step of sigma: relative steps of distances and of
   multipliers are linear in it. */
static double quality_at(const Search *s, const Quality *known, double sigma) {
  double gone = 0, z_gone = 0, after = 0, length = 1, z_length = 1;
  int bounds = 0;
  for (int turn = 0; turn < 2; turn++) {
    for (int k = 0; k < s->size; k++)
      for (int side = -1; side <= 1; side += 2) {
        if (!isfinite(side < 0 ? s->lower[k] : s->upper[k])) continue;
        double distance = side < 0 ? s->below[k] : s->above[k];
        double z = side < 0 ? s->z_lower[k] : s->z_upper[k], product = distance * z;
        double toward = -side * s->affine[k] / distance, to = -side * s->centring[k] / distance;
        double own = toward + sigma * to;
        double z_own = -1 - toward + sigma * (known->average / product - to);
        gone = fmax(gone, -own), z_gone = fmax(z_gone, -z_own);
        double later = product * (1 + length * own) * (1 + z_length * z_own);
        after += turn ? later * later : 0.0, bounds += turn;
      }
    length = known->tau / fmax(known->tau, gone), z_length = known->tau / fmax(known->tau, z_gone);
  }
  double rest = 1 - length, z_rest = 1 - z_length;
  return z_rest * z_rest * known->dual + rest * rest * known->primal +
         after / (bounds > 1 ? bounds : 1);
}

/* The place of the least value between two numbers, by golden sections of logarithms. */
static double by_sections(const Search *s, const Quality *known, double low, double high) {
  double part = (3 - sqrt(5.0)) / 2, left = log(low), right = log(high);
  double inner[] = {left + part * (right - left), right - part * (right - left)};
  double value[] = {quality_at(s, known, low), quality_at(s, known, exp(inner[0])),
                    quality_at(s, known, exp(inner[1])), quality_at(s, known, high)};
  for (int turn = 0; turn < SECTIONS; turn++) {
    if (exp(right) - exp(left) < SECTION * exp(right)) break;
    if (value[1] > value[2]) {
      left = inner[0], value[0] = value[1];
      inner[0] = inner[1], inner[1] = right - part * (right - left);
      value[1] = value[2], value[2] = quality_at(s, known, exp(inner[1]));
    } else {
      right = inner[1], value[3] = value[2];
      inner[1] = inner[0], inner[0] = left + part * (right - left);
      value[2] = value[1], value[1] = quality_at(s, known, exp(inner[0]));
    }
  }
  double place[] = {left, inner[0], inner[1], right};
  int least = 0;
  for (int k = 1; k < 4; k++)
    if (value[k] < value[least]) least = k;
  return exp(place[least]);
}

static double best_centring(const Search *s, const Quality *known, double least, double most) {
  double low = fmax(SIGMA_LEAST, least), high = fmin(SIGMA_MOST, most), before = 1 - NEAR_ONE;
  if (low >= high) return least > SIGMA_LEAST ? low : high;
  if (quality_at(s, known, before) > quality_at(s, known, 1.0))
    return high <= 1 ? high : by_sections(s, known, fmax(1.0, low), high);
  return low >= before ? low : by_sections(s, known, low, fmin(before, high));
}

/* Choose the barrier parameter at a point, and its Newton step. */
static void set_free_direction(State *p, Search *s) {
  double average = mean_product(s), least = s->least_mu, mu = s->mu;
  if (average == 0) {
    begin_barrier(s, least);
    set_direction(p, s, s->row, 0);
    return;
  }
  Quality known = {.average = average, .tau = fmax(FRACTION, 1 - error_of(s, 0.0))};
  s->mu = 0, set_right_side(p, s, s->row);
  solve_search(p, s, s->a, s->b, s->affine, s->affine_y);
  memcpy(s->a_left, s->a, sizeof(double) * s->size);
  s->mu = average, set_right_side(p, s, s->row), s->mu = mu;
  for (int k = 0; k < s->size; k++) s->a_left[k] = s->a[k] - s->a_left[k];
  memset(s->b_left, 0, sizeof(double) * ROWS);
  solve_search(p, s, s->a_left, s->b_left, s->centring, s->centring_y);
  pull_rows(p, s, s->y, s->pull);
  for (int k = 0; k < s->size; k++) {
    double slope = s->gradient[k] + (s->z_upper[k] - s->z_lower[k]) + s->pull[k];
    known.dual += slope * slope / s->size;
  }
  for (int k = 0; k < ROWS; k++) known.primal += s->row[k] * s->row[k] / ROWS;
  double sigma = best_centring(s, &known, least / average, s->most / average);
  begin_barrier(s, fmax(least, sigma * average));
  sigma = s->mu / average;
  for (int k = 0; k < s->size; k++) s->dv[k] = s->affine[k] + sigma * s->centring[k];
  for (int k = 0; k < ROWS; k++) s->dy[k] = s->affine_y[k] + sigma * s->centring_y[k];
  set_direction(p, s, s->row, 1);
}

static double z_step(const Search *s, int k, int side) {
  double z = side < 0 ? s->z_lower[k] : s->z_upper[k];
  double distance = side < 0 ? s->below[k] : s->above[k];
  return s->mu / distance - z + side * (z / distance * s->dv[k]);
}

/* The longest step of variables, and of bounds' multipliers. */
static double longest_step(const Search *s, double tau, double *z_length) {
  double length = 1, z_least = 1;
  for (int k = 0; k < s->size; k++) {
    double dv = s->dv[k], low = z_step(s, k, -1), high = z_step(s, k, 1);
    if (dv < 0) length = fmin(length, tau * s->below[k] / -dv);
    if (dv > 0) length = fmin(length, tau * s->above[k] / dv);
    if (low < 0) z_least = fmin(z_least, tau * s->z_lower[k] / -low);
    if (high < 0) z_least = fmin(z_least, tau * s->z_upper[k] / -high);
  }
  *z_length = z_least;
  return length;
}

static double tau_of(const Search *s) {
  return fmax(FRACTION, 1 - (s->free ? error_of(s, 0.0) : s->mu));
}

/* Violation and barrier function of the trial at `place`, whose rows are then `found`. */
static Pair try_place(State *p, Search *s) {
  rows_at(p, s, s->place, s->found);
  double theta = one_norm(s->found, ROWS), phi = INFINITY;
  if (!isfinite(theta)) return (Pair){INFINITY, INFINITY};
  phi = objective_at(p, s, s->place) + barrier_term(s, s->place, s->mu);
  return (Pair){theta, isfinite(phi) ? phi : INFINITY};
}

static void move_place(Search *s, double length) {
  for (int k = 0; k < s->size; k++) s->place[k] = s->v[k] + length * s->dv[k];
}

static double near_centre(double z, double middle) {
  return fmin(fmax(z, middle / RESET), middle * RESET);
}

/* Go to `place` with multipliers moved along the step. */
static void next_point(State *p, Search *s, double length, double z_length) {
  if (s->free) s->blocked = length < SHORT ? s->blocked + 1 : 0;
  s->stalled = !s->free && length < SHORT ? s->stalled + 1 : 0;
  for (int k = 0; k < s->size; k++) {
    double low = z_step(s, k, -1), high = z_step(s, k, 1);
    s->z_lower[k] += z_length * low, s->z_upper[k] += z_length * high;
  }
  for (int k = 0; k < ROWS; k++) s->y[k] += length * s->dy[k];
  memcpy(s->v, s->place, sizeof(double) * s->size);
  evaluate_point(p, s);
  for (int k = 0; k < s->size; k++) {
    s->z_lower[k] = near_centre(s->z_lower[k], s->mu / s->below[k]);
    s->z_upper[k] = near_centre(s->z_upper[k], s->mu / s->above[k]);
  }
}

/* Go to the point of an accepted second-order correction, if there is one. */
static int correct(State *p, Search *s, Pair here, Pair trial, double slope, double length) {
  double tau = tau_of(s), before = trial.theta, own = length, z_length;
  memcpy(s->corrected, s->row, sizeof(double) * ROWS);
  for (int turn = 0; turn < CORRECTIONS; turn++) {
    for (int k = 0; k < ROWS; k++) s->corrected[k] = own * s->corrected[k] + s->found[k];
    set_direction(p, s, s->corrected, 0);
    own = longest_step(s, tau, &z_length);
    move_place(s, own);
    Pair again = try_place(p, s);
    if (accepts(&s->filter, here, again, slope, length)) {
      next_point(p, s, own, z_length);
      return 1;
    }
    if (again.theta > CORRECTED * before || !isfinite(again.theta)) return 0;
    before = again.theta;
  }
  return 0;
}

/* Go to the point that a filter line search accepts along the step, if there is one. */
static int search_line(State *p, Search *s) {
  double slope = 0, z_length, tau = tau_of(s);
  int tiny = 1;
  if (!all_finite(s->dv, s->size) || !all_finite(s->dy, ROWS)) return 0;
  for (int k = 0; k < s->size; k++) {
    slope += barrier_slope(s, k) * s->dv[k];
    tiny = tiny && fabs(s->dv[k]) / (1 + fabs(s->v[k])) < TINY;
  }
  double longest = longest_step(s, tau, &z_length), length = longest;
  Pair here = {s->theta, s->f + barrier_term(s, s->v, s->mu)};
  s->tiny = tiny ? s->tiny + 1 : 0;
  if (tiny && s->theta > TOLERANCE) return 0;
  double least = least_length(&s->filter, here, slope);
  for (; tiny || length > least; length *= 0.5) {
    move_place(s, length);
    Pair trial = try_place(p, s);
    if (tiny || accepts(&s->filter, here, trial, slope, length)) {
      next_point(p, s, length, z_length);
      return 1;
    }
    if (length == longest && trial.theta >= here.theta) {
      memcpy(s->affine, s->dv, sizeof(double) * s->size);
      memcpy(s->affine_y, s->dy, sizeof(double) * ROWS);
      if (correct(p, s, here, trial, slope, length)) return 1;
      memcpy(s->dv, s->affine, sizeof(double) * s->size);
      memcpy(s->dy, s->affine_y, sizeof(double) * ROWS);
    }
  }
  return 0;
}

/* Go to the point of a step without progress if it makes one with slacks at the values of their
   rows, as near as the fraction to the boundary lets them come. */
static int follow_rows(State *p, Search *s) {
  double z_length, tau = tau_of(s), length = longest_step(s, tau, &z_length);
  Pair here = {s->theta, s->f + barrier_term(s, s->v, s->mu)};
  if (s->outer || s->theta <= TOLERANCE) return 0;
  if (!all_finite(s->dv, s->size) || !all_finite(s->dy, ROWS)) return 0;
  for (; length > SHORT; length *= 0.5) {
    move_place(s, length);
    rows_at(p, s, s->place, s->found);
    for (int k = VARIABLES; k < SIZE; k++) {
      double row = s->place[k] + s->found[EQUALITIES + k - VARIABLES];
      s->place[k] = fmin(fmax(row, s->v[k] - tau * s->below[k]), s->v[k] + tau * s->above[k]);
    }
    Pair trial = try_place(p, s);
    if (!(trial.theta <= GAIN * here.theta) || !filter_admits(&s->filter, trial)) continue;
    add_to_filter(&s->filter, here.theta, here.phi);
    next_point(p, s, length, z_length);
    return 1;
  }
  return 0;
}

static int take_search_step(State *p, Search *s) {
  linearise(p, s);
  if (!shift_search(p, s)) return 0;
  if (s->free)
    set_free_direction(p, s);
  else
    set_direction(p, s, s->row, 0);
  if (search_line(p, s)) return 1;
  if (s->free) {
    fix_barrier(s, mean_product(s));
    set_direction(p, s, s->row, 0);
    if (search_line(p, s)) return 1;
  }
  return follow_rows(p, s);
}

/* Least-squares multipliers of rows, zero if too large. */
static void set_least_squares(State *p, Search *s, double *y) {
  if (!is_sound(p, s)) return;
  memset(p->value, 0, sizeof(double) * CURVED);
  set_jacobian(p);
  for (int k = 0; k < SIZE; k++) s->diagonal[k] = 1.0;
  if (!factorise_with(p, s->diagonal, 0.0, NULL)) return;
  for (int k = 0; k < SIZE; k++) s->a[k] = -(s->gradient[k] + (s->z_upper[k] - s->z_lower[k]));
  memset(s->b, 0, sizeof(double) * ROWS);
  solve_search(p, s, s->a, s->b, s->dv, y);
  if (all_finite(y, ROWS) && largest_of(y, ROWS) <= LARGEST_Y) return;
  memset(y, 0, sizeof(double) * ROWS);
}

/* New multipliers of a nearly feasible point if its own are very large, and theirs leave less. */
static void renew_multipliers(State *p, Search *s) {
  if (s->outer || !(largest_of(s->y, ROWS) > VAST && s->theta < NEARLY) || !is_sound(p, s)) return;
  set_residuals(p, s);
  double own = s->stationarity;
  memcpy(s->corrected, s->y, sizeof(double) * ROWS);
  set_least_squares(p, s, s->y);
  set_residuals(p, s);
  if (!(s->stationarity <= own)) memcpy(s->y, s->corrected, sizeof(double) * ROWS);
}

/* Begin with a barrier parameter, f being scaled by `f_scale`. */
static void begin_search(Search *s, double mu, double f_scale) {
  s->least_mu = fmin(TOLERANCE, UNSCALED_PRODUCT * f_scale) / (TOLERATED + 1), s->mu = mu;
  s->free = 1, s->most = INFINITY;
  s->shift = s->regularized = s->unshifted = 0;
  s->count = s->blocked = s->stalled = s->collapsed = s->tiny = s->progress.count = 0;
}

/* Whether a point of the elastic program is good enough to end the restoration. */
static int is_restored(State *p, Search *s) {
  const Search *outer = s->outer;
  if (!s->count) return 0;
  rows_at(p, outer, s->v, s->found);
  double theta = one_norm(s->found, ROWS);
  if (theta > GAIN * outer->theta) return 0;
  double phi = own_objective(p, s->v) + barrier_term(outer, s->v, outer->mu);
  return filter_admits(&outer->filter, (Pair){theta, phi});
}

static int end_of_search(State *p, Search *s) {
  if (!is_sound(p, s)) return STATUS(NO_NUMBER);
  set_residuals(p, s);
  if (is_solved(p, s) && s->mu <= s->least_mu) return STATUS(SOLVED);
  if (s->outer && is_restored(p, s)) return RESTORED;
  if (s->count >= s->most_count) return STATUS(TOO_LONG);
  if (s->tiny > 1 && s->mu <= s->least_mu) return STATUS(STUCK);
  return largest_of(s->v, s->size) > DIVERGED ? STATUS(DIVERGING) : GO_ON;
}

static int restore(State *p, Search *s, Search *elastic);

/* Iterate from the point at hand until the search ends; `elastic` has room to restore it. */
static int search(State *p, Search *s, Search *elastic) {
  begin_filter(&s->filter, s->theta);
  for (;; s->count++) {
    int status = end_of_search(p, s);
    if (status != GO_ON) return status;
    update_barrier(s);
    int stalled = elastic && s->theta > TOLERANCE && s->stalled >= BLOCKED;
    if (stalled || !take_search_step(p, s)) {
      status = elastic ? restore(p, s, elastic) : STATUS(STUCK);
      if (status != GO_ON) return status;
    }
    renew_multipliers(p, s);
  }
}

/* The first point of a restoration: the best elastic variables. */
static void begin_restoration(Search *elastic, const Search *s, double mu) {
  double zeta = sqrt(mu);
  for (int k = 0; k < SIZE; k++) {
    double by = fmin(1.0, 1.0 / fmax(fabs(s->v[k]), 1e-300));
    elastic->v[k] = elastic->near[k] = s->v[k], elastic->pulled[k] = zeta * by * by;
    elastic->lower[k] = s->lower[k], elastic->upper[k] = s->upper[k];
    elastic->z_lower[k] = fmin(s->z_lower[k], ELASTIC);
    elastic->z_upper[k] = fmin(s->z_upper[k], ELASTIC);
  }
  for (int k = 0; k < ROWS; k++) {
    double c = s->row[k], middle = (mu - ELASTIC * c) / (2 * ELASTIC);
    double minus = fmax(middle + sqrt(middle * middle + mu * c / (2 * ELASTIC)), LEAST_ELASTIC);
    double part[] = {fmax(c + minus, LEAST_ELASTIC), minus};
    for (int side = 0; side < 2; side++) {
      int place = SIZE + side * ROWS + k;
      elastic->v[place] = part[side], elastic->z_lower[place] = mu / part[side];
      elastic->lower[place] = 0, elastic->upper[place] = INFINITY, elastic->z_upper[place] = 0;
    }
    elastic->y[k] = 0;
  }
}

/* Go to a more feasible point that the filter accepts; else the status that ends the search. */
static int restore(State *p, Search *s, Search *elastic) {
  s->stalled = 0;
  if (is_solved(p, s)) return STATUS(SOLVED);
  if (largest_of(s->v, s->size) > DISTANT) return STATUS(DIVERGING);
  add_to_filter(&s->filter, s->theta, s->f + barrier_term(s, s->v, s->mu));
  if (s->theta <= TOLERANCE) return STATUS(STUCK);
  double mu = fmax(s->mu, largest_of(s->row, ROWS));
  elastic->outer = s, elastic->most_count = s->most_count - s->count;
  begin_restoration(elastic, s, mu);
  begin_search(elastic, mu, 1.0);
  evaluate_point(p, elastic);
  int status = search(p, elastic, NULL), low = 0;
  s->count += elastic->count > 1 ? elastic->count - 1 : 0;
  for (int k = 0; k < SIZE; k++)
    low = low || elastic->z_lower[k] > RENEWED || elastic->z_upper[k] > RENEWED;
  for (int k = 0; k < SIZE; k++) {
    s->v[k] = elastic->v[k];
    s->z_lower[k] = low ? (isfinite(s->lower[k]) != 0) : elastic->z_lower[k];
    s->z_upper[k] = low ? (isfinite(s->upper[k]) != 0) : elastic->z_upper[k];
  }
  memset(s->y, 0, sizeof(double) * ROWS);
  evaluate_point(p, s);
  if (status == STATUS(SOLVED) && largest_of(s->row, ROWS) > TOLERANCE) return STATUS(INFEASIBLE);
  if (status != STATUS(SOLVED) && status != RESTORED) return status;
  set_least_squares(p, s, s->y);
  return GO_ON;
}

/* A variable moved away from its bounds. */
static double push_inside(double v, double lower, double upper) {
  double wide = upper - lower;
  double low = fmin(PUSH * fmax(1.0, fabs(lower)), PUSH * wide);
  double high = fmin(PUSH * fmax(1.0, fabs(upper)), PUSH * wide);
  v = isfinite(lower) ? fmax(v, lower + low) : v;
  return isfinite(upper) ? fmin(v, upper - high) : v;
}

/* The first point of a search from x: inside of bounds, slacks from rows. */
static void begin_cold(State *p, Search *s, const double *x) {
  memcpy(s->lower, p->lower, sizeof p->lower), memcpy(s->upper, p->upper, sizeof p->upper);
  memset(s->v, 0, sizeof(double) * SIZE), memset(s->y, 0, sizeof(double) * ROWS);
  for (int k = 0; k < SIZE; k++) {
    if (k == VARIABLES) rows_at(p, s, s->v, s->row);
    double v = k < VARIABLES ? x[moving[k]] : s->row[EQUALITIES + k - VARIABLES];
    s->place[k] = push_inside(v, s->lower[k], s->upper[k]);
    if (k < VARIABLES) s->v[k] = s->place[k];
    s->z_lower[k] = isfinite(s->lower[k]) != 0, s->z_upper[k] = isfinite(s->upper[k]) != 0;
  }
  memcpy(s->v, s->place, sizeof(double) * SIZE);
  begin_search(s, FIRST_MU, p->objective_scale);
  evaluate_point(p, s);
  set_least_squares(p, s, s->y);
}

/* Keep the point at hand, and beside it one on the central path, from which steps go on. */
static void keep_point(State *p, const Search *s, const double *values) {
  double former = p->objective_scale;
  memcpy(p->left, p->scale, sizeof p->scale);
  place_variables(p, s->v);
  set_scales(p), set_bounds(p, values);
  double by = p->objective_scale / former;
  for (int k = 0; k < ROWS; k++) p->y[k] = s->y[k] * p->left[k] / p->scale[k] * by;
  p->argument[0] = p->x, p->argument[1] = NULL, p->result[0] = p->g;
  CALL(constraints);
  for (int k = 0; k < VARIABLES; k++) centre(p, k, s->v[k], by * (s->z_upper[k] - s->z_lower[k]));
  for (int k = EQUALITIES; k < ROWS; k++)
    centre(p, VARIABLES + k - EQUALITIES, p->g[order[k]] * p->scale[k], p->y[k]);
}

/* Search from x for the optimum; returns the iterations. */
static int solve(State *p, const double *values, int iterations, int *status) {
  int beyond = beyond_bounds(values);
  if (beyond) return beyond;
  double *next = p->room_of_search;
  Search s = {.size = SIZE, .most_count = iterations}, elastic = {.size = ELASTIC_SIZE};
  take_vectors(&s, &next), take_vectors(&elastic, &next);
  set_bounds(p, values);
  for (int k = 0; k < FIXED; k++) p->x[fixed[k]] = p->x_lower[fixed[k]];
  set_scales(p), set_bounds(p, values);
  begin_cold(p, &s, p->x);
  *status = search(p, &s, &elastic);
  if (*status == STATUS(STUCK) || *status == STATUS(TOO_LONG)) {
    set_residuals(p, &s);
    if (error_of(&s, 0.0) <= ACCEPTABLE) *status = STATUS(NEARLY_SOLVED);
  }
  keep_point(p, &s, values);
  return s.count;
}

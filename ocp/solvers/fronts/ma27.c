/* Symmetric indefinite factorisation for IPOPT, with the interface of HSL's MA27: multifrontal
   L D L' (Duff & Reid 1983). Order, pairs and fronts are found once for a pattern; dense kernels are
   vectorised by the compiler. The inertia is exact; rows that make a front singular are eliminated
   after their neighbours from then on, or last of all if that does not help. */

#define _GNU_SOURCE /* for the processors that a process may use */

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels.h"
#include "fronts.h"
#include "pattern.h"
#include "ordering.h"
#include "drafts.h"
#include "plan.h"
#include "delayed_rows.h"
#include "factor.h"
#include "weak_rows.h"
#include "threads.h"

enum { KEPT = 64 }; /* plans; the least recently used is dropped first */
enum { ROOMS = -4, FATAL = -1, SINGULAR = 3 }; /* statuses of MA27 */

static Plan *plans[KEPT];
static int64_t used[KEPT], uses;
static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;

static void free_plan(Plan *plan) {
  if (!plan) return;
  free(plan->pattern.row), free(plan->pattern.col), free(plan->delays), free(plan->front);
  free(plan->dual), free(plan->match);
  free(plan->branch), free(plan->run), free(plan->list), free(plan->entry), free(plan->place);
  free(plan);
}

static Plan *keep_plan(Plan *plan) {
  int at = 0;
  for (int q = 1; q < KEPT; q++)
    if (used[q] < used[at]) at = q;
  free_plan(plans[at]);
  plan->serial = used[at] = ++uses, plans[at] = plan;
  return plan;
}

/* A new plan of a pattern whose rows wait as `delays` tell, its pairs as `parted` tells. */
static Plan *new_plan(const Pattern *p, word key, const char *delays, int parted) {
  Plan *plan = ROOM(Plan, 1);
  plan->pattern = (Pattern){p->n, p->entries, ROOM(int, p->entries), ROOM(int, p->entries)};
  memcpy(plan->pattern.row, p->row, sizeof(int) * p->entries);
  memcpy(plan->pattern.col, p->col, sizeof(int) * p->entries);
  plan->key = key, plan->parted = parted, plan->delays = ROOM(char, p->n);
  memcpy(plan->delays, delays, p->n);
  return plan;
}

static Plan *by_serial(int64_t serial) {
  for (int q = 0; q < KEPT; q++)
    if (plans[q] && plans[q]->serial == serial) return used[q] = ++uses, plans[q];
  return NULL;
}

/* The plan of a pattern whose rows wait as `delays` tell, if there is one. */
static Plan *find_plan(const Pattern *p, word key, const char *delays) {
  for (int q = 0; q < KEPT; q++) {
    Plan *each = plans[q];
    if (!each || each->key != key || each->pattern.n != p->n) continue;
    if (each->pattern.entries != p->entries || memcmp(each->delays, delays, p->n)) continue;
    if (memcmp(each->pattern.row, p->row, sizeof(int) * p->entries)) continue;
    if (memcmp(each->pattern.col, p->col, sizeof(int) * p->entries)) continue;
    return used[q] = ++uses, each;
  }
  return NULL;
}

static word mixed(word key, int number) { return (key ^ (word)number) * 1099511628211u; }

/* The plan of a pattern of which no row waits, as every solve begins: what others learned of theirs
   does not change it. Rows and columns are Fortran's. */
static Plan *by_pattern(int n, int entries, const int *row, const int *col) {
  Pattern p = {n, entries, ROOM(int, entries), ROOM(int, entries)};
  char *none = ROOM(char, n);
  word key = 14695981039346656037u;
  for (int k = 0; k < entries; k++) {
    p.row[k] = row[k] - 1, p.col[k] = col[k] - 1;
    key = mixed(mixed(key, row[k]), col[k]);
  }
  Plan *plan = find_plan(&p, key, none);
  if (!plan) plan = keep_plan(new_plan(&p, key, none, UNDECIDED));
  free(p.row), free(p.col), free(none);
  return plan;
}

/* Numbers of the values of a matrix, its factors, and the room in which these are made: a room of
   each factorisation's own would have its pages cleared by the system every time. */
static int64_t workspace_size(const Plan *plan) { return storage_size(plan) + room_size(plan); }

/* IPOPT's workspace of whole numbers has a plan's serial number at its start. */
static void write_serial(int *work, int64_t serial) { memcpy(work, &serial, sizeof serial); }

static int64_t read_serial(const int *work) {
  int64_t serial;
  memcpy(&serial, work, sizeof serial);
  return serial;
}

void ma27id_(int *icntl, double *cntl) {
  memset(icntl, 0, sizeof(int) * 30), memset(cntl, 0, sizeof(double) * 5);
}

/* The pattern, before there are values. */
void ma27ad_(const int *n, const int *nz, const int *row, const int *col, int *iw, const int *liw,
             int *ikeep, int *iw1, int *nsteps, const int *iflag, const int *icntl,
             const double *cntl, int *info, double *ops) {
  (void)iw, (void)liw, (void)iw1, (void)iflag, (void)icntl, (void)cntl;
  pthread_mutex_lock(&alone);
  Plan *plan = by_pattern(*n, *nz, row, col);
  write_serial(ikeep, plan->serial);
  memset(info, 0, sizeof(int) * 20);
  int known = plan->fronts && workspace_size(plan) < INT_MAX;
  info[4] = known ? (int)workspace_size(plan) : *nz, info[5] = 4;
  pthread_mutex_unlock(&alone);
  *nsteps = 1, *ops = 0;
}

/* The plan in which rows that left a plan singular wait; none if they wait already. Such rows move
   up its fronts; pairs that are parted are to be whole where they wait, and are ordered anew. */
static Plan *plan_without(const Plan *plan, const int *stuck, int count) {
  char *delays = ROOM(char, plan->pattern.n);
  word key = plan->key;
  int more = 0;
  memcpy(delays, plan->delays, plan->pattern.n);
  for (int k = 0; k < count; k++)
    if (delays[stuck[k]] < DELAYS) delays[stuck[k]]++, more = 1, key = mixed(key, stuck[k]);
  Plan *next = more ? find_plan(&plan->pattern, key, delays) : NULL;
  if (more && !next) {
    next = keep_plan(new_plan(&plan->pattern, key, delays, plan->parted));
    if (plan->parted != PARTED) raise_rows(next, plan);
  }
  free(delays);
  return next;
}

/* Values, at the beginning of what is factorised, where they stay. */
void ma27bd_(const int *n, const int *nz, const int *row, const int *col, double *a,
             const int *la, int *iw, const int *liw, int *ikeep, const int *nsteps, int *maxfrt,
             int *iw1, const int *icntl, const double *cntl, int *info) {
  (void)liw, (void)nsteps, (void)iw1, (void)icntl, (void)cntl;
  int count = 0, negative = 0, *stuck = ROOM(int, *n);
  memset(info, 0, sizeof(int) * 20), *maxfrt = 1;
  pthread_mutex_lock(&alone);
  Plan *plan = by_serial(read_serial(ikeep));
  if (!plan) plan = by_pattern(*n, *nz, row, col);
  while (plan) {
    int small = plan->fronts || lay_out(plan, a);
    int64_t need = small ? workspace_size(plan) + workspace_size(plan) / 4 : 0;
    write_serial(ikeep, plan->serial), write_serial(iw, plan->serial);
    if (!small || need > INT_MAX) info[0] = FATAL;
    else if (*la < workspace_size(plan)) info[0] = ROOMS, info[1] = (int)need;
    if (info[0]) break;
    pthread_mutex_unlock(&alone);
    count = factorise_by_threads(plan, a, a + storage_size(plan), &negative, stuck);
    pthread_mutex_lock(&alone);
    if (!count) break;
    plan = plan_without(plan, stuck, count);
  }
  pthread_mutex_unlock(&alone);
  if (!plan) info[0] = SINGULAR, info[1] = *n - count;
  info[14] = negative;
  free(stuck);
}

/* From now on eliminate later what the last factorisation solved for by large numbers, as
   find_weak_rows tells; return whether anything changes. */
int delay_weak_rows(const int *n, double *a, const int *iw, int *ikeep, const int *dual,
                    const double *limit) {
  int *weak = ROOM(int, *n);
  pthread_mutex_lock(&alone);
  Plan *plan = by_serial(read_serial(iw));
  int count = plan ? find_weak_rows(plan, a, dual, *limit, weak) : 0;
  Plan *next = count ? plan_without(plan, weak, count) : NULL;
  if (next) write_serial(ikeep, next->serial);
  pthread_mutex_unlock(&alone);
  free(weak);
  return next ? count : 0;
}

/* An estimate of the time of a factorisation. */
double planned_seconds(const int *iw) {
  pthread_mutex_lock(&alone);
  Plan *plan = by_serial(read_serial(iw));
  double spent = plan ? plan->seconds : 0;
  pthread_mutex_unlock(&alone);
  return spent;
}

void ma27cd_(const int *n, double *a, const int *la, const int *iw, const int *liw, double *w,
             const int *maxfrt, double *rhs, int *iw1, const int *nsteps, const int *icntl,
             const double *cntl) {
  (void)la, (void)liw, (void)w, (void)maxfrt, (void)iw1, (void)nsteps, (void)icntl, (void)cntl;
  pthread_mutex_lock(&alone);
  Plan *plan = by_serial(read_serial(iw));
  pthread_mutex_unlock(&alone);
  if (plan) solve_with(plan, a, a + storage_size(plan), rhs);
  for (int v = 0; !plan && v < *n; v++) rhs[v] = NAN;
}

/* The solution of ma27cd_ in place of a right-hand side, refined once by what it leaves of that;
   `a` begins with the entries of the matrix. */
void solve_precisely(const int *n, const int *nz, const int *row, const int *col, double *a,
                     const int *iw, double *rhs, double *left) {
  memcpy(left, rhs, sizeof(double) * *n);
  ma27cd_(n, a, NULL, iw, NULL, NULL, NULL, rhs, NULL, NULL, NULL, NULL);
  for (int k = 0; k < *nz; k++) {
    int i = row[k] - 1, j = col[k] - 1;
    left[i] -= a[k] * rhs[j];
    if (i != j) left[j] -= a[k] * rhs[i];
  }
  ma27cd_(n, a, NULL, iw, NULL, NULL, NULL, left, NULL, NULL, NULL, NULL);
  for (int v = 0; v < *n; v++) rhs[v] += left[v];
}

enum { FRONT = 14 }; /* numbers of a Front in the order of plan_tables */

/* Sizes of the plan of a factorisation: of its fronts, runs and list, of what is stored and under
   way, of the factors and of the numbers it works with; most pivots and rows beside them. */
int plan_sizes(const int *iw, int64_t *sizes) {
  pthread_mutex_lock(&alone);
  Plan *plan = by_serial(read_serial(iw));
  int64_t runs = 0, list = plan ? plan->pattern.n : 0;
  for (int q = 0; plan && q < plan->fronts; q++)
    runs += plan->front[q].run_count, list += plan->front[q].width;
  if (plan) {
    const int64_t found[] = {plan->fronts, runs, list, plan->size, plan->pile, storage_size(plan),
                             room_size(plan), plan->most_pivots, plan->most_wide};
    memcpy(sizes, found, sizeof found);
  }
  pthread_mutex_unlock(&alone);
  return plan != NULL;
}

/* The plan itself, for those who write it down: FRONT numbers a front, three a run, its list, and
   its entries with where each is stored. */
int plan_tables(const int *iw, int64_t *fronts, int *runs, int *list, int *entry, int64_t *place) {
  pthread_mutex_lock(&alone);
  Plan *plan = by_serial(read_serial(iw));
  int count = 0, rows = plan ? plan->pattern.n : 0;
  for (int q = 0; plan && q < plan->fronts; q++) {
    const Front *f = plan->front + q;
    const int64_t numbers[FRONT] = {f->child, f->next, f->pivots, f->width, f->wide,   f->own,
                                    f->beside, f->runs, f->run_count, f->square, f->rest, f->left,
                                    f->waited, f->entries};
    memcpy(fronts + FRONT * q, numbers, sizeof numbers);
    rows += f->width, count += f->run_count;
  }
  if (plan) {
    memcpy(runs, plan->run, sizeof(Run) * count), memcpy(list, plan->list, sizeof(int) * rows);
    memcpy(entry, plan->entry, sizeof(int) * plan->pattern.entries);
    memcpy(place, plan->place, sizeof(int64_t) * plan->pattern.entries);
  }
  pthread_mutex_unlock(&alone);
  return plan != NULL;
}

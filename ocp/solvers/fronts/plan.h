/* Plan for all matrices of a pattern: fronts in their order, and places of entries. */

static int after_children(const Ordering *o, const Draft *drafts, int *sequence) {
  int count = 0, top = 0, *stack = ROOM(int, o->count);
  char *open = ROOM(char, o->count);
  for (int s = 0; s < o->count; s++) {
    if (drafts[s].joined || drafts[s].besides) continue;
    for (stack[top++] = s; top;) {
      int f = stack[top - 1];
      if (open[f]) sequence[count++] = stack[--top];
      else for (int c = drafts[f].child; c >= 0; c = drafts[c].next) stack[top++] = c;
      open[f] = 1;
    }
  }
  free(stack), free(open);
  return count;
}

/* Sort places, and put the rows that go there in them. */
static void sort_places(int *list, int count, const int *at) {
  qsort(list, count, sizeof(int), by_value);
  for (int k = 0; k < count; k++) list[k] = at[list[k]];
}

/* The rows of fronts: those of front q are row[own[q]] to row[beside[q] - 1], and what is beside it
   row[beside[q]] to row[own[q + 1] - 1]. */
typedef struct {
  int *own, *beside, *row;
} Members;

static Members room_of_members(int fronts, size_t rows) {
  return (Members){ROOM(int, fronts + 1), ROOM(int, fronts), ROOM(int, rows)};
}

static void free_members(Members *m) { free(m->own), free(m->beside), free(m->row); }

static Members members_of_drafts(const Ordering *o, const int *match, const Draft *drafts) {
  size_t total = 0;
  for (int q = 0; q < o->count; q++) total += drafts[q].pivots + drafts[q].width;
  Members m = room_of_members(o->count, total);
  for (int q = 0, end = 0; q < o->count; q++) {
    const Draft *d = drafts + q;
    int own = d->joined ? 0 : d->count, all = d->joined ? 0 : own + d->besides;
    for (int k = 0; k < all; k++) {
      int v = o->lead[o->order[k < own ? d->groups[k] : d->beside[k - own]]];
      if (k == own) m.beside[q] = end;
      m.row[end++] = v;
      if (match[v] >= 0) m.row[end++] = match[v];
    }
    if (own == all) m.beside[q] = end;
    m.own[q + 1] = end;
  }
  return m;
}

/* List the rows of fronts of a sequence; return {row: its front}, {row: where it goes} in `place`. */
static int *list_fronts(Plan *plan, const Members *m, const int *sequence, int *place) {
  int n = plan->pattern.n, *of = ROOM(int, n), *at = ROOM(int, n), end = 0, gone = 0;
  size_t total = n;
  for (int q = 0; q < plan->fronts; q++) total += m->own[sequence[q] + 1] - m->beside[sequence[q]];
  plan->front = ROOM(Front, plan->fronts), plan->list = ROOM(int, total);
  for (int q = 0; q < plan->fronts; q++) {
    int from = m->own[sequence[q]], to = m->beside[sequence[q]];
    Front *f = plan->front + q;
    f->own = end, f->pivots = to - from, f->width = m->own[sequence[q] + 1] - to;
    f->wide = (f->width + WIDE - 1) / WIDE * WIDE;
    for (int k = from; k < to; k++) {
      int v = plan->list[end++] = at[gone] = m->row[k];
      if (plan->delays[v] == DELAYS) f->waited = 1;
      place[v] = gone++, of[v] = q;
    }
  }
  for (int q = 0; q < plan->fronts; q++) {
    Front *f = plan->front + q;
    const int *beside = m->row + m->beside[sequence[q]];
    for (int k = 0; k < f->width; k++) plan->list[end + k] = place[beside[k]];
    sort_places(plan->list + end, f->width, at);
    f->beside = end, end += f->width;
  }
  free(at);
  return of;
}

/* Where the rows of a front stand in it, in `local`. */
static void locate(const Plan *plan, const Front *f, int *local) {
  for (int k = 0; k < f->pivots; k++) local[plan->list[f->own + k]] = k;
  for (int k = 0; k < f->width; k++) local[plan->list[f->beside + k]] = f->pivots + k;
}

static int64_t room_left(const Front *f) { return (int64_t)f->wide * f->wide; }

/* Seconds a front takes, about, were all its pivots beside one another. */
static double seconds_of(const Front *f) {
  return seconds(f->pivots, (double)f->pivots * f->pivots, f->width);
}

static double seconds_of_fronts(const Plan *plan) {
  double sum = 0;
  for (int q = 0; q < plan->fronts; q++) sum += seconds_of(plan->front + q);
  return sum;
}

/* Seconds of a factorisation from which threads share it; of a branch at least, and its share of
   all fronts at most: assumed. */
static const double THREADED = 5e-3, SHORT = 2e-5, SHARE = 1.0 / 16;

/* Find branches: fronts with all that add to them which take at most a share of the time, and
   whose parents take more. */
static void find_branches(Plan *plan) {
  double *spent = ROOM(double, plan->fronts), most = SHARE * seconds_of_fronts(plan);
  int *first = ROOM(int, plan->fronts);
  plan->branch = ROOM(Branch, plan->fronts);
  for (int q = 0; q < plan->fronts; q++) {
    const Front *f = plan->front + q;
    spent[q] = seconds_of(f), first[q] = q;
    for (int c = f->child; c >= 0; c = plan->front[c].next)
      spent[q] += spent[c], first[q] = first[c] < first[q] ? first[c] : first[q];
  }
  for (int q = 0; q < plan->fronts; q++) {
    int to = plan->front[q].parent, whole = to < 0 || spent[to] > most;
    if (whole && spent[q] >= SHORT && spent[q] <= most)
      plan->branch[plan->branches++] = (Branch){first[q], q + 1};
  }
  free(first), free(spent);
}

/* Lay what is left of the fronts from `from` to `end` that are `of` a branch, or of none, on two
   piles, so that a front's is written on the one while its children are taken from the top of the
   other; return the end of both. */
static int64_t lay_on_piles(Plan *plan, const int *branch, int of, int from, int end,
                            int64_t begin) {
  int64_t top[2] = {0}, most[2] = {0};
  for (int q = from; q < end; q++) {
    Front *f = plan->front + q;
    if (branch[q] != of) continue;
    f->left = top[f->side], top[f->side] += room_left(f);
    if (top[f->side] > most[f->side]) most[f->side] = top[f->side];
    for (int c = f->child; c >= 0; c = plan->front[c].next)
      if (branch[c] == of) top[!f->side] -= room_left(plan->front + c);
  }
  for (int q = from; q < end; q++)
    if (branch[q] == of) plan->front[q].left += begin + (plan->front[q].side ? most[0] : 0);
  return begin + most[0] + most[1];
}

/* Place what is left of fronts: that of each branch by itself, as threads work on several. */
static void place_left(Plan *plan) {
  int *branch = ROOM(int, plan->fronts);
  for (int b = 0; b < plan->branches; b++)
    for (int q = plan->branch[b].from; q < plan->branch[b].end; q++) branch[q] = b + 1;
  plan->pile = lay_on_piles(plan, branch, 0, 0, plan->fronts, 0);
  for (int b = 0; b < plan->branches; b++) {
    Branch each = plan->branch[b];
    plan->pile = lay_on_piles(plan, branch, b + 1, each.from, each.end, plan->pile);
  }
  free(branch);
}

/* Find parents, branches, and the runs of rows that go to parents; how much is stored, and how much
   is under way at most. */
static void connect(Plan *plan, const int *of, int *local) {
  int count = 0;
  size_t most = 1;
  for (int q = 0; q < plan->fronts; q++) most += plan->front[q].width;
  plan->run = ROOM(Run, most);
  for (int q = 0; q < plan->fronts; q++) {
    Front *f = plan->front + q;
    f->parent = f->width ? of[plan->list[f->beside]] : -1, f->child = f->next = -1;
    f->square = plan->size, plan->size += ((int64_t)f->pivots * f->pivots + 7) / 8 * 8;
    f->rest = plan->size, plan->size += (int64_t)f->pivots * f->wide;
    if (f->pivots > plan->most_pivots) plan->most_pivots = f->pivots;
    if (f->wide > plan->most_wide) plan->most_wide = f->wide;
  }
  for (int q = plan->fronts - 1; q >= 0; q--) {
    Front *f = plan->front + q, *to = plan->front + f->parent;
    if (f->parent >= 0) f->next = to->child, to->child = q, f->side = !to->side;
  }
  if (plan->seconds > THREADED) find_branches(plan);
  place_left(plan);
  for (int q = 0; q < plan->fronts; q++) {
    Front *f = plan->front + q;
    const Front *to = plan->front + f->parent;
    f->runs = count;
    if (f->parent < 0) continue;
    locate(plan, to, local);
    for (int k = 0; k < f->width; k++) {
      int at = local[plan->list[f->beside + k]];
      Run *r = plan->run + count - 1;
      int goes_on = count > f->runs && r->to + r->count == at && at != to->pivots;
      if (goes_on) r->count++;
      else plan->run[count++] = (Run){k, at, 1};
    }
    f->run_count = count - f->runs;
  }
}

static void entry_places(Plan *plan, const int *of, const int *place, int *local) {
  const Pattern *p = &plan->pattern;
  int *start = ROOM(int, plan->fronts + 1);
  plan->place = ROOM(int64_t, p->entries), plan->entry = ROOM(int, p->entries);
  for (int pass = 0; pass < 2; pass++) { /* entries by the front in which they are first */
    for (int k = 0; k < p->entries; k++) {
      int i = p->row[k], j = p->col[k], q = of[place[i] < place[j] ? i : j];
      if (pass) plan->entry[start[q]++] = k;
      else start[q + 1]++;
    }
    for (int q = 0; !pass && q < plan->fronts; q++) start[q + 1] += start[q];
  }
  for (int q = 0, k = 0; q < plan->fronts; q++) {
    Front *f = plan->front + q;
    locate(plan, f, local);
    for (f->entries = start[q]; k < f->entries; k++) {
      int i = local[p->row[plan->entry[k]]], j = local[p->col[plan->entry[k]]];
      int low = i < j ? i : j, high = i < j ? j : i, beside = high - f->pivots;
      plan->place[k] = beside < 0 ? f->square + (int64_t)high * f->pivots + low
                                  : f->rest + (int64_t)(beside / WIDE) * WIDE * f->pivots +
                                        low * WIDE + beside % WIDE;
    }
  }
  free(start);
}

/* Pairs with an order of elimination, its fronts, and about the seconds these take. */
typedef struct {
  int *match, *after; /* partners, and what a row of a parted pair goes after */
  Ordering o;
  Draft *drafts;
  double seconds;
} Scheme;

static Scheme scheme_of(const Plan *plan, const Graph *graph, const char *bare,
                        const int *match) {
  const Pattern *p = &plan->pattern;
  Scheme s = {ROOM(int, p->n), NULL};
  memcpy(s.match, match, sizeof(int) * p->n);
  s.after = part_pairs(p, graph, bare, plan->parted == PARTED ? plan->delays : NULL, s.match);
  s.o = minimum_degree_order(p->n, graph, bare, s.match, s.after, plan->delays);
  s.drafts = make_drafts(&s.o);
  for (int d = 0; d < s.o.count; d++)
    if (!s.drafts[d].joined) s.seconds += time_of(s.drafts + d);
  return s;
}

static void free_scheme(Scheme *s) {
  free_drafts(s->drafts, s->o.count), free_ordering(&s->o), free(s->match), free(s->after);
}

/* Of the time of whole pairs that parted ones take at most, where they are: more of their rows have
   to wait later. Assumed. */
static const double WORTH = 0.7;

/* Return the quicker Scheme of a plan, of whole or parted pairs, and note which it is. */
static Scheme quicker_scheme(Plan *plan, const Graph *graph, const char *bare,
                             const int *match) {
  int open = plan->parted == UNDECIDED;
  if (open) plan->parted = UNITED;
  Scheme s = scheme_of(plan, graph, bare, match);
  if (open) {
    plan->parted = PARTED;
    Scheme parted = scheme_of(plan, graph, bare, match);
    int worth = parted.seconds < WORTH * s.seconds;
    free_scheme(worth ? &s : &parted);
    if (worth) s = parted;
    else plan->parted = UNITED;
  }
  return s;
}

/* Plan the factorisation of a pattern's matrices by the values of the first; 0 where it is too
   large for this ordering. */
static int lay_out(Plan *plan, const double *value) {
  const Pattern *p = &plan->pattern;
  Graph graph = graph_of(p);
  char *bare = plan->dual = multipliers(p, &graph, value);
  int *match = partners(p, &graph, bare, value);
  Scheme s = quicker_scheme(plan, &graph, bare, match);
  int *sequence = ROOM(int, s.o.count), *place = ROOM(int, p->n), *local = ROOM(int, p->n);
  plan->fronts = after_children(&s.o, s.drafts, sequence), plan->seconds = s.seconds;
  Members members = members_of_drafts(&s.o, s.match, s.drafts);
  int *of = list_fronts(plan, &members, sequence, place);
  connect(plan, of, local);
  entry_places(plan, of, place, local);
  plan->match = s.match, s.match = NULL, plan->ordered = seconds_of_fronts(plan);
  free(sequence), free(place), free(local), free(of), free_members(&members), free_scheme(&s);
  free(graph.start), free(graph.at), free(match);
  return plan->fronts > 0;
}

/* Numbers of the values of a matrix and its factors. */
static int64_t storage_size(const Plan *plan) {
  return plan->pattern.entries + plan->size + 3 * (int64_t)plan->pattern.n + 2 * WIDE;
}

/* Numbers with which a thread works on fronts, solve_with too. */
static int64_t desk_size(const Plan *plan) {
  return WIDE + (int64_t)plan->most_pivots * (plan->most_wide + 3 + WIDE) + plan->most_wide;
}

/* Numbers with which factorise works. */
static int64_t room_size(const Plan *plan) { return plan->pile + WIDE + desk_size(plan); }

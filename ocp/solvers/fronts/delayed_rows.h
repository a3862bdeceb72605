/* Plans in which some rows go later than in another one: they move up its tree of fronts, which takes
   a tenth of the time of an order anew. */

/* Of the seconds of the last order, from which rows are ordered anew: assumed. */
static const double GROWN = 1.25;

/* A tree of fronts, by the numbers that these have in another plan, in which rows move up. */
typedef struct {
  int *of, *parent;      /* {row: its front}, {front: its parent} */
  int *arrived, *before; /* {front: the last row that has come to it}, {row: the one before} */
  int *passed, passes;   /* {front: the last row that has passed it}, as one of `passes` */
  int *row, *last;       /* {pass: its row}, {pass: the one of the same front before} */
} Tree;

/* How late a row goes with its partner, as in the order of all. */
static int lateness(const Plan *plan, int v) {
  int other = plan->match[v], late = plan->delays[v] + (plan->dual[v] && other < 0);
  return other >= 0 && plan->delays[other] > late ? plan->delays[other] : late;
}

/* The rows that are to move, with their partners, and for each the front to which it goes: that of its
   last neighbour which has few itself and is not late, but the next one above at least, or the
   root; -1 for rows that stay. */
static int *find_goals(const Plan *plan, const Plan *from, const Tree *tree) {
  const Pattern *p = &plan->pattern;
  int *goal = ROOM(int, p->n), *count = ROOM(int, p->n);
  for (int v = 0; v < p->n; v++) {
    int other = plan->match[v], front = tree->of[v], above = tree->parent[front];
    int later = plan->delays[v] > from->delays[v];
    goal[v] = -1;
    if (!later && (other < 0 || plan->delays[other] == from->delays[other])) continue;
    goal[v] = above < 0 ? front : above;
    for (; above >= 0 && lateness(plan, v) > AFTER_NEIGHBOURS; above = tree->parent[above])
      goal[v] = above;
  }
  for (int k = 0; k < p->entries; k++) count[p->row[k]]++, count[p->col[k]]++;
  for (int k = 0; k < p->entries; k++)
    for (int side = 0; side < 2; side++) {
      int v = side ? p->row[k] : p->col[k], w = side ? p->col[k] : p->row[k];
      if (goal[v] < 0 || goal[w] >= 0 || tree->of[w] <= goal[v]) continue;
      if (!lateness(plan, w) && count[w] <= MANY * sqrt(p->n)) goal[v] = tree->of[w];
    }
  for (int v = 0; v < p->n; v++) {
    int other = plan->match[v];
    if (goal[v] >= 0 && other >= 0 && goal[other] > goal[v]) goal[v] = goal[other];
  }
  free(count);
  return goal;
}

/* Move rows to their goals. */
static void move_up(Tree *tree, int n, const int *goal) {
  for (int pass = 0; pass < 2; pass++) {
    if (pass) tree->row = ROOM(int, tree->passes), tree->last = ROOM(int, tree->passes);
    tree->passes = 0;
    for (int v = 0; v < n; v++)
      for (int q = tree->of[v]; goal[v] >= 0 && q != goal[v]; q = tree->parent[q], tree->passes++)
        if (pass) {
          tree->row[tree->passes] = v, tree->last[tree->passes] = tree->passed[q];
          tree->passed[q] = tree->passes;
        }
  }
  for (int v = 0; v < n; v++) {
    int q = goal[v];
    if (q >= 0 && q != tree->of[v])
      tree->of[v] = q, tree->before[v] = tree->arrived[q], tree->arrived[q] = v;
  }
}

static Tree tree_of(const Plan *plan) {
  int n = plan->pattern.n, fronts = plan->fronts;
  Tree tree = {.of = ROOM(int, n), .before = ROOM(int, n)};
  tree.parent = ROOM(int, fronts), tree.arrived = ROOM(int, fronts), tree.passed = ROOM(int, fronts);
  for (int q = 0; q < fronts; q++) {
    const Front *f = plan->front + q;
    tree.parent[q] = f->parent, tree.arrived[q] = tree.passed[q] = -1;
    for (int k = 0; k < f->pivots; k++) tree.of[plan->list[f->own + k]] = q;
  }
  return tree;
}

static void free_tree(Tree *tree) {
  free(tree->of), free(tree->parent), free(tree->arrived), free(tree->before), free(tree->passed);
  free(tree->row), free(tree->last);
}

/* The rows of a front of another plan that go in it now, in `own`, return how many; and those that are
   beside it now, in `beside`. Late ones are last: before others, numbers that rounding leaves of a
   dependent row would be divided by one another. */
static int rows_of_front(const Plan *plan, const Plan *from, const Tree *tree, int q, int *own,
                         int *beside, int *besides) {
  const Front *f = from->front + q;
  int count = 0;
  for (int late = ANY_TIME; late <= LAST_OF_ALL; late++) {
    for (int k = 0; k < f->pivots; k++) {
      int v = from->list[f->own + k];
      if (tree->of[v] == q && lateness(plan, v) == late) own[count++] = v;
    }
    for (int v = tree->arrived[q]; v >= 0; v = tree->before[v])
      if (lateness(plan, v) == late) own[count++] = v;
  }
  memcpy(beside, from->list + f->beside, sizeof(int) * f->width), *besides = 0;
  for (int k = 0; k < f->width; k++)
    if (tree->of[beside[k]] != q) beside[(*besides)++] = beside[k];
  for (int k = tree->passed[q]; k >= 0; k = tree->last[k]) beside[(*besides)++] = tree->row[k];
  return count;
}

/* Fronts that are left, each after those that add to it; return how many. */
static int sequence_of(const Tree *tree, int fronts, const int *pivots, int *sequence) {
  int *size = ROOM(int, fronts), *end = ROOM(int, fronts), count = 0, last;
  for (int q = 0; q < fronts; q++) {
    if (!pivots[q]) continue;
    size[q]++, count++;
    if (tree->parent[q] >= 0) size[tree->parent[q]] += size[q];
  }
  last = count - 1;
  for (int q = fronts - 1; q >= 0; q--) {
    if (!pivots[q]) continue;
    int *place = tree->parent[q] < 0 ? &last : end + tree->parent[q];
    sequence[*place] = q, end[q] = *place - 1, *place -= size[q];
  }
  free(size), free(end);
  return count;
}

/* Lay a plan out as another one in which fewer rows wait, unless that takes so much more time that all
   are to be ordered anew. */
static void raise_rows(Plan *plan, const Plan *from) {
  int n = plan->pattern.n, fronts = from->fronts, end = 0, gone = 0, total = n, besides;
  plan->match = ROOM(int, n), plan->dual = ROOM(char, n), plan->ordered = from->ordered;
  memcpy(plan->match, from->match, sizeof(int) * n), memcpy(plan->dual, from->dual, n);
  Tree tree = tree_of(from);
  int *goal = find_goals(plan, from, &tree), *pivots = ROOM(int, fronts);
  move_up(&tree, n, goal);
  int *own = ROOM(int, n), *beside = ROOM(int, n + tree.passes), *sequence = ROOM(int, fronts);
  for (int q = 0; q < fronts; q++) {
    pivots[q] = rows_of_front(plan, from, &tree, q, own, beside, &besides), total += besides;
    tree.parent[q] = -1;
    for (int k = 0; k < besides; k++)
      if (!k || tree.of[beside[k]] < tree.parent[q]) tree.parent[q] = tree.of[beside[k]];
  }
  plan->fronts = sequence_of(&tree, fronts, pivots, sequence);
  plan->front = ROOM(Front, plan->fronts), plan->list = ROOM(int, total);
  int *of = ROOM(int, n), *place = ROOM(int, n), *at = ROOM(int, n), *local = ROOM(int, n);
  for (int q = 0; q < plan->fronts; q++) {
    Front *f = plan->front + q;
    f->pivots = rows_of_front(plan, from, &tree, sequence[q], own, beside, &f->width);
    f->own = end, f->wide = (f->width + WIDE - 1) / WIDE * WIDE;
    for (int k = 0, v; k < f->pivots; k++) {
      plan->list[end++] = at[gone] = v = own[k], place[v] = gone++, of[v] = q;
      if (plan->delays[v] == DELAYS) f->waited = 1;
    }
  }
  for (int q = 0; q < plan->fronts; q++) {
    Front *f = plan->front + q;
    rows_of_front(plan, from, &tree, sequence[q], own, beside, &besides);
    for (int k = 0; k < f->width; k++) plan->list[end + k] = place[beside[k]];
    sort_places(plan->list + end, f->width, at);
    f->beside = end, end += f->width;
  }
  double now = seconds_of_fronts(plan);
  plan->seconds = from->seconds * now / seconds_of_fronts(from);
  if (now > GROWN * plan->ordered) {
    free(plan->front), free(plan->list), free(plan->match), free(plan->dual), plan->fronts = 0;
    plan->front = NULL, plan->list = plan->match = NULL, plan->dual = NULL;
  } else {
    connect(plan, of, local);
    entry_places(plan, of, place, local);
  }
  free_tree(&tree), free(goal), free(pivots), free(own), free(beside), free(sequence);
  free(of), free(place), free(at), free(local);
}

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

/* The Members of the fronts of another plan as they are now. Late rows are last: before others, numbers
   that rounding leaves of a dependent row would be divided by one another. */
static Members members_of_tree(const Plan *plan, const Plan *from, const Tree *tree) {
  size_t total = plan->pattern.n + tree->passes;
  for (int q = 0; q < from->fronts; q++) total += from->front[q].width;
  Members m = room_of_members(from->fronts, total);
  for (int q = 0, end = 0; q < from->fronts; q++) {
    const Front *f = from->front + q;
    for (int late = ANY_TIME; late <= LAST_OF_ALL; late++) {
      for (int k = 0; k < f->pivots; k++) {
        int v = from->list[f->own + k];
        if (tree->of[v] == q && lateness(plan, v) == late) m.row[end++] = v;
      }
      for (int v = tree->arrived[q]; v >= 0; v = tree->before[v])
        if (lateness(plan, v) == late) m.row[end++] = v;
    }
    m.beside[q] = end;
    for (int k = 0; k < f->width; k++)
      if (tree->of[from->list[f->beside + k]] != q) m.row[end++] = from->list[f->beside + k];
    for (int k = tree->passed[q]; k >= 0; k = tree->last[k]) m.row[end++] = tree->row[k];
    m.own[q + 1] = end;
  }
  return m;
}

/* Find the parents of fronts, that of the first row beside each, and a sequence of those that are left,
   each after what adds to it; return how many. */
static int sequence_of(Tree *tree, int fronts, const Members *m, int *sequence) {
  int *size = ROOM(int, fronts), *end = ROOM(int, fronts), count = 0, last;
  for (int q = 0; q < fronts; q++) {
    int parent = -1;
    for (int k = m->beside[q]; k < m->own[q + 1]; k++)
      if (parent < 0 || tree->of[m->row[k]] < parent) parent = tree->of[m->row[k]];
    tree->parent[q] = parent;
    if (m->own[q] == m->beside[q]) continue;
    size[q]++, count++;
    if (parent >= 0) size[parent] += size[q];
  }
  last = count - 1;
  for (int q = fronts - 1; q >= 0; q--) {
    if (m->own[q] == m->beside[q]) continue;
    int *place = tree->parent[q] < 0 ? &last : end + tree->parent[q];
    sequence[*place] = q, end[q] = *place - 1, *place -= size[q];
  }
  free(size), free(end);
  return count;
}

/* Lay a plan out as another one in which fewer rows wait, unless that takes so much more time that all
   are to be ordered anew. */
static void raise_rows(Plan *plan, const Plan *from) {
  int n = plan->pattern.n;
  plan->match = ROOM(int, n), plan->dual = ROOM(char, n), plan->ordered = from->ordered;
  memcpy(plan->match, from->match, sizeof(int) * n), memcpy(plan->dual, from->dual, n);
  Tree tree = tree_of(from);
  int *goal = find_goals(plan, from, &tree), *sequence = ROOM(int, from->fronts);
  move_up(&tree, n, goal);
  Members members = members_of_tree(plan, from, &tree);
  plan->fronts = sequence_of(&tree, from->fronts, &members, sequence);
  int *place = ROOM(int, n), *local = ROOM(int, n);
  int *of = list_fronts(plan, &members, sequence, place);
  double now = seconds_of_fronts(plan);
  plan->seconds = from->seconds * now / seconds_of_fronts(from);
  if (now > GROWN * plan->ordered) {
    free(plan->front), free(plan->list), free(plan->match), free(plan->dual), plan->fronts = 0;
    plan->front = NULL, plan->list = plan->match = NULL, plan->dual = NULL;
  } else {
    connect(plan, of, local);
    entry_places(plan, of, place, local);
  }
  free_tree(&tree), free_members(&members), free(goal), free(sequence);
  free(of), free(place), free(local);
}

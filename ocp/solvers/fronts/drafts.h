/* Fronts: groups that are eliminated together, merged where that takes less time. */

typedef struct {
  int *groups, count;   /* places of groups that are pivots here */
  int *beside, besides; /* places of groups that are left, ascending */
  int pivots, width;    /* rows of both */
  double squares;       /* of rows that pivot with one another, summed */
  int child, next;      /* the first front that adds to this, and the next of the same parent */
  char joined;          /* to another */
} Draft;

enum { PANEL = 64, BATCH = 4 * PANEL }; /* pivots of a front that grows to its parent, and aside */

/* Seconds a front takes, about: pivots, rows beside them, their product, and adding it on. */
static double seconds(double pivots, double squares, double width) {
  double product = 7e-11 * pivots * width * width, added = 8e-10 * width * width;
  return 3e-7 + 1e-10 * pivots * squares + 1.2e-10 * squares * width + product + added;
}

static double time_of(const Draft *d) { return seconds(d->pivots, d->squares, d->width); }

static int rows(const Ordering *o, const int *places, int count) {
  int sum = 0;
  for (int k = 0; k < count; k++) sum += o->size[o->order[places[k]]];
  return sum;
}

static int *merge_lists(const Draft *a, const Draft *b, int *count) {
  int *both = ROOM(int, a->besides + b->besides), i = 0, j = 0, k = 0;
  while (i < a->besides || j < b->besides) {
    int x = i < a->besides ? a->beside[i] : INT_MAX, y = j < b->besides ? b->beside[j] : INT_MAX;
    both[k++] = x < y ? x : y, i += x <= y, j += y <= x;
  }
  *count = k;
  return both;
}

static void append(Draft *to, const Draft *from, int first) {
  int *all = ROOM(int, to->count + from->count), begin = first ? from->count : 0;
  memcpy(all + begin, to->groups, sizeof(int) * to->count);
  memcpy(all + (first ? 0 : to->count), from->groups, sizeof(int) * from->count);
  free(to->groups);
  to->groups = all, to->count += from->count, to->pivots += from->pivots;
}

/* Join b to a, aside: they do not see one another, and both add to the same parent. */
static void join_aside(const Ordering *o, Draft *drafts, Draft *a, Draft *b) {
  int besides, *beside, width;
  if (b->joined || a->pivots + b->pivots > BATCH) return;
  beside = merge_lists(a, b, &besides), width = rows(o, beside, besides);
  double joint = seconds(a->pivots + b->pivots, a->squares + b->squares, width);
  if (joint >= time_of(a) + time_of(b)) {
    free(beside);
    return;
  }
  append(a, b, 0), free(a->beside);
  a->beside = beside, a->besides = besides, a->width = width, a->squares += b->squares;
  int *end = &a->child;
  while (*end >= 0) end = &drafts[*end].next;
  *end = b->child, b->joined = 1;
}

static int compare_widths(const void *a, const void *b, const Draft *drafts) {
  int x = *(const int *)a, y = *(const int *)b, more = drafts[y].width - drafts[x].width;
  return more ? more : x - y;
}

static void sort_by_width(int *list, int count, const Draft *drafts) {
  for (int a = 1; a < count; a++)
    for (int b = a; b > 0 && compare_widths(list + b - 1, list + b, drafts) > 0; b--) {
      int t = list[b];
      list[b] = list[b - 1], list[b - 1] = t;
    }
}

/* Join what adds to a front: with one another, then to the front itself; keep others as its
   children. `list` holds their numbers. */
static void gather(const Ordering *o, Draft *drafts, Draft *front, int *list, int count) {
  sort_by_width(list, count, drafts);
  for (int a = 0; a < count; a++)
    for (int b = a + 1; !drafts[list[a]].joined && b < count; b++)
      join_aside(o, drafts, drafts + list[a], drafts + list[b]);
  for (int a = 0; a < count; a++) {
    Draft *child = drafts + list[a];
    double pivots = front->pivots + child->pivots;
    if (child->joined) continue;
    double joint = seconds(pivots, pivots * pivots, front->width);
    if (pivots > PANEL || joint >= time_of(front) + time_of(child)) {
      child->next = front->child, front->child = list[a];
      continue;
    }
    append(front, child, 1), front->squares = pivots * pivots, child->joined = 1;
    for (int c = child->child, next; c >= 0; c = next)
      next = drafts[c].next, drafts[c].next = front->child, front->child = c;
  }
}

/* Return the drafts of fronts, one a group, those not `joined` to others being left. */
static Draft *make_drafts(const Ordering *o) {
  int count = o->count, *head = ROOM(int, count), *list = ROOM(int, count);
  Draft *drafts = ROOM(Draft, count);
  for (int s = 0; s < count; s++) head[s] = -1;
  for (int s = 0; s < count; s++) {
    Draft *d = drafts + s;
    int met = 0;
    d->groups = ROOM(int, 1), d->groups[0] = s, d->count = 1;
    d->besides = o->start[s + 1] - o->start[s], d->beside = ROOM(int, d->besides);
    memcpy(d->beside, o->at + o->start[s], sizeof(int) * d->besides);
    d->pivots = rows(o, d->groups, 1), d->width = rows(o, d->beside, d->besides);
    d->squares = (double)d->pivots * d->pivots, d->child = d->next = -1;
    for (int c = head[s]; c >= 0; c = drafts[c].next) list[met++] = c;
    for (int k = 0; k < met; k++) drafts[list[k]].next = -1;
    gather(o, drafts, d, list, met);
    if (d->besides) d->next = head[d->beside[0]], head[d->beside[0]] = s;
  }
  free(head), free(list);
  return drafts;
}

static void free_drafts(Draft *drafts, int count) {
  for (int s = 0; s < count; s++) free(drafts[s].groups), free(drafts[s].beside);
  free(drafts);
}

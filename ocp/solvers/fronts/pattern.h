/* Pattern of a matrix: neighbours, rows of multipliers, and their partners. */

typedef struct {
  int *start, *at; /* neighbours of v: at[start[v]] to at[start[v + 1]], ascending, once each */
} Graph;

static void *allocate(size_t count, size_t size) {
  void *made = calloc(count + 1, size);
  if (!made) abort();
  return made;
}

#define ROOM(type, count) ((type *)allocate(count, sizeof(type)))

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Sort lists of numbers below `count`, list v being at[start[v]] to at[start[v + 1]], by writing for
   each number where it is, and back. */
static void sort_lists(int count, const int *start, int *at) {
  int *end = ROOM(int, count + 1), *lists = ROOM(int, start[count]), *last = ROOM(int, count);
  for (int k = 0; k < start[count]; k++) end[at[k] + 1]++;
  for (int v = 0; v < count; v++) end[v + 1] += end[v], last[v] = start[v];
  for (int v = 0; v < count; v++)
    for (int k = start[v]; k < start[v + 1]; k++) lists[end[at[k]]++] = v;
  for (int v = 0, k = 0; v < count; v++)
    for (; k < end[v]; k++) at[last[lists[k]]++] = v;
  free(end), free(lists), free(last);
}

static int degree(const Graph *graph, int v) { return graph->start[v + 1] - graph->start[v]; }

static Graph graph_of(const Pattern *p) {
  int *end = ROOM(int, p->n), to = 0;
  Graph graph = {ROOM(int, p->n), NULL};
  for (int k = 0; k < p->entries; k++)
    if (p->row[k] != p->col[k]) end[p->row[k]]++, end[p->col[k]]++;
  for (int v = 0, sum = 0; v <= p->n; v++) {
    int count = v < p->n ? end[v] : 0;
    graph.start[v] = end[v] = sum, sum += count;
  }
  graph.at = ROOM(int, end[p->n]);
  for (int k = 0; k < p->entries; k++)
    if (p->row[k] != p->col[k]) {
      graph.at[end[p->row[k]]++] = p->col[k];
      graph.at[end[p->col[k]]++] = p->row[k];
    }
  sort_lists(p->n, graph.start, graph.at);
  for (int v = 0; v < p->n; v++) { /* once each */
    int begin = graph.start[v], before = -1;
    graph.start[v] = to;
    for (int k = begin; k < end[v]; k++)
      if (graph.at[k] != before) graph.at[to++] = before = graph.at[k];
  }
  graph.start[p->n] = to;
  free(end);
  return graph;
}

/* Which rows are those of multipliers, without curvature. IPOPT's unknowns are variables, slacks,
   multipliers of equations and of inequalities: the last one's slack has no other neighbour, and
   multipliers follow the last slack. Without slacks they are the rows whose diagonal is zero. */
static char *multipliers(const Pattern *p, const Graph *graph, const double *value) {
  int n = p->n, last = n - 1, slack = degree(graph, last) ? graph->at[graph->start[n] - 1] : n;
  char *bare = ROOM(char, n);
  int known = slack < last && degree(graph, slack) == 1;
  memset(bare, 1, n);
  for (int k = 0; !known && k < p->entries; k++)
    if (p->row[k] == p->col[k] && value[k] != 0) bare[p->row[k]] = 0;
  for (int v = 0; known && v <= slack; v++) bare[v] = 0;
  return bare;
}

enum { LIGHT = 40 }; /* neighbours, up to which a partner is preferred */

/* What it costs to pair multipliers with their neighbours, beside these: the logarithm of the
   largest entry of the row over this one, and how many neighbours that one has. */
static double *prices(const Pattern *p, const Graph *graph, const char *bare, const double *value) {
  double *cost = ROOM(double, graph->start[p->n]);
  for (int k = 0; k < p->entries; k++)
    for (int side = 0; side < 2; side++) {
      int y = side ? p->row[k] : p->col[k], x = side ? p->col[k] : p->row[k];
      if (!bare[y] || bare[x]) continue;
      int low = graph->start[y], high = graph->start[y + 1];
      while (high - low > 1) {
        int middle = (low + high) / 2;
        if (graph->at[middle] <= x) low = middle;
        else high = middle;
      }
      cost[low] += fabs(value[k]);
    }
  for (int y = 0; y < p->n; y++) {
    double most = 0;
    for (int k = graph->start[y]; bare[y] && k < graph->start[y + 1]; k++)
      most = fmax(most, cost[k]);
    for (int k = graph->start[y]; bare[y] && k < graph->start[y + 1]; k++) {
      int x = graph->at[k], count = degree(graph, x);
      double weight = count > LIGHT ? 50 + 0.01 * count : 0.02 * count;
      cost[k] = bare[x] || cost[k] <= 1e-6 * most ? INFINITY : log(most / cost[k]) + weight;
    }
  }
  return cost;
}

/* A way to a variable, which was the `number`th to be reached, and a heap of them, the shortest first,
   of equal ones that of the variable reached first. */
typedef struct {
  double length;
  int number, to;
} Way;

static int is_before(const Way *a, const Way *b) {
  return a->length < b->length || (a->length == b->length && a->number < b->number);
}

static void push_way(Way *heap, int count, Way way) {
  for (; count && is_before(&way, heap + (count - 1) / 2); count = (count - 1) / 2)
    heap[count] = heap[(count - 1) / 2];
  heap[count] = way;
}

/* Take the first of `count` ways, the last one coming in its place. */
static Way pop_way(Way *heap, int count) {
  Way first = heap[0], last = heap[--count];
  int k = 0;
  for (int next; (next = 2 * k + 1) < count; k = next) {
    next += next + 1 < count && is_before(heap + next + 1, heap + next);
    if (!is_before(heap + next, &last)) break;
    heap[k] = heap[next];
  }
  heap[k] = last;
  return first;
}

/* The partner of each multiplier and of each variable that has one, -1 for others: a pair is a
   pivot whatever its curvature. The sum of prices is least (shortest augmenting paths), as that of
   Duff & Pralet (2005). */
static int *partners(const Pattern *p, const Graph *graph, const char *bare, const double *value) {
  int n = p->n, *match = ROOM(int, n), *seen = ROOM(int, n), *from = ROOM(int, n);
  int *reached = ROOM(int, n), *number = ROOM(int, n);
  Way *heap = ROOM(Way, graph->start[n]);
  double *cost = prices(p, graph, bare, value), *dual = ROOM(double, n), *far = ROOM(double, n);
  for (int v = 0; v < n; v++) match[v] = -1;
  for (int s = 0; s < n; s++) {
    int count = 0, ways = 0, end = -1, y = s, open = 2 * s + 1, done = 2 * s + 2;
    double base = 0;
    if (!bare[s]) continue;
    while (end < 0) {
      int best = -1, all = ways, least = ways;
      for (int k = graph->start[y]; k < graph->start[y + 1]; k++) {
        int x = graph->at[k];
        double way = base + cost[k] - dual[x] - dual[y];
        if (cost[k] == INFINITY || seen[x] == done) continue;
        if (seen[x] == open && far[x] <= way) continue;
        if (seen[x] != open) reached[number[x] = count++] = x;
        seen[x] = open, far[x] = way, from[x] = y;
        heap[all] = (Way){way, number[x], x};
        if (is_before(heap + all, heap + least)) least = all;
        all++;
      }
      int ends = least < all && match[heap[least].to] < 0; /* most often: in no order then */
      if (ends && (!ways || is_before(heap + least, heap))) best = heap[least].to, ways = 0;
      else
        for (; ways < all; ways++) push_way(heap, ways, heap[ways]);
      while (best < 0 && ways) { /* longer ways to where a shorter one was found are left out */
        Way way = pop_way(heap, ways--);
        if (seen[way.to] == open && way.length == far[way.to]) best = way.to;
      }
      if (best < 0) break;
      seen[best] = done, base = far[best];
      if (match[best] < 0) end = best;
      y = match[best];
    }
    if (end < 0) continue;
    for (int q = 0; q < count; q++) {
      int x = reached[q];
      if (seen[x] != done || x == end) continue;
      dual[x] += far[x] - far[end], dual[match[x]] -= far[x] - far[end];
    }
    dual[s] += far[end];
    for (int x = end, row = -1; row != s;) {
      int next = match[row = from[x]];
      match[x] = row, match[row] = x, x = next;
    }
  }
  free(seen), free(from), free(reached), free(number), free(heap), free(cost), free(dual), free(far);
  return match;
}

enum { FEW = 12 }; /* neighbours of a variable up to which pairs are not parted: assumed */

/* Part pairs: a variable that has a curvature of its own, as its diagonal is entered by the Hessian
   beside what bounds add to it, is a pivot by itself, and its multiplier another one later, of what
   the variable leaves it: what is beside the one need not be beside the other. Neither has `delays`;
   without these none is parted. Return what each row goes after, -1 for none. */
static int *part_pairs(const Pattern *p, const Graph *graph, const char *bare, const char *delays,
                       int *match) {
  int *after = ROOM(int, p->n), *times = ROOM(int, p->n);
  for (int k = 0; delays && k < p->entries; k++) times[p->row[k]] += p->row[k] == p->col[k];
  for (int y = 0; y < p->n; y++) {
    int x = match[y], is_pair = delays && bare[y] && x >= 0;
    after[y] = -1;
    if (!is_pair || times[x] < 2 || degree(graph, x) < FEW || delays[x] || delays[y]) continue;
    after[y] = x, match[x] = match[y] = -1;
  }
  free(times);
  return after;
}

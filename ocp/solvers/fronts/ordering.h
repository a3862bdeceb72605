/* Elimination order of pairs and single rows: minimum degree on a quotient graph, with bounds of
   degrees (Amestoy, Davis & Duff 1996). Its work grows as the graph and the factors do. */

typedef struct {
  int count;        /* of groups: pairs, and rows without a partner */
  int *lead, *size; /* the first row of a group, and how many it has */
  int *order;       /* the group that is eliminated at a place */
  int *start, *at;  /* what is left beside it then: places of groups, ascending */
} Ordering;

static void free_ordering(Ordering *o) {
  free(o->lead), free(o->size), free(o->order), free(o->start), free(o->at);
}

/* Return the groups, {row: group} in `group`. */
static Ordering groups(int n, const int *match, int *group) {
  Ordering o = {0, ROOM(int, n), ROOM(int, n), NULL, NULL, NULL};
  for (int v = 0; v < n; v++) {
    int other = match[v];
    if (other >= 0 && other < v) continue;
    o.lead[o.count] = v, o.size[o.count] = other < 0 ? 1 : 2, group[v] = o.count;
    if (other >= 0) group[other] = o.count;
    o.count++;
  }
  return o;
}

/* When a group is eliminated: at any time; once its neighbours of ANY_TIME are, but for those that
   have many themselves, as a duration has; beside all groups that are left, as one with very many
   neighbours; or last of all. */
enum { ANY_TIME, AFTER_NEIGHBOURS, BESIDE_ALL, LAST_OF_ALL, WAITING, GONE };
enum { DELAYS = 2, MOST = 1 << 28 };
enum { MANY = 10, VERY_MANY = 40 }; /* neighbours, over the root of the number of groups */

/* Keys of groups, as the leaves of a tree of minima. */
typedef struct {
  int leaves, *least;
} Keys;

static void set_key(Keys *keys, int g, int when, int degree) {
  int k = keys->leaves + g;
  keys->least[k] = when * MOST + degree;
  for (k /= 2; k > 0; k /= 2) {
    int left = keys->least[2 * k], right = keys->least[2 * k + 1];
    int least = left <= right ? left : right;
    if (keys->least[k] == least) break;
    keys->least[k] = least;
  }
}

static int first_of_least(const Keys *keys) {
  int k = 1;
  while (k < keys->leaves) k = 2 * k + (keys->least[2 * k] > keys->least[2 * k + 1]);
  return k - keys->leaves;
}

/* Groups that are left, each with a list: elements, then other groups beside it. An element is a
   group that has been eliminated; beside it are the groups that it left. Lists leave out leaves,
   which are an inequality and its slack; no two are neighbours, as no list would have them. */
typedef struct {
  Ordering o;
  int *group, *degree, *pending, *hidden; /* rows beside a group that its list leaves out */
  int *begin, *list, *room, *elements, *length; /* of lists */
  int *weight, *outside; /* rows of an element, and those that are not beside the last one */
  int *mark, *seen;      /* the last place at which a group, an element was met */
  char *late, *when, *gone, *absorbed, *leaf;
  int filled, most, rows; /* in o.at, and rows that are left */
  Keys keys;
} Quotient;

static int is_awaited(const Quotient *q, int g) {
  return q->late[g] == ANY_TIME && q->room[g] <= MANY * sqrt(q->o.count);
}

/* Set the lists of groups, and those that are beside all. */
static void fill_lists(Quotient *q, const Graph *graph, const int *match) {
  int count = q->o.count, end = 0, *met = ROOM(int, count);
  double limit = VERY_MANY * sqrt(count);
  for (int pass = 0; pass < 2; pass++) {
    memset(met, 0, sizeof(int) * count), end = 0;
    for (int g = 0; g < count; g++) {
      int number = 0;
      q->begin[g] = end, met[g] = g + 1;
      for (int v = q->o.lead[g], twice = 0; v >= 0 && twice < 2; v = match[v], twice++)
        for (int k = graph->start[v]; k < graph->start[v + 1]; k++) {
          int h = q->group[graph->at[k]];
          q->pending[g] += pass && is_awaited(q, h);
          if (!pass && h != g && q->leaf[h]) q->leaf[g] = 0;
          if (met[h] == g + 1 || q->when[h] == BESIDE_ALL) continue;
          met[h] = g + 1;
          if (pass && q->leaf[h]) q->hidden[g] += q->o.size[h];
          else if (pass) q->list[end + number++] = h;
          else number++;
        }
      if (!pass && number > limit && q->late[g] == ANY_TIME) q->when[g] = BESIDE_ALL;
      if (!pass) q->room[g] = number + 1;
      q->length[g] = q->when[g] == BESIDE_ALL ? 0 : number, end += q->room[g];
    }
    if (!pass) q->list = ROOM(int, end);
  }
  free(met);
}

/* Set the keys of all groups, and when each can be eliminated at first. */
static void set_first_keys(Quotient *q) {
  Keys *keys = &q->keys;
  for (keys->leaves = 1; keys->leaves < q->o.count;) keys->leaves *= 2;
  keys->least = ROOM(int, 2 * (size_t)keys->leaves);
  for (int k = 0; k < 2 * keys->leaves; k++) keys->least[k] = INT_MAX;
  for (int g = 0; g < q->o.count; g++) {
    if (q->late[g] == AFTER_NEIGHBOURS) q->when[g] = q->pending[g] ? WAITING : ANY_TIME;
    q->rows += q->o.size[g], q->degree[g] = q->hidden[g];
    for (int k = 0; k < q->length[g]; k++) q->degree[g] += q->o.size[q->list[q->begin[g] + k]];
    set_key(keys, g, q->when[g], q->degree[g]);
  }
}

/* Put a leaf into the lists of what is beside it, as one of them is eliminated before it. */
static void show_leaf(Quotient *q, int leaf) {
  q->leaf[leaf] = 0;
  for (int k = q->elements[leaf]; k < q->length[leaf]; k++) {
    int g = q->list[q->begin[leaf] + k];
    q->hidden[g] -= q->o.size[leaf], q->list[q->begin[g] + q->length[g]++] = leaf;
  }
}

static void add_beside(Quotient *q, int place, int g) {
  if (q->gone[g] || q->mark[g] == place + 1) return;
  if (q->filled == q->most) {
    q->o.at = realloc(q->o.at, sizeof(int) * (q->most *= 2));
    if (!q->o.at) abort();
  }
  q->mark[g] = place + 1, q->o.at[q->filled++] = g;
  if (q->when[g] != BESIDE_ALL) q->weight[place] += q->o.size[g];
}

/* Eliminate a group at a place, and list what it leaves beside it. */
static void eliminate(Quotient *q, const Graph *graph, const int *match, int place, int g,
                      const int *wide, int wides) {
  Ordering *o = &q->o;
  const int *list = q->list + q->begin[g];
  for (int v = o->lead[g], twice = 0; v >= 0 && twice < 2 && q->hidden[g]; v = match[v], twice++)
    for (int k = graph->start[v]; k < graph->start[v + 1]; k++) {
      int h = q->group[graph->at[k]];
      if (q->leaf[h] && !q->gone[h] && h != g) show_leaf(q, h);
    }
  o->order[place] = g, o->start[place] = q->filled, q->gone[g] = 1;
  for (int k = 0; k < q->elements[g]; k++) {
    int e = list[k];
    if (q->absorbed[e]) continue;
    for (int t = o->start[e]; t < o->start[e + 1]; t++) add_beside(q, place, o->at[t]);
    q->absorbed[e] = 1;
  }
  for (int k = q->elements[g]; k < q->length[g]; k++) add_beside(q, place, list[k]);
  for (int k = 0; k < wides; k++) add_beside(q, place, wide[k]);
  for (int h = 0; q->when[g] == BESIDE_ALL && h < o->count; h++) add_beside(q, place, h);
  o->start[place + 1] = q->filled, q->rows -= o->size[g];
  set_key(&q->keys, g, GONE, 0);
}

/* Make a group's list anew beside the element at a place, and return the bound of its degree. */
static int update_list(Quotient *q, int place, int g) {
  int *list = q->list + q->begin[g], *rest = list + q->elements[g];
  int gone = q->o.order[place], kept = 0, others = 0;
  if (q->leaf[gone]) q->hidden[g] -= q->o.size[gone];
  int degree = q->weight[place] - q->o.size[g] + q->hidden[g];
  for (int k = 0; k < q->elements[g]; k++) {
    int e = list[k];
    if (q->absorbed[e]) continue;
    if (!q->outside[e]) q->absorbed[e] = 1;
    else list[kept++] = e, degree += q->outside[e];
  }
  for (int k = 0; k < q->length[g] - q->elements[g]; k++) {
    int h = rest[k];
    if (q->gone[h] || q->mark[h] == place + 1) continue;
    rest[others++] = h, degree += q->o.size[h];
  }
  memmove(list + kept + 1, rest, sizeof(int) * others);
  list[kept] = place, q->elements[g] = kept + 1, q->length[g] = kept + 1 + others;
  return degree;
}

/* Update all groups beside the element at a place. */
static void update_beside(Quotient *q, int place) {
  const Ordering *o = &q->o;
  for (int t = o->start[place]; t < o->start[place + 1]; t++) {
    int g = o->at[t];
    for (int k = 0; q->when[g] != BESIDE_ALL && k < q->elements[g]; k++) {
      int e = q->list[q->begin[g] + k];
      if (q->seen[e] != place + 1) q->seen[e] = place + 1, q->outside[e] = q->weight[e];
      q->outside[e] -= o->size[g];
    }
  }
  for (int t = o->start[place]; t < o->start[place + 1]; t++) {
    int g = o->at[t], beside = q->weight[place] - o->size[g], rows = q->rows - o->size[g];
    if (q->when[g] == BESIDE_ALL) continue;
    int bound = update_list(q, place, g), grown = q->degree[g] + beside;
    bound = bound < grown ? bound : grown;
    q->degree[g] = bound < rows ? bound : rows;
    set_key(&q->keys, g, q->when[g], q->degree[g]);
  }
}

/* Let groups that wait for a group's rows know that it is gone. */
static void release(Quotient *q, const Graph *graph, const int *match, int g) {
  if (!is_awaited(q, g)) return;
  for (int v = q->o.lead[g], twice = 0; v >= 0 && twice < 2; v = match[v], twice++)
    for (int k = graph->start[v]; k < graph->start[v + 1]; k++) {
      int h = q->group[graph->at[k]];
      if (--q->pending[h] || q->when[h] != WAITING) continue;
      q->when[h] = ANY_TIME, set_key(&q->keys, h, ANY_TIME, q->degree[h]);
    }
}

/* Return the Ordering of rows with their partners. `delays` of a row, one for a multiplier without
   a partner, let its group wait: once for its neighbours, twice for all others. */
static Ordering minimum_degree_order(int n, const Graph *graph, const char *bare, const int *match,
                                     const char *delays) {
  int *group = ROOM(int, n), wides = 0;
  Quotient q = {.o = groups(n, match, group), .group = group};
  int count = q.o.count, *wide = ROOM(int, count);
  int **lists[] = {&q.degree, &q.pending, &q.begin, &q.elements, &q.length, &q.weight, &q.outside,
                   &q.mark, &q.seen, &q.hidden, &q.room, &q.o.order, &q.o.start};
  char **flags[] = {&q.late, &q.when, &q.gone, &q.absorbed, &q.leaf};
  for (int k = 0; k < 13; k++) *lists[k] = ROOM(int, count + 1);
  for (int k = 0; k < 5; k++) *flags[k] = ROOM(char, count);
  q.most = 64 * count + 1, q.o.at = ROOM(int, q.most);
  for (int v = 0; v < n; v++) {
    int late = delays[v] + (bare[v] && match[v] < 0);
    late = late > AFTER_NEIGHBOURS ? LAST_OF_ALL : late;
    if (late > q.late[group[v]]) q.late[group[v]] = q.when[group[v]] = late;
    q.leaf[group[v]] |= match[v] >= 0 && degree(graph, v) == 1;
  }
  for (int g = 0; g < count; g++) q.leaf[g] &= q.late[g] == ANY_TIME;
  fill_lists(&q, graph, match);
  set_first_keys(&q);
  for (int g = 0; g < count; g++)
    if (q.when[g] == BESIDE_ALL) wide[wides++] = g;
  for (int place = 0; place < count; place++) {
    int g = first_of_least(&q.keys);
    eliminate(&q, graph, match, place, g, wide, wides);
    update_beside(&q, place);
    release(&q, graph, match, g);
  }
  int *place = q.mark;
  for (int s = 0; s < count; s++) place[q.o.order[s]] = s;
  for (int k = 0; k < q.filled; k++) q.o.at[k] = place[q.o.at[k]];
  sort_lists(count, q.o.start, q.o.at);
  for (int k = 0; k < 11; k++) free(*lists[k]);
  for (int k = 0; k < 5; k++) free(*flags[k]);
  free(group), free(wide), free(q.list), free(q.keys.least);
  return q.o;
}

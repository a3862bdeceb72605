/* Elimination order of pairs and single rows: minimum degree on a quotient graph, with bounds of
   degrees, groups with the same neighbours being one (Amestoy, Davis & Duff 1996). */

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
enum { DELAYS = 2, MOST = 1 << 28, NEVER = INT_MAX };
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

/* Groups that are left, each with its elements: groups that have been eliminated, beside each of
   which some are left. Two groups are neighbours until they are beside one element. Their edge
   stands with the one that has fewer neighbours: lists of those with many, which are beside most
   elements, would be read through at each of them. Either knows the sums, over all its neighbours,
   of their rows and of random numbers; the latter tell whether two have the same. Leaves, which
   are an inequality and its slack, have all their edges, and their neighbours know their rows
   alone; no two are neighbours. */
typedef struct {
  Ordering o;
  int *group, *degree, *pending, *hidden; /* rows of leaves beside a group */
  int *begin, *room;     /* of what follows: where a group's begins, and how much it may be */
  int *first, *firsts;   /* neighbours that a group had at first, and how many these are */
  int *edge, *edges;     /* those whose edge stands with it */
  int *list, *elements;  /* elements beside it */
  int *beside;           /* rows of its neighbours */
  word *number, *sum;    /* a random number, and the sum of its neighbours' */
  int *weight, *outside; /* rows of an element, and those that are not beside the last one */
  int *mark, *seen;      /* 1 + the last place where a group, an element was met; NEVER again */
  int *size, *many;      /* rows of a group and of those that it stands for, and how many these are */
  int *alike, *last, *next, *since; /* the first and last of these, the next one, and from what place */
  int *follower; /* the group that a group's elimination lets go, -1 for none */
  int *hash, *bucket, *stamp, stamps; /* of lists that are compared */
  char *late, *when, *absorbed, *leaf;
  int filled, most, rows; /* in o.at, and rows that are left */
  Keys keys;
} Quotient;

static int is_awaited(const Quotient *q, int g) {
  return q->late[g] == ANY_TIME && q->room[g] <= MANY * sqrt(q->o.count);
}

/* Set the first neighbours of groups, and those that are beside all. */
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
          if (pass && q->leaf[h]) q->hidden[g] += q->size[h];
          else if (pass) q->first[end + number++] = h;
          else number++;
        }
      if (!pass && number > limit && q->late[g] == ANY_TIME) q->when[g] = BESIDE_ALL;
      if (!pass) q->room[g] = number + 1;
      q->firsts[g] = q->when[g] == BESIDE_ALL ? 0 : number, end += q->room[g];
    }
    if (!pass) q->first = ROOM(int, end), q->edge = ROOM(int, end), q->list = ROOM(int, end);
  }
  free(met);
}

/* Let the edge of two neighbours stand with the one that has fewer, and sum over all neighbours. */
static void set_edges(Quotient *q) {
  for (int g = 0; g < q->o.count; g++) {
    word mixed = (word)(g + 1) * 11400714819323198485u;
    q->number[g] = (mixed ^ mixed >> 29) * 13787848793156543929u;
  }
  for (int g = 0; g < q->o.count; g++)
    for (int k = 0; k < q->firsts[g]; k++) {
      int h = q->first[q->begin[g] + k], more = q->firsts[h] - q->firsts[g];
      if (q->leaf[g] || more > 0 || (!more && h > g)) q->edge[q->begin[g] + q->edges[g]++] = h;
      q->beside[g] += q->size[h], q->sum[g] += q->number[h];
    }
}

/* Set the keys of all groups, and when each can be eliminated at first. */
static void set_first_keys(Quotient *q) {
  Keys *keys = &q->keys;
  for (keys->leaves = 1; keys->leaves < q->o.count;) keys->leaves *= 2;
  keys->least = ROOM(int, 2 * (size_t)keys->leaves);
  for (int k = 0; k < 2 * keys->leaves; k++) keys->least[k] = INT_MAX;
  for (int g = 0; g < q->o.count; g++) {
    int h = q->follower[g];
    if (q->late[g] == AFTER_NEIGHBOURS) q->when[g] = q->pending[g] ? WAITING : ANY_TIME;
    if (h >= 0 && q->when[h] == ANY_TIME) {
      q->when[h] = WAITING;
      if (h < g) set_key(keys, h, WAITING, q->degree[h]);
    }
    q->rows += q->size[g], q->degree[g] = q->hidden[g] + q->beside[g];
    set_key(keys, g, q->when[g], q->degree[g]);
  }
}

/* Let two groups be neighbours, or no more. */
static void set_neighbours(Quotient *q, int g, int h, int are) {
  q->beside[g] += are ? q->size[h] : -q->size[h], q->beside[h] += are ? q->size[g] : -q->size[g];
  q->sum[g] += are ? q->number[h] : -q->number[h], q->sum[h] += are ? q->number[g] : -q->number[g];
}

/* Let the neighbours of a leaf know it, as one of them is eliminated before it. */
static void show_leaf(Quotient *q, int leaf) {
  q->leaf[leaf] = 0, q->beside[leaf] = 0, q->sum[leaf] = 0;
  for (int k = 0; k < q->edges[leaf]; k++) {
    int g = q->edge[q->begin[leaf] + k];
    if (q->mark[g] == NEVER) continue;
    q->hidden[g] -= q->size[leaf], q->first[q->begin[g] + q->firsts[g]++] = leaf;
    set_neighbours(q, g, leaf, 1);
  }
}

/* Add a group to those beside the element at a place; tell whether it is new there. */
static int add_beside(Quotient *q, int place, int g) {
  if (q->mark[g] > place) return 0;
  if (q->filled == q->most) {
    q->o.at = realloc(q->o.at, sizeof(int) * (q->most *= 2));
    if (!q->o.at) abort();
  }
  q->mark[g] = place + 1, q->o.at[q->filled++] = g;
  if (q->when[g] != BESIDE_ALL) q->weight[place] += q->size[g];
  return 1;
}

/* Eliminate a group at a place, and list what it leaves beside it. */
static void eliminate(Quotient *q, const Graph *graph, const int *match, int place, int g,
                      const int *wide, int wides) {
  Ordering *o = &q->o;
  for (int v = o->lead[g], twice = 0; v >= 0 && twice < 2 && q->hidden[g]; v = match[v], twice++)
    for (int k = graph->start[v]; k < graph->start[v + 1]; k++) {
      int h = q->group[graph->at[k]];
      if (q->leaf[h] && q->mark[h] != NEVER && h != g) show_leaf(q, h);
    }
  o->order[place] = g, o->start[place] = q->filled, q->mark[g] = NEVER;
  for (int k = 0; k < q->elements[g]; k++) {
    int e = q->list[q->begin[g] + k];
    if (q->absorbed[e]) continue;
    for (int t = o->start[e]; t < o->start[e + 1]; t++) add_beside(q, place, o->at[t]);
    q->absorbed[e] = 1;
  }
  for (int k = 0; k < q->firsts[g]; k++) { /* with which no element is shared: neighbours still */
    int h = q->first[q->begin[g] + k];
    if (add_beside(q, place, h) && !q->leaf[g]) set_neighbours(q, g, h, 0);
  }
  for (int k = 0; k < wides; k++) add_beside(q, place, wide[k]);
  for (int h = 0; q->when[g] == BESIDE_ALL && h < o->count; h++) add_beside(q, place, h);
  o->start[place + 1] = q->filled, q->rows -= q->size[g];
  set_key(&q->keys, g, GONE, 0);
}

/* Take a group's edges to what is gone, and to what is beside the element at a place as it is. */
static void clear_edges(Quotient *q, int place, int g) {
  int *edge = q->edge + q->begin[g], kept = 0;
  for (int k = 0; k < q->edges[g]; k++) {
    int h = edge[k];
    if (q->mark[h] == place + 1) set_neighbours(q, g, h, 0);
    else if (q->mark[h] != NEVER) edge[kept++] = h;
  }
  q->edges[g] = kept;
}

/* Make the list of a group's elements anew with that at a place; return the bound of its degree. */
static int update_list(Quotient *q, int place, int g) {
  int *list = q->list + q->begin[g], gone = q->o.order[place], kept = 0;
  if (q->leaf[gone]) q->hidden[g] -= q->size[gone];
  int degree = q->weight[place] - q->size[g] + q->hidden[g] + q->beside[g];
  for (int k = 0; k < q->elements[g]; k++) {
    int e = list[k];
    if (q->absorbed[e]) continue;
    if (!q->outside[e]) q->absorbed[e] = 1;
    else list[kept++] = e, degree += q->outside[e];
  }
  list[kept] = place, q->elements[g] = kept + 1;
  return degree;
}

/* Update all groups beside the element at a place. */
static void update_beside(Quotient *q, int place) {
  const Ordering *o = &q->o;
  for (int t = o->start[place]; t < o->start[place + 1]; t++) {
    int g = o->at[t];
    clear_edges(q, place, g);
    for (int k = 0; q->when[g] != BESIDE_ALL && k < q->elements[g]; k++) {
      int e = q->list[q->begin[g] + k];
      if (q->seen[e] != place + 1) q->seen[e] = place + 1, q->outside[e] = q->weight[e];
      q->outside[e] -= q->size[g];
    }
  }
  for (int t = o->start[place]; t < o->start[place + 1]; t++) {
    int g = o->at[t], beside = q->weight[place] - q->size[g], rows = q->rows - q->size[g];
    if (q->when[g] == BESIDE_ALL) continue;
    int bound = update_list(q, place, g), grown = q->degree[g] + beside;
    bound = bound < grown ? bound : grown;
    q->degree[g] = bound < rows ? bound : rows;
    set_key(&q->keys, g, q->when[g], q->degree[g]);
  }
}

/* Tell whether two groups beside an element have the same elements and neighbours. */
static int are_alike(Quotient *q, int g, int h) {
  int count = q->elements[g], stamp = ++q->stamps;
  if (q->elements[h] != count || q->sum[h] != q->sum[g]) return 0;
  for (int k = 0; k < count; k++) q->stamp[q->list[q->begin[g] + k]] = stamp;
  for (int k = 0; k < count; k++)
    if (q->stamp[q->list[q->begin[h] + k]] != stamp) return 0;
  return 1;
}

/* Let a group stand for another from a place on. */
static void stand_for(Quotient *q, int place, int g, int other) {
  if (q->alike[g] < 0) q->alike[g] = other;
  else q->next[q->last[g]] = other;
  q->last[g] = other, q->since[other] = place;
  q->size[g] += q->size[other], q->many[g] += q->many[other], q->number[g] += q->number[other];
  q->degree[g] -= q->size[other], q->mark[other] = NEVER;
  set_key(&q->keys, other, GONE, 0), set_key(&q->keys, g, q->when[g], q->degree[g]);
}

/* Of groups beside the element at a place, let one stand for all that are alike: what is eliminated
   with it leaves nothing else. */
static void unite_alike(Quotient *q, int place) {
  const Ordering *o = &q->o;
  for (int t = o->start[place]; t < o->start[place + 1]; t++) {
    int g = o->at[t], free_of_rules = q->when[g] == ANY_TIME && !q->late[g];
    if (!free_of_rules || q->hidden[g] || q->leaf[g]) continue;
    word sum = q->sum[g];
    for (int k = 0; k < q->elements[g]; k++) sum += (word)q->list[q->begin[g] + k] * 2654435761u;
    int bucket = (int)(sum % (word)o->count), first = q->bucket[bucket], h = first - 1;
    while (h >= 0 && !are_alike(q, h, g)) h = q->hash[h] - 1;
    if (h >= 0) stand_for(q, place, h, g);
    else q->hash[g] = first ? first : -bucket, q->bucket[bucket] = g + 1; /* the last says where */
  }
  for (int t = o->start[place]; t < o->start[place + 1]; t++)
    if (q->hash[o->at[t]] <= 0) q->bucket[-q->hash[o->at[t]]] = 0;
}

/* List a group and all for which it stood when that at a place went; return where the list ends. */
static int *list_alike(const Quotient *q, int place, int g, int *end) {
  *end++ = g;
  for (int h = q->alike[g]; h >= 0 && q->since[h] < place; h = q->next[h])
    end = list_alike(q, place, h, end);
  return end;
}

/* Write the order of all groups, those for which one stands after it, and what each leaves. */
static void spread_alike(Quotient *q, int places) {
  Ordering *o = &q->o;
  int count = o->count, *order = ROOM(int, count), *start = ROOM(int, count + 1);
  int *own = ROOM(int, count), *beside = ROOM(int, count), s = 0;
  size_t room = 64 * (size_t)count + 1;
  int *at = ROOM(int, room);
  for (int place = 0; place < places; place++) {
    int *end = beside, members = (int)(list_alike(q, place, o->order[place], own) - own);
    for (int t = o->start[place]; t < o->start[place + 1]; t++)
      end = list_alike(q, place, o->at[t], end);
    for (int k = 0; k < members; k++) {
      int after = members - k - 1, besides = (int)(end - beside);
      while (start[s] + (size_t)after + besides >= room) {
        at = realloc(at, sizeof(int) * (room *= 2));
        if (!at) abort();
      }
      order[s] = own[k];
      memcpy(at + start[s], own + k + 1, sizeof(int) * after);
      memcpy(at + start[s] + after, beside, sizeof(int) * besides);
      start[s + 1] = start[s] + after + besides, s++;
    }
  }
  free(o->order), free(o->start), free(o->at), free(own), free(beside);
  o->order = order, o->start = start, o->at = at;
}

static void let_go(Quotient *q, int g) {
  q->when[g] = ANY_TIME, set_key(&q->keys, g, ANY_TIME, q->degree[g]);
}

/* Let groups that wait for a group's rows know that it is gone. */
static void release(Quotient *q, const Graph *graph, const int *match, int g) {
  for (int h = q->alike[g]; h >= 0; h = q->next[h]) release(q, graph, match, h);
  int follower = q->follower[g];
  if (follower >= 0 && q->when[follower] == WAITING) let_go(q, follower);
  if (!is_awaited(q, g)) return;
  for (int v = q->o.lead[g], twice = 0; v >= 0 && twice < 2; v = match[v], twice++)
    for (int k = graph->start[v]; k < graph->start[v + 1]; k++) {
      int h = q->group[graph->at[k]];
      if (!--q->pending[h] && q->when[h] == WAITING && q->late[h]) let_go(q, h);
    }
}

/* Return the Ordering of rows with their partners, each `after` the one that it has to wait for, -1
   for none. `delays` of a row, one for a multiplier with neither, let its group wait: once for its
   neighbours, twice for all others. */
static Ordering minimum_degree_order(int n, const Graph *graph, const char *bare, const int *match,
                                     const int *after, const char *delays) {
  int *group = ROOM(int, n), wides = 0, places = 0;
  Quotient q = {.o = groups(n, match, group), .group = group};
  int count = q.o.count, *wide = ROOM(int, count);
  int **lists[] = {&q.degree, &q.pending, &q.begin, &q.elements, &q.firsts, &q.edges, &q.beside,
                   &q.weight, &q.outside, &q.mark, &q.seen, &q.hidden, &q.room, &q.size, &q.many,
                   &q.alike, &q.last, &q.next, &q.since, &q.hash, &q.bucket, &q.follower, &q.stamp,
                   &q.o.order, &q.o.start};
  char **flags[] = {&q.late, &q.when, &q.absorbed, &q.leaf};
  for (int k = 0; k < 25; k++) *lists[k] = ROOM(int, count + 1);
  q.number = ROOM(word, count), q.sum = ROOM(word, count);
  for (int g = 0; g < count; g++)
    q.size[g] = q.o.size[g], q.many[g] = 1, q.alike[g] = q.next[g] = q.follower[g] = -1;
  for (int k = 0; k < 4; k++) *flags[k] = ROOM(char, count);
  q.most = 64 * count + 1, q.o.at = ROOM(int, q.most);
  for (int v = 0; v < n; v++) {
    int late = delays[v] + (bare[v] && match[v] < 0 && after[v] < 0);
    if (after[v] >= 0) q.follower[group[after[v]]] = group[v];
    late = late > AFTER_NEIGHBOURS ? LAST_OF_ALL : late;
    if (late > q.late[group[v]]) q.late[group[v]] = q.when[group[v]] = late;
    q.leaf[group[v]] |= match[v] >= 0 && degree(graph, v) == 1;
  }
  for (int g = 0; g < count; g++) q.leaf[g] &= q.late[g] == ANY_TIME;
  fill_lists(&q, graph, match);
  set_edges(&q);
  set_first_keys(&q);
  for (int g = 0; g < count; g++)
    if (q.when[g] == BESIDE_ALL) wide[wides++] = g;
  for (int rest = count, place = 0; rest > 0; place++) {
    int g = first_of_least(&q.keys);
    eliminate(&q, graph, match, place, g, wide, wides);
    update_beside(&q, place);
    if (!q.leaf[g]) unite_alike(&q, place);
    release(&q, graph, match, g);
    rest -= q.many[g], places++;
  }
  spread_alike(&q, places);
  int *place = q.mark;
  for (int s = 0; s < count; s++) place[q.o.order[s]] = s;
  for (int k = 0; k < q.o.start[count]; k++) q.o.at[k] = place[q.o.at[k]];
  sort_lists(count, q.o.start, q.o.at);
  for (int k = 0; k < 23; k++) free(*lists[k]);
  for (int k = 0; k < 4; k++) free(*flags[k]);
  free(group), free(wide), free(q.first), free(q.edge), free(q.list), free(q.number), free(q.sum);
  free(q.keys.least);
  return q.o;
}

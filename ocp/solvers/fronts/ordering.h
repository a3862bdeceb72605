/* Elimination order of pairs and single rows: minimum degree, with neighbours as bits. */

typedef uint64_t word;

typedef struct {
  int count;        /* of groups: pairs, and rows without a partner */
  int *lead, *size; /* the first row of a group, and how many it has */
  int *order;       /* the group that is eliminated at a place */
  int *start, *at;  /* what is left beside it then: places of groups, ascending */
} Ordering;

static void free_ordering(Ordering *o) {
  free(o->lead), free(o->size), free(o->order), free(o->start), free(o->at);
}

static int count_bits(const word *row, const word *twice, int words) {
  int count = 0;
  for (int t = 0; t < words; t++)
    count += __builtin_popcountll(row[t]) + __builtin_popcountll(row[t] & twice[t]);
  return count;
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

/* Return the Ordering of rows with their partners. Those of `last`, and multipliers without a
   partner, go last of all. Degrees are exact: each group's neighbours are bits of a row, so that
   an elimination is a union of rows. Return a count of 0 where there are more than MOST groups. */
enum { MOST = 30000 };

static Ordering minimum_degree_order(int n, const Graph *graph, const char *bare, const int *match,
                        const char *last) {
  int *group = ROOM(int, n);
  Ordering o = groups(n, match, group);
  if (o.count > MOST) return free(group), free_ordering(&o), (Ordering){0};
  int count = o.count, words = (count + 63) / 64, filled = 0, most = 64 * count;
  word *bits = ROOM(word, (size_t)count * words), *twice = ROOM(word, words);
  int *degrees = ROOM(int, count), *place = ROOM(int, count);
  char *late = ROOM(char, count), *gone = ROOM(char, count);
  o.order = ROOM(int, count), o.start = ROOM(int, count), o.at = ROOM(int, most);
  for (int v = 0; v < n; v++) {
    int g = group[v];
    late[g] |= last[v] || (bare[v] && match[v] < 0);
    if (o.size[g] == 2) twice[g / 64] |= (word)1 << g % 64;
    for (int k = graph->start[v]; k < graph->start[v + 1]; k++) {
      int h = group[graph->at[k]];
      if (h != g) bits[(size_t)g * words + h / 64] |= (word)1 << h % 64;
    }
  }
  for (int g = 0; g < count; g++) degrees[g] = count_bits(bits + (size_t)g * words, twice, words);
  for (int s = 0; s < count; s++) {
    int best = -1;
    for (int g = 0; g < count; g++) {
      if (gone[g]) continue;
      if (best < 0 || late[g] < late[best]) best = g;
      else if (late[g] == late[best] && degrees[g] < degrees[best]) best = g;
    }
    word *row = bits + (size_t)best * words;
    o.order[s] = best, place[best] = s, gone[best] = 1, o.start[s] = filled;
    for (int t = 0; t < words; t++)
      for (word left = row[t]; left; left &= left - 1) {
        if (filled == most) {
          o.at = realloc(o.at, sizeof(int) * (most *= 2));
          if (!o.at) abort();
        }
        o.at[filled++] = 64 * t + __builtin_ctzll(left);
      }
    for (int k = o.start[s]; k < filled; k++) {
      int h = o.at[k];
      word *other = bits + (size_t)h * words;
      for (int t = 0; t < words; t++) other[t] |= row[t];
      other[h / 64] &= ~((word)1 << h % 64), other[best / 64] &= ~((word)1 << best % 64);
      degrees[h] = count_bits(other, twice, words);
    }
  }
  o.start[count] = filled;
  for (int s = 0; s < count; s++) {
    for (int k = o.start[s]; k < o.start[s + 1]; k++) o.at[k] = place[o.at[k]];
    qsort(o.at + o.start[s], o.start[s + 1] - o.start[s], sizeof(int), by_value);
  }
  free(bits), free(twice), free(degrees), free(place), free(late), free(gone), free(group);
  return o;
}

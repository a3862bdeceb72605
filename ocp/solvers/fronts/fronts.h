/* Records of a plan: the fronts of all matrices of a pattern. */

typedef struct {
  int n, entries;
  int *row, *col; /* of entries, from zero, each once above or below the diagonal */
} Pattern;

typedef uint64_t word;

typedef struct {
  int parent, child, next; /* fronts, -1 for none */
  int pivots, width, wide; /* rows that are pivots, rows beside them, and these padded */
  int own, beside;         /* where both are listed, in the order they go */
  int runs, run_count;     /* rows beside as runs of rows of the parent */
  int64_t square, rest;    /* where the pivots' rows are stored, and what is beside */
  int side;                /* of its parent's other side: the pile that holds what is left of it */
  int64_t left;            /* and where it is there */
  int waited;              /* of its pivots some have waited for all others */
  int entries;             /* that are first in it and in the fronts before it */
} Front;

typedef struct {
  int from, to, count;
} Run;

/* Fronts `from` to, not including, `end`: one with all that add to it. */
typedef struct {
  int from, end;
} Branch;

enum { UNDECIDED, UNITED, PARTED }; /* pairs of a plan: see part_pairs */

typedef struct {
  Pattern pattern;
  word key;        /* of the pattern, and of the plans that have led to this one */
  int64_t serial;  /* by which IPOPT's workspace tells it */
  char *dual;      /* rows of multipliers, where these are known */
  int *match;      /* partners that go together, -1 for none */
  char *delays;    /* of rows that left a front singular, DELAYS at most: see ordering.h */
  int parted;      /* pairs, or whether that is decided */
  int fronts, most_pivots, most_wide;
  Front *front;
  int branches; /* that threads take in turn; fronts of none follow */
  Branch *branch;
  Run *run;
  int *list;       /* rows of fronts */
  int *entry;      /* entries by the front in which they are first */
  int64_t *place;  /* where each of these is stored */
  double seconds; /* that a factorisation takes, about */
  double ordered; /* and those of the fronts of the last order of all rows */
  int64_t size, pile; /* of what is stored, and of fronts under way */
} Plan;

/* Factorisation by several threads. Each takes branches until none is left; then one goes on with
   the fronts of none, and the others with pieces of these. A branch and a piece have the same
   numbers whatever thread takes them, and a thread that waits for a processor seldom holds one:
   where other work keeps a processor busy, the thread that runs takes all. */

enum { MOST_THREADS = 8 };

/* The processors that this process may use, 1 where the system does not tell. */
static long processors(void) {
#ifdef __linux__
  cpu_set_t set;
  if (!sched_getaffinity(0, sizeof set, &set)) return CPU_COUNT(&set);
#endif
#ifdef _SC_NPROCESSORS_ONLN
  return sysconf(_SC_NPROCESSORS_ONLN);
#else
  return 1;
#endif
}

/* As many threads as OMP_NUM_THREADS says, else one for each processor. */
static int thread_count(void) {
  const char *given = getenv("OMP_NUM_THREADS");
  long count = given ? strtol(given, NULL, 10) : 0;
  if (count < 1) count = processors();
  return count < 1 ? 1 : count > MOST_THREADS ? MOST_THREADS : (int)count;
}

/* Branches, the pieces of the last call, and how many threads may hold some of either, `busy`. The
   last of its `users` frees the crew: one that comes late finds nothing, and reads nothing else. */
typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t call;
  int users, busy, over;
  const Plan *plan;
  double *a;
  Bench bench; /* of all but the desk */
  int branch, branches;
  int calls, next, count;
  Piece piece;
  const Beside *beside;
} Crew;

static void take_branches(Crew *crew, Bench *bench) {
  int b;
  while ((b = __atomic_fetch_add(&crew->branch, 1, __ATOMIC_RELAXED)) < crew->branches) {
    const Branch *branch = crew->plan->branch + b;
    if (!bench->desk) bench->desk = ROOM(double, desk_size(crew->plan));
    factorise_fronts(crew->plan, crew->a, bench, branch->from, branch->end);
  }
}

static void take_pieces(Crew *crew, Piece piece, const Beside *beside, int count) {
  int k;
  while ((k = __atomic_fetch_add(&crew->next, 1, __ATOMIC_RELAXED)) < count) piece(beside, k);
}

/* Leave a crew that is locked. */
static void leave(Crew *crew) {
  int last = !--crew->users;
  pthread_mutex_unlock(&crew->lock);
  if (!last) return;
  pthread_mutex_destroy(&crew->lock), pthread_cond_destroy(&crew->call), free(crew);
}

static void *work(void *given) {
  Crew *crew = given;
  pthread_mutex_lock(&crew->lock);
  Bench bench = crew->bench;
  bench.desk = NULL, bench.negative = 0, crew->busy++;
  pthread_mutex_unlock(&crew->lock);
  take_branches(crew, &bench);
  free(bench.desk);
  pthread_mutex_lock(&crew->lock);
  crew->bench.negative += bench.negative, crew->busy--;
  for (int answered = 0; !crew->over;) {
    if (answered == crew->calls) {
      pthread_cond_wait(&crew->call, &crew->lock);
      continue;
    }
    Piece piece = crew->piece;
    const Beside *beside = crew->beside;
    int count = crew->count;
    answered = crew->calls, crew->busy++;
    pthread_mutex_unlock(&crew->lock);
    take_pieces(crew, piece, beside, count);
    pthread_mutex_lock(&crew->lock);
    crew->busy--;
  }
  leave(crew);
  return NULL;
}

/* Lock a crew of which no thread holds anything. */
static void lock_idle(Crew *crew) {
  pthread_mutex_lock(&crew->lock);
  while (crew->busy) {
    pthread_mutex_unlock(&crew->lock);
    sched_yield();
    pthread_mutex_lock(&crew->lock);
  }
}

static void share_pieces(void *given, Piece piece, const Beside *beside, int count) {
  Crew *crew = given;
  lock_idle(crew);
  crew->piece = piece, crew->beside = beside, crew->next = 0, crew->count = count, crew->calls++;
  pthread_cond_broadcast(&crew->call);
  pthread_mutex_unlock(&crew->lock);
  take_pieces(crew, piece, beside, count);
  lock_idle(crew);
  crew->count = 0;
  pthread_mutex_unlock(&crew->lock);
}

static Crew *new_crew(const Plan *plan, double *a, Bench bench, int count) {
  Crew *crew = ROOM(Crew, 1);
  pthread_mutex_init(&crew->lock, NULL), pthread_cond_init(&crew->call, NULL);
  crew->plan = plan, crew->a = a, crew->bench = bench, crew->branches = plan->branches;
  pthread_mutex_lock(&crew->lock);
  for (crew->users = 1; crew->users < count; crew->users++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, crew)) break;
    pthread_detach(thread);
  }
  pthread_mutex_unlock(&crew->lock);
  return crew;
}

/* As factorise. */
static int factorise_by_threads(const Plan *plan, double *a, double *room, int *negative,
                                int *stuck) {
  int count = plan->seconds > THREADED ? thread_count() : 1, q = 0;
  if (count == 1) return factorise(plan, a, room, negative, stuck);
  Bench bench = first_bench(plan, room, stuck);
  Crew *crew = new_crew(plan, a, bench, count);
  take_branches(crew, &bench);
  lock_idle(crew);
  pthread_mutex_unlock(&crew->lock);
  bench.share = share_pieces, bench.crew = crew;
  for (int b = 0; b < plan->branches; q = plan->branch[b++].end)
    factorise_fronts(plan, a, &bench, q, plan->branch[b].from);
  factorise_fronts(plan, a, &bench, q, plan->fronts);
  lock_idle(crew);
  *negative = bench.negative + crew->bench.negative, crew->over = 1;
  pthread_cond_broadcast(&crew->call);
  leave(crew);
  return gather_stuck(plan, stuck);
}

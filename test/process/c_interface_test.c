/* <forkjoin/forkjoin.h> as a program in C99 uses it, and its binary interface: each function by its type, the options
   by their layout. */
#include <forkjoin/forkjoin.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition, fj_last_error());       \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

/* Of throwing C++. */
void throw_text(void *text);
void throw_number(void *ignored);
void throw_bad_alloc(void *ignored);

/* What compiled programs rely on. Another name, type, number or offset is another library. */
typedef char layout_of_options[sizeof(fj_options) == 40 && offsetof(fj_options, size) == 0 &&
                                       offsetof(fj_options, stack_size) == 8 &&
                                       offsetof(fj_options, go_stack_size) == 16 && offsetof(fj_options, procs) == 24 &&
                                       offsetof(fj_options, max_workers) == 28 && offsetof(fj_options, stats) == 32 &&
                                       offsetof(fj_options, reserved) == 36
                                   ? 1
                                   : -1];
typedef char numbers_of_statuses[FJ_OK == 0 && FJ_INVALID_ARGUMENT == 1 && FJ_NO_MEMORY == 2 &&
                                         FJ_NO_THREAD == 3 && FJ_TOO_LATE == 4 && FJ_THROWN == 5 &&
                                         sizeof(fj_status) == 4
                                     ? 1
                                     : -1];

static const char *(*const last_error)(void) = fj_last_error;
static int32_t (*const set_options)(const fj_options *) = fj_set_options;
static int32_t (*const run)(void (*)(void *), void *) = fj_run;
static int32_t (*const fork_join)(void (*)(void *), void *, void (*)(void *), void *) = fj_fork_join;
static int32_t (*const parallel_for)(int64_t, int64_t, int64_t, void (*)(int64_t, int64_t, void *), void *) =
    fj_parallel_for;
static int32_t (*const go)(void (*)(void *), void *, fj_fiber **) = fj_go;
static int32_t (*const wait_for)(fj_fiber *) = fj_wait;
static void (*const yield)(void) = fj_yield;
static int32_t (*const blocking)(void (*)(void *), void *) = fj_blocking;
static int32_t (*const procs)(void) = fj_procs;
static int32_t (*const this_proc)(void) = fj_this_proc;

struct fib {
  int n;
  long value;
};

static void fib(void *context) {
  struct fib *const mine = context;
  struct fib a, b;
  if (mine->n < 2) {
    mine->value = mine->n;
    return;
  }
  a.n = mine->n - 1;
  b.n = mine->n - 2;
  CHECK(fork_join(fib, &a, fib, &b) == FJ_OK);
  mine->value = a.value + b.value;
}

struct marks {
  int64_t first;
  int64_t grain;
  unsigned char *at;
};

static void mark(int64_t begin, int64_t end, void *context) {
  const struct marks *const all = context;
  int64_t i;
  CHECK(begin < end);
  if (all->grain) CHECK(end - begin <= all->grain);
  for (i = begin; i < end; ++i) ++all->at[i - all->first];
}

static void check_loop(int64_t first, int64_t n, int64_t grain) {
  struct marks all;
  int64_t i;
  all.first = first;
  all.grain = grain;
  all.at = calloc((size_t)n + 1, 1);
  CHECK(parallel_for(first, first + n, grain, mark, &all) == FJ_OK);
  for (i = 0; i < n; ++i) CHECK(all.at[i] == 1);
  CHECK(all.at[n] == 0);
  free(all.at);
}

static void check_loops(void *ignored) {
  (void)ignored;
  check_loop(0, 0, 0);
  check_loop(0, 1, 0);
  check_loop(-5, 10, 3);
  check_loop(INT64_MAX - 1000, 1000, 0);
  check_loop(INT64_MIN, 1000, 7);
  check_loop(0, 1000000, 0);
}

static void throw_in_block(int64_t begin, int64_t end, void *context) {
  (void)begin;
  if (end == 1000) throw_text(context);
}

static void is_inside(void *result) { *(int *)result = this_proc() >= 0 && this_proc() < procs(); }

static void add_one(void *number) {
  int i;
  for (i = 0; i < 10; ++i) yield();
  ++*(int *)number;
}

static void check_fibers(void *ignored) {
  enum { count = 1000 };
  static int numbers[count];
  static fj_fiber *fibers[count];
  int i;
  (void)ignored;
  memset(numbers, 0, sizeof(numbers));
  for (i = 0; i < count; ++i) CHECK(go(add_one, &numbers[i], &fibers[i]) == FJ_OK);
  for (i = 0; i < count; ++i) {
    CHECK(wait_for(fibers[i]) == FJ_OK);
    CHECK(numbers[i] == 1);
  }
  CHECK(go(throw_text, "from a fiber", &fibers[0]) == FJ_OK);
  CHECK(wait_for(fibers[0]) == FJ_THROWN);
  CHECK(strcmp(last_error(), "from a fiber") == 0);
}

static void check_errors(void *ignored) {
  fj_fiber *fiber;
  char longer[1000];
  (void)ignored;
  CHECK(run(NULL, NULL) == FJ_INVALID_ARGUMENT);
  CHECK(strstr(last_error(), "fj_run"));
  CHECK(fork_join(fib, NULL, NULL, NULL) == FJ_INVALID_ARGUMENT);
  CHECK(parallel_for(0, 1, 0, NULL, NULL) == FJ_INVALID_ARGUMENT);
  CHECK(parallel_for(0, 1, -7, mark, NULL) == FJ_INVALID_ARGUMENT);
  CHECK(strstr(last_error(), "-7"));
  CHECK(go(NULL, NULL, &fiber) == FJ_INVALID_ARGUMENT);
  CHECK(wait_for(NULL) == FJ_INVALID_ARGUMENT);
  CHECK(blocking(NULL, NULL) == FJ_INVALID_ARGUMENT);
  CHECK(run(throw_text, "what it said") == FJ_THROWN);
  CHECK(strcmp(last_error(), "what it said") == 0);
  CHECK(run(throw_number, NULL) == FJ_THROWN);
  CHECK(strcmp(last_error(), "an exception of type int") == 0);
  CHECK(run(throw_bad_alloc, NULL) == FJ_THROWN);  /* theirs, not the library's */
  CHECK(fork_join(throw_text, "first", throw_text, "second") == FJ_THROWN);
  CHECK(strcmp(last_error(), "first") == 0);
  CHECK(parallel_for(0, 1000, 0, throw_in_block, "from a block") == FJ_THROWN);
  CHECK(strcmp(last_error(), "from a block") == 0);
  CHECK(parallel_for(0, 1000, 10, throw_in_block, "from a block") == FJ_THROWN);
  CHECK(blocking(throw_text, "from a blocking call") == FJ_THROWN);
  CHECK(strcmp(last_error(), "from a blocking call") == 0);
  memset(longer, 'x', sizeof(longer));
  longer[sizeof(longer) - 1] = 0;
  CHECK(run(throw_text, longer) == FJ_THROWN);
  CHECK(strlen(last_error()) == 255);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_OTHER_MALLOC
#endif
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(HAS_OTHER_MALLOC)
void *__libc_malloc(size_t size);
static int refuses = 0, refused = 0;
void *malloc(size_t size) {
  if (refuses && size == 256) {
    ++refused;
    return NULL;
  }
  return __libc_malloc(size);
}

/* The first failures of a thread, without memory for a message and with it. Tried without the sentence: the message is
   empty. */
static void *check_without_memory(void *ignored) {
  refuses = 1;
  CHECK(blocking(throw_text, "not kept") == FJ_THROWN);
  refuses = 0;
  if (refused) CHECK(strstr(last_error(), "no memory")); /* valgrind has a malloc of its own */
  CHECK(blocking(NULL, NULL) == FJ_INVALID_ARGUMENT);
  CHECK(strstr(last_error(), "fj_blocking: the function is a null pointer"));
  CHECK(blocking(throw_text, "kept") == FJ_THROWN);
  CHECK(strcmp(last_error(), "kept") == 0);
  return ignored;
}
#else
static void *check_without_memory(void *ignored) { return ignored; }
#endif

static void check_all(void *ignored) {
  struct fib f;
  f.n = 20;
  fib(&f);
  CHECK(f.value == 6765);
  check_loops(ignored);
  check_fibers(ignored);
  check_errors(ignored);
}

static void check_options(void) {
  struct {
    fj_options known;
    int64_t later;
  } newer;
  memset(&newer, 0, sizeof(newer));
  CHECK(set_options(NULL) == FJ_INVALID_ARGUMENT);
  CHECK(set_options(&newer.known) == FJ_INVALID_ARGUMENT);  /* no size */
  CHECK(strstr(last_error(), "sizeof"));
  newer.known.size = sizeof(newer);
  newer.later = 1;
  CHECK(set_options(&newer.known) == FJ_INVALID_ARGUMENT);
  CHECK(strstr(last_error(), "does not know"));
  newer.later = 0;
  newer.known.reserved = 1;
  CHECK(set_options(&newer.known) == FJ_INVALID_ARGUMENT);
  newer.known.reserved = 0;
  newer.known.procs = 1000000;
  CHECK(set_options(&newer.known) == FJ_INVALID_ARGUMENT);
  CHECK(strstr(last_error(), "1000000"));
  newer.known.procs = 8;
  CHECK(set_options(&newer.known) == FJ_OK);
}

int main(void) {
  int inside = 0;
  pthread_t other;
  CHECK(strcmp(last_error(), "") == 0);
  check_options();
  CHECK(procs() == 8);
  CHECK(set_options(&(fj_options){sizeof(fj_options), 0, 0, 4, 0, 0, 0}) == FJ_TOO_LATE || procs() == 8);
  CHECK(this_proc() == -1);
  yield();
  CHECK(run(is_inside, &inside) == FJ_OK);
  CHECK(inside);
  CHECK(blocking(is_inside, &inside) == FJ_OK);
  CHECK(!inside);
  check_all(NULL);  /* each call enters the runtime */
  CHECK(run(check_all, NULL) == FJ_OK);
  CHECK(pthread_create(&other, NULL, check_without_memory, NULL) == 0 && pthread_join(other, NULL) == 0);
  return 0;
}

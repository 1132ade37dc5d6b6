/* Recursive forks in C: each call forks, whatever the size. */
#include <forkjoin/forkjoin.h>
#include <stdio.h>
#include <stdlib.h>

struct fib {
  int n;
  long value;
};

static void fib(void *context) {
  struct fib *mine = context, a = {mine->n - 1, 0}, b = {mine->n - 2, 0};
  mine->value = mine->n;
  if (mine->n < 2) return;
  if (fj_fork_join(fib, &a, fib, &b) != FJ_OK) abort();
  mine->value = a.value + b.value;
}

int main(void) {
  struct fib all = {25, 0};
  if (fj_run(fib, &all) != FJ_OK) {
    fprintf(stderr, "%s\n", fj_last_error());
    return 1;
  }
  printf("fib(%d) = %ld\n", all.n, all.value);
  return 0;
}

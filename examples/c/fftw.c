/* FFTW's threads are this library's Ps: many transforms at once, in a loop, and each of them parallel inside. */
#include <fftw3.h>
#include <forkjoin/forkjoin.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct jobs {
  void *(*work)(char *);
  char *data;
  size_t size;
};

static void run_jobs(int64_t begin, int64_t end, void *context) {
  const struct jobs *all = context;
  for (; begin < end; ++begin) all->work(all->data + (size_t)begin * all->size);
}

static void run_all(void *(*work)(char *), char *data, size_t size, int count, void *ignored) {
  struct jobs all = {work, data, size};
  (void)ignored;
  if (fj_parallel_for(0, count, 1, run_jobs, &all) != FJ_OK) abort();
}

enum { transforms = 16, length = 1 << 15 };

struct plan {
  fftw_plan forth, back;
  fftw_complex *at;
};

static void transform(int64_t begin, int64_t end, void *context) {
  const struct plan *plans = context;
  for (; begin < end; ++begin) {
    fftw_execute(plans[begin].forth);
    fftw_execute(plans[begin].back);
  }
}

int main(void) {
  struct plan plans[transforms];
  double worst = 0;
  int i, k;
  if (!fftw_init_threads()) return 1;
  fftw_threads_set_callback(run_all, NULL);
  fftw_plan_with_nthreads(4); /* parts of a transform */
  for (i = 0; i < transforms; ++i) {
    fftw_complex *at = plans[i].at = fftw_malloc(length * sizeof(fftw_complex));
    plans[i].forth = fftw_plan_dft_1d(length, at, at, FFTW_FORWARD, FFTW_ESTIMATE);
    plans[i].back = fftw_plan_dft_1d(length, at, at, FFTW_BACKWARD, FFTW_ESTIMATE);
    for (k = 0; k < length; ++k) at[k][0] = k % 100 + i, at[k][1] = 0;
  }
  if (fj_parallel_for(0, transforms, 1, transform, plans) != FJ_OK) {
    fprintf(stderr, "%s\n", fj_last_error());
    return 1;
  }
  for (i = 0; i < transforms; ++i) {
    for (k = 0; k < length; ++k) {
      const double error = fabs(plans[i].at[k][0] / length - (k % 100 + i)) + fabs(plans[i].at[k][1] / length);
      if (error > worst) worst = error;
    }
    fftw_destroy_plan(plans[i].forth);
    fftw_destroy_plan(plans[i].back);
    fftw_free(plans[i].at);
  }
  printf("%s after %d transforms there and back\n", worst < 1e-9 ? "right" : "wrong", transforms);
  return worst < 1e-9 ? 0 : 1;
}

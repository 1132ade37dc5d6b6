/* Fork/join for C, and for languages that call C. The default runtime of <forkjoin/forkjoin.hpp> runs it all, so C,
 * C++, Fortran and Python in one process share its Ps: as many threads compute as there are Ps, whichever language
 * calls.
 *
 * A function that can fail returns a fj_status, which FJ_OK is not. fj_last_error then has a sentence. No exception
 * leaves these functions; what a C++ function that they call throws arrives as FJ_THROWN. It passes through C functions
 * only if those have been compiled with unwind tables (-fexceptions; on x86-64 and 64-bit Arm they are the default).
 *
 * A function that these call ends by returning or by a C++ exception: not by longjmp, pthread_exit or the cancellation
 * of its thread, also outside of the runtime.
 *
 * What is said of fibers, Ps and stacks in the guide holds here: what runs in the runtime may change its thread at each
 * of these calls. So read errno where it was set: inside the function of fj_blocking, for example.
 */
#ifndef FORKJOIN_FORKJOIN_H
#define FORKJOIN_FORKJOIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define FORKJOIN_NOEXCEPT noexcept
extern "C" {
#else
#define FORKJOIN_NOEXCEPT
#endif

typedef int32_t fj_status;
enum {
  FJ_OK = 0,
  FJ_INVALID_ARGUMENT = 1, /* also a null pointer for a function, or an environment variable; nothing has run */
  FJ_NO_MEMORY = 2,        /* for a stack or a fiber */
  FJ_NO_THREAD = 3,        /* the system refuses the thread without which nothing could run, or the file of a trace */
  FJ_TOO_LATE = 4,         /* the runtime exists already, or takes no calls of this thread (FORKJOIN_SCHEDULE) */
  FJ_THROWN = 5            /* by a function that was called */
};

/* What the last of these functions that failed on this thread has to say, in English, of at most 255 bytes; "" if none
 * has. Read it before the next call of the library: then this strand may be on another thread. The first failure of a
 * thread may allocate memory for it; if there is none, the sentence says that. The end of the thread frees it. */
const char* fj_last_error(void) FORKJOIN_NOEXCEPT;

/* Options of the default runtime. 0 everywhere: as the environment says, else the library's choice. A program that was
 * compiled with an earlier version of this header has a smaller struct, which means 0 for what came since. */
typedef struct fj_options {
  size_t size;          /* sizeof(fj_options) */
  size_t stack_size;    /* bytes for each fiber, not touched before use */
  size_t go_stack_size; /* for each fiber of fj_go */
  uint32_t procs;       /* how many strands run at once, at most 4,096 */
  uint32_t max_workers; /* threads that the runtime may start */
  int32_t stats;        /* not 0: the runtime prints its statistics when it ends */
  int32_t reserved;     /* 0 */
} fj_options;

/* Before the first other call that enters the default runtime. FJ_INVALID_ARGUMENT (also a null pointer, a size that
 * no version has, an option that is set and that this version does not know), FJ_TOO_LATE. A child of fork(2) has a
 * default runtime of its own, with the same options. */
fj_status fj_set_options(const fj_options* wanted) FORKJOIN_NOEXCEPT;

/* Calls call(context) inside the runtime and returns when it is done. From outside it takes some microseconds; inside
 * it is a plain call. FJ_INVALID_ARGUMENT (an environment variable), FJ_NO_MEMORY, FJ_NO_THREAD, FJ_TOO_LATE,
 * FJ_THROWN. So with the functions below that enter the runtime from outside. */
fj_status fj_run(void (*call)(void* context), void* context) FORKJOIN_NOEXCEPT;

/* Calls both, possibly in parallel, and returns when both are done. If both throw, the first one's message counts. */
fj_status fj_fork_join(void (*first)(void* context), void* first_context, void (*second)(void* context),
                       void* second_context) FORKJOIN_NOEXCEPT;

/* Calls body(begin, end, context) for blocks, none of them empty, that together make up [first, last), possibly in
 * parallel. Each but the last has `grain` elements; 0: each strand finds the size by the clock. If blocks throw, the
 * first one's message counts, and blocks after it may not have run. No block, and FJ_OK, if last <= first.
 * FJ_INVALID_ARGUMENT also for a grain below 0. */
fj_status fj_parallel_for(int64_t first, int64_t last, int64_t grain,
                          void (*body)(int64_t begin, int64_t end, void* context), void* context) FORKJOIN_NOEXCEPT;

/* Starts a fiber of its own that calls call(context). *started is for one call of fj_wait, which must come; after a
 * failure it is as before. A null pointer in place of `started`: no caller waits for the fiber; then what it throws
 * ends the program, with its message. */
typedef struct fj_fiber fj_fiber;
fj_status fj_go(void (*call)(void* context), void* context, fj_fiber** started) FORKJOIN_NOEXCEPT;

/* Waits until the fiber has ended, and frees it. Inside the runtime the worker does other work meanwhile. FJ_THROWN if
 * the fiber has thrown. FJ_NO_MEMORY if there is none for the wait: the fiber then goes on, and no caller waits for it;
 * what it throws ends the program, without its message. */
fj_status fj_wait(fj_fiber* started) FORKJOIN_NOEXCEPT;

/* Lets other fibers go first; outside of the runtime other threads. */
void fj_yield(void) FORKJOIN_NOEXCEPT;

/* Calls call(context), which may block its thread: a system call, a lock that threads share, a library with threads of
 * its own. If it lasts, another thread takes over the P. Inside of `call` the thread is outside of the runtime. From
 * outside it is a plain call. FJ_THROWN. */
fj_status fj_blocking(void (*call)(void* context), void* context) FORKJOIN_NOEXCEPT;

/* How many Ps the runtime has, as many or fewer of which run strands at a time; 0 and a message if it cannot be made.
 * */
int32_t fj_procs(void) FORKJOIN_NOEXCEPT;

/* The P that this code runs on, from 0 to fj_procs() - 1, which no other strand has at the same time; -1 outside of the
 * runtime. After each call of the library it may be another. */
int32_t fj_this_proc(void) FORKJOIN_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#undef FORKJOIN_NOEXCEPT

#endif

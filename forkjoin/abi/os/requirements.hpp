// The library's requirements on compilers and standard libraries. If one is not met, a single #error line names it, and
// the include of a file that does not exist ends the compilation: after an #error alone g++ goes on, and prints
// thousands of lines. So every header that programs include begins with this one.
#pragma once

#if defined(__clang__) ? __clang_major__ < 16 : __GNUC__ < 12
#error "forkjoin needs g++ 12, clang 16, or a later version of them"
#include <the compilation ends here, because of the error above>
#endif

// Before anything of the C library is included, which is often installed for 64 bits alone.
#if __SIZEOF_POINTER__ < 8
#error "forkjoin needs a 64-bit processor, and programs compiled for it: without -m32, -mx32 or the like"
#include <the compilation ends here, because of the error above>
#endif

#if __cplusplus < 202002L
#error "forkjoin needs C++20: compile with -std=c++20 or later"
#include <the compilation ends here, because of the error above>
#endif

#if !defined(__cpp_exceptions)
#error "forkjoin needs exceptions: compile without -fno-exceptions"
#include <the compilation ends here, because of the error above>
#endif

// These serial builds have an observer: forkjoin/serial/observer.hpp.
#if defined(FORKJOIN_RACES) && defined(FORKJOIN_PROFILE)
#error "forkjoin: a program looks for races or is profiled, but not both at once"
#include <the compilation ends here, because of the error above>
#endif

#if (defined(FORKJOIN_RACES) || defined(FORKJOIN_PROFILE)) && !defined(FORKJOIN_SERIAL)
#define FORKJOIN_SERIAL
#endif

#if defined(FORKJOIN_RACES) && !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#if !defined(__SANITIZE_THREAD__)
#error "forkjoin: FORKJOIN_RACES needs -fsanitize=thread; pkg-config --cflags forkjoin-races has all flags"
#include <the compilation ends here, because of the error above>
#endif
#endif

#if defined(FORKJOIN_RACES) && defined(_FORTIFY_SOURCE) && _FORTIFY_SOURCE > 0
#error "forkjoin: with _FORTIFY_SOURCE the race detector does not see memset and its kin: add -U_FORTIFY_SOURCE"
#include <the compilation ends here, because of the error above>
#endif

#include <version>

#if !defined(__cpp_lib_jthread)
#error "forkjoin needs std::stop_token: with libc++ before version 20, compile with -fexperimental-library"
#include <the compilation ends here, because of the error above>
#endif

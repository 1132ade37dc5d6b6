// The library's requirements on compilers and standard libraries. If one is not met, a single #error line names it.
#pragma once

#include <version>

#if !defined(__cpp_exceptions)
#error "forkjoin needs exceptions: compile without -fno-exceptions"
#endif

#if !defined(__cpp_lib_jthread)
#error "forkjoin needs std::stop_token: with libc++ before version 20, compile with -fexperimental-library"
#endif

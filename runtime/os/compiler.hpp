// What the library asks of compilers and their libraries, said in one line each where it is missing.
#pragma once

#include <version>

#if !defined(__cpp_exceptions)
#error "forkjoin needs exceptions: compile without -fno-exceptions"
#endif

#if !defined(__cpp_lib_jthread)
#error "forkjoin needs std::stop_token: with libc++ before version 20, compile with -fexperimental-library"
#endif

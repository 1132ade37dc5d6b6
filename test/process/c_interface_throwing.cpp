// What the functions throw that c_interface_test.c passes to the library.
#include <forkjoin/forkjoin.h>

#include <new>
#include <stdexcept>

extern "C" void throw_text(void* text) { throw std::runtime_error(static_cast<const char*>(text)); }
extern "C" void throw_number(void*) { throw 7; }
extern "C" void throw_bad_alloc(void*) { throw std::bad_alloc(); }

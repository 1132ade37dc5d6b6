// What clients and server send each other: the same bytes there and back, but for the sum, which the server fills in.
#pragma once

#include <array>
#include <cstdint>

struct message {
  std::array<std::uint32_t, 1000> numbers;
  std::uint64_t sum = 0;
};
static_assert(sizeof(message) == 4008, "Go's program counts the bytes by itself");

// The clients, a program of one thread: load.cpp. Returns the exit status.
int run_load(int argc, char** argv);

// The standard headers that take longest to compile, compiled once for all sources of the library. No source includes
// this file: each source includes what it uses, and ./dev test --all compiles some variants without this file.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

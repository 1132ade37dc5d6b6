#include "forkjoin/abi/descriptor.hpp"

#include <cerrno>
#include <system_error>

#include "forkjoin/abi/maybe_yield.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/os/io/io.hpp"
#include "runtime/wait/descriptors/operation.hpp"
#include "runtime/wait/descriptors/watched.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

template <class Attempt>
io_end operate(watched* d, io_way way, const wait_limits& limits, Attempt attempt) {
  maybe_yield();
  if (!d) return {.error = EBADF};
  return operation::run(*d, way, attempt, [&](std::uint32_t seen) { return d->wait(way, seen, limits); });
}

// EAGAIN: neither.
os::io look(int number, io_way way) noexcept {
  if (number < 0) return {.error = EBADF};
  const auto found = os::poll_descriptor(number, way == io_way::writing, -1, 0);
  return {.error = found.error == 0 && found.what == os::polled::nothing ? EAGAIN : found.error};
}

}  // namespace

watched& open_descriptor(int number) {
  const int error = os::make_nonblocking(number);
  if (error != 0) throw std::system_error(error, std::system_category(), "fj::descriptor");
  return watched::take(number, watched::number_is::owned);
}

void close_descriptor(watched& d) noexcept { d.close(); }
void drop_descriptor(watched& d) noexcept { d.drop(); }
int number_of(const watched& d) noexcept { return d.is_closed() ? -1 : d.number(); }

io_end read_from(watched* d, void* into, std::size_t size, const wait_limits& limits) {
  return operate(d, io_way::reading, limits, [=] { return os::read_some(d->number(), into, size); });
}

io_end write_to(watched* d, const void* from, std::size_t size, const wait_limits& limits) {
  std::size_t written = 0;
  io_end end = operate(d, io_way::writing, limits, [&]() -> os::io {
    do {
      const os::io some =
          os::write_some(d->number(), static_cast<const char*>(from) + written, size - written, d->is_socket());
      if (some.error != 0) return some;
      if (some.result == 0 && size > 0) return {.error = EIO};
      written += some.result;
    } while (written < size);
    return {};
  });
  end.count = written;
  return end;
}

watched* accept_from(watched* d, const wait_limits& limits, io_end& end) {
  end = operate(d, io_way::reading, limits, [=] { return os::accept_one(d->number()); });
  if (end.failed()) return nullptr;
  os::owned_descriptor accepted(static_cast<int>(end.count));
  watched& made = watched::take(accepted.number(), watched::number_is::owned);
  accepted.release();
  return &made;
}

io_end connect_to(watched* d, const ::sockaddr* address, std::size_t length, const wait_limits& limits) {
  bool begun = false;
  int refused = 0;  // at once; EAGAIN is a refusal, too: a local socket's queue is full, and no event tells of its room
  io_end end = operate(d, io_way::writing, limits, [&]() -> os::io {
    const int error = begun ? os::end_connect(d->number()) : os::begin_connect(d->number(), address, length);
    if (error == EINPROGRESS) {
      begun = true;
      return {.error = EAGAIN};
    }
    if (!begun) refused = error;
    return {.error = begun ? error : 0};
  });
  if (refused != 0) end.error = refused;
  return end;
}

io_end wait_until_ready(watched* d, io_way way, const wait_limits& limits) {
  return operate(d, way, limits, [=] { return look(d->number(), way); });
}

io_end wait_until_ready(int number, io_way way, const wait_limits& limits) {
  maybe_yield();
  const os::io found = look(number, way);
  if (found.error != EAGAIN) return {.error = found.error};
  if (!current_worker()) return wait_outside(number, way, nullptr, limits);
  struct borrowed {
    watched& entry;
    ~borrowed() { entry.drop(); }
  } const here{watched::take(number, watched::number_is::borrowed)};
  // The first edge tells what was there when the poller began to watch.
  return here.entry.wait(way, here.entry.edges(way), limits);
}

}}}  // namespace fj::v0_4::detail

// An end of a channel goes one way, and leads back to no channel. The cases are those of perm.go of Go's tests.
// expect: no member named 'send'
// expect: no member named 'try_send'
// expect: no member named 'receive'
// expect: no member named 'try_receive'
// expect: no member named 'close'
// expect: 'begin'
// expect: // this handle only sends
// expect: // this handle only receives
// expect: conversion from 'fj::

#include <optional>

#include "forkjoin/go.hpp"

int main() {
  const fj::channel<int> c(1);
  fj::receive_channel<int> in = c;
  fj::send_channel<int> out = c;
#ifdef FIXED
  out.send(1);
  static_cast<void>(out.try_send(1));
  static_cast<void>(in.receive());
  static_cast<void>(in.try_receive());
  for (const int each : in) static_cast<void>(each);
  out.close();
  fj::select(fj::on_receive(in, [](std::optional<int>) {}), fj::on_send(out, 1, [] {}));
  const fj::channel<int> whole = c;
#else
  in.send(1);
  static_cast<void>(in.try_send(1));
  static_cast<void>(out.receive());
  static_cast<void>(out.try_receive());
  for (const int each : out) static_cast<void>(each);
  in.close();
  static_cast<void>(fj::on_receive(out, [](std::optional<int>) {}));
  static_cast<void>(fj::on_send(in, 1, [] {}));
  const fj::channel<int> from_in = in, from_out = out;
  const fj::send_channel<int> turned = in;
#endif
}

// A pool of objects that are dear to make, such as connections: a channel holds those that are free. A borrower waits
// for one, and a handle gives it back, also after an exception.

#include <cstddef>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <iostream>
#include <memory>
#include <vector>

template <class T>
class object_pool {
 public:
  explicit object_pool(std::size_t count) : objects_(count), free_(count) {
    for (T& each : objects_) free_.send(&each);
  }

  auto borrow(fj::wait_options options = {}) {
    // The channel has room for every object, so try_send succeeds without a wait, as a destructor must.
    const auto give_back = [this](T* object) { static_cast<void>(free_.try_send(object)); };
    return std::unique_ptr<T, decltype(give_back)>(*free_.receive(options), give_back);
  }

 private:
  std::vector<T> objects_;
  fj::channel<T*> free_;
};

struct connection {
  long requests = 0;  // no lock: one strand alone has the object
};

int main() {
  object_pool<connection> pool(3);
  fj::parallel_for(0, 1'000, [&](int) { ++pool.borrow()->requests; });
  auto a = pool.borrow(), b = pool.borrow(), c = pool.borrow();
  std::cout << a->requests + b->requests + c->requests << " requests\n";
}

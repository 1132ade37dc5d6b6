// A scope that walks a tree of folders: one scope for the whole walk, into which every visit forks.
//
// Idle workers steal the true continuation: the rest of the loop over a folder's entries, at any depth.

#include <atomic>
#include <forkjoin/forkjoin.hpp>
#include <iostream>
#include <string>
#include <vector>

struct folder {
  std::string name;
  std::vector<long> files;  // their sizes in bytes
  std::vector<folder> folders;
};

// Some folders with some files each, as deep as `depth`.
folder make_tree(const std::string& name, int depth) {
  folder made{name, {}, {}};
  for (int i = 0; i < 10; ++i) made.files.push_back(1000 * depth + i);
  for (int i = 0; depth > 0 && i < 4; ++i) made.folders.push_back(make_tree(name + '/' + std::to_string(i), depth - 1));
  return made;
}

struct totals {
  std::atomic<long> folders{0}, files{0}, bytes{0};
};

void visit(fj::scope& walk, const folder& here, totals& sum) {
  for (const folder& inner : here.folders) walk.fork([&walk, &inner, &sum] { visit(walk, inner, sum); });
  long bytes = 0;
  for (const long size : here.files) bytes += size;
  sum.folders += 1;
  sum.files += static_cast<long>(here.files.size());
  sum.bytes += bytes;
}

int main() {
  const folder root = make_tree("root", 6);
  totals sum;
  fj::with_scope([&](fj::scope& walk) { visit(walk, root, sum); });
  std::cout << sum.folders << " folders, " << sum.files << " files, " << sum.bytes << " bytes\n";
}

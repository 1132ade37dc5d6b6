#include "bench/steps/chooser.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace steps {

script parse_script(const std::string& text, unsigned procs) {
  script words;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream row(line.substr(0, line.find('#')));
    for (std::string word; row >> word;) {
      words.emplace_back();
      std::istringstream numbers(word);
      for (std::string number; std::getline(numbers, number, '+');) {
        const bool is_number = !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
        const unsigned long proc = is_number && number.size() < 4 ? std::stoul(number) : 0;
        if (proc < 1 || proc > procs)
          throw std::invalid_argument("the script has \"" + word + "\"; write numbers of Ps from 1 to " +
                                      std::to_string(procs) + ", with a + between those that share a row");
        words.back().push_back(static_cast<unsigned>(proc - 1));
      }
    }
  }
  return words;
}

// What the worker has done that gives its turn up, if it shows.
void chooser::look() {
  stage::change seen = stage_.look(acting_);
  if (seen.events.empty()) return;
  std::string sentence = acting_ == stage::none ? "" : "T" + std::to_string(acting_ + 1) + " ";
  for (std::size_t i = 0; i != seen.events.size(); ++i)
    sentence += (i == 0 ? "" : i + 1 == seen.events.size() ? " and " : ", ") + seen.events[i];
  if (in_word_ == 0 || rows_.empty()) rows_.emplace_back();
  rows_.back().what.push_back(std::move(sentence));
  rows_.back().procs = std::move(seen.now);
  if (word_ < script_.size() && ++in_word_ == script_[word_].size()) in_word_ = 0, ++word_;
  acting_ = stage::none;
}

bool chooser::can_act(const taker& t) const {
  return t.can_go_on() && stage_.proc_of(t.number) != stage::none &&
         (stage_.runs_strand(t.number) || stage_.anything_to_take());
}

chooser::taker* chooser::of_proc(taker& first, unsigned proc) const {
  for (taker* t = &first; t; t = t->next)
    if (t->can_go_on() && stage_.proc_of(t->number) == proc) return t;
  return nullptr;
}

// A thread that begins, or is about to take a P or has given it up. In turn with the others, as it may wait for one of
// them.
chooser::taker* chooser::between_procs(taker& first) {
  if (++turn_ % 16 == 0) return nullptr;
  for (taker* t = &first; t; t = t->next)
    if (t->can_go_on() && stage_.proc_of(t->number) == stage::none) return t;
  return nullptr;
}

chooser::taker& chooser::any(taker& first) {
  std::vector<taker*> all;
  for (taker* t = &first; t; t = t->next)
    if (t->can_go_on()) all.push_back(t);
  return *all[++turn_ % all.size()];
}

unsigned chooser::pick(taker& first) {
  std::vector<unsigned> procs;
  for (taker* t = &first; t; t = t->next)
    if (can_act(*t)) procs.push_back(stage_.proc_of(t->number));
  if (procs.empty()) return stage::none;
  if (word_ == script_.size()) return procs[dice_() % procs.size()];
  const unsigned wanted = script_[word_][in_word_];
  if (std::ranges::find(procs, wanted) != procs.end()) return wanted;
  std::fprintf(stderr, "steps: in row %zu the script names T%u, which has nothing to do; these have:", rows_.size(),
               wanted + 1);
  for (const unsigned proc : procs) std::fprintf(stderr, " T%u", proc + 1);
  std::fprintf(stderr, "\n");
  std::exit(2);
}

chooser::taker& chooser::choose(taker& first) noexcept {
  stage_.note_thread();
  if (!shows_) return any(first);
  const taker* const giver = fj::detail::os::turns::self();
  if (giver && acting_ != stage::none && stage_.proc_of(giver->number) == acting_) look();
  if (taker* const t = between_procs(first)) return *t;
  // A worker that finds nothing any more has no row of its own.
  taker* acts = acting_ == stage::none ? nullptr : of_proc(first, acting_);
  if (!acts || !can_act(*acts)) {
    acting_ = pick(first);
    acts = acting_ == stage::none ? nullptr : of_proc(first, acting_);
  }
  return acts ? *acts : any(first);
}

}  // namespace steps

// The list of delayed sends against a plain vector.
#include "mpi/delayed_sends.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <vector>

namespace contend {
namespace {

TEST_CASE("delayed sends: random changes leave what a plain list has", "[mpi][delayed]") {
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  for (const std::size_t connections : {std::size_t{1}, std::size_t{2}, std::size_t{5}}) {
    DelayedSends sends;
    std::vector<DelayedSend> plain;
    for (int step = 0; step < 3000; ++step) {
      const std::size_t what = below(8);
      if (what < 4 || plain.empty()) {
        DelayedSend send;
        send.instance = static_cast<int>(below(connections));
        send.envelope.tag = step;
        sends.push_back(send);
        plain.push_back(send);
      } else if (what < 7) {
        const std::size_t position = below(plain.size());
        sends.erase(position);
        plain.erase(plain.begin() + static_cast<std::ptrdiff_t>(position));
      } else {
        sends.reverse();
        std::reverse(plain.begin(), plain.end());
      }
      REQUIRE(sends.size() == plain.size());
      REQUIRE(sends.empty() == plain.empty());
      for (std::size_t i = 0; i < plain.size(); ++i) {
        REQUIRE(sends[i].envelope.tag == plain[i].envelope.tag);
      }
      if (!plain.empty()) {
        const std::size_t begin = below(plain.size());
        const auto other = std::find_if(plain.begin() + static_cast<std::ptrdiff_t>(begin), plain.end(),
                                        [&](const DelayedSend& send) { return !send.same_connection(plain[begin]); });
        REQUIRE(sends.end_of_connection(begin) == static_cast<std::size_t>(other - plain.begin()));
      }
    }
  }
}

} // namespace
} // namespace contend

// The fuzzer's entry over its corpus and over a fixed number of mutations, so that every build runs it.
#include "fuzz_entry.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace contend;

namespace {

std::vector<std::string> corpus() {
  std::vector<std::filesystem::path> files;
  for (const char* directory : {"corpus", "valid", "bad"}) {
    for (const auto& entry : std::filesystem::directory_iterator(test::data_directory() / directory))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end()); // directories list their files in no particular order
  std::vector<std::string> texts;
  for (const auto& file : files)
    texts.push_back(test::slurp(file));
  return texts;
}

/// Changes a few places: overwrite, insert, delete, repeat a piece, or a token that tends to hurt.
std::string mutated(std::string text, std::mt19937_64& random) {
  static const std::vector<std::string> tokens{"null",
                                               "-1",
                                               "1e999",
                                               "18446744073709551616",
                                               "{}",
                                               "[]",
                                               "\"\"",
                                               "{",
                                               "}",
                                               "\"value\":",
                                               "\"extends\":",
                                               "\\u0000",
                                               "\xff",
                                               "\"1e308 GB/s\"",
                                               "\"0 ns\"",
                                               "{\"from\":1,\"to\":1000000,\"step\":1}",
                                               "true",
                                               ",",
                                               ":",
                                               "0.5"};
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random() % n); };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t place = below(text.size() + 1);
    switch (random() % 5) {
    case 0:
      if (place < text.size())
        text[place] = static_cast<char>(random() & 0xffU);
      break;
    case 1:
      text.insert(place, 1, static_cast<char>(random() & 0x7fU));
      break;
    case 2:
      text.erase(place, 1 + below(20));
      break;
    case 3:
      text.insert(place, text.substr(below(text.size() + 1), below(40)));
      break;
    default:
      text.insert(place, tokens[below(tokens.size())]);
      break;
    }
  }
  return text;
}

} // namespace

TEST_CASE("the corpus leaves the loader sound", "[scenario][fuzz]") {
  std::size_t loaded = 0;
  for (const std::string& text : corpus())
    loaded += test::exercise_loader(text) ? 1U : 0U;
  CHECK(loaded >= 5);
}

TEST_CASE("mutated inputs leave the loader sound", "[scenario][fuzz]") {
  const std::vector<std::string> texts = corpus();
  std::mt19937_64 random(20190501);
  std::size_t loaded = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string& seed = texts[static_cast<std::size_t>(random() % texts.size())];
    if (seed.size() > 20'000)
      continue; // the oversized ones are slow and differ only in size
    loaded += test::exercise_loader(mutated(seed, random)) ? 1U : 0U;
  }
  CHECK(loaded > 0); // otherwise the mutations would only test the JSON parser
}

// Names of interchangeable parts. A part registers a factory under the name that scenarios use.
#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// Factories by name, in alphabetical order. Filled before the first simulation and constant from then on.
template <typename Factory>
class Registry {
public:
  using Entries = std::map<std::string, Factory, std::less<>>;

  Registry(std::initializer_list<typename Entries::value_type> entries) : entries_(entries) {}

  /// Adds a part; throws std::logic_error when the name is taken.
  void add(std::string name, Factory factory) {
    if (!entries_.emplace(std::move(name), std::move(factory)).second) {
      throw std::logic_error("a part with this name is registered already");
    }
  }

  /// Throws std::out_of_range for an unknown name (scenarios are checked against names() when they are loaded).
  [[nodiscard]] const Factory& at(std::string_view name) const {
    const auto entry = entries_.find(name);
    if (entry == entries_.end()) {
      throw std::out_of_range("no part is called '" + std::string(name) + "'");
    }
    return entry->second;
  }

  [[nodiscard]] bool contains(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& [name, factory] : entries_) {
      result.push_back(name);
    }
    return result;
  }

private:
  Entries entries_;
};

} // namespace contend

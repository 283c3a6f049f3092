// Names of interchangeable parts. A part registers a factory under the name that scenarios use.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// How a part is made, and what it says of itself to those who know its name only, such as the checks of scenarios. Called,
/// it makes one.
template <typename Product, typename Traits, typename... Arguments>
class PartFactory {
public:
  using Make = std::unique_ptr<Product> (*)(Arguments...);

  /// A function that makes the part. Without traits it says what their defaults say.
  // Registries take functions. NOLINTNEXTLINE(google-explicit-constructor)
  constexpr PartFactory(Make make, const Traits& traits = {}) : make_(make), traits_(traits) {}

  /// The factory of a class, which says what its static member `traits` says: its own, or that of the base class.
  template <typename Kind>
  [[nodiscard]] static constexpr PartFactory of() {
    return {[](Arguments... arguments) -> std::unique_ptr<Product> {
              return std::make_unique<Kind>(std::forward<Arguments>(arguments)...);
            },
            Kind::traits};
  }

  std::unique_ptr<Product> operator()(Arguments... arguments) const {
    return make_(std::forward<Arguments>(arguments)...);
  }
  [[nodiscard]] constexpr const Traits& traits() const { return traits_; }

private:
  Make make_;
  Traits traits_;
};

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
  /// Those that say `trait` of themselves, a member of the traits that is a bool (for registries of PartFactory).
  template <typename Traits>
  [[nodiscard]] std::vector<std::string> names_with(bool Traits::*trait) const {
    std::vector<std::string> result;
    for (const auto& [name, factory] : entries_) {
      if (factory.traits().*trait) {
        result.push_back(name);
      }
    }
    return result;
  }

private:
  Entries entries_;
};

} // namespace contend

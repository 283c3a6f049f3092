#include "scenario/node.hpp"

#include <algorithm>
#include <utility>

namespace contend::scenario {

const Node* Node::find(std::string_view key) const {
  const auto place = std::find(keys.begin(), keys.end(), key);
  return place == keys.end() ? nullptr : &items[static_cast<std::size_t>(place - keys.begin())];
}

Node* Node::find(std::string_view key) {
  const auto place = std::find(keys.begin(), keys.end(), key);
  return place == keys.end() ? nullptr : &items[static_cast<std::size_t>(place - keys.begin())];
}

void Node::set(std::string_view key, Node value) {
  if (Node* present = find(key)) {
    *present = std::move(value);
    return;
  }
  keys.emplace_back(key);
  items.push_back(std::move(value));
}

void Node::erase(std::string_view key) {
  const auto place = std::find(keys.begin(), keys.end(), key);
  if (place == keys.end())
    return;
  items.erase(items.begin() + (place - keys.begin()));
  keys.erase(place);
}

Node Node::object(SourcePointer source, int line) {
  Node node;
  node.kind = Kind::object;
  node.source = std::move(source);
  node.line = line;
  return node;
}

Node Node::string(std::string text, SourcePointer source, int line) {
  Node node;
  node.kind = Kind::string;
  node.text = std::move(text);
  node.source = std::move(source);
  node.line = line;
  return node;
}

std::string found(const Node& node) {
  constexpr std::size_t longest_number = 60;
  switch (node.kind) {
  case Node::Kind::null:
    return "null";
  case Node::Kind::boolean:
    return node.boolean ? "true" : "false";
  case Node::Kind::integer:
    return node.text;
  case Node::Kind::real:
    if (node.written.empty())
      return node.text;
    return node.written.size() > longest_number ? node.written.substr(0, longest_number) + "..." : node.written;
  case Node::Kind::string:
    return excerpt(node.text);
  case Node::Kind::array:
    return "an array";
  case Node::Kind::object:
    return "an object";
  }
  return "?";
}

std::string child_pointer(std::string_view pointer, std::string_view key) {
  std::string result(pointer);
  result += '/';
  for (const char c : key) {
    if (c == '~')
      result += "~0";
    else if (c == '/')
      result += "~1";
    else
      result += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return result;
}

Diagnostic at(const Node& node, std::string pointer, std::string message) {
  // The line within an argument of the command line says nothing.
  const int line = node.source && node.source->command_line ? 0 : node.line;
  return {node.source ? node.source->file : std::string(), line, std::move(pointer), std::move(message)};
}

} // namespace contend::scenario

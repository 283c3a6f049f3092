#include "scenario/json_source.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

namespace contend::scenario {

namespace {

constexpr std::size_t bytes_per_mebibyte = 1'048'576;

/// Hands characters to the parser and counts them, because nlohmann's SAX interface does not tell positions.
class CountingIterator {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* place, std::size_t* count) : place_(place), count_(count) {}
  reference operator*() const { return *place_; }
  CountingIterator& operator++() {
    ++place_;
    ++*count_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return place_ == other.place_; }
  bool operator!=(const CountingIterator& other) const { return place_ != other.place_; }

private:
  const char* place_;
  std::size_t* count_;
};

std::string shortest(double value) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

/// What people write who take JSON for JavaScript or Python, in words; empty if it is something else. `place` is the last
/// character that the parser read, `what` its complaint.
std::string usual_mistake(std::string_view text, std::size_t place, std::string_view what) {
  if (place >= text.size())
    return {};
  const char found = text[place];
  const std::size_t before = place == 0 ? std::string_view::npos : text.find_last_not_of(" \t\r\n", place - 1);
  if ((found == '}' || found == ']') && before != std::string_view::npos && text[before] == ',')
    return "; the comma before it is one too many";
  if (found == '/' || found == '#' || (found == '*' && before != std::string_view::npos && text[before] == '/'))
    return "; JSON has no comments";
  if (found == '\'')
    return "; text stands in double quotes";
  if (what.ends_with("expected '}'") || what.ends_with("expected ']'"))
    return "; is a comma missing before it?";
  return {};
}

/// Builds the tree and enforces what the JSON grammar does not: unique keys and bounded size.
class TreeBuilder {
public:
  using number_integer_t = nlohmann::ordered_json::number_integer_t;
  using number_unsigned_t = nlohmann::ordered_json::number_unsigned_t;
  using number_float_t = nlohmann::ordered_json::number_float_t;
  using string_t = nlohmann::ordered_json::string_t;
  using binary_t = nlohmann::ordered_json::binary_t;

  TreeBuilder(std::string_view text, SourcePointer source, const std::size_t* consumed)
      : text_(text), source_(std::move(source)), consumed_(consumed) {}

  bool null() { return leaf(Node::Kind::null, {}); }
  bool boolean(bool value) {
    if (!leaf(Node::Kind::boolean, {}))
      return false;
    last_->boolean = value;
    return true;
  }
  bool number_integer(number_integer_t value) { return leaf(Node::Kind::integer, std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) { return leaf(Node::Kind::integer, std::to_string(value)); }
  bool number_float(number_float_t value, const string_t& written) {
    if (!leaf(Node::Kind::real, shortest(value)))
      return false;
    last_->written = written;
    return true;
  }
  bool string(string_t& value) { return leaf(Node::Kind::string, std::move(value)); }
  static bool binary(binary_t& /*never in text*/) { return false; }
  bool start_object(std::size_t /*unknown*/) { return open(Node::Kind::object); }
  bool start_array(std::size_t /*unknown*/) { return open(Node::Kind::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(string_t& name) {
    Level& level = open_.back();
    if (name.size() > JsonLimits::key_bytes)
      return fail("a key is longer than " + std::to_string(JsonLimits::key_bytes) + " bytes");
    if (!level.names.insert(name).second)
      return fail("the key " + excerpt(name) + " occurs twice in one object");
    if (level.names.size() > JsonLimits::keys_per_object)
      return fail("an object has more than " + std::to_string(JsonLimits::keys_per_object) + " keys");
    level.key = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::json::exception& error) {
    // nlohmann says "[json.exception.parse_error.101] parse error at line 1, column 2: what"; we have our own place.
    std::string what = error.what();
    for (const char* end_of_prefix : {": ", "] "}) {
      if (const std::size_t place = what.find(end_of_prefix); place != std::string::npos) {
        what = what.substr(place + 2);
        break;
      }
    }
    const std::size_t place = position > 0 ? position - 1 : 0;
    add(place, "not valid JSON: " + printable(what) + usual_mistake(text_, place, what));
    return false;
  }

  Diagnostics& diagnostics() { return diagnostics_; }
  Node take() { return std::move(root_); }

private:
  struct Level {
    Node node;
    std::set<std::string> names;
    std::string key;
  };

  static std::string printable(std::string text) {
    constexpr std::size_t longest = 300;
    if (text.size() > longest)
      text = text.substr(0, longest) + "...";
    // The parser quotes the bytes it read; broken UTF-8 must not reach terminals or JSON reports.
    for (char& c : text) {
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f)
        c = '?';
    }
    return text;
  }

  /// The parser may have read one character beyond the token; that one can be the line break.
  [[nodiscard]] std::size_t place() const { return *consumed_ > 0 ? *consumed_ - 1 : 0; }

  /// Values arrive in order of position, so counting goes on where it stopped.
  int line_here() {
    const std::size_t end = std::min(place(), text_.size());
    if (end > counted_) {
      line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                           text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      counted_ = end;
    }
    return line_;
  }

  void add(std::size_t position, const std::string& message) {
    position = std::min(position, text_.size());
    const std::string_view before = text_.substr(0, position);
    const auto line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    diagnostics_.add({source_->file, line, "", "column " + std::to_string(position - line_start + 1) + ": " + message});
  }
  bool fail(const std::string& message) {
    add(place(), message);
    return false;
  }

  bool count_value() {
    return ++values_ <= JsonLimits::values || fail("more than " + std::to_string(JsonLimits::values) + " values");
  }

  Node make(Node::Kind kind, std::string text) {
    Node node;
    node.kind = kind;
    node.text = std::move(text);
    node.source = source_;
    node.line = line_here();
    return node;
  }

  bool leaf(Node::Kind kind, std::string text) {
    if (!count_value())
      return false;
    attach(make(kind, std::move(text)));
    return true;
  }

  bool open(Node::Kind kind) {
    if (!count_value())
      return false;
    if (open_.size() >= JsonLimits::depth)
      return fail("nested deeper than " + std::to_string(JsonLimits::depth) + " levels");
    open_.push_back({make(kind, {}), {}, {}});
    return true;
  }

  bool close() {
    Node done = std::move(open_.back().node);
    open_.pop_back();
    attach(std::move(done));
    return true;
  }

  void attach(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      last_ = &root_;
      return;
    }
    Level& level = open_.back();
    if (level.node.is_object())
      level.node.keys.push_back(std::move(level.key));
    level.node.items.push_back(std::move(node));
    last_ = &level.node.items.back();
  }

  std::string_view text_;
  SourcePointer source_;
  const std::size_t* consumed_;
  Diagnostics diagnostics_;
  std::vector<Level> open_;
  Node root_;
  Node* last_ = nullptr;
  std::size_t values_ = 0;
  std::size_t counted_ = 0;
  int line_ = 1;
};

[[noreturn]] void fail(const SourcePointer& source, const std::string& message) {
  throw ScenarioError({{source->file, 0, "", message}});
}

} // namespace

Node parse_json(std::string_view text, const SourcePointer& source) {
  if (text.size() > JsonLimits::bytes)
    fail(source, "larger than " + std::to_string(JsonLimits::bytes / bytes_per_mebibyte) + " MiB");
  if (text.starts_with("\xef\xbb\xbf"))
    fail(source, "starts with a byte order mark; save the file as plain UTF-8");
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    fail(source, "is UTF-16; save the file as UTF-8");
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    fail(source, "is empty; expected a JSON object");
  std::size_t consumed = 0;
  TreeBuilder builder(text, source, &consumed);
  const CountingIterator begin(text.data(), &consumed);
  const CountingIterator end(text.data() + text.size(), &consumed);
  const bool complete = nlohmann::ordered_json::sax_parse(begin, end, &builder);
  builder.diagnostics().throw_if_any();
  if (!complete)
    fail(source, "not valid JSON");
  return builder.take();
}

Node to_node(const nlohmann::ordered_json& value, const SourcePointer& source) {
  using Type = nlohmann::ordered_json::value_t;
  Node node;
  node.source = source;
  switch (value.type()) {
  case Type::object:
    node.kind = Node::Kind::object;
    for (const auto& [key, item] : value.items()) {
      node.keys.push_back(key);
      node.items.push_back(to_node(item, source));
    }
    break;
  case Type::array:
    node.kind = Node::Kind::array;
    for (const auto& item : value)
      node.items.push_back(to_node(item, source));
    break;
  case Type::string:
    node.kind = Node::Kind::string;
    node.text = value.get<std::string>();
    break;
  case Type::boolean:
    node.kind = Node::Kind::boolean;
    node.boolean = value.get<bool>();
    break;
  case Type::number_integer:
    node.kind = Node::Kind::integer;
    node.text = std::to_string(value.get<std::int64_t>());
    break;
  case Type::number_unsigned:
    node.kind = Node::Kind::integer;
    node.text = std::to_string(value.get<std::uint64_t>());
    break;
  case Type::number_float:
    node.kind = Node::Kind::real;
    node.text = shortest(value.get<double>());
    break;
  case Type::null:
  case Type::binary:
  case Type::discarded:
    break;
  }
  return node;
}

std::string file_problem(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    return "no such file";
  if (std::filesystem::is_directory(status))
    return "it is a directory";
  return std::filesystem::is_regular_file(status) ? "" : "it is not a regular file";
}

std::string read_text_file(const std::filesystem::path& path, const Node* referrer, const std::string& pointer) {
  const auto refuse = [&](const std::string& problem) {
    if (referrer != nullptr)
      throw ScenarioError({at(*referrer, pointer, "cannot read " + quoted_path(path) + ": " + problem)});
    throw ScenarioError({{path.string(), 0, "", "cannot read the file: " + problem}});
  };
  if (const std::string problem = file_problem(path); !problem.empty())
    refuse(problem);
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    refuse("it cannot be opened");
  // Counting what arrives tells "too large" without trusting the size that the file system states.
  std::string text;
  std::array<char, 16384> piece{};
  while (text.size() <= JsonLimits::bytes && stream.read(piece.data(), piece.size()).gcount() > 0)
    text.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
  if (stream.bad())
    refuse("reading failed");
  if (text.size() > JsonLimits::bytes)
    refuse("larger than " + std::to_string(JsonLimits::bytes / bytes_per_mebibyte) + " MiB");
  return text;
}

} // namespace contend::scenario

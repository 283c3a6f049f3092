#include "support/options.hpp"

#include "support/failure.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <numeric>
#include <sstream>
#include <utility>

namespace contend::native {

namespace {

[[noreturn]] void reject(const std::string& message) { throw Failure(ExitCode::bad_options, message); }

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string join(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) {
    text += (text.empty() ? "" : ",") + value;
  }
  return text;
}

std::string join(const std::vector<std::int64_t>& values) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const std::int64_t value : values) {
    texts.push_back(std::to_string(value));
  }
  return join(texts);
}

std::vector<std::string> split(const std::string& name, const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  std::string part;
  while (std::getline(stream, part, ',')) {
    parts.push_back(part);
  }
  if (parts.empty()) {
    reject("--" + name + " needs at least one value");
  }
  return parts;
}

template <typename Number>
Number parse_number(const std::string& name, const std::string& text, Number minimum, Number maximum) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::ostringstream range;
  range << minimum << " to " << maximum;
  if (error != std::errc() || end != text.data() + text.size() || !(value >= minimum && value <= maximum)) {
    reject("--" + name + " takes a number from " + range.str() + ", not \"" + text + "\"");
  }
  return value;
}

std::int64_t parse_size(const std::string& name, const std::string& text, std::int64_t maximum) {
  static const std::vector<std::pair<std::string, std::int64_t>> units{
      {"KiB", std::int64_t{1} << 10}, {"MiB", std::int64_t{1} << 20}, {"GiB", std::int64_t{1} << 30}, {"B", 1}};
  std::string digits = text;
  std::int64_t factor = 1;
  for (const auto& [unit, bytes] : units) {
    if (digits.size() > unit.size() && digits.compare(digits.size() - unit.size(), unit.size(), unit) == 0) {
      digits.erase(digits.size() - unit.size());
      factor = bytes;
      break;
    }
  }
  while (!digits.empty() && digits.back() == ' ') {
    digits.pop_back();
  }
  return parse_number<std::int64_t>(name, digits, 0, maximum / factor) * factor;
}

std::string parse_choice(const std::string& name, const std::string& text, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
    const std::string meant = nearest(text, choices);
    reject("--" + name + " cannot be \"" + text + "\"" + (meant.empty() ? "" : ", did you mean \"" + meant + "\"?") +
           " (one of " + join(choices) + ")");
  }
  return text;
}

bool parse_flag(const std::string& name, const std::string& text) {
  return parse_choice(name, text, {"true", "false"}) == "true";
}

} // namespace

std::string size_text(std::int64_t bytes) { return std::to_string(bytes) + " B"; }

std::string nearest(const std::string& name, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(3, name.size() / 2);
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

Options::Options(std::string program, std::string summary)
    : program_(std::move(program)), summary_(std::move(summary)) {}

void Options::add(const std::string& name, const std::string& help, const std::string& default_text,
                  std::function<void(const std::string&)> set, bool is_flag) {
  options_.push_back({name, help, default_text, is_flag, std::move(set)});
}

void Options::integer(const std::string& name, std::int64_t& value, std::int64_t minimum, std::int64_t maximum,
                      const std::string& help) {
  add(name, help, std::to_string(value), [&value, name, minimum, maximum](const std::string& text) {
    value = parse_number<std::int64_t>(name, text, minimum, maximum);
  });
}

void Options::number(const std::string& name, double& value, double minimum, double maximum, const std::string& help) {
  std::ostringstream default_text;
  default_text << value;
  add(name, help, default_text.str(), [&value, name, minimum, maximum](const std::string& text) {
    value = parse_number<double>(name, text, minimum, maximum);
  });
}

void Options::size(const std::string& name, std::int64_t& bytes, std::int64_t maximum, const std::string& help) {
  add(name, help, size_text(bytes),
      [&bytes, name, maximum](const std::string& text) { bytes = parse_size(name, text, maximum); });
}

void Options::choice(const std::string& name, std::string& value, const std::vector<std::string>& choices,
                     const std::string& help) {
  add(name, help + " (" + join(choices) + ")", value,
      [&value, name, choices](const std::string& text) { value = parse_choice(name, text, choices); });
}

void Options::flag(const std::string& name, bool& value, const std::string& help) {
  add(
      name, help, value ? "true" : "false", [&value, name](const std::string& text) { value = parse_flag(name, text); },
      true);
}

void Options::text(const std::string& name, std::string& value, const std::string& help) {
  add(name, help, value, [&value](const std::string& text) { value = text; });
}

void Options::choices(const std::string& name, std::vector<std::string>& values,
                      const std::vector<std::string>& choices, const std::string& help) {
  add(name, help + " (of " + join(choices) + ")", join(values), [&values, name, choices](const std::string& text) {
    values.clear();
    for (const std::string& part : split(name, text)) {
      values.push_back(parse_choice(name, part, choices));
    }
  });
}

void Options::integers(const std::string& name, std::vector<std::int64_t>& values, std::int64_t minimum,
                       std::int64_t maximum, const std::string& help) {
  add(name, help, join(values), [&values, name, minimum, maximum](const std::string& text) {
    values.clear();
    for (const std::string& part : split(name, text)) {
      values.push_back(parse_number<std::int64_t>(name, part, minimum, maximum));
    }
  });
}

void Options::sizes(const std::string& name, std::vector<std::int64_t>& bytes, std::int64_t maximum,
                    const std::string& help) {
  add(name, help, join(bytes), [&bytes, name, maximum](const std::string& text) {
    bytes.clear();
    for (const std::string& part : split(name, text)) {
      bytes.push_back(parse_size(name, part, maximum));
    }
  });
}

const Options::Option& Options::find(const std::string& name) const {
  std::vector<std::string> names;
  for (const Option& option : options_) {
    if (option.name == name) {
      return option;
    }
    names.push_back(option.name);
  }
  const std::string meant = nearest(name, names);
  reject("there is no option --" + name + (meant.empty() ? "" : ", did you mean --" + meant + "?"));
}

bool Options::parse(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  command_ = {program_};
  command_.insert(command_.end(), arguments.begin(), arguments.end());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--help" || argument == "-h") {
      print_help();
      return false;
    }
    if (argument.rfind("--", 0) != 0) {
      reject("options begin with --, \"" + argument + "\" does not");
    }
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    if (equals == std::string::npos && name.rfind("no-", 0) == 0) {
      const Option& option = find(name.substr(3));
      if (!option.is_flag) {
        reject("--" + option.name + " takes a value, it cannot be switched off by --" + name);
      }
      option.set("false");
      continue;
    }
    const Option& option = find(name);
    if (equals != std::string::npos) {
      option.set(argument.substr(equals + 1));
    } else if (option.is_flag) {
      option.set("true");
    } else if (i + 1 < arguments.size()) {
      option.set(arguments[++i]);
    } else {
      reject("--" + name + " needs a value");
    }
  }
  return true;
}

void Options::print_help() const {
  std::string text = program_ + ": " + summary_ + "\n\n";
  for (const Option& option : options_) {
    std::string left = "  --" + option.name + (option.is_flag ? "" : " …");
    left.resize(std::max<std::size_t>(left.size() + 2, 32), ' ');
    text += left + option.help + " [" + option.default_text + "]\n";
  }
  text += "\nvalidation/native/README.md describes options, output and exit codes.\n";
  (void)std::fputs(text.c_str(), stdout);
}

} // namespace contend::native

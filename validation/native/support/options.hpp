// Command lines: declared options, strict parsing, nearest names in messages.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace contend::native {

/// Options bind variables; what a variable holds when it is declared is the default.
class Options {
public:
  Options(std::string program, std::string summary);

  void integer(const std::string& name, std::int64_t& value, std::int64_t minimum, std::int64_t maximum,
               const std::string& help);
  void number(const std::string& name, double& value, double minimum, double maximum, const std::string& help);
  /// Bytes, or a number with a unit: "64 KiB".
  void size(const std::string& name, std::int64_t& bytes, std::int64_t maximum, const std::string& help);
  void choice(const std::string& name, std::string& value, const std::vector<std::string>& choices,
              const std::string& help);
  /// --name, --name=true|false, --no-name
  void flag(const std::string& name, bool& value, const std::string& help);
  void text(const std::string& name, std::string& value, const std::string& help);
  /// Lists are separated by commas.
  void choices(const std::string& name, std::vector<std::string>& values, const std::vector<std::string>& choices,
               const std::string& help);
  void integers(const std::string& name, std::vector<std::int64_t>& values, std::int64_t minimum, std::int64_t maximum,
                const std::string& help);
  void sizes(const std::string& name, std::vector<std::int64_t>& bytes, std::int64_t maximum, const std::string& help);

  /// Throws Failure(bad_options). For --help prints all options on stdout and returns false: nothing else is to be done.
  [[nodiscard]] bool parse(int argc, char** argv);
  /// The command line without the program's folder.
  [[nodiscard]] const std::vector<std::string>& command() const { return command_; }

private:
  struct Option {
    std::string name;
    std::string help;
    std::string default_text;
    bool is_flag;
    std::function<void(const std::string&)> set;
  };
  void add(const std::string& name, const std::string& help, const std::string& default_text,
           std::function<void(const std::string&)> set, bool is_flag = false);
  [[nodiscard]] const Option& find(const std::string& name) const;
  void print_help() const;

  std::string program_;
  std::string summary_;
  std::vector<Option> options_;
  std::vector<std::string> command_;
};

/// "1048576 B"
[[nodiscard]] std::string size_text(std::int64_t bytes);
/// The candidate with the smallest edit distance from `name`; empty if all are too far to be meant.
[[nodiscard]] std::string nearest(const std::string& name, const std::vector<std::string>& candidates);

} // namespace contend::native

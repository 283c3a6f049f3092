#include "simgrid/platform.hpp"

#include "simgrid/child_process.hpp"
#include "simgrid/process_engine.hpp"

#include <simgrid/Exception.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <numeric>
#include <sstream>
#include <string_view>
#include <vector>

namespace contend {
namespace {

namespace s4u = simgrid::s4u;

constexpr std::size_t listed_hosts = 12;      ///< in an error message
constexpr double longest_latency_seconds = 1; ///< more is a forgotten unit: SimGrid takes a bare number for seconds

/// Number of single-character edits between two names.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char letter : a) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (letter == b[j] ? 0U : 1U);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::string unknown_host(const std::string& name) {
  std::vector<std::string> names;
  for (const s4u::Host* host : s4u::Engine::get_instance()->get_all_hosts()) {
    names.push_back(host->get_name());
  }
  std::string message = "no host is called '" + name + "'";
  const auto nearest = std::min_element(
      names.begin(), names.end(), [&](const auto& a, const auto& b) { return distance(a, name) < distance(b, name); });
  if (distance(*nearest, name) <= std::max<std::size_t>(2, name.size() / 3)) {
    message += " (did you mean '" + *nearest + "'?)";
  }
  message += "; hosts: ";
  for (std::size_t i = 0; i < std::min(names.size(), listed_hosts); ++i) {
    message += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > listed_hosts) {
    message += " and " + std::to_string(names.size() - listed_hosts) + " more";
  }
  return message;
}

const std::string from_mark = "from: "; ///< what a child says of one of the hosts begins so
const std::string to_mark = "to: ";

s4u::Host& find_host(const std::string& name, const std::string& mark) {
  s4u::Host* const host = s4u::Engine::get_instance()->host_by_name_or_null(name);
  if (host == nullptr) {
    throw PlatformError(mark + unknown_host(name));
  }
  if (host->get_core_count() < 1) {
    throw PlatformError(mark + "host '" + name + "' has no cores");
  }
  return *host;
}

/// In the child: reads the file and answers with numbers; names are known to the parent.
std::string ask_simgrid(const std::filesystem::path& file, const std::string& from_name, const std::string& to_name) {
  make_process_engine({"--cfg=network/model:CM02", "--cfg=network/crosstraffic:0"});
  const s4u::Engine& engine = *s4u::Engine::get_instance();
  try {
    engine.load_platform(file.string());
  } catch (const simgrid::ParseError& error) {
    // Its text begins with where it was thrown in SimGrid's sources, and names the file.
    std::string text = error.what();
    if (const std::size_t start = text.find("Parse error"); start != std::string::npos) {
      text.erase(0, start);
    }
    const std::string place = "at " + file.string() + ":";
    if (const std::size_t start = text.find(place); start != std::string::npos) {
      text.replace(start, place.size(), "at line ");
    }
    throw PlatformError(text);
  }
  if (engine.get_netzone_root() == nullptr) {
    throw PlatformError("it describes no network zone");
  }
  engine.seal_platform();
  if (engine.get_host_count() == 0) {
    throw PlatformError("it has no hosts");
  }
  const s4u::Host& from = find_host(from_name, from_mark);
  const s4u::Host& to = find_host(to_name, to_mark);
  std::vector<s4u::Link*> links;
  double latency = 0;
  from.route_to(&to, links, &latency);
  if (links.empty()) {
    throw PlatformError("there is no route from '" + from_name + "' to '" + to_name + "'");
  }
  double bandwidth = std::numeric_limits<double>::infinity();
  for (const s4u::Link* link : links) {
    if (link->get_sharing_policy() == s4u::Link::SharingPolicy::WIFI || !(link->get_bandwidth() > 0) ||
        !std::isfinite(link->get_bandwidth())) {
      throw PlatformError("link '" + link->get_name() + "' has no fixed bandwidth");
    }
    bandwidth = std::min(bandwidth, link->get_bandwidth());
  }
  if (!(latency >= 0) || latency > longest_latency_seconds) {
    throw PlatformError("the latency of the route from '" + from_name + "' to '" + to_name +
                        "' is not between 0 and 1 second; is a unit missing?");
  }
  std::ostringstream answer;
  answer << std::hexfloat << Duration::seconds(latency).count() << ' ' << bandwidth << ' ' << from.get_core_count()
         << ' ' << to.get_core_count() << ' ' << from.get_speed() << ' ' << to.get_speed();
  return answer.str();
}

/// SimGrid's last words, from a child that it ended: the message without time, actor, place and colours.
std::string last_words(const std::string& output) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (const std::size_t tag = line.find("/CRITICAL] "); tag != std::string::npos) {
      return line.substr(tag + std::strlen("/CRITICAL] "));
    }
  }
  lines = std::istringstream(output);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) {
      return line;
    }
  }
  return "";
}

/// What a failed child has to say.
std::string complaint(const ChildResult& child) {
  if (child.signal == SIGXCPU || child.signal == SIGKILL) {
    return "reading it takes too long";
  }
  if (child.answer == std::bad_alloc().what()) {
    return "it needs too much memory";
  }
  if (child.answer.starts_with("sto")) { // all that std::stoi and std::stod tell
    return "a number in it is out of range";
  }
  if (!child.answer.empty()) {
    return child.answer;
  }
  const std::string words = last_words(child.output);
  return words.empty() ? "SimGrid cannot read it (" + std::string(strsignal(child.signal)) + ")" : words;
}

/// On one line, without rows of stars, and no longer than anyone wants to read.
std::string one_line(const std::string& text) {
  constexpr std::size_t longest = 400;
  std::string line;
  for (const char c : text) {
    if (line.size() == longest) {
      return line + "...";
    }
    const bool blank = static_cast<unsigned char>(c) <= ' ' || c == '\x7f' || c == '*';
    if (!blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  return line;
}

/// What can be said without SimGrid, which says it badly or not at all.
std::string obvious_fault(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) {
    return "there is no such file";
  }
  if (!std::filesystem::is_regular_file(status)) {
    return "it is not a regular file";
  }
  if (file.extension() == ".so" || file.extension() == ".dylib") {
    return "a shared library is not read as a platform; give an XML file";
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return "it cannot be read";
  }
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return "it is empty";
  }
  if (text.find('\0') != std::string::npos || text.find("<platform") == std::string::npos) {
    return "it is not a SimGrid platform: there is no <platform> element";
  }
  if (text.find("<!DOCTYPE platform") == std::string::npos) {
    return "the line <!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\"> is missing";
  }
  return "";
}

} // namespace

PlatformRoute read_platform(const std::filesystem::path& file, const std::string& from, const std::string& to) {
  if (const std::string fault = obvious_fault(file); !fault.empty()) {
    throw PlatformError(one_line(fault));
  }
  if (has_process_engine()) {
    throw std::logic_error("platforms must be read before the first simulation on SimGrid's engine");
  }
  const ChildResult child = run_in_child([&] { return ask_simgrid(file, from, to); });
  if (!child.succeeded) {
    const std::string problem = complaint(child);
    if (problem.starts_with(from_mark)) {
      throw PlatformError(one_line(problem.substr(from_mark.size())), PlatformError::Fault::from);
    }
    if (problem.starts_with(to_mark)) {
      throw PlatformError(one_line(problem.substr(to_mark.size())), PlatformError::Fault::to);
    }
    throw PlatformError(one_line(problem));
  }
  std::istringstream answer(child.answer);
  std::int64_t latency = 0;
  std::string bandwidth;
  std::string from_speed;
  std::string to_speed;
  PlatformRoute result{.from = {.name = from}, .to = {.name = to}, .route = {}};
  answer >> latency >> bandwidth >> result.from.cores >> result.to.cores >> from_speed >> to_speed;
  result.route.latency = Duration::picoseconds(latency);
  result.route.bytes_per_second = std::stod(bandwidth); // streams do not read back the hexadecimal that they write
  result.from.flops_per_second = std::stod(from_speed);
  result.to.flops_per_second = std::stod(to_speed);
  return result;
}

} // namespace contend

#include "simgrid/platform.hpp"

#include <catch2/catch.hpp>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

using namespace contend;
using Catch::Contains;

namespace {

const std::string head = "<?xml version=\"1.0\"?>\n"
                         "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                         "<platform version=\"4.1\">\n";
const std::string body = R"(<zone id="z" routing="Full">
<host id="node0" speed="3Gf" core="28"/>
<host id="node1" speed="2.5Gf" core="64"/>
<host id="lonely" speed="1Gf" core="4"/>
<link id="wire" bandwidth="12.5GBps" latency="600ns"/>
<link id="duplex" bandwidth="100Gbps" latency="0.55us" sharing_policy="SPLITDUPLEX"/>
<link id="narrow" bandwidth="10GBps" latency="1ps"/>
<route src="node0" dst="node1"><link_ctn id="wire"/><link_ctn id="duplex" direction="UP"/><link_ctn id="narrow"/></route>
</zone>
)";
const std::string tail = "</platform>\n";
const std::string good = head + body + tail;

std::string with(const std::string& from, const std::string& to) {
  std::string text = good;
  const std::size_t place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

/// A folder that goes away with everything in it.
class Folder {
public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "contend-test-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path write(const std::string& text, const std::string& name = "platform.xml") const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }

private:
  std::filesystem::path path_;
};

struct Bad {
  const char* what;
  std::string text;
  std::string complaint;
};

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

std::string read_file(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

Outcome program(const Folder& folder, const std::string& arguments) {
  const std::string out = (folder.path() / "out").string();
  const std::string err = (folder.path() / "err").string();
  const int status =
      std::system((std::string(CONTEND_SIMGRID_PROGRAM) + " " + arguments + " >" + out + " 2>" + err).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
}

} // namespace

TEST_CASE("a route's latency is exact and its bandwidth that of the narrowest link", "[simgrid]") {
  const Folder folder;
  const PlatformRoute found = read_platform(folder.write(good), "node0", "node1");
  CHECK(found.route.latency == Duration::picoseconds(1'150'001));
  CHECK(found.route.bytes_per_second == 1e10);
  CHECK(found.from.name == "node0");
  CHECK(found.from.cores == 28);
  CHECK(found.from.flops_per_second == 3e9);
  CHECK(found.to.name == "node1");
  CHECK(found.to.cores == 64);
  CHECK(found.to.flops_per_second == 2.5e9);

  const PlatformRoute back = read_platform(folder.write(good), "node1", "node0");
  CHECK(back.route.latency == found.route.latency);
  CHECK(back.to.cores == 28);
}

TEST_CASE("no network model changes the latency", "[simgrid]") {
  const Folder folder;
  for (const char* model : {"LV08", "SMPI", "CM02"}) {
    const std::string config = std::string("<config><prop id=\"network/model\" value=\"") + model + "\"/></config>\n";
    const PlatformRoute found = read_platform(folder.write(head + config + body + tail), "node0", "node1");
    CHECK(found.route.latency == Duration::picoseconds(1'150'001));
    CHECK(found.route.bytes_per_second == 1e10);
  }
}

TEST_CASE("zones that compute their routes work too", "[simgrid]") {
  const Folder folder;
  for (const char* routing : {"Floyd", "Dijkstra"}) {
    const PlatformRoute found = read_platform(folder.write(with("Full", routing)), "node0", "node1");
    CHECK(found.route.latency == Duration::picoseconds(1'150'001));
  }
  const std::string tree = R"(<cluster id="c" prefix="n-" suffix="" radical="0-15" speed="1Gf" core="8" bw="10GBps" )"
                           R"(lat="500ns" topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2"/>)";
  CHECK(read_platform(folder.write(head + tree + tail), "n-0", "n-3").route.latency == 1_us);
  CHECK(read_platform(folder.write(head + tree + tail), "n-0", "n-15").route.latency == 2_us);
}

TEST_CASE("a host that does not exist", "[simgrid]") {
  const Folder folder;
  const auto file = folder.write(good);
  CHECK_THROWS_WITH(read_platform(file, "nodeO", "node1"),
                    Contains("no host is called 'nodeO' (did you mean 'node0'?); hosts: lonely, node0, node1"));
  CHECK_THROWS_WITH(read_platform(file, "node0", "gateway"), Contains("no host is called 'gateway'; hosts:"));
  CHECK_THROWS_WITH(read_platform(file, "node0", "lonely"), Contains("there is no route from 'node0' to 'lonely'"));
  CHECK(program(folder, "platform " + file.string() + " nodeO node1").status == 3);
  CHECK(program(folder, "platform " + file.string() + " node0 gateway").status == 4);
  CHECK(program(folder, "platform " + file.string() + " node0 lonely").status == 2);
}

TEST_CASE("files that are no platform", "[simgrid]") {
  std::string junk = "<platform <!DOCTYPE platform";
  for (int i = 1; i < 5000; ++i) {
    junk += static_cast<char>(i % 255 + 1);
  }
  const std::vector<Bad> all{
      {"empty", "", "it is empty"},
      {"blank", " \n\n", "it is empty"},
      {"text", "hello world", "there is no <platform> element"},
      {"binary with zeros",
       std::string("\x7f"
                   "ELF\0\0<platform>",
                   16),
       "there is no <platform> element"},
      {"binary", junk, "Invalid XML"},
      {"no document type", "<platform version=\"4.1\"></platform>", "<!DOCTYPE platform SYSTEM"},
      {"truncated in a tag", good.substr(0, 350), "Invalid XML"},
      {"truncated between tags", head + body, "Premature EOF"},
      {"unknown tag", with("<link id=\"wire\"", "<wire id=\"wire\""), "Invalid XML"},
      {"missing attribute", with("id=\"wire\" ", ""), "Required attribute `id' not set for `link'"},
      {"unknown unit", with("600ns", "600parsec"), "unknown unit: parsec"},
      {"no number", with("600ns", "fast"), "cannot parse number"},
      {"no unit", with("600ns", "600"), "is a unit missing?"},
      {"negative latency", with("600ns", "-600us"), "is not between 0 and 1 second"},
      {"no bandwidth", with("12.5GBps", "0GBps"), "link 'wire' has no fixed bandwidth"},
      {"unknown link", with("link_ctn id=\"wire\"", "link_ctn id=\"fibre\""), "Link not found: fibre"},
      {"route to nowhere", with("dst=\"node1\"", "dst=\"node9\""), "node9"},
      {"host twice", with("id=\"node1\"", "id=\"node0\""), "second host named 'node0'"},
      {"no cores", with("core=\"28\"", "core=\"0\""), "must have at least one core"},
      {"cores in words", with("core=\"28\"", "core=\"many\""), "many is not an int"},
      {"far too many cores", with("core=\"28\"", "core=\"99999999999999\""), "out of range"},
      {"old", with("4.1", "3"), "TOO OLD"},
      {"from the future", with("4.1", "9"), "FROM THE FUTURE"},
      {"unknown routing", with("Full", "Magic"), "Not a valid model"},
      {"unknown option", head + "<config><prop id=\"no/such\" value=\"1\"/></config>" + body + tail, "no/such"},
      {"no zone", head + tail, "no network zone"},
      {"no hosts", head + "<zone id=\"z\" routing=\"Full\"></zone>" + tail, "it has no hosts"},
      {"missing trace file", with("core=\"28\"", "core=\"28\" speed_file=\"/no/such\""), "/no/such"},
  };
  const Folder folder;
  for (const Bad& bad : all) {
    INFO(bad.what);
    const auto file = folder.write(bad.text);
    std::string message;
    try {
      static_cast<void>(read_platform(file, "node0", "node1"));
    } catch (const PlatformError& error) {
      message = error.what();
    }
    CHECK_THAT(message, Contains(bad.complaint) && !Contains("platform.xml"));
    CHECK_THAT(message, !Contains("\n") && !Contains("**") && !Contains("CRITICAL"));
    CHECK(message.size() < 500);

    const Outcome outcome = program(folder, "platform " + file.string() + " node0 node1");
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err == "error: " + message + "\n");
  }
}

TEST_CASE("paths that are no files", "[simgrid]") {
  const Folder folder;
  CHECK_THROWS_WITH(read_platform(folder.path() / "missing.xml", "a", "b"), Contains("there is no such file"));
  CHECK_THROWS_WITH(read_platform(folder.path(), "a", "b"), Contains("it is not a regular file"));
  CHECK_THROWS_WITH(read_platform("/dev/zero", "a", "b"), Contains("it is not a regular file"));
  CHECK_THROWS_WITH(read_platform(folder.write(good, "platform.so"), "a", "b"),
                    Contains("a shared library is not read"));
}

TEST_CASE("the program prints what it found, and nothing else", "[simgrid]") {
  const Folder folder;
  const Outcome found = program(folder, "platform " + folder.write(good).string() + " node0 node1");
  CHECK(found.status == 0);
  CHECK(found.err.empty());
  CHECK(found.out == "{\"latency_s\":0.000001150001,\"bandwidth_Bps\":10000000000.0,\"from_cores\":28,\"to_cores\":64,"
                     "\"from_speed\":3000000000.0,\"to_speed\":2500000000.0}\n");
}

TEST_CASE("the program explains itself", "[simgrid]") {
  const Folder folder;
  CHECK_THAT(program(folder, "--help").out, Contains("platform FILE FROM TO"));
  CHECK(program(folder, "--version").out == "contend-simgrid " CONTEND_VERSION "\n");
  for (const char* wrong : {"", "fly", "platform", "platform a b", "run --replication", "run --replication -1",
                            "run --replication 1x", "run --replication 99999999999", "--help me"}) {
    const Outcome outcome = program(folder, wrong);
    CHECK(outcome.status == 2);
    CHECK_THAT(outcome.err, Contains("try --help"));
  }
}

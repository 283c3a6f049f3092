// What work takes that shares nothing, when other cores are busy with the same: clocks fall, and hardware threads of one core,
// which a virtual machine may not know of, share its units.
#include "machine/loopback.hpp"
#include "machine/probe.hpp"
#include "machine/team.hpp"
#include "support/spin.hpp"
#include "support/statistics.hpp"

#include <sys/syscall.h>

#include <array>
#include <memory>
#include <numeric>
#include <unistd.h>
#include <utility>
#include <vector>

namespace contend::native {

namespace {

/// One thread's work, of which it does an operation at a time.
class Work {
public:
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual ~Work() = default;
  virtual void operate() = 0;
};

/// Each instruction needs the one before: as fast as the clock.
class Chain final : public Work {
public:
  void operate() override {
    for (int step = 0; step < 64; ++step) {
      value_ = value_ * 3 + 1;
      asm volatile("" : "+r"(value_));
    }
  }

private:
  std::uint64_t value_ = 1;
};

/// What a library does with a message: the next record of a queue, a look at its header, some fields written.
class Records final : public Work {
public:
  Records() {
    for (std::size_t i = 0; i < records_->size(); ++i) {
      Record& record = (*records_)[i];
      record.next = &(*records_)[(i * 37 + 11) % records_->size()];
      record.tag = static_cast<std::uint32_t>(i * 2654435761U) >> 28U;
    }
    at_ = records_->data();
  }
  void operate() override {
    for (int step = 0; step < 16; ++step) {
      Record& record = *at_;
      if (record.tag % 3 == 0) {
        record.sum += record.sequence;
      } else {
        record.sum ^= record.tag + sum_;
      }
      record.sequence = ++sequence_;
      for (std::uint64_t& word : record.header) {
        word += record.sum;
      }
      sum_ += record.header[record.tag % 4];
      at_ = record.next;
      asm volatile("" : "+r"(at_) : : "memory");
    }
  }

private:
  struct alignas(line_bytes) Record {
    Record* next = nullptr;
    std::uint32_t tag = 0;
    std::uint64_t sequence = 0;
    std::uint64_t sum = 0;
    std::array<std::uint64_t, 4> header{};
  };
  std::unique_ptr<std::array<Record, 256>> records_ = std::make_unique<std::array<Record, 256>>();
  Record* at_ = nullptr;
  std::uint64_t sequence_ = 0;
  std::uint64_t sum_ = 0;
};

/// The shortest way into the kernel and back.
class Call final : public Work {
public:
  void operate() override { syscall(SYS_getppid); }
};

/// A message through a connection of its own, sent and read by the same thread.
class Socket final : public Work {
public:
  void operate() override {
    connection_.sender().send_one();
    connection_.receiver().read_one();
  }

private:
  Loopback connection_;
};

struct Kind {
  const char* name;
  std::unique_ptr<Work> (*make)();
  std::int64_t batch; ///< operations between two readings of the clock
};

const std::array<Kind, 4> kinds{{
    {"chain", [] { return std::unique_ptr<Work>(std::make_unique<Chain>()); }, 1000},
    {"records", [] { return std::unique_ptr<Work>(std::make_unique<Records>()); }, 1000},
    {"call", [] { return std::unique_ptr<Work>(std::make_unique<Call>()); }, 500},
    {"socket", [] { return std::unique_ptr<Work>(std::make_unique<Socket>()); }, 50},
}};

/// Time of one operation of a thread, from the sum of all threads' rates. Of each thread the median over batches counts.
double run_on(const Kind& kind, const std::vector<int>& cores, std::int64_t batches) {
  const double rate = rate_of_team(cores, [&](std::size_t /*thread*/) {
    return [&kind, batches, work = kind.make()] {
      std::vector<double> times;
      for (std::int64_t done = 0; done < batches; ++done) {
        times.push_back(time_each(kind.batch, [&work] { work->operate(); }));
      }
      return median(std::move(times));
    };
  });
  return static_cast<double>(cores.size()) / rate;
}

} // namespace

void probe_busy_cores(ProbeContext& context) {
  for (const Kind& kind : kinds) {
    for (std::size_t threads = 1; threads <= context.cores.size(); threads *= 2) {
      context.add_point("busy_cores", {{"work", kind.name}, {"threads", static_cast<int>(threads)}}, [&] {
        // Cores differ, by what else runs on the hardware below a virtual machine: each is in one of the groups.
        std::vector<double> times;
        for (std::size_t first = 0; first + threads <= context.cores.size(); first += threads) {
          const auto begin = context.cores.begin() + static_cast<std::ptrdiff_t>(first);
          times.push_back(run_on(kind, {begin, begin + static_cast<std::ptrdiff_t>(threads)}, context.at_most(200)));
        }
        return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
      });
    }
  }
}

} // namespace contend::native

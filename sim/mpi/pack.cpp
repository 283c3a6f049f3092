// MPI_Pack of a vector datatype, alone or with the help of threads that wait.
//
//   pack(data): if it is more than one piece: push a task for each but the first
//               copy the first; take tasks until none is left; wait for those that others have taken
#include "core/trace_scope.hpp"
#include "mpi/process.hpp"

#include <algorithm>
#include <vector>

namespace contend {

/// A piece of a pack.
class Process::PackTask final : public Task {
public:
  /// What the pieces of one pack share: `left` lives on a cache line that each of them writes once.
  struct Job {
    Process& process;
    CacheLine line;
    std::size_t left = 0;
    bool fits_cache = false; ///< source and destination together fit into the shared cache of a socket
  };

  PackTask(Job& job, std::int64_t bytes, std::int64_t blocks) : job_(job), bytes_(bytes), blocks_(blocks) {}

  void run(SimThread& self) override {
    copy(self);
    job_.line.atomic(self, Category::copy);
    --job_.left;
  }

  void copy(SimThread& self) {
    Process& process = job_.process;
    int& packing = process.packing_[static_cast<std::size_t>(process.host_.socket(self.core()))];
    self.settle();
    ++packing;
    const DatatypeParameters& prices = process.settings_.datatype;
    Duration time = process.copy_time(bytes_);
    if (!job_.fits_cache) { // read once, written once; cores of a socket share its memory
      time = std::max(time,
                      Duration::seconds(2.0 * static_cast<double>(bytes_) * packing / prices.memory_bytes_per_second));
    }
    self.spend(time + prices.block * blocks_, Category::copy);
    --packing;
    process.engine_.note_operation();
  }

private:
  Job& job_;
  std::int64_t bytes_;
  std::int64_t blocks_;
};

void Process::pack(SimThread& self, std::int64_t bytes, std::int64_t block_bytes) {
  const TraceScope scope(self, rank_, "MPI_Pack");
  software(self, settings_.software.send_request); // a convertor, without a request
  const std::int64_t piece = settings_.library.tasks.pack_piece_bytes;
  const auto blocks_of = [&](std::int64_t amount) { return (amount + block_bytes - 1) / block_bytes; };
  PackTask::Job job{*this, CacheLine(engine_, host_, name() + "/pack by " + self.name()), 0,
                    2 * bytes <= settings_.datatype.l3_bytes};
  if (!tasks_ || bytes <= piece) {
    PackTask(job, bytes, blocks_of(bytes)).copy(self);
    self.settle();
    return;
  }
  std::vector<PackTask> pieces;
  for (std::int64_t left = bytes; left > 0; left -= piece) {
    pieces.emplace_back(job, std::min(left, piece), blocks_of(std::min(left, piece)));
  }
  job.left = pieces.size();
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    tasks_->push(self, pieces[i]);
    end_rests(); // a resting thread would find it at the end of its turn
  }
  pieces.front().run(self);
  while (tasks_->run_one(self, Category::copy)) {
  }
  self.settle();
  for (job.line.load(self, Category::copy); job.left > 0; job.line.load(self, Category::copy)) {
    self.spend(settings_.locks.pause, Category::copy);
  }
}

} // namespace contend

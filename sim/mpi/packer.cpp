#include "mpi/packer.hpp"

#include "core/trace_scope.hpp"

#include <algorithm>

namespace contend {

/// A piece of a pack.
class Packer::Piece final : public Task {
public:
  /// What the pieces of one pack share: `left` lives on a cache line that each of them writes once.
  struct Job {
    Packer& packer;
    CacheLine line;
    std::size_t left = 0;
    bool fits_cache = false; ///< source and destination together fit into the shared cache of a socket
  };

  Piece(Job& job, std::int64_t bytes, std::int64_t blocks) : job_(job), bytes_(bytes), blocks_(blocks) {}

  void run(SimThread& self) override {
    copy(self);
    job_.line.atomic(self, Category::copy);
    --job_.left;
  }

  void copy(SimThread& self) {
    const ProcessContext& process = job_.packer.process_;
    int& packing = job_.packer.packing_[static_cast<std::size_t>(process.host().socket(self.core()))];
    self.settle();
    ++packing;
    const DatatypeParameters& prices = process.settings().datatype;
    Duration time = process.copy_time(bytes_);
    if (!job_.fits_cache) { // read once, written once; cores of a socket share its memory
      time = std::max(time,
                      Duration::seconds(2.0 * static_cast<double>(bytes_) * packing / prices.memory_bytes_per_second));
    }
    self.spend(time + prices.block * blocks_, Category::copy);
    --packing;
    process.engine().note_operation();
  }

private:
  Job& job_;
  std::int64_t bytes_;
  std::int64_t blocks_;
};

Packer::Packer(ProcessContext& process, ProgressTurns& turns, TaskPool* tasks)
    : process_(process), turns_(turns), tasks_(tasks),
      packing_(static_cast<std::size_t>(process.host().topology().sockets)) {}

void Packer::pack(SimThread& self, std::int64_t bytes, std::int64_t block_bytes) {
  const TraceScope scope(self, process_.rank(), "MPI_Pack");
  process_.software(self, process_.settings().software.send_request); // a convertor, without a request
  const std::int64_t piece = process_.library().tasks.pack_piece_bytes;
  const auto blocks_of = [&](std::int64_t amount) { return (amount + block_bytes - 1) / block_bytes; };
  Piece::Job job{*this, CacheLine(process_.engine(), process_.host(), process_.name() + "/pack by " + self.name()), 0,
                 2 * bytes <= process_.settings().datatype.l3_bytes};
  if (tasks_ == nullptr || bytes <= piece) {
    Piece(job, bytes, blocks_of(bytes)).copy(self);
    self.settle();
    return;
  }
  std::vector<Piece> pieces;
  for (std::int64_t left = bytes; left > 0; left -= piece) {
    pieces.emplace_back(job, std::min(left, piece), blocks_of(std::min(left, piece)));
  }
  job.left = pieces.size();
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    tasks_->push(self, pieces[i]);
    turns_.end_rests(); // a resting thread would find it at the end of its turn
  }
  pieces.front().run(self);
  while (tasks_->run_one(self, Category::copy)) {
  }
  self.settle();
  for (job.line.load(self, Category::copy); job.left > 0; job.line.load(self, Category::copy)) {
    self.spend_time(process_.settings().locks.pause, Category::copy);
  }
}

} // namespace contend

// What a thread does, by name, for a trace.
#pragma once

#include "core/engine.hpp"

#include <string_view>

namespace contend {

/// Marks what a thread does during a block for a trace, under a name that outlives the run.
class TraceScope {
public:
  TraceScope(SimThread& self, std::string_view what) : self_(self) {
    if (TraceSink* const trace = self.engine().trace(); trace != nullptr) [[unlikely]] {
      trace->enter(self, what, self.now());
    }
  }
  /// A call of the library on behalf of a process, which the thread belongs to.
  TraceScope(SimThread& self, int process, std::string_view what) : self_(self) { open(self, process, what); }
  ~TraceScope() { close(self_); }

  /// The same where begin and end are not in one block. Every open() needs its close().
  static void open(SimThread& self, int process, std::string_view what) {
    if (self.process() < 0) [[unlikely]] {
      self.set_process(process);
    }
    if (TraceSink* const trace = self.engine().trace(); trace != nullptr) [[unlikely]] {
      trace->enter(self, what, self.now());
    }
  }
  static void close(SimThread& self) {
    if (TraceSink* const trace = self.engine().trace(); trace != nullptr) [[unlikely]] {
      trace->leave(self, self.now());
    }
  }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

private:
  SimThread& self_;
};

} // namespace contend

// What threads wait for, as reports name it.
#pragma once

#include <string>

namespace contend {

/// Something a thread can wait for; describe() completes "waits for ...".
class Waitable {
public:
  virtual ~Waitable() = default;
  [[nodiscard]] virtual std::string describe() const = 0;
};

} // namespace contend

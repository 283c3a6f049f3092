#include "models/waiting/sync_object.hpp"

#include "models/waiting/notification.hpp"

namespace contend {

void SyncObject::look(SimThread& self, Category category) {
  if (notification == nullptr) {
    line.load(self, category);
  } else {
    notification->look(self, *this, category);
  }
}

} // namespace contend

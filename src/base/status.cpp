#include "base/status.hpp"

namespace vernier {

const char* to_string(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::invalid_argument:
      return "invalid argument";
    case Status::out_of_memory:
      return "out of memory";
    case Status::unsupported:
      return "unsupported";
    case Status::bound_not_met:
      return "bound not met";
    case Status::device_error:
      return "device error";
    case Status::internal_error:
      return "internal error";
  }
  return "unknown status";
}

}  // namespace vernier

// Exponential back-off.
#pragma once

#include <algorithm>

namespace vernier {

// Each vain attempt is followed by a pause of 4, 16, then 64 calls; one that succeeds ends all pauses.
class Backoff {
 public:
  bool should_try() {
    if (left_ == 0) return true;
    --left_;
    return false;
  }
  bool pauses() const { return left_ > 0; }
  bool failed() const { return pause_ > 0; }  // the last attempt was in vain
  void tried(bool in_vain) {
    pause_ = in_vain ? std::clamp(4 * pause_, 4, 64) : 0;
    left_ = pause_;
  }

 private:
  int pause_ = 0, left_ = 0;
};

}  // namespace vernier

// How often something is looked at that keeps turning out not to be worth it.
#pragma once

#include <algorithm>

namespace vernier {

// Every look in vain makes the pause behind it longer, up to 64 times; one that was not ends all pauses.
class LookPause {
 public:
  bool wants_a_look() {
    if (left_ == 0) return true;
    --left_;
    return false;
  }
  void looked(bool in_vain) {
    pause_ = in_vain ? std::clamp(4 * pause_, 4, 64) : 0;
    left_ = pause_;
  }

 private:
  int pause_ = 0, left_ = 0;
};

}  // namespace vernier

// How a product on a GPU is called: on a stream, waited for or not, captured in a graph, factors and workspace where.
#pragma once

#include <functional>
#include <memory>

#include "sequences/session.hpp"

namespace vernier::sequences {

class Manner {
 public:
  // Sets the handle up for one call; on a CPU there is one manner alone.
  Manner(Environment& environment, Handle& handle, Type type, Complex alpha, Complex beta, bool leaves_outcome);
  ~Manner();
  Manner(const Manner&) = delete;
  Manner& operator=(const Manner&) = delete;

  const void* alpha() const { return factors_on_gpu_ ? factors_.get() : alpha_.data(); }
  const void* beta() const;
  // The call's status. A captured call runs with each launch() and only then.
  vernier_status run(const std::function<vernier_status()>& call);
  bool captured() const { return graph_ != nullptr; }
  void launch();
  // Once the stream has come so far: were the data too wide for the contract, so that C was to be left as it was?
  bool left_c_alone(const std::string& call) const;
  std::string words() const;

 private:
  void set_up(Random& random);  // on a GPU

  Handle& handle_;
  Surroundings surroundings_;
  Scalar alpha_, beta_;
  bool gpu_, leaves_outcome_, factors_on_gpu_ = false, asynchronous_ = false, captures_ = false;
  std::size_t workspace_bytes_ = 0;
  std::shared_ptr<void> factors_, workspace_, outcome_, stream_, graph_;
};

}  // namespace vernier::sequences

// A symbol of PBLAS that is taken over: the one underneath, and what became of its calls.
#pragma once

#include <string>

#include "depth.hpp"
#include "journal.hpp"
#include "original.hpp"
#include "product.hpp"
#include "settings.hpp"

namespace vernier::interpose {

bool contract_fixes_bits();

enum class Ran { done, refused, without_memory };

class ParallelSymbol {
 public:
  constexpr ParallelSymbol(const char* name, vernier_type t, Routine routine)
      : type(t), counts_(name), routine_(routine) {}

  void* underneath();
  template <class... Arguments>
  void pass_on(int depth, Arguments... arguments) {
    const DeepBlocks deep(depth);
    reinterpret_cast<void (*)(Arguments...)>(underneath())(arguments...);
  }

  // Is it worth a look? Global sizes decide, so that all processes say the same.
  bool concerns(std::int64_t m, std::int64_t n, std::int64_t k);
  // May residues go through the library underneath, and has anybody asked? Else the call is passed on, in deep blocks.
  bool wanted();
  void refuse(Reason reason, const std::string& message = "");
  // Runs it and counts it; else it is to be passed on, without_memory in PBLAS's own blocks.
  Ran run(const Grid& grid, const DistributedCall& call);
  void take() { counts_.take(); }  // a call that is made of others, which are counted too

  const vernier_type type;

 private:
  void count(const Call& call, double seconds);

  Counts counts_;
  Routine routine_;
  void* original_ = nullptr;
};

}  // namespace vernier::interpose

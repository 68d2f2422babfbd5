#include "product/plan/method.hpp"

#include "base/duration.hpp"
#include "base/status.hpp"

namespace vernier {

MethodChoice choose_by_request(const MethodRequest& request, Plan& plan) {
  const Contract& contract = request.contract;
  const auto because = [&](std::string reason, MethodChoice choice) {
    plan.reason = std::move(reason);
    return choice;
  };
  if (request.asked == "native") {
    require(!contract.reproducible && request.native_keeps,
            "engine: \"native\" cannot keep contract {} for {}; expected an int8 engine", contract.text(), plan.type);
    return because("the native product was asked for", MethodChoice::native);
  }
  if (!request.asked.empty())
    return because(fmt::format("engine {} was asked for", request.asked), MethodChoice::residues);
  if (contract.reproducible) return because("the contract asks for reproducible bits", MethodChoice::residues);
  if (!request.native_keeps) return because("the native product cannot keep the contract", MethodChoice::residues);
  if (request.small) return because(std::string(small_product_reason), MethodChoice::native);
  return MethodChoice::by_estimate;
}

std::string compared(std::string text, std::initializer_list<MethodSeconds> methods) {
  text.reserve(text.size() + 48 * methods.size());
  for (const MethodSeconds& method : methods) {
    text.append(&method == methods.begin() ? ": " : ", ").append(duration_text(method.seconds));
    text.append(" ").append(method.how).append(method.engine);
  }
  return text;
}

void require_workspace(const ProductShape& s, std::size_t limit, std::size_t least, bool own_workspace) {
  if (limit < least)
    fail(own_workspace ? Status::invalid_argument : Status::out_of_memory,
         "{}: {} bytes are too few for m = {}, n = {}, k = {}; expected at least {}",
         own_workspace ? "workspace" : "workspace_limit", limit, s.m, s.n, s.k, least);
}

}  // namespace vernier

// Reports of solvers as text and as JSON.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/duration.hpp"
#include "base/fmt.hpp"
#include "base/lists.hpp"
#include "vernier/lapack.hpp"
#include "vernier/quad.hpp"
#include "vernier/verified.hpp"

namespace vernier {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

const char* to_string(Factors factors) {
  constexpr const char* names[] = {"auto", "bf16", "fp16", "fp32", "fp64"};
  return names[static_cast<int>(factors)];
}

const char* to_string(Refinement refinement) {
  constexpr const char* names[] = {"auto", "classical", "gmres"};
  return names[static_cast<int>(refinement)];
}

const char* to_string(Verdict verdict) {
  constexpr const char* names[] = {"ok", "above tolerance", "singular", "indefinite", "ill-conditioned"};
  return names[static_cast<int>(verdict)];
}

double SolveReport::largest_backward_error() const {
  double largest = 0;
  for (const SolveColumn& c : columns) largest = std::max(largest, c.backward_error);
  return largest;
}

std::string SolveReport::text() const {
  std::string out = fmt::format("solve {}, n = {}, {} right-hand side{}\n", type, n, nrhs, nrhs == 1 ? "" : "s");
  if (verdict == Verdict::singular)
    return out + fmt::format("  verdict    singular: U({0}, {0}) is exactly zero\n", info);
  if (verdict == Verdict::indefinite)
    return out + fmt::format("  verdict    indefinite: the leading minor of order {} is not positive\n", info);
  int corrections = 0, steps = 0;
  double componentwise = -1, forward = -1;
  std::int64_t good = 0;
  for (const SolveColumn& c : columns) {
    corrections = std::max(corrections, c.corrections);
    steps = std::max(steps, c.gmres_steps);
    componentwise = std::max(componentwise, c.componentwise_error);
    forward = std::max(forward, c.forward_error);
    good += c.ok ? 1 : 0;
  }
  out += verdict == Verdict::ill_conditioned
             ? "  verdict    ill-conditioned: A is singular to working precision, no digit of X need be right\n"
             : fmt::format("  verdict    {}: {} of {} columns\n", to_string(verdict), good, nrhs);
  out += fmt::format("  error      backward {:.2e}, tolerance {:.2e}\n", largest_backward_error(), tolerance);
  if (componentwise >= 0) out += fmt::format("             componentwise backward {:.2e}\n", componentwise);
  if (forward >= 0) out += fmt::format("             forward, estimated {:.2e}\n", forward);
  if (condition > 0)
    out += fmt::format("  condition  {}{:.1e}, estimated\n", std::isinf(forward) ? "at least " : "", condition);
  out += fmt::format("  factors    {}{}{}{}\n", to_string(factors), equilibrated ? ", equilibrated" : "",
                     fallback ? ", after a fallback: " : "", fallback ? reason : "");
  if (seconds == 0) return out;  // of an answer that was there, and is only measured
  out += fmt::format("  refinement {}: at most {} corrections", gmres ? "GMRES" : "classical", corrections);
  out += gmres ? fmt::format(", {} steps of GMRES\n", steps) : "\n";
  out += fmt::format("  time       {}: factors {}, refinement {}\n", duration_text(seconds),
                     duration_text(seconds_factor), duration_text(seconds_refine));
  return out;
}

std::string SolveReport::json() const {
  Json j = {{"routine", "solve"},
            VERNIER_FIELDS(*this, type, n, nrhs),
            {"verdict", to_string(verdict)},
            {"info", info},
            {"factors", to_string(factors)},
            VERNIER_FIELDS(*this, gmres, equilibrated, fallback, reason, tolerance)};
  j["condition"] = condition > 0 ? Json(condition) : Json();
  j["backward_error"] = largest_backward_error();
  j["columns"] = Json::array();
  for (const SolveColumn& c : columns) {
    Json column = {VERNIER_FIELDS(c, ok, backward_error, corrections, gmres_steps)};
    if (c.componentwise_error >= 0) column["componentwise_error"] = c.componentwise_error;
    if (c.forward_error >= 0) column["forward_error"] = c.forward_error;
    j["columns"].push_back(std::move(column));
  }
  j.update({VERNIER_FIELDS(*this, seconds, seconds_factor, seconds_refine)});
  return j.dump();
}

std::string VerifiedReport::text() const {
  std::string out = fmt::format("{} n = {}, nrhs = {}: {}\n", routine, n, nrhs, verified ? "verified" : "NOT verified");
  if (!verified) out += fmt::format("  because    {}\n", reason);
  return out + fmt::format("  contraction {:.2g}, {:.3g} s\n", contraction, seconds);
}

std::string VerifiedReport::json() const {
  Json j = {VERNIER_FIELDS(*this, routine, verified, reason, n, nrhs, contraction, seconds)};
  if (!std::isfinite(contraction)) j["contraction"] = nullptr;
  return j.dump();
}

std::string QuadSolveReport::text() const {
  std::string out = fmt::format("quad_solve n = {}, nrhs = {}: {}\n", n, nrhs, ok ? "ok" : "NOT ok");
  if (!ok) out += fmt::format("  because    {}\n", reason);
  out += fmt::format("  factors    {}, {} corrections\n", factors, corrections);
  return out + fmt::format("  errors     backward {:.2g} (tolerance {:.2g}), forward {} {:.2g}\n  seconds    {:.3g}\n",
                           backward_error, tolerance, verified ? "at most" : "about", forward_error, seconds);
}

std::string QuadSolveReport::json() const {
  const Json j = {{"routine", "quad_solve"},
                  VERNIER_FIELDS(*this, ok, reason, factors, n, nrhs, info, corrections, tolerance, backward_error,
                                 forward_error, verified, seconds)};
  return j.dump();
}

}  // namespace vernier

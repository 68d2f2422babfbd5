// Plans and reports as text and as JSON.
#include <nlohmann/json.hpp>

#include "base/duration.hpp"
#include "base/fmt.hpp"
#include "base/lists.hpp"
#include "bf16x6/engine.hpp"
#include "vernier/prepared.hpp"
#include "vernier/quad.hpp"
#include "vernier/slices.hpp"

namespace vernier {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Plan& p) {
  Json j = {VERNIER_FIELDS(p, routine, type, m, n, k),
            {"contract", p.contract.text()},
            VERNIER_FIELDS(p, scheme, engine, reason, threads)};
  if (p.scheme == "bf16x6") j["order"] = bf16x6_order().name;
  j["log2_bound"] = p.log2_bound;
  if (p.scheme != "residues" && p.scheme != "bf16x6") return j;
  if (p.scheme == "residues") j.update({VERNIER_FIELDS(p, moduli, log2_modulus_product)});
  j.update({VERNIER_FIELDS(p, m_block, n_block, k_block, workspace)});
  return j;
}

Json to_json(const Report& r) {
  Json j = to_json(r.plan);
  j.update(
      {VERNIER_FIELDS(r, wide_rows, wide_columns, wide_moduli, span_a, span_b, nonfinite_rows, nonfinite_columns)});
  const bool exact = r.plan.contract.kind == Contract::Kind::exact;
  if (exact || r.undecided > 0) j["undecided"] = r.undecided;
  if (exact) j.update({VERNIER_FIELDS(r, accumulated, seconds_undecided)});
  if (r.native_k > 0) j["native_k"] = r.native_k;
  j.update({VERNIER_FIELDS(r, bounded, fallback, seconds, seconds_statistics, seconds_bound, seconds_residues,
                           seconds_products, seconds_recombine)});
  return j;
}

std::string bound_text(const Plan& p) {
  if (p.contract.kind == Contract::Kind::exact)
    return p.contract.rounding == Rounding::nearest ? "correctly rounded" : "correctly rounded, in the direction asked";
  const bool normwise = p.contract.kind == Contract::Kind::normwise;
  const char* range = p.scheme == "native" ? ", where no product and no sum overflows or underflows on the way" : "";
  return fmt::format("2^{:.1f} {}{}", p.log2_bound, normwise ? "|A_i| |B_j|" : "|A||B|", range);
}

}  // namespace

std::string Plan::text() const {
  std::string out =
      fmt::format("{} {}, m = {}, n = {}, k = {}, contract {}\n", routine, type, m, n, k, contract.text());
  out += fmt::format("  scheme     {} on {}, {} thread{}\n", scheme, engine.empty() ? "nothing" : engine, threads,
                     threads == 1 ? "" : "s");
  if (const split::Scheme order = bf16x6_order(); scheme == "bf16x6")
    out += fmt::format("  order      {}: {}\n", order.name, order.description);
  out += fmt::format("  because    {}\n", reason);
  if (scheme == "none") return out;
  out += fmt::format("  bound      {}\n", bound_text(*this));
  if (scheme != "residues" && scheme != "bf16x6") return out;
  if (scheme == "residues") out += fmt::format("  moduli     {} (log2 P = {:.1f})\n", moduli, log2_modulus_product);
  out += fmt::format("  blocks     {} x {} of C, {} of k; workspace {:.1f} MiB\n", m_block, n_block, k_block,
                     static_cast<double>(workspace) / (1 << 20));
  return out;
}

std::string Plan::json() const { return to_json(*this).dump(); }

std::string Report::text() const {
  std::string out = plan.text();
  if (fallback)
    out += "  fallback   the data are too wide for the scheme, or for it to be faster: the native product was taken\n";
  if (native_k > 0)
    out += fmt::format("  part of k  {} of {} in native products: all else is below the bound\n", native_k, plan.k);
  if (bounded)
    out +=
        fmt::format("  bound      scales and moduli from |A||B| in low precision: {}\n", duration_text(seconds_bound));
  if (wide_moduli > 0 && !bounded)
    out += fmt::format("  wide       {} rows, {} columns: {} moduli for their entries\n", wide_rows, wide_columns,
                       wide_moduli);
  if (plan.contract.kind == Contract::Kind::exact && plan.scheme == "residues")
    out += fmt::format("  undecided  {} entries after the first look, {} after the second; {} for them\n", undecided,
                       accumulated, duration_text(seconds_undecided));
  else if (undecided > 0)
    out += fmt::format("  undecided  {} entries, which took {} moduli\n", undecided, plan.moduli + 1);
  if (nonfinite_rows + nonfinite_columns > 0)
    out += fmt::format("  nonfinite  {} rows, {} columns hold NaN or infinity\n", nonfinite_rows, nonfinite_columns);
  if (plan.scheme == "residues") {
    out += fmt::format("  spans      2^{} in a row of op(A), 2^{} in a column of op(B)\n", span_a, span_b);
    out += fmt::format("  time       {}: statistics {}, residues {}, products {}, recombination {}\n",
                       duration_text(seconds), duration_text(seconds_statistics), duration_text(seconds_residues),
                       duration_text(seconds_products), duration_text(seconds_recombine));
  } else {
    out += fmt::format("  time       {}\n", duration_text(seconds));
  }
  return out;
}

std::string Report::json() const { return to_json(*this).dump(); }

std::string PreparedReport::text() const {
  std::string out = Report::text();
  if (plan.scheme == "residues")
    out += fmt::format("  prepared   {}\n", prepared_a && prepared_b ? "residues of A and B"
                                            : prepared_a             ? "residues of A"
                                            : prepared_b             ? "residues of B"
                                                                     : "residues were not of use");
  return out;
}

std::string PreparedReport::json() const {
  Json j = to_json(static_cast<const Report&>(*this));
  j.update({VERNIER_FIELDS(*this, prepared_a, prepared_b)});
  return j.dump();
}

std::string QuadReport::text() const {
  std::string out = fmt::format("quad_gemm {}, m = {}, n = {}, k = {}, contract {}\n", type, m, n, k, contract);
  if (moduli == 0) return out;
  out += fmt::format("  moduli     {} on {}, {} thread{}\n", moduli, engine, threads, threads == 1 ? "" : "s");
  out += fmt::format("  integers   {} and {} bits{}\n", bits_a, bits_b,
                     integers ? ": the product is exact until its rounding" : "");
  if (looked_at + summed > 0)
    out += fmt::format("  entries    {} were held against |A||B|, {} were summed exactly\n", looked_at, summed);
  return out + fmt::format("  seconds    {:.3g}\n", seconds);
}

std::string QuadReport::json() const {
  const Json j = {{"routine", "quad_gemm"},
                  VERNIER_FIELDS(*this, type, contract, engine, m, n, k, threads, moduli, bits_a, bits_b, integers,
                                 looked_at, summed, seconds)};
  return j.dump();
}

std::string SliceReport::json() const {
  return Json{VERNIER_FIELDS(*this, engine, mode, bits, slices_a, slices_b, fast, products, multiplied, skipped, left_a,
                             left_b, workspace, seconds, seconds_split, seconds_products, seconds_sum)}
      .dump();
}

}  // namespace vernier

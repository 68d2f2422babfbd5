#include "result.hpp"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace demo {
namespace {

// "16 int8 products on amx; 21 for 40 rows, 3 columns"
std::string how(const ProductResult& result) {
  if (!result.report) return "conventional";
  const vernier::Report& report = *result.report;
  if (report.fallback) return "conventional: exponents too wide for the scheme";
  if (report.plan.scheme != "residues") return "conventional (OpenBLAS)";
  // every entry is wide where all rows or all columns are
  const bool all_wide = report.wide_rows == report.plan.m || report.wide_columns == report.plan.n;
  std::string text =
      fmt::format("{} int8 products on {}", all_wide ? report.wide_moduli : report.plan.moduli, report.plan.engine);
  if (!all_wide && report.wide_moduli > 0)
    text += fmt::format("; {} for {} rows, {} columns", report.wide_moduli, report.wide_rows, report.wide_columns);
  return text;
}

void print_system(const System& system) {
  fmt::print("Vernier {}: products of fp64 accuracy from int8 arithmetic, on a matrix of quantum chemistry\n\n",
             vernier::version());
  fmt::print("  molecule    alpha helix of {} alanines, {}: {} atoms, {:.1f} angstrom long\n", system.residues,
             system.formula, system.atoms, system.extent);
  fmt::print("  matrices    n = {} Gaussian functions; overlap S, extended Hueckel Hamiltonian H, orbitals C\n",
             system.functions);
  fmt::print("  condition   cond(S) = {:.2g}\n", system.condition);
  fmt::print("  orbitals    H C = S C E by LAPACK; {} occupied, {:.1f} to {:.1f} eV\n", system.occupied, system.lowest,
             system.highest);
  fmt::print("  BLAS        {}\n\n", vernier::native_blas());
}

void print_products(const Result& result) {
  fmt::print(
      "All in turn, median of {} (3 where they are slow). ratio: times faster than OpenBLAS fp64. error: relative to "
      "|A||B|,\n"
      "mean and largest of {} entries, against MPFR.\n\n",
      result.system.repeats, sampled_lines * sampled_lines);
  fmt::print("  {:<9} {:<22} {:>8} {:>8} {:>6}  {:>8} {:>8}  {}\n", "product", "by", "seconds", "GFLOP/s", "ratio",
             "mean", "max", "how");
  const double flop = 2.0 * result.system.functions * result.system.functions * result.system.functions;
  std::string before;
  for (const ProductRow& row : result.products) {
    fmt::print("  {:<9} {:<22} {:8.4f} {:8.1f} {:6.2f}  {:8.1e} {:8.1e}  {}\n",
               row.product == before ? "" : row.product, row.by, row.result.seconds, flop / row.result.seconds * 1e-9,
               row.ratio, row.result.error.mean, row.result.error.max, how(row.result));
    before = row.product;
  }
}

std::string lost(const OrbitalRow& row, double value) {
  return row.reference ? "reference" : std::isnan(value) ? "-" : fmt::format("{:.1e}", value);
}

void print_orbitals(const Result& result) {
  fmt::print(
      "\nWhat the digits are for: orbitals are orthogonal (C'SC = I) and diagonalise H (C'HC, here among the "
      "occupied).\n"
      "lost: how far the products move the whole of C'SC and of that block of C'HC.\n\n");
  fmt::print("  {:<22} {:>14} {:>10}   {:>20} {:>10}\n", "products by", "max |C'SC - I|", "lost", "off-diag. C'HC, eV",
             "lost, eV");
  for (const OrbitalRow& row : result.orbitals) {
    if (!row.failure.empty())
      fmt::print("  {:<22} refused: {}\n", row.by, row.failure);
    else
      fmt::print("  {:<22} {:14.1e} {:>10}   {:20.1e} {:>10}\n", row.by, row.orthogonality,
                 lost(row, row.orthogonality_lost), row.off_diagonal, lost(row, row.energy_lost));
  }
}

nlohmann::json to_json(const ProductRow& row) {
  nlohmann::json object = {{"product", row.product},
                           {"by", row.by},
                           {"seconds", row.result.seconds},
                           {"ratio", row.ratio},
                           {"error_mean", row.result.error.mean},
                           {"error_max", row.result.error.max}};
  if (row.result.report) object["report"] = nlohmann::json::parse(row.result.report->json());
  return object;
}

nlohmann::json to_json(const OrbitalRow& row) {
  if (!row.failure.empty()) return {{"by", row.by}, {"refused", row.failure}};
  return {{"by", row.by},
          {"orthogonality", row.orthogonality},
          {"orthogonality_lost", row.orthogonality_lost},
          {"off_diagonal_ev", row.off_diagonal},
          {"energy_lost_ev", row.energy_lost},
          {"reference", row.reference}};
}

}  // namespace

void print_table(const Result& result) {
  print_system(result.system);
  if (!result.headline.empty()) fmt::print("{}\n\n", result.headline);
  print_products(result);
  print_orbitals(result);
  for (const std::string& note : result.notes) fmt::print("\n{}\n", note);
}

std::string json(const Result& result) {
  const System& system = result.system;
  nlohmann::json object = {{"version", vernier::version()},
                           {"native_blas", vernier::native_blas()},
                           {"residues", system.residues},
                           {"formula", system.formula},
                           {"atoms", system.atoms},
                           {"extent_angstrom", system.extent},
                           {"n", system.functions},
                           {"condition", system.condition},
                           {"occupied", system.occupied},
                           {"lowest_ev", system.lowest},
                           {"highest_occupied_ev", system.highest},
                           {"repeats", system.repeats},
                           {"headline", result.headline},
                           {"notes", result.notes}};
  for (const ProductRow& row : result.products) object["products"].push_back(to_json(row));
  for (const OrbitalRow& row : result.orbitals) object["orbitals"].push_back(to_json(row));
  return object.dump(2);
}

}  // namespace demo

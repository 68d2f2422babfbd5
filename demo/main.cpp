// vernier-demo: products of fp64 accuracy out of int8 arithmetic on the matrices of a real molecule, beside OpenBLAS,
// and what becomes of the orbitals when digits are lost.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "basis.hpp"
#include "chain.hpp"
#include "huckel.hpp"
#include "measure.hpp"
#include "progress.hpp"
#include "result.hpp"

namespace {

using namespace demo;

struct Arguments {
  int n = 0, residues = 0, repeats = 5;  // n = 0: by what the machine takes a minute for
  std::string engine;
  bool json = false, quick = false, quiet = false;
};

constexpr const char *int8_row = "vernier fp64, int8", *exact_row = "vernier exact, int8";

// More digits than the result can hold: only the rounding of the result is left.
constexpr const char* reference_contract = "bits(90)+reproducible";

constexpr int usual_n = 2048, modest_n = 1024;

// The default contract calls the BLAS underneath here: the integer scheme is not faster.
bool conventional(int n) {
  using vernier::Op;
  vernier::Options options;
  options.contract = vernier::Contract::fp64();
  return vernier::explain<double>(Op::none, Op::none, n, n, n, options).scheme == "native";
}

int residues_of(const Arguments& arguments) {
  if (arguments.residues > 0) return arguments.residues;
  const int usual = conventional(usual_n) ? modest_n : usual_n;
  const int n = arguments.quick ? 256 : arguments.n > 0 ? arguments.n : usual;
  return std::max(1, static_cast<int>(std::lround(double(n - functions_of_ends()) / functions_per_residue())));
}

vernier::Options options(const std::string& contract, const std::string& engine) {
  vernier::Options result;
  result.contract = vernier::Contract::parse(contract);
  result.engine = engine;
  return result;
}

// The multipliers to compare, the reference first. The default takes the conventional product where that is faster;
// then the integer scheme is shown too.
std::vector<Multiplier> multipliers(const Arguments& arguments, int n, std::vector<std::string>& notes) {
  const bool native = conventional(n);
  std::vector<Multiplier> list = {
      vernier_multiplier("vernier bits(90)", options(reference_contract, arguments.engine))};
  list.front().timed = false;
  if (!native) list.push_back(vernier_multiplier("vernier fp64", options("fp64", "")));
  if (native || !arguments.engine.empty()) {
    list.push_back(vernier_multiplier(int8_row, options("fp64+reproducible", arguments.engine)));
    list.push_back(vernier_multiplier(exact_row, options("exact", arguments.engine)));
  } else {
    list.push_back(vernier_multiplier("vernier normwise", options("fp64-normwise", "")));
  }
  list.push_back(openblas_fp64());
  list.push_back(openblas_fp32());
  if (native)
    notes.push_back(
        "Contract fp64 without more calls OpenBLAS here, as the estimates say that it is faster: that row would be\n"
        "OpenBLAS beside itself.");
  return list;
}

// Of a machine where the integer scheme is not faster: first what it gives, then what it takes.
std::string gains_and_costs(const Result& result) {
  double int8 = 0, exact = 0;
  for (const ProductRow& row : result.products) {
    if (row.by == int8_row) int8 = std::max(int8, 1 / row.ratio);
    if (row.by == exact_row) exact = std::max(exact, 1 / row.ratio);
  }
  if (int8 == 0 || exact == 0) return "";
  return fmt::format(
      "What this machine gains: results rounded correctly (contract exact), the same bits as on every other machine\n"
      "and number of threads (fp64+reproducible), and a proven bound for each product. Speed it does not gain, "
      "without\n"
      "AMX: contract fp64 calls OpenBLAS. What it costs: up to {:.1f} times OpenBLAS's time for fp64+reproducible, "
      "{:.1f}\n"
      "times for exact.",
      int8, exact);
}

void add_products(Result& result, const char* first, const char* second, const std::vector<Multiplier>& list,
                  const std::vector<Transformation>& all) {
  const auto openblas = std::find_if(list.begin(), list.end(), [](auto& m) { return m.name == "OpenBLAS fp64"; });
  const Transformation& base = all[openblas - list.begin()];
  for (const auto& [name, part] : {std::pair{first, &Transformation::first}, {second, &Transformation::second}})
    for (std::size_t v = 0; v < list.size(); ++v)
      if (all[v].failure.empty() && list[v].timed)
        result.products.push_back({name, list[v].name, all[v].*part, (base.*part).seconds / (all[v].*part).seconds});
}

// max |G - G of the reference| over the leading block; NaN where one of them refused.
double distance(const Transformation& one, const Transformation& reference, int block) {
  if (!one.failure.empty() || !reference.failure.empty()) return std::nan("");
  return distance(one.full, reference.full, block);
}

int moduli_of(const ProductResult& result) { return std::max(result.report->plan.moduli, result.report->wide_moduli); }

// C^T S C, which should be the unit matrix.
void compare_overlap(const Matrix& S, const Orbitals& orbitals, const std::vector<Multiplier>& list, Result& result) {
  const std::vector<Transformation> all = transform(S, orbitals.C, list, result.system.repeats);
  add_products(result, "S C", "C' (SC)", list, all);
  for (std::size_t v = 0; v < list.size(); ++v) {
    OrbitalRow row = {.by = list[v].name, .failure = all[v].failure, .reference = v == 0};
    if (row.failure.empty()) row.orthogonality = distance_from_identity(all[v].full);
    row.orthogonality_lost = distance(all[v], all[0], result.system.functions);
    result.orbitals.push_back(row);
  }
  if (all[0].failure.empty())
    result.notes.push_back(
        fmt::format("The reference is contract bits(90): {} and {} int8 products here, and one rounding at the end.",
                    moduli_of(all[0].first), moduli_of(all[0].second)));
}

// C^T H C, which should be diagonal.
void compare_hamiltonian(const Matrix& H, const Orbitals& orbitals, const std::vector<Multiplier>& list,
                         Result& result) {
  const std::vector<Transformation> all = transform(H, orbitals.C, list, result.system.repeats);
  add_products(result, "H C", "C' (HC)", list, all);
  for (std::size_t v = 0; v < list.size(); ++v) {
    OrbitalRow& row = result.orbitals[v];
    if (row.failure.empty()) row.failure = all[v].failure;
    if (row.failure.empty()) row.off_diagonal = largest_off_diagonal(all[v].full, result.system.occupied);
    row.energy_lost = distance(all[v], all[0], result.system.occupied);
  }
}

Result run(const Arguments& arguments) {
  if (!arguments.engine.empty())  // an unknown engine is an error now, not in two minutes
    vernier::explain<double>(vernier::Op::none, vernier::Op::none, 1, 1, 1,
                             options("fp64+reproducible", arguments.engine));
  // Shares of the time: geometry, condition, the three steps of the orbitals, four products each.
  Progress progress({1, 2, 2, 5, 2, 12, 12}, arguments.quiet);
  Result result;
  System& system = result.system;
  progress.step("geometry and overlap matrix");
  system.residues = residues_of(arguments);
  system.repeats = arguments.repeats;
  const std::vector<Atom> atoms = alanine_helix(system.residues);
  const std::vector<Gaussian> basis = gaussian_basis(atoms);
  const Matrix S = overlap_matrix(basis), H = hamiltonian(basis, S);
  system.formula = formula(atoms);
  system.extent = extent(atoms);
  system.atoms = static_cast<int>(atoms.size());
  system.functions = static_cast<int>(basis.size());
  system.occupied = valence_electrons(atoms) / 2;
  progress.step("condition number of S");
  system.condition = condition_number(S);
  const Orbitals orbitals = solve(H, S, [&](const char* step) { progress.step(step); });
  system.lowest = orbitals.energies.front();
  system.highest = orbitals.energies[static_cast<std::size_t>(system.occupied) - 1];

  const std::vector<Multiplier> list = multipliers(arguments, system.functions, result.notes);
  progress.step("products S C and C'(SC)");
  compare_overlap(S, orbitals, list, result);
  progress.step("products H C and C'(HC)");
  compare_hamiltonian(H, orbitals, list, result);
  if (conventional(system.functions)) result.headline = gains_and_costs(result);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Vernier on the overlap matrix, Hamiltonian and orbitals of an alanine helix, beside OpenBLAS."};
  auto* n = app.add_option("--n", arguments.n, "About this many basis functions; 2048, or 1024 where fp64 is native");
  n->check(CLI::Range(96, 40000));
  app.add_option("--residues", arguments.residues, "This many alanines, in place of --n")
      ->check(CLI::Range(1, 500))
      ->excludes(n);
  app.add_option("--engine", arguments.engine, "Show the integer scheme on this int8 engine too");
  app.add_option("--repeats", arguments.repeats, "Timed runs of each product")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--quick", arguments.quick, "A small molecule, n about 256");
  app.add_flag("--json", arguments.json, "The numbers as JSON");
  app.add_flag("--quiet", arguments.quiet, "No progress on stderr");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    const Result result = run(arguments);
    if (arguments.json)
      fmt::print("{}\n", json(result));
    else
      print_table(result);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "vernier-demo: {}\n", error.what());
    return 1;
  }
}

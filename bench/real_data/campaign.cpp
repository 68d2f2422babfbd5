#include "campaign.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <stdexcept>

#include "errors.hpp"

namespace vernier::bench {

std::unique_ptr<Product> Settings::product(const Factors& factors, bool apart) const {
#if VERNIER_HAS_CUDA
  if (device == "cuda") return device_product(factors, apart);
#endif
  return host_product(factors, apart ? static_cast<int>(threads) : 1);
}

namespace {

struct Found {
  std::int64_t products = 0, bounded = 0, beyond = 0;
  std::int64_t hollow = 0, fewer = 0;  // most pieces are zeros; later calls took fewer moduli
  double worst = 0;                    // as a share of the bound

  void add(const Found& other) {
    products += other.products;
    bounded += other.bounded;
    hollow += other.hollow;
    fewer += other.fewer;
    beyond += other.beyond;
    worst = std::max(worst, other.worst);
  }
};

// Of all operations, those of 128 k of 64 vectors in which both factors hold something.
double filled_share(const Factors& f) {
  constexpr std::int64_t vectors = 64, depth = 128;
  const auto pieces = [](std::int64_t count, std::int64_t of) { return (count + of - 1) / of; };
  const std::int64_t rows = pieces(f.m, vectors), columns = pieces(f.n, vectors), ks = pieces(f.k, depth);
  std::vector<char> a(static_cast<std::size_t>(rows * ks)), b(static_cast<std::size_t>(columns * ks));
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  for (std::int64_t l = 0; l < f.k; ++l) {
    for (std::int64_t i = 0; i < f.m; ++i)
      if (f.a[at(i + l * f.m)] != 0) a[at(i / vectors * ks + l / depth)] = 1;
    for (std::int64_t j = 0; j < f.n; ++j)
      if (f.b[at(l + j * f.k)] != 0) b[at(j / vectors * ks + l / depth)] = 1;
  }
  std::int64_t filled = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t l = 0; l < ks; ++l) filled += a[at(i * ks + l)] & b[at(j * ks + l)];
  return static_cast<double>(filled) / static_cast<double>(rows * columns * ks);
}

// Each multiplied four times: later calls know what the first one found, and the last one waits for nothing.
Found checked(const std::string& name, std::uint64_t seed, const Settings& settings) {
  constexpr int calls = 4;
  std::mt19937_64 random(seed);
  const auto draw = [&](double least, double most) {
    return static_cast<std::int64_t>(least * std::pow(most / least, static_cast<double>(random() >> 11) * 0x1p-53));
  };
  const auto& known = real_classes();
  const auto about = std::find_if(known.begin(), known.end(), [&](const RealClass& c) { return c.name == name; });
  if (about == known.end()) throw std::out_of_range("real data: no class " + name);
  const std::int64_t m = draw(1, 150), n = draw(1, 150);
  const bool longer = about->campaign_k > 0 && random() % 2 == 0;
  const std::int64_t k = draw(longer ? static_cast<double>(about->campaign_k) : 1, about->lapack ? 300 : 20001);
  const Factors factors = make_factors(name, m, n, k, random());
  const Sample sample(factors, settings.sample);
  const auto product = settings.product(factors, false);
  Found found{.products = 1, .hollow = filled_share(factors) < 0.5 ? 1 : 0};
  int moduli[calls] = {};
  for (int call = 0; call < calls; ++call) {
    const Report report = product->multiply(Contract::parse(settings.contract), settings.engine, call == calls - 1);
    moduli[call] = report.plan.moduli;
    const double share = sample.errors_of(*product).largest / std::exp2(report.plan.log2_bound);
    found.bounded += call == 0 && report.bounded ? 1 : 0;
    found.worst = std::max(found.worst, share);
    if (!(share <= 1)) {
      found.beyond = 1;
      std::fprintf(stderr, "beyond: %s, seed %llu, call %d: %g of the bound\n", name.c_str(),
                   static_cast<unsigned long long>(seed), call, share);
    }
  }
  found.fewer = moduli[0] > moduli[calls - 2] && moduli[calls - 2] > 0 ? 1 : 0;
  return found;
}

}  // namespace

bool check_products(const Settings& settings) {
  std::map<std::string, Found> all;
  for (const std::string& name : settings.classes) all[name];
  std::string failure;
  const auto start = std::chrono::steady_clock::now();
#pragma omp parallel for schedule(dynamic, 1)
  for (std::int64_t i = 0; i < settings.products; ++i) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (settings.seconds > 0 && elapsed.count() > settings.seconds) continue;
    const std::int64_t seed = settings.first + i;
    const std::string& name = settings.classes[static_cast<std::size_t>(seed) % settings.classes.size()];
    Found found;
    std::string message;
    try {
      found = checked(name, static_cast<std::uint64_t>(seed), settings);
    } catch (const std::exception& error) {
      message = name + ", seed " + std::to_string(seed) + ": " + error.what();
    }
#pragma omp critical(vernier_campaign)
    {
      all[name].add(found);
      if (!message.empty()) failure = message;
    }
  }
  Found sum;
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const auto& [name, of] : all) {
    sum.add(of);
    lines.push_back({{"class", name},
                     {"products", of.products},
                     {"by_bound_product", of.bounded},
                     {"hollow", of.hollow},
                     {"fewer_moduli_later", of.fewer},
                     {"largest_share_of_bound", of.worst}});
  }
  const nlohmann::ordered_json result{{"products", sum.products}, {"beyond", sum.beyond}, {"classes", lines}};
  std::printf("%s\n", result.dump(1).c_str());
  if (!failure.empty()) throw std::runtime_error(failure);
  return sum.beyond == 0;
}

}  // namespace vernier::bench

// fp64 products of data that programs have, beside the native product: moduli, ratio and the errors of both, as JSON.
//
//     vernier-real-data [--device cpu] [--n 2048] [--classes a,b] [--contract fp64] [--engine NAME] [--threads 0]
//     [--repeat 3] [--sample 96]
//     vernier-real-data --products 10000: of all shapes, k up to 20000, against the contract's bound
#include <nlohmann/json.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <tuple>

#include "classes.hpp"
#include "product.hpp"

namespace vernier::bench {
namespace {

using Json = nlohmann::ordered_json;

struct Settings {
  std::int64_t n = 2048, sample = 96, products = 0;
  std::vector<std::string> classes;
  std::string device = "cpu", contract = "fp64", engine;
  int threads = 0, repeat = 3;

  std::unique_ptr<Product> product(const Factors& factors) const {
#if defined(VERNIER_HAS_CUDA)
    if (device == "cuda") return device_product(factors);
#endif
    return host_product(factors, threads);
  }
};

struct Errors {
  double mean = 0, largest = 0;
};

// sum of products and of magnitudes, to twice the precision of double; where products are subnormal each loses up to
// the smallest number, and so may T.
struct Reference {
  double high = 0, low = 0, magnitude = 0, loss = 0x1p-1074;

  void add(double x, double y) {
    const double product = x * y, rest = std::fma(x, y, -product);
    const double sum = high + product, other = sum - high;
    low += (high - (sum - other)) + (product - other) + rest;
    high = sum;
    magnitude += std::abs(product);
    loss += std::abs(product) < 0x1p-960 ? 0x1p-1074 : 0;
  }
  double error(double t) const {
    const double error = std::abs((t - high) - low);
    if (!std::isfinite(error)) return INFINITY;
    return error <= loss || magnitude == 0 ? 0 : (error - loss) / magnitude;
  }
};

// |T - AB| / |A||B| over some rows against some columns.
Errors errors_of(const Factors& f, const std::vector<double>& c, std::int64_t sample) {
  const std::int64_t rows = std::min(sample, f.m), columns = std::min(sample, f.n);
  double sum = 0, largest = 0;
#pragma omp parallel for reduction(+ : sum) reduction(max : largest) schedule(dynamic, 1)
  for (std::int64_t p = 0; p < rows; ++p) {
    const std::int64_t i = p * f.m / rows;
    std::vector<double> row(static_cast<std::size_t>(f.k));
    for (std::int64_t l = 0; l < f.k; ++l)
      row[static_cast<std::size_t>(l)] = f.a[static_cast<std::size_t>(i + l * f.m)];
    for (std::int64_t q = 0; q < columns; ++q) {
      const std::int64_t j = q * f.n / columns;
      Reference reference;
      for (std::int64_t l = 0; l < f.k; ++l)
        reference.add(row[static_cast<std::size_t>(l)], f.b[static_cast<std::size_t>(l + j * f.k)]);
      const double error = reference.error(c[static_cast<std::size_t>(i + j * f.m)]);
      sum += error;
      largest = std::max(largest, error);
    }
  }
  return {sum / static_cast<double>(rows * columns), largest};
}

double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
  return x[x.size() / 2];
}

Json measured(const std::string& name, const Settings& settings) {
  const Factors factors = make_factors(name, settings.n, settings.n, settings.n, 1);
  const auto product = settings.product(factors);
  const Contract contract = Contract::parse(settings.contract);
  Report report = product->multiply(contract, settings.engine);
  const Report first = report;
  const Errors ours = errors_of(factors, product->c(), settings.sample);
  product->multiply(Contract::fp64(), "native");
  const Errors natives = errors_of(factors, product->c(), settings.sample);
  std::vector<double> seconds, native_seconds;
  for (int r = 0; r < settings.repeat; ++r) {  // in turns
    report = product->multiply(contract, settings.engine);
    seconds.push_back(report.seconds);
    native_seconds.push_back(product->multiply(Contract::fp64(), "native").seconds);
  }
  Json line = {{"class", name}, {"m", factors.m}, {"n", factors.n}, {"k", factors.k}};
  line["scheme"] = report.plan.scheme;
  line["first_scheme"] = first.plan.scheme;
  line["moduli"] = report.plan.scheme == "residues" ? std::max(report.plan.moduli, report.wide_moduli) : 0;
  line["bounded"] = report.bounded;
  line["mean_error"] = ours.mean;
  line["native_mean_error"] = natives.mean;
  line["largest_error"] = ours.largest;
  line["native_largest_error"] = natives.largest;
  if (settings.repeat == 0) return line;
  line["seconds"] = median(seconds);
  line["native_seconds"] = median(native_seconds);
  line["ratio"] = median(native_seconds) / median(seconds);
  line["seconds_bound"] = report.seconds_bound;
  line["seconds_statistics"] = report.seconds_statistics;
  line["seconds_residues"] = report.seconds_residues;
  line["seconds_products"] = report.seconds_products;
  line["seconds_recombine"] = report.seconds_recombine;
  return line;
}

// Products of random classes and shapes: the largest error of each class as a share of the contract's bound.
int check_products(const Settings& settings) {
  std::map<std::string, std::tuple<std::int64_t, double, std::int64_t>> found;  // products, worst share, by |A||B|
  std::mt19937_64 random(17);
  const auto draw = [&](double least, double most) {
    return static_cast<std::int64_t>(least * std::pow(most / least, static_cast<double>(random() >> 11) * 0x1p-53));
  };
  const auto eigenvectors = [](const std::string& name) {
    return std::any_of(real_classes().begin(), real_classes().end(),
                       [&](const RealClass& c) { return c.name == name && c.eigenvectors; });
  };
  const Contract contract = Contract::parse(settings.contract);
  std::int64_t beyond = 0;
  for (std::int64_t i = 0; i < settings.products; ++i) {
    const std::string& name = settings.classes[random() % settings.classes.size()];
    const std::int64_t longest_k = eigenvectors(name) ? 300 : 20000;
    const Factors factors = make_factors(name, draw(1, 300), draw(1, 300), draw(1, longest_k), random());
    const auto product = settings.product(factors);
    const Report report = product->multiply(contract, settings.engine);
    const double share = errors_of(factors, product->c(), settings.sample).largest / std::exp2(report.plan.log2_bound);
    auto& [products, worst, bounded] = found[name];
    ++products;
    bounded += report.bounded ? 1 : 0;
    worst = share <= worst ? worst : share;
    if (!(share <= 1)) ++beyond;
  }
  Json lines = Json::array();
  for (const auto& [name, of] : found)
    lines.push_back({{"class", name},
                     {"products", std::get<0>(of)},
                     {"by_bound_product", std::get<2>(of)},
                     {"largest_share_of_bound", std::get<1>(of)}});
  std::printf("%s\n", Json{{"products", settings.products}, {"beyond", beyond}, {"classes", lines}}.dump(1).c_str());
  return beyond == 0 ? 0 : 1;
}

int run(int count, char** words) {
  Settings settings;
  CLI::App app("fp64 products of data that programs have, beside the native product");
  app.add_option("--n", settings.n, "order of the matrices")->check(CLI::PositiveNumber);
  app.add_option("--classes", settings.classes, "some of the classes")->delimiter(',');
  app.add_option("--contract", settings.contract, "fp64, fp64-normwise, ...");
  const std::vector<std::string> devices{"cpu", "cuda"};
  app.add_option("--device", settings.device, "where products are made")->check(CLI::IsMember(devices));
  app.add_option("--products", settings.products, "so many of random shapes, in place of measurements");
  app.add_option("--engine", settings.engine, "an int8 engine by name; the default chooses");
  app.add_option("--threads", settings.threads, "0: OpenMP's choice");
  app.add_option("--repeat", settings.repeat, "timed products of each kind; 0: errors alone");
  app.add_option("--sample", settings.sample, "rows and columns whose errors are measured");
  CLI11_PARSE(app, count, words);
  if (settings.classes.empty())
    for (const RealClass& c : real_classes()) settings.classes.push_back(c.name);
  if (settings.products > 0) return check_products(settings);
  std::puts("[");
  for (const std::string& name : settings.classes) {
    std::printf("%s%s\n", measured(name, settings).dump().c_str(), name == settings.classes.back() ? "" : ",");
    std::fflush(stdout);
  }
  std::puts("]");
  return 0;
}

}  // namespace
}  // namespace vernier::bench

int main(int count, char** words) {
  try {
    return vernier::bench::run(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "vernier-real-data: %s\n", error.what());
    return 1;
  }
}

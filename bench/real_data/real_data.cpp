// fp64 products of data that programs have, beside the native product: moduli, ratio and the errors of both, as JSON.
//
//     vernier-real-data [--device cpu] [--n 2048] [--classes a,b] [--contract fp64] [--engine NAME] [--threads 0]
//     [--repeat 3] [--sample 96]
//     vernier-real-data --products 10000 [--first 1] [--seconds 0]: of all shapes, k up to 20000, against the bound
#include <nlohmann/json.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "campaign.hpp"
#include "errors.hpp"

namespace vernier::bench {
namespace {

using Json = nlohmann::ordered_json;

double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
  return x[x.size() / 2];
}

Json measured(const std::string& name, const Settings& settings) {
  const std::int64_t n = settings.n;
  const Factors factors = make_factors(name, n, n, settings.k > 0 ? settings.k : n, 1, settings.different);
  const auto product = settings.product(factors, true);
  const Contract contract = Contract::parse(settings.contract);
  Report report = product->multiply(contract, settings.engine);
  const Report first = report;
  const Errors ours = errors_of(factors, product->c(), settings.sample);
  product->multiply(Contract::fp64(), "native");
  const Errors natives = errors_of(factors, product->c(), settings.sample);
  Json line = {{"class", name}, {"m", factors.m}, {"n", factors.n}, {"k", factors.k}};
  if (settings.device == "cuda") {
    product->multiply(contract, settings.engine, true);
    const Errors unwatched = errors_of(factors, product->c(), settings.sample);
    line["asynchronous_mean_error"] = unwatched.mean;
    line["asynchronous_largest_error"] = unwatched.largest;
  }
  std::vector<double> seconds, native_seconds, asynchronous_seconds;
  for (int r = 0; r < settings.repeat; ++r) {  // in turns
    if (settings.device == "cuda")
      asynchronous_seconds.push_back(product->multiply(contract, settings.engine, true).seconds);
    report = product->multiply(contract, settings.engine);
    seconds.push_back(report.seconds);
    native_seconds.push_back(product->multiply(Contract::fp64(), "native").seconds);
  }
  line["scheme"] = report.plan.scheme;
  line["first_scheme"] = first.plan.scheme;
  line["moduli"] = report.plan.scheme == "residues" ? std::max(report.plan.moduli, report.wide_moduli) : 0;
  line["bounded"] = report.bounded;
  line["mean_error"] = ours.mean;
  line["native_mean_error"] = natives.mean;
  line["largest_error"] = ours.largest;
  line["native_largest_error"] = natives.largest;
  if (settings.repeat == 0) return line;
  const auto add_last = [&](bool asynchronous, const char* mean, const char* largest) {
    product->multiply(contract, settings.engine, asynchronous);
    const Errors last = errors_of(factors, product->c(), settings.sample);
    line[mean] = last.mean;
    line[largest] = last.largest;
  };
  add_last(false, "last_mean_error", "last_largest_error");
  if (settings.device == "cuda") add_last(true, "last_asynchronous_mean_error", "last_asynchronous_largest_error");
  line["seconds"] = median(seconds);
  line["native_seconds"] = median(native_seconds);
  line["ratio"] = median(native_seconds) / median(seconds);
  if (!asynchronous_seconds.empty()) line["asynchronous_seconds"] = median(asynchronous_seconds);
  line["seconds_bound"] = report.seconds_bound;
  line["seconds_statistics"] = report.seconds_statistics;
  line["seconds_residues"] = report.seconds_residues;
  line["seconds_products"] = report.seconds_products;
  line["seconds_recombine"] = report.seconds_recombine;
  return line;
}

int run(int count, char** words) {
  Settings settings;
  CLI::App app("fp64 products of data that programs have, beside the native product");
  app.add_option("--n", settings.n, "order of the matrices")->check(CLI::PositiveNumber);
  app.add_option("--k", settings.k, "k of the products; 0: n");
  app.add_option("--different", settings.different, "rows of A and columns of B, over again beyond; 0: all");
  app.add_option("--classes", settings.classes, "some of the classes")->delimiter(',');
  app.add_option("--contract", settings.contract, "fp64, fp64-normwise, ...");
  const std::vector<std::string> devices{"cpu", "cuda"};
  app.add_option("--device", settings.device, "where products are made")->check(CLI::IsMember(devices));
  app.add_option("--products", settings.products, "so many of random shapes, in place of measurements");
  app.add_option("--first", settings.first, "seed of the first of these products");
  app.add_option("--seconds", settings.seconds, "after so many none is begun; 0: all are");
  app.add_option("--engine", settings.engine, "an int8 engine by name; the default chooses");
  app.add_option("--threads", settings.threads, "0: OpenMP's choice");
  app.add_option("--repeat", settings.repeat, "timed products of each kind; 0: errors alone");
  app.add_option("--sample", settings.sample, "rows and columns whose errors are measured");
  CLI11_PARSE(app, count, words);
  if (settings.classes.empty())
    for (const RealClass& c : real_classes()) settings.classes.push_back(c.name);
  if (settings.products > 0) return check_products(settings) ? 0 : 1;
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

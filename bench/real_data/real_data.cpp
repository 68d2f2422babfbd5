// fp64 products of data that programs have, beside the native product: moduli, ratio and the errors of both, as JSON.
//
//     vernier-real-data [--device cpu] [--n 2048] [--classes a,b] [--contract fp64] [--engine NAME] [--threads 0]
//     [--learn 0] [--repeat 3] [--sample 96] [--everywhere 0] [--lock FILE]
//     vernier-real-data --products 10000 [--first 1] [--seconds 0]: of all shapes, k up to 20000, against the bound
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "campaign.hpp"
#include "errors.hpp"
#include "program.hpp"

namespace vernier::bench {
namespace {

using Json = nlohmann::ordered_json;

double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
  return x[x.size() / 2];
}

// Held while products are timed, if it has a name.
class Turn {
 public:
  explicit Turn(const std::string& file) {
    if (file.empty()) return;
    file_ = open(file.c_str(), O_CREAT | O_RDWR, 0666);
    if (file_ < 0 || flock(file_, LOCK_EX) != 0) throw std::runtime_error(file + ": cannot be locked");
  }
  ~Turn() {
    if (file_ >= 0) (void)close(file_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  int file_ = -1;
};

int moduli_of(const Report& report) {
  return report.plan.scheme == "residues" ? std::max(report.plan.moduli, report.wide_moduli) : 0;
}

Json measured(const std::string& name, const Settings& settings) {
  const std::int64_t n = settings.n;
  const Factors factors = make_factors(name, n, n, settings.k > 0 ? settings.k : n, 1, settings.different);
  const Sample sample(factors, settings.sample);
  const bool on_device = settings.device == "cuda";
  const Contract contract = Contract::parse(settings.contract);
  const Turn turn(settings.lock);
  const auto product = settings.product(factors, true);
  Json line = {{"class", name}, {"m", factors.m}, {"n", factors.n}, {"k", factors.k}};
  const auto multiply = [&](bool asynchronous) { return product->multiply(contract, settings.engine, asynchronous); };
  const auto add_errors = [&](const std::string& of) {
    const Errors errors = sample.errors_of(*product);
    line[of + "mean_error"] = errors.mean;
    line[of + "largest_error"] = errors.largest;
  };
  Report report = multiply(false);
  line["first_scheme"] = report.plan.scheme;
  line["bounded"] = report.bounded;
  add_errors("");
  product->multiply(Contract::fp64(), "native");
  add_errors("native_");
  if (on_device) {
    multiply(true);
    add_errors("asynchronous_");
  }
  std::vector<double> seconds, native_seconds, asynchronous_seconds;
  Json moduli = Json::array();
  // In turns; a GPU is slower just after cuBLAS's product, so that each other one is first behind that.
  const auto time_all = [&](bool asynchronous_first) {
    const auto time_asynchronous = [&] { asynchronous_seconds.push_back(multiply(true).seconds); };
    if (on_device && asynchronous_first) time_asynchronous();
    report = multiply(false);
    seconds.push_back(report.seconds);
    moduli.push_back(report.seconds_bound > 0 ? -moduli_of(report) : moduli_of(report));
    if (on_device && !asynchronous_first) time_asynchronous();
    native_seconds.push_back(product->multiply(Contract::fp64(), "native").seconds);
  };
  for (std::int64_t r = 0; r < settings.learn; ++r) time_all(r % 2 == 0);
  for (std::vector<double>* x : {&seconds, &native_seconds, &asynchronous_seconds}) x->clear();
  for (std::int64_t r = 0; r < settings.repeat; ++r) time_all(r % 2 == 0);
  line["scheme"] = report.plan.scheme;
  line["moduli"] = moduli_of(report);
  line["moduli_by_call"] = moduli;  // negative: by the whole product of |A| and |B|
  if (settings.repeat == 0) return line;
  multiply(false);
  add_errors("last_");
  if (on_device) {
    multiply(true);
    add_errors("last_asynchronous_");
  }
  if (settings.everywhere != 0) {
    const AllEntries all(factors, [&](const Factors& f) { return settings.product(f, true); });
    multiply(false);
    line["everywhere_largest_error"] = all.largest_error_of(*product);
    product->multiply(Contract::fp64(), "native");
    line["native_everywhere_largest_error"] = all.largest_error_of(*product);
  }
  line["seconds"] = median(seconds);
  line["native_seconds"] = median(native_seconds);
  line["ratio"] = median(native_seconds) / median(seconds);
  if (on_device) {
    line["asynchronous_seconds"] = median(asynchronous_seconds);
    line["asynchronous_ratio"] = median(asynchronous_seconds) / median(seconds);
  }
  line["seconds_bound"] = report.seconds_bound;
  line["seconds_statistics"] = report.seconds_statistics;
  line["seconds_residues"] = report.seconds_residues;
  line["seconds_products"] = report.seconds_products;
  line["seconds_recombine"] = report.seconds_recombine;
  return line;
}

bool run(Settings& settings) {
  if (settings.device != "cpu" && settings.device != "cuda")
    throw std::invalid_argument(settings.device + ": expected cpu or cuda behind --device");
  if (settings.n < 1) throw std::invalid_argument("--n: expected a positive number");
  if (settings.classes.empty())
    for (const RealClass& c : real_classes()) settings.classes.push_back(c.name);
  if (settings.products > 0) return check_products(settings);
  std::puts("[");
  for (const std::string& name : settings.classes) {
    std::printf("%s%s\n", measured(name, settings).dump().c_str(), name == settings.classes.back() ? "" : ",");
    std::fflush(stdout);
  }
  std::puts("]");
  return true;
}

}  // namespace
}  // namespace vernier::bench

int main(int count, char** words) {
  vernier::bench::Settings x;
  bool well = false;
  const int code = vernier::bench::program("vernier-real-data", count, words,
                                           {{"--n", &x.n},
                                            {"--k", &x.k},                  // 0: n
                                            {"--different", &x.different},  // rows of A and columns of B; 0: all
                                            {"--classes", &x.classes},
                                            {"--contract", &x.contract},
                                            {"--device", &x.device},
                                            {"--products", &x.products},  // so many, in place of measurements
                                            {"--first", &x.first},        // seed of the first of these
                                            {"--seconds", &x.seconds},    // after so many none is begun; 0: all are
                                            {"--engine", &x.engine},
                                            {"--threads", &x.threads},        // 0: OpenMP's choice
                                            {"--learn", &x.learn},            // calls before these
                                            {"--repeat", &x.repeat},          // of each kind; 0: errors alone
                                            {"--everywhere", &x.everywhere},  // 1: largest errors of all entries
                                            {"--lock", &x.lock},
                                            {"--sample", &x.sample}},  // rows and columns
                                           [&] { well = vernier::bench::run(x); });
  return code == 0 && !well ? 1 : code;
}

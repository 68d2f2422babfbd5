#include "product/plan/measured_rates.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/cpu_features.hpp"
#include "base/fork_mutex.hpp"
#include "base/lists.hpp"
#include "base/status.hpp"
#include "base/uncancelled.hpp"
#include "product/native/native.hpp"

namespace vernier {
namespace {

using Json = nlohmann::json;

Json to_json(const MeasuredRates& rates) {
  Json times = Json::array();
  for (const MeasuredTime& t : rates.times)
    times.push_back(
        {{"type", t.single_precision ? "float" : "double"}, VERNIER_FIELDS(t, method, threads, n, moduli, seconds)});
  return {VERNIER_FIELDS(rates, processor, blas, date), {"times", times}};
}

// Throws where it is none, or none that was measured.
int integer_from(const Json& json, int least, int most) {
  if (!json.is_number_integer() || json < least || json > most) throw std::out_of_range("no such number");
  return json;
}

MeasuredTime time_from(const Json& t) {
  constexpr int most = 1 << 30;
  constexpr double shortest = 1e-12, longest = 1e12;
  MeasuredTime time{t.at("method"),
                    t.at("type") == "float",
                    integer_from(t.at("threads"), 1, most),
                    integer_from(t.at("n"), 1, most),
                    integer_from(t.at("moduli"), 0, most),
                    t.at("seconds")};
  if (!(time.seconds >= shortest && time.seconds <= longest)) throw std::out_of_range("no such time");
  return time;
}

MeasuredRates from_json(const Json& json) {
  MeasuredRates rates{json.at("processor"), json.at("blas"), json.at("date"), {}};
  for (const Json& t : json.at("times")) rates.times.push_back(time_from(t));
  return rates;
}

// An array of machines; empty where the file is missing or holds something else.
Json machines_in(const std::string& file) {
  std::ifstream in(file);
  const Json json = Json::parse(in, nullptr, false);
  if (json.is_object() && json.contains("machines") && json["machines"].is_array()) return json["machines"];
  return Json::array();
}

bool is_of(const Json& machine, const std::string& processor, const std::string& blas) {
  return machine.is_object() && machine.value("processor", Json()) == processor &&
         machine.value("blas", Json()) == blas;
}

ForkMutex& reading() {
  static auto* mutex = new ForkMutex;
  return *mutex;
}

// A pipe would be waited for, a device replaced by a file; a folder is what containers make of a missing one.
std::string unless_something_else(const std::string& file) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(file, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) ? "" : file;
}

}  // namespace

std::string rates_file() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  if (std::getenv("VERNIER_RATES") != nullptr) {
    const std::string named = variable("VERNIER_RATES");
    return named == "none" ? "" : unless_something_else(named);
  }
  const std::string cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (!cache.empty()) return unless_something_else(cache + "/vernier/rates.json");
  return home.empty() ? "" : unless_something_else(home + "/.cache/vernier/rates.json");
}

MeasuredRates read_rates(const std::string& file, const std::string& processor, const std::string& blas) {
  MeasuredRates none{processor, blas, "", {}};
  if (file.empty()) return none;
  try {
    const Json machines = machines_in(file);
    for (const Json& machine : machines)
      if (is_of(machine, processor, blas)) return from_json(machine);
    for (const Json& machine : machines) {
      if (!machine.is_object() || machine.value("processor", Json()) != processor) continue;
      none.date = machine.at("date");
      for (const MeasuredTime& t : from_json(machine).times)
        if (t.method != "native") none.times.push_back(t);
      break;
    }
  } catch (const std::exception&) {  // a file that is none: estimates are those of the table, and say so
  }
  return none;
}

void make_folder_of(const std::string& file) {
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
}

void write_rates(const std::string& file, const MeasuredRates& rates) {
  Json machines = Json::array();
  for (const Json& machine : machines_in(file))
    if (!is_of(machine, rates.processor, rates.blas)) machines.push_back(machine);
  machines.push_back(to_json(rates));
  const std::string temporary = file + "." + std::to_string(getpid());
  std::error_code error;
  make_folder_of(file);
  bool written = false;
  {
    std::ofstream out(temporary);
    out << Json{{"machines", machines}}.dump(1) << '\n';
    written = static_cast<bool>(out.flush());
  }
  if (written) std::filesystem::rename(temporary, file, error);
  if (written && !error) return;
  std::remove(temporary.c_str());
  fail(Status::invalid_argument,
       "{}: rates cannot be written there; expected a file in a folder that is writable: set VERNIER_RATES", file);
}

const MeasuredRates& rates_of_this_machine() {
  const MeasuredRates* rates = known_rates.load(std::memory_order_acquire);
  if (rates != nullptr) return *rates;
  const Uncancelled reads_a_file;
  const std::lock_guard lock(reading());
  static auto* const kept = new std::deque<MeasuredRates>;  // never destroyed: others may read what is forgotten
  if (known_rates.load() == nullptr)
    known_rates = &kept->emplace_back(read_rates(rates_file(), processor_name(), native_name()));
  return *known_rates.load();
}

void forget_rates() { known_rates = nullptr; }

std::string source_of_estimates() {
  const MeasuredRates& rates = rates_of_this_machine();
  return rates.times.empty() ? "tabled rates" : "rates measured here on " + rates.date;
}

}  // namespace vernier

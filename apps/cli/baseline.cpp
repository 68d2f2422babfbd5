#include "baseline.hpp"

#include <cblas.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <complex>
#include <filesystem>
#include <type_traits>

#include "native.hpp"

namespace vernier::cli {
namespace {

struct KnownLibrary {
  const char* name;
  std::vector<const char*> files;
};

const std::vector<KnownLibrary>& known_libraries() {
  static const std::vector<KnownLibrary> list = {
      {"mkl", {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"}},
      {"openblas", {"libopenblas.so.0", "libopenblas.so", "libscipy_openblas.so", "libscipy_openblas64_.so"}},
      {"blis", {"libblis.so.4", "libblis.so"}}};
  return list;
}

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw Error(Status::invalid_argument,
              fmt::format("baseline \"{}\": {}; expected native, none, mkl, openblas, blis, a path or NAME=PATH of a "
                          "library with cblas_dgemm and its like",
                          text, why));
}

// Apart from the library underneath, which defines the same names: each keeps to its own functions.
void* open_library(const std::string& text, const std::vector<std::string>& files) {
  std::string why;
  for (const std::string& file : files) {
    if (void* opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)) return opened;
    why += (why.empty() ? "" : "; ") + std::string(dlerror());
  }
  refuse(text, why);
}

std::string file_of(const void* symbol) {
  Dl_info info;
  return dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? std::filesystem::canonical(info.dli_fname).string()
                                                                 : "";
}

struct Names {
  const char *prefix, *suffix;
  bool long_integers;
};
constexpr Names names[] = {
    {"", "", false}, {"", "64_", true}, {"", "_64", true}, {"scipy_", "", false}, {"scipy_", "64_", true}};

CBLAS_TRANSPOSE transpose(Op op) {
  return op == Op::none ? CblasNoTrans : op == Op::transpose ? CblasTrans : CblasConjTrans;
}

// The one of four that is for T.
template <class T, class X>
X of_type(X s, X d, X c, X z) {
  return std::is_same_v<T, float> ? s : std::is_same_v<T, double> ? d : std::is_same_v<T, std::complex<float>> ? c : z;
}

template <class Integer, class T>
void call(void* function, const BaselineCall<T>& p) {
  const T one = 1, zero = 0;
  const auto size = [](std::int64_t x) {
    if (x > std::numeric_limits<Integer>::max())
      throw Error(Status::invalid_argument, "this baseline takes sizes below 2^31 only: use --baseline none");
    return static_cast<Integer>(x);
  };
  const auto with = [&](auto alpha, auto beta) {
    using Factor = decltype(alpha);
    auto* gemm =
        reinterpret_cast<void (*)(CBLAS_ORDER, CBLAS_TRANSPOSE, CBLAS_TRANSPOSE, Integer, Integer, Integer, Factor,
                                  const T*, Integer, const T*, Integer, Factor, T*, Integer)>(function);
    gemm(CblasColMajor, transpose(p.opa), transpose(p.opb), size(p.m), size(p.n), size(p.k), alpha, p.a, size(p.lda),
         p.b, size(p.ldb), beta, p.c, size(p.ldc));
  };
  if constexpr (std::is_floating_point_v<T>)
    with(one, zero);
  else
    with(&one, &zero);
}

}  // namespace

Baseline::Baseline(const std::string& text) : name_(text) {
  if (text == "native") {
    blas_ = native_blas();
    return;
  }
  std::vector<std::string> files;
  if (const auto equals = text.find('='); equals != std::string::npos) {
    name_ = text.substr(0, equals);
    files = {text.substr(equals + 1)};
  } else {
    for (const KnownLibrary& known : known_libraries())
      if (text == known.name) files.assign(known.files.begin(), known.files.end());
    if (files.empty() && text.find('/') == std::string::npos) refuse(text, "no such name is known");
    if (files.empty()) files = {text};
  }
  library_ = open_library(text, files);
  void* found = nullptr;
  for (const Names& n : names) {
    prefix_ = n.prefix, suffix_ = n.suffix, long_integers_ = n.long_integers;
    found = function("cblas_dgemm");
    if (found != nullptr) break;
  }
  if (found == nullptr) refuse(text, "it defines no cblas_dgemm");
  for (const char* name : {"cblas_sgemm", "cblas_cgemm", "cblas_zgemm"})
    if (function(name) == nullptr) refuse(text, fmt::format("it defines no {}", name));
  const std::string file = file_of(found);
  if (file == file_of(reinterpret_cast<void*>(&cblas_dgemm))) refuse(text, file + " is the BLAS underneath: native");
  auto* config = reinterpret_cast<char* (*)()>(function("openblas_get_config"));
  blas_ = config != nullptr ? std::string(config()) : std::filesystem::path(file).filename().string();
}

void* Baseline::function(const char* cblas_name) const {
  return dlsym(library_, (prefix_ + cblas_name + suffix_).c_str());
}

bool Baseline::set_threads(int threads) const {
  if (library_ == nullptr) return set_native_threads(threads);
  if (threads == 0) return true;
  for (const char* name : {"openblas_set_num_threads", "MKL_Set_Num_Threads", "bli_thread_set_num_threads"}) {
    void* symbol = function(name);
    if (symbol == nullptr) symbol = dlsym(library_, name);
    if (symbol == nullptr) continue;
    if (name[0] == 'b')
      reinterpret_cast<void (*)(std::int64_t)>(symbol)(threads);
    else
      reinterpret_cast<void (*)(int)>(symbol)(threads);
    return true;
  }
  return false;
}

template <class T>
void native_gemm(const BaselineCall<T>& p) {
  const auto address = [](auto* gemm) { return reinterpret_cast<void*>(gemm); };
  call<int>(of_type<T>(address(&cblas_sgemm), address(&cblas_dgemm), address(&cblas_cgemm), address(&cblas_zgemm)), p);
}

template <class T>
void Baseline::gemm(const BaselineCall<T>& p) const {
  if (library_ == nullptr) return native_gemm(p);
  void* gemm = function(of_type<T>("cblas_sgemm", "cblas_dgemm", "cblas_cgemm", "cblas_zgemm"));
  long_integers_ ? call<std::int64_t>(gemm, p) : call<int>(gemm, p);
}

#define VERNIER_INSTANTIATE(T)                       \
  template void native_gemm(const BaselineCall<T>&); \
  template void Baseline::gemm(const BaselineCall<T>&) const;
VERNIER_INSTANTIATE(float)
VERNIER_INSTANTIATE(double)
VERNIER_INSTANTIATE(std::complex<float>)
VERNIER_INSTANTIATE(std::complex<double>)
#undef VERNIER_INSTANTIATE

std::vector<Baseline> baselines_of(const std::string& list) {
  std::vector<Baseline> baselines;
  if (list == "none") return baselines;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    baselines.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return baselines;
}

}  // namespace vernier::cli

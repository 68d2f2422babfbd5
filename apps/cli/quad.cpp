#include "quad.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <vernier/cuda.hpp>
#include <vernier/verified.hpp>

#include "device.hpp"
#include "input_file.hpp"
#include "quad_matrix.hpp"

namespace vernier::cli {
namespace {

// A matrix by rows is its transpose by columns.
Op turned(const QuadMatrix& x, Op op) {
  if (x.order == Order::column_major) return op;
  return op == Op::none ? Op::transpose : Op::none;
}

QuadOptions options_of(const QuadArguments& arguments) {
  QuadOptions options;
  options.contract = QuadContract::parse(arguments.contract);
  options.engine = arguments.engine;
  options.threads = arguments.threads;
  options.workspace_limit = arguments.workspace_limit;
  return options;
}

bool any_low(const QuadMatrix& x) {
  for (const dd& e : x.entries)
    if (e.lo != 0) return true;
  return false;
}

std::vector<double> leading(const QuadMatrix& x) {
  std::vector<double> out;
  out.reserve(x.entries.size());
  for (const dd& e : x.entries) out.push_back(e.hi);
  return out;
}

QuadMatrix by_columns(const QuadMatrix& x) {
  if (x.order == Order::column_major) return x;
  QuadMatrix y{x.rows, x.columns, Order::column_major, std::vector<dd>(x.entries.size()), x.vector};
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j)
      y.entries[static_cast<std::size_t>(i + j * x.rows)] = x.entries[static_cast<std::size_t>(j + i * x.columns)];
  return y;
}

void print(const std::string& text, const std::string& json_text, const QuadArguments& arguments,
           const Console& console) {
  if (!console.json) return console.report(text, arguments.output);
  Json json = Json::parse(json_text);
  json["output"] = arguments.output.empty() ? Json() : Json(arguments.output);
  print_json(json);
}

// The product in the narrower types where no entry has a low part: the exact product of doubles takes fewer moduli.
QuadReport multiply(const QuadMatrix& a, const QuadMatrix& b, std::int64_t k, const QuadArguments& arguments,
                    QuadMatrix& c) {
  const Op opa = turned(a, arguments.opa), opb = turned(b, arguments.opb);
  const std::int64_t m = c.rows, n = c.columns;
  const auto call = [&]<class TA, class TB>(const std::vector<TA>& x, const std::vector<TB>& y) {
    const std::int64_t lda = a.leading_dimension(), ldb = b.leading_dimension(), ldc = c.leading_dimension();
    if (arguments.device == "cpu")
      return quad_gemm(opa, opb, m, n, k, arguments.alpha, x.data(), lda, y.data(), ldb, arguments.beta,
                       c.entries.data(), ldc, options_of(arguments));
    const DeviceArray<TA> device_x(x);
    const DeviceArray<TB> device_y(y);
    const DeviceArray<dd> device_c(c.entries);
    const QuadReport report = cuda::quad_gemm(opa, opb, m, n, k, arguments.alpha, device_x.data(), lda, device_y.data(),
                                              ldb, arguments.beta, device_c.data(), ldc, options_of(arguments));
    c.entries = device_c.values();
    return report;
  };
  const bool wide_a = any_low(a), wide_b = any_low(b);
  if (wide_a && wide_b) return call(a.entries, b.entries);
  const std::vector<double> x = wide_a ? std::vector<double>() : leading(a),
                            y = wide_b ? std::vector<double>() : leading(b);
  if (wide_a) return call(a.entries, y);
  if (wide_b) return call(x, b.entries);
  return call(x, y);
}

QuadMatrix read_finite(const std::string& path, Vectors vectors) {
  QuadMatrix x = read_quad_matrix(path, vectors);
  for (const dd& e : x.entries)
    if (!std::isfinite(e.hi) || !std::isfinite(e.lo))
      throw FileError(path, "holds NaN or infinite entries: a system needs finite numbers");
  return x;
}

struct System {
  QuadMatrix a, b;
};

System read_system(const QuadArguments& arguments) {
  System s{by_columns(read_finite(arguments.a, Vectors::refused)),
           by_columns(read_finite(arguments.b, Vectors::columns))};
  if (s.a.rows != s.a.columns)
    throw FileError(arguments.a, fmt::format("is {} x {}, not square", s.a.rows, s.a.columns));
  if (s.b.rows != s.a.rows)
    throw FileError(arguments.b, fmt::format("has {} rows, and A has {} ({})", s.b.rows, s.a.rows, arguments.a));
  return s;
}

VerifiedReport verify_on_gpu(std::int64_t n, std::int64_t nrhs, const std::vector<double>& a,
                             const std::vector<double>& b, std::int64_t ld, std::vector<double>& ends) {
  const DeviceArray<double> device_a(a), device_b(b), device_ends(static_cast<std::int64_t>(ends.size()));
  const VerifiedReport report = cuda::verified_solve(n, nrhs, device_a.data(), ld, device_b.data(), ld,
                                                     device_ends.data(), device_ends.data() + n, 2 * ld);
  if (report.verified) ends = device_ends.values();
  return report;
}

QuadSolveReport solve_on_gpu(std::int64_t n, std::int64_t nrhs, const std::vector<double>& a, const std::vector<dd>& b,
                             std::int64_t ld, const QuadOptions& options, std::vector<dd>& x) {
  const DeviceArray<double> device_a(a);
  const DeviceArray<dd> device_b(b), device_x(x);
  const QuadSolveReport report =
      cuda::quad_solve(n, nrhs, device_a.data(), ld, device_b.data(), ld, device_x.data(), ld, options);
  if (report.ok) x = device_x.values();
  return report;
}

}  // namespace

int multiply_quad(const QuadArguments& arguments, const Console& console) {
  const FileFormat format = checked_output(arguments.output, console);
  const QuadEntries entries = parse_quad_entries(arguments.entries);
  check_inputs({arguments.a, arguments.b, arguments.c_in});
  if (arguments.beta != 0 && arguments.c_in.empty())
    throw UsageError("--beta needs a matrix to scale: give it by --c-in");
  options_of(arguments);
  if (arguments.device == "cuda") cuda::device_name();  // throws where there is none
  const QuadMatrix a = read_quad_matrix(arguments.a, Vectors::rows),
                   b = read_quad_matrix(arguments.b, Vectors::columns);
  if ((a.vector && arguments.opa != Op::none) || (b.vector && arguments.opb != Op::none))
    throw FileError(a.vector ? arguments.a : arguments.b, "is a vector, which has no transpose");
  const bool plain_a = arguments.opa == Op::none, plain_b = arguments.opb == Op::none;
  const std::int64_t m = plain_a ? a.rows : a.columns, k = plain_a ? a.columns : a.rows,
                     n = plain_b ? b.columns : b.rows;
  if ((plain_b ? b.rows : b.columns) != k)
    throw FileError(arguments.b, fmt::format("op(B) has {} rows and cannot follow op(A), which is {} x {} ({})",
                                             plain_b ? b.rows : b.columns, m, k, arguments.a));
  QuadMatrix c{m, n, Order::column_major, {}, a.vector || b.vector};
  if (!arguments.c_in.empty()) {
    c.entries = by_columns(read_quad_matrix(arguments.c_in, m == 1 ? Vectors::rows : Vectors::columns)).entries;
    if (c.entries.size() != static_cast<std::size_t>(m * n))
      throw FileError(arguments.c_in, fmt::format("has {} entries, the product is {} x {}", c.entries.size(), m, n));
  }
  checked_bytes("the product", m, n, sizeof(dd));
  std::optional<OutputFile> file;
  if (!arguments.output.empty()) file.emplace(arguments.output);
  c.entries.resize(static_cast<std::size_t>(m * n));
  const QuadReport report = multiply(a, b, k, arguments, c);
  if (file) write_quad_matrix(*file, format, c, entries);
  print(report.text(), report.json(), arguments, console);
  if (file) file->commit();
  return exit_ok;
}

int solve_quad(const QuadArguments& arguments, const Console& console) {
  const FileFormat format = checked_output(arguments.output, console);
  const QuadEntries entries = parse_quad_entries(arguments.entries);
  check_inputs({arguments.a, arguments.b});
  if (arguments.device == "cuda") cuda::device_name();  // throws where there is none
  const System s = read_system(arguments);
  const bool wide = any_low(s.a);
  if (wide && arguments.device == "cuda")
    throw FileError(arguments.a, "has entries wider than double: leave out --device cuda, CPUs factor them");
  const std::int64_t n = s.a.rows, nrhs = s.b.columns, ld = s.a.leading_dimension();
  std::optional<OutputFile> file;
  if (!arguments.output.empty()) file.emplace(arguments.output);
  QuadMatrix x{n, nrhs, Order::column_major, std::vector<dd>(s.b.entries.size()), s.b.vector};
  QuadOptions options = options_of(arguments);
  options.verified = arguments.verified;
  const QuadSolveReport report =
      wide ? quad_solve(n, nrhs, s.a.entries.data(), ld, s.b.entries.data(), ld, x.entries.data(), ld, options)
      : arguments.device == "cuda"
          ? solve_on_gpu(n, nrhs, leading(s.a), s.b.entries, ld, options, x.entries)
          : quad_solve(n, nrhs, leading(s.a).data(), ld, s.b.entries.data(), ld, x.entries.data(), ld, options);
  if (!report.ok || report.verified != options.verified) {
    console.json ? print_json(Json::parse(report.json())) : console.note(report.text());
    throw std::runtime_error((report.ok ? "not verified: the matrix is too ill-conditioned" : report.reason) +
                             ": nothing was written");
  }
  if (file) write_quad_matrix(*file, format, x, entries);
  print(report.text(), report.json(), arguments, console);
  if (file) file->commit();
  return exit_ok;
}

int solve_verified(const QuadArguments& arguments, const Console& console) {
  const FileFormat format = checked_output(arguments.output, console);
  check_inputs({arguments.a, arguments.b});
  if (arguments.device == "cuda") cuda::device_name();  // throws where there is none
  const System s = read_system(arguments);
  if (any_low(s.a) || any_low(s.b)) throw UsageError("--verified takes matrices of doubles");
  const std::int64_t n = s.a.rows, nrhs = s.b.columns, ld = s.a.leading_dimension();
  std::optional<OutputFile> file;
  if (!arguments.output.empty()) file.emplace(arguments.output);
  Options options;
  options.engine = arguments.engine, options.threads = arguments.threads;
  std::vector<double> ends(static_cast<std::size_t>(2 * n * nrhs));  // columns: low, high of the first, and so on
  const std::vector<double> a = leading(s.a), b = leading(s.b);
  const VerifiedReport report =
      arguments.device == "cuda"
          ? verify_on_gpu(n, nrhs, a, b, ld, ends)
          : verified_solve(n, nrhs, a.data(), ld, b.data(), ld, ends.data(), ends.data() + n, 2 * ld, options);
  if (!report.verified) {
    console.json ? print_json(Json::parse(report.json())) : console.note(report.text());
    throw std::runtime_error("not verified: " + report.reason + "; nothing was written");
  }
  if (file) write_matrix(*file, format, Matrix{n, 2 * nrhs, Order::column_major, std::move(ends)}, Order::column_major);
  print(report.text(), report.json(), arguments, console);
  if (file) file->commit();
  return exit_ok;
}

}  // namespace vernier::cli

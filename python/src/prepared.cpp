#include "prepared.hpp"

#include <nanobind/stl/string.h>

#include <complex>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>
#include <vernier/prepared.hpp>

#include "gil.hpp"
#include "matmul.hpp"
#include "multiply.hpp"

namespace vernier::python {
namespace {

// Results are by rows, so that products are C^T = B^T A^T: a left factor A is prepared as the right factor A^T.
class Prepared {
 public:
  Prepared(nb::handle x, bool left, const std::string& contract, const std::string& engine, int threads) : left_(left) {
    Array array;
    if (!describe(x, array) || array.dimensions != 2 || !array.regular ||
        !as_matrix(array.data, array.shape, array.strides, matrix_))
      throw nb::type_error("prepare: expected a matrix of float32, float64, complex64 or complex128");
    if (array.device != on_cpu && is_complex(array.kind))
      throw nb::type_error("prepare: on a GPU a matrix of float32 or float64 is expected; complex ones lie on the CPU");
    rows_ = array.shape[0], columns_ = array.shape[1], kind_ = array.kind, device_ = array.device;
    request_ = {.contract = contract_of(contract, kind_), .engine = engine, .threads = threads};
    request_.stream = stream_of(array);
    const WithoutGil others_may_run;
    with_type(kind_, [&](auto zero) { make<decltype(zero)>(); });
    matrix_ = {};  // the object owns its data
  }

  PreparedReport multiply(nb::handle other, nb::handle result) const {
    Array x, c;
    Matrix operand, out;
    if (!describe(other, x) || !describe(result, c) || x.kind != kind_ || c.kind != kind_ || x.device != device_ ||
        c.device != device_)
      throw nb::type_error("prepare: the other factor has another type or device than the prepared one");
    if (!as_matrix(x.data, x.shape, x.strides, operand) || !as_matrix(c.data, c.shape, c.strides, out) || !out.by_rows)
      throw nb::value_error("prepare: expected matrices by rows or by columns");
    Request request = request_;
    request.stream = stream_of(x);
    const WithoutGil others_may_run;
    return with_type(kind_, [&](auto zero) { return run<decltype(zero)>(request, operand, x, out); });
  }

  std::string text() const {
    return std::visit(
        [&](const auto& held) -> std::string {
          if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
            return "Prepared()";
          } else {
            return "Prepared " + std::string(left_ ? "left" : "right") + " factor, " + std::to_string(rows_) + " x " +
                   std::to_string(columns_) + ", contract " + held.contract().text() + ", engine " + held.engine() +
                   ", " + std::to_string(held.moduli()) + " moduli, " + std::to_string(held.bytes()) + " bytes";
          }
        },
        held_);
  }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  bool left() const { return left_; }
  const char* dtype() const { return name_of(kind_); }

 private:
  template <class T>
  void make() {
    const Side side = left_ ? Side::right : Side::left;
    const Op op = matrix_.by_rows ? Op::none : Op::transpose;
    const auto* data = static_cast<const T*>(matrix_.data);
    if (device_ == on_cpu)
      held_.emplace<PreparedOperand<T>>(
          side, op, columns_, rows_, data, matrix_.leading,
          vernier::Options{.contract = request_.contract, .engine = request_.engine, .threads = request_.threads});
    else if constexpr (std::is_floating_point_v<T>)
      held_.emplace<cuda::PreparedOperand<T>>(
          side, op, columns_, rows_, data, matrix_.leading,
          cuda::Options{.contract = request_.contract, .engine = request_.engine, .stream = request_.stream});
  }

  template <class T>
  PreparedReport run(const Request& request, const Matrix& other, const Array& x, const Matrix& out) const {
    const Op op = other.by_rows ? Op::none : Op::transpose;
    const auto* B = static_cast<const T*>(other.data);
    auto* C = static_cast<T*>(out.data);
    const std::int64_t m = left_ ? x.shape[1] : columns_, n = left_ ? rows_ : x.shape[0], k = left_ ? columns_ : rows_;
    if (device_ == on_cpu) {
      const vernier::Options options{.contract = request.contract, .threads = request.threads};
      const auto& held = std::get<PreparedOperand<T>>(held_);
      return left_ ? gemm<T>(op, held, m, n, k, T(1), B, other.leading, T(0), C, out.leading, options)
                   : gemm<T>(held, op, m, n, k, T(1), B, other.leading, T(0), C, out.leading, options);
    }
    if constexpr (std::is_floating_point_v<T>) {
      const T one(1), zero(0);
      const cuda::Options options{.contract = request.contract, .stream = request.stream};
      const auto& held = std::get<cuda::PreparedOperand<T>>(held_);
      return left_ ? cuda::gemm<T>(op, held, m, n, k, &one, B, other.leading, &zero, C, out.leading, options)
                   : cuda::gemm<T>(held, op, m, n, k, &one, B, other.leading, &zero, C, out.leading, options);
    }
    throw std::logic_error("complex factors are prepared on the CPU");
  }

  bool left_;
  Matrix matrix_;
  Kind kind_ = Kind::float64;
  int device_ = on_cpu;
  std::int64_t rows_ = 0, columns_ = 0;
  Request request_;
  std::variant<std::monostate, PreparedOperand<float>, PreparedOperand<double>, PreparedOperand<std::complex<float>>,
               PreparedOperand<std::complex<double>>, cuda::PreparedOperand<float>, cuda::PreparedOperand<double>>
      held_;
};

}  // namespace

void bind_prepared(nb::module_& m) {
  nb::class_<PreparedReport, Report>(m, "PreparedReport", "What was done for a product with a prepared factor.")
      .def_ro("prepared_a", &PreparedReport::prepared_a)
      .def_ro("prepared_b", &PreparedReport::prepared_b)
      .def("__getstate__",
           [](const PreparedReport& r) { return nb::make_tuple(Report(r), r.prepared_a, r.prepared_b); })
      .def("__setstate__",
           [](PreparedReport& r, const nb::tuple& state) {
             new (&r) PreparedReport{nb::cast<Report>(state[0]), nb::cast<bool>(state[1]), nb::cast<bool>(state[2])};
           })
      .def("__repr__", &PreparedReport::text);
  nb::class_<Prepared>(m, "Prepared")
      .def(nb::init<nb::handle, bool, const std::string&, const std::string&, int>(), nb::arg("x"), nb::arg("left"),
           nb::arg("contract"), nb::arg("engine"), nb::arg("threads"))
      .def_prop_ro("rows", &Prepared::rows)
      .def_prop_ro("columns", &Prepared::columns)
      .def_prop_ro("left", &Prepared::left)
      .def_prop_ro("dtype", &Prepared::dtype)
      .def(
          "multiply",
          [](const Prepared& self, nb::handle other, nb::handle result) {
            const nb::object report = nb::cast(self.multiply(other, result));
            note(report);
            return report;
          },
          nb::arg("other"), nb::arg("result"))
      .def("__repr__", &Prepared::text);
}

}  // namespace vernier::python

#include "models.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <vector>
#include <vernier/hardware.hpp>
#include <vernier/model.hpp>

#include "gil.hpp"
#include "multiply.hpp"

namespace vernier::python {
namespace {

using model::NamedEngine;

std::vector<std::uint64_t> encoded(model::Format format, const std::vector<double>& values) {
  std::vector<std::uint64_t> words;
  for (const double value : values) words.push_back(model::encode(format, value));
  return words;
}

double dot(const NamedEngine& e, const std::vector<double>& a, const std::vector<double>& b, double c) {
  const auto k = static_cast<std::size_t>(e.engine.k);
  if (a.size() > k || b.size() > k)
    throw nb::value_error((e.name + " has " + std::to_string(k) + " products; a has " + std::to_string(a.size()) +
                           " elements and b " + std::to_string(b.size()))
                              .c_str());
  auto words_a = encoded(e.engine.a, a), words_b = encoded(e.engine.b, b);
  words_a.resize(k, 0), words_b.resize(k, 0);
  const auto c_word = model::encode(e.engine.c, c);
  return model::decode(e.engine.c, model::dot(e.engine, words_a.data(), words_b.data(), c_word));
}

// Vectors of k elements, one after another, in the storage of `format`.
std::vector<unsigned char> stored(model::Format format, const Array& x, std::int64_t count, std::int64_t vectors,
                                  std::int64_t along, std::int64_t apart) {
  const auto bytes = static_cast<std::size_t>(model::storage_bytes(format));
  std::vector<unsigned char> all(bytes * static_cast<std::size_t>(count * vectors));
  const auto* data = static_cast<const double*>(x.data);
  for (std::int64_t v = 0; v < vectors; ++v)
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t word = model::encode(format, data[v * apart + i * along]);
      std::memcpy(&all[static_cast<std::size_t>(v * count + i) * bytes], &word, bytes);
    }
  return all;
}

void multiply_on(const NamedEngine& e, nb::handle left, nb::handle right, nb::handle result) {
  Array a, b, d;
  for (const auto& [x, array] : {std::pair{left, &a}, {right, &b}, {result, &d}})
    if (!describe(x, *array) || array->kind != Kind::float64 || array->device != on_cpu || array->dimensions != 2)
      throw nb::type_error("multiply: expected matrices of float64 on the CPU");
  const std::int64_t m = a.shape[0], k = a.shape[1], n = b.shape[1];
  const auto A = stored(e.engine.a, a, k, m, a.strides[1], a.strides[0]);
  const auto B = stored(e.engine.b, b, k, n, b.strides[0], b.strides[1]);
  const auto bytes = static_cast<std::size_t>(model::storage_bytes(e.engine.c));
  std::vector<unsigned char> C(bytes * static_cast<std::size_t>(m * n));
  {
    const WithoutGil others_may_run;
    model::multiply(e.engine, {}, m, n, k, A.data(), k, B.data(), k, C.data(), C.data(), m);
  }
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, &C[static_cast<std::size_t>(j * m + i) * bytes], bytes);
      static_cast<double*>(d.data)[i * d.strides[0] + j * d.strides[1]] = model::decode(e.engine.c, word);
    }
}

std::string text_of(const NamedEngine& e) {
  const auto format = [](model::Format f) { return std::string(model::to_string(f)); };
  return "EngineModel " + e.name + ": " + e.instruction + " of " + e.device + ", " + std::to_string(e.engine.k) +
         " products of " + format(e.engine.a) + " and " + format(e.engine.b) + ", sums in " + format(e.engine.c);
}

model::ProbeReport probe_named(const std::string& name) {
  const WithoutGil others_may_run;
  if (model::is_hardware_name(name)) return model::probe(*model::open_hardware(name));
  return model::probe(model::ModelEngine(model::find_engine(name).engine));
}

void bind_probes(nb::module_& m) {
  nb::class_<model::Finding>(m, "Finding", "One conclusion of a probe, and the inputs that show it.")
      .def_ro("topic", &model::Finding::topic)
      .def_ro("value", &model::Finding::value)
      .def_ro("evidence", &model::Finding::evidence)
      .def("__repr__", [](const model::Finding& f) { return f.topic + ": " + f.value + "  (" + f.evidence + ")"; });
  nb::class_<model::ProbeReport>(m, "ProbeReport", "What an engine computes, found out of its results.")
      .def_ro("findings", &model::ProbeReport::findings)
      .def_ro("tree", &model::ProbeReport::tree, "the order of accumulation")
      .def(
          "value", [](const model::ProbeReport& r, const std::string& topic) { return r.value(topic); },
          nb::arg("topic"), "The value found for a topic, or ''.")
      .def("json", &model::ProbeReport::json, "One JSON object with all fields.")
      .def("__repr__", &model::ProbeReport::text);
  m.def("probe", &probe_named, nb::arg("name"));
}

}  // namespace

void bind_models(nb::module_& m) {
  nb::class_<NamedEngine>(m, "EngineModel", "A matrix instruction, executed bit for bit.")
      .def_ro("name", &NamedEngine::name)
      .def_ro("device", &NamedEngine::device)
      .def_ro("instruction", &NamedEngine::instruction)
      .def_ro("source", &NamedEngine::source, "where its facts come from")
      .def_prop_ro(
          "k", [](const NamedEngine& e) { return e.engine.k; }, "products of one instruction")
      .def_prop_ro("formats",
                   [](const NamedEngine& e) {
                     return nb::make_tuple(model::to_string(e.engine.a), model::to_string(e.engine.b),
                                           model::to_string(e.engine.c));
                   })
      .def("dot", &dot, nb::arg("a"), nb::arg("b"), nb::arg("c") = 0.0,
           "c + a . b as the instruction computes it. Numbers are rounded to its formats first; missing ones are 0.")
      .def(
          "exact_bits", [](const NamedEngine& e, std::int64_t k) { return model::exact_bits(e.engine, k); },
          nb::arg("k"), "The largest s such that k products of integers below 2^s are summed without any loss.")
      .def("_multiply", &multiply_on, nb::arg("a"), nb::arg("b"), nb::arg("result"))
      .def(
          "json", [](const NamedEngine& e) { return model::to_json(e); }, "One JSON object with all fields.")
      .def("__repr__", &text_of);
  m.def("engine_models", [] {
    nb::list all;
    for (const auto& e : model::engines()) all.append(nb::cast(e));
    return all;
  });
  m.def(
      "engine_model", [](const std::string& name) { return model::find_engine(name); }, nb::arg("name"));
  m.def("hardware", [] {
    nb::list all;
    for (const auto& e : model::hardware_engines())
      all.append(nb::make_tuple(e.name, e.instruction, e.model, e.missing));
    return all;
  });
  bind_probes(m);
}

}  // namespace vernier::python

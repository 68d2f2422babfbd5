// Reports as processes exchange them, and copies: the tuple of their fields.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <new>
#include <string>
#include <type_traits>
#include <vernier/vernier.hpp>

namespace vernier::python {
namespace nb = nanobind;

template <class Field>
nb::object state_of(const Field& field) {
  if constexpr (std::is_same_v<Field, Contract>)
    return nb::cast(field.text());
  else if constexpr (std::is_enum_v<Field>)
    return nb::cast(static_cast<int>(field));
  else
    return nb::cast(field);
}

template <class Field>
void restore(Field& field, nb::handle state) {
  if constexpr (std::is_same_v<Field, Contract>)
    field = Contract::parse(nb::cast<std::string>(state));
  else if constexpr (std::is_enum_v<Field>)
    field = static_cast<Field>(nb::cast<int>(state));
  else
    field = nb::cast<Field>(state);
}

template <auto... fields, class T>
void pickled_by(nb::class_<T>& type) {
  type.def("__getstate__", [](const T& x) { return nb::make_tuple(state_of(x.*fields)...); });
  type.def("__setstate__", [](T& x, const nb::tuple& state) {
    if (state.size() != sizeof...(fields)) throw nb::value_error("vernier: pickled by another version");
    new (&x) T;
    std::size_t next = 0;
    (restore(x.*fields, state[next++]), ...);
  });
}

}  // namespace vernier::python

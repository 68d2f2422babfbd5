// Descriptions of engines: refused with invalid_argument, or an engine that survives a round trip and multiplies.
#include "fuzz/target.hpp"
#include "vernier/model.hpp"
#include "vernier/vernier.hpp"

namespace vernier::fuzz {
namespace {

constexpr std::int64_t order = 16;  // a tile of the vector path

std::vector<unsigned char> words_of(std::string_view bytes, std::int64_t size) {
  std::vector<unsigned char> words(static_cast<std::size_t>(size));
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < words.size(); ++i) {
    state = state * 6364136223846793005 + static_cast<unsigned char>(bytes[i % bytes.size()]) + 1442695040888963407;
    words[i] = static_cast<unsigned char>(state >> 56);
  }
  return words;
}

// The vector path, where there is one, has the scalar model's bits.
void multiply_both_ways(const model::Engine& e, std::string_view bytes) {
  constexpr int longest = 256;
  if (e.k > longest) return;
  const std::int64_t k = 2 * e.k;
  const auto a = words_of(bytes, order * k * model::storage_bytes(e.a)),
             b = words_of(bytes.substr(1), order * k * model::storage_bytes(e.b)),
             c = words_of(bytes.substr(2), order * order * model::storage_bytes(e.c));
  std::vector<unsigned char> fast(c.size()), scalar(c.size());
  model::multiply(e, {}, order, order, k, a.data(), k, b.data(), k, c.data(), fast.data(), order);
  model::multiply(e, {.scalar = true}, order, order, k, a.data(), k, b.data(), k, c.data(), scalar.data(), order);
  promise(fast == scalar, "the vector path has the scalar model's bits");
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const model::NamedEngine& engine : model::engines()) all.push_back(model::to_json(engine));
  return all;
}

void try_input(std::string_view bytes) {
  try {
    const model::NamedEngine engine = model::parse_engine(bytes);
    const std::string text = model::to_json(engine);
    promise(model::to_json(model::parse_engine(text)) == text, "a description survives a round trip");
    multiply_both_ways(engine.engine, text);
  } catch (const Error& error) {
    promise(error.status() == Status::invalid_argument, "a description is refused as an invalid argument");
  }
}

}  // namespace vernier::fuzz

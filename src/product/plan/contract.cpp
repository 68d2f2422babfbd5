#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "base/status.hpp"

namespace vernier {
namespace {

constexpr std::string_view expected =
    "fp32, fp64, fp64-normwise, exact, bits(n) or normwise(n) with n from 4 to 110, then +reproducible, +no-fallback; "
    "after exact also +down, +up, +toward-zero";

// But for those of n bits.
struct NamedKind {
  std::string_view name;
  Contract::Kind kind;
  int bits_asked;
};
constexpr NamedKind kinds[] = {{"fp32", Contract::Kind::fp32, 24},
                               {"fp64", Contract::Kind::fp64, 53},
                               {"fp64-normwise", Contract::Kind::normwise, 53},
                               {"exact", Contract::Kind::exact, 0}};

std::optional<Contract> parse_kind(std::string_view text) {
  for (const NamedKind& known : kinds)
    if (text == known.name) return Contract{.kind = known.kind, .bits_asked = known.bits_asked};
  const std::size_t open = text.find('(');
  const std::string_view name = text.substr(0, open);
  if (open == text.npos || !text.ends_with(")") || (name != "bits" && name != "normwise")) return std::nullopt;
  text = text.substr(open + 1, text.size() - open - 2);
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < 4 || n > 110) return std::nullopt;
  return Contract{.kind = name == "bits" ? Contract::Kind::bits : Contract::Kind::normwise, .bits_asked = n};
}

struct Direction {
  std::string_view word;
  Rounding rounding;
};
constexpr Direction directions[] = {
    {"+down", Rounding::down}, {"+up", Rounding::up}, {"+toward-zero", Rounding::toward_zero}};

}  // namespace

Contract Contract::fp32() { return {.kind = Kind::fp32, .bits_asked = 24}; }
Contract Contract::fp64() { return {.kind = Kind::fp64, .bits_asked = 53}; }
Contract Contract::normwise() { return {.kind = Kind::normwise, .bits_asked = 53}; }
Contract Contract::exact(Rounding rounding) { return {.kind = Kind::exact, .bits_asked = 0, .rounding = rounding}; }

Contract Contract::bits(int n) {
  require(n >= 4 && n <= 110, "contract bits({}): expected a number from 4 to 110", n);
  return {.kind = Kind::bits, .bits_asked = n};
}

Contract Contract::parse(std::string_view text) {
  const std::size_t plus = text.find('+');
  std::optional<Contract> contract = parse_kind(text.substr(0, plus));
  for (std::string_view rest = plus == text.npos ? "" : text.substr(plus); contract && !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find('+', 1));
    rest.remove_prefix(word.size());
    if (word == "+reproducible")
      contract->reproducible = true;
    else if (word == "+no-fallback")
      contract->fallback = Fallback::none;
    else if (const auto* to = std::ranges::find(directions, word, &Direction::word);
             to != std::end(directions) && contract->kind == Kind::exact && contract->rounding == Rounding::nearest)
      contract->rounding = to->rounding;
    else
      contract.reset();
  }
  require(contract.has_value(), "contract \"{}\": expected {}", text, expected);
  return *contract;
}

std::string Contract::text() const {
  std::string name;
  if (kind == Kind::bits) name = fmt::format("bits({})", bits_asked);
  for (const NamedKind& known : kinds)
    if (kind == known.kind) name = known.name;
  if (kind == Kind::normwise && bits_asked != normwise().bits_asked) name = fmt::format("normwise({})", bits_asked);
  for (const Direction& to : directions)
    if (kind == Kind::exact && rounding == to.rounding) name += to.word;
  if (reproducible) name += "+reproducible";
  if (fallback == Fallback::none) name += "+no-fallback";
  return name;
}

}  // namespace vernier

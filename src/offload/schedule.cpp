#include "offload/schedule.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/size.hpp"
#include "engine/panel.hpp"

namespace vernier::offload {

std::size_t aligned(std::size_t bytes) {
  constexpr std::size_t alignment = 256;
  return size_sum(bytes, alignment - 1) / alignment * alignment;
}

namespace {

constexpr std::int64_t least_block = 32, block_unit = 128;

// Where panels of one operand lie.
struct Slots {
  std::size_t bytes = 0;  // of one
  int count = 0;
  std::size_t begin = 0;

  std::size_t all() const { return size_product({bytes, static_cast<std::size_t>(count)}); }
};

struct Layout {
  std::int64_t m_block = 0, n_block = 0;
  int rows = 0, columns = 0;  // blocks of C
  bool rows_stay = true;      // where not all can: columns go by
  Slots a, b, c;

  int blocks() const { return rows * columns; }
  bool keeps_all() const { return a.count == rows && b.count == columns; }
  std::size_t bytes() const { return size_sum(a.all(), size_sum(b.all(), c.all())); }
};

constexpr int working_slots = 2, working_c = 3;

Layout layout_of(const ScheduleRequest& r, std::int64_t m_block, std::int64_t n_block) {
  Layout x{.m_block = m_block,
           .n_block = n_block,
           .rows = static_cast<int>(divide_up(r.m, m_block)),
           .columns = static_cast<int>(divide_up(r.n, n_block))};
  x.a = {aligned(size_product({static_cast<std::size_t>(m_block), static_cast<std::size_t>(r.k), r.element})), x.rows};
  x.b = {aligned(size_product({static_cast<std::size_t>(n_block), static_cast<std::size_t>(r.k), r.element})),
         x.columns};
  x.c = {aligned(size_product({static_cast<std::size_t>(m_block), static_cast<std::size_t>(n_block), r.element})),
         x.blocks()};
  return x;
}

// The largest number of slots, least to most, that fit; 0 if not even the least do.
int most_that_fit(std::size_t room, std::size_t bytes, int least, int most) {
  const std::size_t count = bytes == 0 ? static_cast<std::size_t>(most) : room / bytes;
  return count < static_cast<std::size_t>(least) ? 0
                                                 : static_cast<int>(std::min(count, static_cast<std::size_t>(most)));
}

// Fewer slots, so that all fits: of C first, since each is wanted once; then of the operand that costs less to send
// again. False: even the least do not.
bool fit(Layout& x, const ScheduleRequest& r) {
  const std::size_t workspace = r.workspace ? r.workspace(std::min(x.m_block, r.m), std::min(x.n_block, r.n)) : 0;
  if (workspace > r.memory) return false;
  const std::size_t room = r.memory - workspace;
  const int least_c = std::min(working_c, x.blocks());
  const int least_a = std::min(working_slots, x.rows), least_b = std::min(working_slots, x.columns);
  const auto rest = [&](std::size_t taken) { return room > taken ? room - taken : 0; };
  if (const int c = most_that_fit(rest(size_sum(x.a.all(), x.b.all())), x.c.bytes, least_c, x.blocks())) {
    x.c.count = c;
    return true;
  }
  x.c.count = least_c;
  // Rows are kept and columns go by, once for each group of rows; or the other way round.
  Layout by_rows = x, by_columns = x;
  by_rows.b.count = least_b;
  by_rows.a.count = most_that_fit(rest(size_sum(x.c.all(), by_rows.b.all())), x.a.bytes, least_a, x.rows);
  by_columns.a.count = least_a;
  by_columns.b.count = most_that_fit(rest(size_sum(x.c.all(), by_columns.a.all())), x.b.bytes, least_b, x.columns);
  const auto sent = [&](const Layout& l, bool rows) {
    const Slots &kept = rows ? l.a : l.b, &other = rows ? l.b : l.a;
    const int all = rows ? l.rows : l.columns, others = rows ? l.columns : l.rows;
    if (kept.count == 0) return std::numeric_limits<double>::infinity();
    return static_cast<double>(kept.bytes) * all +
           static_cast<double>(other.bytes) * others * static_cast<double>(divide_up(all, kept.count));
  };
  const double rows = sent(by_rows, true), columns = sent(by_columns, false);
  if (rows == columns && rows == std::numeric_limits<double>::infinity()) return false;
  x = rows <= columns ? by_rows : by_columns;
  x.rows_stay = rows <= columns;
  return true;
}

Layout choose_layout(const ScheduleRequest& r) {
  auto [m_block, n_block] = block_size(r);
  for (;;) {
    Layout x = layout_of(r, m_block, n_block);
    if (fit(x, r)) return x;
    std::int64_t& longer = m_block >= n_block ? m_block : n_block;
    if (longer <= least_block) return {};
    longer = std::max(least_block, divide_up(longer, 2));
  }
}

struct Place {
  int row, column;
};

// Both operands grow alike, and with each panel come all blocks that it makes possible.
std::vector<Place> growing(int rows, int columns) {
  std::vector<Place> order;
  int i = 0, j = 0;
  while (i < rows || j < columns) {
    const bool row = j == columns || (i < rows && i * columns <= j * rows);
    if (row)
      for (int c = 0; c < j; ++c) order.push_back({i, c});
    else
      for (int r = 0; r < i; ++r) order.push_back({r, j});
    row ? ++i : ++j;
  }
  return order;
}

// Groups of the vectors that are kept; the others go by, to and fro.
std::vector<Place> in_groups(int kept, int others, int group, bool rows_stay) {
  std::vector<Place> order;
  for (int first = 0, sweep = 0; first < kept; first += group, ++sweep)
    for (int step = 0; step < others; ++step) {
      const int other = sweep % 2 == 0 ? step : others - 1 - step;
      for (int i = first; i < std::min(kept, first + group); ++i)
        order.push_back(rows_stay ? Place{i, other} : Place{other, i});
    }
  return order;
}

std::vector<Place> order_of(const Layout& x) {
  if (x.keeps_all()) return growing(x.rows, x.columns);
  return x.rows_stay ? in_groups(x.rows, x.columns, x.a.count, true) : in_groups(x.columns, x.rows, x.b.count, false);
}

// The panels of one operand in their slots, while the blocks are gone through. What is wanted last leaves first.
class Residents {
 public:
  Residents(const Slots& slots, int vectors, std::vector<int> uses)  // uses: the vector of each block
      : slots_(slots),
        uses_(std::move(uses)),
        slot_of_(static_cast<std::size_t>(vectors), -1),
        held_(static_cast<std::size_t>(slots.count)),
        next_(uses_.size()) {
    std::vector<int> later(static_cast<std::size_t>(vectors), never);
    for (std::size_t b = uses_.size(); b-- > 0;) {
      next_[b] = later[at(b)];
      later[at(b)] = static_cast<int>(b);
    }
  }

  struct Arrival {
    bool needed = false;  // else it is there, as `panel`
    int panel = -1;
    std::size_t offset = 0;
    int after = -1;
  };

  // What block b needs; panel: its number if it has to come.
  Arrival use(std::size_t b, int panel) {
    int& slot = slot_of_[at(b)];
    const bool needed = slot < 0;
    Arrival arrival{.needed = needed};
    if (needed) {
      slot = static_cast<int>(victim());
      Held& held = held_[static_cast<std::size_t>(slot)];
      arrival.after = held.last_block;
      if (held.vector >= 0) slot_of_[static_cast<std::size_t>(held.vector)] = -1;
      held = {.vector = uses_[b], .panel = panel};
    }
    Held& held = held_[static_cast<std::size_t>(slot)];
    held.last_block = static_cast<int>(b);
    held.next_block = next_[b];
    arrival.panel = held.panel;
    arrival.offset = slots_.begin + static_cast<std::size_t>(slot) * slots_.bytes;
    return arrival;
  }

 private:
  static constexpr int never = std::numeric_limits<int>::max();

  struct Held {
    int vector = -1, panel = -1, last_block = -1, next_block = never;
  };

  std::size_t at(std::size_t b) const { return static_cast<std::size_t>(uses_[b]); }

  std::size_t victim() const {
    std::size_t best = 0;
    for (std::size_t s = 0; s < held_.size(); ++s) {
      if (held_[s].vector < 0) return s;
      const auto key = [](const Held& h) { return std::pair(h.next_block, -h.last_block); };
      if (key(held_[s]) > key(held_[best])) best = s;
    }
    return best;
  }

  Slots slots_;
  std::vector<int> uses_;
  std::vector<int> slot_of_;  // of each vector; -1: not there
  std::vector<Held> held_;
  std::vector<int> next_;  // the block after b that uses the same vector
};

Panel operand_panel(Matrix matrix, Range vectors, std::int64_t k, bool vectors_are_columns) {
  if (vectors_are_columns) return {matrix, 0, vectors.begin, k, vectors.count};
  return {matrix, vectors.begin, 0, vectors.count, k};
}

Range part(int index, std::int64_t size, std::int64_t all) {
  const std::int64_t begin = index * size;
  return {begin, std::min(size, all - begin)};
}

std::size_t bytes_of(const Panel& p, std::size_t element) {
  return static_cast<std::size_t>(p.rows) * static_cast<std::size_t>(p.columns) * element;
}

// Panels of parts of columns, each part at least so many bytes long, if the columns are: a device reads short ones from
// the host at half the link's rate.
std::int64_t long_runs(std::int64_t vectors, std::size_t element, std::int64_t bytes) {
  const std::int64_t panels = std::max<std::int64_t>(1, vectors * static_cast<std::int64_t>(element) / bytes);
  return divide_up(vectors, panels);
}

// Thin panels that follow a large one: the last product and its way back are short.
std::int64_t thin_block(std::int64_t vectors) {
  constexpr std::int64_t least = 256, most = 2048;
  return std::clamp(round_up(divide_up(vectors, 8), block_unit), least, most);
}

}  // namespace

BlockSize block_size(const ScheduleRequest& r) {
  constexpr std::int64_t run = 65536, shorter_run = 32768;
  const bool a_in_parts = r.direct_a && !r.a_by_rows, b_in_parts = r.direct_b && !r.b_by_columns;
  BlockSize size{preferred_block(r.m), preferred_block(r.n)};
  if (a_in_parts) size = {long_runs(r.m, r.element, run), thin_block(r.n)};
  if (b_in_parts) size.n = long_runs(r.n, r.element, a_in_parts ? shorter_run : run);
  if (b_in_parts && !a_in_parts) size.m = thin_block(r.m);
  if (r.m_block > 0) size.m = r.m_block;
  if (r.n_block > 0) size.n = r.n_block;
  return {std::min(size.m, r.m), std::min(size.n, r.n)};
}

std::int64_t preferred_block(std::int64_t vectors) {
  constexpr std::int64_t least = 1024, half = 2048, most = 4096;
  const std::int64_t wanted = std::clamp(std::max(vectors / 4, std::min(vectors / 2, half)), least, most);
  return round_up(divide_up(vectors, divide_up(vectors, wanted)), block_unit);
}

Schedule make_schedule(const ScheduleRequest& r) {
  Schedule s{.element = r.element};
  Layout x = choose_layout(r);
  if (x.blocks() == 0) return s;
  x.b.begin = x.a.all();
  x.c.begin = x.b.begin + x.b.all();
  s.m_block = x.m_block;
  s.n_block = x.n_block;
  s.bytes = x.bytes();
  const std::vector<Place> order = order_of(x);
  std::vector<int> rows, columns;
  for (const Place& p : order) rows.push_back(p.row), columns.push_back(p.column);
  Residents a(x.a, x.rows, std::move(rows)), b(x.b, x.columns, std::move(columns));
  const auto send = [&](Panel panel, std::size_t offset, int after) {
    panel.offset = offset;
    panel.after = after;
    s.bytes_up += bytes_of(panel, r.element);
    s.panels.push_back(panel);
  };
  for (std::size_t index = 0; index < order.size(); ++index) {
    const Range i = part(order[index].row, x.m_block, r.m), j = part(order[index].column, x.n_block, r.n);
    Block block{.rows = i, .columns = j};
    const auto for_a = a.use(index, static_cast<int>(s.panels.size()));
    if (for_a.needed) send(operand_panel(Matrix::a, i, r.k, r.a_by_rows), for_a.offset, for_a.after);
    const auto for_b = b.use(index, static_cast<int>(s.panels.size()));
    if (for_b.needed) send(operand_panel(Matrix::b, j, r.k, r.b_by_columns), for_b.offset, for_b.after);
    block.a = for_a.panel;
    block.b = for_b.panel;
    const auto slots = static_cast<std::size_t>(x.c.count);
    block.offset = x.c.begin + index % slots * x.c.bytes;
    if (index >= slots) block.after = static_cast<int>(index - slots);
    if (r.reads_c) {
      block.c = static_cast<int>(s.panels.size());
      send({Matrix::c, i.begin, j.begin, i.count, j.count}, block.offset, block.after);
    }
    s.bytes_down += static_cast<std::size_t>(i.count * j.count) * r.element;
    s.blocks.push_back(block);
  }
  return s;
}

std::vector<Share> deal(std::int64_t m, std::int64_t n, int devices) {
  std::vector<Share> shares;
  const bool by_rows = m > n;
  const std::int64_t all = by_rows ? m : n;
  std::int64_t begin = 0;
  for (int d = 0; d < devices; ++d) {
    const std::int64_t end = std::min(all, round_up(all * (d + 1) / devices, block_unit));
    const std::int64_t last = d + 1 == devices ? all : end;
    if (last <= begin) continue;
    const Range cut{begin, last - begin};
    shares.push_back(by_rows ? Share{cut, {0, n}} : Share{{0, m}, cut});
    begin = last;
  }
  return shares;
}

// A second link relieves the first: what is estimated to take 1.04 times as long by two took 0.88 on two H200s.
std::vector<Share> deal(std::int64_t m, std::int64_t n, int devices, const SecondsOf& seconds) {
  constexpr double worth_sharing = 1.05;
  std::vector<Share> best = deal(m, n, 1);
  for (int count = 2; count <= devices; ++count)
    if (std::vector<Share> more = deal(m, n, count); seconds(more) < worth_sharing * seconds(best))
      best = std::move(more);
  return best;
}

Staged staged(const std::vector<Share>& shares, const ScheduleRequest& whole, bool direct_c) {
  std::int64_t up = 0, down = 0;
  Staged all;
  for (const Share& share : shares) {
    const std::int64_t m = share.rows.count, n = share.columns.count;
    up += ((whole.direct_a ? 0 : m) + (whole.direct_b ? 0 : n)) * whole.k + (whole.reads_c ? m * n : 0);
    down += direct_c ? 0 : m * n;
    all.m = std::max(all.m, m), all.n = std::max(all.n, n);
  }
  all.up = static_cast<std::size_t>(up) * whole.element, all.down = static_cast<std::size_t>(down) * whole.element;
  return all;
}

}  // namespace vernier::offload

#include "offload/lane_state.hpp"

#include <algorithm>
#include <utility>

namespace vernier::offload {

LaneState::LaneState(Lane& lane, const TransferSettings& settings)
    : lane_(lane), settings_(settings), slots_(settings.slots()) {
  const Schedule& s = lane.schedule;
  for (const Panel& p : s.panels) {
    const bool direct = lane.takes_directly(p.matrix);
    PanelState state{Pieces(p.rows, p.columns, s.element, direct ? settings.direct_bytes : settings.piece_bytes)};
    state.unsent = state.pieces.count();
    state.direct = direct;
    panels_.push_back(state);
  }
  for (const Block& b : s.blocks) {
    const std::size_t whole = static_cast<std::size_t>(b.rows.count * b.columns.count) * s.element;
    BlockState state{Pieces(b.rows.count, b.columns.count, s.element, lane.direct_c ? whole : settings.piece_bytes)};
    state.unfetched = state.pieces.count();
    state.first_piece = static_cast<std::size_t>(pieces_);
    pieces_ += state.unfetched;
    blocks_.push_back(state);
  }
  undrained_ = pieces_;
  written_.assign(static_cast<std::size_t>(pieces_), 0);
  missing_.reserve(static_cast<std::size_t>(pieces_));
  error_.reserve(500);
  for (int slot = slots_; slot-- > 0;) free_up_.push_back(slot), free_down_.push_back(slots_ + slot);
}

void LaneState::open() {
  const bool staged = !(lane_.direct_a && lane_.direct_b && lane_.direct_c);
  lane_.link->open(lane_.schedule.bytes, staged ? 2 * static_cast<std::size_t>(slots_) * settings_.piece_bytes : 0,
                   mark_of_fetch(blocks_.size()));
}

std::byte* LaneState::slot_at(int slot) const {
  return lane_.link->staging() + static_cast<std::size_t>(slot) * settings_.piece_bytes;
}

std::size_t LaneState::bytes_of(const Piece& p) const {
  return static_cast<std::size_t>(p.rows * p.columns) * lane_.schedule.element;
}

const HostMatrix& LaneState::matrix(Matrix which) const {
  return which == Matrix::a ? lane_.a : which == Matrix::b ? lane_.b : lane_.c;
}

HostMatrix LaneState::host_part(std::size_t panel, const Piece& piece) const {
  const Panel& p = lane_.schedule.panels[panel];
  const HostMatrix& whole = matrix(p.matrix);
  return {whole.at(p.row + piece.row, p.column + piece.column), whole.ld, whole.element};
}

HostMatrix LaneState::c_part(std::size_t block, const Piece& piece) const {
  const Block& b = lane_.schedule.blocks[block];
  return {lane_.out.at(b.rows.begin + piece.row, b.columns.begin + piece.column), lane_.out.ld, lane_.out.element};
}

bool LaneState::memory_is_free(const Panel& panel) const {
  if (panel.after < 0) return true;
  return panel.matrix == Matrix::c ? fetched(panel.after) : blocks_[static_cast<std::size_t>(panel.after)].multiplied;
}

void LaneState::wait_for_memory(const Panel& panel) {
  if (panel.after < 0) return;
  const auto block = static_cast<std::size_t>(panel.after);
  lane_.link->wait(Queue::up, panel.matrix == Matrix::c ? mark_of_fetch(block) : mark_of_product(block));
}

bool LaneState::ready(const Block& block) const {
  return sent(block.a) && sent(block.b) && sent(block.c) && fetched(block.after);
}

// A piece of the panel is queued.
void LaneState::sent_piece(std::size_t panel) {
  if (--panels_[panel].unsent == 0) lane_.link->record(Queue::up, mark_of_panel(panel));
}

// The queue comes to slots in their order.
int LaneState::up_slot() {
  if (free_up_.empty()) {
    if (flying_up_.empty() || !lane_.link->reached(flying_up_.front())) return -1;
    free_up_.push_back(flying_up_.front());
    flying_up_.pop_front();
  }
  const int slot = free_up_.back();
  free_up_.pop_back();
  return slot;
}

void LaneState::send_directly() {
  const Schedule& s = lane_.schedule;
  while (next_panel_ < panels_.size() && panels_[next_panel_].direct && memory_is_free(s.panels[next_panel_])) {
    const Panel& panel = s.panels[next_panel_];
    wait_for_memory(panel);
    for (std::int64_t i = 0; i < panels_[next_panel_].pieces.count(); ++i) {
      const Piece p = panels_[next_panel_].pieces.at(i);
      const std::size_t offset = panel.offset + static_cast<std::size_t>(p.row + p.column * panel.rows) * s.element;
      lane_.link->send(host_part(next_panel_, p), p.rows, p.columns, offset);
      sent_piece(next_panel_);
    }
    ++next_panel_;
  }
}

void LaneState::fetch_pieces() {
  while (next_fetch_ < blocks_.size() && blocks_[next_fetch_].multiplied) {
    const Block& block = lane_.schedule.blocks[next_fetch_];
    BlockState& state = blocks_[next_fetch_];
    for (; next_fetched_piece_ < state.pieces.count(); ++next_fetched_piece_) {
      const Piece p = state.pieces.at(next_fetched_piece_);
      const bool last = next_fetched_piece_ + 1 == state.pieces.count();
      int slot = -1, mark = mark_of_fetch(next_fetch_);
      if (!lane_.direct_c) {
        if (free_down_.empty()) return;
        slot = mark = free_down_.back();
      }
      if (next_fetched_piece_ == 0) lane_.link->wait(Queue::down, mark_of_product(next_fetch_));
      const std::size_t offset =
          block.offset + static_cast<std::size_t>(p.row + p.column * block.rows.count) * lane_.schedule.element;
      if (lane_.direct_c) {
        lane_.link->fetch(offset, c_part(next_fetch_, p), p.rows, p.columns);
      } else {
        lane_.link->fetch(offset, slot_at(slot), bytes_of(p));
        lane_.link->record(Queue::down, slot);
        free_down_.pop_back();
      }
      if (last) lane_.link->record(Queue::down, mark_of_fetch(next_fetch_));
      flying_down_.push_back({slot, mark, next_fetch_, next_fetched_piece_});
      --state.unfetched;
    }
    next_fetched_piece_ = 0;
    ++next_fetch_;
  }
}

std::optional<Work> LaneState::take() {
  if (finished()) return {};
  fetch_pieces();
  send_directly();
  if (!multiplying_ && next_block_ < blocks_.size() && ready(lane_.schedule.blocks[next_block_])) {
    multiplying_ = true;
    return Work{Work::Kind::multiply, next_block_++};
  }
  if (!flying_down_.empty() && lane_.link->reached(flying_down_.front().mark)) {
    const Flight f = flying_down_.front();
    flying_down_.pop_front();
    return Work{Work::Kind::down, f.block, f.piece, f.slot};
  }
  if (next_panel_ == panels_.size() || !memory_is_free(lane_.schedule.panels[next_panel_])) return {};
  const int slot = up_slot();
  if (slot < 0) return {};
  const Work work{Work::Kind::up, next_panel_, next_piece_, slot};
  if (++next_piece_ == panels_[next_panel_].pieces.count()) ++next_panel_, next_piece_ = 0;
  return work;
}

void LaneState::do_work(const Work& work) {
  switch (work.kind) {
    case Work::Kind::multiply:
      return multiply(work.of);
    case Work::Kind::up:
      return send(work);
    case Work::Kind::down:
      return drain(work);
  }
}

void LaneState::multiply(std::size_t index) {
  const Schedule& s = lane_.schedule;
  const Block& block = s.blocks[index];
  {
    const std::lock_guard lock(mutex);
    if (failed_) return;
    for (const int panel : {block.a, block.b, block.c})
      if (panel >= 0) lane_.link->wait(Queue::product, mark_of_panel(static_cast<std::size_t>(panel)));
    if (block.after >= 0) lane_.link->wait(Queue::product, mark_of_fetch(static_cast<std::size_t>(block.after)));
  }
  lane_.link->multiply(block, s.panels[static_cast<std::size_t>(block.a)].offset,
                       s.panels[static_cast<std::size_t>(block.b)].offset);
  const std::lock_guard lock(mutex);
  lane_.link->record(Queue::product, mark_of_product(index));
  blocks_[index].multiplied = true;
  multiplying_ = false;
}

void LaneState::send(const Work& work) {
  const Panel& panel = lane_.schedule.panels[work.of];
  const Piece p = panels_[work.of].pieces.at(work.piece);
  gather(host_part(work.of, p), p.rows, p.columns, slot_at(work.slot));
  const std::lock_guard lock(mutex);
  if (failed_) return;
  wait_for_memory(panel);
  lane_.link->send(slot_at(work.slot),
                   panel.offset + static_cast<std::size_t>(p.row + p.column * panel.rows) * lane_.schedule.element,
                   bytes_of(p));
  lane_.link->record(Queue::up, work.slot);
  flying_up_.push_back(work.slot);
  sent_piece(work.of);
}

// Also of a device that has failed since: what has come down is right.
void LaneState::drain(const Work& work) {
  const BlockState& state = blocks_[work.of];
  const Piece p = state.pieces.at(work.piece);
  if (!lane_.direct_c) scatter(slot_at(work.slot), c_part(work.of, p), p.rows, p.columns);
  const std::lock_guard lock(mutex);
  written_[state.first_piece + static_cast<std::size_t>(work.piece)] = 1;
  --undrained_;
  if (work.slot >= 0) free_down_.push_back(work.slot);
}

void LaneState::fail(const char* why) noexcept {
  const std::lock_guard lock(mutex);
  if (failed_) return;
  failed_ = true;
  error_.assign(why, std::min(std::char_traits<char>::length(why), error_.capacity()));
}

LaneResult LaneState::result() {
  LaneResult result;
  result.error = std::move(error_);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block& block = lane_.schedule.blocks[b];
    const Pieces& pieces = blocks_[b].pieces;
    const std::size_t before = missing_.size();
    for (std::int64_t i = 0; i < pieces.count(); ++i) {
      if (written_[blocks_[b].first_piece + static_cast<std::size_t>(i)] != 0) {
        result.untouched = false;
        continue;
      }
      const Piece p = pieces.at(i);
      const Rectangle r{block.rows.begin + p.row, block.columns.begin + p.column, p.rows, p.columns};
      Rectangle* last = missing_.size() == before ? nullptr : &missing_.back();
      if (last != nullptr && last->row == r.row && last->rows == r.rows && last->column + last->columns == r.column)
        last->columns += r.columns;
      else
        missing_.push_back(r);
    }
  }
  result.missing = std::move(missing_);
  return result;
}

}  // namespace vernier::offload

// Selection methods keep every token and read a part of them per step: the context is cut into blocks of consecutive
// positions, and for every new token behind the prompt each KV head (or each query head) reads the blocks that a Reader
// scores highest. Budget M = tokens read per step and head; the memory is that of the full cache and the summaries.
// Prompts are read densely, and so is everything while no more than M tokens are held.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "vase/export.h"
#include "vase/head_view.h"
#include "vase/policy.h"

namespace vase {

// One block of one KV head whose newest token has just been stored.
struct BlockView {
  int layer = 0, kv_head = 0;
  int first = 0;                 // position of the block's first token
  int count = 0;                 // tokens that it holds by now, <= block()
  RowsView keys;                 // [count] rotated at their positions first, first + 1, ...
  Rope rope;                     // only for readers that ask for it
  std::span<float> scratch;      // scratch_floats()
};

// One KV head when a new token asks what to read.
struct ReadView {
  int layer = 0, kv_head = 0;
  int group = 1;                     // query heads that choose together: G, or 1 when per_query_head()
  int tokens = 0;                    // tokens held, at positions 0, 1, ...; the newest is the one that asks
  int blocks = 0;                    // that they fill, the last perhaps in part
  const float* queries = nullptr;    // [group][keys.width], rotated at position tokens - 1
  RowsView keys;                     // [tokens] rotated at their positions
  std::span<const float> summaries;  // [blocks][summary_floats()]
  Rope rope;                         // only for readers that ask for it
  std::span<float> scratch;          // scratch_floats()
};

// How many blocks are read.
struct ReadChoice {
  int blocks = 1;                   // by score, the largest first
  bool last_among_them = false;     // the last block takes one of these places; if not, it is read on top of them
  std::optional<float> threshold;   // instead of a number: every block with a larger score, and the last
};

// Shared by all threads, so it holds no state that changes.
class VASE_API Reader {
 public:
  virtual ~Reader() = default;
  virtual int block() const = 0;                            // tokens per block
  virtual bool per_query_head() const { return false; }     // each query head reads blocks of its own
  virtual int dense_layers() const { return 0; }            // that many layers at the bottom read everything
  virtual bool needs_rope() const { return false; }
  // Floats kept per block, KV head and layer.
  virtual int summary_floats(const ModelHeads&) const { return 0; }
  // Floats of scratch for one call with up to `tokens` tokens held.
  virtual size_t scratch_floats(const ModelHeads&, int /*tokens*/) const { return 0; }
  // A token has joined the block: brings its summary up to date. summary holds what the last call for this block left
  // there, and anything at the first (count == 1).
  virtual void update(const BlockView&, std::span<float> /*summary*/) const {}
  // One number per block, larger = more worth reading. out: [blocks].
  virtual void score(const ReadView& view, std::span<float> out) const = 0;
  virtual ReadChoice choice(int budget) const = 0;
  // Throws Error(kUsage) when the reader was made for another model; for those that read a file.
  virtual void check(const ModelHeads&) const {}
  virtual std::string text() const = 0;  // canonical, e.g. "quest:page=16"
};

}  // namespace vase

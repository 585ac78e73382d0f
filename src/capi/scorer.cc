// A scorer of the caller's own: the C++ part that calls it, and what it may ask about the head.
#include <cmath>
#include <limits>
#include <new>

#include "capi/handles.h"

namespace vase::capi {
namespace {

// What vase_head::internal points to.
struct HeadInternals {
  const HeadView* view;
  RandomDraws* draws;
};

const HeadInternals& internals(const vase_head* head) { return *static_cast<const HeadInternals*>(head->internal); }

template <typename T>
const T* data_or_null(std::span<const T> span) {
  return span.empty() ? nullptr : span.data();
}

vase_head head_of(const HeadView& view, const HeadInternals& internal) {
  vase_head head{};
  head.candidates = view.candidates();
  head.budget = view.budget;
  head.buffer = view.buffer;
  head.head_dim = view.keys.width;
  head.group = view.group;
  head.prompt_tokens = view.prompt_tokens;
  head.layer = view.layer;
  head.kv_head = view.kv_head;
  head.seen = view.seen;
  head.positions = view.positions.data();
  head.attention = data_or_null(view.attention);
  head.attention_rows = view.attention_rows;
  head.last_use = data_or_null(view.last_use);
  head.longest_gap = data_or_null(view.longest_gap);
  head.value_range = data_or_null(view.value_range);
  head.norm_product = data_or_null(view.norm_product);
  head.log_weight = data_or_null(view.log_weight);
  head.queries = view.queries.count;
  head.rope_pairs = static_cast<int32_t>(view.rope.frequencies.size());
  head.rope_frequencies = data_or_null(view.rope.frequencies);
  head.rope_adjacent = view.rope.adjacent;
  head.rope_magnitude = view.rope.magnitude;
  head.internal = &internal;
  return head;
}

class CScorer final : public Scorer {
 public:
  explicit CScorer(const vase_scorer& scorer) : scorer_(scorer), name_(&required(scorer.name, "the scorer's name")) {
    if (!scorer.score) throw Error(ErrorCode::kUsage, "the scorer's function `score` is NULL");
    needs_ = {.attention = checked_enum<AttentionRecord>(scorer.attention, VASE_ATTENTION_RECURRENCE, "attention"),
              .temperature = scorer.temperature,
              .over_all = scorer.over_all != 0,
              .threshold = scorer.threshold,
              .value_range = scorer.value_range != 0,
              .norm_product = scorer.norm_product != 0,
              .rows = true,
              .log_weight = scorer.log_weight != 0,
              .rope = scorer.rope != 0,
              .draws = true,
              .queries = scorer.queries};
    if (!(scorer.temperature > 0) || !std::isfinite(scorer.temperature)) {
      throw Error(ErrorCode::kUsage, "the scorer's temperature must be finite and above 0");
    }
    if (!std::isfinite(scorer.threshold)) throw Error(ErrorCode::kUsage, "the scorer's threshold must be finite");
    if (scorer.queries < 0) throw Error(ErrorCode::kUsage, "the scorer's queries must be 0 or more");
  }
  ~CScorer() override {
    if (owns_user_ && scorer_.destroy) scorer_.destroy(scorer_.user);
  }
  CScorer(const CScorer&) = delete;
  CScorer& operator=(const CScorer&) = delete;

  // From now on `user` is destroyed with the scorer.
  void own_user() { owns_user_ = true; }

  PolicyNeeds needs() const override { return needs_; }
  void score(const HeadView& view, RandomDraws& draws, PolicyScratch&, std::span<float> out) const override {
    const HeadInternals internal{&view, &draws};
    const vase_head head = head_of(view, internal);
    const int status = scorer_.score(scorer_.user, &head, out.data());
    if (status != 0) throw CallbackFailure("the scorer '" + name_ + "' failed with " + std::to_string(status));
  }
  std::string text() const override { return name_; }

 private:
  vase_scorer scorer_;
  std::string name_;
  PolicyNeeds needs_;
  bool owns_user_ = false;
};

// Row i, or NaN for a row that does not exist: no part of memory is read, and the score ranks last and is counted.
void copy_row(const RowsView& rows, int slots, int32_t i, float* out) {
  if (i >= 0 && i < slots) {
    read_row(rows, i, out);
  } else {
    std::fill_n(out, rows.width, std::numeric_limits<float>::quiet_NaN());
  }
}

}  // namespace
}  // namespace vase::capi

using namespace vase::capi;

extern "C" {

void vase_scorer_init(vase_scorer* scorer, size_t size) {
  if (!scorer || size < sizeof(size_t)) return;
  vase_scorer defaults{};
  defaults.temperature = 1;
  give(defaults, scorer, size);
  scorer->size = size;
}

vase_status vase_policy_with_scorer(const vase_policy* policy, const vase_scorer* scorer, vase_policy** result) {
  return guarded_new(result, "result", [&] {
    const vase_scorer whole = complete(&required(scorer, "scorer"), vase_scorer_init, "scorer");
    const auto part = std::make_shared<CScorer>(whole);
    auto* handle = new vase_policy(required(policy, "policy").policy.with_scorer(part));
    part->own_user();
    return handle;
  });
}

void vase_head_key(const vase_head* head, int32_t i, float* out) {
  const vase::HeadView& view = *internals(head).view;
  copy_row(view.keys, view.slots(), i, out);
}

void vase_head_value(const vase_head* head, int32_t i, float* out) {
  const vase::HeadView& view = *internals(head).view;
  copy_row(view.values, view.slots(), i, out);
}

const float* vase_head_query(const vase_head* head, int32_t w, int32_t g) {
  const vase::QueriesView& queries = internals(head).view->queries;
  if (w < 0 || w >= queries.count || g < 0 || g >= queries.group) return nullptr;
  return queries.row(w, g).data();
}

void vase_head_uniform(const vase_head* head, float* out) {
  const HeadInternals& internal = internals(head);
  internal.draws->uniform(internal.view->positions, {out, internal.view->positions.size()});
}

}  // extern "C"

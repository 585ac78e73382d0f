#include "select_report.h"

#include <algorithm>

#include "base/cosine.h"
#include "commands.h"
#include "eval/or_null.h"
#include "output.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

using eval::or_null;
using nlohmann::json;

std::string cell(const std::optional<double>& value) { return value ? formatted("%.3f", *value) : "-"; }

size_t candidates(const SelectResult& r) { return r.arrays->tokens() - r.setup.buffer; }

std::vector<int64_t> kept_positions(const SelectResult& r, size_t sequence, size_t kv_head) {
  std::vector<int64_t> positions;
  for (uint32_t row : r.head(sequence, kv_head).kept) positions.push_back(r.arrays->position(sequence, kv_head, row));
  return positions;
}

template <typename Use>
void for_each_head(const SelectResult& r, const Use& use) {
  for (size_t s = 0; s < r.arrays->sequences(); ++s) {
    for (size_t h = 0; h < r.arrays->kv_heads(); ++h) use(s, h, r.head(s, h));
  }
}

// What the heads of one sequence hold together.
void measure(SelectResult& r, size_t sequence) {
  const HeadArrays& a = *r.arrays;
  eval::LayerKept layer;
  layer.candidates = static_cast<int>(candidates(r));
  layer.prompt_tokens = r.setup.prompt_tokens;
  layer.oldest_in_buffer = a.position(sequence, 0, candidates(r));
  for (size_t h = 0; h < a.kv_heads(); ++h) {
    const std::vector<int64_t> positions = kept_positions(r, sequence, h);
    layer.heads.emplace_back(positions.begin(), positions.end() - r.setup.buffer);
    std::vector<float> rows;
    for (size_t i = 0; i < layer.heads.back().size(); ++i) {
      const auto row = a.values(sequence, h).subspan(r.head(sequence, h).kept[i] * size_t(a.head_dim()), a.head_dim());
      rows.insert(rows.end(), row.begin(), row.end());
    }
    layer.value_similarity.push_back(mean_abs_cosine(rows, a.head_dim()));
  }
  r.retention.push_back(eval::measure_retention(layer));
}

// [S][H] shape of the input's heads, then `last`.
std::vector<size_t> shape_of(const SelectResult& r, size_t last) {
  std::vector<size_t> shape = r.arrays->head_shape();
  shape.push_back(last);
  return shape;
}

// Which of several heads an error belongs to.
Selection select_one(const HeadArrays& arrays, const Policy& policy, const SelectInput& input) {
  try {
    return select_slots(policy, input);
  } catch (const Error& e) {
    if (arrays.sequences() * arrays.kv_heads() == 1) throw;
    const std::string sequence = arrays.sequences() > 1 ? "sequence " + std::to_string(input.stream) + ", " : "";
    throw Error(e.code(), std::string(e.what()) + " (" + sequence + "KV head " + std::to_string(input.kv_head) + ")");
  }
}

// The heads of one sequence.
std::vector<Selection> select_layer(const HeadArrays& arrays, const Policy& policy,
                                    const std::vector<SelectInput>& heads) {
  if (policy.share == Share::kLayer) return {heads.size(), select_shared_slots(policy, heads)};
  std::vector<Selection> selections;
  for (const SelectInput& head : heads) selections.push_back(select_one(arrays, policy, head));
  return selections;
}

}  // namespace

SelectResult select_heads(const HeadArrays& arrays, const SelectSetup& setup, const Rope& rope) {
  SelectResult result{&arrays, setup, {}, {}};
  for (size_t s = 0; s < arrays.sequences(); ++s) {
    std::vector<SelectInput> heads;
    for (size_t h = 0; h < arrays.kv_heads(); ++h) {
      SelectInput& input = heads.emplace_back(arrays.head(s, h));
      input.budget = setup.budget;
      input.buffer = setup.buffer;
      input.prompt_tokens = setup.prompt_tokens;
      input.seed = setup.seed;
      input.layer = setup.layer;
      input.eviction = setup.eviction;
      input.rope = rope;
    }
    for (Selection& selection : select_layer(arrays, setup.policy, heads)) result.heads.push_back(std::move(selection));
    measure(result, s);
  }
  return result;
}

json retention_json(const eval::Retention& r) {
  return {{"union", r.union_share},
          {"coverage_entropy", or_null(r.coverage_entropy)},
          {"overlap", or_null(r.overlap)},
          {"prompt_union", or_null(r.prompt_union)},
          {"prompt_per_head", or_null(r.prompt_mean)},
          {"value_similarity", or_null(r.value_similarity)}};
}

std::string select_table(const SelectResult& r) {
  const HeadArrays& a = *r.arrays;
  std::string text = formatted("%s: %d of %zu tokens, %d of them the newest, %zu KV heads, seed %llu\n\n",
                               r.setup.policy.text().c_str(), r.setup.budget, a.tokens(), r.setup.buffer, a.kv_heads(),
                               static_cast<unsigned long long>(r.setup.seed));
  text += formatted("%8s %8s %10s %10s %12s %12s\n", "sequence", "KV head", "protected", "chosen", "oldest kept",
                    "newest gone");
  for_each_head(r, [&](size_t s, size_t h, const Selection& head) {
    std::vector<bool> kept(a.tokens());
    for (uint32_t row : head.kept) kept[row] = true;
    int64_t oldest = INT64_MAX, gone = -1;
    for (size_t row = 0; row < a.tokens(); ++row) {
      const int64_t position = a.position(s, h, row);
      if (kept[row]) oldest = std::min(oldest, position);
      else gone = std::max(gone, position);
    }
    const int chosen = r.setup.budget - r.setup.buffer - static_cast<int>(head.protected_.size());
    text += formatted("%8zu %8zu %10zu %10d %12lld %12s\n", s, h, head.protected_.size(), chosen,
                      static_cast<long long>(oldest), gone < 0 ? "-" : std::to_string(gone).c_str());
  });
  text += formatted("\n%8s %8s %10s %10s %14s %16s %12s\n", "sequence", "union", "coverage", "overlap", "prompt, union",
                    "prompt, per head", "values |cos|");
  for (size_t s = 0; s < a.sequences(); ++s) {
    const eval::Retention& m = r.retention[s];
    text += formatted("%8zu %8.3f %10s %10s %14s %16s %12s\n", s, m.union_share, cell(m.coverage_entropy).c_str(),
                      cell(m.overlap).c_str(), cell(m.prompt_union).c_str(), cell(m.prompt_mean).c_str(),
                      cell(m.value_similarity).c_str());
  }
  return text;
}

json select_json(const SelectResult& r) {
  const HeadArrays& a = *r.arrays;
  json heads = json::array(), retention = json::array();
  for_each_head(r, [&](size_t s, size_t h, const Selection& head) {
    heads.push_back({{"sequence", s}, {"kv_head", h}, {"kept", head.kept}, {"positions", kept_positions(r, s, h)},
                     {"scores", head.scores}, {"protected", head.protected_}});
    if (!head.log_weight.empty()) heads.back()["log_weight"] = head.log_weight;
  });
  for (const eval::Retention& sequence : r.retention) retention.push_back(retention_json(sequence));
  return {{"policy", r.setup.policy.text()},
          {"budget", r.setup.budget},
          {"buffer", r.setup.buffer},
          {"tokens", a.tokens()},
          {"candidates", candidates(r)},
          {"sequences", a.sequences()},
          {"kv_heads", a.kv_heads()},
          {"group", a.group()},
          {"head_dim", a.head_dim()},
          {"queries", a.queries()},
          {"prompt_tokens", r.setup.prompt_tokens},
          {"evict_seed", r.setup.seed},
          {"layer", r.setup.layer},
          {"eviction", r.setup.eviction},
          {"heads", heads},
          {"retention", retention},
          {"build", build_id()}};
}

std::string kept_npy(const SelectResult& r) {
  std::vector<int64_t> kept;
  for (const Selection& head : r.heads) kept.insert(kept.end(), head.kept.begin(), head.kept.end());
  return npy_bytes(shape_of(r, r.setup.budget), kept);
}

std::string select_npz(const SelectResult& r) {
  std::vector<int64_t> positions;
  std::vector<float> scores, log_weight;
  std::vector<uint8_t> protected_rows;
  for_each_head(r, [&](size_t s, size_t h, const Selection& head) {
    const std::vector<int64_t> own = kept_positions(r, s, h);
    positions.insert(positions.end(), own.begin(), own.end());
    scores.insert(scores.end(), head.scores.begin(), head.scores.end());
    log_weight.insert(log_weight.end(), head.log_weight.begin(), head.log_weight.end());
    const size_t first = protected_rows.size();
    protected_rows.resize(first + candidates(r));
    for (uint32_t row : head.protected_) protected_rows[first + row] = 1;
  });
  const std::vector<size_t> kept_shape = shape_of(r, r.setup.budget), candidate_shape = shape_of(r, candidates(r));
  std::vector<std::pair<std::string, std::string>> arrays = {{"kept", kept_npy(r)},
                                                             {"positions", npy_bytes(kept_shape, positions)},
                                                             {"scores", npy_bytes(candidate_shape, scores)},
                                                             {"protected", npy_bytes(candidate_shape, protected_rows)}};
  if (!log_weight.empty()) arrays.emplace_back("log_weight", npy_bytes(kept_shape, log_weight));
  return npz_bytes(arrays);
}

}  // namespace vase::cli

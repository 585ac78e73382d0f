#include "golden/golden_head.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "base/store_row.h"
#include "kernels/value_range/value_range.h"
#include "kernels/window_scores/window_scores.h"

namespace vase::golden {

RecordedDraws::RecordedDraws(const Case& c, const std::string& prefix, int row, int head) {
  if (c.has(prefix + "U")) uniform_ = c[prefix + "U"].row(row, head);
  if (c.has(prefix + "E")) exponential_ = c[prefix + "E"].row(row, head);
  if (!c.has(prefix + "G")) return;
  const Tensor& g = c[prefix + "G"];
  for (int i = 0; i < g.shape[1]; ++i) {
    for (float x : g.row(row, i)) gaussian_.push_back(x);
  }
}

void RecordedDraws::replay(const std::vector<float>& recorded, std::span<const int32_t> positions,
                           std::span<float> out) {
  ASSERT_EQ(recorded.size(), positions.size());
  std::copy(recorded.begin(), recorded.end(), out.begin());
}

void RecordedDraws::gaussian(bool, std::span<float> out) {
  ASSERT_EQ(gaussian_.size(), out.size());
  std::copy(gaussian_.begin(), gaussian_.end(), out.begin());
}

TokenRows recorded_rows(const Case& c, int row, int head) {
  const Tensor &k = c["K"], &v = c["V"];
  TokenRows rows{.width = k.shape[3], .keys = {}, .values = {}, .range = {}};
  for (int t = 0; t < k.shape[1]; ++t) {
    const std::vector<float> key = k.row(row, t, head), value = v.row(row, t, head);
    rows.keys.insert(rows.keys.end(), key.begin(), key.end());
    rows.values.insert(rows.values.end(), value.begin(), value.end());
    rows.range.push_back(kernels::value_magnitude(kernels::Magnitude::kRange, value));
  }
  return rows;
}

RowsView Head::stored(const std::vector<float>& rows, int width, RowType type, std::vector<std::byte>& store) {
  const size_t tokens = rows.size() / width, stride = row_bytes(type, width);
  store.assign(tokens * stride, std::byte{0});
  for (size_t t = 0; t < tokens; ++t) store_row(type, &rows[t * width], width, &store[t * stride]);
  return {.base = store.data(), .stride = stride, .type = type, .width = width, .slots = slots_.data()};
}

Head::Head(const Case& c, std::vector<int> tokens, std::vector<float> queries, const TokenRows& rows, RowType type)
    : positions_(tokens.begin(), tokens.end()), slots_(tokens.begin(), tokens.end()) {
  view_.budget = c.json().at("params").value("M", 0);  // a case of scores alone has none
  view_.buffer = c.param("R");
  view_.group = c.param("G");
  view_.keys = stored(rows.keys, rows.width, type, keys_);
  view_.values = stored(rows.values, rows.width, type, values_);
  view_.positions = positions_;
  view_.attention_rows = c.param("W") * view_.group;
  attention_.resize(tokens.size());
  kernels::window_scores(queries, view_.attention_rows, view_.keys, 1 / std::sqrt(static_cast<float>(c.param("d"))),
                         static_cast<float>(c.number("temperature")), attention_);
  view_.attention = attention_;
  for (const int token : tokens) range_.push_back(rows.range[token]);
  view_.value_range = range_;
}

std::vector<int> first_tokens(int count) {
  std::vector<int> tokens(count);
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

std::vector<float> window_queries(const Case& c, int row, int head, int first) {
  std::vector<float> queries;
  const int group = c.param("G");
  for (int g = 0; g < group; ++g) {
    for (int w = 0; w < c.param("W"); ++w) {
      const std::vector<float> query = c["Q"].row(row, head * group + g, first + w);
      queries.insert(queries.end(), query.begin(), query.end());
    }
  }
  return queries;
}

namespace {

// "0.9*attention...-0.1*redundancy" with the case's lambda.
std::string rkv_score(const Case& c, const std::string& attention) {
  const auto number = [](double x) {
    char text[16];
    std::snprintf(text, sizeof text, "%.6g", x);
    return std::string(text);
  };
  const double lambda = c.number("rkv_lambda");
  return "score=" + number(lambda) + "*" + attention + "-" + number(1 - lambda) + "*redundancy";
}

}  // namespace

std::string policy_text(const Case& c) {
  const std::string mode = c.mode();
  const std::string count = std::to_string(c.param("n_large"));
  const std::string attention = c.flag("smooth") ? "attention:divisor=fixed" : "attention:smooth=off";
  const std::string by_attention = "score=" + attention, value = "protect=value:" + count + " ";
  // The reference counts the sinks in its value set, so that an empty set leaves them unprotected.
  const std::string sinks = c.param("n_large") == 0 ? "" : "sinks:4,";
  if (mode == "attn") return by_attention;
  if (mode == "attn_sample") return by_attention + " select=sample";
  if (mode == "attn_random") return "protect=random:" + count + " " + by_attention;
  if (mode == "attn_range") return by_attention + "*value";
  if (mode == "attn_rkv") return rkv_score(c, attention);
  if (mode == "small_range_attn_rkv") return value + rkv_score(c, attention);
  if (mode == "range_attn") return value + by_attention;
  if (mode == "range_sample_attn") return value + by_attention + " select=sample";
  if (mode == "key_norm") return "score=key-norm";
  if (mode == "evict_large_range") return "score=value:keep=small";
  if (mode == "evict_large_range_random") return "score=uniform-2*value:top=" + count;
  if (mode == "small_range") return "score=value";
  if (mode == "small_range_sink") return "protect=sinks:4 score=value";
  if (mode == "keep_sink_large_range_random") return "protect=sinks:4,value:" + count + " score=uniform";
  if (mode == "cur_fixed_gauss") return "protect=sinks:4 score=leverage:resample=off";
  if (mode == "cur_resample_gauss") return "protect=sinks:4 score=leverage:resample=on";
  for (std::string measure : {"range", "var", "l2", "absmax"}) {
    if (mode != measure + "_sink_sample_attn" && mode != "small_" + measure + "_sink_sample_attn") continue;
    return "protect=" + sinks + "value:" + count + ",measure=" + measure + " " + by_attention + " select=sample";
  }
  throw std::runtime_error(c.name() + ": no policy stands for the mode '" + mode + "'");
}

std::vector<uint32_t> plan(const std::string& text, const HeadView& view, RandomDraws& draws, PlanTrace* trace) {
  PolicyScratch scratch;
  std::vector<uint32_t> kept(view.keep());
  Policy::parse(text).plan(view, draws, scratch, kept, trace);
  EXPECT_EQ(scratch.nonfinite_scores, 0u);
  EXPECT_EQ(scratch.protection_truncated, 0u);
  return kept;
}

}  // namespace vase::golden

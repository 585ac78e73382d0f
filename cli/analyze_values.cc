// `vase analyze values` and `vase analyze quant`: how far values spread, layer by layer, and how well they go into few
// bits.
#include <cmath>

#include "analysis_output.h"
#include "commands.h"
#include "eval/or_null.h"
#include "eval/report/analysis.h"
#include "flags.h"
#include "interrupt.h"
#include "json_output.h"
#include "output.h"
#include "progress.h"
#include "require_memory.h"
#include "text_flags.h"
#include "vase/capture.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

using eval::or_null;
using eval::RangeStudy;
using eval::ValueQuantizer;
using eval::ValueStudy;
using nlohmann::json;

constexpr int kHqqIterations = 20;  // as HQQ has them

struct StudyFlags {
  std::string model;
  TextFlags texts;
  int skip = 4, threads = 0, listed = 8;
  float ratio = 3;
  AnalysisOutput output;
};

void add_flags(CLI::App& app, StudyFlags& o) {
  add_path(app, "--model", o.model, "GGUF file");
  app.get_option("--model")->required();
  o.texts.add(app);
  add_integer(app, "--skip", o.skip, 0, 1 << 20, "tokens at the start of a text that are left out (4)");
  add_integer(app, "--threads", o.threads, 1, 256, "one per physical core when absent");
  o.output.add_flags(app);
}

// What went through the model, and what came of it.
struct Study {
  std::shared_ptr<const Model> model;
  std::vector<eval::Text> texts;
  ValueStudy values;
};

void require_rows(const std::vector<eval::Text>& texts, const ModelShape& shape, int skip) {
  const size_t longest = eval::longest_of(texts);
  if (longest <= static_cast<size_t>(skip)) {
    throw Error(ErrorCode::kUsage, "no text has more than the " + std::to_string(skip) +
                                       " tokens that --skip leaves out; give longer texts or a smaller --skip");
  }
  require_memory(longest * shape.layers * shape.kv_heads * shape.head_dim * sizeof(float),
                 "the values of " + std::to_string(longest) + " tokens", "Give fewer --tokens");
}

void add_text(Study& study, int index, const StudyFlags& o) {
  const ModelShape& shape = study.model->shape();
  const std::vector<int32_t>& tokens = study.texts[index].tokens;
  CaptureOptions options{.threads = o.threads, .layers = {}};
  std::vector<eval::TextValues> layers;
  for (int layer = 0; layer < shape.layers; ++layer) {
    options.layers.push_back(layer);
    layers.push_back(
        eval::TextValues::sized(index, shape.kv_heads, static_cast<int>(tokens.size()), shape.head_dim, o.skip));
  }
  capture(*study.model, tokens, options,
          [&](const LayerRows& rows) { layers[rows.layer].put(rows.first, rows.values); });
  for (int layer = 0; layer < shape.layers; ++layer) study.values.add(layer, layers[layer]);
}

// Leaves those whose groups divide a head.
void require_divisible(const ModelShape& shape, std::vector<ValueQuantizer>& quantizers) {
  const bool any = !quantizers.empty();
  std::erase_if(quantizers, [&](const ValueQuantizer& q) { return shape.head_dim % q.group != 0; });
  if (any && quantizers.empty()) {
    throw Error(ErrorCode::kUnsupported, "the model's heads have " + std::to_string(shape.head_dim) +
                                             " channels; needed: a multiple of 32, the smallest group");
  }
}

Study run_study(StudyFlags& o, std::vector<ValueQuantizer> quantizers) {
  o.texts.refuse_twice();
  watch_interrupts();
  o.output.open(o.texts.inputs(o.model));
  std::shared_ptr<const Model> model = Model::load(o.model);
  const ModelShape& shape = model->shape();
  require_divisible(shape, quantizers);
  Study study{model, o.texts.read(*model), ValueStudy(shape.layers, quantizers)};
  require_rows(study.texts, shape, o.skip);
  Progress progress(study.texts.size());
  for (int i = 0; i < static_cast<int>(study.texts.size()); ++i) {
    progress.next(study.texts[i].name);
    add_text(study, i, o);
  }
  return study;
}

// A token as it can be read in one line.
std::string quoted_token(const Study& study, const eval::ValueRange& row) {
  const std::string piece = study.model->piece(study.texts[row.text].tokens[row.position]);
  return json(piece).dump(-1, ' ', false, json::error_handler_t::replace);
}

json common_json(const Study& study) {
  return {{"texts", study.texts.size()}, {"model", study.model->shape().fingerprint}, {"build", build_id()}};
}

json range_json(const Study& study, const StudyFlags& o) {
  json layers = json::array();
  for (int layer = 0; layer < study.values.layers(); ++layer) {
    const RangeStudy r = study.values.ranges(layer, o.ratio, o.listed);
    json farthest = json::array();
    for (const eval::ValueRange& row : r.farthest) {
      const eval::Text& text = study.texts[row.text];
      farthest.push_back({{"text", text.name},
                          {"kv_head", row.kv_head},
                          {"position", row.position},
                          {"token", text.tokens[row.position]},
                          {"piece", study.model->piece(text.tokens[row.position])},
                          {"range", row.range}});
    }
    layers.push_back({{"layer", layer},
                      {"rows", r.rows},
                      {"mean", r.mean},
                      {"median", r.median},
                      {"p99", r.p99},
                      {"largest", r.largest},
                      {"skewness", r.skewness},
                      {"outliers", r.outliers},
                      {"farthest", farthest}});
  }
  json report = common_json(study);
  report.update({{"outlier_ratio", o.ratio}, {"layers", layers}});
  return report;
}

json quantizer_json(const Study& study) {
  json rows = json::array();
  for (int layer = 0; layer < study.values.layers(); ++layer) {
    for (size_t i = 0; i < study.values.quantizers().size(); ++i) {
      const ValueQuantizer& q = study.values.quantizers()[i];
      const eval::QuantizerStudy s = study.values.quantizer(layer, i);
      rows.push_back({{"layer", layer},
                      {"bits", q.bits},
                      {"group", q.group},
                      {"iterations", q.iterations},
                      {"rows", s.rows},
                      {"squared_error", s.squared_error},
                      {"pearson", or_null(s.pearson)},
                      {"spearman", or_null(s.spearman)},
                      {"pearson_squares", or_null(s.pearson_squares)}});
    }
  }
  json report = common_json(study);
  report["rows"] = rows;
  return report;
}

// 2 and 4 bits, groups of 32 and 64, with and without refinement.
std::vector<ValueQuantizer> studied_quantizers() {
  std::vector<ValueQuantizer> all;
  for (const int bits : {2, 4}) {
    for (const int group : {32, 64}) {
      for (const int iterations : {0, kHqqIterations}) all.push_back({bits, group, iterations});
    }
  }
  return all;
}

}  // namespace

int analyze_values_command(const Arguments& arguments) {
  StudyFlags o;
  CLI::App app("How far the values of tokens spread, layer by layer, and which tokens lie far out.", "analyze values");
  add_flags(app, o);
  add_number(app, "--ratio", o.ratio, 1, 1e6f, "a token lies far out above so many times the layer's median (3)");
  add_integer(app, "--list", o.listed, 0, 1000, "most tokens of a layer that are listed (8)");
  if (!parse(app, arguments)) return kExitOk;
  const Study study = run_study(o, {});
  const auto name = [&](const eval::ValueRange& row) {
    return std::pair(study.texts[row.text].name, quoted_token(study, row));
  };
  const auto page = [&] {
    return eval::report::range_page(study.values, o.ratio, o.listed, name, o.output.foot("analyze values"));
  };
  o.output.write(page, [&] { return range_json(study, o); });
  return kExitOk;
}

int analyze_quant_command(const Arguments& arguments) {
  StudyFlags o;
  CLI::App app("How well values go into 2 and 4 bits, and whether those of a large range lose most.", "analyze quant");
  add_flags(app, o);
  if (!parse(app, arguments)) return kExitOk;
  const Study study = run_study(o, studied_quantizers());
  const auto page = [&] { return eval::report::quantizer_page(study.values, o.output.foot("analyze quant")); };
  o.output.write(page, [&] { return quantizer_json(study); });
  return kExitOk;
}

}  // namespace vase::cli

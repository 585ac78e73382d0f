// `vase capture`: keys, values and queries of a model for a text, as arrays. `vase calibrate`: what some policies need
// to know of a model.
#include "vase/capture.h"

#include <algorithm>
#include <cstdio>

#include "arrays/array_file.h"
#include "commands.h"
#include "eval/texts.h"
#include "flags.h"
#include "interrupt.h"
#include "output.h"
#include "progress.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

constexpr int kMostLayers = 1024;

struct CaptureFlags {
  std::string model, text, out, layers = "all";
  int most_tokens = 1024, threads = 0;
};

// "0,5,7", or "all" as an empty list.
std::vector<int> parse_layers(const std::string& text) {
  std::vector<int> layers;
  if (text == "all") return layers;
  for (size_t from = 0; from <= text.size();) {
    const size_t comma = std::min(text.find(',', from), text.size());
    const int layer = parse_integer("--layers", text.substr(from, comma - from), 0, kMostLayers - 1);
    if (std::ranges::find(layers, layer) == layers.end()) layers.push_back(layer);
    from = comma + 1;
  }
  return layers;
}

// All rows of one layer, heads first.
struct LayerArrays {
  size_t tokens = 0, query_heads, kv_heads, head_dim;
  std::vector<float> k, v, q, plain_k, plain_q;  // [heads][tokens][head_dim]

  LayerArrays(const ModelShape& s, size_t n)
      : tokens(n), query_heads(s.query_heads), kv_heads(s.kv_heads), head_dim(s.head_dim) {
    for (auto* rows : {&k, &v, &plain_k}) rows->resize(kv_heads * n * head_dim);
    for (auto* rows : {&q, &plain_q}) rows->resize(query_heads * n * head_dim);
  }

  void add(const LayerRows& rows) {
    put(rows, rows.keys, kv_heads, k);
    put(rows, rows.values, kv_heads, v);
    put(rows, rows.plain_keys, kv_heads, plain_k);
    put(rows, rows.queries, query_heads, q);
    put(rows, rows.plain_queries, query_heads, plain_q);
  }

  // Names with a prefix, and the bytes of .npy files.
  void append(const std::string& prefix, std::vector<std::pair<std::string, std::string>>& arrays) const {
    const size_t of_keys[] = {kv_heads, tokens, head_dim}, of_queries[] = {query_heads, tokens, head_dim};
    arrays.emplace_back(prefix + "K", npy_bytes(of_keys, k));
    arrays.emplace_back(prefix + "V", npy_bytes(of_keys, v));
    arrays.emplace_back(prefix + "Q", npy_bytes(of_queries, q));
    arrays.emplace_back(prefix + "K_plain", npy_bytes(of_keys, plain_k));
    arrays.emplace_back(prefix + "Q_plain", npy_bytes(of_queries, plain_q));
  }

 private:
  void put(const LayerRows& rows, std::span<const float> from, size_t heads, std::vector<float>& to) const {
    for (int t = 0; t < rows.tokens; ++t) {
      for (size_t h = 0; h < heads; ++h) {
        std::copy_n(from.begin() + (t * heads + h) * head_dim, head_dim,
                    to.begin() + (h * tokens + rows.first + t) * head_dim);
      }
    }
  }
};

eval::Text one_text(const Model& model, const CaptureFlags& o) {
  std::vector<eval::Text> texts = eval::read_texts(model, o.text, o.most_tokens, 1);
  if (texts.empty()) throw Error(ErrorCode::kUsage, "--text " + o.text + " has no tokens");
  return std::move(texts.front());
}

}  // namespace

int capture_command(const Arguments& arguments) {
  CaptureFlags o;
  CLI::App app("Writes the keys, values and queries of a model for a text to a file of NumPy arrays.", "capture");
  add_path(app, "--model", o.model, "GGUF file");
  add_path(app, "--text", o.text, "a text file, or the first of recorded generations (.json, .jsonl)");
  add_path(app, "--out", o.out, ".npz file to write");
  for (const char* flag : {"--model", "--text", "--out"}) app.get_option(flag)->required();
  add_text(app, "--layers", o.layers, "layers, counted from 0, e.g. 0,12 (all)");
  add_integer(app, "--tokens", o.most_tokens, 1, 1 << 20, "most tokens of the text, a prompt not counted (1024)");
  add_integer(app, "--threads", o.threads, 1, 256, "one per physical core when absent");
  app.footer(
      "Arrays of a layer: K, V [KV heads][tokens][head width], Q [query heads][tokens][head width], rotated as "
      "the cache\n"
      "holds them, and K_plain, Q_plain as they were before. Of one layer they have these names, which `vase select`\n"
      "reads; of several they begin with layer0., layer1., ... `tokens` holds the ids, `prompt_tokens` one number.");
  if (!parse(app, arguments)) return kExitOk;
  CaptureOptions options{.threads = o.threads, .layers = parse_layers(o.layers)};
  refuse_overwriting("--out", o.out, {{"--model", o.model}, {"--text", o.text}});
  watch_interrupts();
  OutputFile out(o.out);
  const std::shared_ptr<const Model> model = Model::load(o.model);
  const eval::Text text = one_text(*model, o);
  const ModelShape& shape = model->shape();
  if (options.layers.empty()) {
    for (int layer = 0; layer < shape.layers; ++layer) options.layers.push_back(layer);
  }
  std::vector<LayerArrays> layers(options.layers.size(), LayerArrays(shape, text.tokens.size()));
  Progress progress((text.tokens.size() + options.chunk - 1) / options.chunk);
  int chunk_begun = -1;
  capture(*model, text.tokens, options, [&](const LayerRows& rows) {
    if (rows.first != chunk_begun) progress.next("tokens from " + std::to_string(chunk_begun = rows.first));
    layers[std::ranges::find(options.layers, rows.layer) - options.layers.begin()].add(rows);
  });

  std::vector<std::pair<std::string, std::string>> arrays;
  for (size_t i = 0; i < layers.size(); ++i) {
    layers[i].append(layers.size() == 1 ? "" : "layer" + std::to_string(options.layers[i]) + ".", arrays);
    layers[i] = LayerArrays(shape, 0);  // the bytes are enough
  }
  const std::vector<int64_t> ids(text.tokens.begin(), text.tokens.end()), prompt = {text.prompt_tokens};
  const size_t count[] = {ids.size()}, one[] = {1};
  arrays.emplace_back("tokens", npy_bytes(count, ids));
  arrays.emplace_back("prompt_tokens", npy_bytes(one, prompt));
  out.write(npz_bytes(arrays));
  out.commit();
  return kExitOk;
}

namespace {

int triattention_command(const Arguments& arguments) {
  std::string model_path, out;
  std::vector<std::string> files;
  int most_tokens = 4096, most_texts = 0, threads = 0;
  CLI::App app("Measures what score=triattention needs to know of a model's queries.", "calibrate triattention");
  add_path(app, "--model", model_path, "GGUF file");
  app.add_option("--text", files, "a text file, or recorded generations (.json, .jsonl); repeatable")
      ->type_name("")
      ->allow_extra_args(false);
  add_path(app, "--out", out, "file to write");
  for (const char* flag : {"--model", "--text", "--out"}) app.get_option(flag)->required();
  add_integer(app, "--tokens", most_tokens, 1, 1 << 20, "most tokens of a text, its prompt not counted (4096)");
  add_integer(app, "--texts", most_texts, 1, 1 << 20, "most texts of each file with records; all when absent");
  add_integer(app, "--threads", threads, 1, 256, "one per physical core when absent");
  if (!parse(app, arguments)) return kExitOk;
  std::vector<std::pair<std::string, std::string>> taken = {{"--model", model_path}};
  for (const std::string& file : files) taken.emplace_back("--text", file);
  refuse_overwriting("--out", out, taken);
  watch_interrupts();
  const OutputFile probe(out);  // fails now rather than at the end, where the library writes the file itself
  const std::shared_ptr<const Model> model = Model::load(model_path);
  std::vector<std::vector<int32_t>> texts;
  std::vector<std::string> names;
  for (const std::string& file : files) {
    for (eval::Text& text : eval::read_texts(*model, file, most_tokens, most_texts)) {
      texts.push_back(std::move(text.tokens));
      names.push_back(std::move(text.name));
    }
  }
  Progress progress(texts.size());
  calibrate_triattention(*model, texts, threads, out, [&](size_t text) { progress.next(names[text]); });
  return kExitOk;
}

}  // namespace

int calibrate_command(const Arguments& arguments) {
  return run_subcommand("calibrate",
                        {{"triattention", "means of a model's queries, for score=triattention", triattention_command}},
                        arguments);
}

}  // namespace vase::cli

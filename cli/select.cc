// `vase select`: a policy applied to arrays, without a model.
#include <cstdio>
#include <filesystem>

#include "commands.h"
#include "eval/printable.h"
#include "flags.h"
#include "json_output.h"
#include "output.h"
#include "select_report.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

namespace fs = std::filesystem;

struct SelectFlags {
  CacheFlags cache;
  SelectSetup setup;
  std::string in, out;
  double rope_base = 0;
  bool json = false;
};

constexpr const char* kShapes =
    "Arrays of --in, heads first (S sequences, H KV heads, n tokens, d channels, G query heads per KV head):\n"
    "  K, V        (n, d), (H, n, d) or (S, H, n, d): rotated keys, values; the oldest row first. f2, f4, f8\n"
    "  Q           (W, d) or (G, W, d) beside K (n, d); (H*G, W, d) or (H, G, W, d) beside K (H, n, d);\n"
    "              (S, H*G, W, d) beside K (S, H, n, d): rotated queries of the newest W tokens, the oldest first;\n"
    "              needed by policies that look at attention or queries\n"
    "  positions   (n,) or as K without d: absolute positions, ascending; 0 to n-1 when absent. i4, i8\n"
    "  log_weight  (n,) or as K without d: added to each row's logits; 0 when absent. f2, f4, f8\n"
    "--out writes .npy (kept rows), .npz (kept, positions, scores, protected, log_weight) or .json (all).";

void add_flags(CLI::App& app, SelectFlags& o) {
  add_path(app, "--in", o.in, "an .npz file, or a folder of .npy files, with K, V, Q, positions");
  app.get_option("--in")->required();
  o.cache.add_policy(app);
  add_integer(app, "--kv-budget", o.setup.budget, 1, 1 << 24, "M, tokens to keep, the buffer included");
  app.get_option("--kv-budget")->required();
  o.setup.buffer = 64;
  add_integer(app, "--kv-buffer", o.setup.buffer, 1, 1 << 16, "R, newest tokens that always stay (64)");
  add_integer(app, "--prompt-tokens", o.setup.prompt_tokens, 0, 1 << 24, "positions below it belong to the prompt (0)");
  add_seed(app, "--evict-seed", o.setup.seed, "of the draws (0)");
  add_integer(app, "--layer", o.setup.layer, 0, 65535,
              "layer that the heads belong to: draws and calibrations differ by it (0)");
  add_call(
      app, "--eviction",
      [&o](const std::string& text) { o.setup.eviction = parse_integer("--eviction", text, 0, 1 << 30); },
      "number of this eviction, for the draws (0)");
  add_call(
      app, "--rope-base", [&o](const std::string& text) { o.rope_base = parse_number("--rope-base", text, 1, 1e12); },
      "base of RoPE, for policies that turn keys back; pairs are (f, f + d/2)");
  add_path(app, "--out", o.out, "write the result to this .npy, .npz or .json file");
  app.add_flag("--json", o.json, "print everything as JSON instead of a summary");
  app.footer(kShapes);
}

enum class Format { kNone, kNpy, kNpz, kJson };

Format format_of(const std::string& path) {
  if (path.empty()) return Format::kNone;
  const std::string extension = fs::path(path).extension().string();
  if (extension == ".npy") return Format::kNpy;
  if (extension == ".npz") return Format::kNpz;
  if (extension == ".json") return Format::kJson;
  throw Error(ErrorCode::kUsage, "--out " + path + " ends in none of .npy, .npz and .json; give one of them");
}

// The input is a file, or a folder whose arrays must stay as they are.
void refuse_overwriting_input(const SelectFlags& o, const ArrayFile& in) {
  std::vector<std::pair<std::string, std::string>> taken = {{"--in", o.in}};
  for (const std::string& name : in.names())
    taken.emplace_back("array " + name + " of --in", (fs::path(o.in) / (name + ".npy")).string());
  refuse_overwriting("--out", o.out, taken);
}

std::string file_bytes(const SelectResult& result, Format format) {
  if (format == Format::kNpy) return kept_npy(result);
  if (format == Format::kNpz) return select_npz(result);
  return select_json(result).dump() + "\n";
}

}  // namespace

int select_command(const Arguments& arguments) {
  SelectFlags o;
  CLI::App app("Applies a policy to keys, values and queries from a file.", "select");
  add_flags(app, o);
  if (!parse(app, arguments)) return kExitOk;
  o.setup.policy = o.cache.parse_policy();
  const Format format = format_of(o.out);
  const std::unique_ptr<ArrayFile> in = ArrayFile::open(o.in);
  refuse_overwriting_input(o, *in);
  const HeadArrays arrays(*in);
  for (const std::string& name : arrays.unused()) {
    std::fprintf(stderr, "vase: warning: %s: array %s is not used\n", o.in.c_str(),
                 eval::printable(name).c_str());
  }
  const std::vector<float> frequencies =
      o.rope_base > 0 ? rope_frequencies(o.rope_base, arrays.head_dim()) : std::vector<float>();
  const SelectResult result = select_heads(arrays, o.setup, {.frequencies = frequencies});
  if (format != Format::kNone) {
    OutputFile out(o.out);
    out.write(file_bytes(result, format));
    out.commit();
  }
  o.json ? print_json(select_json(result)) : write_output(select_table(result));
  return kExitOk;
}

}  // namespace vase::cli

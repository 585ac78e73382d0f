// select(): a policy on NumPy arrays. vase/arrays.py has made them f32 and of the right rank.
#include "bindings.h"
#include "vase/error.h"
#include "vase/select.h"

namespace vase::python {
namespace {

void require(bool equal, const char* what) {
  if (!equal) throw Error(ErrorCode::kUsage, std::string("select: ") + what);
}

Selection select(const Policy& policy, const In<float, 2>& keys, const In<float, 2>& values,
                 const std::optional<In<int32_t, 1>>& positions, const std::optional<In<float, 3>>& queries,
                 const std::optional<In<float, 1>>& log_weight, const std::optional<In<float, 1>>& frequencies,
                 bool adjacent, float magnitude, int budget, int buffer, int prompt_tokens, int layer, int kv_head,
                 int layers, int kv_heads, uint64_t seed, uint32_t stream, uint32_t eviction) {
  SelectInput input;
  input.head_dim = static_cast<int>(keys.shape(1));
  input.keys = span_of(keys);
  require(values.shape(1) == keys.shape(1), "keys and values must have the same number of columns");
  input.values = span_of(values);
  // An empty span means "not given" further down.
  if (positions) {
    require(positions->shape(0) == keys.shape(0), "positions [n] and keys [n][d] must have the same n");
    input.positions = span_of(*positions);
  }
  if (queries) {
    require(queries->shape(2) == keys.shape(1), "queries [W][G][d] and keys [n][d] must have the same d");
    input.queries = span_of(*queries);
    input.group = static_cast<int>(queries->shape(1));
  }
  if (log_weight) {
    require(log_weight->shape(0) == keys.shape(0), "log_weight [n] and keys [n][d] must have the same n");
    input.log_weight = span_of(*log_weight);
  }
  if (frequencies) input.rope = {.frequencies = span_of(*frequencies), .adjacent = adjacent, .magnitude = magnitude};
  input.budget = budget;
  input.buffer = buffer;
  input.prompt_tokens = prompt_tokens;
  input.layer = layer;
  input.kv_head = kv_head;
  input.layers = layers;
  input.kv_heads = kv_heads;
  input.seed = seed;
  input.stream = stream;
  input.eviction = eviction;
  const nb::gil_scoped_release unlocked;
  return select_slots(policy, input);
}

}  // namespace

void bind_select(nb::module_& module) {
  nb::class_<Selection>(module, "Selection", "What a policy keeps.")
      .def_prop_ro("kept", [](const Selection& s) { return array_of<uint32_t>(s.kept); },
                   "[M] indices of the rows that stay: K candidates, then the R newest")
      .def_prop_ro("scores", [](const Selection& s) { return array_of<float>(s.scores); }, "[C] of the candidates")
      .def_prop_ro("protected", [](const Selection& s) { return array_of<uint32_t>(s.protected_); },
                   "indices of the candidates that rules have claimed, in claiming order")
      .def_prop_ro("log_weight", [](const Selection& s) { return array_of<float>(s.log_weight); },
                   "[M] of the rows that stay; empty unless the policy needs log-weights");
  module.def("_select", &select, nb::arg("policy"), nb::arg("keys"), nb::arg("values"), nb::arg("positions").none(),
             nb::arg("queries").none(), nb::arg("log_weight").none(), nb::arg("frequencies").none(), nb::arg("adjacent"),
             nb::arg("magnitude"), nb::arg("budget"), nb::arg("buffer"), nb::arg("prompt_tokens"), nb::arg("layer"),
             nb::arg("kv_head"), nb::arg("layers"), nb::arg("kv_heads"), nb::arg("seed"), nb::arg("stream"),
             nb::arg("eviction"));
  module.def("rope_frequencies", [](double base, int head_dim) { return array_of<float>(rope_frequencies(base, head_dim)); },
             nb::arg("base"), nb::arg("head_dim"), "Frequencies of plain RoPE, [head_dim / 2]: base^(-2 f / head_dim).");
}

}  // namespace vase::python

// Policy, and scorers written in Python.
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "bindings.h"
#include "vase/error.h"

namespace vase::python {
namespace {

// What a scorer sees, while score() runs. Its arrays are copies and may be kept.
class Head {
 public:
  Head(const HeadView& view, RandomDraws& draws) : view_(&view), draws_(&draws) {}
  void close() { view_ = nullptr; }

  const HeadView& view() const {
    if (view_) return *view_;
    throw Error(ErrorCode::kUsage, "a head can be looked at only while score() runs; take out of it what you need later");
  }
  nb::object rows(RowsView HeadView::* member) const {
    const RowsView& rows = view().*member;
    const size_t count = view().slots(), width = rows.width;
    std::vector<float> numbers(count * width);
    for (size_t i = 0; i < count; ++i) read_row(rows, i, numbers.data() + i * width);
    return array_of<float>(numbers, {count, width});
  }
  nb::object queries() const {
    const QueriesView& q = view().queries;
    std::vector<float> numbers;
    for (int w = 0; w < q.count; ++w) {
      for (int g = 0; g < q.group; ++g) numbers.insert(numbers.end(), q.row(w, g).begin(), q.row(w, g).end());
    }
    return array_of<float>(numbers, {size_t(q.count), size_t(q.group), size_t(q.width)});
  }
  nb::object uniform() const {
    std::vector<float> numbers(view().candidates());
    draws_->uniform(view().positions, numbers);
    return array_of<float>(numbers);
  }

 private:
  const HeadView* view_;
  RandomDraws* draws_;
};

constexpr std::pair<std::string_view, AttentionRecord> kRecords[] = {
    {"none", AttentionRecord::kNone},
    {"window-sum", AttentionRecord::kWindowSum},
    {"window-squares", AttentionRecord::kWindowSquares},
    {"window-max", AttentionRecord::kWindowMax},
    {"lifetime-sum", AttentionRecord::kLifetimeSum},
    {"recurrence", AttentionRecord::kRecurrence},
};

AttentionRecord record_of(const std::string& name) {
  std::string all;
  for (const auto& [text, record] : kRecords) {
    if (text == name) return record;
    all += (all.empty() ? "" : ", ") + std::string(text);
  }
  throw Error(ErrorCode::kUsage, "needs: attention is '" + name + "'; allowed: " + all);
}

PolicyNeeds needs_of(const std::string& attention, float temperature, bool over_all, float threshold, bool value_range,
                     bool norm_product, bool log_weight, bool rope, int queries) {
  if (!(temperature > 0) || !std::isfinite(temperature)) {
    throw Error(ErrorCode::kUsage, "needs: temperature must be finite and above 0");
  }
  if (!std::isfinite(threshold)) throw Error(ErrorCode::kUsage, "needs: threshold must be finite");
  if (queries < 0) throw Error(ErrorCode::kUsage, "needs: queries must be 0 or more");
  return {.attention = record_of(attention),
          .temperature = temperature,
          .over_all = over_all,
          .threshold = threshold,
          .value_range = value_range,
          .norm_product = norm_product,
          .rows = true,
          .log_weight = log_weight,
          .rope = rope,
          .draws = true,
          .queries = queries};
}

// A Python object with name, needs and score(head). The engine's threads call it one at a time, since each call holds the
// interpreter's lock. What it raises leaves the step as it was raised.
class PythonScorer final : public Scorer {
 public:
  explicit PythonScorer(nb::object object)
      : object_(std::move(object)),
        name_(nb::cast<std::string>(object_.attr("name"))),
        needs_(nb::cast<PolicyNeeds>(object_.attr("needs"))) {}
  ~PythonScorer() override {
    const nb::gil_scoped_acquire lock;
    object_.reset();
  }
  PythonScorer(const PythonScorer&) = delete;
  PythonScorer& operator=(const PythonScorer&) = delete;

  PolicyNeeds needs() const override { return needs_; }
  std::string text() const override { return name_; }
  void score(const HeadView& view, RandomDraws& draws, PolicyScratch&, std::span<float> out) const override {
    const nb::gil_scoped_acquire lock;
    const auto head = std::make_shared<Head>(view, draws);
    const struct Close {
      Head& head;
      ~Close() { head.close(); }
    } close{*head};
    copy(nb::module_::import_("vase.arrays").attr("scores")(object_.attr("score")(head), name_, out.size()), out);
  }

 private:
  static void copy(const nb::object& scores, std::span<float> out) {
    const auto array = nb::cast<In<float, 1>>(scores);
    std::copy_n(array.data(), out.size(), out.data());
  }

  nb::object object_;
  std::string name_;
  PolicyNeeds needs_;
};

void bind_head(nb::module_& module) {
  nb::class_<Head> head(module, "Head",
                        "One KV head at the moment of an eviction: C candidates in ascending position, then the R newest "
                        "slots. Valid while score() runs; arrays are copies.");
  const auto number = [&](const char* name, auto member, const char* doc) {
    head.def_prop_ro(name, [member](const Head& h) { return h.view().*member; }, doc);
  };
  number("budget", &HeadView::budget, "M, slots that stay, the buffer included");
  number("buffer", &HeadView::buffer, "R, newest slots that always stay");
  number("prompt_tokens", &HeadView::prompt_tokens, "positions below it belong to the prompt");
  number("group", &HeadView::group, "query heads that share this KV head");
  number("layer", &HeadView::layer, "");
  number("kv_head", &HeadView::kv_head, "");
  number("seen", &HeadView::seen, "the newest token has position seen - 1");
  number("attention_rows", &HeadView::attention_rows, "probability rows in a window record");
  const auto list = [&](const char* name, auto member, const char* doc) {
    head.def_prop_ro(name, [member](const Head& h) { return array_of((h.view().*member)); }, doc);
  };
  list("positions", &HeadView::positions, "[C] absolute position of each candidate");
  list("attention", &HeadView::attention, "[C] the record that was asked for");
  list("last_use", &HeadView::last_use, "[C] of the record 'recurrence'");
  list("longest_gap", &HeadView::longest_gap, "[C] of the record 'recurrence'");
  list("value_range", &HeadView::value_range, "[C] max - min of each value row");
  list("norm_product", &HeadView::norm_product, "[C] |k| |v|");
  list("log_weight", &HeadView::log_weight, "[C]");
  head.def_prop_ro("candidates", [](const Head& h) { return h.view().candidates(); }, "C")
      .def_prop_ro("keys", [](const Head& h) { return h.rows(&HeadView::keys); }, "[C + R][d] rotated keys")
      .def_prop_ro("values", [](const Head& h) { return h.rows(&HeadView::values); }, "[C + R][d]")
      .def_prop_ro("queries", &Head::queries, "[W][G][d] newest queries, oldest first")
      .def("uniform", &Head::uniform, "[C] U[0,1) drawn for each candidate by the seed of the evictions");
}

}  // namespace

void bind_policy(nb::module_& module) {
  bind_head(module);
  nb::class_<PolicyNeeds>(module, "Needs", "What the engine must keep for a scorer; nothing costs nothing.")
      .def("__init__",
           [](PolicyNeeds* self, const std::string& attention, float temperature, bool over_all, float threshold,
              bool value_range, bool norm_product, bool log_weight, bool rope, int queries) {
             new (self) PolicyNeeds(needs_of(attention, temperature, over_all, threshold, value_range, norm_product,
                                             log_weight, rope, queries));
           },
           nb::kw_only(), nb::arg("attention") = "none", nb::arg("temperature") = 1.0f, nb::arg("over_all") = false,
           nb::arg("threshold") = 0.0f, nb::arg("value_range") = false, nb::arg("norm_product") = false,
           nb::arg("log_weight") = false, nb::arg("rope") = false, nb::arg("queries") = 0,
           "attention: 'none', 'window-sum', 'window-squares', 'window-max', 'lifetime-sum' or 'recurrence'. over_all: "
           "window records over all slots used, not over the candidates. queries: how many of the newest tokens' "
           "queries to hold.");
  nb::class_<Policy>(module, "Policy", "What may be dropped from the cache (docs/policies.md).")
      .def("__init__", [](Policy* self, const std::string& text) { new (self) Policy(Policy::parse(text)); },
           nb::arg("text"), "A preset, a composition, or a preset with changes, as in 'vase-attnv protect+=prompt'.")
      .def_prop_ro("text", &Policy::text, "Canonical text.")
      .def("__str__", &Policy::text)
      .def("__repr__", [](const Policy& p) { return "Policy('" + p.text() + "')"; })
      .def("with_scorer",
           [](const Policy& p, nb::object scorer) {
             if (nb::isinstance<nb::type_object>(scorer)) {
               throw Error(ErrorCode::kUsage, "with_scorer() takes a scorer, not its class; write X() instead of X");
             }
             return p.with_scorer(std::make_shared<PythonScorer>(std::move(scorer)));
           },
           nb::arg("scorer"), "The same policy with a Scorer of your own in place of its `score=`.")
      .def_static("presets",
                  [] {
                    nb::dict all;
                    for (const PolicyInfo& info : Policy::presets()) all[info.name.c_str()] = info.text;
                    return all;
                  },
                  "Names of the presets, and what each one stands for.");
}

}  // namespace vase::python

// Engine and Session. Steps run without the interpreter's lock; between steps signals are looked at, so that Ctrl-C works.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string_view.h>

#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "bindings.h"
#include "vase/engine.h"
#include "vase/error.h"

namespace vase::python {
namespace {

class PythonSession;

// An engine for one thread at a time: another that comes meanwhile, or a scorer in the midst of a step, gets an Error.
class PythonEngine {
 public:
  PythonEngine(std::shared_ptr<Model> model, const Policy& policy, const CacheOptions& cache, const EngineOptions& options)
      : model_(std::move(model)), engine_(model_, policy, cache, options) {}

  std::unique_lock<std::mutex> lock() {
    std::unique_lock guard(mutex_, std::try_to_lock);
    if (guard) return guard;
    throw Error(ErrorCode::kUsage, "the engine is in the midst of a step; use it from one thread at a time, and not from "
                                   "a scorer");
  }
  Engine& engine() { return engine_; }
  const Model& model() const { return *model_; }

  int step();
  void add(const Session* session, std::weak_ptr<PythonSession> python) { sessions_[session] = std::move(python); }
  void remove(const Session* session) { sessions_.erase(session); }

 private:
  std::shared_ptr<Model> model_;
  Engine engine_;
  std::mutex mutex_;
  std::unordered_map<const Session*, std::weak_ptr<PythonSession>> sessions_;
};

// Keeps the texts of a session until they are asked for.
class PythonSession {
 public:
  PythonSession(std::shared_ptr<PythonEngine> engine, std::shared_ptr<Session> session)
      : engine_(std::move(engine)), session_(std::move(session)) {}
  ~PythonSession() {
    session_->cancel();
    engine_->remove(session_.get());
  }
  PythonSession(const PythonSession&) = delete;
  PythonSession& operator=(const PythonSession&) = delete;

  void push(std::string_view text) {
    if (!text.empty()) texts_.emplace_back(text);
  }
  // The next text, made by stepping the engine; throws StopIteration at the end.
  std::string next() {
    while (texts_.empty()) {
      if (session_->finish() != Finish::kRunning) throw nb::stop_iteration();
      engine_->step();
    }
    std::string text = std::move(texts_.front());
    texts_.pop_front();
    return text;
  }
  Session& session() const { return *session_; }
  // For what changes during a step.
  Session& at_rest() const {
    engine_->lock();
    return *session_;
  }

 private:
  std::shared_ptr<PythonEngine> engine_;
  std::shared_ptr<Session> session_;
  std::deque<std::string> texts_;
};

void check_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

int PythonEngine::step() {
  check_signals();
  const auto guard = lock();
  std::vector<std::pair<const Session*, std::string>> texts;
  std::exception_ptr error;
  int left = 0;
  {
    const nb::gil_scoped_release unlocked;
    try {
      left = engine_.step([&](Session& session, std::string_view text) { texts.emplace_back(&session, text); });
    } catch (...) {  // what was said before it is still delivered
      error = std::current_exception();
    }
  }
  for (const auto& [session, text] : texts) {
    const auto found = sessions_.find(session);
    if (found == sessions_.end()) continue;
    if (const auto python = found->second.lock()) python->push(text);
  }
  if (error) std::rethrow_exception(error);
  return left;
}

template <typename Enum>
Enum choice(const char* name, const std::string& value, std::initializer_list<std::pair<const char*, Enum>> allowed) {
  std::string all;
  for (const auto& [text, result] : allowed) {
    if (text == value) return result;
    all += (all.empty() ? "" : ", ") + std::string(text);
  }
  throw Error(ErrorCode::kUsage, std::string(name) + " is '" + value + "'; allowed: " + all);
}

RowType row_type(const char* name, const std::string& value) {
  return choice<RowType>(
      name, value,
      {{"f32", RowType::kF32}, {"f16", RowType::kF16}, {"bf16", RowType::kBF16}, {"q8_0", RowType::kQ8_0}, {"q4_0", RowType::kQ4_0}});
}

std::shared_ptr<PythonEngine> new_engine(std::shared_ptr<Model> model, const Policy& policy, int budget, double budget_mib,
                                         int buffer, int period, const std::string& key_type,
                                         const std::string& value_type, bool auto_types, int expected_tokens,
                                         const std::string& prefill, int max_prompt,
                                         const std::string& trigger, const std::string& positions,
                                         const std::string& layer_budgets, float pyramid_beta, bool stagger, int context,
                                         int sequences, int threads, int chunk, int logit_rows, const std::string& path,
                                         bool poison_free_rows, bool log_evictions) {
  const CacheOptions cache{
      .budget = budget,
      .budget_mib = budget_mib,
      .buffer = buffer,
      .period = period,
      .key_type = row_type("key_type", key_type),
      .value_type = row_type("value_type", value_type),
      .auto_types = auto_types,
      .expected_tokens = expected_tokens,
      .prefill = choice<Prefill>("prefill", prefill, {{"evicting", Prefill::kEvicting}, {"dense", Prefill::kDense}}),
      .max_prompt = max_prompt,
      .trigger = choice<Trigger>("trigger", trigger, {{"general", Trigger::kGeneral}, {"parity", Trigger::kParity}}),
      .positions = choice<Positions>("positions", positions, {{"text", Positions::kText}, {"cache", Positions::kCache}}),
      .layer_budgets = choice<LayerBudgets>("layer_budgets", layer_budgets,
                                            {{"uniform", LayerBudgets::kUniform}, {"pyramid", LayerBudgets::kPyramid}}),
      .pyramid_beta = pyramid_beta,
      .stagger = stagger,
      .context = context};
  const EngineOptions options{
      .sequences = sequences,
      .threads = threads,
      .chunk = chunk,
      .logit_rows = logit_rows,
      .path = choice<AttentionPath>("path", path,
                                    {{"fused", AttentionPath::kFused}, {"reference", AttentionPath::kReference}}),
      .poison_free_rows = poison_free_rows,
      .log_evictions = log_evictions};
  return std::make_shared<PythonEngine>(std::move(model), policy, cache, options);
}

std::shared_ptr<PythonSession> submit(const std::shared_ptr<PythonEngine>& engine, std::vector<int32_t> prompt,
                                      float temperature, int top_k, float top_p, float min_p, float repetition_penalty,
                                      int repetition_window, uint64_t seed, uint64_t evict_seed, uint32_t stream,
                                      int max_tokens, std::vector<std::string> stops, bool ignore_eos,
                                      int stop_loops) {
  const SessionOptions options{.sampling = {.temperature = temperature,
                                            .top_k = top_k,
                                            .top_p = top_p,
                                            .min_p = min_p,
                                            .repetition_penalty = repetition_penalty,
                                            .repetition_window = repetition_window,
                                            .seed = seed},
                               .evict_seed = evict_seed,
                               .stream = stream,
                               .max_tokens = max_tokens,
                               .stops = std::move(stops),
                               .ignore_eos = ignore_eos,
                               .stop_loops = stop_loops};
  const auto guard = engine->lock();
  auto session = engine->engine().submit(std::move(prompt), options);
  auto python = std::make_shared<PythonSession>(engine, session);
  engine->add(session.get(), python);
  return python;
}

Counters force(PythonEngine& engine, const std::vector<int32_t>& tokens, const nb::callable& on_logits, int prompt_tokens,
               uint64_t evict_seed, uint32_t stream) {
  const auto guard = engine.lock();
  const nb::gil_scoped_release unlocked;
  return engine.engine().force(tokens, prompt_tokens, {.evict_seed = evict_seed, .stream = stream},
                               [&](int64_t position, std::span<const float> logits) {
                                 const nb::gil_scoped_acquire locked;
                                 check_signals();
                                 on_logits(position, array_of<float>(logits));
                               })
      .counters;
}

std::vector<EvictionRecord> evictions_of(const PythonSession& session) {
  const auto all = session.at_rest().evictions();
  return {all.begin(), all.end()};
}

void bind_plain_results(nb::module_& module) {
  nb::class_<Counters>(module, "Counters")
      .def_ro("tokens_seen", &Counters::tokens_seen, "prompt and generated tokens in the cache's past")
      .def_ro("slots_used", &Counters::slots_used, "per layer and KV head")
      .def_ro("evicted", &Counters::evicted, "tokens dropped so far, per layer and KV head")
      .def_ro("evictions", &Counters::evictions, "times that a head has evicted")
      .def_ro("first_eviction", &Counters::first_eviction, "tokens seen at the first of them; 0: not yet");
  nb::class_<EvictionRecord>(module, "EvictionRecord", "What one head kept at one eviction.")
      .def_ro("layer", &EvictionRecord::layer)
      .def_ro("kv_head", &EvictionRecord::kv_head)
      .def_ro("eviction", &EvictionRecord::eviction, "its number, per head")
      .def_ro("seen", &EvictionRecord::seen, "tokens seen: the newest has position seen - 1")
      .def_ro("candidates", &EvictionRecord::candidates, "C")
      .def_ro("buffer", &EvictionRecord::buffer, "R, the newest tokens, which come last in `kept`")
      .def_ro("prompt_tokens", &EvictionRecord::prompt_tokens)
      .def_prop_ro("kept", [](const EvictionRecord& r) { return array_of<int32_t>(r.kept); }, "positions")
      .def_ro("value_similarity", &EvictionRecord::value_similarity,
              "mean |cos| between the kept values, of at most 512, the buffer left out; None for fewer than two");
  nb::class_<MemoryPlan>(module, "MemoryPlan", "What a cache costs.")
      .def_ro("budget", &MemoryPlan::budget, "M, slots; the mean, when layers differ")
      .def_ro("first_budget", &MemoryPlan::first_budget, "M of the first layer")
      .def_ro("last_budget", &MemoryPlan::last_budget, "M of the last layer")
      .def_ro("buffer", &MemoryPlan::buffer, "R, slots")
      .def_ro("period", &MemoryPlan::period, "tokens from one eviction to the next")
      .def_ro("capacity", &MemoryPlan::capacity, "slots that exist per layer, KV head and sequence")
      .def_prop_ro("key_type", [](const MemoryPlan& m) { return row_type_name(m.key_type); }, "chosen, with auto_types")
      .def_prop_ro("value_type", [](const MemoryPlan& m) { return row_type_name(m.value_type); })
      .def_ro("read", &MemoryPlan::read, "tokens read per step by a policy that reads a part; 0: all")
      .def_prop_ro("bytes", &MemoryPlan::bytes)
      .def_prop_ro("formula", &MemoryPlan::formula)
      .def("__str__", &MemoryPlan::formula);
}

void bind_session(nb::module_& module) {
  nb::class_<PythonSession>(module, "Session",
                            "One text. Iterating over it steps the engine and gives pieces of text as they become safe to "
                            "show: whole characters, no part of a stop string.")
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &PythonSession::next)
      .def("cancel", [](PythonSession& s) { s.session().cancel(); }, "From any thread; takes effect within one step.")
      .def_prop_ro("finish", [](const PythonSession& s) { return finish_name(s.at_rest().finish()); },
                   "'running', 'eos', 'stop', 'length', 'context', 'cancelled', 'nonfinite' or 'repetition'.")
      .def_prop_ro("prompt_tokens", [](const PythonSession& s) { return s.session().prompt_tokens(); })
      .def_prop_ro("generated",
                   [](const PythonSession& s) {
                     const auto tokens = s.at_rest().generated();
                     return std::vector<int32_t>(tokens.begin(), tokens.end());
                   },
                   "The generated tokens.")
      .def_prop_ro("counters", [](const PythonSession& s) { return s.at_rest().counters(); })
      .def_prop_ro("evictions", &evictions_of,
                   "With log_evictions: an EvictionRecord of every eviction.");
}

void bind_engine_class(nb::module_& module) {
  const CacheOptions cache;
  const EngineOptions engine;
  const SessionOptions session;
  nb::class_<PythonEngine>(module, "_Engine")
      .def(nb::new_(&new_engine), nb::arg("model"), nb::arg("policy"), nb::kw_only(), nb::arg("budget") = cache.budget,
           nb::arg("budget_mib") = cache.budget_mib, nb::arg("buffer") = cache.buffer, nb::arg("period") = cache.period,
           nb::arg("key_type") = "f16", nb::arg("value_type") = "f16", nb::arg("auto_types") = cache.auto_types,
           nb::arg("expected_tokens") = cache.expected_tokens, nb::arg("prefill") = "evicting",
           nb::arg("max_prompt") = cache.max_prompt, nb::arg("trigger") = "general", nb::arg("positions") = "text",
           nb::arg("layer_budgets") = "uniform", nb::arg("pyramid_beta") = cache.pyramid_beta,
           nb::arg("stagger") = cache.stagger, nb::arg("context") = cache.context, nb::arg("sequences") = engine.sequences, nb::arg("threads") = engine.threads,
           nb::arg("chunk") = engine.chunk, nb::arg("logit_rows") = engine.logit_rows, nb::arg("path") = "fused",
           nb::arg("poison_free_rows") = false, nb::arg("log_evictions") = false)
      .def("submit", &submit, nb::arg("prompt"), nb::kw_only(), nb::arg("temperature") = session.sampling.temperature,
           nb::arg("top_k") = session.sampling.top_k, nb::arg("top_p") = session.sampling.top_p,
           nb::arg("min_p") = session.sampling.min_p, nb::arg("repetition_penalty") = session.sampling.repetition_penalty,
           nb::arg("repetition_window") = session.sampling.repetition_window, nb::arg("seed") = session.sampling.seed,
           nb::arg("evict_seed") = session.evict_seed, nb::arg("stream") = session.stream,
           nb::arg("max_tokens") = session.max_tokens, nb::arg("stops") = std::vector<std::string>(),
           nb::arg("ignore_eos") = session.ignore_eos, nb::arg("stop_loops") = session.stop_loops)
      .def("step", &PythonEngine::step)
      .def("force", &force, nb::arg("tokens"), nb::arg("on_logits"), nb::kw_only(), nb::arg("prompt_tokens") = 0,
           nb::arg("evict_seed") = session.evict_seed, nb::arg("stream") = session.stream)
      .def_prop_ro("memory", [](PythonEngine& e) { return e.engine().memory(); })
      .def_prop_ro("policy", [](PythonEngine& e) { return e.engine().policy(); })
      .def_prop_ro("nonfinite_scores", [](PythonEngine& e) { return e.lock(), e.engine().nonfinite_scores(); })
      .def_prop_ro("protection_truncated", [](PythonEngine& e) { return e.lock(), e.engine().protection_truncated(); });
}

}  // namespace

void bind_engine(nb::module_& module) {
  bind_plain_results(module);
  bind_session(module);
  bind_engine_class(module);
}

}  // namespace vase::python

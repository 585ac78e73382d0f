#include "capi/handles.h"

using namespace vase::capi;

namespace {

vase::Engine& engine_of(const vase_engine* engine) { return *required(engine, "engine").engine; }

}  // namespace

extern "C" {

vase_status vase_plan_memory(const char* path, const vase_policy* policy, const vase_cache_options* cache,
                             const vase_engine_options* engine, vase_memory_plan* plan, size_t size) {
  return guarded([&] {
    const vase::ModelShape shape = vase::read_model_shape(&required(path, "path"));
    give(memory_plan(vase::plan_memory(shape, required(policy, "policy").policy, cache_options(cache),
                                       engine_options(engine))),
         &required(plan, "plan"), size);
  });
}

vase_status vase_engine_new(const vase_model* model, const vase_policy* policy, const vase_cache_options* cache,
                            const vase_engine_options* options, vase_engine** engine) {
  return guarded_new(engine, "engine", [&] {
    return new vase_engine{std::make_shared<SessionTable>(),
                           std::make_unique<vase::Engine>(required(model, "model").model,
                                                          required(policy, "policy").policy, cache_options(cache),
                                                          engine_options(options))};
  });
}

void vase_engine_free(vase_engine* engine) { delete engine; }

vase_status vase_engine_submit(vase_engine* engine, const int32_t* prompt, size_t count,
                               const vase_session_options* options, vase_session** session) {
  return guarded_new(session, "session", [&] {
    require_array(prompt, count, "prompt");
    vase::Engine& target = engine_of(engine);
    auto handle = std::make_unique<vase_session>(engine->sessions, nullptr);
    handle->session = target.submit({prompt, prompt + count}, session_options(options));
    engine->sessions->emplace(handle->session.get(), handle.get());
    return handle.release();
  });
}

vase_status vase_engine_step(vase_engine* engine, vase_on_text on_text, void* user, int32_t* left) {
  return guarded([&] {
    const auto deliver = [&](vase::Session& session, std::string_view text) {
      const auto found = engine->sessions->find(&session);
      if (!on_text || found == engine->sessions->end()) return;  // its handle was freed
      on_text(user, found->second, text.data() ? text.data() : "", text.size());
    };
    const int running = engine_of(engine).step(deliver);
    if (left) *left = running;
  });
}

vase_status vase_engine_force(vase_engine* engine, const int32_t* tokens, size_t count, int32_t prompt_tokens,
                              const vase_session_options* options, vase_on_logits on_logits, void* user,
                              vase_counters* counters, size_t counters_size) {
  return guarded([&] {
    require_array(tokens, count, "tokens");
    if (!on_logits) throw vase::Error(vase::ErrorCode::kUsage, "on_logits is NULL; it must be a function");
    const auto deliver = [&](int64_t position, std::span<const float> logits) {
      on_logits(user, position, logits.data(), logits.size());
    };
    const vase::Forced result =
        engine_of(engine).force({tokens, count}, prompt_tokens, session_options(options), deliver);
    if (counters) give(counters_of(result.counters), counters, counters_size);
  });
}

vase_status vase_engine_memory(const vase_engine* engine, vase_memory_plan* plan, size_t size) {
  return guarded([&] { give(memory_plan(engine_of(engine).memory()), &required(plan, "plan"), size); });
}

uint64_t vase_engine_nonfinite_scores(const vase_engine* engine) {
  return engine ? engine->engine->nonfinite_scores() : 0;
}

uint64_t vase_engine_protection_truncated(const vase_engine* engine) {
  return engine ? engine->engine->protection_truncated() : 0;
}

}  // extern "C"

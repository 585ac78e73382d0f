#include <cmath>

#include "capi/handles.h"

using namespace vase::capi;

extern "C" {

void vase_session_free(vase_session* session) {
  if (!session) return;
  session->session->cancel();
  session->table->erase(session->session.get());
  delete session;
}

void vase_session_cancel(vase_session* session) {
  if (session) session->session->cancel();
}

int32_t vase_session_finish(const vase_session* session) {
  return session ? static_cast<int32_t>(session->session->finish()) : VASE_CANCELLED;
}

const char* vase_finish_name(int32_t finish) { return vase::finish_name(static_cast<vase::Finish>(finish)).data(); }

int32_t vase_session_prompt_tokens(const vase_session* session) {
  return session ? session->session->prompt_tokens() : 0;
}

const int32_t* vase_session_generated(const vase_session* session, size_t* count) {
  const std::span<const int32_t> tokens = session ? session->session->generated() : std::span<const int32_t>();
  if (count) *count = tokens.size();
  return tokens.data();
}

vase_status vase_session_counters(const vase_session* session, vase_counters* counters, size_t size) {
  return guarded([&] {
    give(counters_of(required(session, "session").session->counters()), &required(counters, "counters"), size);
  });
}

size_t vase_session_eviction_count(const vase_session* session) {
  return session ? session->session->evictions().size() : 0;
}

vase_status vase_session_eviction(const vase_session* session, size_t index, vase_eviction* eviction, size_t size) {
  return guarded([&] {
    const auto all = required(session, "session").session->evictions();
    required(eviction, "eviction");
    if (index >= all.size()) {
      throw vase::Error(vase::ErrorCode::kUsage, "there is no eviction number " + std::to_string(index) + "; " +
                                                     std::to_string(all.size()) + " are in the log");
    }
    const vase::EvictionRecord& record = all[index];
    give<vase_eviction>({.layer = record.layer,
                         .kv_head = record.kv_head,
                         .number = record.eviction,
                         .kept = record.kept.data(),
                         .kept_count = record.kept.size(),
                         .seen = record.seen,
                         .candidates = record.candidates,
                         .buffer = record.buffer,
                         .prompt_tokens = record.prompt_tokens,
                         .value_similarity = record.value_similarity.value_or(NAN)},
                        eviction, size);
  });
}

}  // extern "C"

#include <algorithm>

#include "kernels/leverage/leverage.h"
#include "kernels/query_scores/query_scores.h"
#include "policies/query_work.h"
#include "vase/policy.h"

namespace vase {
namespace {

template <typename T>
void grow(std::vector<T>& v, size_t size) {
  if (v.size() < size) v.resize(size);
}

size_t gaussian_floats(int head_dim, int sketch) {
  return static_cast<size_t>(head_dim) * sketch + kernels::kSketchTail;
}

}  // namespace

void PolicyScratch::reserve(int slots, int head_dim, int sketch, size_t work_floats) {
  const size_t n = kernels::results_row(slots);
  for (auto* v : {&scores, &log_weight, &mixed, &term, &shared, &draws, &energy}) grow(*v, n);
  grow(gaussian, gaussian_floats(head_dim, sketch));
  grow(row, padded_row(head_dim));
  grow(work, work_floats);
  grow(keys, n);
  grow(claimed, n);
  grow(pool, n);
  grow(order, n);
}

size_t PolicyScratch::bytes_for(int slots, int head_dim, int sketch, size_t work) {
  const size_t per_slot = sizeof(float) * 7 + sizeof(double) + sizeof(uint8_t) + sizeof(uint32_t) * 2;
  return kernels::results_row(slots) * per_slot +
         sizeof(float) * (gaussian_floats(head_dim, sketch) + padded_row(head_dim) + work);
}

size_t PolicyScratch::work_for(const PolicyNeeds& needs, int group, int slots, int head_dim) {
  if (needs.queries == 0 && !needs.rope) return 0;
  return QueryWork(group, needs.queries, slots, head_dim).floats();
}

size_t PolicyScratch::bytes() const {
  size_t floats = gaussian.size() + row.size() + work.size();
  for (const auto* v : {&scores, &log_weight, &mixed, &term, &shared, &draws, &energy}) floats += v->size();
  return sizeof(float) * floats +
         sizeof(double) * keys.size() + claimed.size() + sizeof(uint32_t) * (pool.size() + order.size());
}

}  // namespace vase

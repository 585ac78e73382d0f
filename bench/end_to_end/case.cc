#include "end_to_end/case.h"

namespace vase::bench {
namespace {

// One case with every kind of products and every chunk.
void add_variants(const Grid& grid, Case one, std::vector<Case>& cases) {
  for (const model::WeightLayout layout : grid.layouts) {
    for (const int chunk : grid.chunks) {
      one.layout = layout;
      one.chunk = chunk;
      cases.push_back(one);
    }
  }
}

// Every policy at every budget in all variants, for one place in the rest of the grid.
std::vector<Case> cases_at(const Grid& grid, Case one) {
  std::vector<Case> cases;
  for (const NamedPolicy& named : grid.policies) {
    const Policy policy = Policy::parse(named.text);
    one.name = named.name;
    one.policy = policy.text();
    for (const int budget : grid.budgets) {
      one.cache.budget = budget;
      add_variants(grid, one, cases);
      if (!policy.evicts() && !policy.reads()) break;
    }
  }
  return cases;
}

}  // namespace

std::string Test::name() const { return (prompt ? "pp" : "tg") + std::to_string(tokens); }

std::vector<Group> groups_of(const Grid& grid) {
  std::vector<Group> groups;
  Case place{.cache = grid.cache};
  for (const int threads : grid.threads) {
    place.threads = threads;
    for (const KvType& type : grid.kv_types) {
      place.kv_type = type.name;
      place.cache.key_type = type.key;
      place.cache.value_type = type.value;
      for (const int depth : grid.depths) {
        place.depth = depth;
        for (const int batch : grid.batches) {
          place.batch = batch;
          groups.push_back({grid.tests, cases_at(grid, place)});
        }
      }
    }
  }
  return groups;
}

}  // namespace vase::bench

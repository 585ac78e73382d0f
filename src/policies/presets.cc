#include "policies/presets.h"

#include <algorithm>

namespace vase {

const std::vector<PolicyInfo>& Policy::presets() {
  static const std::vector<PolicyInfo> kPresets = {
      {"full", "keeps every token; memory grows up to the context limit", "control", "full"},
      {"vase-attnv", "protects large values, draws the rest by window attention", "arXiv 2606.03928",
       "protect=sinks:4,value:25% score=attention select=sample"},
      {"vase-dkv", "keeps the top by key-value leverage, sketched anew at every eviction", "arXiv 2606.03928",
       "protect=sinks:4 score=leverage:sketch=20,resample=on select=top"},
      {"curdkv", "keeps the top by key-value leverage, one sketch per sequence", "arXiv 2509.15038",
       "protect=sinks:4 score=leverage:sketch=20,resample=off select=top"},
      {"snapkv", "keeps the top by window attention", "arXiv 2404.14469", "score=attention select=top"},
      {"snapkv-prompt", "keeps the top by the attention of the last 64 tokens over all", "arXiv 2404.14469",
       "score=query-attention:queries=64,over=all,reduce=sum,pool=avg5 select=top"},
      {"snapkv-decode", "keeps the top by the attention of the last 8 tokens, strongest head, widened to 7 neighbours",
       "arXiv 2404.14469, 2505.24133", "score=query-attention:queries=8,group=max,pool=max7 select=top"},
      {"tova", "keeps the top by the newest token's attention, the same tokens in all heads of a layer",
       "arXiv 2401.06104", "score=query-attention:queries=1,over=all select=top share=layer"},
      {"h2o", "keeps the newest half of M and the top by all attention received", "arXiv 2306.14048",
       "protect=recent:50% score=lifetime-attention select=top"},
      {"caote", "keeps the top by the change of the attention output", "CAOTE; arXiv 2609.03430", "score=caote select=top"},
      {"expected-attention", "keeps the top by attention to come times value norm", "arXiv 2510.00636",
       "protect=sinks:4 score=expected-attention:queries=32,future=512 select=top"},
      {"lazy-eviction", "keeps what is due to be used again", "arXiv 2506.15969", "score=recurrence select=top"},
      {"random", "evicts at random, sinks included", "control", "score=uniform select=top"},
      {"random-prompt", "keeps the prompt, evicts at random", "arXiv 2609.03430",
       "protect=prompt score=uniform select=top"},
      {"quest", "keeps every token, reads the pages with the largest bound on their logits", "arXiv 2406.10774",
       "read=quest:page=16"},
      {"oracle-blocks", "keeps every token, reads the blocks with the largest true probability", "control",
       "read=oracle:block=64"},
  };
  return kPresets;
}

namespace {

const PolicyInfo* find(const std::vector<PolicyInfo>& presets, std::string_view name) {
  const auto found = std::find_if(presets.begin(), presets.end(), [&](const PolicyInfo& p) { return p.name == name; });
  return found == presets.end() ? nullptr : &*found;
}

}  // namespace

const PolicyInfo* find_preset(std::string_view name) { return find(Policy::presets(), name); }

const PolicyInfo* find_file_preset(std::string_view name) {
  static const std::vector<PolicyInfo> kPresets = {
      {"seer-attention", "keeps every token, reads the blocks that a trained gate chooses", "arXiv 2506.08889",
       "read=seer:gates=FILE"},
  };
  return find(kPresets, name);
}

}  // namespace vase

#include "policies/presets.h"

#include <algorithm>

namespace vase {

const std::vector<PolicyInfo>& Policy::presets() {
  static const std::vector<PolicyInfo> kPresets = {
      {"full", "keeps every token; memory grows up to the context limit", "control", "full"},
      {"vase", "protects large leverage, draws the rest by largest attention, with log-weights", "our own, 4.17",
       "protect=sinks:4,leverage:50% score=attention:form=max,smooth=off select=sample:floor=0.1,weights=on"},
      {"vase-attnv", "protects large values, draws the rest by window attention", "arXiv 2606.03928",
       "protect=sinks:4,value:25% score=attention select=sample"},
      {"vase-dkv", "keeps the top by key-value leverage, sketched anew at every eviction", "arXiv 2606.03928",
       "protect=sinks:4 score=leverage:sketch=20,resample=on select=top"},
      {"curdkv", "keeps the top by key-value leverage, one sketch per sequence", "arXiv 2509.15038",
       "protect=sinks:4 score=leverage:sketch=20,resample=off select=top"},
      {"curdkv-kvpress", "keeps the top by exact key-value leverage inside windows of 16", "arXiv 2509.15038",
       "protect=sinks:4 score=leverage:sketch=off,window=16 select=top"},
      {"vase-values", "vase with the largest values, a quarter of M, in place of leverage", "our own, 4.17",
       "protect=sinks:4,value:25% score=attention:form=max,smooth=off select=sample:floor=0.1,weights=on"},
      {"vase-attnv-weighted", "vase-attnv, and what the draw keeps stands for what it passes over", "our own, 4.17",
       "protect=sinks:4,value:25% score=attention select=sample:floor=0.1,weights=on"},
      {"vase-dkv-weighted", "protects large values, draws the rest by leverage, with log-weights", "our own, 4.17",
       "protect=sinks:4,value:25% score=leverage:sketch=20,resample=on select=sample:floor=0.1,weights=on"},
      {"snapkv", "keeps the top by window attention", "arXiv 2404.14469", "score=attention select=top"},
      {"snapkv-prompt", "keeps the top by window attention, normalised over all slots", "arXiv 2404.14469",
       "score=attention:over=all select=top"},
      {"snapkv-decode", "keeps the top by the attention of the last 8 tokens, strongest head, widened to 7 neighbours",
       "arXiv 2404.14469, 2505.24133", "score=query-attention:queries=8,group=max,pool=max7 select=top"},
      {"tova", "keeps the top by the newest token's attention, the same tokens in all heads of a layer",
       "arXiv 2401.06104", "score=query-attention:queries=1,over=all select=top share=layer"},
      {"h2o", "keeps the newest half of M and the top by all attention received", "arXiv 2306.14048",
       "protect=recent:50% score=lifetime-attention select=top"},
      {"caote", "keeps the top by the change of the attention output", "CAOTE; arXiv 2609.03430", "score=caote select=top"},
      {"expected-attention", "keeps the top by attention to come times value norm", "arXiv 2510.00636",
       "protect=sinks:4 score=expected-attention:queries=16,future=512 select=top"},
      {"lazy-eviction", "keeps what is due to be used again", "arXiv 2506.15969", "score=recurrence select=top"},
      {"r-kv", "keeps the top by window attention less redundancy, as ported to decoding", "arXiv 2505.24133, 2606.03928",
       "score=0.5*attention-0.5*redundancy select=top"},
      {"r-kv-original", "keeps the top by attention of 8 queries less redundancy, newest copies spared", "arXiv 2505.24133",
       "score=0.1*query-attention:queries=8,group=max,pool=max7-0.9*redundancy:form=original select=top"},
      {"streaming", "keeps the first 4 tokens and the newest", "arXiv 2309.17453",
       "protect=sinks:4 score=position select=top"},
      {"keydiff", "keeps the keys that point away from the mean", "arXiv 2504.15364", "score=key-diff select=top"},
      {"knorm", "keeps the keys of small norm", "arXiv 2406.11430", "score=key-norm select=top"},
      {"lagkv", "keeps what stands out against the next block", "arXiv 2504.04704",
       "protect=sinks:4 score=lag select=top"},
      {"value-slots", "vase-attnv with neither draw nor sinks", "ablation, arXiv 2606.03928",
       "protect=value:25% score=attention select=top"},
      {"attn-sample", "draws by window attention, protects nothing", "ablation, arXiv 2606.03928",
       "score=attention select=sample"},
      {"attnv-no-sinks", "vase-attnv without sinks", "ablation, arXiv 2606.03928",
       "protect=value:25% score=attention select=sample"},
      {"attn-random", "a random quarter of M in place of the value slots", "ablation, arXiv 2606.03928",
       "protect=random:25% score=attention select=top"},
      {"attn-value", "keeps the top by window attention times value size", "ablation, arXiv 2606.03928",
       "score=attention*value:measure=range select=top"},
      {"evict-large", "evicts the largest values", "ablation, arXiv 2606.03928",
       "score=value:measure=range,keep=small select=top"},
      {"evict-large-random", "evicts the largest values of a quarter of M, the others at random",
       "ablation, arXiv 2606.03928", "score=uniform-2*value:measure=range,top=25% select=top"},
      {"random", "evicts at random, sinks included", "control", "score=uniform select=top"},
      {"random-prompt", "keeps the prompt, evicts at random", "arXiv 2609.03430",
       "protect=prompt score=uniform select=top"},
      {"random-sinks", "evicts at random, but for the first 4 tokens", "control",
       "protect=sinks:4 score=uniform select=top"},
      {"random-prompt-recent", "keeps the prompt and the newest quarter of M, evicts at random",
       "control, arXiv 2609.03430", "protect=prompt,recent:25% score=uniform select=top"},
      {"random-unified", "evicts at random, the same tokens in all heads of a layer", "control, arXiv 2609.03430",
       "score=uniform select=top share=layer"},
      {"random-block", "evicts blocks of 32 tokens at random", "control, arXiv 2609.03430",
       "score=uniform:block=32 select=top"},
      {"random-strata", "keeps one random token of each of K equal stretches", "control, arXiv 2609.03430",
       "score=uniform select=strata"},
      {"random-cluster", "keeps one stretch of the text, at a random place", "control, arXiv 2609.03430",
       "score=uniform select=cluster"},
      {"recency", "keeps the newest", "control", "score=position select=top"},
      {"recency-prompt", "keeps the prompt and the newest", "control, arXiv 2609.03430",
       "protect=prompt score=position select=top"},
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

const std::vector<PolicyInfo>& file_presets() {
  static const std::vector<PolicyInfo> kPresets = {
      {"seer-attention", "keeps every token, reads the blocks that a trained gate chooses", "arXiv 2506.08889",
       "read=seer:gates=FILE"},
      {"triattention", "keeps the prompt and the top by attention of the model's typical query, alike in all layers",
       "arXiv 2604.04921", "protect=prompt score=triattention:stats=FILE select=top share=model"},
  };
  return kPresets;
}

const PolicyInfo* find_file_preset(std::string_view name) { return find(file_presets(), name); }

}  // namespace vase

"""What docs/results.md shows: each figure with the runs that it is made of."""
import tables
from page import Figure

FIGURES = (
    Figure("authors", ("gsm8k-64-*",), "Right answers of each policy here and by the authors' code, 64 problems of GSM8K", tables.authors_table),
    Figure("peer", ("gsm8k-100-greedy", "gsm8k-100-ggml", "gsm8k-100-llama"), "", tables.peer_table),
    Figure("gsm8k", ("gsm8k-100-default", "gsm8k-100"), "Right answers less those of the full cache, 100 problems of GSM8K", tables.accuracy_table),
    Figure("answers-m96", ("answers-m96-default", "answers-m96-vase", "answers-m96-f16"), "", tables.accuracy_table),
    Figure("answers-m96-samples", ("answers-m96-samples",), "", tables.accuracy_table),
    Figure("answers-m48", ("answers-m48-default", "answers-m48"), "", tables.accuracy_table),
    Figure("math500", ("math500-50-default", "math500-50"), "Right answers less those of the full cache, 50 problems of MATH-500", tables.accuracy_table),
    Figure("halves", ("halves-24-default", "halves-24"), "", tables.accuracy_table),
    Figure("kl-coder-1.5b", ("kl-coder-1.5b-default", "kl-coder-1.5b"), "KL divergence against budget, Qwen2.5-Coder-1.5B", tables.kl_table),
    Figure("kl-coder-0.5b", ("kl-coder-0.5b-default", "kl-coder-0.5b"), "KL divergence against budget, Qwen2.5-Coder-0.5B", tables.kl_table),
    Figure("kl-smollm2", ("kl-smollm2-default", "kl-smollm2"), "KL divergence against budget, SmolLM2-135M", tables.kl_table),
    Figure("correlation", ("gsm8k-64-default*", "kl-coder-1.5b"), "", tables.correlation_table),
)

from vase import _vase


class Engine:
    """Sessions that share one model and one policy, stepped together, each in its own fixed slots.

    model: a Model. policy: a Policy or its text.

    KV memory and what is kept in it: budget = 1024 (M: slots per layer and KV head, the buffer included), budget_mib = 0
    (above 0: solve M from this many MiB), buffer = 64 (R: newest tokens that always stay), period = 0 (tokens between
    evictions; 0: R), key_type and value_type = "f16", "f32", "bf16", "q8_0" or "q4_0", auto_types = False (True:
    budget_mib decides on both types too, the most precise with which a text of expected_tokens fits without an eviction;
    memory.key_type and memory.value_type tell), prefill = "evicting" or "dense" (then max_prompt, tokens), trigger = "general" or "parity", positions = "text" or "cache", layer_budgets = "uniform" or
    "pyramid" (M falls from the first layer to the last, which keeps (M - R) / pyramid_beta beside its buffer;
    pyramid_beta = 20), stagger = True (layers evict at different steps, so that none stalls), context = 0 (positions
    that a text may reach).

    Performance and diagnosis: sequences = 1 (sessions that can run at the same time), threads = 0 (physical cores), chunk
    = 256 (most prompt tokens per step), logit_rows = 1 (most rows per step of force()), path = "fused" or "reference",
    poison_free_rows = False, log_evictions = False.
    """

    def __init__(self, model, policy, **options):
        if isinstance(policy, str):
            policy = _vase.Policy(policy)
        self.model = model
        self._engine = _vase._Engine(model, policy, **options)

    def submit(self, prompt, **options):
        """Queues a prompt, tokens or raw text, and returns its Session. It starts as soon as a sequence is free.

        temperature = 0.6 (0: greedy), top_k = 0 (off), top_p = 0.95, min_p = 0, repetition_penalty = 1,
        repetition_window = 64, seed = 0 (of the text), evict_seed = 0, stream = 0, max_tokens = 4096, stops = [],
        ignore_eos = False, stop_loops = 0 (3 to 1000: ends a text in which a block of at most 2048 tokens comes so many
        times in a row, and more often until that is 512 tokens).
        """
        if isinstance(prompt, str):
            prompt = self.model.tokenize(prompt)
        return self._engine.submit(prompt, **options)

    def step(self):
        """One step for all running sessions; returns how many are still running or queued."""
        return self._engine.step()

    def force(self, tokens, on_logits, **options):
        """Teacher forcing: feeds tokens to a fresh sequence and calls on_logits(position, logits) after each.

        logits is an array [vocabulary]. prompt_tokens = 0, evict_seed = 0, stream = 0. Returns the Counters. Raises vase.Error
        for logits that are NaN or infinite.
        """
        return self._engine.force(tokens, on_logits, **options)

    @property
    def memory(self):
        """The MemoryPlan: what the cache costs."""
        return self._engine.memory

    @property
    def policy(self):
        return self._engine.policy

    @property
    def nonfinite_scores(self):
        """Scores that were NaN or infinite, over all evictions."""
        return self._engine.nonfinite_scores

    @property
    def protection_truncated(self):
        """Evictions at which protected tokens did not fit."""
        return self._engine.protection_truncated

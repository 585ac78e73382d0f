"""What the page shows: each figure with the runs that it is made of."""
import tables
from page import Figure

FIGURES = (
    Figure("depth-4b", ("depth-4b-*",), "Tokens per second against tokens seen, Qwen3-4B shape", tables.depth_table),
    Figure("depth-0.6b", ("depth-0.6b",), "Tokens per second against tokens seen, Qwen3-0.6B shape", tables.depth_table),
    Figure("flat", ("flat-*",), "Tokens per second of fixed budgets up to 128K tokens seen", tables.flat_table),
    Figure("products", ("products-*",), "Speed with our matrix products over that with ggml's", tables.products_table),
    Figure("memory", ("memory-*",), "KV memory against tokens seen, held and by the formula", tables.memory_table),
    Figure("batch", ("batch-4b*", "batch-0.6b*"), "Tokens per second of all sequences against their number", tables.batch_table),
    Figure("short", ("short-*",), "Speed over the faster mode of libllama at short context", tables.short_table),
    Figure("chunks", ("chunks-*",), "Speed of reading a prompt against the tokens of a step", tables.chunks_table),
    Figure("limit", ("depth-*", "batch-*"), "Share of the measured read limit of each case", tables.limit_table),
    Figure("kv-types", ("kv-types-*",), "", tables.kv_types_table),
    Figure("prediction", ("predict-*",), "Predicted against measured tokens per second", tables.prediction_table),
    Figure("stall", ("stall-*",), "Time from token to token while heads evict", tables.stall_table),
    Figure("largest-batch", ("sweep-*",), "Tokens per second of the largest batch that fits", tables.sweep_table),
)

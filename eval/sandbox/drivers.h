// The Python programs that run a model's program, which stands beside them as program.py.
#pragma once

namespace vase::eval {

// Both: names that programs for such tests use without importing them.
constexpr const char* kPrelude = R"(import sys
sys.setrecursionlimit(50000)
scope = {}
modules = """string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys
json builtins typing""".split()
for module in modules:
    exec(f"from {module} import *", scope)
for module in modules:
    exec(f"import {module}", scope)
with open("program.py", encoding="utf-8") as file:
    program = compile(file.read(), "program.py", "exec")
)";

constexpr const char* kRunProgram = R"(
scope["__name__"] = "__main__"
exec(program, scope)
)";

// The name of the function stands in name.txt. What the program prints goes to standard error: it is no result.
constexpr const char* kCallFunction = R"(
import json, os
results = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
arguments = [json.loads(line) for line in sys.stdin.read().split("\n") if line.strip()]
with open("name.txt", encoding="utf-8") as file:
    name = file.read()
scope["__name__"] = "program"
exec(program, scope)
call = getattr(scope["Solution"](), name) if "Solution" in scope else scope[name]
json.dump(call(*arguments), results)
results.close()
)";

}  // namespace vase::eval

"""measure.py list ROOT | check ROOT NAME... | measure ROOT [--again] --data D --work W --program VASE NAME...

Makes the evaluations of eval/results/runs.txt; scripts/results says how.
"""
import argparse
import json
import pathlib
import sys

import kl_parts
import record
import texts
import tune_parts
from files import PageError, write_whole
from parts import newest
from runs import choose, read_runs
from workplace import Workplace, output_of, run as run_program


def say(line):
    print(line, file=sys.stderr)


def results_folder(root):
    return root / "eval" / "results"


def recorded_file(root, name):
    return results_folder(root) / f"{name}.json"


def show(place, folders):
    return json.loads(output_of([place.program, "eval", "show", "--json", *map(str, folders)]))


def measure_run(place, run):
    folder = place.folder(run.name)
    arguments = [place.program, "eval", "run", *place.arguments(run.words), "--out", str(folder)]
    run_program(arguments, stdout=sys.stderr)
    return record.of_run(run, show(place, [folder]), record.read_lines(folder / "results.jsonl"))


def measure_peer(place, run):
    """The reference stands beside the peer's folder, so that the two are compared text by text."""
    model, reference = place.arguments(run.words)
    folder = place.folder(run.name)
    run_program([str(place.root / "build" / "bench" / "peer_answers" / "peer_answers"), model, reference, str(folder)])
    ours = {line["id"]: line["tokens"] for line in record.read_lines(pathlib.Path(reference) / "results.jsonl")}
    lines = record.read_lines(folder / "results.jsonl")
    same = sum(line["tokens"] == ours[line["id"]] for line in lines)
    recorded = record.of_run(run, show(place, [folder, reference]), lines)
    return recorded | {"reference": pathlib.Path(reference).name, "same_texts": same}


def measure_kl(place, run):
    summary, lines = kl_parts.measure(place, run.name, run.words)
    return record.of_kl(run, model_name(place, run), summary, lines, newest(place.folder(run.name)))


def model_name(place, run):
    path = place.argument(run.words[run.words.index("--model") + 1])
    return json.loads(output_of([place.program, "info", "--model", path, "--json"]))["name"]


def measure_tune(place, run):
    measured = tune_parts.measure(place, run.name, run.words, tune_parts.read_rows(results_folder(place.root)))
    return record.of_tune(run, model_name(place, run), measured, newest(place.folder(run.name)))


def write_texts(place, run):
    written = texts.write(place, run)
    date = record.date_of(newest(place.folder(run.name)))
    return record.of_texts(run, model_name(place, run), place.version(), record.processor(), date, written)


def join_texts(place, run):
    """Model, program, machine and date are known to those who recorded the ids."""
    return record.of_texts(run, "-", "-", "-", "-", texts.join(place, run))


MEASURE = {
    "run": measure_run, "kl": measure_kl, "peer": measure_peer, "tune": measure_tune, "write": write_texts, "join": join_texts,
}  # fmt: skip


def measure_all(place, runs, again):
    """Runs that fail do not keep the others from being measured."""
    failed = []
    for number, run in enumerate(runs, 1):
        where = f"[{number}/{len(runs)}] {run.name}"
        path = recorded_file(place.root, run.name)
        if path.exists() and not again:
            say(f"{where} is recorded already; --again records it anew")
            continue
        say(f"{where}, about {run.minutes} min")
        try:
            write_whole(path, record.text_of(MEASURE[run.kind](place, run)).encode())
        except PageError as error:
            say(f"{run.name}: {error}")
            failed.append(run.name)
    if failed:
        raise PageError(f"not measured: {' '.join(failed)}; the messages above say why")


def list_all(root):
    for run in read_runs(results_folder(root)):
        state = "recorded" if recorded_file(root, run.name).exists() else "not measured"
        print(f"  {run.name:<24} {run.minutes:3} min  {state}")


def parse():
    app = argparse.ArgumentParser()
    app.add_argument("verb", choices=("list", "check", "measure"))
    app.add_argument("root", type=pathlib.Path)
    app.add_argument("--again", action="store_true")
    app.add_argument("--data", default="")
    app.add_argument("--work", type=pathlib.Path)
    app.add_argument("--program")
    app.add_argument("names", nargs="*")
    return app.parse_intermixed_args()


def main():
    options = parse()
    if options.verb == "list":
        return list_all(options.root)
    runs = choose(read_runs(results_folder(options.root)), options.names)
    if options.verb == "check" and any(run.kind == "peer" for run in runs):
        print("peer_answers")  # what has to be built beside vase
    if options.verb == "measure":
        place = Workplace(options.root, options.data, options.work, options.program)
        measure_all(place, runs, options.again)


if __name__ == "__main__":
    try:
        main()
    except PageError as error:
        sys.exit(f"error: {error}")

"""Where the time of a step goes: device seconds of each job of a model's pipeline, one submission a job, by op and shape; the least of TRIES runs.
usage: model_jobs.py PIPECTL BACKEND MODEL [CHUNK [TRIES]]"""
import json
import os
import struct
import subprocess
import sys
import tempfile


def main():
    pipectl, backend, model = sys.argv[1:4]
    chunk, tries = int((sys.argv[4:] or [1])[0]), int((sys.argv[5:] or [3])[0])
    with tempfile.TemporaryDirectory() as directory:
        pipe = os.path.join(directory, "m.pipe.cfg")
        with open(pipe, "wb") as f:
            f.write(subprocess.run([pipectl, "model", "pipeline", model, "--chunk", str(chunk), "--context", "1024"], check=True, stdout=subprocess.PIPE).stdout)
        ports = []
        for name, words in (("tokens", [i % 250 for i in range(chunk)]), ("start", [511 if chunk == 1 else 0]), ("count", [chunk])):
            with open(os.path.join(directory, name), "wb") as f:
                f.write(struct.pack(f"<{len(words)}I", *words))
            ports += ["--in", f"{name}={f.name}"]
        least = {}
        for _ in range(tries):
            done = subprocess.run([pipectl, "run", pipe, "--backend", backend, "--no-memo", "--json", *ports, "--out", "logits=" + os.path.join(directory, "y")], capture_output=True, check=False)
            if done.returncode:
                print(done.stderr.decode()[-800:])
                sys.exit(1)
            jobs = json.loads(done.stdout)["jobs"]
            for j in jobs:
                s = j.get("device_seconds") or 0
                least[j["id"]] = min(least.get(j["id"], 1e9), s)
        for name, s in least.items():
            print(f"{1e6 * s:10.1f} us  {name}")
        print(f"{1e6 * sum(least.values()):10.1f} us  {len(least)} jobs, {backend}, chunks of {chunk}")


main()

"""The samples of README.md run, in order and in one interpreter, and print what stands there."""
import doctest
import os
import pathlib
import re

from conftest import PIPELINES

README = pathlib.Path(os.environ["PIPECTL_SOURCE"]) / "README.md"


def test_samples(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.symlink(PIPELINES, tmp_path / "pipelines")
    blocks = re.findall(r"^```pycon\n(.*?)^```", README.read_text(encoding="utf-8"), re.S | re.M)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    test = parser.get_doctest("\n".join(blocks), {}, "README.md", str(README), 0)
    said = []
    runner.run(test, out=said.append)
    assert len(test.examples) > 15 and runner.summarize(verbose=False).failed == 0, "".join(said)

"""What vim makes of tools/editor/vim: the group of words in a pipeline. usage: vim.py VIM SOURCE"""
import os
import subprocess
import sys
import tempfile

VIM, SOURCE = sys.argv[1:3]
TEXT = '// note\npipeline : {\n  class = "strict";\n  inputs : { mine : { type = "u32[n]"; }; };\n  jobs = ( { attr : { a = "$p"; b = 12; }; } );\n};\n'
WANT = (("note", "pipectlComment"), ("class", "pipectlKey"), ("strict", "pipectlWord"), ("mine", "pipectlName"), ("u32", "pipectlType"),
        ("jobs", "pipectlKey"), ("$p", "pipectlParameter"), ("12", "pipectlNumber"))
with tempfile.TemporaryDirectory() as d:
    file, out = os.path.join(d, "t.pipe.cfg"), os.path.join(d, "out")
    with open(file, "w", encoding="utf-8") as f:
        f.write(TEXT)
    lines = TEXT.split("\n")
    script = os.path.join(d, "script.vim")
    with open(script, "w", encoding="utf-8") as f:
        for word, _ in WANT:
            line = next(i for i, text in enumerate(lines) if word in text)
            f.write(f"call writefile([synIDattr(synID({line + 1}, {lines[line].index(word) + 1}, 0), 'name')], '{out}', 'a')\n")
        f.write("qall!\n")
    subprocess.run([VIM, "-Nu", "NONE", "-n", "-es", "--cmd", f"set rtp^={SOURCE}/tools/editor/vim", "-c", "filetype on", "-c", "syntax on",
                    "-c", f"edit {file}", "-S", script], stdin=subprocess.DEVNULL, timeout=60, check=False)
    with open(out, encoding="utf-8") as f:
        got = f.read().split()
wrong = [(word, have, want) for (word, want), have in zip(WANT, got) if have != want]
print(f"{len(got)} words, {len(wrong)} wrong: {wrong}")
sys.exit(1 if wrong or len(got) != len(WANT) else 0)

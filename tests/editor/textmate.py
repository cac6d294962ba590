"""A TextMate grammar read line by line, as editors do: the rule that matches first wins, of several the one that stands first, and the end
of an open rule comes before its patterns. Only what tools/editor uses: match, begin, end, captures, patterns, include, repository."""
import re


class Rule:
    def __init__(self, raw):
        self.name = raw.get("name")
        self.match = re.compile(raw["match"]) if "match" in raw else None
        self.begin = re.compile(raw["begin"]) if "begin" in raw else None
        self.end = re.compile(raw["end"]) if "end" in raw else None
        self.captures = {int(k): v["name"] for k, v in raw.get("captures", raw.get("beginCaptures", {})).items()}
        self.raw = raw
        self.patterns = None


class Grammar:
    def __init__(self, document):
        self.repository = document["repository"]
        self.root = self.rules(document["patterns"])

    def rules(self, patterns):
        out = []
        for raw in patterns:
            if "include" in raw:
                out += self.rules(self.repository[raw["include"][1:]]["patterns"])
            else:
                out.append(Rule(raw))
        return out

    def inside(self, rule):
        if rule.patterns is None:
            rule.patterns = self.rules(rule.raw.get("patterns", []))
        return rule.patterns

    def tokens(self, text):
        """(line, text, scopes) of every part that has a scope."""
        stack, out = [], []
        for number, line in enumerate(text.split("\n"), 1):
            at, stuck = 0, 0
            while True:
                best = None
                if stack:
                    m = stack[-1].end.search(line, at)
                    best = (m.start(), m, None) if m else None
                for rule in self.inside(stack[-1]) if stack else self.root:
                    m = (rule.match or rule.begin).search(line, at)
                    if m and (best is None or m.start() < best[0]):
                        best = (m.start(), m, rule)
                scopes = [r.name for r in stack if r.name]
                if best is None:
                    if scopes and line[at:]:
                        out.append((number, line[at:], scopes))
                    break
                start, m, rule = best
                if scopes and line[at:start]:
                    out.append((number, line[at:start], scopes))
                stuck = stuck + 1 if m.end() == at else 0
                assert stuck < 100, f"line {number}: no way on from column {at}"
                if rule is None:
                    closed = stack.pop()
                    if closed.name and m.group():
                        out.append((number, m.group(), scopes))
                else:
                    own = scopes + ([rule.name] if rule.name else [])
                    if rule.begin is not None:
                        stack.append(rule)
                    for group, name in sorted(rule.captures.items()):
                        if m.group(group):
                            out.append((number, m.group(group), own + [name]))
                    if not rule.captures and own and m.group():
                        out.append((number, m.group(), own))
                at = m.end()
        assert not stack, f"{len(stack)} rules are open at the end"
        return out

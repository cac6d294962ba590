"""What a report's page must be, whatever it says: well-formed, self-contained, without script, every plot with words."""
import xml.etree.ElementTree as tree

OUTSIDE = ("http:", "https:", "url(", "<script", "javascript:", "@import")


def problems(path, escaped=()):
    """Texts of what is wrong with the page; escaped: texts that must stand in it as text."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    try:
        root = tree.fromstring(text.split("\n", 1)[1])
    except tree.ParseError as e:
        return [f"not well-formed: {e}"]
    found = [f"holds {word}" for word in OUTSIDE if word in text]
    if root.get("lang") is None:
        found.append("names no language")
    for svg in root.iter("svg"):
        if svg.get("role") != "img" or not svg.get("aria-label") or svg.find("title") is None:
            found.append("a plot without words")
    ids = [e.get("id") for e in root.iter() if e.get("id") is not None]
    if len(ids) != len(set(ids)):
        found.append("an anchor twice")
    for tag in ("header", "h1", "footer", "main", "head/title"):
        if len(root.findall(f".//{tag}")) != 1:
            found.append(f"not one {tag}")
    whole = "".join(root.itertext())
    return found + [f"does not say {word}" for word in escaped if word not in whole]


def plots(path):
    with open(path, encoding="utf-8") as f:
        root = tree.fromstring(f.read().split("\n", 1)[1])
    return [svg.get("class") for svg in root.iter("svg")]

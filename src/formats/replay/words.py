"""The words by which a repetition ratio compares two texts, by rules of Unicode that are the same in every language."""
import re, unicodedata

# Scripts that are written without spaces: of their runs every pair of neighbouring characters is a word.
UNSPACED = ("\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
            "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff")

def is_kept(character):
    category = unicodedata.category(character)
    return category[0] == "L" or category in {"Nd", "Mn", "Mc", "Me"}

def words(text):
    kept = "".join(c if is_kept(c) else " " for c in unicodedata.normalize("NFKC", text).lower())
    found = set()
    for run in re.findall(f"[{UNSPACED}]+|[^{UNSPACED} ]+", kept):
        if len(run) > 1 and re.match(f"[{UNSPACED}]", run):
            found.update(run[i:i + 2] for i in range(len(run) - 1))
        else:
            found.add(run)
    return found

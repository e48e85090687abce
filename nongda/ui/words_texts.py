"""The words of the words tab in the page's two languages."""

from __future__ import annotations

from nongda.language.lexicon_table import KINDS

_KINDS_EN: dict[str, str] = {
    "crop": "crop", "variety": "variety", "disease": "disease", "pest": "pest", "pathogen": "pathogen",
    "symptom": "symptom", "product": "product", "nutrient": "nutrient", "soil": "soil", "stage": "growth stage",
    "part": "part", "practice": "practice", "processing": "processing", "tool": "tool", "weather": "weather",
    "place": "place", "unit": "unit",
}

WORDS_ZH: dict[str, str] = {
    "tab_words": "词语",
    "words_hint": "在这里写下本站的当地叫法，例如：打玉米虫 = 玉米螟。改动从下一问起生效，程序更新后仍然保留。",
    "word_alias": "当地叫法",
    "word_term": "标准名",
    "word_kind": "类别",
    "word_alias_hint": "例如：打玉米虫",
    "word_term_hint": "边写边提示；例如：玉米螟",
    "word_kind_same": "与标准名相同",
    "word_new_term": "词表里还没有的标准名：两格写同一个词，再选类别。",
    "word_add": "添加词语",
    "word_added": "已添加“{alias}”，按“{term}”理解。",
    "word_nothing": "还没有填写：请写下当地叫法和标准名。",
    "word_saving": "正在保存：写有这个词的段落要重新编入，常见的词会久一些……",
    "word_effective": "从下一问起生效。",
    "word_action": "操作",
    "word_remove": "删除",
    "word_remove_one": "删除“{alias}”",
    "word_removed": "已删除“{alias}”，从下一问起生效。",
    "word_wrong": "哪里不对",
    "words_empty": "还没有自己的词语。",
    "words_count": "共 {count} 个词语",
    "words_added": "已添加 {count} 个词语。",
    "words_bad": "有 {count} 行没有保存：",
    "words_import": "导入表格（.tsv .csv）",
    "words_export_tsv": "导出 TSV",
    "words_export_csv": "导出 CSV",
    "words_problems": "词表中没有用上的行（{count}）",
    "words_file": "农答词语",
    **{f"kind_of_{kind}": name for kind, name in KINDS.items()},
}

WORDS_EN: dict[str, str] = {
    "tab_words": "Words",
    "words_hint": "Local names of this station, for example 打玉米虫 = 玉米螟. Changes hold from the next question on and "
    "outlast updates of the program.",
    "word_alias": "Local name",
    "word_term": "Standard name",
    "word_kind": "Kind",
    "word_alias_hint": "For example: 打玉米虫",
    "word_term_hint": "Suggested as you type; for example: 玉米螟",
    "word_kind_same": "That of the standard name",
    "word_new_term": "A standard name that is not known yet: write the same word in both boxes and choose its kind.",
    "word_add": "Add word",
    "word_added": "“{alias}” was added and is understood as “{term}”.",
    "word_nothing": "Nothing is filled in: write a local name and its standard name first.",
    "word_saving": "Saving: passages that hold the word are indexed anew, which takes longer for a common word…",
    "word_effective": " It holds from the next question on.",
    "word_action": "Action",
    "word_remove": "Remove",
    "word_remove_one": "Remove “{alias}”",
    "word_removed": "“{alias}” was removed; this holds from the next question on.",
    "word_wrong": "What is wrong",
    "words_empty": "No words of this station's own yet.",
    "words_count": "{count} words",
    "words_added": "{count} words were added.",
    "words_bad": "{count} rows were not saved:",
    "words_import": "Import a table (.tsv .csv)",
    "words_export_tsv": "Export TSV",
    "words_export_csv": "Export CSV",
    "words_problems": "Lines of the word tables that are not used ({count})",
    "words_file": "nongda-words",
    **{f"kind_of_{kind}": name for kind, name in _KINDS_EN.items()},
}

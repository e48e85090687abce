from answer_world import make_candidate

from nongda.answer.compress import compress, score_evidence
from nongda.answer.evidence import headed_text, split_evidence
from nongda.answer.understand import understand
from nongda.settings import AnswerSettings

TABLE = "施肥量表\n| 树龄 | 尿素（克/株） |\n| --- | --- |\n| 1年 | 50 |\n| 2年 | 100 |"


def test_sentences_are_verbatim_and_their_offsets_point_at_them(lexicon):
    candidate = make_candidate(lexicon, "叶背有黄粉。多雨时发病重！\n清除病叶。")
    pieces = split_evidence(candidate)
    assert [p.text for p in pieces] == ["叶背有黄粉。", "多雨时发病重！", "清除病叶。"]
    assert all(candidate.chunk.text[p.start : p.end] == p.text for p in pieces)


def test_a_table_gives_its_rows_without_title_header_and_rule(lexicon):
    candidate = make_candidate(lexicon, TABLE, kind="table")
    pieces = split_evidence(candidate)
    assert [p.text for p in pieces] == ["| 1年 | 50 |", "| 2年 | 100 |"]
    assert all(candidate.chunk.text[p.start : p.end] == p.text for p in pieces)


def test_a_table_row_is_read_with_its_header(lexicon):
    candidate = make_candidate(lexicon, TABLE, kind="table")
    assert headed_text(split_evidence(candidate)[1], candidate) == "树龄：2年；尿素（克/株）：100"


def scored(lexicon, embedder, question, *texts):
    candidates = [make_candidate(lexicon, t, f"aaaaaaaa#{i}") for i, t in enumerate(texts)]
    query = understand(question, [], lexicon, AnswerSettings())
    return score_evidence(query, candidates, embedder, lexicon)


def test_the_sentence_that_answers_scores_highest(lexicon, embedder):
    pieces = scored(lexicon, embedder, "叶锈病喷波尔多液多少倍", "叶锈病喷0.5%波尔多液。园地要通风。采收红果。")
    assert max(pieces, key=lambda p: p.score).evidence.text == "叶锈病喷0.5%波尔多液。"


def test_compression_keeps_the_sentence_after_the_best_one_and_the_reading_order(lexicon, embedder):
    pieces = scored(lexicon, embedder, "叶锈病喷什么", "采收红果。叶锈病喷波尔多液。每隔十天一次。园地通风。")
    kept = compress(pieces, 20)
    assert [p.evidence.text for p in kept] == ["叶锈病喷波尔多液。", "每隔十天一次。"]


def test_compression_stays_within_its_length(lexicon, embedder):
    pieces = scored(lexicon, embedder, "叶锈病", "叶锈病发生在叶背。" * 40, "炭疽病发生在枝条。" * 40)
    assert sum(len(p.evidence.text) for p in compress(pieces, 100)) <= 100


def test_nothing_to_score_gives_nothing(lexicon, embedder):
    assert scored(lexicon, embedder, "叶锈病") == []


MERGED = "霜冻来临时\n盖上稻草。\n霜冻以后\n1. 先不急着剪。\n2. 追施氮肥"


def test_a_heading_inside_a_chunk_is_no_evidence_and_names_what_follows(lexicon, embedder):
    candidate = make_candidate(lexicon, MERGED, heading=("防寒",))
    assert [e.text for e in split_evidence(candidate)] == ["盖上稻草。", "1. 先不急着剪。", "2. 追施氮肥"]
    query = understand("霜冻以后怎么办", [], lexicon, AnswerSettings())
    best = max(score_evidence(query, [candidate], embedder, lexicon), key=lambda s: s.score)
    assert best.evidence.text in ("1. 先不急着剪。", "2. 追施氮肥")


def test_a_chunk_of_nothing_but_a_short_line_is_still_evidence(lexicon):
    assert [e.text for e in split_evidence(make_candidate(lexicon, "清除病叶"))] == ["清除病叶"]

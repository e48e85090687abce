"""What stands beside an answer: law first, intervals of products, sources that contradict; and what is withheld."""

import numpy as np
import pytest
from answer_world import make_candidate, make_domain, make_indexes
from conftest import ROOT, HashEmbedder

from nongda.answer.evidence import ScoredEvidence, split_evidence
from nongda.answer.notes import crops_of, named_problem, notes_for, without_recipes
from nongda.answer.understand import understand
from nongda.language.lexicon import Lexicon
from nongda.settings import AnswerSettings

INTERVAL = "水稻用75%三环唑可湿性粉剂，安全间隔期21天。"


@pytest.fixture(scope="module")
def domain():
    return make_domain(Lexicon.load(ROOT / "assets" / "domain"))


def evidence(*candidates):
    vector = np.zeros(1, np.float32)
    return [ScoredEvidence(e, c, frozenset(), vector, 0.5) for c in candidates for e in split_evidence(c)]


def query_of(domain, question):
    return understand(question, [], domain.lexicon, AnswerSettings())


def notes(domain, question, quoted, *others, ranked=None):
    """Return the notes of an answer that quotes the first candidate whole, over a corpus of all of them."""
    indexes = make_indexes([quoted, *others], domain.lexicon, HashEmbedder())
    quotes = evidence(quoted)
    return notes_for(query_of(domain, question), quotes, evidence(*others) if ranked is None else ranked, indexes, domain)


@pytest.fixture(scope="module")
def blast(domain):
    return make_candidate(domain.lexicon, "稻瘟病每亩用75%三环唑可湿性粉剂20克喷雾。", "aaaaaaaa#0", "水稻稻瘟病")


def test_the_crops_are_the_question_s_and_without_any_those_of_the_quoted_titles(domain, blast):
    assert crops_of(query_of(domain, "玉米稻瘟病怎么治"), evidence(blast), domain.lexicon) == {"玉米"}
    assert crops_of(query_of(domain, "稻瘟病怎么治"), evidence(blast), domain.lexicon) == {"水稻"}
    assert crops_of(query_of(domain, "稻瘟病怎么治"), [], domain.lexicon) == set()


def test_a_recipe_of_a_forbidden_product_is_withheld_and_the_ban_itself_is_not(domain):
    candidate = make_candidate(domain.lexicon, "每亩撒3%克百威颗粒剂2公斤。克百威已经禁止使用。叶面喷三环唑。", title="水稻害虫")
    kept = without_recipes(evidence(candidate), query_of(domain, "水稻螟虫怎么治"), domain)
    assert [s.evidence.text for s in kept] == ["克百威已经禁止使用。", "叶面喷三环唑。"]


def test_a_table_row_that_doses_a_forbidden_product_is_withheld(domain):
    table = "| 药剂 | 每亩用量 |\n|---|---|\n| 3%克百威颗粒剂 | 2公斤 |\n| 75%三环唑 | 20克 |"
    candidate = make_candidate(domain.lexicon, table, title="水稻用药", kind="table")
    kept = without_recipes(evidence(candidate), query_of(domain, "水稻用什么药"), domain)
    assert [s.evidence.text for s in kept] == ["| 75%三环唑 | 20克 |"]


def test_the_law_comes_first_whether_the_question_or_the_quote_names_the_product(domain, blast):
    asked = notes(domain, "水稻稻瘟病能不能用克百威", blast, make_candidate(domain.lexicon, INTERVAL, "bbbbbbbb#0", "水稻用药"))
    assert [note.kind for note in asked] == ["law", "interval"]
    assert asked[0].text.startswith("克百威（")
    quoted = make_candidate(domain.lexicon, "不得使用克百威。", title="水稻用药")
    assert [note.kind for note in notes(domain, "水稻要注意什么", quoted)] == ["law"]


def test_of_several_forbidden_products_that_are_only_quoted_one_is_explained_and_the_others_share_a_note(domain):
    quoted = make_candidate(domain.lexicon, "不得使用克百威、甲胺磷、对硫磷。", title="水稻用药")
    first, rest = notes(domain, "水稻要注意什么", quoted)
    assert first.text.startswith("克百威（") and rest.text.startswith("甲胺磷、对硫磷也是禁用农药")
    first, rest = notes(domain, "水稻能不能用甲胺磷", quoted)  # what is asked comes first
    assert first.text.startswith("甲胺磷") and rest.text.startswith("克百威、对硫磷也是禁用农药")


def test_an_interval_that_another_passage_holds_stands_beside_the_product(domain, blast):
    other = make_candidate(domain.lexicon, INTERVAL, "bbbbbbbb#0", "水稻用药")
    (note,) = notes(domain, "水稻稻瘟病用多少三环唑", blast, other)
    assert (note.kind, note.text) == ("interval", INTERVAL)
    assert [(c.id, c.quote) for c in note.citations] == [("bbbbbbbb#0", INTERVAL)]


def test_an_interval_that_is_quoted_already_is_not_repeated(domain):
    quoted = make_candidate(domain.lexicon, INTERVAL, "aaaaaaaa#0", "水稻用药")
    assert notes(domain, "水稻三环唑收前几天停", quoted) == []


def test_a_source_that_contradicts_what_is_quoted_is_named_with_both(domain, blast):
    other = make_candidate(domain.lexicon, "稻瘟病每亩用75%三环唑可湿性粉剂40克喷雾。", "bbbbbbbb#0", "水稻稻瘟病")
    (note,) = notes(domain, "稻瘟病用多少三环唑", blast, other)
    assert note.kind == "contradiction"
    assert [c.id for c in note.citations] == ["aaaaaaaa#0", "bbbbbbbb#0"]


def test_only_among_the_best_sixty_sentences_is_a_contradiction_looked_for(domain, blast):
    other = make_candidate(domain.lexicon, "稻瘟病每亩用75%三环唑可湿性粉剂40克喷雾。", "bbbbbbbb#0", "水稻稻瘟病")
    filler = evidence(*(make_candidate(domain.lexicon, "清除病叶。", f"cccccccc#{i}", "水稻") for i in range(60)))
    assert notes(domain, "稻瘟病用多少三环唑", blast, ranked=[*filler[:59], *evidence(other)])
    assert notes(domain, "稻瘟病用多少三环唑", blast, ranked=[*filler, *evidence(other)]) == []


def test_an_answer_without_products_has_no_notes(domain):
    quoted = make_candidate(domain.lexicon, "雨季前剪除病枝。", title="咖啡叶锈病")
    assert notes(domain, "咖啡叶锈病怎么防", quoted) == []


@pytest.mark.parametrize(("text", "title", "name"), [
    ("叶背有橙黄色粉末的是叶锈病。", "咖啡病害", "叶锈病"),
    ("叶背有橙黄色粉末。", "叶锈病", "叶锈病"),
    ("叶锈病起黄粉，炭疽病生褐斑。", "咖啡病害", ""),
    ("叶片发黄。", "咖啡施肥", ""),
    ("叶锈病发生后要剪除病叶。", "咖啡病害", ""),
    ("项目：症状；叶锈病：叶背黄粉；某某病：叶面黑粉", "咖啡病害", ""),
])
def test_a_diagnosis_is_the_one_problem_that_the_likeliest_quote_or_its_heading_names(domain, text, title, name):
    quotes = evidence(make_candidate(domain.lexicon, text, title=title))
    assert named_problem(query_of(domain, "咖啡叶子背面有黄粉，是什么病"), quotes, domain.lexicon) == name
    assert named_problem(query_of(domain, "咖啡叶锈病是什么病"), quotes, domain.lexicon) == ""

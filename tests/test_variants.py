"""Each named system differs from the full one in just what its line says."""

import dataclasses

import numpy as np
import pytest
from conftest import HashEmbedder
from gold_world import make_system, parts, write_corpus

from nongda.answer.features import FEATURES
from nongda.documents.identify import CITATION
from nongda.engine import ROOT
from nongda.errors import SettingsError, UsageError
from nongda.evaluation.baselines import PairEmbedder, SimpleRag, WordReranker
from nongda.evaluation.variants import RememberingEmbedder, System, Variant, load_variants
from nongda.records import Answer, Stage, Turn
from nongda.settings import Settings

KS = (1, 2, 3, 4, 5, 6, 7, 8, 20)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("variants")
    write_corpus(folder / "corpus")
    return folder


def opened(world, **changes):
    system = make_system(world / "corpus", world / "work", **changes)
    list(system.prepare())
    return system


def asked(system, question, history=()):
    events = list(system.ask(question, history))
    ranking = [e.ranking for e in events if isinstance(e, Stage) and e.ranking]
    return ranking[-1] if ranking else (), next(e for e in events if isinstance(e, Answer))


def selector(world, **changes):
    """The weights that a system answers with."""
    return opened(world, **changes).engine._answerer().selector


def test_the_delivered_file_names_every_ablation_that_is_promised():
    variants = load_variants(ROOT / "assets" / "gold" / "ablations.toml")
    assert {"full", "simple_rag", "no_reranker", "light_reranker", "dense_only", "bm25_only", "weak_splitter",
            "sliding_window", "fixed_512", "sliding", "semantic", "adaptive", "no_history", "no_lexicon",
            "no_aliases", "one_sentence",
            "three_sentences", "no_selector", "no_facets", "no_gate", "no_generator", "written",
            "no_spelling", "fixed_fusion", "no_routing", "no_facts", "no_chain",
            "no_facts_no_chain", "no_specialists", "hyde", "refine", *(f"k{n}" for n in KS)} == set(variants)
    assert all(variant.about for variant in variants.values())
    assert Settings().search.keep == 12  # the full system is k12
    assert all(variants[f"k{n}"].settings["search"]["keep"] == n for n in KS)


def test_every_delivered_system_can_be_built(world):
    for variant in load_variants(ROOT / "assets" / "gold" / "ablations.toml").values():
        system = System(variant, parts(), world / "corpus", world / "work")
        system.close()


@pytest.mark.parametrize("line", ['reranker = "best"', "colour = 1", "broken", "settings = 3", "settings = { search = 3 }", 'terms = "no"',
                                  "sentences = -1", "sentences = true", "selector = { late = 1.0 }", 'generator = "no"',
                                  'stages_off = "facts"', 'stages_off = ["fuse"]', 'stages_on = ["magic"]', "stages_on = [1]"])
def test_a_bad_ablation_file_is_an_error(tmp_path, line):
    path = tmp_path / "ablations.toml"
    path.write_text(f"[one]\n{line}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"ablations\.toml"):
        load_variants(path)


def test_an_unknown_setting_of_an_ablation_is_named(world):
    with pytest.raises(SettingsError, match=r"ablations\.toml \[odd\].*rerun"):
        System(Variant("odd", settings={"search": {"rerun": 1}}), parts(), world / "corpus", world / "work")


def test_stages_are_switched_and_the_others_stay(world):
    plain = opened(world).settings
    switched = opened(world, stages_off=["chain", "facts"], stages_on=["hyde"]).settings
    assert set(plain.stages) - set(switched.stages) == {"chain", "facts"} and set(switched.stages) - set(plain.stages) == {"hyde"}
    assert switched.search == plain.search


def test_delivered_systems_without_a_stage_run_without_it(world):
    variants = load_variants(ROOT / "assets" / "gold" / "ablations.toml")
    off = {"no_spelling": {"spelling"}, "fixed_fusion": {"dynamic_fusion"}, "no_routing": {"decompose"}, "no_chain": {"chain"},
           "no_facts": {"facts", "lookup"}, "no_facts_no_chain": {"facts", "lookup", "chain"}, "no_specialists": {"specialists"}}
    for name, stages in off.items():
        system = System(variants[name], parts(), world / "corpus", world / "work")
        assert set(Settings().stages) - set(system.settings.stages) == stages
        system.close()
    for name in ("hyde", "refine"):
        system = System(variants[name], parts(), world / "corpus", world / "work")
        assert set(system.settings.stages) - set(Settings().stages) == {name}
        system.close()


def test_keep_limits_what_is_looked_at_but_not_the_ranking(world):
    system = opened(world, settings={"search": {"keep": 2}})
    ranking, answer = asked(system, "咖啡灌溉工作多久检查一次")
    assert len(answer.evidence) <= 2 < len(ranking)
    assert {c.id for c in answer.citations} <= set(ranking[:2])
    system.close()


def test_another_selector_replaces_the_weights_and_keeps_what_is_not_named(world):
    learned = selector(world)
    late = selector(world, selector={"sentence": {"late": 260.0}})
    assert late.weights[FEATURES.index("late")] == 260 and np.count_nonzero(late.weights) == 1
    assert late.gate.tolist() == learned.gate.tolist() and late.facet_share == learned.facet_share > 0
    whole = selector(world, selector={"cuts": {"facet_share": 0.0}})
    assert whole.facet_share == 0 and whole.weights.tolist() == learned.weights.tolist() and whole.another == learned.another


def test_an_unknown_weight_of_a_selector_is_named(world):
    for selector in ({"sentence": {"luck": 1.0}}, {"cuts": {"luck": 1.0}}, {"other": {"late": 1.0}}):
        with pytest.raises(UsageError, match=r"\[odd\].*(luck|other)"):
            System(Variant("odd", selector=selector), parts(), world / "corpus", world / "work")


def test_a_system_without_the_language_model_has_none(world):
    with_model = dataclasses.replace(parts(), generator=Saying("好"))
    for generator in (True, False):
        system = System(Variant("one", generator=generator), with_model, world / "corpus", world / "work")
        assert (system.engine.generator is None) is not generator
        system.close()


def test_a_channel_of_weight_0_is_not_asked(world):
    for name, other in (("bm25", "dense"), ("dense", "bm25")):
        system = opened(world, settings={"search": {f"{name}_weight": 0.0}})
        stages = [e.name for e in system.ask("咖啡灌溉工作多久检查一次", ()) if isinstance(e, Stage)]
        assert name not in stages and other in stages
        system.close()


def test_systems_with_the_same_passages_share_a_knowledge_base_and_others_do_not(world):
    folders = {
        name: opened(world, **changes).engine.data_dir
        for name, changes in {"full": {}, "k1": {"settings": {"search": {"keep": 1}}}, "window": {"splitter": "window"},
                              "pairs": {"splitter": "pairs"}, "terms": {"terms": False}, "aliases": {"aliases": False},
                              "late": {"selector": {"sentence": {"late": 1.0}}}}.items()
    }
    assert folders["full"] == folders["k1"] == folders["late"]
    assert len(set(folders.values())) == 5


def test_a_second_opening_finds_the_documents_there(world):
    opened(world)
    again = make_system(world / "corpus", world / "work")
    assert {event.status for event in again.prepare() if hasattr(event, "status")} == {"skipped"}


def test_without_history_a_follow_up_is_not_rewritten(world):
    history = [Turn("user", "咖啡灌溉工作怎么做"), Turn("assistant", "定期检查。")]
    with_history, without = opened(world), opened(world, history=False)
    assert "咖啡" in asked(with_history, "那多久一次", history)[1].standalone
    assert "咖啡" not in asked(without, "那多久一次", history)[1].standalone


def test_without_terms_and_without_aliases_words_stay_as_they_are(world):
    assert not opened(world, terms=False).engine.lexicon.entities("洋芋和咖啡")
    no_aliases = opened(world, aliases=False).engine.lexicon
    assert [e.term for e in no_aliases.entities("洋芋和咖啡")] == ["咖啡"]


def test_the_pair_embedder_knows_shared_pairs_only():
    vectors = PairEmbedder().embed_passages(["咖啡采收", "咖啡采收", "玉米播种", ""])
    assert vectors.shape == (4, 256)
    assert np.linalg.norm(vectors[:3], axis=1) == pytest.approx([1, 1, 1])
    assert vectors[0] @ vectors[1] == pytest.approx(1)
    assert vectors[0] @ vectors[2] < 0.3


def test_the_word_reranker_counts_shared_words(lexicon):
    assert WordReranker(lexicon).score("咖啡采收", ["咖啡采收在冬季", "咖啡", "玉米"]).tolist() == [1, 0.5, 0]


class Saying:
    """A generator with one reply."""

    name, context = "saying", 4096

    def __init__(self, reply):
        self.reply = reply

    def count_tokens(self, text):
        return len(text)

    def generate(self, messages, max_tokens, temperature, stop):
        self.prompt = messages[-1]["content"]
        yield self.reply


def simple(world, reply):
    system = opened(world)
    generator = None if reply is None else Saying(reply)
    events = list(SimpleRag(system.engine, generator).ask("咖啡灌溉工作多久检查一次"))
    return events[0].candidates, events[-1], generator


def test_simple_rag_cites_the_passages_the_model_names(world):
    found, answer, generator = simple(world, "每隔3天检查一次[2]。")
    assert [c.id for c in answer.citations] == [found[1].chunk.id]
    assert found[0].chunk.text in generator.prompt and answer.text == "每隔3天检查一次[2]。"


def test_simple_rag_cites_all_it_was_given_when_the_model_names_none_or_there_is_no_model(world):
    for reply in ("每隔3天检查一次。", "见资料[9]", None):
        found, answer, _ = simple(world, reply)
        assert [c.id for c in answer.citations] == [c.chunk.id for c in found[:5]]
        assert not answer.refused


def test_simple_rag_refuses_when_the_model_says_so(world):
    for reply in ("资料中没有相关内容。", "资料[1]中没有答案。", "根据提供的资料，没有相关信息。", ""):
        _, answer, _ = simple(world, reply)
        assert answer.refused and not answer.citations
    assert not simple(world, "资料中没有写次数，但每7天喷一次[1]。")[1].refused


def nearest(world, count, question="咖啡灌溉工作多久检查一次", history=()):
    system = opened(world, sentences=count)
    return system, *asked(system, question, history)


def test_so_many_nearest_sentences_are_quoted_and_cited_each_by_its_passage(world):
    for count in (1, 3):
        system, ranking, answer = nearest(world, count)
        assert len(answer.citations) == count and len(CITATION.findall(answer.text)) == count
        for citation in answer.citations:
            assert citation.id in ranking[:5] and citation.quote in system.engine.chunk(citation.id).text
            assert f"{citation.quote[:-1]}[{citation.id}]{citation.quote[-1]}" in answer.text
    assert "咖啡灌溉工作每隔3天检查一次" in answer.text


def test_nearest_sentences_never_refuse_and_know_the_conversation(world):
    assert not nearest(world, 1, "火星上怎么种土豆")[2].refused
    history = [Turn("user", "咖啡灌溉工作怎么做"), Turn("assistant", "定期检查。")]
    assert "咖啡" in nearest(world, 1, "那多久一次", history)[2].standalone


def test_token_vectors_of_passages_are_made_once_and_in_half_precision():
    class Counting(HashEmbedder):
        seen = []

        def token_vectors(self, texts, kind):
            self.seen += texts
            return super().token_vectors(texts, kind)

    embedder = RememberingEmbedder(Counting())
    first = embedder.token_vectors(["采收", "修剪"], "passage")
    again = embedder.token_vectors(["修剪", "采收", "修剪"], "passage")
    assert Counting.seen == ["采收", "修剪"]
    assert np.array_equal(again[1], first[0]) and np.array_equal(again[0], again[2]) and again[0].dtype == np.float32
    plain = HashEmbedder().token_vectors(["采收"], "query")[0]
    assert np.array_equal(first[0], plain.astype(np.float16)) and np.array_equal(embedder.token_vectors(["采收"], "query")[0], plain)

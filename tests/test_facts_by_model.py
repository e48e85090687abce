"""What a model says of a sentence counts only where the sentence bears it out."""

import json
import math
import threading

import pytest
from conftest import ROOT

from nongda.index.attributes import Attributes
from nongda.index.extract import FactExtractor
from nongda.index.facts_by_model import grammar_of
from nongda.language.lexicon import Lexicon
from nongda.records import Chunk, DocumentMeta

DOMAIN = ROOT / "assets" / "domain"
SENTENCE = "小麦纹枯病在发病初期每亩用丙环唑20毫升，安全间隔期不超过28天。"


class Writer:
    def __init__(self, reply):
        self.reply, self.grammars = reply, []

    def constrained(self, messages, grammar, max_tokens, stop):
        self.grammars.append(grammar)
        return self.reply


@pytest.fixture(scope="module")
def extractor():
    return FactExtractor(Lexicon.load(DOMAIN), Attributes.load(DOMAIN))


def read(extractor, reply, text=SENTENCE):
    chunk = Chunk("d#0", "d", 0, text, text, "paragraph", None, ())
    return extractor.facts_by_model(chunk, DocumentMeta(), (0, len(text)), Writer(reply), threading.Event())


def item(attribute="dose", subject="丙环唑", value="20毫升", condition="发病初期"):
    return json.dumps([{"attribute": attribute, "subject": subject, "value": value, "condition": condition}])


def test_a_fact_that_stands_in_the_sentence_is_kept_with_its_rate(extractor):
    fact, = read(extractor, item())
    assert (fact.subject, fact.kind, fact.crop, fact.target) == ("丙环唑", "product", "小麦", "纹枯病")
    assert (fact.low, fact.high, fact.unit, fact.condition) == (20, 20, "mL/亩", "发病初期")


def test_a_bound_must_be_part_of_the_value(extractor):
    assert read(extractor, item("safety_interval", value="28天", condition="")) == []
    fact, = read(extractor, item("safety_interval", value="不超过28天", condition=""))
    assert (fact.low, fact.high) == (-math.inf, 28)


@pytest.mark.parametrize("said", [
    item(value="30毫升"), item(subject="三环唑"), item(condition="收获前"), item(attribute="altitude"), item(subject="发病"),
    item(value=""), item(value="丙环唑"), item(attribute="无此项"),
])
def test_what_the_sentence_does_not_say_is_dropped(extractor, said):
    assert read(extractor, said) == []


@pytest.mark.parametrize("reply", ["", "[", "[]", item()[:40]])
def test_a_reply_cut_short_gives_no_fact(extractor, reply):
    assert read(extractor, reply) == []


def test_the_grammar_lists_every_attribute_and_is_one_that_llama_takes(extractor):
    from llama_cpp.llama_grammar import LlamaGrammar

    grammar = grammar_of(extractor.attributes)
    assert all(f'"\\"{key}\\""' in grammar for key in extractor.attributes.by_key)
    assert LlamaGrammar.from_string(grammar, verbose=False)

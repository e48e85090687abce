"""What the model writes to be searched with: taken only where it adds no name and no number."""

import threading

import pytest
from conftest import QueuedGenerator

from nongda.answer.rewrite import RewritePrompts, hypothetical, refined
from nongda.answer.understand import understand
from nongda.errors import SettingsError
from nongda.models.generate import LockedGenerator
from nongda.settings import AnswerSettings

PROMPTS = RewritePrompts("改写", "设想")


def say(lexicon, reply: str, question: str = "苞谷兑800倍水得行不") -> tuple[str, QueuedGenerator]:
    generator = QueuedGenerator(reply)
    settings = AnswerSettings()
    query = understand(question, [], lexicon, settings)
    return refined(query, LockedGenerator(generator), PROMPTS, lexicon, settings, threading.Event()), generator


def test_a_refined_question_is_the_models_first_line(lexicon):
    text, generator = say(lexicon, "\n玉米能兑水800倍吗？\n多余的话")
    assert text == "玉米能兑水800倍吗？"
    assert [m["content"] for m in generator.prompts[0]] == ["改写", "苞谷兑800倍水得行不"]


@pytest.mark.parametrize("reply", ["玉米叶锈病能兑水800倍吗？", "玉米能兑水1000倍吗？", "", "  \n ", "玉米" * 100])
def test_a_refined_question_with_a_new_name_or_number_is_not_used(lexicon, reply):
    assert say(lexicon, reply)[0] == ""


def test_a_hypothetical_passage_is_what_the_model_writes(lexicon):
    generator, settings = QueuedGenerator("玉米用药兑水。 "), AnswerSettings(hyde_tokens=7)
    query = understand("苞谷怎么打药", [], lexicon, settings)
    assert hypothetical(query, LockedGenerator(generator), PROMPTS, settings, threading.Event()) == "玉米用药兑水。"


def test_missing_prompts_are_named(tmp_path):
    (tmp_path / "prompts.toml").write_text("answer = '答'", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"prompts\.toml"):
        RewritePrompts.load(tmp_path / "prompts.toml")

"""The real lite model; its weights must be here (packaging/start.py test fetches them)."""

import threading
import time

import pytest
from conftest import ROOT

from nongda.errors import GenerationError, WeightsError
from nongda.models.fetch import locate
from nongda.models.generate import LlamaGenerator
from nongda.models.manifest import load_manifest

NEVER = threading.Event()


@pytest.fixture(scope="module")
def generator():
    model = load_manifest(ROOT / "models" / "manifest.toml").select("lite").generator
    loaded = LlamaGenerator(locate(model, ROOT / "models" / "weights"), 2048, 2)
    yield loaded
    loaded.close()


def say(generator, content, max_tokens=48, stop=NEVER):
    return list(generator.generate([{"role": "user", "content": content}], max_tokens, 0.0, stop))


def test_the_same_question_is_answered_the_same_way_twice_at_temperature_zero(generator):
    assert "".join(say(generator, "一加一等于几？")) == "".join(say(generator, "一加一等于几？")) != ""


def test_pieces_of_rare_characters_join_to_whole_characters(generator):
    pieces = say(generator, "只重复下面这行，不要写别的：\n𠮷🌽㐂", max_tokens=32)
    assert "\ufffd" not in "".join(pieces)
    assert "🌽" in "".join(pieces)


def test_stop_ends_the_reading_of_a_long_prompt_within_two_seconds_and_the_next_question_works(generator):
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    started = time.perf_counter()
    assert say(generator, "咖啡叶锈病的防治方法很多。" * 150, stop=stop) == []
    assert time.perf_counter() - started < 2.5
    assert "".join(say(generator, "一加一等于几？"))


def test_stop_ends_the_writing(generator):
    stop = threading.Event()
    pieces = []
    for piece in generator.generate([{"role": "user", "content": "从一数到一百"}], 200, 0.0, stop):
        pieces.append(piece)
        if len(pieces) == 5:
            stop.set()
    assert len(pieces) == 5


def test_a_prompt_over_the_context_is_refused_in_words_before_the_model_sees_it(generator):
    with pytest.raises(GenerationError, match="超过模型的 2048"):
        say(generator, "咖啡" * 3000)


def test_a_broken_model_file_is_one_sentence(tmp_path):
    broken = tmp_path / "模型 库" / "坏.gguf"
    broken.parent.mkdir()
    broken.write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(WeightsError, match="坏.gguf 无法加载"):
        LlamaGenerator(broken, 512, 1)

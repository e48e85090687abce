"""The domain's files are loaded once; one that is missing or broken is named."""

import shutil
from pathlib import Path

import pytest
from conftest import ROOT

from nongda.answer.domain import Domain
from nongda.errors import SettingsError

REAL = ROOT / "assets" / "domain"
FILES = ("units.toml", "asked.toml", "selector.toml", "restricted.toml", "places.toml", "stages.toml", "prompts.toml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copy = tmp_path / "领域"
    shutil.copytree(REAL, copy)
    return copy


def test_the_product_s_domain_loads_whole(lexicon):
    domain = Domain.load(REAL, lexicon)
    assert domain.lexicon is lexicon
    assert [(q.low, q.unit) for q in domain.units.quantities("喷3次")] == [(3, "次")]  # counters too
    assert domain.law.find("克百威") and domain.writing and domain.prompts.verdict


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_an_error_that_names_it(folder, lexicon, name):
    (folder / name).unlink()
    with pytest.raises(SettingsError, match=name):
        Domain.load(folder, lexicon)


@pytest.mark.parametrize("content", [b"[[[", b"\xff\xfe\x00", b""])
@pytest.mark.parametrize("name", FILES)
def test_a_broken_or_empty_file_is_an_error_that_names_it(folder, lexicon, name, content):
    (folder / name).write_bytes(content)
    with pytest.raises(SettingsError, match=name):
        Domain.load(folder, lexicon)


def test_a_prompt_file_without_the_writing_prompt_is_an_error_that_names_it(folder, lexicon):
    path = folder / "prompts.toml"
    text = path.read_text(encoding="utf-8")
    assert "\nanswer = " in "\n" + text
    path.write_text(("\n" + text).replace("\nanswer = ", "\nanswers = "), encoding="utf-8")
    with pytest.raises(SettingsError, match=r"prompts\.toml"):
        Domain.load(folder, lexicon)

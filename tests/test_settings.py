"""Settings: defaults, a TOML file, and mistakes named in words."""

import dataclasses
import json
import re
import tomllib

import pytest

from nongda.engine import ROOT
from nongda.errors import SettingsError
from nongda.settings import OPTIONAL_STAGES, STAGES, SearchSettings, Settings, load_settings, override


def write(tmp_path, content):
    path = tmp_path / "设置 文件.toml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_no_file_means_the_defaults(tmp_path):
    assert load_settings(tmp_path / "没有.toml") == Settings()


def test_an_empty_file_means_the_defaults(tmp_path):
    assert load_settings(write(tmp_path, "")) == Settings()


def test_named_values_replace_defaults_and_the_rest_stays(tmp_path):
    path = write(tmp_path, "threads = 4\n[chunk]\nmax_length = 700\n[answer]\ntemperature = 1\n")
    settings = load_settings(path)
    assert (settings.threads, settings.chunk.max_length, settings.answer.temperature) == (4, 700, 1.0)
    assert isinstance(settings.answer.temperature, float)
    expected = Settings(threads=4, chunk=dataclasses.replace(Settings().chunk, max_length=700),
                        answer=dataclasses.replace(Settings().answer, temperature=1.0))
    assert settings == expected


def test_a_file_saved_by_notepad_is_read(tmp_path):
    assert load_settings(write(tmp_path, b"\xef\xbb\xbfthreads = 2\r\n")).threads == 2


def test_settings_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().threads = 3  # type: ignore[misc]


@pytest.mark.parametrize(("content", "named"), [
    ("thread = 4", "“thread”"),
    ("[chunk]\nlongest = 4", "“chunk.longest”"),
    ("[\"索引\"]\nk = 4", "“索引”"),
    ("chunk = 4", "“chunk”"),
    ("threads = '4'", "“threads”"),
    ("threads = true", "“threads”"),
    ("threads = 1.5", "“threads”"),
    ("threads = inf", "“threads”"),
    ("threads = nan", "“threads”"),
    ("[chunk]\nsimilarity_cut = nan", "“chunk.similarity_cut”"),
    ("[search]\nbm25_k1 = []", "“search.bm25_k1”"),
    ("[threads]\nx = 1", "“threads”"),
    ("threads = ", "无法读取"),
    (b"threads = 4 # \xb3", "无法读取"),
])
def test_a_mistake_is_named_with_its_file(tmp_path, content, named):
    with pytest.raises(SettingsError) as caught:
        load_settings(write(tmp_path, content))
    assert named in str(caught.value)
    assert "设置 文件.toml" in str(caught.value)


@pytest.mark.parametrize("key", ["[chunk]\nmax_length", "[search]\nkeep", "[answer]\ncontext", "threads", "[search]\nbm25_b"])
def test_a_negative_number_is_refused(tmp_path, key):
    with pytest.raises(SettingsError, match="-1"):
        load_settings(write(tmp_path, f"{key} = -1\n"))


@pytest.mark.parametrize("key", ["[chunk]\nmax_sentence", "[search]\nhnsw_m", "[answer]\nmax_tokens"])
def test_zero_is_refused_where_nothing_would_work_with_it(tmp_path, key):
    with pytest.raises(SettingsError, match="不小于"):
        load_settings(write(tmp_path, f"{key} = 0\n"))


def test_zero_overlap_and_all_layers_on_the_graphics_card_are_allowed(tmp_path):
    settings = load_settings(write(tmp_path, "gpu_layers = -1\n[chunk]\noverlap = 0\n"))
    assert (settings.gpu_layers, settings.chunk.overlap) == (-1, 0)


def test_the_style_is_one_of_two_words_and_another_is_named(tmp_path):
    assert load_settings(write(tmp_path, "[answer]\nstyle = \"write\"\n")).answer.style == "write"
    for wrong in ("\"poem\"", "1"):
        with pytest.raises(SettingsError, match=r"answer\.style.*quote、write"):
            load_settings(write(tmp_path, f"[answer]\nstyle = {wrong}\n"))


def test_the_gate_may_be_below_zero_down_to_never_refusing(tmp_path):
    assert load_settings(write(tmp_path, "[answer]\ngate = -1000\n")).answer.gate == -1000
    with pytest.raises(SettingsError, match=r"answer\.gate.*-1000"):
        load_settings(write(tmp_path, "[answer]\ngate = -1000.1\n"))


def test_a_folder_in_place_of_the_file_is_named(tmp_path):
    with pytest.raises(SettingsError, match="无法读取"):
        load_settings(tmp_path)


def test_settings_that_would_search_nothing_are_refused():
    with pytest.raises(SettingsError, match=r"bm25_weight.*dense_weight"):
        SearchSettings(bm25_weight=0.0, dense_weight=0.0)


def test_some_values_are_replaced_and_an_unknown_one_is_named():
    changed = override(Settings(), {"search": {"keep": 2}, "threads": 3}, "here")
    assert (changed.search.keep, changed.threads, changed.search.rrf_k) == (2, 3, Settings().search.rrf_k)
    with pytest.raises(SettingsError, match=r"here.*search\.kept"):
        override(Settings(), {"search": {"kept": 2}}, "here")


PIPELINE = ROOT / "assets" / "pipeline.toml"


def test_the_pipeline_file_names_every_setting_once_with_its_default():
    declared = tomllib.loads(PIPELINE.read_text(encoding="utf-8"))  # a key given twice is an error of TOML
    declared["stages"] = tuple(declared["stages"])
    assert declared == dataclasses.asdict(Settings())
    assert load_settings(ROOT / "没有.toml", PIPELINE) == Settings()


def test_every_line_of_the_pipeline_file_says_in_chinese_what_it_is():
    lines = [line for line in PIPELINE.read_text(encoding="utf-8").splitlines() if "=" in line and not line.startswith("#")]
    assert len(lines) > 30
    for line in lines[1:]:
        assert re.search(r"#\s*[^#]*[\u4e00-\u9fff]", line), line
    for name in STAGES:
        found = re.findall(rf'^  (?:# )?"{name}",\s+# [^#]*[\u4e00-\u9fff]', PIPELINE.read_text(encoding="utf-8"), re.M)
        assert len(found) == 1, name


def test_all_stages_but_the_model_written_ones_are_on_by_default():
    settings = Settings()
    assert settings.has("facts")
    assert [name for name in STAGES if not settings.has(name)] == ["refine", "hyde"]


def test_a_station_switches_stages_and_their_order_stays(tmp_path):
    path = write(tmp_path, 'stages_off = ["facts", "chain"]\nstages_on = ["hyde", "notes"]\n[search]\nkeep = 3\n')
    settings = load_settings(path, PIPELINE)
    assert settings.stages == tuple(n for n in STAGES if n not in ("facts", "chain", "refine"))
    assert settings.search.keep == 3


def test_the_program_file_changes_the_defaults_and_the_station_changes_both(tmp_path):
    program = tmp_path / "pipeline.toml"
    required = [name for name in STAGES if name not in OPTIONAL_STAGES]
    program.write_text(f"stages = {json.dumps(required)}\n[search]\nkeep = 4\nrrf_k = 10\n", encoding="utf-8")
    settings = load_settings(write(tmp_path, 'stages_on = ["gate"]\n[search]\nkeep = 5\n'), program)
    assert (settings.search.keep, settings.search.rrf_k, settings.search.candidates) == (5, 10, 20)
    assert [name for name in settings.stages if name in OPTIONAL_STAGES] == ["gate"]
    assert settings.stages.index("select") + 1 == settings.stages.index("gate")


def test_a_missing_program_file_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"没有的\.toml"):
        load_settings(tmp_path / "settings.toml", tmp_path / "没有的.toml")


@pytest.mark.parametrize(("content", "named"), [
    ('stages_off = ["fuse"]', "“fuse”关不得"),
    ('stages_off = ["fact"]', "“fact”"),
    ('stages_on = ["hide"]', "“hide”"),
    ('stages_on = "hyde"', "“stages_on”"),
    ("stages_on = [1]", "“1”"),
    ('stages_on = ["gate"]\nstages_off = ["gate"]', "“gate”"),
    ('stages = ["understand"]', "缺少“bm25”“dense”“fuse”“select”“decide”"),
    ('stages = ["understand", "bm25", "dense", "rerank", "fuse", "select", "decide"]', "“fuse”应写在“rerank”前面"),
    ('stages = ["understand", "bm25", "bm25", "dense", "fuse", "select", "decide"]', "“bm25”写了两次"),
    ('stages = ["understand", "bm25", "dense", "guess", "fuse", "select", "decide"]', "“guess”"),
    ("stages = 3", "“stages”"),
])
def test_a_mistake_in_the_stages_is_named(tmp_path, content, named):
    with pytest.raises(SettingsError) as caught:
        load_settings(write(tmp_path, content), PIPELINE)
    assert named in str(caught.value)
    assert "设置 文件.toml" in str(caught.value)


def test_a_variant_switches_stages_as_a_station_does():
    changed = override(Settings(), {"stages_off": ["facts"], "stages_on": ["refine"]}, "here")
    assert (changed.has("facts"), changed.has("refine")) == (False, True)
    assert override(changed, {"stages": list(Settings().stages)}, "here") == Settings()
    with pytest.raises(SettingsError, match=r"here.*“select”关不得"):
        override(Settings(), {"stages_off": ["select"]}, "here")

from answer_world import make_candidate

from nongda.answer.compress import score_evidence
from nongda.answer.prompt import build_messages
from nongda.answer.understand import understand
from nongda.records import Turn
from nongda.settings import AnswerSettings


def build(lexicon, embedder, history=(), texts=("叶锈病喷波尔多液。",), **settings):
    options = AnswerSettings(**settings)
    query = understand("咖啡叶锈病怎么治", [], lexicon, options)
    candidates = [make_candidate(lexicon, t, f"aaaaaaaa#{i}") for i, t in enumerate(texts)]
    return build_messages("系统", query, score_evidence(query, candidates, embedder, lexicon), history, options, len)


def test_evidence_stands_before_the_question_under_its_heading(lexicon, embedder):
    messages = build(lexicon, embedder)
    assert messages[0] == {"role": "system", "content": "系统"}
    assert messages[1]["content"] == "资料：\n【咖啡叶锈病】\n- 叶锈病喷波尔多液。\n\n问题：咖啡叶锈病怎么治"


def test_history_is_cut_to_eight_turns_of_800_characters_and_loses_its_citations(lexicon, embedder):
    history = [Turn("user", f"{i}" + "长" * 1000) for i in range(12)]
    history.append(Turn("assistant", "喷药[aaaaaaaa#3]。\n\n参考资料：[bbbbbbbb#1]"))
    messages = build(lexicon, embedder, history, context=100_000)
    assert len(messages) == 1 + 8 + 1
    assert messages[-2]["content"] == "喷药。"
    assert all(len(m["content"]) <= 800 for m in messages[1:-1])


def test_the_prompt_fits_the_context_with_ten_long_chunks_and_twenty_turns(lexicon, embedder):
    history = [Turn("user", "问" * 800), Turn("assistant", "答" * 800)] * 10
    texts = [f"第{i}块：" + "叶锈病喷波尔多液要均匀，" * 50 + "。" for i in range(10)]
    messages = build(lexicon, embedder, history, texts, context=2048)
    assert sum(len(m["content"]) + 8 for m in messages) + 320 <= 2048
    assert "问题：咖啡叶锈病怎么治" in messages[-1]["content"]


def test_the_newest_turns_are_kept_when_not_all_fit(lexicon, embedder):
    history = [Turn("user", "旧" * 500), Turn("assistant", "新" * 50)]
    messages = build(lexicon, embedder, history, context=520)
    assert [m["content"][0] for m in messages[1:-1]] == ["新"]

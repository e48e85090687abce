import time

import pytest

from nongda.documents.lines import ends_sentence, is_list_item, join_lines, numbered_heading


@pytest.mark.parametrize(("line", "level"), [
    ("第三章 防治", 2), ("第2节 药剂", 3), ("一、症状", 4), ("（二）发病条件", 5), ("1. 选地", 6), ("1、选地", 6),
    ("3 术语和定义", 6), ("2.1 土壤", 7), ("2.1.3 有机质", 8)])
def test_numbered_short_lines_are_headings_of_their_level(line, level):
    assert numbered_heading(line) == (level, line)


@pytest.mark.parametrize("line", [
    "一、选地要看坡度。", "1. 选地，整地", "1.5公斤尿素", "3 月下旬", "2024 年", "1:100", "2,4-滴", "25% 吡唑醚菌酯", "一、",
    "1. " + "长" * 40, "第一次喷药在雨季前"])
def test_sentences_quantities_and_names_are_no_headings(line):
    assert numbered_heading(line) is None


def test_a_colon_after_a_heading_is_left_out():
    assert numbered_heading("一、防治方法：") == (4, "一、防治方法")


@pytest.mark.parametrize("line", ["- 甲", "• 甲", "①甲", "1、甲", "1. 甲", "1.甲", "（3）甲", "a) 甲", "\uf06c 甲"])
def test_bullets_and_numbers_begin_list_items(line):
    assert is_list_item(line)


@pytest.mark.parametrize("line", ["-5℃以下", "1.5公斤", "2024年", "2,4-滴", "（注）", "Bt-781", "-", "30～40克", "4级"])
def test_numbers_within_text_begin_no_list_item(line):
    assert not is_list_item(line)


@pytest.mark.parametrize(("lines", "joined"), [
    (["咖啡", "锈病"], "咖啡锈病"), (["leaf", "rust"], "leaf rust"), (["用 Bt", "制剂"], "用 Bt制剂"),
    (["dis-", "ease"], "disease"), (["Bt-", "781"], "Bt-781"), (["共10", "20株"], "共10 20株"), (["每亩30", "克"], "每亩30克"),
    (["rust.", "Spray"], "rust. Spray"), ([" 甲 ", "", "乙"], "甲乙"), ([], "")])
def test_broken_lines_are_joined_as_they_were_written(lines, joined):
    assert join_lines(lines) == joined


def test_a_sentence_ends_at_a_stop_even_inside_quotes():
    assert ends_sentence("他说：“喷药。”") and ends_sentence("步骤：") and ends_sentence("Spray copper.")
    assert not ends_sentence("发生较") and not ends_sentence("用量为1.")


def test_a_paragraph_of_very_many_lines_is_joined_in_one_go():
    began = time.process_time()
    assert len(join_lines(["每亩20公斤"] * 200_000)) == 200_000 * 6
    assert time.process_time() - began < 5

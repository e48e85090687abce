"""Markdown with YAML front matter: headings, paragraphs, lists and tables as blocks."""

from __future__ import annotations

import datetime
import html
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

import yaml
from frontmatter.default_handlers import YAMLHandler
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from nongda.documents.lines import is_list_item, join_lines
from nongda.documents.outline import Heading, Item, assemble, first_heading
from nongda.documents.parse_text import check_length, decode
from nongda.documents.tables import table_text
from nongda.errors import DocumentError
from nongda.intake import Block, ParsedDocument
from nongda.records import DocumentMeta

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_EMBEDDED = re.compile(r"data:[\w/+.;=-]{0,100},[A-Za-z0-9+/=%]{100,}")  # a picture written into the text
_LONG_PARAGRAPH = 50_000  # characters; markup is not looked for in longer ones, because that takes the square of the time
_MAX_VALUE = 300  # characters of one piece of information
_MAX_FRONT = 100_000  # characters of document information
_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")


def parse_markdown(data: bytes, name: str) -> ParsedDocument:
    """Parse a Markdown file. Raises DocumentError for an unknown encoding or broken front matter."""
    text = _EMBEDDED.sub("", decode(data, name))
    check_length(len(text), name)
    front, body = _split_front_matter(text, name)
    # Four leading spaces are an indented paragraph in Chinese documents, not program code.
    parser = MarkdownIt("commonmark").enable("table").disable("code")
    parser.core.ruler.at("inline", _parse_inline)
    items = list(_items(SyntaxTreeNode(parser.parse(body)).children))
    title = _text(front.get("title"))
    title = title or first_heading(items, 1) or first_heading(items) or PurePath(name).stem
    meta = DocumentMeta(
        title=title,
        region=_text(front.get("region")),
        date=_text(front.get("date")),
        stage=_text(front.get("stage")),
        authority=_text(front.get("authority")),
        sample=front.get("sample") in (True, 1, "true", "yes", "是"),
        sources=_texts(front.get("sources")),
        valid_until=_text(front.get("valid_until")),
        replaces=_text(front.get("replaces")),
        tags=_texts(front.get("tags")),
    )
    return ParsedDocument(meta, assemble(items, title))


def _parse_inline(state: StateCore) -> None:
    for token in state.tokens:
        if token.type == "inline":
            token.children = []
            if len(token.content) <= _LONG_PARAGRAPH:
                state.md.inline.parse(token.content, state.md, state.env, token.children)
            else:
                token.children.append(Token("text", "", 0, content=token.content))


def _split_front_matter(text: str, name: str) -> tuple[Mapping[str, object], str]:
    handler = YAMLHandler()
    if not handler.detect(text):
        return {}, text
    try:
        front, body = handler.split(text)
    except ValueError:  # no second ---: the first is a ruled line
        return {}, text
    if len(front) > _MAX_FRONT:
        return {}, text
    try:
        data = handler.load(front)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date such as 2024-13-45
        mark = getattr(error, "problem_mark", None)
        place = f"第 {mark.line + 1} 行附近" if mark is not None else "日期或数值"
        raise DocumentError(
            f"文件“{name}”开头两条 --- 之间的文档信息写法有误（{place}）：请改正后再添加，或删去这一段"
        ) from error
    return (data, body) if isinstance(data, dict) else ({}, text)


def _text(value: object) -> str:
    return "、".join(_texts(value))


def _texts(value: object) -> tuple[str, ...]:
    """Return scalars as text; nested structures hold nothing that is shown."""
    values = value if isinstance(value, (list, tuple)) else [value]
    texts = []
    for item in values:
        if isinstance(item, datetime.date):  # a datetime is a date too
            texts.append(item.isoformat())
        elif isinstance(item, (str, int, float)) and not isinstance(item, bool):
            texts.append(" ".join(str(item).split())[:_MAX_VALUE])
    return tuple(text for text in texts if text)


def _items(nodes: Sequence[SyntaxTreeNode]) -> Iterator[Item]:
    for node in nodes:
        if node.type == "heading":
            text = join_lines(_inline(node).split("\n"))
            if text:
                yield Heading(int(node.tag[1]), text)
        elif node.type == "paragraph":
            yield from _paragraphs(_inline(node))
        elif node.type in ("bullet_list", "ordered_list"):
            yield Block("\n".join(_list_lines(node)), "list")
        elif node.type == "table":
            yield Block(table_text(_rows(node)), "table")
        elif node.type == "blockquote":
            yield from _items(node.children)
        elif node.type in ("fence", "code_block", "html_block"):
            content = _strip_tags(node.content) if node.type == "html_block" else node.content
            if content.strip():
                yield Block(content.strip())


def _paragraphs(text: str) -> Iterator[Block]:
    """Part a paragraph at hard breaks (`\\v`) and into a list where its lines carry item numbers (1、)."""
    for part in text.split("\v"):
        run: list[str] = []
        listed = False
        for line in part.split("\n"):
            if is_list_item(line):
                if run and not listed:
                    yield Block("\n".join(run))
                    run = []
                listed = True
                run.append(line)
            elif listed:
                run[-1] = join_lines([run[-1], line])
            else:
                run.append(line)
        if any(line.strip() for line in run):
            yield Block("\n".join(run), "list" if listed else "paragraph")


def _list_lines(node: SyntaxTreeNode) -> Iterator[str]:
    for item in node.children:
        marker = f"{item.info}{item.markup}" if node.type == "ordered_list" else "-"
        own = [block for block in item.children if block.type not in ("bullet_list", "ordered_list")]
        words = [piece.text for piece in _items(own)]
        yield f"{marker} {join_lines([line for text in words for line in text.split(chr(10))])}".strip()
        for block in item.children:
            if block.type in ("bullet_list", "ordered_list"):
                yield from _list_lines(block)


def _rows(table: SyntaxTreeNode) -> list[list[str]]:
    return [
        [_inline(cell).replace("\v", " ") for cell in row.children]
        for part in table.children for row in part.children
    ]


def _inline(node: SyntaxTreeNode) -> str:
    """Return the words of a block: lines parted by `\\n`, hard breaks as `\\v`, no markup."""
    tokens = [t for child in node.children if child.type == "inline" for t in child.to_tokens()]
    return "".join(_words(tokens)).strip()


def _words(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        children = token.children or []
        for position, child in enumerate(children):
            if child.type in ("text", "code_inline"):
                # CommonMark leaves ** standing next to Chinese punctuation: it was meant as emphasis.
                yield child.content.replace("**", "") if child.type == "text" else child.content
            elif child.type == "image":
                yield child.content
            elif child.type in ("softbreak", "hardbreak"):
                yield "\n" if child.type == "softbreak" else "\v"
            elif child.type == "html_inline":
                yield "\v" if _BREAK_TAG.fullmatch(child.content) else ""
            elif child.type in ("em_open", "em_close") and _is_times_sign(children, position):
                yield child.markup


def _is_times_sign(children: Sequence[Token], position: int) -> bool:
    """`2*3*4` is a product, not emphasis: a number stands right behind the star."""
    if children[position].type == "em_close":
        position = _opening(children, position)
    before = children[position - 1].content if position else ""
    after = children[position + 1].content
    return before[-1:].isalnum() and after[:1].isdigit()


def _opening(children: Sequence[Token], closing: int) -> int:
    depth = 0
    for position in range(closing, -1, -1):
        depth += {"em_close": 1, "em_open": -1}.get(children[position].type, 0)
        if depth == 0:
            return position
    return closing


def _strip_tags(text: str) -> str:
    closed = text.rfind("-->") + 1  # behind it each beginning of a comment would be looked through to the end
    text = _COMMENT.sub("", text[:closed + 2]) + text[closed + 2:] if closed else text
    return html.unescape(_TAG.sub(" ", _BREAK_TAG.sub("\n", text)))

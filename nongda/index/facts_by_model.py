"""Facts of a sentence by the language model under a grammar: an option beside the rules, off by default.

What the model writes counts only where all of it is checked: value, condition and subject stand in the sentence, the
subject is one term of a kind that the attribute may be of, and a quantity reads the same in its place of the sentence.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Protocol

from nongda.index.attributes import Attribute, Attributes
from nongda.index.bounds import Bounded, bounded
from nongda.index.families import PROBLEM_KINDS
from nongda.index.names import Names, distinct, of_kinds
from nongda.index.places import Place
from nongda.language.text import fold
from nongda.models.generate import Message
from nongda.records import Fact

_MOST_FACTS = 3
_MOST_TOKENS = 160
_STRING = r'string ::= "\"" [^"\\\x00-\x1F]{0,60} "\""'
_ASK = (
    "从句子里摘出事实，只用句子里的原字，不改写，不推断；没有就写空列表。"
    "attribute 是属性，subject 是药剂、肥料、作物、病害或害虫的名字，value 是数值连同单位，condition 是条件（没有就空着）。"
    "属性：{attributes}\n句子：{text}"
)


class ConstrainedWriter(Protocol):
    """What this needs of a language model: a reply that a GBNF grammar allows."""

    def constrained(self, messages: Sequence[Message], grammar: str, max_tokens: int, stop: threading.Event) -> str:
        """Return the reply at temperature 0; "" once `stop` is set."""
        ...


def grammar_of(attributes: Attributes) -> str:
    """Return the GBNF grammar of a list of facts with the attributes' keys."""
    keys = " | ".join(f'"\\"{key}\\""' for key in attributes.by_key)
    item = " ".join(f'"{comma}\\"{name}\\":" {rule}' for comma, name, rule in (
        ("{", "attribute", "key"), (",", "subject", "string"), (",", "value", "string"), (",", "condition", "string")))
    items = f'item ("," item){{0,{_MOST_FACTS - 1}}}'
    return f'root ::= "[" ({items})? "]"\nitem ::= {item} "}}"\nkey ::= {keys}\n{_STRING}\n'


def facts_by_model(text: str, place: Place, writer: ConstrainedWriter, names: Names, attributes: Attributes,
                   stop: threading.Event) -> list[Fact]:
    """Return the facts that the model finds in one sentence and that the sentence bears out."""
    listed = "，".join(f"{a.key}（{a.name}）" for a in attributes.by_key.values())
    messages: list[Message] = [{"role": "user", "content": _ASK.format(attributes=listed, text=text)}]
    reply = writer.constrained(messages, grammar_of(attributes), _MOST_TOKENS, stop)
    try:
        items = json.loads(reply) if reply else []
    except ValueError:  # cut short at the last token
        return []
    found = [_checked(text, place, item, names, attributes) for item in items]
    return list(dict.fromkeys(fact for fact in found if fact is not None))


def _checked(text: str, place: Place, item: dict[str, str], names: Names, attributes: Attributes) -> Fact | None:
    attribute = attributes.by_key.get(item["attribute"])
    subject, value, condition = item["subject"], item["value"], item["condition"]
    if attribute is None or not subject or not value or any(part not in text for part in (subject, value, condition)):
        return None
    owners = distinct(of_kinds(names.of(subject), attribute.kinds))
    if len(owners) != 1 or owners[0].mixed:
        return None
    unit, ends = "", None
    if attribute.value == "quantity":
        read = _quantity(text, value, attribute, attributes)
        if read is None:
            return None
        unit, ends = read
    owner, found = owners[0], names.of(text)
    crops = [n.term for n in distinct(of_kinds(found, ("crop",)))] or list(place.crops)
    problems = [owner] if owner.kind in PROBLEM_KINDS else distinct(of_kinds(found, PROBLEM_KINDS))
    return Fact(place.chunk_id, owner.term, owner.kind, crops[0] if len(crops) == 1 else "",
                problems[0].term if len(problems) == 1 else "", attribute.key, value, ends.low if ends else None,
                ends.high if ends else None, unit, condition, place.start, place.end)


def _quantity(text: str, value: str, attribute: Attribute, attributes: Attributes) -> tuple[str, Bounded] | None:
    """Return unit and ends of a value as its sentence says them; None where there it reads otherwise or is no such thing."""
    alone = attributes.units.quantities(value)
    at = text.find(value)
    if len(alone) != 1 or text.count(value) != 1:
        return None
    start, end = at + alone[0].start, at + alone[0].end
    for quantity in attributes.units.rates(text):
        if (quantity.start, quantity.end) == (start, end) and quantity.unit in attribute.units:
            ends = bounded(fold(text), quantity)
            inside = ends is not None and at <= ends.start and ends.end <= at + len(value)
            return (quantity.unit, ends) if ends is not None and inside else None
    return None

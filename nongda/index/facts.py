"""The table of facts: what sentences, list items and table rows say, found by standard terms and compared as numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from nongda.index.families import groups_of, is_same_crop, is_same_problem
from nongda.index.rows import FACT_COLUMNS, read_fact
from nongda.records import Fact

Rows = Callable[[str, Sequence[object]], list[dict[str, Any]]]
_AT_ONCE = 500  # SQLite takes a limited number of parameters


class FactTable:
    """Reads the facts of one knowledge base; `rows` runs a query and gives its rows as dictionaries."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def select(self, where: str = "", parameters: Sequence[object] = ()) -> list[Fact]:
        """Return the facts that an SQL condition on the columns of `facts` holds for, in the order of the documents.

        `low` and `high` are REALs, infinite where a range is open; NULL for a value that is no quantity.
        """
        sql = f"SELECT {FACT_COLUMNS} FROM facts" + (f" WHERE {where}" if where else "") + " ORDER BY key"
        return [read_fact(row) for row in self._rows(sql, parameters)]

    def of(self, subject: str = "", kind: str = "", crop: str = "", target: str = "", attribute: str = "") -> list[Fact]:
        """Return the facts of standard terms; "" is any.

        Kinds of a name count (棉蚜 for 蚜虫, 小粒种咖啡 for 咖啡, 番茄 for a fact of 茄果类). A fact without a crop
        fits every crop, one without a target no target that is asked for.
        """
        names: dict[str, list[str]] = {"kind": [kind] if kind else [], "attribute": [attribute] if attribute else []}
        if subject:
            names["subject"] = [n for n in self._names("subject") if n and _same(n, subject)]
        if target:
            names["target"] = [n for n in self._names("target") if n and is_same_problem(n, target)]
        if crop:
            names["crop"] = [n for n in self._names("crop") if not n or is_same_crop(n, crop) or n in groups_of(crop)]
        asked = {"subject": subject, "kind": kind, "crop": crop, "target": target, "attribute": attribute}
        wanted = {column: names[column] for column, value in asked.items() if value}
        where = " AND ".join(f"{column} IN ({_marks(found)})" for column, found in wanted.items())
        return self.select(where, [name for found in wanted.values() for name in found])

    def in_chunks(self, chunk_ids: Iterable[str]) -> list[Fact]:
        """Return the facts of these chunks."""
        ids = list(dict.fromkeys(chunk_ids))
        parts = [ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE)]
        return [fact for part in parts for fact in self.select(f"chunk_id IN ({_marks(part)})", part)]

    def count_by_attribute(self) -> dict[str, int]:
        """Return how many facts each attribute has, the most first."""
        sql = "SELECT attribute, COUNT(*) AS n FROM facts GROUP BY attribute ORDER BY n DESC, attribute"
        return {row["attribute"]: row["n"] for row in self._rows(sql, ())}

    def _names(self, column: str) -> list[str]:
        return [str(row[column]) for row in self._rows(f"SELECT DISTINCT {column} FROM facts", ())]


def _same(named: str, asked: str) -> bool:
    return is_same_problem(named, asked) or is_same_crop(named, asked)


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))

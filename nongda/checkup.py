"""The state of an installation in words: what is here, what is wrong, what to do."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from nongda.errors import NongDaError
from nongda.index.store import Store
from nongda.loading import Loader, Models
from nongda.models.hardware import memory


def checkup(profile: str, store: Store, loader: Loader, prepare: Callable[[], object], words: Sequence[str]) -> dict[str, Any]:
    """Describe an installation; `prepare` makes its indexes, `words` are problems of the word tables."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    problems: list[str] = []
    models: dict[str, str] = {}
    for role, step in (("embedder", loader.models), ("generator", loader.generator)):
        before = time.perf_counter()
        try:
            loaded = step()
            models[role] = loaded.embedder.name if isinstance(loaded, Models) else getattr(loaded, "name", "")
            models[f"{role}_load_seconds"] = f"{time.perf_counter() - before:.2f}"
        except NongDaError as error:
            problems.append(str(error))
    try:
        prepare()
    except NongDaError as error:
        problems.append(str(error))
    documents = store.documents()
    if not documents:
        problems.append("知识库里还没有资料：请在页面上添加，或运行 add 命令")
    total, available = memory()
    return {
        "checked_at": started, "profile": profile, "data_dir": str(store.folder), "read_only": store.read_only,
        "documents": len(documents), "chunks": sum(d.chunks for d in documents), "facts": sum(store.facts().count_by_attribute().values()),
        "written_by": store.meta(), "models": models, "reranker": "late-interaction", "memory_total": total,
        "memory_available": available, "threads": loader.threads, "problems": list(dict.fromkeys([*problems, *words])),
    }

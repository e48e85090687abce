"""Excel workbooks (.xlsx, .xlsm): each sheet a page; formulas by their stored result, macros never run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nongda.documents.containers import OLE
from nongda.documents.sheets import (
    MAX_CELLS,
    MAX_COLUMNS,
    MAX_ROWS,
    Sheet,
    limit_warning,
    named,
    sheets_document,
)
from nongda.errors import DocumentError
from nongda.intake import ParsedDocument

if TYPE_CHECKING:
    from nongda.documents.xlsx_parts import RawSheet


def parse_xlsx(data: bytes, name: str) -> ParsedDocument:
    """Parse a workbook. Raises DocumentError where it is encrypted.

    Warnings name hidden sheets, formulas without a stored result, and rows or columns beyond the limits.
    """
    from nongda.documents.xlsx_parts import Workbook

    if data.startswith(OLE):
        raise DocumentError(f"文件“{name}”已加密：请去掉密码后再添加")
    book = Workbook(data, name)
    sheets: list[Sheet] = []
    left = MAX_CELLS
    for entry in book.sheets:
        if entry.hidden:
            sheets.append(Sheet(entry.name, (), hidden=True))
            continue
        raw = book.read(entry, MAX_ROWS, MAX_COLUMNS, left)
        left -= len(raw.texts)
        sheets.append(Sheet(entry.name, tuple(raw.cells()), tuple(_warnings(entry.name, raw))))
    warnings = [f"文件“{name}”带有宏：宏没有运行，只读取了已保存的内容"] if book.has_macros else []
    if book.pictures:
        warnings.append(f"文件“{name}”里有 {book.pictures} 张图片，图片里的文字没有读取：需要的话请把图片另存后单独添加")
    return sheets_document(sheets, name, warnings)


def _warnings(name: str, raw: RawSheet) -> Iterator[str]:
    if raw.unknown:
        yield (f"工作表“{name}”里有公式没有保存结果，按空白处理：{named(raw.unknown)}；"
               "请用 WPS 或 Excel 打开并保存一次后重新添加")
    if raw.errors:
        yield f"工作表“{name}”里有单元格是错误值，按空白处理：{named(raw.errors)}；请改正后重新添加"
    if raw.kept_rows:
        yield limit_warning(name, raw.last_row, raw.kept_rows)
    if raw.kept_columns:
        yield f"工作表“{name}”太宽：第 {raw.kept_columns} 列以后没有读取；请拆成几份后再添加"
    rows = len(raw.hidden_rows & {row for row, _ in raw.texts}) if not raw.is_filtered else 0
    columns = len(raw.hidden_columns & {column for _, column in raw.texts})
    if rows or columns:
        parts = [f"{rows} 行"] * bool(rows) + [f"{columns} 列"] * bool(columns)
        yield f"工作表“{name}”里隐藏的 {'、'.join(parts)}没有读取；需要的话请取消隐藏后重新添加"

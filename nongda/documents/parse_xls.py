"""Old Excel and WPS workbooks (.xls, .et): each sheet a page; formulas by their stored result, macros never run."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from nongda.documents.containers import OLE
from nongda.documents.grids import GridCell
from nongda.documents.sheet_values import builtin_format, shown
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

_UNICODE = 80  # the version from which words are stored as Unicode
_CHINESE_PAGES = (936, 950, 54936)


def parse_xls(data: bytes, name: str) -> ParsedDocument:
    """Parse a workbook. Raises DocumentError where it is encrypted.

    Warnings name hidden sheets, cells with an error, and rows or columns beyond the limits.
    """
    book = _opened(data, name)
    sheets: list[Sheet] = []
    left = MAX_CELLS
    for number, title in enumerate(book.sheet_names()):
        sheet = book.sheet_by_index(number)
        if sheet.visibility:
            sheets.append(Sheet(title, (), hidden=True))
            continue
        read = _sheet(book, sheet, title, left)
        left -= len(read.cells)
        sheets.append(read)
        book.unload_sheet(number)
    macros = [f"文件“{name}”带有宏：宏没有运行，只读取了已保存的内容"] if _has_macros(data) else []
    return sheets_document(sheets, name, macros)


def _opened(data: bytes, name: str) -> Any:  # noqa: ANN401 - xlrd is untyped
    """Open a workbook; before Excel 97 words were bytes, whose encoding files from China often state wrongly."""
    import xlrd

    def opened(encoding: str | None, formatting: bool = True) -> Any:  # noqa: ANN401
        return xlrd.open_workbook(file_contents=data, logfile=io.StringIO(), encoding_override=encoding,
                                  formatting_info=formatting, ragged_rows=True)

    try:
        book = opened(None)
    except xlrd.XLRDError as error:
        if "encrypted" in str(error).lower():
            raise DocumentError(f"文件“{name}”已加密：请去掉密码后再添加") from error
        raise
    except UnicodeDecodeError:
        return opened("gb18030")
    except (AssertionError, IndexError, KeyError, AttributeError, ValueError):  # damaged formats
        return opened(None, formatting=False)
    if book.biff_version < _UNICODE and book.codepage not in _CHINESE_PAGES:
        try:
            return opened("gb18030")
        except UnicodeDecodeError:
            return book
    return book


def _sheet(book: Any, sheet: Any, name: str, max_cells: int) -> Sheet:  # noqa: ANN401
    spans = {(top, left): (bottom - top, right - left) for top, bottom, left, right in sheet.merged_cells}
    hidden = {column for column, info in sheet.colinfo_map.items() if info.hidden}
    cells: list[GridCell] = []
    errors: list[str] = []
    skipped: set[int] = set()
    kept = last = 0
    too_wide = False
    for row in range(sheet.nrows):
        said = [(column, text) for column in range(sheet.row_len(row)) if (text := _text(book, sheet, row, column, errors))]
        last = row + 1 if said else last
        if kept or (said and (row >= MAX_ROWS or len(cells) + len(said) > max_cells)):
            kept = kept or row
            continue
        for column, text in said:
            if column in hidden:
                skipped.add(column)
            elif column >= MAX_COLUMNS:
                too_wide = True
            else:
                cells.append(GridCell(text, row, column, *spans.get((row, column), (1, 1))))
    warnings = _warnings(name, errors, (kept, last), too_wide, len(skipped))
    return Sheet(name, tuple(cells), tuple(warnings))


def _text(book: Any, sheet: Any, row: int, column: int, errors: list[str]) -> str:  # noqa: ANN401
    import xlrd

    kind, value = sheet.cell_type(row, column), sheet.cell_value(row, column)
    if kind == xlrd.XL_CELL_TEXT:
        return str(value).replace("\r\n", "\n").replace("\r", "\n").strip()
    if kind in (xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE):
        return shown(float(value), _format(book, sheet, row, column, kind == xlrd.XL_CELL_DATE), bool(book.datemode))
    if kind == xlrd.XL_CELL_BOOLEAN:
        return "TRUE" if value else "FALSE"
    if kind == xlrd.XL_CELL_ERROR:
        errors.append(str(xlrd.cellname(row, column)))
    return ""


def _format(book: Any, sheet: Any, row: int, column: int, is_date: bool) -> str:  # noqa: ANN401
    if not book.formatting_info:
        return "yyyy-mm-dd hh:mm" if is_date else "General"
    key = book.xf_list[sheet.cell_xf_index(row, column)].format_key
    found = book.format_map.get(key)
    text = str(found.format_str) if found is not None else ""
    return text if text not in ("", "General") else builtin_format(key)


def _has_macros(data: bytes) -> bool:
    if not data.startswith(OLE):
        return False
    import olefile

    with olefile.OleFileIO(io.BytesIO(data)) as container:
        return bool(container.exists("_VBA_PROJECT_CUR"))


def _warnings(name: str, errors: list[str], rows: tuple[int, int], too_wide: bool, hidden: int) -> Iterator[str]:
    kept, last = rows
    if errors:
        yield f"工作表“{name}”里有单元格是错误值，按空白处理：{named(errors)}；请改正后重新添加"
    if kept:
        yield limit_warning(name, last, kept)
    if too_wide:
        yield f"工作表“{name}”太宽：第 {MAX_COLUMNS} 列以后没有读取；请拆成几份后再添加"
    if hidden:
        yield f"工作表“{name}”里隐藏的 {hidden} 列没有读取；需要的话请取消隐藏后重新添加"

"""What a file is by its content, whatever its name says; and which containers are safe to open."""

from __future__ import annotations

import io
import re
import zipfile
import zlib

from nongda.errors import DocumentError

ENCRYPTED = "encrypted"  # the kind of an Office file that asks for a password
OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_MAGIC = (
    (b"{\\rtf", ".rtf"),
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"GIF8", ".gif"),
    (b"II*\0", ".tif"),
    (b"MM\0*", ".tif"),
    (b"Rar!\x1a\x07", ".rar"),
    (b"7z\xbc\xaf\x27\x1c", ".7z"),
    (b"\x1f\x8b\x08", ".gz"),
)
_HEIC = (b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1", b"avif")
_OLE_STREAMS = (("WordDocument", ".doc"), ("Workbook", ".xls"), ("Book", ".xls"), ("PowerPoint Document", ".ppt"))
_ZIP_PARTS = (
    ("word/", ".docx"), ("xl/workbook.bin", ".xlsb"), ("xl/", ".xlsx"), ("ppt/", ".pptx"),
    ("OFD.xml", ".ofd"), ("Index/Document.iwa", ".pages"), ("index.xml", ".pages"), ("index.apxl", ".key"),
)
_HTML = re.compile(r"\s*+(?>(?:<\?xml[^>]*>|<!--.*?-->)\s*+)*+<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)
_HTML_PIECE = re.compile(r"\s*<(?:head|body|table|meta|div|style|script|title|center|p)\b[^<]*>", re.IGNORECASE)
_MHTML = re.compile(r"(?:[\w-]+: ?[^\n]*\n(?:[ \t][^\n]*\n)*){0,20}?MIME-Version: *1\.0", re.IGNORECASE)
_OFFICE_XML = re.compile(r"\s*<\?xml[^>]*>.{0,200}?<(?:\?mso-application|pkg:package|w:wordDocument|(?:ss:)?Workbook)\b",
                         re.DOTALL)
_HEAD = 4096  # bytes within which the kind shows

_UNPACK = "先解压"
_INTO = {
    ".ppt": "用 WPS 或 PowerPoint 打开，另存为 .pptx", ".dps": "用 WPS 打开，另存为 .pptx",
    ".pps": "用 WPS 或 PowerPoint 打开，另存为 .pptx", ".key": "在 Keynote 里导出为 PDF",
    ".xlsb": "用 WPS 或 Excel 打开，另存为 .xlsx", ".xml": "用 WPS 或 Office 打开，另存为 .docx 或 .xlsx",
    ".pages": "在 Pages 里导出为 Word 或 PDF", ".numbers": "在 Numbers 里导出为 Excel",
    ".odt": "用 WPS 或 Word 打开，另存为 .docx", ".ods": "用 WPS 或 Excel 打开，另存为 .xlsx",
    ".odp": "用 WPS 或 PowerPoint 打开，另存为 .pptx", ".epub": "转换成 PDF 或 .docx",
    ".ofd": "用 OFD 阅读器打开，导出为 PDF", ".caj": "用 CAJ 阅读器打开，打印成 PDF",
    ".kdh": "用 CAJ 阅读器打开，打印成 PDF", ".nh": "用 CAJ 阅读器打开，打印成 PDF",
    ".heic": "在手机或电脑上转成 .jpg", ".heif": "在手机或电脑上转成 .jpg", ".gif": "另存为 .png",
    ".zip": _UNPACK, ".rar": _UNPACK,
    ".7z": _UNPACK, ".gz": _UNPACK,
}
_SPOKEN = {
    ".doc": "旧版 Word 文档", ".docx": "Word 文档", ".xls": "旧版 Excel 表格", ".xlsx": "Excel 表格", ".ppt": "旧版演示文稿",
    ".pptx": "演示文稿", ".pdf": "PDF", ".rtf": "RTF 文档", ".html": "网页", ".mht": "网页", ".png": "图片", ".jpg": "图片",
    ".tif": "图片", ".bmp": "图片", ".webp": "图片", ".txt": "纯文本", ".csv": "文本表格",
}

MAX_ENTRIES = 20_000
MAX_UNPACKED = 2**30  # bytes
MAX_XML = 256 * 2**20  # bytes of text parts; parsed they take ten times that in memory
MAX_MARKS = 6_000_000  # tags and attributes held in memory at once, at 200 bytes each; 1,000 pages have two million
MAX_RATIO = 200  # real documents stay under 50; a bomb reaches 1,000
RATIO_FROM = 20 * 2**20  # bytes unpacked; under this even a bomb is harmless
_DTD = re.compile(rb"<\0?!\0?(?:D\0?O\0?C\0?T\0?Y\0?P\0?E|E\0?N\0?T\0?I\0?T\0?Y)")
_READ = 2**20  # bytes read at a time
_BEFORE_XML = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"  # marks of the encoding and white space


def content_kind(data: bytes) -> str:
    """Return the suffix that the content stands for; "" where it is text, damaged or unknown."""
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            return kind
    if data.lstrip()[:5] == b"%PDF-" or (b"%PDF-" in data[:1024] and b"startxref" in data[-2048:]):
        return ".pdf"
    if data.startswith(OLE):
        return _ole_kind(data)
    if data.startswith(b"PK"):
        return _zip_kind(data)
    if data[4:8] == b"ftyp" and data[8:12] in _HEIC:
        return ".heic"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return ".webp"
    if data.startswith(b"BM") and int.from_bytes(data[14:18], "little") in (12, 40, 52, 56, 108, 124):
        return ".bmp"
    return _text_kind(_head(data))


def is_piece_of_html(data: bytes) -> bool:
    """Tell whether a text without <html> is markup none the less, as programs export it under the name of a table."""
    return _HTML_PIECE.match(_head(data)) is not None


def spoken(kind: str) -> str:
    """Return what a reader calls files of this suffix."""
    return _SPOKEN.get(kind, kind.removeprefix(".").upper())


def refusal(kind: str, name: str) -> str:
    """Return why a format is not read and what to convert it into; "" for other formats."""
    if kind == ENCRYPTED:
        return f"文件“{name}”已加密：请去掉密码后再添加"
    advice = _INTO.get(kind, "")
    what = "其中的文件" if advice == _UNPACK else ""
    return f"文件“{name}”是 {kind.removeprefix('.').upper()} 格式，不能直接读取：请{advice}后再添加{what}" if advice else ""


def check_archive(data: bytes, name: str) -> None:
    """Refuse an Office file that is encrypted, a zip bomb, or declares XML entities. Raises DocumentError.

    Sizes are taken from the directory; Python reads no more of a part than the directory says.
    """
    if data.count(b"PK\x01\x02") > MAX_ENTRIES:
        raise DocumentError(f"文件“{name}”里的部件多得异常：请检查来源，或另存一份后再添加")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        if any(entry.flag_bits & 1 for entry in entries):
            raise DocumentError(f"文件“{name}”已加密：请去掉密码后再添加")
        _check_sizes(entries, len(data), name)
        is_workbook = not any(entry.filename.startswith(("word/", "ppt/")) for entry in entries)
        marks = 0
        for entry in entries:
            in_part = _marks(archive, entry)
            if in_part < 0:
                raise DocumentError(f"文件“{name}”里有不该有的 XML 声明，可能是恶意文件：请检查来源，或另存一份后再添加")
            # The sheets of a workbook are read as a stream, and its reader counts in the others.
            marks += 0 if is_workbook else in_part
        if marks > MAX_MARKS:
            raise too_many_marks(name)


def check_marks(data: bytes, name: str, most: int = 0) -> None:
    """Refuse markup that would fill the memory: tags without end. Raises DocumentError."""
    if _weight(data) > (most or MAX_MARKS):
        raise too_many_marks(name)


def _weight(data: bytes) -> int:
    return data.count(b"<") + data.count(b"=")  # tags and their attributes


def too_many_marks(name: str) -> DocumentError:
    return DocumentError(f"文件“{name}”的标记多得异常：请检查来源，或拆成几份后再添加")


def _check_sizes(entries: list[zipfile.ZipInfo], size: int, name: str) -> None:
    unpacked = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries)
    xml = sum(entry.file_size for entry in entries if _is_xml(entry.filename))
    is_bomb = any(e.file_size > RATIO_FROM and e.file_size > MAX_RATIO * max(1, e.compress_size) for e in entries)
    is_bomb = is_bomb or (unpacked > RATIO_FROM and unpacked > MAX_RATIO * max(1, size))
    if is_bomb or unpacked > MAX_UNPACKED or xml > MAX_XML:
        raise DocumentError(f"文件“{name}”解压后大得异常（{unpacked // 2**20} MB）：请检查来源，或拆成几份后再添加")
    # Parts that lie over each other, or are packed in a way Office never does, are a trick.
    if packed > size or any(e.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for e in entries):
        raise DocumentError(f"文件“{name}”的压缩方式异常：请检查来源，或用原来的软件另存一份后再添加")


def _marks(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> int:
    """Return how many tags and attributes a part may have, 0 where it is no XML whatever its name says, -1 where it declares entities."""
    tail, count = b"", 0
    with archive.open(entry) as part:
        while piece := part.read(_READ):
            if not tail and piece.lstrip(_BEFORE_XML)[:1] not in (b"", b"<"):
                return 0
            if _DTD.search(tail + piece):
                return -1
            count += _weight(piece)
            tail = piece[-32:]
    return count


def _is_xml(name: str) -> bool:
    return name.lower().endswith((".xml", ".rels", ".vml"))


def _ole_kind(data: bytes) -> str:
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as container:
            if container.exists("EncryptedPackage"):
                return ENCRYPTED
            return next((kind for stream, kind in _OLE_STREAMS if container.exists(stream)), "")
    except Exception:  # a damaged container makes the library raise anything; the parser then says so
        return ""


def _zip_kind(data: bytes) -> str:
    if data.count(b"PK\x01\x02") > MAX_ENTRIES:
        return ".zip"
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            kind = archive.open("mimetype").read(80).decode("ascii", "ignore") if "mimetype" in names else ""
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, RuntimeError, NotImplementedError, EOFError):
        return ""
    for word, suffix in (("epub", ".epub"), ("opendocument.text", ".odt"), ("opendocument.spreadsheet", ".ods"),
                         ("opendocument.presentation", ".odp")):
        if word in kind:
            return suffix
    return next((suffix for part, suffix in _ZIP_PARTS if any(n.startswith(part) for n in names)), ".zip")


def _text_kind(head: str) -> str:
    if _HTML.match(head):
        return ".html"
    if _MHTML.match(head) and "multipart/related" in head.lower():
        return ".mht"
    return ".xml" if _OFFICE_XML.match(head) else ""


def _head(data: bytes) -> str:
    """Return the beginning with its ASCII characters in their place, whatever the encoding."""
    head = data[:_HEAD].removeprefix(b"\xef\xbb\xbf").removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff")
    return head.replace(b"\0", b"").replace(b"\r\n", b"\n").decode("latin-1")

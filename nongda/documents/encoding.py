"""The encoding of Chinese text files: told by marks, then by which reading has everyday characters.

1. A byte order mark decides.
2. Bytes that are valid UTF-8 are UTF-8, unless they read as everyday Chinese in GBK and as a jumble in UTF-8.
3. Of GB18030, UTF-16, UTF-32 and Big5 the reading with the greatest share of everyday characters is taken.
4. A file with a few broken bytes is read as UTF-8 or GB18030; each broken character becomes `□`.
5. What is left is no Chinese text: charset-normalizer decides.
"""

from __future__ import annotations

import codecs
import re
import unicodedata

from nongda.errors import DocumentError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_CANDIDATES = ("gb18030", "utf-16-le", "utf-16-be", "big5")  # on a draw the first wins
_PLAUSIBLE = 0.6  # share of everyday characters among the non-ASCII ones; mojibake stays under 0.4
_SAMPLE = 20_000  # characters looked at to judge an encoding
_FEW = 0.02  # share of bytes that may be broken or zero in a text file
_CUT_OFF = ("unexpected end of data", "incomplete multibyte sequence")  # of a file, in the middle of a character
_RESYNC = 60  # bytes after a broken one by which to tell where the next character begins
_MISSING = "□"  # how Chinese print shows a character that cannot be read
_LINE_BREAK = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_MARKUP_CHARSET = re.compile(rb"<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w-]{2,20})", re.IGNORECASE)
_HALF_WIDTH_KANA = re.compile("[\uff61-\uff9f]")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f\x7f]")  # of old files \x1a is the end


def decode(data: bytes, name: str) -> str:
    """Return the text with `\\n` line ends. Raises DocumentError where the bytes are no text."""
    return decode_warned(data, name)[0]


def decode_warned(data: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """Return the text with `\\n` line ends and what the reader must know of it. Raises as `decode`."""
    text, broken = _marked(data) or _guess(data) or ("", -1)
    if broken < 0:
        raise DocumentError(f"文件“{name}”的编码无法识别或内容已损坏：请用记事本打开，另存为 UTF-8 后再添加")
    warnings = (f"有 {broken} 处字节已损坏，读不出的字记作“{_MISSING}”：请对照原文件",) if broken else ()
    return _LINE_BREAK.sub("\n", text), warnings


def decode_markup(data: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """Decode a web page: a mark or what the page declares comes first where the bytes agree with it."""
    declared = _MARKUP_CHARSET.search(data[:4096])
    encoding = declared[1].decode("ascii").lower() if declared else ""
    encoding = "gb18030" if encoding in ("gb2312", "gbk", "gb_2312-80", "x-gbk") else encoding
    utf8 = _strict(data, "utf-8")
    is_utf8 = utf8 is not None and not _is_jumble(utf8, data)  # then pages say anything
    if encoding and not encoding.startswith("utf-16") and not _mark(data) and not is_utf8:
        try:
            text = _strict(data, encoding)
        except LookupError:
            text = None
        if text is not None:
            return _LINE_BREAK.sub("\n", text.replace("\0", "")), ()
    return decode_warned(data, name)


def looks_like_text(data: bytes) -> bool:
    """Tell whether the bytes may be text: valid in some Chinese encoding and without binary controls."""
    if _mark(data):
        return True
    if b"\0" in data:
        return _wide(data) is not None
    return _CONTROL.search(data) is None and _guess(data) is not None


def _mark(data: bytes) -> str:
    return next((encoding for mark, encoding in _BOMS if data.startswith(mark)), "")


def _marked(data: bytes) -> tuple[str, int] | None:
    """Read by the byte order mark; None where there is none or the bytes do not agree with it."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            body = data[len(mark):]
            text = _strict(body, encoding)
            if text is not None:
                return text.replace("\0", ""), 0
            return _mended(body, encoding)
    return None


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        # Not final: a file cut off in the middle of its last character is still read.
        return codecs.getincrementaldecoder(encoding)("strict").decode(data)
    except UnicodeDecodeError:
        return None


def _guess(data: bytes) -> tuple[str, int] | None:
    """Return the text and the number of broken places, None where no reading is plausible."""
    if b"\0" in data:
        wide = _wide(data)
        if wide is not None:
            return wide, 0
        body = data.rstrip(b"\0")  # a power cut leaves zeros at the end of a file
        filled = body.replace(b"\0", b"\xff")  # a zero within stands where a byte was
        if not body.strip() or body.count(0) > max(1, _FEW * len(body)) or _CONTROL.search(filled):
            return None
        guessed = _guess(filled)
        return None if guessed is None else (guessed[0], max(1, guessed[1]))
    utf8 = _strict(data, "utf-8")
    if utf8 is not None and not _is_jumble(utf8, data):
        return utf8, 0
    best = _best(data, _CANDIDATES)
    if best is not None and best[1] >= _PLAUSIBLE:
        return best[0], 0
    for encoding in ("utf-8", "gb18030"):
        mended = _mended(data, encoding)
        if mended is not None:
            return mended
    return _of_another_language(data)


def _wide(data: bytes) -> str | None:
    """Read as UTF-16 or UTF-32 without a mark; None where that is not plausible."""
    if data.isascii() and data.count(0) * 4 < len(data):  # pairs of Latin letters make Chinese characters too
        return None
    best = _best(data, _WIDE)
    return best[0] if best is not None and best[1] >= _PLAUSIBLE else None


def _best(data: bytes, encodings: tuple[str, ...]) -> tuple[str, float] | None:
    best: tuple[str, float] | None = None
    for encoding in encodings:
        text = _strict(data, encoding)
        if text is None or "\0" in text:
            continue
        share = everyday_share(text)
        if best is None or share > best[1]:
            best = text, share
    return best


def _is_jumble(utf8: str, data: bytes) -> bool:
    """Tell whether a short text that is valid UTF-8 by chance is everyday Chinese in GBK.

    Such bytes make characters below U+0800 of several scripts, which no text mixes.
    """
    foreign = [c for c in utf8[:_SAMPLE] if not c.isascii()]
    if len(foreign) < 2 or any(c >= "\u0800" for c in foreign) or all(ord(c) < 0xC0 for c in foreign):
        return False
    scripts = {unicodedata.name(c, "?").split()[0] if c.isalpha() else "?" for c in foreign}
    if len(scripts - {"?"}) < 2 and unicodedata.category(foreign[0])[0] in "LS":
        return False
    chinese = _strict(data, "gb18030")
    return chinese is not None and all(_is_everyday(c) for c in chinese if not c.isascii())


def _mended(data: bytes, encoding: str) -> tuple[str, int] | None:
    """Read over broken bytes; None where they are many or what is read is not plausible."""
    broken = 0
    last = -1  # where the last break ended

    def mark(error: UnicodeError) -> tuple[str, int]:
        nonlocal broken, last
        if not isinstance(error, UnicodeDecodeError) or broken > 4 + _FEW * error.start:
            raise error
        goes_on, last = error.start == last, _next_character(data, error.start, encoding)
        if goes_on or error.reason in _CUT_OFF:  # one break, however many bytes
            return "", last
        broken += 1
        return _MISSING, last

    codecs.register_error("nongda.mark", mark)
    try:
        text = data.decode(encoding, "nongda.mark").replace("\0", "")
    except UnicodeDecodeError:
        return None
    return (text, broken) if everyday_share(text) >= _PLAUSIBLE else None


def _next_character(data: bytes, broken: int, encoding: str) -> int:
    """Return where to go on after a broken byte: where what follows reads best."""
    if encoding == "utf-8":
        follows = re.compile(b"[\x80-\xbf]*").match(data, broken + 1)
        return follows.end() if follows else broken + 1

    def share(start: int) -> float:
        return everyday_share(data[start:start + _RESYNC].decode(encoding, "ignore"))

    return broken + 1 if share(broken + 1) >= share(broken + 2) else broken + 2


def _of_another_language(data: bytes) -> tuple[str, int] | None:
    from charset_normalizer import from_bytes  # slow to load, seldom needed

    match = from_bytes(data).best()
    text = "" if match is None else str(match)
    if not text or "\0" in text or "\ufffd" in text or _HALF_WIDTH_KANA.search(text):
        return None
    return text, 0


def everyday_share(text: str) -> float:
    """Return the share of everyday characters among those that tell something about the encoding."""
    sample = text[:_SAMPLE]
    foreign = [c for c in sample if not c.isascii()]
    if not foreign:
        return 1.0 if all(c.isprintable() or c in "\n\r\t\f" for c in sample) else 0.0
    return sum(_is_everyday(c) for c in foreign) / len(foreign)


def _is_everyday(character: str) -> bool:
    if character in "\u3000\ufeff" or character == _MISSING:
        return True
    # Both lists put their common characters first; kana and other alphabets stand before those of GB 2312.
    gb, big5 = _in_list(character, "gb2312"), _in_list(character, "big5")
    return (
        gb[:1] in (b"\xa1", b"\xa2", b"\xa3", b"\xa6", b"\xa9") or b"\xb0" < gb < b"\xd8"
        or b"\xa1" < big5 <= b"\xc6\x7e"
    )


def _in_list(character: str, encoding: str) -> bytes:
    try:
        return character.encode(encoding)
    except UnicodeEncodeError:
        return b""

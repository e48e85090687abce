"""A knowledge pack's file: the same bytes for the same content, and not one byte of it can be changed unnoticed."""

import json
import os
import random
import shutil
import zipfile
from dataclasses import asdict, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.errors import DocumentError, UsageError
from nongda.index import pack as pack_module
from nongda.index.pack import open_pack, write_pack
from nongda.index.pack_manifest import Entry, Manifest, Retired, manifest_bytes, read_manifest, with_id
from nongda.index.pack_zip import FAT32_LIMIT, total_size
from nongda.records import DocumentMeta
from tests.pack_world import MADE_AT, PROVINCE, STRANGER, forged, packed, raw_zip, small_pack

TRUSTED = [PROVINCE.public]
RUST, BEETLE = "# 锈病\n\n叶背出现橙黄色粉末。\n".encode(), "# 天牛\n\n剪除虫枝。\n".encode()


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / "U 盘"
    folder.mkdir()
    return folder / "县站-2026.05.ndpack"


def refused(path, data: bytes, keys=TRUSTED) -> str:
    path.write_bytes(data)
    with pytest.raises(DocumentError) as caught:
        open_pack(path, keys)
    assert path.name in str(caught.value)
    return str(caught.value)


# writing and reading

def test_what_is_packed_is_read_back(path):
    meta = DocumentMeta("锈病", "云南", "2026-03-01", authority="省站", sources=("甲",), tags=("咖啡",))
    document = packed(RUST, meta=meta, edits={"region": "云南"}, state="superseded", superseded_by="0123abcd")
    draft = Manifest("五月", MADE_AT, "谁", "0.1", "模型", 64, "3", (document,), (Retired("89abcdef", "已过期"),), 2)
    sources = {f"documents/{document.sha256}": lambda: RUST, f"vectors/{document.id}": lambda: b"v" * 7,
               f"scans/{document.sha256}.json": lambda: b"[]", "words.json": lambda: b"{}"}
    written = write_pack(path, draft, sources, PROVINCE)
    pack = open_pack(path, TRUSTED)
    assert pack.manifest == written == replace(draft, maker="试验省站", entries=written.entries, id=written.id)
    assert {e.path: pack.read(e.path) for e in written.entries} == {name: source() for name, source in sources.items()}
    assert pack.signer == PROVINCE.public
    assert pack.has("words.json") and not pack.has("words")
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_any_zip_program_opens_a_pack(path):
    small_pack(path, RUST, BEETLE)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert names[:2] == ["manifest.json", "manifest.sig"] and len(names) == 4
        assert sorted(archive.read(name) for name in names[2:]) == sorted([RUST, BEETLE])
        assert json.loads(archive.read("manifest.json"))["name"] == "五月"


def test_the_same_content_gives_the_same_bytes_whatever_the_order_of_its_files(path):
    document = packed(RUST)
    files = {f"documents/{document.sha256}": lambda: RUST, f"vectors/{document.id}": lambda: b"1"}
    draft = Manifest("五月", MADE_AT, documents=(document,))
    other = path.with_name("b.ndpack")
    write_pack(path, draft, files, PROVINCE)
    write_pack(other, draft, dict(reversed(files.items())), PROVINCE)
    assert path.read_bytes() == other.read_bytes()


def test_the_id_is_that_of_the_content_alone(path):
    first = small_pack(path, RUST)
    same = with_id(replace(first, name="六月", made_at="2026-06-01", maker="别人", program="9"))
    assert same.id == first.id
    for changed in (replace(first, documents=()), replace(first, retire=(Retired("0" * 8),)), replace(first, embedder="x"),
                    replace(first, entries=())):
        assert with_id(changed).id != first.id


@given(st.lists(st.binary(max_size=50), max_size=4, unique=True), st.text(max_size=20), st.text(max_size=20))
@settings(max_examples=30, deadline=None)
def test_any_content_comes_back_whole(tmp_path_factory, texts, name, reason):
    path = tmp_path_factory.mktemp("p") / "a.ndpack"
    documents = tuple(packed(text) for text in texts)
    draft = Manifest(name, MADE_AT, documents=documents, retire=(Retired("0" * 8, reason),))
    try:
        written = write_pack(path, draft, {f"documents/{d.sha256}": (lambda t=t: t) for d, t in zip(documents, texts, strict=True)},
                             PROVINCE)
    except UnicodeEncodeError:
        return
    pack = open_pack(path, TRUSTED)
    assert pack.manifest == written
    assert [pack.read(f"documents/{d.sha256}") for d in documents] == texts


# damage

def test_not_one_changed_byte_of_a_small_pack_goes_unnoticed(path):
    small_pack(path, RUST)
    data = path.read_bytes()
    chance = random.Random(5)
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        with pytest.raises(DocumentError):
            open_pack(path, TRUSTED)


def test_changed_bytes_of_a_larger_pack_are_noticed_wherever_they_are(path):
    small_pack(path, *(os.urandom(3_000_000) + bytes([n]) for n in range(3)))
    size = path.stat().st_size
    chance = random.Random(6)
    with path.open("r+b") as file:
        for position in [chance.randrange(size) for _ in range(12)]:
            file.seek(position)
            byte = file.read(1)[0]
            file.seek(position)
            file.write(bytes([byte ^ 1 << chance.randrange(8)]))
            file.flush()
            with pytest.raises(DocumentError, match="重新拷贝|重新索取"):
                open_pack(path, TRUSTED)
            file.seek(position)
            file.write(bytes([byte]))
    assert open_pack(path, TRUSTED)


def test_a_pack_cut_short_or_with_something_behind_it_is_refused(path):
    small_pack(path, RUST)
    data = path.read_bytes()
    for cut in range(len(data)):
        path.write_bytes(data[:cut])
        with pytest.raises(DocumentError):
            open_pack(path, TRUSTED)
    assert "重新拷贝" in refused(path, data[:-1])
    assert "重新拷贝" in refused(path, data + b"\0")


def test_two_bytes_changed_so_that_a_sum_fits_are_noticed(path):
    """A header whose CRC was made to fit the changed bytes still contradicts the signed SHA-256."""
    manifest = small_pack(path, RUST)
    with zipfile.ZipFile(path) as archive:
        head, mark = archive.read("manifest.json"), archive.read("manifest.sig")
    data = RUST.replace("橙".encode(), "白".encode())
    assert len(data) == len(RUST)
    assert "已损坏" in refused(path, raw_zip([("manifest.json", head), ("manifest.sig", mark), (manifest.entries[0].path, data)]))


def test_no_pack_at_all_is_told_from_a_damaged_one(path):
    for data in (b"", b"hello", b"%PDF-1.7 and so on " * 10):
        assert "不是知识包" in refused(path, data)
    with pytest.raises(DocumentError, match="无法读取"):
        open_pack(path.with_name("没有.ndpack"), TRUSTED)
    with pytest.raises(DocumentError, match="无法读取"):
        open_pack(path.parent, TRUSTED)


# signature

def test_an_unsigned_pack_is_refused(path):
    manifest = small_pack(path, RUST)
    document = (manifest.entries[0].path, RUST)
    assert "没有签名" in refused(path, raw_zip([("manifest.json", manifest_bytes(manifest)), document]))
    assert "没有可用的签名" in refused(path, raw_zip([("manifest.json", manifest_bytes(manifest)), ("manifest.sig", b""), document]))


def test_a_pack_of_an_unknown_key_is_refused_with_the_keys_id(path):
    small_pack(path, RUST, key=STRANGER)
    message = refused(path, path.read_bytes())
    assert STRANGER.public.id in message and "pack trust" in message
    assert open_pack(path, [*TRUSTED, STRANGER.public]).signer == STRANGER.public


def test_a_changed_manifest_with_the_old_signature_is_refused(path):
    manifest = small_pack(path, RUST)
    with zipfile.ZipFile(path) as archive:
        mark = archive.read("manifest.sig")
    head = manifest_bytes(replace(manifest, name="六月"))
    changed = raw_zip([("manifest.json", head), ("manifest.sig", mark), (manifest.entries[0].path, RUST)])
    assert "签名与内容不符" in refused(path, changed)


# rightly signed, but wrong

def test_a_newer_format_asks_for_a_newer_program(path):
    manifest = asdict(small_pack(path, RUST))
    assert "升级本程序" in refused(path, forged({**manifest, "format": 2, "what": "is new"}, {}))
    assert "目录" in refused(path, forged({**manifest, "what": "is new"}, {}))


@pytest.mark.parametrize("bad", ["../x", "/etc/x", "documents/../../x", "documents\\x", "C:/x", "manifest.json", "words.json/", "x"])
def test_entries_with_a_path_that_leads_elsewhere_are_refused(path, bad):
    manifest = small_pack(path, RUST)
    entry = Entry(bad, len(RUST), manifest.entries[0].sha256)
    changed = with_id(replace(manifest, entries=(*manifest.entries, entry)))
    message = refused(path, forged(changed, {manifest.entries[0].path: RUST, bad: RUST}))
    assert "没有添加" in message and "目录里有" in message
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name]


def test_lacking_extra_and_doubled_entries_are_refused(path):
    manifest = small_pack(path, RUST)
    entry, = manifest.entries
    files = {entry.path: RUST}
    assert "重复" in refused(path, forged(with_id(replace(manifest, entries=(entry, entry))), files))
    assert "对不上" in refused(path, forged(with_id(replace(manifest, entries=())), {}))
    assert "对不上" in refused(path, forged(with_id(replace(manifest, documents=())), files))
    assert "已损坏" in refused(path, forged(manifest, {}))
    assert "已损坏" in refused(path, forged(manifest, {**files, "words.json": b""}))
    assert "已损坏" in refused(path, forged(manifest, {entry.path: RUST[:-1]}))
    for stray in ("vectors/01234567", f"scans/{'0' * 64}.json", "words.json"):
        extra = Entry(stray, 4, entry.sha256)
        assert "目录" in refused(path, forged(with_id(replace(manifest, entries=(entry, extra))), files))


def test_a_manifest_that_contradicts_itself_is_refused(path):
    manifest = small_pack(path, RUST)
    document, = manifest.documents
    for changes, says in (
        ({"documents": (document, document)}, "重复"), ({"documents": (replace(document, state="removed"),)}, "状态"),
        ({"documents": (replace(document, id="0" * 8),)}, "编号"), ({"documents": (replace(document, source="../x"),)}, "文件名"),
        ({"documents": (replace(document, edits={"sha256": "x"}),)}, "修改项"), ({"retire": (Retired("x"),)}, "停用名单"),
        ({"documents": (replace(document, superseded_by="x"),)}, "新版"), ({"words": 1}, "对不上"),
        ({"entries": (replace(manifest.entries[0], size=-1),)}, "大小"), ({"name": 5}, "目录"), ({"dimension": True}, "目录"),
        ({"documents": (replace(document, meta=DocumentMeta(tags=(1,))),)}, "目录"),
    ):
        assert says in refused(path, forged(with_id(replace(manifest, **changes)), {manifest.entries[0].path: RUST}))
    assert "编号与内容不符" in refused(path, forged(replace(manifest, id="0" * 16), {manifest.entries[0].path: RUST}))
    for head in (b"", b"[]", b"[" * 100_000, b"{}", b"\xff", b'{"format": "1"}'):
        with pytest.raises(DocumentError):
            read_manifest(head, "包")


def test_a_compressed_entry_is_refused_without_unpacking_it(path):
    manifest = small_pack(path, RUST)
    with zipfile.ZipFile(path.with_name("bomb.ndpack"), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", b"0" * 50_000_000)
    assert "已损坏" in refused(path, path.with_name("bomb.ndpack").read_bytes())
    entry = Entry(manifest.entries[0].path, 4_000_000_000, manifest.entries[0].sha256)
    assert "已损坏" in refused(path, forged(with_id(replace(manifest, entries=(entry,))), {entry.path: RUST}))


# sticks

def test_a_pack_too_large_for_a_stick_is_refused_before_anything_is_written(path, monkeypatch):
    class Huge(bytes):
        def __len__(self):
            return FAT32_LIMIT

    document = packed(RUST)
    with pytest.raises(UsageError, match="4 GiB.*--documents"):
        write_pack(path, Manifest("五月", MADE_AT, documents=(document,)), {f"documents/{document.sha256}": lambda: Huge(b"x")}, PROVINCE)
    assert list(path.parent.iterdir()) == []


def test_the_limit_is_that_of_the_whole_file(path, monkeypatch):
    manifest = small_pack(path, RUST)
    size = path.stat().st_size
    files = [("manifest.json", len(manifest_bytes(manifest))), ("manifest.sig", 122), (manifest.entries[0].path, len(RUST))]
    assert total_size(files) == size
    path.unlink()
    monkeypatch.setattr(pack_module, "FAT32_LIMIT", size - 1)
    with pytest.raises(UsageError, match="--documents"):
        small_pack(path, RUST)
    monkeypatch.setattr(pack_module, "FAT32_LIMIT", size)
    small_pack(path, RUST)


def test_too_little_room_is_said_before_anything_is_written(path, monkeypatch):
    monkeypatch.setattr(pack_module.shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(100, 90, 10))
    with pytest.raises(UsageError, match="腾出空间"):
        small_pack(path, RUST)
    assert list(path.parent.iterdir()) == []


def test_a_stick_that_gives_back_something_else_is_noticed_and_nothing_stays(path, monkeypatch):
    real = pack_module._drop_cache

    def spoil(file):
        real(file)
        file.seek(file.tell() // 2)
        file.write(b"\0")
        file.flush()

    monkeypatch.setattr(pack_module, "_drop_cache", spoil)
    with pytest.raises(DocumentError, match=f"{path.name} 写入后读回的内容不同.*换一个 U 盘"):
        small_pack(path, RUST * 100)
    assert list(path.parent.iterdir()) == []


def test_a_file_that_is_there_is_never_written_over(path):
    path.write_bytes(b"old")
    with pytest.raises(UsageError, match="已经存在"):
        small_pack(path, RUST)
    assert path.read_bytes() == b"old"


def test_a_folder_that_is_not_there_is_an_error(path):
    with pytest.raises(UsageError, match="不能使用"):
        small_pack(path.parent / "没有" / "a.ndpack", RUST)


def test_a_document_that_changes_while_it_is_packed_leaves_no_file(path):
    document = packed(RUST)
    answers = iter([RUST, BEETLE])
    draft = Manifest("五月", MADE_AT, documents=(document,))
    with pytest.raises(DocumentError, match="正在改动"):
        write_pack(path, draft, {f"documents/{document.sha256}": lambda: next(answers)}, PROVINCE)
    assert list(path.parent.iterdir()) == []


def test_a_pack_changed_after_it_was_opened_is_noticed(path):
    manifest = small_pack(path, RUST)
    pack = open_pack(path, TRUSTED)
    data = bytearray(path.read_bytes())
    data[pack.offsets[manifest.entries[0].path]] ^= 1
    path.write_bytes(data)
    with pytest.raises(DocumentError, match="已损坏"):
        pack.read(manifest.entries[0].path)

"""Keys of knowledge packs: made once, told apart by their id, and no other message passes."""

import base64
import hashlib
import os
import stat
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.signing import SigningKey

from nongda.errors import DocumentError, StoreError, UsageError
from nongda.index.pack_sign import (
    SIGNATURE_BYTES,
    PublicKey,
    SecretKey,
    check_signature,
    make_key,
    read_public,
    read_secret,
    sign,
    trust,
    trusted_keys,
)

KEY = SecretKey("试验省站", bytes(range(32)))
OTHER = SecretKey("别处", bytes(32))


def test_a_key_made_is_read_back_and_its_secret_half_is_its_owners_alone(tmp_path):
    public, secret_file, public_file = make_key(tmp_path / "试验 省站")
    assert (secret_file.name, public_file.name) == ("试验 省站.key", "试验 省站.pub")
    assert read_secret(secret_file).public == read_public(public_file) == public
    assert public.name == "试验 省站"
    for file in (secret_file, public_file):
        assert file.read_text(encoding="utf-8").count("\n") == 1
    if sys.platform != "win32":
        assert stat.S_IMODE(os.stat(secret_file).st_mode) == 0o600


def test_making_a_key_never_writes_over_one(tmp_path):
    make_key(tmp_path / "甲")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(UsageError, match="已经存在"):
        make_key(tmp_path / "甲")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    with pytest.raises(UsageError, match="无法写入"):
        make_key(tmp_path / "没有" / "乙")


def test_a_keys_id_is_the_begin_of_the_hash_of_its_public_half():
    public = bytes(SigningKey(bytes(range(32))).verify_key)
    assert KEY.public.data == public
    assert KEY.public.id == hashlib.sha256(public).hexdigest()[:16]


def test_the_signature_is_that_of_ed25519_over_the_message_itself():
    line = sign(b"message", KEY)
    kind, payload = line.decode().split()
    assert kind == "nongda-ed25519-signature"
    assert base64.b64decode(payload)[8:] == SigningKey(bytes(range(32))).sign(b"message").signature
    assert len(line) == SIGNATURE_BYTES
    assert check_signature(b"message", line, [OTHER.public, KEY.public], "包") == KEY.public


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_a_signature_is_of_one_message_alone(message, other):
    line = sign(message, KEY)
    assert line == sign(message, KEY)
    assert check_signature(message, line, [KEY.public], "包") == KEY.public
    if other != message:
        with pytest.raises(DocumentError, match="与内容不符"):
            check_signature(other, line, [KEY.public], "包")


def test_every_changed_byte_of_a_signature_is_noticed():
    line = sign(b"message", KEY)
    for position in range(len(line)):
        for flip in (1, 32, 128):
            changed = bytearray(line)
            changed[position] ^= flip
            with pytest.raises(DocumentError):
                check_signature(b"message", bytes(changed), [KEY.public], "包.ndpack")


def test_a_file_without_a_signature_or_of_an_unknown_key_is_refused_in_words():
    for nothing in (b"", b"nongda-ed25519-signature\n", b"\xff\xfe", sign(b"m", KEY) + b"\n"):
        with pytest.raises(DocumentError, match="五月.ndpack 没有可用的签名.*重新索取"):
            check_signature(b"m", nothing, [KEY.public], "五月.ndpack")
    with pytest.raises(DocumentError, match=f"不信任的密钥 {OTHER.public.id}.*pack trust"):
        check_signature(b"m", sign(b"m", OTHER), [KEY.public], "五月.ndpack")


def test_a_key_with_anothers_id_signs_nothing():
    forged = base64.b64decode(sign(b"m", OTHER).split()[1])
    payload = bytes.fromhex(KEY.public.id) + forged[8:]
    with pytest.raises(DocumentError, match="与内容不符"):
        check_signature(b"m", b"nongda-ed25519-signature " + base64.b64encode(payload) + b"\n", [KEY.public], "包")


def test_a_file_that_is_no_key_or_was_copied_wrongly_is_refused(tmp_path):
    _, secret, public = make_key(tmp_path / "甲")
    good = public.read_text(encoding="utf-8")
    letter = "A" if good[40] != "A" else "B"
    for number, text in enumerate((good[:40] + letter + good[41:], good[:50], "", "不是密钥", good * 100)):
        path = tmp_path / f"{number}.pub"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match="不是完整的公钥"):
            read_public(path)
    for read, path in ((read_public, secret), (read_secret, public)):
        with pytest.raises(UsageError, match="不是完整的"):
            read(path)
    with pytest.raises(UsageError, match="无法读取"):
        read_public(tmp_path / "没有.pub")


def test_trusted_keys_are_those_kept_and_those_shipped_each_once(tmp_path):
    kept, shipped = tmp_path / "资料 库" / "keys", tmp_path / "assets"
    assert trusted_keys(kept, shipped) == []
    first, _, first_file = make_key(tmp_path / "甲")
    second, _, second_file = make_key(tmp_path / "乙")
    assert trust(first_file, kept) == first
    trust(first_file, kept)
    trust(first_file, shipped)
    trust(second_file, shipped)
    assert trusted_keys(kept, shipped) == sorted((first, second), key=lambda key: key.id)
    assert sorted(path.name for path in kept.iterdir()) == [first.id + ".pub"]
    (kept / "坏.pub").write_text("坏", encoding="utf-8")
    with pytest.raises(StoreError, match="坏.pub"):
        trusted_keys(kept)


def test_a_key_file_keeps_its_owners_name_also_after_an_editor_has_saved_it(tmp_path):
    public, _, path = make_key(tmp_path / "甲 乙")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_public(path) == PublicKey("甲 乙", public.data)

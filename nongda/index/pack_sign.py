"""Keys of knowledge packs: Ed25519, each a line of text that names its kind, its bytes and its owner.

A key's bytes are led by its id (the first 8 bytes of the SHA-256 of the public key), so that a slip in copying shows.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from nongda.errors import DocumentError, StoreError, UsageError

PUBLIC_SUFFIX, SECRET_SUFFIX = ".pub", ".key"
_PUBLIC, _SECRET, _SIGNATURE = "nongda-ed25519-public", "nongda-ed25519-secret", "nongda-ed25519-signature"
_ID, _KEY, _MARK = 8, 32, 64  # bytes of an id, of a key, of a signature
_LONGEST_FILE = 4096  # bytes; a key file is one line


@dataclass(frozen=True, slots=True)
class PublicKey:
    """What checks a signature; `name` is its owner as the key file says."""

    name: str
    data: bytes

    @property
    def id(self) -> str:
        """16 hex digits that are read out on the telephone to compare keys."""
        return _key_id(self.data).hex()


@dataclass(frozen=True, slots=True)
class SecretKey:
    """What signs; never leaves the province."""

    name: str
    seed: bytes

    @property
    def public(self) -> PublicKey:
        """The key that checks what this one signs."""
        return PublicKey(self.name, bytes(SigningKey(self.seed).verify_key))


def _key_id(public: bytes) -> bytes:
    return hashlib.sha256(public).digest()[:_ID]


def make_key(path: Path) -> tuple[PublicKey, Path, Path]:
    """Make a key and write it to `path`.key (readable by its owner alone) and `path`.pub; returns both files too.

    Raises UsageError where one of the files is there already: a key once lost cannot be made again.
    """
    secret = SecretKey(path.name, bytes(SigningKey.generate()))
    files = path.with_name(path.name + SECRET_SUFFIX), path.with_name(path.name + PUBLIC_SUFFIX)
    for file in files:
        if file.exists():
            raise UsageError(f"{file} 已经存在，没有改动：请换一个名字，或先把旧密钥移到别处")
    _write_new(files[0], _line(_SECRET, _key_id(secret.public.data) + secret.seed, secret.name), 0o600)
    _write_new(files[1], _public_line(secret.public), 0o644)
    return secret.public, *files


def _write_new(path: Path, text: str, mode: int) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"密钥文件 {path} 无法写入（{error.strerror or error}）：请换一个位置") from error


def read_public(path: Path) -> PublicKey:
    """Read a key file `.pub`. Raises UsageError where it is none."""
    payload, name = _read(path, _PUBLIC, "公钥（.pub）")
    if _key_id(payload[_ID:]) != payload[:_ID]:
        raise _damaged(path, "公钥（.pub）")
    return PublicKey(name, payload[_ID:])


def read_secret(path: Path) -> SecretKey:
    """Read a key file `.key`. Raises UsageError where it is none."""
    payload, name = _read(path, _SECRET, "私钥（.key）")
    key = SecretKey(name, payload[_ID:])
    if _key_id(key.public.data) != payload[:_ID]:
        raise _damaged(path, "私钥（.key）")
    return key


def _read(path: Path, kind: str, what: str) -> tuple[bytes, str]:
    try:
        with path.open("rb") as file:
            data = file.read(_LONGEST_FILE + 1)
    except OSError as error:
        raise UsageError(f"密钥文件 {path} 无法读取（{error.strerror or error}）：请检查路径") from error
    try:
        parts = data.decode("utf-8-sig").split(maxsplit=2)
        payload = base64.b64decode(parts[1], validate=True)
    except (UnicodeDecodeError, IndexError, binascii.Error, ValueError) as error:
        raise _damaged(path, what) from error
    if parts[0] != kind or len(payload) != _ID + _KEY or len(data) > _LONGEST_FILE:
        raise _damaged(path, what)
    return payload, " ".join(parts[2].split()) if len(parts) > 2 else path.stem


def _damaged(path: Path, what: str) -> UsageError:
    return UsageError(f"{path} 不是完整的{what}文件：请换用 pack key make 写出的文件，或向省站重新索取")


def _line(kind: str, payload: bytes, name: str = "") -> str:
    return " ".join(part for part in (kind, base64.b64encode(payload).decode(), name) if part) + "\n"


def _public_line(key: PublicKey) -> str:
    return _line(_PUBLIC, _key_id(key.data) + key.data, key.name)


def sign(message: bytes, key: SecretKey) -> bytes:
    """Return the signature of a message as a line of text; the same message and key give the same line."""
    mark = SigningKey(key.seed).sign(message).signature
    return _line(_SIGNATURE, _key_id(key.public.data) + mark).encode()


SIGNATURE_BYTES = len(_line(_SIGNATURE, bytes(_ID + _MARK)))


def check_signature(message: bytes, signature: bytes, keys: Iterable[PublicKey], source: str) -> PublicKey:
    """Return which of the trusted keys signed this message of the file `source`. Raises DocumentError where none did."""
    try:
        payload = base64.b64decode(signature.decode("ascii").split()[1], validate=True)
    except (UnicodeDecodeError, IndexError, binascii.Error, ValueError):
        payload = b""
    if len(payload) != _ID + _MARK or _line(_SIGNATURE, payload).encode() != signature:  # one text for one signature
        raise DocumentError(f"{source} 没有可用的签名，没有添加：请向省站重新索取知识包")
    key = next((k for k in keys if _key_id(k.data) == payload[:_ID]), None)
    if key is None:
        raise DocumentError(f"{source} 由本站不信任的密钥 {payload[:_ID].hex()} 签名，没有添加：请向省站核对密钥编号，"
                            "一致时用 pack trust 命令信任它的 .pub 文件，再添加一次")
    try:
        VerifyKey(key.data).verify(message, payload[_ID:])
    except BadSignatureError as error:
        raise DocumentError(f"{source} 的签名与内容不符，文件损坏或被改动过，没有添加：请重新拷贝，或向省站重新索取") from error
    return key


def trusted_keys(*folders: Path) -> list[PublicKey]:
    """Return the public keys of the folders, each once, by id. Raises StoreError that names a file that is no key."""
    found: dict[str, PublicKey] = {}
    for folder in folders:
        for path in sorted(folder.glob("*" + PUBLIC_SUFFIX)):
            try:
                key = read_public(path)
            except UsageError as error:
                raise StoreError(f"信任的密钥 {path} 已损坏：请删除它，再用 pack trust 命令重新信任") from error
            found.setdefault(key.id, key)
    return [found[key_id] for key_id in sorted(found)]


def trust(path: Path, folder: Path) -> PublicKey:
    """Keep the public key of a file among those that a station trusts. Raises UsageError, StoreError."""
    key = read_public(path)
    target = folder / (key.id + PUBLIC_SUFFIX)
    temporary = target.with_suffix(".tmp")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        temporary.write_text(_public_line(key), encoding="utf-8", newline="\n")
        os.replace(temporary, target)
    except OSError as error:
        raise StoreError(f"密钥无法存入 {folder}（{error.strerror or error}）：请检查数据文件夹的权限") from error
    return key

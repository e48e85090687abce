"""RapidOCR on ONNX Runtime, one step at a time, with the models of its own package and no others."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]  # (height, width, 3), blue first
Boxes = npt.NDArray[np.float32]  # (n, 4, 2) pixels: top left, top right, bottom right, bottom left

_DETECTOR, _RECOGNISER, _CLASSIFIER = (
    "PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx", "ch_ppocr_mobile_v2.0_cls_mobile.onnx")
ENGINE_NAME = "rapidocr-3.10/PP-OCRv6-small"
# Text is looked for in a smaller picture and read from the whole one: characters of 16 pixels are found as well.
_DETECTION_SCALE = 0.55
_DETECTION_SIDE = 1280  # pixels of the longer side; an A4 page at 200 dpi
_BATCH = 1  # lines of a batch are padded to the longest; single ones take as long and 300 MB less
_TURN_SAMPLE = 16  # lines looked at to tell an upside-down page
_TALL = 1.5  # height by width of a box that is taken for a line of a page on its side
_VERTICAL = 2.5  # height by width of a line of vertical writing; a narrow digit stays under it


class _Found(Protocol):
    boxes: Boxes | None


class _Detector(Protocol):
    limit_side_len: int

    def __call__(self, img: Pixels) -> _Found: ...


class _Classified(Protocol):
    cls_res: list[tuple[str, float]]  # "0" or "180" degrees and how sure


class _Read(Protocol):
    txts: tuple[str, ...]
    scores: tuple[float, ...]


class _Rapid(Protocol):
    """The steps of RapidOCR that are used."""

    def _load_det_model(self) -> _Detector: ...
    def cls_and_rotate(self, img: list[Pixels]) -> tuple[list[Pixels], _Classified]: ...
    def recognize_txt(self, img: list[Pixels]) -> _Read: ...


class OcrEngine:
    """The three models, loaded when first needed; one page at a time."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._rapid: _Rapid | None = None

    def lines(self, picture: Pixels) -> tuple[int, Pixels, Boxes, list[tuple[str, float]]]:
        """Return how far the page was turned (degrees, counter-clockwise), the turned page, boxes and their text."""
        with self._lock:
            rapid = self._loaded()
            turned, picture, boxes = self._upright(rapid, picture)
            crops = [_crop(picture, box) for box in boxes]
            return turned, picture, boxes, self._texts(rapid, crops)

    def _loaded(self) -> _Rapid:
        if self._rapid is None:
            import rapidocr  # it takes a second, and few commands need it

            models = Path(rapidocr.__file__).parent / "models"
            self._rapid = cast(_Rapid, rapidocr.RapidOCR(params={
                "Global.log_level": "critical",
                "Global.model_root_dir": str(models),
                "EngineConfig.onnxruntime.intra_op_num_threads": self._threads,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                "Det.model_path": str(models / _DETECTOR),
                "Det.limit_type": "max",
                "Rec.model_path": str(models / _RECOGNISER),
                "Rec.rec_batch_num": _BATCH,
                "Cls.model_path": str(models / _CLASSIFIER),
            }))
        return self._rapid

    def _upright(self, rapid: _Rapid, picture: Pixels) -> tuple[int, Pixels, Boxes]:
        """Turn the page so that most of its text lies level and stands on its feet."""
        boxes, turned = _detected(rapid, picture), 0
        if _lies_on_its_side(boxes):
            picture, turned = np.ascontiguousarray(np.rot90(picture)), 90
            boxes = _detected(rapid, picture)
        if len(boxes) and self._is_upside_down(rapid, picture, boxes):
            picture, turned = np.ascontiguousarray(np.rot90(picture, 2)), turned + 180
            boxes = _detected(rapid, picture)
        return turned, picture, boxes

    def _is_upside_down(self, rapid: _Rapid, picture: Pixels, boxes: Boxes) -> bool:
        """Ask the classifier for the widest lines; where it is of two minds, read them both ways.

        The page is turned as a whole: a single line turned by mistake would read 66 as 99.
        """
        sizes = _sizes(boxes)
        widest = np.argsort(-sizes[:, 0] * (sizes[:, 0] > sizes[:, 1]))[:_TURN_SAMPLE]
        crops = [_crop(picture, boxes[i]) for i in widest]
        answers = rapid.cls_and_rotate(crops)[1].cls_res
        share = float(np.mean([score if label == "180" else 1 - score for label, score in answers]))
        if abs(share - 0.5) > 0.3:
            return share > 0.5
        as_is, turned = (
            np.mean([score for _, score in self._texts(rapid, some)])
            for some in (crops, [np.ascontiguousarray(np.rot90(crop, 2)) for crop in crops]))
        return bool(turned > as_is)

    @staticmethod
    def _texts(rapid: _Rapid, crops: list[Pixels]) -> list[tuple[str, float]]:
        if not crops:
            return []
        found = rapid.recognize_txt(crops)
        return list(zip(found.txts, (float(score) for score in found.scores), strict=True))


def _detected(rapid: _Rapid, picture: Pixels) -> Boxes:
    detector = rapid._load_det_model()
    detector.limit_side_len = max(_DETECTION_SIDE, int(_DETECTION_SCALE * max(picture.shape)))
    found = detector(picture).boxes
    return np.zeros((0, 4, 2), np.float32) if found is None else np.asarray(found, np.float32)


def _sizes(boxes: Boxes) -> npt.NDArray[np.float32]:
    """Return the width and the height of each box in pixels."""
    width = np.linalg.norm(boxes[:, 1] - boxes[:, 0], axis=1)
    return np.stack([width, np.linalg.norm(boxes[:, 3] - boxes[:, 0], axis=1)], axis=1)


def _lies_on_its_side(boxes: Boxes) -> bool:
    """Tell whether the tall boxes outweigh the wide ones by their length."""
    if not len(boxes):
        return False
    width, height = _sizes(boxes).T
    return bool(height[height > _TALL * width].sum() > width[width > _TALL * height].sum())


def _crop(picture: Pixels, box: Boxes) -> Pixels:
    import cv2

    width, height = (max(1, int(side)) for side in _sizes(box[None])[0])
    frame = np.asarray([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    matrix = cv2.getPerspectiveTransform(box, frame)
    crop = cv2.warpPerspective(picture, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.ascontiguousarray(np.rot90(crop) if height > _VERTICAL * width else crop, np.uint8)

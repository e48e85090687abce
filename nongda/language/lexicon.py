"""Terms, aliases and words: how the text of documents and questions becomes what search sees.

Steps of `tokens`:
1. Search form (NFKC, simplified, lower case), aliases replaced by standard terms, units outside of terms under
   one symbol (3 克百威 is no 3 g).
2. Lexicon terms are found by longest match and stay whole, whatever characters they hold (2,4-滴, Bt-781):
   jieba splits user words at such characters. They are not put into its dictionary besides: it would only cut
   them into more pieces that are no words (热河 of 干热河谷).
3. The rest is cut by jieba's dictionary without its hidden Markov model, whose guesses differ between a
   question and a document; neighbouring single characters become pairs, so that 黄叶 is found unlisted.
"""

from __future__ import annotations

import copy
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import jieba

from nongda.errors import SettingsError
from nongda.language.lexicon_table import Tables, read_tables
from nongda.language.matching import Match, Matcher
from nongda.language.own_words import Known, OwnWord, checked
from nongda.language.text import has_words, original_span, search_form
from nongda.language.units import Units
from nongda.records import Entity, Reading

logger = logging.getLogger(__name__)
_NEAR = 8  # characters beside a short name that tell whether it is a word
_MOST_PASSES = 6  # a replaced alias may form a longer word with its neighbour; two are enough as a rule
_HAN = re.compile(r"[\u3400-\u9fff\U00020000-\U0003ffff]")
# Names of things: taking one for another changes the answer. That 打药 is 喷药 need not be said.
_NAMED_KINDS = frozenset({"crop", "variety", "disease", "pest", "pathogen", "product", "nutrient", "soil", "place"})


class Lexicon:
    """The domain's words. Immutable after loading; safe to use from several threads."""

    def __init__(self, kinds: Mapping[str, str], aliases: Mapping[str, tuple[str, ...]], units: Units,
                 stopwords: Iterable[str] = (), problems: tuple[str, ...] = ()) -> None:
        self.units = units
        self.problems = problems
        self._kinds = {search_form(term): kind for term, kind in kinds.items()}
        self._names = {search_form(term): term for term in kinds}
        self._words: dict[str, tuple[str, ...]] = {term: (term,) for term in self._kinds}
        for alias, terms in aliases.items():
            self._words.setdefault(search_form(alias), tuple(search_form(t) for t in terms))
        self._own: frozenset[str] = frozenset()
        self._matcher = Matcher(self._words)
        self._stopwords = frozenset(search_form(w) for w in stopwords)
        jieba.setLogLevel(logging.ERROR)
        self._jieba = jieba.Tokenizer()
        self._jieba.initialize()

    @classmethod
    def load(cls, folder: Path, with_terms: bool = True, with_aliases: bool = True,
             own: Sequence[OwnWord] = ()) -> Lexicon:
        """Read lexicon.tsv, aliases.tsv, units.toml and stopwords.txt of a domain folder; terms may be left out.

        A broken line is logged with its number, named in `problems` and left out; a missing file is a SettingsError.
        """
        tables = read_tables(folder, with_aliases) if with_terms else Tables({}, {}, ())
        for problem in tables.problems:
            logger.warning("%s", problem)
        stopwords = _read(folder / "stopwords.txt").split()
        shipped = cls(tables.kinds, tables.aliases, Units.load(folder / "units.toml"), stopwords, tables.problems)
        return shipped.with_own(own) if own else shipped

    # other lexicons of the same words, which share all that is costly

    def with_own(self, rows: Sequence[OwnWord]) -> Lexicon:
        """Return a lexicon that knows a station's own words too; rows that cannot be used are in `problems`."""
        good, problems = self.check_own(rows)
        other = copy.copy(self)
        other.problems = (*self.problems, *(f"自有词{problem}" for problem in problems))
        new = {search_form(row.term): row for row in good if row.alias == row.term}
        other._kinds = {**self._kinds, **{form: row.kind for form, row in new.items()}}
        other._names = {**self._names, **{form: row.term for form, row in new.items()}}
        own = {search_form(row.alias): (search_form(row.term),) for row in good}
        other._words = {**self._words, **own}
        other._own = frozenset(own)
        other._matcher = Matcher(other._words)
        return other

    def check_own(self, rows: Sequence[OwnWord]) -> tuple[tuple[OwnWord, ...], tuple[str, ...]]:
        """Return the own words that this lexicon can take, and a sentence for each row that it cannot."""
        return checked(rows, Known(self._kinds, self._names, self._words, self.everyday))

    def without(self, surfaces: Iterable[str]) -> Lexicon:
        """Return a lexicon for which these aliases are plain words: kept whole, under no standard term."""
        plain = {form for form in map(search_form, surfaces) if form in self._words and form not in self._kinds}
        if not plain:
            return self
        other = copy.copy(self)
        other._words = {**self._words, **dict.fromkeys(plain, ())}
        other._matcher = self._matcher.with_same_forms(other._words)
        return other

    def standard_names(self) -> dict[str, str]:
        """Return the kind of each standard term."""
        return {name: self._kinds[form] for form, name in self._names.items()}

    def names_of(self, word: str) -> tuple[str, ...]:
        """Return the standard terms that a whole word means: itself, one, several of an ambiguous alias, or none."""
        return tuple(self._names[term] for term in self._words.get(search_form(word), ()))

    def meanings(self) -> dict[str, tuple[str, ...]]:
        """Return the standard terms of each word, terms and aliases alike, by its search form."""
        return {form: tuple(self._names[t] for t in terms) for form, terms in self._words.items()}

    # finding

    def find(self, text: str) -> list[Match]:
        """Find terms and aliases by longest match, left to right; the text is in search form."""
        return self._matcher.find(text)

    def canonical(self, text: str) -> str:
        """Return the text as search sees it: one script, one width, unit symbols, standard terms.

        Stored text passes here again before it is cut, so the result must stay as it is.
        """
        for _ in range(_MOST_PASSES):
            form = self._canonical_once(text)
            if form == text:
                break
            text = form
        return text

    def _canonical_once(self, text: str) -> str:
        form = search_form(text)
        parts: list[str] = []
        position = 0
        for match in self.find(form):
            parts.append(self.units.normalise(form[position : match.start]))
            parts.append(match.terms[0] if len(match.terms) == 1 else form[match.start : match.end])
            position = match.end
        parts.append(self.units.normalise(form[position:]))
        return "".join(parts)

    def entities(self, text: str) -> tuple[Entity, ...]:
        """Return the terms a text names, each once, in order; an ambiguous alias gives all its readings."""
        form = search_form(text)
        matches = self.find(form)
        starts = frozenset(match.start for match in matches)
        found: dict[str, Entity] = {}
        for match in matches:
            for term in match.terms:
                if self._kinds[term] == "crop" and self._cuts_words(form, match, starts):
                    continue
                surface = form[match.start : match.end]
                found.setdefault(term, Entity(self._names[term], self._kinds[term], surface))
        return tuple(found.values())

    def segments(self, form: str) -> list[tuple[int, int, bool]]:
        """Return (start, end, whether it is of the lexicon) of the words of a text in search form, in order."""
        found: list[tuple[int, int, bool]] = []
        position = 0
        for match in [*self.find(form), Match(len(form), len(form), ())]:
            words = self._jieba.tokenize(form[position : match.start], HMM=False)
            found += [(position + start, position + end, False) for _, start, end in words]
            if match.end > match.start:
                found.append((match.start, match.end, True))
            position = match.end
        return found

    def everyday(self, word: str) -> int:
        """Return how often jieba's dictionary has seen a word; 0 where it has not."""
        return int(self._jieba.FREQ.get(word) or 0)

    def readings(self, text: str) -> tuple[Reading, ...]:
        """Return the names in a text that are taken for another one, each once, in order and as written.

        An ambiguous alias is taken for none. A name that only leaves out or adds a part (小粒咖啡, 景谷县) and words
        that name no thing (打药 for 喷药) do not count, but a station's own words always do.
        """
        form = search_form(text)
        found: dict[str, Reading] = {}
        for match in self.find(form):
            surface = form[match.start : match.end]
            if len(match.terms) == 1 and surface not in found and self._is_news(surface, match.terms[0]):
                written = original_span(text, match.start, match.end, surface)
                found[surface] = Reading(written, self._names[match.terms[0]])
        return tuple(found.values())

    def _is_news(self, surface: str, term: str) -> bool:
        if surface == term:
            return False
        return surface in self._own or (self._kinds[term] in _NAMED_KINDS and not _is_same_name(surface, term))

    def written_aliases(self, text: str) -> list[str]:
        """Return the aliases that a text writes for a standard term, as `tokens` has them where they are plain words."""
        form = search_form(text)
        words = ((form[m.start : m.end], m.terms) for m in self.find(form))
        return [word for word, terms in words if len(terms) == 1 and terms[0] != word]

    def _cuts_words(self, form: str, match: Match, starts: frozenset[int]) -> bool:
        """Tell whether a short name only seems to be there: 花生 in 开花生长. A crop read wrongly refuses a question.

        A name behind which another begins at once (小麦 before 蚜虫) is there.
        """
        if match.end - match.start > 2 or match.end in starts:
            return False
        first = max(0, match.start - _NEAR)
        start, end = match.start - first, match.end - first
        words = self._jieba.tokenize(form[first : match.end + _NEAR], HMM=False)
        return any(a < start < b < end or start < a < end < b for _, a, b in words)

    def tokens(self, text: str) -> list[str]:
        """Return the search tokens of a text, repeated as they occur, stop words left out."""
        form = self.canonical(text)
        tokens: list[str] = []
        position = 0
        for match in self.find(form):
            tokens += self._cut(form[position : match.start])
            tokens += self._term_tokens(form[match.start : match.end])
            position = match.end
        tokens += self._cut(form[position:])
        return [t for t in tokens if t not in self._stopwords]

    def question_tokens(self, text: str) -> list[str]:
        """Return the search tokens of a question: of an ambiguous name also all its readings, which documents may use."""
        form = self.canonical(text)
        readings = dict.fromkeys(term for match in self.find(form) if len(match.terms) > 1 for term in match.terms)
        return [*self.tokens(text), *readings]

    def _term_tokens(self, term: str) -> list[str]:
        inner = {self._words[w][0] if len(self._words[w]) == 1 else w for w in self._matcher.inside(term)}
        parts = (w for w in self._jieba.cut_for_search(term, HMM=False) if len(w) > 1 and has_words(w))
        return [term, *sorted((inner | set(parts)) - {term})]

    def _cut(self, text: str) -> list[str]:
        tokens: list[str] = []
        run: list[str] = []
        for word in self._jieba.cut_for_search(text, HMM=False):
            if len(word) == 1 and _HAN.match(word) and word not in self._stopwords:
                run.append(word)
                continue
            tokens += _pairs(run)
            run = []
            if has_words(word):
                tokens.append(word)
        return tokens + _pairs(run)


def _pairs(run: list[str]) -> list[str]:
    return run if len(run) < 2 else [a + b for a, b in zip(run, run[1:], strict=False)]


def _is_same_name(surface: str, term: str) -> bool:
    """Tell whether one name is the other with a part left out, beginning alike: 小粒咖啡 is 小粒种咖啡."""
    short, long = sorted((re.sub(r"[\s·-]", "", surface), re.sub(r"[\s·-]", "", term)), key=len)
    rest = iter(long)
    return short[:1] == long[:1] and all(character in rest for character in short)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"词表文件 {path} 无法读取（{error}）：请恢复该文件") from error

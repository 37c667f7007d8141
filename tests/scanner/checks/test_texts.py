"""Texts: what is wrong with them, and what only looks unusual."""

# ruff: noqa: RUF001 (scripts of all kinds are what is tested)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner.checks.texts import (
    Field,
    bad_encoding,
    control_characters,
    empty,
    mojibake,
    of_fields,
    overlong,
)
from sickbay.scanner.tokens import words

ORDINARY = """
Ça va très bien, Noël à Zürich — „Straße“ ‘quoted’ “double” … LES ÉLÈVES À LA PLAGE; DÉJÀ VU
Ελληνικά κείμενα: Η γρήγορη αλεπού πηδάει. ΚΑΛΗΜΕΡΑ ΕΛΛΑΔΑ
Съешь же ещё этих мягких французских булок; Ґанок, їжак; љубав, џеп; ѐ
עברית: שלום עולם
العربية: مرحبا بالعالم، فارسی: می‌خواهم
हिन्दी: नमस्ते दुनिया; বাংলা; தமிழ்; తెలుగు; ಕನ್ನಡ; മലയാളം; ગુજરાતી; ਪੰਜਾਬੀ; සිංහල
ไทย: สวัสดีชาวโลก; ລາວ; မြန်မာ; ខ្មែរ; བོད་སྐད
中文：你好，世界。日本語：こんにちは世界。カタカナ ﾊﾝｶｸ 한국어: 안녕하세요
Tiếng Việt: Xin chào thế giới, phở, đường; Türkçe: İstanbul'da ığdır şeker
Zażółć gęślą jaźń; Příliš žluťoučký kůň; ľ ĺ ŕ; ă â î ș ț; árvíztűrő tükörfúrógép
Þórður ð æ ö; Norsk: Æ Ø Å; AÇÃO NÃO, IRMÃ, São; ¿Qué? ¡Olé! ñ Ñ
ā č ē ģ ī ķ ļ ņ š ū ž; ą č ę ė į š ų; ħ ġ ż; ŵ ŷ; Հայերեն; ქართული; አማርኛ; ᏣᎳᎩ; ᐃᓄᒃᑎᑐᑦ
😀 👩‍👩‍👧 🇩🇪 ☃ ★ → ∑ ∫ √ ≠ ≤ ∞ ½ ² ³ µ Ω € £ ¥ © ® ™ § ¶ † ‡ • ‰ 25 °C 5′ 10″ «ça» ‹x›
/ˈɛksəmpəl/ ʃ ʒ θ ð ŋ; x² + y² ≥ 2·π; α→β
""".strip().split("\n")


def said(finding: Finding | None) -> str | None:
    return None if finding is None else finding.code


@pytest.mark.parametrize("line", ORDINARY)
def test_ordinary_text_of_any_script_is_silent(line: str) -> None:
    assert not list(of_fields([Field("text", line)]))


@pytest.mark.parametrize(
    ("broken", "meant"),
    [
        ("CafÃ© MÃ¼ller", "Café Müller"),
        ("itâ€™s", "it’s"),
        ("Ð¿Ñ€Ð¸Ð²ÐµÑ‚", "привет"),
        ("æ—¥æœ¬èªž", "日本語"),
        ("zaÅ¼Ã³Å‚Ä‡", "zażółć"),
        ("10 Âµm for â‚¬ 5", "10 µm for € 5"),
    ],
)
def test_text_decoded_in_a_wrong_encoding_is_found_with_what_was_meant(
    broken: str, meant: str
) -> None:
    finding = mojibake(Field("", f"A line that is right: naïve.\n{broken}\n"))
    assert finding is not None
    assert finding.detail["mended"].strip("…").strip() in meant or meant in finding.detail["mended"]


def test_a_place_where_bytes_were_lost_is_mojibake() -> None:
    assert said(mojibake(Field("", "lost \ufffd byte"))) == "text.mojibake"


@pytest.mark.parametrize(
    "blank", ["", " ", "\t\r\n", "\u200b\ufeff", "\u3000\xa0", "\0\0", "\u2800"]
)
def test_a_text_of_which_nothing_can_be_seen_is_empty(blank: str) -> None:
    assert said(empty(Field("text", blank))) == "text.empty"


def test_a_text_that_may_be_blank_is_not_empty() -> None:
    assert empty(Field("context", "", main=False)) is None


@pytest.mark.parametrize(
    "char", ["\0", "\x07", "\x1b", "\x7f", "\x85", "\u202e", "\ufffe", "\ufdd0"]
)
def test_control_characters_are_found_with_their_place(char: str) -> None:
    finding = control_characters(Field("text", f"naïve{char}b"))
    assert finding is not None
    assert "character 6" in finding.message
    assert "\\" in finding.detail["excerpt"]


@pytest.mark.parametrize("text", ["a\tb\r\nc", "می‌خواهم", "👩‍👧", "a\u2028b", "\u2067שלום\u2069"])
def test_tabs_line_breaks_joiners_and_isolates_are_no_control_characters(text: str) -> None:
    assert control_characters(Field("text", text)) is None


@pytest.mark.parametrize(
    ("text", "encoding", "guess"),
    [
        ("käse", "cp1252", "windows-1252"),
        ("Le café était fermé à cause de l'été, très chaud.", "cp1252", "windows-1252"),
        ("Привет, как дела? Хорошо.", "cp1251", "cp1251"),
        ("日本語のテキスト", "shift_jis", "cp932"),
        ("hello", "utf-16", "utf-16"),
    ],
)
def test_bytes_that_are_no_utf8_are_placed_and_an_encoding_is_suggested(
    text: str, encoding: str, guess: str
) -> None:
    finding = bad_encoding(text.encode(encoding), 100)
    assert finding is not None
    assert finding.detail["encoding"] == guess
    assert finding.detail["byte"] >= 100


@given(st.text())
def test_no_text_in_utf8_has_a_bad_encoding(text: str) -> None:
    assert bad_encoding(text.encode("utf-8")) is None


@given(st.binary(max_size=200))
def test_any_bytes_are_either_utf8_or_told_with_the_offset_of_the_first_bad_one(
    data: bytes,
) -> None:
    finding = bad_encoding(data)
    if finding is not None:
        data[: finding.detail["byte"]].decode("utf-8")
        finding.detail["excerpt"].encode("utf-8")


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_checks_of_any_text_give_findings_that_records_can_hold(text: str) -> None:
    for finding in of_fields([Field("text", text.encode("utf-8", "replace").decode("utf-8"))]):
        assert len(finding.detail["excerpt"]) <= 200


def test_a_text_over_the_limit_of_words_is_overlong() -> None:
    fields = [Field("text", "word " * 600)]
    finding = overlong(fields, Policy(max_tokens=512), words)
    assert finding is not None
    assert finding.message == "The text has 600 words, 512 are allowed."
    assert overlong(fields, Policy(max_tokens=600), words) is None


def test_characters_count_over_all_texts_of_a_sample() -> None:
    fields = [Field("prompt", "a" * 6), Field("completion", "b" * 5)]
    assert said(overlong(fields, Policy(max_characters=10), words)) == "text.overlong"
    assert overlong(fields, Policy(max_characters=11), words) is None


@given(st.text("ab \n\u3000", max_size=50))
def test_words_are_counted_as_split_does(text: str) -> None:
    assert words(text) == len(text.split())


def test_long_texts_are_counted_in_pieces() -> None:
    text = "abc " * 300_000 + "x" * (1 << 21)
    assert words(text) == 300_001


def test_scripts_without_spaces_count_by_letter() -> None:
    assert words("你好世界") >= 4

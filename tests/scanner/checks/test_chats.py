"""Conversations: what chat templates stop on."""

from typing import Any

import pytest

from sickbay.scanner.checks.chats import blank, malformed, texts

USER = {"role": "user", "content": "Hello"}


@pytest.mark.parametrize(
    "messages",
    [
        [USER, {"role": "assistant", "content": "Hi"}],
        [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Hi"}],
        [{"role": "system", "content": ""}, USER],
        [USER, {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}],
        [{"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image"}]}],
        [USER, USER],
    ],
)
def test_usual_conversations_are_silent(messages: list[Any]) -> None:
    assert malformed("messages", messages) is None
    assert blank("messages", messages) is None


@pytest.mark.parametrize(
    ("messages", "what"),
    [
        ([], "empty"),
        ("Hello", "no list"),
        (["Hello"], "no object"),
        ([{"content": "Hello"}], "no role"),
        ([{"role": "asistant", "content": "Hi"}], "asistant"),
        ([USER, {"role": "assistant"}], "Message 2 of 'messages' has no content"),
        ([{"role": "user", "content": 3}], "no text"),
    ],
)
def test_a_conversation_of_another_structure_is_malformed(messages: Any, what: str) -> None:
    finding = malformed("messages", messages)
    assert finding is not None
    assert finding.code == "annotation.schema-mismatch"
    assert what in finding.message


def test_a_message_in_which_nothing_is_said_is_empty() -> None:
    finding = blank("messages", [USER, {"role": "assistant", "content": ""}])
    assert finding is not None
    assert finding.code == "text.empty"
    assert finding.detail["field"] == "messages[1]"


def test_texts_of_a_conversation_are_known_by_their_message() -> None:
    parts = [USER, {"role": "user", "content": [{"type": "text", "text": "Look"}]}]
    assert [(field.name, field.text) for field in texts("messages", parts)] == [
        ("messages[0]", "Hello"),
        ("messages[1]", "Look"),
    ]

"""Labelled fields become what each service is sent, as a real receiver sees it."""

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest
from tests.alerts.receivers import Receiver

from sickbay.alerts.addresses import FORMS, address, shown
from sickbay.alerts.tables import ChannelKind
from sickbay.contract.errors import BadInput

SLACK = "https://hooks.slack.com/services/T0001/B0001/abcDEF"
FEISHU = "https://open.feishu.cn/open-apis/bot/v2/hook/ab-12"
DINGTALK = "https://oapi.dingtalk.com/robot/send?access_token=abc123"
WECOM = "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=ab-12_c"


@dataclass(frozen=True)
class Service:
    """A service's class in apprise, and the attribute that says where it is."""

    module: str
    name: str
    attribute: str

    def moved(self, to: str, asked: dict[str, str]) -> dict[str, Any]:
        """Let the child send while the service is somewhere else; return its answer."""
        code = f"import apprise.plugins.{self.module} as m; from sickbay.alerts import child; "
        code += f"m.{self.name}.{self.attribute} = {to!r}; child.main()"
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            check=True,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer


SERVICES = {
    ChannelKind.SLACK: (SLACK, Service("slack", "NotifySlack", "webhook_url"), ""),
    ChannelKind.FEISHU: (FEISHU, Service("feishu", "NotifyFeishu", "notify_url"), "/{token}"),
    ChannelKind.DINGTALK: (
        DINGTALK,
        Service("dingtalk", "NotifyDingTalk", "notify_url"),
        "/{token}",
    ),
    ChannelKind.WECOM: (WECOM, Service("wecombot", "NotifyWeComBot", "notify_url"), "/{key}"),
}
LETTER = {"title": "a title", "body": "<the> body\nlink", "type": "warning"}


@pytest.mark.parametrize("kind", SERVICES)
def test_a_copied_webhook_url_sends_to_its_service(receiver: Receiver, kind: ChannelKind) -> None:
    url, service, where = SERVICES[kind]
    receiver.answer = b"ok"
    asked = {"url": address(kind, {"url": url}), **LETTER}
    assert service.moved(receiver.url + where, asked)["accepted"] is True
    key = receiver.paths[0].strip("/").rpartition("/")[2]
    assert url.endswith(key)
    said = json.dumps(receiver.bodies[0])
    assert "a title" in said
    assert "body\\nlink" in said


@pytest.mark.parametrize("kind", [ChannelKind.FEISHU, ChannelKind.DINGTALK, ChannelKind.WECOM])
def test_a_refusal_in_an_answer_with_status_200_is_no_success(
    receiver: Receiver, kind: ChannelKind
) -> None:
    url, service, where = SERVICES[kind]
    receiver.answer = b'{"code": 19024, "errcode": 310000, "errmsg": "secret", "msg": "secret"}'
    asked = {"url": address(kind, {"url": url}), **LETTER}
    answer = service.moved(receiver.url + where, asked)
    code = 19024 if kind is ChannelKind.FEISHU else 310000
    assert answer == {"accepted": False, "words": f"it refused with code {code}"}


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("slack", {"url": "https://evil.example/services/T0001/B0001/abc"}),
        ("feishu", {"url": "https://evil.example/hook/ab-12"}),
        ("dingtalk", {"url": "https://oapi.dingtalk.com/robot/send?access_token=a b"}),
        ("dingtalk", {"url": DINGTALK, "secret": "with/slash"}),
        ("wecom", {"url": ""}),
        ("webhook", {"url": "file:///etc/passwd"}),
        ("webhook", {"url": "https://user:password@example.org/"}),
        ("webhook", {"url": "https://example.org/\n"}),
        ("apprise", {"url": "syslog://"}),
        ("apprise", {"url": "no address"}),
    ],
)
def test_what_cannot_be_an_address_is_refused_without_repeating_it(
    kind: str, values: dict[str, str]
) -> None:
    with pytest.raises(BadInput) as error:
        address(ChannelKind(kind), values)
    assert "evil" not in error.value.sentence
    assert "password@" not in error.value.sentence


@pytest.mark.parametrize(
    "wrong",
    [
        {"recipients": "nobody"},
        {"sender": "a@b.org, c@d.org"},
        {"host": "mail.org:port"},
        {"security": "whatever"},
        {"user": "me", "password": ""},
    ],
)
def test_a_mail_channel_says_which_field_is_wrong(wrong: dict[str, str]) -> None:
    right = {
        "recipients": "a@b.org",
        "sender": "c@d.org",
        "host": "mail.org",
        "security": "starttls",
    }
    assert address(ChannelKind.EMAIL, right).startswith("mailtos://mail.org:587/")
    with pytest.raises(BadInput):
        address(ChannelKind.EMAIL, right | wrong)


def test_what_may_be_shown_of_a_channel_holds_no_secret() -> None:
    for form in FORMS.values():
        values = {field.name: f"value of {field.name}" for field in form.fields}
        for field in form.fields:
            assert (values[field.name] in shown(form.kind, values)) is not field.secret

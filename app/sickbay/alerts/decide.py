"""What is said of what rules see: one message for a subject and window, the rest as a digest.

A subject's first sighting is said at once and opens its window. What follows within the window
is counted, and said in one digest of the rule when the window ends. A rule says no more than
``MOST_AT_ONCE`` subjects singly within a window; more of them go into the digest, too. What is
over is said once, unless its beginning was held back: then there is nothing to say.

All of it happens in one transaction, together with what the rules remember.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from sickbay.alerts.messages import Words, write
from sickbay.alerts.rules import active
from sickbay.alerts.sightings.look import look
from sickbay.alerts.sightings.sighting import Moment, News, Sighting, one_line
from sickbay.alerts.tables import MessageKind, Rule, Standing, Topic

MOST_AT_ONCE = 5
"""Subjects that a rule tells of singly within one window: more is a flood, not news."""
MOST_LINES = 50
"""Subjects that a digest names."""


def is_due(session: Session, moment: Moment) -> bool:
    """Whether :func:`decide` would do anything; only reads."""
    looking = {rule.id: rule for rule in active(session)}
    ended = (Topic.ends_at <= moment.at, Topic.rule_id.in_(looking))
    if looking and session.scalar(select(Topic.rule_id).where(*ended).limit(1)) is not None:
        return True
    return any(not look(session, rule, moment).is_none for rule in looking.values())


def decide(session: Session, moment: Moment, base_url: str) -> int:
    """Let every rule look; store what is to be said. Return the number of messages."""
    said = 0
    for rule in active(session):
        teller = _Teller(session, rule, moment.at, base_url)
        teller.close_windows()
        teller.take(look(session, rule, moment))
        said += teller.said
    return said


@dataclass(slots=True)
class _Teller:
    """Decides for one rule."""

    session: Session
    rule: Rule
    at: datetime
    base_url: str
    said: int = 0

    def close_windows(self) -> None:
        """Say what was held back in windows that have ended; after that none is left over."""
        ended = (Topic.rule_id == self.rule.id, Topic.ends_at <= self.at)
        held_back = select(Topic).where(*ended, Topic.held_back > 0)
        topics = self.session.scalars(
            held_back.order_by(Topic.held_back.desc(), Topic.subject)
        ).all()
        if topics:
            words = digest(topics, self.base_url)
            self._say(MessageKind.DIGEST, topics[0].subject, words)
        for topic in topics:
            topic.held_back, topic.told, topic.ends_at = 0, False, self._window_end()
        self.session.flush()
        self.session.execute(delete(Topic).where(*ended))

    def take(self, news: News) -> None:
        """Say what is new, or hold it back."""
        if news.cursor is not None:
            self.rule.cursor = news.cursor
        for sighting in news.over:
            self._over(sighting)
        singly = MOST_AT_ONCE - self._told_lately() if news.seen else 0
        for sighting in news.seen:
            if news.stands:
                key = {"rule_id": self.rule.id, "subject": sighting.subject}
                self.session.add(Standing(**key, since=self.at))
            singly -= self._saw(sighting, may_say=singly > 0)
        self.session.flush()

    def _saw(self, sighting: Sighting, *, may_say: bool) -> bool:
        """Say it, or count it into the digest; return whether it was said."""
        topic = self._topic(sighting.subject)
        if topic is not None:
            topic.held_back += sighting.count
            topic.title, topic.path = sighting.title, sighting.path
            return False
        self.session.add(
            Topic(
                rule_id=self.rule.id,
                subject=sighting.subject,
                ends_at=self._window_end(),
                told=may_say,
                held_back=0 if may_say else sighting.count,
                title=sighting.title,
                path=sighting.path,
            )
        )
        if may_say:
            self._say(MessageKind.NOTICE, sighting.subject, _words(sighting))
        return may_say

    def _over(self, sighting: Sighting) -> None:
        """Say that something is over, unless its beginning was not said either."""
        key = (Standing.rule_id == self.rule.id, Standing.subject == sighting.subject)
        self.session.execute(delete(Standing).where(*key))
        topic = self._topic(sighting.subject)
        if topic is not None and topic.held_back:
            topic.held_back = 0
        else:
            self._say(MessageKind.RECOVERY, sighting.subject, _words(sighting))

    def _say(self, kind: MessageKind, subject: str, words: Words) -> None:
        self.said += 1
        write(
            self.session,
            rule=self.rule,
            kind=kind,
            subject=subject,
            words=words,
            base_url=self.base_url,
            at=self.at,
        )

    def _topic(self, subject: str) -> Topic | None:
        return self.session.get(Topic, (self.rule.id, subject))

    def _told_lately(self) -> int:
        told = (Topic.rule_id == self.rule.id, Topic.told, Topic.ends_at > self.at)
        return self.session.scalar(select(func.count()).select_from(Topic).where(*told)) or 0

    def _window_end(self) -> datetime:
        return self.at + timedelta(minutes=self.rule.window_minutes)


def digest(topics: Sequence[Topic], base_url: str) -> Words:
    """Put what was held back into one message, the most frequent first."""
    total = sum(topic.held_back for topic in topics)
    if len(topics) == 1:
        title = f"{total:,} more: {topics[0].title}"
        return Words(one_line(title), f"{total:,} more since the last message.", topics[0].path)
    lines = [
        f"{topic.held_back:,} of {topic.title}\n{base_url}{topic.path}"
        for topic in topics[:MOST_LINES]
    ]
    if len(topics) > MOST_LINES:
        lines.append(f"and {len(topics) - MOST_LINES:,} more")
    return Words(f"{total:,} more in {len(topics):,} subjects", "\n".join(lines), topics[0].path)


def _words(sighting: Sighting) -> Words:
    return Words(sighting.title, sighting.text, sighting.path)

"""Who a token or a session is: what a program asks before it begins long work."""

from typing import Any

from fastapi import APIRouter

from sickbay.web.identity import Known

router = APIRouter()


@router.get("/api/v1/me")
def me(who: Known) -> dict[str, Any]:
    """Return the name, the role of a person, the scopes of a token."""
    return {
        "name": who.name,
        "role": who.role.value if who.role else None,
        "scopes": sorted(scope.value for scope in who.scopes),
    }

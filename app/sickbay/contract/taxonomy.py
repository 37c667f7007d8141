"""stub"""
from sickbay.contract.event import FailureKind

def kind_of(exception_type: str, message: str, traceback: str) -> FailureKind:
    return FailureKind.OTHER

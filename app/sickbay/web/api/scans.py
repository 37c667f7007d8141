"""Scans that arrive over HTTP."""

from fastapi import APIRouter

router = APIRouter()

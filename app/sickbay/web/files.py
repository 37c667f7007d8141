"""Files of samples."""

from fastapi import APIRouter

router = APIRouter()

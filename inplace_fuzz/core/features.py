"""What a program's text contains, and how to say it: `features`, `slug` and `title`. No torch, no shapes."""

from inplace_fuzz.core.reading import Features, features
from inplace_fuzz.core.words import slug, title

__all__ = ["Features", "features", "slug", "title"]

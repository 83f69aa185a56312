"""Views read after their base was written."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f

CASES = [
    case(
        "stale_write_other_region",
        "x",
        """
        base = x.clone()
        v = base[0]
        base[1] = 50.0
        return v * 1.0, base
    """,
        lambda: (f(2, 2),),
    ),
    case(
        "stale_view_of_view_updated_from_base",
        "x",
        """
        base = x.clone()
        v = base.t()
        w = v[1]
        base[0] = -1.0
        return w * 1.0, v * 1.0
    """,
        lambda: (f(2, 2),),
    ),
    case(
        "stale_written_through_child_seen_by_parent_view",
        "x",
        """
        base = x.clone()
        v = base[1:]
        w = v[0]
        w.mul_(10.0)
        return v * 1.0, base
    """,
        lambda: (f(3, 2),),
    ),
    case(
        "stale_view_used_after_two_writes",
        "x",
        """
        base = x.clone()
        v = base[:, 0]
        base[0] = 7.0
        a = v + 0.0
        base[1] = 8.0
        return a, v + 0.0
    """,
        lambda: (f(2, 2),),
    ),
    case(
        "stale_clone_is_not_a_view",
        "x",
        """
        base = x.clone()
        v = base[1].clone()
        base.add_(10.0)
        return v, base
    """,
        lambda: (f(2, 2),),
    ),
]

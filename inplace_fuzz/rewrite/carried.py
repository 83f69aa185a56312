"""What a variable that a loop carries stands for at the beginning of an iteration.

    SAME     the very tensor from before the loop, in every iteration
    PICK     one of a few tensors from before the loop; an int is carried that says which     a, b = b, a
    CHOICE   the tensor from before the loop or one of the loop's own; a bool says which      y = y * 2
    PLACES   a part of a tensor from before the loop; the positions of its elements say which part     v = v[1:]
    CLOSED   not understood: it may be read, and writing it is refused

A loop is walked with every variable as SAME; one that the body does not leave as it was takes the next description
that fits, and the body is walked again.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from .ir import BOOL, INT, MAYBE, Block, Value
from .join import same
from .memory import OTHER_ELEMENTS, PHI, ROOT, STEP, Alias
from .views import AT, everywhere

PLAIN, SAME, PICK, CHOICE, PLACES, CLOSED = "plain", "same", "pick", "choice", "places", "closed"


class Seat:
    """One carried variable: how it is described, what it is before the loop and at the start of an iteration, and the
    values that the loop carries for it. `roots` is what a closed one may look at.
    """

    __slots__ = ("first", "init", "mode", "roots", "values")

    def __init__(self, mode: str, init: Any, values: tuple[Value, ...] = ()) -> None:
        self.mode, self.init, self.values = mode, init, values
        self.first: Any = None
        self.roots: tuple[Any, ...] = ()


class Carried:
    """The part of the walk that knows what loops carry."""

    def initial(self: Any, bound: Any, type_: Any) -> Any:
        """None, where an iteration may put a tensor, is followed like a tensor."""
        if bound.__class__ is Value and bound.py is None and type_ is not None and type_ == MAYBE:
            return self.memory.nothing()
        return (bound.moved or bound) if bound.__class__ is Alias else bound

    def seat(
        self: Any, init: Any, type_: Any, mode: str, picks: list[Alias], start: list[Value], params: list[Value]
    ) -> Seat:  # fmt: skip
        """Appends what the loop carries for one variable: initial values, and parameters of the body."""
        if init.__class__ is Value:
            start.append(init)
            params.append(Value(type_))
            return Seat(PLAIN, init, (params[-1],))
        if mode is SAME:
            return Seat(SAME, init)
        if init.__class__ is not Alias:
            return Seat(CLOSED, init)
        if mode is PICK:
            start.append(self.g.const(next(i for i, p in enumerate(picks) if same(p, init))))
            made = [Value(INT)]
        elif mode is CHOICE:
            start += [self.g.const(True), self.memory.read(init)]
            made = [Value(BOOL), Value(type_, fresh=False)]
        elif mode is PLACES:
            start.append(self.places(init))
            made = [Value()]
        else:
            start.append(self.memory.read(init))
            made = [Value(type_, fresh=False)]
        params += made
        seat = Seat(mode, init, tuple(made))
        seat.roots = init.roots
        return seat

    def seated(self: Any, seat: Seat, picks: list[Alias]) -> Any:
        """What the variable stands for, given the values that are carried for it."""
        memory, values = self.memory, seat.values
        if seat.mode is PLAIN:
            return values[0]
        if seat.mode is SAME:
            return seat.init
        if seat.mode is PICK:
            picked = picks[-1]
            for i in reversed(range(len(picks) - 1)):
                picked = memory.phi(self.g.call("aten::eq", (values[0], i), BOOL), picks[i], picked, None)
            return picked
        if seat.mode is CHOICE:
            return memory.phi(values[0], seat.init, memory.base(values[1]), values[1])
        if seat.mode is PLACES:
            return memory.step(self.alias_of(seat.init.root), AT, values)
        return memory.opaque(values[0], seat.roots, "prim::Loop")

    def seat_after(self: Any, seat: Seat, picks: list[Alias], outs: list[Value], at: int) -> tuple[int, Any]:
        """What the variable stands for after the loop, and where the values of the next one begin among `outs`."""
        end = at + len(seat.values)
        after = Seat(seat.mode, seat.init, tuple(outs[at:end]))
        after.roots = seat.roots
        return end, self.seated(after, picks)

    def seat_back(
        self: Any, seat: Seat, end: Any, seats: list[Seat], picks: list[Alias], back: list[Value]
    ) -> bool:  # fmt: skip
        """Appends what the next iteration starts from; False where the description does not fit what the body gives."""
        if seat.mode is PLAIN:
            if end.__class__ is Alias:
                raise self.refuse("prim::Loop", "a variable that is a tensor only from the second iteration on")
            back.append(self.value(end))
            return True
        if seat.mode is SAME:
            return same(seat.init, end)
        if end.__class__ is Value and end.py is None:
            end = self.memory.nothing()
        if end.__class__ is not Alias:
            return False
        end = end.moved or end
        if seat.mode is PICK:
            which = self._which(end, seats, picks)
            back += [which] if which is not None else []
            return which is not None
        if seat.mode is CHOICE:
            found = self._from_before(end, seat)
            back += [found, self.memory.read(end)] if found is not None else []
            return found is not None
        if seat.mode is PLACES:
            if not self._is_part(end, seat):
                return False
            back.append(self.places(end))
            return True
        seat.roots = tuple(dict.fromkeys((*seat.roots, *end.roots)))
        back.append(self.memory.read(end))
        return True

    def wider(self: Any, seat: Seat, end: Any, seats: list[Seat], picks: list[Alias]) -> str:
        """The next description to try, given what an iteration ends with."""
        if seat.mode is CLOSED:
            raise self.refuse("prim::Loop", "a container or a tensor that changes from one iteration to the next")
        if seat.init.__class__ is not Alias or end.__class__ is not Alias:
            return CLOSED
        end = end.moved or end
        if seat.mode is SAME or seat.mode is PICK:
            more = self._outside(end, seats)
            if more is not None:
                for alias in (seat.init, *more):
                    if not any(same(alias, p) for p in picks):
                        picks.append(alias)
                return PICK
            return CHOICE
        return PLACES if seat.mode is CHOICE and self._is_part(seat.init, seat) else CLOSED

    # ------------------------------------------------------------------ one of a few
    def _outside(self: Any, end: Alias, seats: list[Seat]) -> list[Alias] | None:
        """The tensors from before the loop that `end` is one of; None where it may be another one."""
        if any(end is s.first for s in seats if s.mode is PICK):
            return []
        if end.block.encloses(self.g.block.outer):
            return [end]
        if end.form == PHI:
            sides = [self._outside(end.parent, seats), self._outside(end.other, seats)]
            return None if None in sides else [a for side in sides for a in side]
        return None

    def _which(self: Any, end: Alias, seats: list[Seat], picks: list[Alias]) -> Value | None:
        for seat in seats:
            if seat.mode is PICK and end is seat.first:
                return seat.values[0]
        for i, pick in enumerate(picks):
            if same(end, pick):
                return self.g.const(i)  # type: ignore[no-any-return]
        return self._by_condition(end, partial(self._which, seats=seats, picks=picks), INT)  # type: ignore[no-any-return]

    def _from_before(self: Any, end: Alias, seat: Seat) -> Value | None:
        """bool: does the next iteration start from the tensor from before the loop? None when from neither."""
        if end is seat.first:
            return seat.first.cond  # type: ignore[no-any-return]
        if same(end, seat.init):
            return self.g.const(True)  # type: ignore[no-any-return]
        if end.form == ROOT and (
            (end.root.block.encloses(self.g.block) and not end.root.block.encloses(seat.init.block))
            or end.root is seat.first.other.root
        ):
            return self.g.const(False)  # type: ignore[no-any-return]
        return self._by_condition(end, partial(self._from_before, seat=seat), BOOL)  # type: ignore[no-any-return]

    def _by_condition(self: Any, end: Alias, ask: Any, type_: Any) -> Value | None:
        """The answer for one of two tensors, where there is one for each."""
        if end.form != PHI:
            return None
        sides = ask(end.parent), ask(end.other)
        if sides[0] is None or sides[1] is None:
            return None
        cond = self.memory.condition(end)
        out = Value(type_, block=self.g.block)
        self.memory.join_values(cond, (Block(self.g.block), Block(self.g.block)), ([sides[0]], [sides[1]]), [out])
        return out

    # ------------------------------------------------------------------ a part
    def _is_part(self: Any, alias: Alias, seat: Seat) -> bool:
        """Whether a chain of steps, none of which repeats an element, leads to the tensor from before the loop."""
        while alias.form == STEP and alias is not seat.first:
            if not alias.row.one_to_one or alias.row.kind in OTHER_ELEMENTS:
                return False
            alias = alias.parent
        return alias is seat.first or (alias.form == ROOT and alias.root is seat.init.root)

    def places(self: Any, alias: Alias) -> Value:
        """The positions in its base of the elements that an alias shows, in its shape."""
        if alias.form == ROOT:
            return everywhere(self.g, self.memory.read(alias))
        if alias.row is AT:
            return alias.args[0]
        return self.memory.places_step(alias, self.places(alias.parent))  # type: ignore[no-any-return]

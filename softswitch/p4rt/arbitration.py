"""Client arbitration: the primary of each role (P4Runtime 1.4, Client Arbitration).

State only: callers send the messages. Roles are isolated from each other in arbitration; every
role has full pipeline access.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from finsy.proto import U128, p4r, rpc_code, rpc_status

from fcn.softswitch.p4rt.errors import (
    failed_precondition,
    invalid_argument,
    not_found,
    permission_denied,
    resource_exhausted,
)
from fcn.softswitch.p4rt.stream import ClientStream

DEFAULT_ROLE = ""
_MAX_CLIENTS_PER_ROLE = 64
MAX_ROLES = 64
_MAX_NAME = 256


@dataclass(slots=True)
class Client:
    """A controller with an open stream; election_id None never becomes primary."""

    stream: ClientStream
    role: str | None = None
    election_id: int | None = None


@dataclass(slots=True)
class _Role:
    highest: int | None = None
    clients: list[Client] = field(default_factory=list)
    primary: Client | None = None
    chosen: Client | None = None


class Arbitration:
    """Roles of one device and their clients."""

    def __init__(self, device_id: int) -> None:
        self._device_id = device_id
        self._roles = {DEFAULT_ROLE: _Role()}

    def begin(self, client: Client, update: p4r.MasterArbitrationUpdate) -> bool:
        """Process a client's update; True when complete() must follow after Writes in flight.

        Steps of "Rules for Handling MasterArbitrationUpdate": a previous primary loses its
        role and the others are notified at once; the chosen client becomes primary in complete().
        Raises the error that terminates the stream.
        """
        name = self._check(client, update)
        role = self._role(name)
        election_id = U128.decode(update.election_id) if update.HasField("election_id") else None
        if election_id is not None and any(
            other.election_id == election_id for other in role.clients if other is not client
        ):
            raise invalid_argument(
                f"Election id {election_id} is already used by another controller of this role"
            )
        if client.role is None:
            if len(role.clients) >= _MAX_CLIENTS_PER_ROLE:
                raise resource_exhausted(f"this role has {len(role.clients)} controllers already")
            client.role = name
            role.clients.append(client)
        elif role.primary is client and client.election_id == election_id:
            # It asks whether it still is.
            self._notify(name, role, (client,))
            return False
        client.election_id = election_id
        if election_id is not None and election_id >= (role.highest or 0):
            role.highest = election_id
            role.primary = None
            role.chosen = client
            self._notify(name, role, [other for other in role.clients if other is not client])
            return True
        if role.chosen is client:
            role.primary = role.chosen = None
            self._notify(name, role, role.clients)
        else:
            self._notify(name, role, (client,))
        return False

    def complete(self, client: Client) -> None:
        """Make a chosen client primary and notify it, unless it left or another was chosen."""
        if client.role is None:
            return
        role = self._roles[client.role]
        if role.chosen is client:
            role.primary = client
            self._notify(client.role, role, (client,))

    def leave(self, client: Client) -> None:
        """Remove a client whose stream has ended; notify the others when it was the primary."""
        if client.role is None:
            return
        name, client.role = client.role, None
        role = self._roles[name]
        role.clients.remove(client)
        if role.chosen is client:
            role.primary = role.chosen = None
            self._notify(name, role, role.clients)

    def check_primary(self, role: str, election_id: p4r.Uint128 | None) -> None:
        """Raise NOT_FOUND for an unknown role, PERMISSION_DENIED unless the caller is primary."""
        state = self._roles.get(role)
        if state is None:
            raise not_found(f"no controller has taken role {role!r}")
        primary = state.primary
        if primary is None or election_id is None:
            raise permission_denied("not primary: this role has no primary with that election id")
        if U128.decode(election_id) != primary.election_id:
            raise permission_denied("not primary: another controller has a higher election id")

    def is_primary(self, client: Client) -> bool:
        return client.role is not None and self._roles[client.role].primary is client

    def primaries(self) -> list[Client]:
        """The primary of every role that has one."""
        return [role.primary for role in self._roles.values() if role.primary is not None]

    def _role(self, name: str) -> _Role:
        """A role, new if need be: then in the place of one that has no client."""
        if name not in self._roles:
            if len(self._roles) == MAX_ROLES:
                left = (old for old, role in self._roles.items() if old and not role.clients)
                forgotten = next(left, None)
                if forgotten is None:
                    raise resource_exhausted(f"{MAX_ROLES} roles are taken already")
                del self._roles[forgotten]
            self._roles[name] = _Role()
        return self._roles[name]

    def _check(self, client: Client, update: p4r.MasterArbitrationUpdate) -> str:
        name = update.role.name
        if update.role.id and not name:
            raise invalid_argument("role ids are deprecated; use role.name")
        if len(name) > _MAX_NAME:
            raise invalid_argument(f"a role's name has {_MAX_NAME} characters at most")
        if update.role.HasField("config"):
            raise invalid_argument(
                f"unknown role.config {update.role.config.type_url!r}: leave it unset, every role "
                "has full pipeline access"
            )
        if client.role is None:
            if update.device_id != self._device_id:
                raise not_found(f"device {update.device_id} is not here, it is {self._device_id}")
            return name
        if update.device_id != self._device_id:
            raise failed_precondition("the device of a stream cannot change; open a new stream")
        if name != client.role:
            raise failed_precondition("the role of a stream cannot change; open a new stream")
        return name

    def _notify(self, name: str, role: _Role, clients: Iterable[Client]) -> None:
        for client in clients:
            update = p4r.MasterArbitrationUpdate(device_id=self._device_id)
            if role.highest is not None:
                update.election_id.CopyFrom(U128.encode(role.highest))
            if name != DEFAULT_ROLE:
                update.role.name = name
            update.status.CopyFrom(_status(role.chosen, client))
            client.stream.send(p4r.StreamMessageResponse(arbitration=update))


def _status(chosen: Client | None, client: Client) -> rpc_status.Status:
    if chosen is client:
        return rpc_status.Status(code=rpc_code.OK, message="Is primary")
    if chosen is None:
        return rpc_status.Status(code=rpc_code.NOT_FOUND, message="No primary")
    return rpc_status.Status(code=rpc_code.ALREADY_EXISTS, message="Is backup")

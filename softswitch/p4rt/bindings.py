"""The action of a table entry: direct, a profile member, a group or a one-shot action set."""

from dataclasses import dataclass

from finsy.proto import p4r

from fcn.softswitch.api import ActionCall, GroupRef, MemberRef, TableAction
from fcn.softswitch.p4rt.actions import decode_action, encode_action
from fcn.softswitch.p4rt.errors import invalid_argument
from fcn.softswitch.p4rt.profiles import OneShot, ProfileStore
from fcn.softswitch.p4rt.schema import Schema, Table


@dataclass(frozen=True, slots=True)
class Binding:
    """The engine's action of an entry, with the one-shot set it was made from."""

    action: TableAction
    one_shot: OneShot | None = None


class Binder:
    """Turns TableAction messages into bindings and counts references to profiles."""

    def __init__(self, schema: Schema, profiles: ProfileStore) -> None:
        self._schema = schema
        self._profiles = profiles

    def bind(self, table: Table, message: p4r.TableAction) -> Binding:
        """Check an action and take the profile references it needs; release() returns them.

        Raises INVALID_ARGUMENT when its kind is not that of the table (P4Runtime 1.4, Action
        Specification), NOT_FOUND for members and groups that do not exist.
        """
        kind = message.WhichOneof("type")
        if kind is None:
            raise invalid_argument(f"table {table.name}: the entry needs an action")
        if (kind == "action") != (table.profile_id == 0):
            wanted = "a profile member, group or action set" if table.profile_id else "an action"
            raise invalid_argument(f"table {table.name} takes {wanted}, got {kind}")
        match kind:
            case "action":
                return Binding(decode_action(table, message.action))
            case "action_profile_member_id":
                member_id = message.action_profile_member_id
                return Binding(self._profiles.use_member(table.profile_id, member_id))
            case "action_profile_group_id":
                group_id = message.action_profile_group_id
                return Binding(self._profiles.use_group(table.profile_id, group_id))
            case "action_profile_action_set":
                return self._one_shot(table, message.action_profile_action_set)

    def release(self, table: Table, binding: Binding) -> None:
        """Return the references of a binding no entry uses any more."""
        if binding.one_shot is not None:
            self._profiles.delete_one_shot(table.profile_id, binding.one_shot)
        elif not isinstance(binding.action, ActionCall):
            self._profiles.release(table.profile_id, binding.action)

    def message(self, binding: Binding) -> p4r.TableAction:
        """The TableAction message of a binding, one-shot sets as they were written."""
        if binding.one_shot is not None:
            return p4r.TableAction(action_profile_action_set=binding.one_shot.message)
        match binding.action:
            case ActionCall():
                action = encode_action(self._schema.action_names, binding.action)
                return p4r.TableAction(action=action)
            case MemberRef(member_id):
                return p4r.TableAction(action_profile_member_id=member_id)
            case GroupRef(group_id):
                return p4r.TableAction(action_profile_group_id=group_id)

    def _one_shot(self, table: Table, message: p4r.ActionProfileActionSet) -> Binding:
        calls = [decode_action(table, a.action) for a in message.action_profile_actions]
        kept = p4r.ActionProfileActionSet()
        kept.CopyFrom(message)
        for item, call in zip(kept.action_profile_actions, calls, strict=True):
            item.action.CopyFrom(encode_action(self._schema.action_names, call))
        one_shot = self._profiles.create_one_shot(table.profile_id, calls, kept)
        return Binding(GroupRef(one_shot.group_id), one_shot)

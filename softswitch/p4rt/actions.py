"""Conversion of Action messages from and to ActionCall (P4Runtime 1.4, Action Specification)."""

from collections.abc import Mapping
from typing import NoReturn

from finsy.proto import p4r

from fcn.softswitch.api import ActionCall
from fcn.softswitch.p4rt.errors import invalid_argument, permission_denied
from fcn.softswitch.p4rt.schema import Action, Table
from fcn.softswitch.p4rt.values import decode_uint, encode_uint


def decode_action(table: Table, message: p4r.Action, *, as_default: bool = False) -> ActionCall:
    """The action call of a message for `table`.

    Raises INVALID_ARGUMENT for an action or parameters the table does not have, OUT_OF_RANGE for
    values too wide, PERMISSION_DENIED against @tableonly and @defaultonly.
    """
    ref = table.actions.get(message.action_id)
    if ref is None:
        raise invalid_argument(f"table {table.name} has no action {message.action_id:#x}")
    if as_default and not ref.as_default:
        raise permission_denied(f"action {ref.action.name} cannot be a default action")
    if not as_default and not ref.in_entries:
        raise permission_denied(f"action {ref.action.name} can only be a default action")
    return ActionCall(ref.action.name, _decode_params(ref.action, message))


def encode_action(actions: Mapping[str, Action], call: ActionCall) -> p4r.Action:
    """Canonical message of a call; `actions` by full name."""
    action = actions[call.name]
    return p4r.Action(
        action_id=action.id,
        params=[
            p4r.Action.Param(param_id=param.id, value=encode_uint(value))
            for param, value in zip(action.params, call.args, strict=True)
        ],
    )


def _decode_params(action: Action, message: p4r.Action) -> tuple[int, ...]:
    given: dict[int, bytes] = {}
    for each in message.params:
        number = each.param_id
        if number in given:
            raise invalid_argument(f"parameter {number} of {action.name} is given twice")
        given[number] = each.value
    if len(given) != len(action.params):
        _refuse_params(action, given)
    values = []
    for param in action.params:
        value = given.get(param.id)
        if value is None:
            _refuse_params(action, given)
        values.append(decode_uint(value, param.width, f"{action.name} {param.name}"))
    return tuple(values)


def _refuse_params(action: Action, given: Mapping[int, bytes]) -> NoReturn:
    """The parameters given are not those of the action."""
    wanted = {param.id: param.name for param in action.params}
    unknown = given.keys() - wanted.keys()
    if unknown:
        raise invalid_argument(f"action {action.name} has no parameter {min(unknown)}")
    missing = next(name for number, name in wanted.items() if number not in given)
    raise invalid_argument(f"action {action.name} needs parameter {missing}")

"""`fcn pki`: certificates for a laboratory, by one command."""

from pathlib import Path
from typing import Annotated

import typer

from fcn.contract.command_line import Commands
from fcn.controller.cli.common import ended_by, mistyped, out, say

pki_app = Commands(
    no_args_is_help=True, help="Certificates for a laboratory: CAs of its own, and revocation."
)

Folder = Annotated[Path, typer.Argument(help="Where they are made.", show_default=False)]
Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[KIND:]NAME[=ADDRESS,...]",
        help="Switches, agent:HOST, read-only:NAME, operator:NAME, admin:NAME; and "
        "controller=ADDRESS,... for names by which the controller is reached.",
        show_default=False,
    ),
]

_CONFIGURATION = """\
tls: # of the controller over TCP, as for: fcn --tls {folder}/operators/admin status --api HOST:9661
  certificate: {folder}/controller/certificate.pem
  key: {folder}/controller/key.pem
  ca: {folder}/controller/operators-ca.pem
  crl: {folder}/controller/operators-crl.pem
switch_tls: # a switch: -- --certificate certificate.pem --key key.pem --ca ca.pem --crl crl.pem
  ca: {folder}/controller/switches-ca.pem
  certificate: {folder}/controller/certificate.pem
  key: {folder}/controller/key.pem"""


@pki_app.command()
def init(folder: Folder, names: Names = None) -> None:
    """Make CAs, and certificates for the controller, an admin, an operator, somebody who may only
    look, and whom you name. What is there stays: run it again to add some. A certificate that
    is there gets no further names."""
    from fcn.controller.pki.folder import PkiError, make, parse_holder

    with mistyped():
        holders = [parse_holder(name) for name in names or ()]
    with ended_by(PkiError):
        made = make(folder, holders)
    for place, new in made:
        say(f"{place}: {'made' if new else 'was there'}")
    where = folder.absolute()
    say(
        f"\nCopy each of these folders to the machine that it is for; {where}/ca stays here.\n"
        f"For the configuration:\n\n{_CONFIGURATION.format(folder=where)}"
    )


@pki_app.command()
def revoke(
    folder: Folder, name: Annotated[str, typer.Argument(metavar="[KIND:]NAME", show_default=False)]
) -> None:
    """Refuse every certificate that was made for somebody, from the next call on."""
    from fcn.controller.pki.folder import PkiError, parse_holder
    from fcn.controller.pki.folder import revoke as revoke_all

    with mistyped():
        holder = parse_holder(name)
    with ended_by(PkiError):
        files = revoke_all(folder, holder)
    for file in files:
        say(f"{file}: changed")
    out.print("Copy these files to where their folders were copied.", highlight=False)

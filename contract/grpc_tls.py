"""TLS of gRPC servers, whose files may be renewed while they run."""

from collections.abc import Callable

import grpc

from fcn.contract.certificates import Watched, read_file
from fcn.contract.transport import ServerFiles


def server_credentials(
    files: ServerFiles, failed: Callable[[str], object]
) -> grpc.ServerCredentials:
    """Renewed files are taken at the next handshake; `failed` hears why they cannot be used then.
    Raises TlsFileError."""

    def read() -> grpc.ServerCertificateConfiguration:
        files.check()
        return grpc.ssl_server_certificate_configuration(
            [(read_file(files.key), read_file(files.certificate))],
            root_certificates=read_file(files.ca) if files.ca is not None else None,
        )

    watched = Watched(files.handshake, read, failed)
    used = watched.now()

    def fetch() -> grpc.ServerCertificateConfiguration | None:
        nonlocal used
        before, used = used, watched.now()
        return None if used is before else used

    return grpc.dynamic_ssl_server_credentials(
        used, fetch, require_client_authentication=files.ca is not None
    )

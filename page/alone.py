"""The page as one file that loads nothing: what the hub keeps is in it."""

import re
from base64 import b64encode
from gzip import compress

from fcn.page.hub import Hub
from fcn.page.server import STATIC
from fcn.softswitch.stories.page import source_of

_SCRIPTS = ("network.js", "panels.js", "timeline.js", "main.js")
"""Each after those it needs."""


def page_alone(hub: Hub) -> str:
    """HTML."""
    style = (STATIC / "page.css").read_text()
    script = "".join(
        re.sub(r"^(import [^;]*;\n|export )", "", (STATIC / name).read_text(), flags=re.MULTILINE)
        for name in _SCRIPTS
    )
    policy = (
        f"default-src 'none'; script-src {source_of(script)}; style-src {source_of(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    kept = b64encode(compress(b"".join(hub.kept()))).decode()
    page = (STATIC / "index.html").read_text()
    for loaded, inside in (
        (
            '<meta charset="utf-8">',
            '<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        ),
        ('<link rel="stylesheet" href="page.css">', f"<style>{style}</style>"),
        ('<script type="module" src="main.js"></script>\n', ""),
        (
            "</body>",
            f'<script type="text/plain" id="kept">{kept}</script>\n'
            f'<script type="module">{script}</script>\n</body>',
        ),
    ):
        page = page.replace(loaded, inside)
    return page

"""The server: Streamlit with Hedge's guard, addresses and start, for `streamlit run app/server.py` or any ASGI server.

It serves this machine only. `hedge` starts the same server, and can open it to others.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # Streamlit adds only this file's folder to the path.
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402
from starlette.middleware import Middleware  # noqa: E402

from app.classroom import routes as class_routes  # noqa: E402
from app.lifespan import lifespan  # noqa: E402
from app.serving import awaited, bundle_files, icons, start, table_files  # noqa: E402
from app.serving.compression import StaticCompression  # noqa: E402
from app.serving.file_limit import FileLimit  # noqa: E402
from app.serving.guard import RequestGuard  # noqa: E402
from app.serving.hosts import HostCheck  # noqa: E402
from app.serving.kept_link import KeptLink  # noqa: E402
from app.serving.monitoring import Monitoring  # noqa: E402
from app.serving.page_head import PageHead  # noqa: E402
from app.serving.policy import PolicyHeaders  # noqa: E402
from app.serving.sessions import OpenPages  # noqa: E402
from app.serving.uploads import UploadLimit  # noqa: E402
from core.processes import open_files  # noqa: E402

start.never_ask_the_internet()
start.check_folder()
start.check_address(st.get_option("server.address"))
start.make_home()
open_files.raise_limit()

base = start.base_path()
app = st.App(
    ROOT / "app" / "main.py",
    routes=[
        *class_routes.routes(base),
        *awaited.routes(base),
        *bundle_files.routes(base),
        *icons.routes(base),
        *table_files.routes(base),
        *Monitoring().routes(base),
    ],
    middleware=[
        Middleware(layer)
        for layer in (
            PolicyHeaders,
            HostCheck,
            FileLimit,
            KeptLink,
            RequestGuard,
            UploadLimit,
            OpenPages,
            PageHead,
            StaticCompression,
        )
    ],
    lifespan=lifespan,
)

"""The page in a real browser: Debian's Chromium, by Playwright."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from page_process import page_running
from scripted_controller import RATE, ScriptedController, flow, grid_network, line_network

from fcn.controller.proto import fcn_pb2 as pb

HOSTILE = "<img src=x onerror=\"document.body.textContent='taken'\"><script>alert(1)</script>"
FRAMES_PER_SECOND = 30
CLICK_ON_A_LINK = """() => {
  const shapes = [...document.querySelectorAll(".node .shape")].slice(0, 2);
  const boxes = shapes.map((shape) => shape.getBoundingClientRect());
  const middle = (from, size) => boxes.reduce((sum, box) => sum + box[from] + box[size] / 2, 0) / 2;
  const place = { clientX: middle("x", "width"), clientY: middle("y", "height"), bubbles: true };
  document.querySelector("#picture canvas").dispatchEvent(new MouseEvent("click", place));
  return window.asked;
}"""
WAIT_MS = 180_000


@contextmanager
def tab_at(chromium: Any, address: str) -> Iterator[Any]:  # noqa: ANN401
    """The page in a tab, which must say nothing to its console and ask nobody else."""
    wrong: list[str] = []

    def asked(request: Any) -> None:  # noqa: ANN401
        if not request.url.startswith((address, "data:")):
            wrong.append(request.url)

    tab = chromium.new_page(viewport={"width": 1280, "height": 900})
    tab.set_default_timeout(WAIT_MS)
    tab.on("console", lambda message: wrong.append(message.text))
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("request", asked)
    tab.goto(address)
    yield tab
    tab.close()
    assert wrong == [], wrong


@contextmanager
def again_and_again(does: Callable[[], None]) -> Iterator[None]:
    """What goes on in the network meanwhile, ten times a second."""
    stop = Event()

    def run() -> None:
        while not stop.wait(0.1):
            does()

    thread = Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def congestion(controller: ScriptedController) -> None:
    """A tenth of a second of it at p2, of which pe1 tells a sender."""
    controller.grow("p2", "port_tx", "port 2", 100, RATE // 80)
    controller.grow("p2", "notifications_sent", "FAST_CNP_SENT", 4)
    controller.grow("pe1", "notifications_received", "FAST_CNP_RECEIVED", 4)
    controller.grow("pe1", "notifications_sent", "CNP_SENT", 4)


def says(tab: Any, text: str, where: str = "body") -> None:  # noqa: ANN401
    """Wait until a part of the page says this."""
    tab.wait_for_function(
        "([where, text]) => document.querySelector(where)?.textContent.includes(text)",
        arg=[where, text],
    )


def test_the_network_moves_and_can_be_stopped_and_wound_back(chromium: Any, tmp_path: Path) -> None:  # noqa: ANN401
    controller, api = ScriptedController(line_network()), f"unix:{tmp_path}/api"
    with controller.serving(api), page_running(api) as address, tab_at(chromium, address) as tab:
        says(tab, "No flow is labelled", "#flows")
        with again_and_again(lambda: congestion(controller)):
            says(tab, "Fast CNP", "#picture")
            says(tab, "Mb/s", "#picture")
            tab.wait_for_function("() => document.querySelectorAll('.node.warm').length == 2")
            tab.wait_for_function("() => Number(document.querySelector('#moment').max) >= 4")
            tab.click("#stop")
            stood = tab.inner_text("#clock").split(",")[0]
            newest = tab.evaluate("Number(document.querySelector('#moment').max)")
            tab.wait_for_function(
                f"() => Number(document.querySelector('#moment').max) > {newest + 1}"
            )
            assert tab.inner_text("#clock").split(",")[0] == stood
        tab.locator("#moment").fill("0")
        assert "s before the newest" in tab.inner_text("#clock")
        assert tab.locator(".node.warm").count() == 0
        tab.click("#replay")
        tab.wait_for_function("() => document.querySelectorAll('.node.warm').length == 2")
        tab.click("#stop")
        assert "live" in tab.inner_text("#clock")


def test_the_story_of_a_flow_and_of_a_node(chromium: Any, tmp_path: Path) -> None:  # noqa: ANN401
    controller, api = ScriptedController(line_network()), f"unix:{tmp_path}/api"
    controller.flows = [flow(1, notifications=12)]
    with controller.serving(api), page_running(api) as address, tab_at(chromium, address) as tab:
        tab.click("#flows tbody tr")
        says(tab, "12 notifications came for its label", "#details")
        tab.click(".node.pe >> nth=0")
        says(tab, "pe1 is up", "#details")


def test_a_packet_is_asked_for_its_story(chromium: Any, tmp_path: Path) -> None:  # noqa: ANN401
    """There is no switch behind this controller: the command says so, on a page of its own."""
    controller, api = ScriptedController(line_network()), f"unix:{tmp_path}/api"
    with (
        controller.serving(api),
        page_running(api, "--stories") as address,
        tab_at(chromium, address) as tab,
        again_and_again(lambda: congestion(controller)),
    ):
        tab.click(".node.pe >> nth=0")
        says(tab, "Story of a Fast CNP, p2", "#details")
        tab.click("#stop")
        tab.context.set_default_timeout(WAIT_MS)
        with tab.expect_popup() as opened:
            tab.click("#details a.story >> nth=0")
        says(opened.value, "fcn trace pe1 -m fast_cnp.word=0/0")
        says(opened.value, "no switch answers at 127.0.0.1:9")
        says(opened.value, "That is all.")
        assert opened.value.locator("#all").evaluate("box => box.onchange !== null")
        opened.value.close()
        tab.bring_to_front()
        tab.click("#stop")
        tab.evaluate("window.open = (address) => { window.asked = address }")
        tab.wait_for_function(CLICK_ON_A_LINK)
        assert tab.evaluate("window.asked") == "story?node=pe1&kind=FAST_CNP"


def test_names_and_messages_are_text(chromium: Any, tmp_path: Path) -> None:  # noqa: ANN401
    """Tenants and devices choose them."""
    controller, api = ScriptedController(line_network()), f"unix:{tmp_path}/api"
    controller.network.nodes[0].ports[0].name = HOSTILE
    controller.states["p1"] = HOSTILE
    controller.notification = HOSTILE
    controller.flows = [flow(1)]
    controller.flows[0].key.vrf = HOSTILE
    with controller.serving(api), page_running(api) as address, tab_at(chromium, address) as tab:
        says(tab, HOSTILE, "#flows tbody")
        says(tab, HOSTILE, "#mode")
        tab.click("#flows tbody tr")
        says(tab, f"A flow of VRF {HOSTILE}", "#details")
        controller.tell("node-error", "p1", HOSTILE)
        says(tab, HOSTILE, "#events")
        assert tab.locator("img, script:not([src])").count() == 0


def test_links_and_paths_that_fail(chromium: Any, tmp_path: Path) -> None:  # noqa: ANN401
    controller, api = ScriptedController(line_network()), f"unix:{tmp_path}/api"
    controller.links = [pb.Link(node="p1", port=2, peer="p2", peer_port=1, state="down")]
    paths = [
        pb.Path(tunnel="one", state="failed", source="p1"),
        pb.Path(tunnel="two", state="up", rate=9.0),
    ]
    controller.policies = [pb.Policy(node="pe1", name="both", to="pe2", paths=paths)]
    with controller.serving(api), page_running(api) as address, tab_at(chromium, address) as tab:
        says(tab, "up, takes over", "#paths")
        assert tab.locator(".load.down").count() == 2
        assert tab.locator(".path.bad").count() == tab.locator(".path.over").count() == 1


def test_the_controller_ends_while_one_looks(chromium: Any, tmp_path: Path) -> None:  # noqa: ANN401
    controller, api = ScriptedController(line_network()), f"unix:{tmp_path}/api"
    with page_running(api) as address:
        with controller.serving(api), tab_at(chromium, address) as tab:
            tab.wait_for_selector(".node")
        with tab_at(chromium, address) as tab:
            says(tab, "no controller answers", "#problem")
            assert tab.locator(".node.away").count() == 4


@pytest.mark.exhaustive
def test_sixty_four_nodes_and_a_thousand_flows_move_smoothly(chromium: Any, tmp_path: Path) -> None:  # noqa: ANN401
    controller, api = ScriptedController(grid_network()), f"unix:{tmp_path}/api"
    controller.flows = [flow(number, node="n00") for number in range(1000)]

    def everywhere() -> None:
        for node in controller.network.nodes:
            for port in node.ports:
                controller.grow(node.name, "port_tx", f"port {port.number}", 10, RATE // 160)
            way = "sent" if node.role == "p" else "received"
            controller.grow(node.name, f"notifications_{way}", f"FAST_CNP_{way.upper()}", 4)

    count = """() => new Promise(done => {
        let frames = 0;
        const began = performance.now();
        const frame = (now) => {
            frames += 1;
            if (now - began > 5000) done(frames / (now - began) * 1000);
            else requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
    })"""
    with (
        controller.serving(api),
        page_running(api) as address,
        tab_at(chromium, address) as tab,
        again_and_again(everywhere),
    ):
        says(tab, "100 of 1000 flows", "#flows")
        tab.wait_for_function("() => document.querySelectorAll('.node.warm').length > 30")
        measured = max(tab.evaluate(count) for _ in range(3))
    assert measured >= FRAMES_PER_SECOND

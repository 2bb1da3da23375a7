// The page of a controller: hears its stream, and shows a moment of it.

import { KINDS, Network, svg } from "./network.js";
import {
  clock, element, flowKey, nodeStory, openStory, showEvents, showFlows, showPaths, showStory, storyOf,
} from "./panels.js";
import { Timeline } from "./timeline.js";

const part = (id) => document.getElementById(id);
let chosenNode, chosenFlow;
let isKept = false; // what comes now was kept by the server

const network = new Network(
  part("picture"),
  (name) => { chosenNode = name; chosenFlow = undefined; again(); },
  (travel) => { if (network.picture.stories) openStory(storyOf(travel, timeline.frame, timeline.isVirtual)); },
);
const timeline = new Timeline(show);

function chooseFlow(key) {
  chosenFlow = key;
  chosenNode = undefined;
  again();
}

function again() { if (timeline.frame) show(timeline.frame, timeline.list, false, true); }

/** isSame: the moment that is shown already, so that messages go on as they are. */
function show(frame, flows, moves, isSame = false) {
  part("problem").hidden = !frame.problem;
  part("problem").textContent = frame.problem;
  part("mode").textContent = frame.notification ? `notification: ${frame.notification}` : "";
  if (network.picture) {
    const flying = network.flying;
    network.show(frame, moves, chosenNode);
    if (isSame || (timeline.isLive && !moves)) network.flying = flying;
  }
  showPaths(part("paths"), frame.paths);
  showFlows(part("flows"), flows, frame.no_flows || frame.problem, chosenFlow, chooseFlow, listed);
  showEvents(part("events"), timeline.frames.slice(0, timeline.at + 1), moment);
  showDetails(frame, flows);
  showTime(frame);
}

function showDetails(frame, flows) {
  const node = frame.nodes.find((each) => each.name === chosenNode);
  const flow = flows?.rows.find((each) => flowKey(each) === chosenFlow);
  if (node) showStory(part("details"), node.name, nodeStory(node), messageLinks(frame));
  else if (flow) showStory(part("details"), `Flow ${flow.label || `${flow.source} – ${flow.destination}`}`, flow.story, packetLinks(flow));
  else if (chosenFlow) showStory(part("details"), "Flow", ["It is not in the list of this moment."]);
}

/** The stories of messages that the chosen node sent or received. */
function messageLinks(frame) {
  if (!network.picture?.stories) return [];
  return frame.travels.filter((each) => each.route.includes(chosenNode)).map((each) => [
    `Story of a ${KINDS[each.kind][0]}, ${each.route.join(" – ")}`, storyOf(each, frame, timeline.isVirtual),
  ]).filter(([, asked]) => asked);
}

function packetLinks({ node, source, destination, dest_qp }) {
  if (!network.picture?.stories || timeline.isVirtual || !node) return [];
  return [[`Story of its next packet at ${node}`, { node, source, destination, dest_qp }]];
}

function listed(seconds) {
  return timeline.isVirtual ? "of the whole run" : `as of ${clock(seconds)}; + since the list before`;
}

function moment(seconds) {
  return timeline.isVirtual ? `${(1000 * seconds).toFixed(3)} ms` : clock(seconds);
}

function showTime(frame) {
  const slider = part("moment");
  slider.max = Math.max(0, timeline.frames.length - 1);
  slider.value = timeline.at;
  const stops = timeline.isLive || (timeline.isVirtual && timeline.mode === "replay");
  part("stop").textContent = stops ? "Stop" : "Live";
  part("stop").hidden = timeline.isVirtual && !stops;
  if (timeline.isVirtual) {
    part("clock").textContent = `${moment(frame.time)} of virtual time`;
    return;
  }
  const ago = Math.round(timeline.frames.at(-1).time - frame.time);
  part("clock").textContent = clock(frame.time) + (timeline.isLive ? " live" : `, ${ago} s before the newest`);
}

part("stop").addEventListener("click", () => {
  if (part("stop").textContent === "Stop") timeline.stopAt(timeline.at);
  else timeline.goLive();
});
part("replay").addEventListener("click", () => timeline.replay());
part("moment").addEventListener("input", (event) => timeline.stopAt(Number(event.target.value)));

const mark = (colour, attributes = { cx: 6, cy: 4, r: 4 }, shape = "circle") => {
  const drawing = svg("svg", { viewBox: "0 0 16 8" });
  drawing.append(svg(shape, { ...attributes, fill: colour, stroke: colour }));
  return drawing;
};
const line = { x1: 0, y1: 4, x2: 16, y2: 4, "stroke-width": 3 };
for (const [drawing, text] of [
  ...Object.values(KINDS).map(([name, colour]) => [mark(colour), name]),
  ...[["#c3ccd8", "idle link"], ["#3f7fd0", "half used"], ["#3b0a5e", "full"], ["#90a4ae", "rate unknown"]].map(
    ([colour, name]) => [mark(colour, line, "line"), name]),
  [mark("#c62828", { ...line, "stroke-dasharray": "4 3" }, "line"), "down, or avoided path"],
  [mark("#e76f2e", { x: 4, y: 0, width: 5, height: 8 }, "rect"), "queue by its level"],
  [mark("#2e7d32", { ...line, "stroke-width": 6, opacity: 0.4 }, "line"), "path that takes over"],
]) {
  const item = element("li");
  item.append(drawing, text);
  part("legend").append(item);
}

const kept = part("kept"); // all of it, in a page that is one file
const stream = kept ? new EventTarget() : new EventSource("stream");
const hear = (name, does) => stream.addEventListener(name, (event) => does(JSON.parse(event.data)));
hear("begin", () => { isKept = true; timeline.begin(); });
hear("picture", (picture) => {
  timeline.begin();
  timeline.isVirtual = picture.virtual;
  chosenNode = chosenFlow = undefined;
  network.draw(picture);
});
hear("frame", (frame) => {
  timeline.addFrame(frame, isKept);
  if (!timeline.isLive) showTime(timeline.frame);
});
hear("flows", (flows) => timeline.addList(flows));
hear("kept", () => {
  isKept = false;
  if (timeline.isVirtual) timeline.replay();
  else again();
});
stream.addEventListener("error", () => {
  part("problem").hidden = false;
  part("problem").textContent = "The page's server does not answer: this is what it said last. It goes on when the server does.";
});
if (kept) {
  const packed = Uint8Array.from(atob(kept.textContent), (each) => each.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  for (const message of (await new Response(unpacked).text()).split("\n\n").slice(0, -1)) {
    const [, name, data] = message.match(/^event: (.*)\ndata: (.*)$/);
    stream.dispatchEvent(new MessageEvent(name, { data }));
  }
}

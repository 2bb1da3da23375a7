// Everything beside the picture. What comes from the network is text, never markup.

const SHOWN_EVENTS = 100;

export function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

export function clock(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString("en-GB");
}

function table(columns, rows) {
  const made = element("table");
  const head = made.createTHead().insertRow();
  const isNumber = columns.map((name) => name.startsWith("#"));
  columns.forEach((name, at) => head.append(element("th", name.replace("#", ""), isNumber[at] ? "number" : "")));
  const body = made.createTBody();
  for (const { cells, kind, click } of rows) {
    const row = body.insertRow();
    if (kind) row.className = kind;
    cells.forEach((text, at) => row.append(element("td", String(text), isNumber[at] ? "number" : "")));
    if (click) {
      row.tabIndex = 0;
      row.addEventListener("click", click);
      row.addEventListener("keydown", (event) => { if (event.key === "Enter") click(); });
    }
  }
  return made;
}

export function showPaths(section, paths) {
  section.hidden = !paths.length;
  section.lastElementChild.replaceChildren(table(
    ["from", "policy", "to", "path", "state", "said by", "#packets/s", "by"],
    paths.map((path) => ({
      cells: [path.node, path.policy, path.to, path.name + (path.backup ? " (backup)" : ""),
        path.takes_over ? `${path.state}, takes over` : path.state, path.source,
        Math.round(path.packets_per_s), path.route.join(" – ")],
      kind: path.takes_over ? "over" : ["failed", "congested"].includes(path.state) ? "bad" : "",
    })),
  ));
}

export const flowKey = (flow) => [flow.vrf, flow.source, flow.destination, flow.dest_qp].join(" ");

/** when: of a list, in words. */
export function showFlows(section, flows, why, chosen, choose, when) {
  const [, note, body] = section.children;
  if (!flows || !flows.total) {
    note.textContent = why || "No flow is listed yet.";
    body.replaceChildren();
    return;
  }
  const more = flows.total > flows.rows.length ? `${flows.rows.length} of ${flows.total} flows` : `${flows.total} flows`;
  note.textContent = `${more}, ${when(flows.time)}`;
  body.replaceChildren(table(
    ["VRF", "source", "destination", "dest. QP", "label", "PE", "source QP", "#notifications", "#+", "#packets"],
    flows.rows.map((flow) => ({
      cells: [flow.vrf, flow.source, flow.destination, "0x" + flow.dest_qp.toString(16), flow.label || "none",
        flow.node || "none", flow.source_qp || "unknown", flow.notifications, flow.notified || "", flow.packets],
      kind: flowKey(flow) === chosen ? "chosen" : "",
      click: () => choose(flowKey(flow)),
    })),
  ));
}

export function showEvents(list, frames, when) {
  const events = frames.flatMap((frame) => frame.events).slice(-SHOWN_EVENTS).reverse();
  list.replaceChildren(...events.map((event) => {
    const item = element("li", undefined, event.warns ? "warns" : "");
    item.append(element("time", when(event.time)), event.message);
    return item;
  }));
}

/** links: [text, the packet that is asked for its story]. */
export function showStory(section, title, sentences, links = []) {
  section.replaceChildren(
    element("h2", title),
    ...sentences.map((sentence) => element("p", sentence)),
    ...links.map(([text, asked]) => {
      const link = element("a", text, "story");
      link.href = storyAddress(asked);
      link.target = "_blank";
      return link;
    }),
  );
}

const storyAddress = (asked) => `story?${new URLSearchParams(asked)}`;

/** Which packet tells of messages that travel: the next at the PE which receives or makes them; of a run one
 * of these. Undefined where none can. */
export function storyOf(travel, frame, isVirtual) {
  if (isVirtual) return travel.frame === null ? undefined : { frame: travel.frame, run: travel.run };
  const place = travel.route.findLast((name) => !name.includes("/"));
  const node = frame.nodes.find((each) => each.name === place);
  if (!node) return undefined;
  const cause = "END_CON_CNP" in node.received ? "END_CON_CNP" : "FAST_CNP";
  return { node: node.name, kind: travel.kind === "CNP" ? cause : travel.kind };
}

export function openStory(asked) { if (asked) window.open(storyAddress(asked), "_blank", "noopener"); }

/** What a node did in a second, in words. */
export function nodeStory(node) {
  const list = (counts) => Object.entries(counts).map(([name, count]) => `${count} ${name}`).join(", ");
  const parts = [
    `${node.name} is ${node.state}${node.detail ? `: ${node.detail}` : ""}.`,
    `Features: ${node.features.join(", ") || "none is on"}. Labelled flows: ${node.flows}.`,
  ];
  for (const [what, counts] of [["sent", node.sent], ["received", node.received], ["suppressed", node.suppressed], ["dropped", node.drops]])
    if (Object.keys(counts).length) parts.push(`In this second it ${what}: ${list(counts)}.`);
  if (node.no_queues) parts.push(`What waits there nobody knows: ${node.no_queues}.`);
  if (node.marked) parts.push(`It marked ${node.marked} packets CE.`);
  return parts;
}

// The network as a picture: links in SVG, messages that travel on a canvas above, nodes in SVG on top.

const SVG = "http://www.w3.org/2000/svg";
const WIDE = 1000;
const MARGIN = 66;
const TALK = 24; // nodes up to which numbers are written into the picture

export const KINDS = {
  FAST_CNP: ["Fast CNP", "#d81b60"],
  END_CON_CNP: ["CNP to END.CON", "#8e24aa"],
  CNP: ["CNP", "#1565c0"],
  ARN: ["ARN", "#00838f"],
  FANTEL: ["FANTEL", "#ef6c00"],
  PAUSE: ["PAUSE", "#37474f"],
};
const SCALE = ["#c3ccd8", "#7fb2e5", "#3f7fd0", "#5e35b1", "#3b0a5e"]; // utilization 0, ¼, ½, ¾, 1
const UNRATED = "#90a4ae";
const QUEUE = 36; // height of a full queue
const LEVELS = ["#9fb4c8", "#f6c85f", "#f2a541", "#ee8434", "#e76f2e", "#dc5428", "#cf3a24", "#b71c1c"];
const TRAVEL = 800; // ms from end to end
const SPREAD = 900; // ms in which the messages of a frame leave
const MOST_DOTS = 8; // of one way and frame
const NEAR = 24; // of a dot, where one clicks on it: it moves
const SIDES = [-1, 1]; // what the first end of a link sends is on the left of its way, the other on the right
const RATE = [122, 14]; // width and height of a load that is written
const PLACES = [0.5, 0.38, 0.62, 0.26, 0.74]; // along a link, where it may be
const MOST_FLYING = 1500; // of one frame, shared by its ways

export function svg(name, attributes = {}, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

export function bits(bps) {
  for (const [unit, size] of [["Tb/s", 1e12], ["Gb/s", 1e9], ["Mb/s", 1e6], ["kb/s", 1e3]])
    if (bps >= size) return `${(bps / size).toPrecision(3)} ${unit}`;
  return `${Math.round(bps)} b/s`;
}

function said(load) {
  if (load.bps === null) return "unknown";
  const part = load.utilization === null ? "" : ` · ${Math.round(100 * load.utilization)} %`;
  return bits(load.bps) + part;
}

function colour(load) {
  if (load.utilization === null) return load.bps ? UNRATED : SCALE[0];
  return SCALE[Math.min(SCALE.length - 1, Math.round(load.utilization * (SCALE.length - 1)))];
}

const UNKNOWN = { bps: null, utilization: null };
const UNKNOWN_LINE = { loads: [UNKNOWN, UNKNOWN], state: "unwatched", queues: [null, null] };
const unknownNode = (name) => ({ name, state: "unknown", detail: "", sent: {}, marked: 0, drops: {} });

function showQueue(bar, queue, node, towards) {
  bar.setAttribute("visibility", queue?.packets ? "visible" : "hidden");
  if (!queue) return;
  const [, fill, title] = bar.children;
  const high = Math.max(2, QUEUE * queue.full);
  fill.setAttribute("y", QUEUE / 2 - high);
  fill.setAttribute("height", high);
  fill.style.fill = LEVELS[Math.min(queue.level, LEVELS.length - 1)];
  title.textContent = `queue of ${node} towards ${towards}: ${queue.packets} packets, level ${queue.level}`;
}

const box = (x, y, wide, high) => [x - wide / 2, y - high / 2, x + wide / 2, y + high / 2];

function overlap([left, low, right, high], other) {
  const wide = Math.min(right, other[2]) - Math.max(left, other[0]);
  const tall = Math.min(high, other[3]) - Math.max(low, other[1]);
  return wide > 0 && tall > 0 ? wide * tall : 0;
}

/** Where a message is that has gone this part of its way. */
function pointOf(points, part) {
  if (points.length === 1) return points[0];
  const along = part * (points.length - 1);
  const leg = Math.min(Math.floor(along), points.length - 2);
  const [[x1, y1], [x2, y2]] = [points[leg], points[leg + 1]];
  return [x1 + (x2 - x1) * (along - leg), y1 + (y2 - y1) * (along - leg)];
}

export class Network {
  /** choose: told of a node that is clicked on; ask: of messages whose dot is. */
  constructor(container, choose, ask) {
    this.container = container;
    this.choose = choose;
    this.flying = [];
    this.drawn = 0;
    this.canvas = document.createElement("canvas");
    this.context = this.canvas.getContext("2d");
    new ResizeObserver(() => this.fit()).observe(container);
    container.addEventListener("click", (event) => {
      const dot = event.target.closest(".node:not(.dc)") ? undefined : this.dotAt(event);
      if (dot) ask(dot.travel);
    });
  }

  draw(picture) {
    this.picture = picture;
    this.flying = [];
    this.at = new Map(picture.places.map((each) => [each.name, [each.x * WIDE, each.y * WIDE]]));
    const nodes = picture.places.filter((each) => each.role !== "dc").length;
    this.talks = nodes <= TALK;
    this.size = this.talks ? 28 : Math.max(9, 28 * Math.sqrt(TALK / nodes));
    const centres = picture.places.length - nodes;
    this.small = 0.7 * Math.min(this.size, 28 * Math.sqrt(TALK / Math.max(centres, 1)));
    this.high = picture.height * WIDE + 2 * MARGIN;
    const viewBox = `${-MARGIN} ${-MARGIN} ${WIDE + 2 * MARGIN} ${this.high}`;
    this.root = svg("svg", { viewBox });
    this.top = svg("svg", { viewBox, class: "top" });
    this.pathLayer = this.root.appendChild(svg("g"));
    // What is in the way of texts: places with the words below them, and queues.
    this.taken = picture.places.flatMap(({ name, role }) => {
      const [[x, y], size] = [this.at.get(name), role === "dc" ? this.small : this.size];
      const shape = box(x, y, size * 2.4, size * 1.6);
      return role === "dc" ? [shape] : [shape, box(x, y + size + 22, 90, 34)];
    });
    this.lines = picture.lines.map((line, index) => this.addLine(line, index));
    for (const line of this.lines) line.text = this.talks ? SIDES.map((side) => this.addText(line, side)) : [];
    this.nodes = new Map(picture.places.map((place) => [place.name, this.addNode(place)]));
    this.container.replaceChildren(this.root, this.canvas, this.top);
    this.fit();
  }

  /** Both directions of a link beside each other; parallel links side by side. */
  addLine(line, index) {
    const same = (each) => [...each.ends].sort().join() === [...line.ends].sort().join();
    const before = this.picture.lines.slice(0, index).filter(same).length;
    const [[x1, y1], [x2, y2]] = line.ends.map((name) => this.at.get(name));
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [across, up] = [-(y2 - y1) / length, (x2 - x1) / length];
    const sign = line.ends[0] < line.ends[1] ? 1 : -1; // so that parallel links do not swap sides
    const shift = 14 * Math.ceil(before / 2) * (before % 2 ? sign : -sign);
    const group = this.root.appendChild(svg("g"));
    const title = group.appendChild(svg("title"));
    const loads = SIDES.map((side) => {
      const [dx, dy] = [across * (shift + 3 * side), up * (shift + 3 * side)];
      const stroke = svg("line", { x1: x1 + dx, y1: y1 + dy, x2: x2 + dx, y2: y2 + dy, class: "load" });
      return group.appendChild(stroke);
    });
    const queues = [0, 1].map((end) => {
      const [[x, y], [toX, toY]] = end ? [[x2, y2], [x1, y1]] : [[x1, y1], [x2, y2]];
      const part = Math.min(0.4, (this.size + 8) / length);
      const at = [x + (toX - x) * part + across * shift, y + (toY - y) * part + up * shift];
      this.taken.push(box(...at, 8, QUEUE));
      const bar = group.appendChild(svg("g", {
        class: "queue", visibility: "hidden", transform: `translate(${at.join(" ")})`,
      }));
      bar.append(svg("rect", { x: -4, y: -QUEUE / 2, width: 8, height: QUEUE, class: "room" }),
        svg("rect", { x: -4, width: 8 }), svg("title"));
      return bar;
    });
    return { line, group, title, loads, queues, shift, across, up };
  }

  /** A load beside its link: at its middle, or where less is in the way. */
  addText({ line, group, shift, across, up }, side) {
    const [[x1, y1], [x2, y2]] = line.ends.map((name) => this.at.get(name));
    const steep = Math.abs(across) > 0.4;
    const off = shift + side * (steep ? 11 : 14);
    const away = steep ? Math.sign(across * side) : 0;
    const free = PLACES.map((part) => {
      const [x, y] = [x1 + (x2 - x1) * part + across * off, y1 + (y2 - y1) * part + up * off];
      const taken = box(x + away * RATE[0] / 2, y, ...RATE);
      return { x, y, taken, area: this.taken.reduce((sum, other) => sum + overlap(taken, other), 0) };
    }).reduce((best, other) => (other.area < best.area ? other : best));
    this.taken.push(free.taken);
    return group.appendChild(svg("text", {
      x: free.x, y: free.y + 5, class: "rate", "font-size": 13,
      "text-anchor": ["end", "middle", "start"][away + 1],
    }));
  }

  addNode(place) {
    const [x, y] = this.at.get(place.name);
    const size = place.role === "dc" ? this.small : this.size;
    const group = svg("g", { class: `node ${place.role}`, transform: `translate(${x} ${y})` });
    const wide = place.role === "dc" ? Math.max(size * 2.4, place.note.length * size * 0.42 + 12) : size * 2.4;
    const shape = place.role === "p"
      ? svg("circle", { r: size, class: "shape" })
      : svg("rect", { x: -wide / 2, y: -size * 0.8, width: wide, height: size * 1.6, rx: 4, class: "shape" });
    const title = svg("title", {}, place.name);
    const label = place.role === "dc" ? "" : place.name;
    const font = Math.min(size * 0.62, size * 3.4 / Math.max(label.length, 1));
    group.append(title, shape, svg("text", { y: font * 0.35, "font-size": font }, label));
    const lines = [0, 1, 2].map((row) => svg("text", { y: size + 18 + 16 * row, "font-size": 14, class: "said" }));
    group.append(...lines);
    if (place.role === "dc") {
      group.append(svg("text", { y: 4, "font-size": size * 0.7, class: "note" }, place.note));
    } else {
      group.setAttribute("tabindex", 0);
      group.addEventListener("click", () => this.choose(place.name));
      group.addEventListener("keydown", (event) => { if (event.key === "Enter") this.choose(place.name); });
    }
    this.top.append(group);
    return { group, title, lines, place };
  }

  /** moves: whether the messages of the frame travel; else their numbers alone are there. */
  show(frame, moves, chosen) {
    this.lines.forEach((line, index) => this.showLine(line, frame.lines[index] ?? UNKNOWN_LINE));
    const views = new Map(frame.nodes.map((node) => [node.name, node]));
    for (const [name, node] of this.nodes)
      if (node.place.role !== "dc") this.showNode(node, views.get(name) ?? unknownNode(name), chosen);
    const bad = (path) => path.state === "failed" || path.state === "congested";
    this.pathLayer.replaceChildren(...frame.paths.filter((path) => bad(path) || path.takes_over).map((path) => {
      const points = path.route.map((name) => this.at.get(name)?.join(",")).filter(Boolean).join(" ");
      const stroke = svg("polyline", { points, class: `path ${bad(path) ? "bad" : "over"}` });
      stroke.append(svg("title", {}, `${path.node} ${path.policy} ${path.name}: ${path.state}`));
      return stroke;
    }));
    if (moves) this.send(frame.travels);
    else this.flying = [];
  }

  showLine({ line, title, loads, text, queues }, view) {
    const [near, far] = line.ends;
    queues.forEach((bar, index) => showQueue(bar, view.queues[index], line.ends[index], line.ends[1 - index]));
    loads.forEach((stroke, index) => {
      const load = view.loads[index];
      stroke.style.stroke = colour(load);
      stroke.setAttribute("stroke-width", load.bps ? 2 + Math.min(3, Math.log10(1 + load.bps / 1e5)) : 1.5);
      stroke.classList.toggle("down", view.state === "down");
    });
    text.forEach((each, index) => {
      const load = view.loads[index];
      each.textContent = load.bps > 1000 ? this.arrow(line, index) + said(load) : "";
    });
    if (view.state === "down" && text.length) text[0].textContent = "down";
    const state = view.state === "unwatched" ? "" : `, ${view.state}`;
    title.textContent = `${near} – ${far}${state}\n${near} sends ${said(view.loads[0])}\n${far} sends ${said(view.loads[1])}`;
  }

  arrow(line, index) {
    const [[x1, y1], [x2, y2]] = [line.ends[index], line.ends[1 - index]].map((name) => this.at.get(name));
    if (Math.abs(y2 - y1) > Math.abs(x2 - x1)) return y1 < y2 ? "↓ " : "↑ ";
    return x1 < x2 ? "→ " : "← ";
  }

  showNode({ group, title, lines }, node, chosen) {
    const sent = Object.entries(node.sent).filter(([kind]) => kind in KINDS);
    const told = sent.map(([kind, count]) => `${count} ${KINDS[kind][0]}${count === 1 ? "" : "s"}`);
    if (node.marked) told.unshift(`${node.marked} marked CE`);
    const dropped = Object.values(node.drops).reduce((sum, count) => sum + count, 0);
    if (dropped) told.push(`${dropped} dropped`);
    lines.forEach((text, row) => { text.textContent = this.talks ? told[row] ?? "" : ""; });
    title.textContent = [`${node.name}: ${node.state}`, node.detail, ...told].filter(Boolean).join("\n");
    group.classList.toggle("warm", Boolean(node.marked || sent.length));
    group.classList.toggle("away", node.state !== "up");
    group.classList.toggle("chosen", node.name === chosen);
  }

  send(travels) {
    const now = performance.now();
    const share = Math.max(1, Math.floor(MOST_FLYING / travels.length));
    for (const travel of travels) {
      const { kind, route, count } = travel;
      const points = route.map((name) => this.at.get(name)).filter(Boolean);
      if (!points.length || !(kind in KINDS)) continue;
      const dots = Math.min(MOST_DOTS, share, 1 + Math.floor(Math.log2(count)));
      for (let number = 0; number < dots && this.flying.length < 2 * MOST_FLYING; number++)
        this.flying.push({
          travel, points, colour: KINDS[kind][1], leaves: now + (SPREAD * (number + Math.random())) / dots,
        });
    }
    if (!this.ticking && this.flying.length) {
      this.ticking = true;
      requestAnimationFrame((time) => this.tick(time));
    }
  }

  tick(now) {
    this.drawn += 1;
    this.flying = this.flying.filter((dot) => now < dot.leaves + TRAVEL);
    const { context, canvas } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    const { scale, left, top } = this.fitted(canvas.width, canvas.height);
    context.setTransform(scale, 0, 0, scale, left, top);
    for (const dot of this.flying) if (now >= dot.leaves) this.dot(dot, (now - dot.leaves) / TRAVEL);
    this.ticking = this.flying.length > 0;
    if (this.ticking) requestAnimationFrame((time) => this.tick(time));
  }

  fitted(width, height) {
    const scale = Math.min(width / (WIDE + 2 * MARGIN), height / this.high);
    return { scale, left: (width - WIDE * scale) / 2, top: (height - (this.high - 2 * MARGIN) * scale) / 2 };
  }

  /** The dot that is nearest to a click, if one is near. */
  dotAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const { scale, left, top } = this.fitted(box.width, box.height);
    const [x, y] = [(event.clientX - box.left - left) / scale, (event.clientY - box.top - top) / scale];
    const now = performance.now();
    const away = (dot) => {
      const [dotX, dotY] = pointOf(dot.points, Math.min((now - dot.leaves) / TRAVEL, 1));
      return Math.hypot(dotX - x, dotY - y);
    };
    const near = this.flying.filter((dot) => now >= dot.leaves && away(dot) < NEAR);
    return near.sort((a, b) => away(a) - away(b))[0];
  }

  /** part: of the way; a message that nobody is known to have received is a ring that grows. */
  dot({ points, colour }, part) {
    const { context } = this;
    context.beginPath();
    if (points.length === 1) {
      context.arc(...points[0], this.size * (1 + part), 0, 2 * Math.PI);
      context.strokeStyle = colour;
      context.lineWidth = 3 * (1 - part);
      context.stroke();
      return;
    }
    context.arc(...pointOf(points, part), 6, 0, 2 * Math.PI);
    context.fillStyle = colour;
    context.fill();
  }

  fit() {
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = this.container.clientWidth * ratio;
    this.canvas.height = this.container.clientHeight * ratio;
  }
}

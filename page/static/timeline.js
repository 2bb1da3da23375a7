// What was shown in the last minutes, and which moment is shown now: the newest, or one that stands still, or
// one after the other.

const FRAMES = 300;
const LISTS = 60;
const PACE = 1000; // ms from frame to frame, as they came
const VIRTUAL_PACE = 400; // of time that is not that of clocks

export class Timeline {
  constructor(show) {
    this.show = show; // (frame, flows, moves): moves says whether messages travel
    this.begin();
  }

  begin() {
    this.frames = [];
    this.lists = [];
    this.isVirtual = false;
    this.goLive();
  }

  get isLive() { return this.mode === "live"; }
  get frame() { return this.frames[this.at]; }

  addFrame(frame, isKept) {
    this.frames.push(frame);
    if (this.frames.length > FRAMES) {
      this.frames.shift();
      if (!this.isLive) this.at = Math.max(0, this.at - 1);
    }
    if (this.isLive) {
      this.at = this.frames.length - 1;
      if (!isKept) this.tell(true);
    }
  }

  addList(flows) {
    this.lists.push(flows);
    if (this.lists.length > LISTS) this.lists.shift();
    if (this.isLive && this.frame) this.tell(false);
  }

  /** The flows as listed last at the moment shown. */
  get list() {
    if (this.isLive || !this.frame) return this.lists.at(-1);
    return this.lists.findLast((list) => list.time <= this.frame.time) ?? this.lists[0];
  }

  goLive() {
    clearInterval(this.clock);
    this.mode = "live";
    this.at = this.frames.length - 1;
    if (this.frame) this.tell(false);
  }

  stopAt(index) {
    clearInterval(this.clock);
    this.mode = "stopped";
    this.at = Math.min(Math.max(index, 0), this.frames.length - 1);
    if (this.frame) this.tell(false);
  }

  /** From the moment shown, or from the first where that is the newest, at the speed of then. */
  replay() {
    const from = this.at >= this.frames.length - 1 ? 0 : this.at;
    this.stopAt(from);
    this.mode = "replay";
    this.clock = setInterval(() => {
      if (this.at >= this.frames.length - 1) return this.isVirtual ? this.stopAt(this.at) : this.goLive();
      this.at += 1;
      this.tell(true);
    }, this.isVirtual ? VIRTUAL_PACE : PACE);
    this.tell(true);
  }

  tell(moves) { this.show(this.frame, this.list, moves); }
}

// Of a program without links that are watched, nor paths: the steps of pe.p4 and p.p4, empty.
control PathChecksums(inout headers_t hdr) {
    apply { }
}
EMPTY_STEP(PathReported)
EMPTY_STEP(HelloAgain)
EMPTY_STEP(ClockAgain)
EMPTY_STEP(LinkHeard)
EMPTY_STEP(PathFlow)
EMPTY_STEP(PathMessage)
EMPTY_STEP(PathUpdate)
EMPTY_STEP(PathChosen)
EMPTY_STEP(LinkRepair)
EMPTY_STEP(HelloCopy)
EMPTY_STEP(ClockLeaving)
EMPTY_STEP(LinkLeaving)
EMPTY_STEP(PathCongested)
EMPTY_STEP(PathCounted)
EMPTY_STEP(LinkMessage)
EMPTY_STEP(LinkDead)
EMPTY_STEP(PathCopy)
EMPTY_STEP(PathTells)

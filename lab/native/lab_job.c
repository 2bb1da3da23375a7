/* A job is a graph of tasks. When all that a task waits for is done its time begins; a message is
 * sent at the end of that time and done when it was received, other tasks are done then. */
#include "lab_job.h"

#include <stdlib.h>

#define NONE UINT32_MAX
#define FIRST_ROOM 64u

typedef struct {
    uint32_t node, connection; /* of the host that sends */
    uint32_t *sent;            /* tasks, in the order in which they were given to the host */
    uint32_t n_sent, room, received;
} channel;

typedef struct {
    uint32_t channel; /* NONE: no message */
    uint32_t waits;   /* for so many others */
    uint32_t edges;   /* the first one from here, NONE: there is none */
    uint32_t next;    /* in the list of those that can begin */
    uint64_t id, size, duration;
    uint64_t ready; /* when all that was done so far was */
    lab_task_times times;
} task;

typedef struct {
    uint32_t to, next;
} edge;

struct lab_jobs {
    channel *channels;
    task *tasks;
    edge *edges;
    uint32_t n_channels, n_tasks, n_edges;
    uint32_t channels_room, tasks_room, edges_room;
    bool failed; /* no memory for what had to be done */
};

/* Room for one more item of `size` octets; false without memory, or where numbers end. */
static bool make_room(void **items, uint32_t n, uint32_t *room, size_t size)
{
    if (n < *room)
        return true;
    if (n >= NONE / 2)
        return false;
    uint32_t more = *room ? *room * 2 : FIRST_ROOM;
    void *wider = realloc(*items, more * size);
    if (!wider)
        return false;
    *items = wider;
    *room = more;
    return true;
}

static lab_jobs *jobs_of(lab *l)
{
    if (!l->jobs)
        l->jobs = calloc(1, sizeof *l->jobs);
    return l->jobs;
}

void lab_job_free(lab *l)
{
    if (!l->jobs)
        return;
    for (uint32_t i = 0; i < l->jobs->n_channels; i++)
        free(l->jobs->channels[i].sent);
    free(l->jobs->channels);
    free(l->jobs->tasks);
    free(l->jobs->edges);
    free(l->jobs);
    l->jobs = NULL;
}

int64_t lab_job_channel(lab *l, uint32_t node, uint32_t connection, uint32_t receiver,
                        uint32_t responder)
{
    lab_jobs *j = jobs_of(l);
    lab_requester_stats sender;
    int64_t known = lab_roce_requester(l, node, connection, &sender);
    if (known < 0)
        return known;
    if (!j || !make_room((void **)&j->channels, j->n_channels, &j->channels_room,
                         sizeof *j->channels))
        return LAB_ERR_MEMORY;
    int64_t told = lab_roce_tell(l, receiver, responder, j->n_channels);
    if (told < 0)
        return told;
    j->channels[j->n_channels] = (channel){.node = node, .connection = connection};
    return j->n_channels++;
}

static int64_t add(lab *l, task added)
{
    lab_jobs *j = jobs_of(l);
    if (!j || !make_room((void **)&j->tasks, j->n_tasks, &j->tasks_room, sizeof *j->tasks))
        return LAB_ERR_MEMORY;
    added.edges = added.next = NONE;
    added.times = (lab_task_times){LAB_NEVER, LAB_NEVER};
    j->tasks[j->n_tasks] = added;
    return j->n_tasks++;
}

int64_t lab_job_time(lab *l, uint64_t start, uint64_t duration)
{
    return add(l, (task){.channel = NONE, .ready = start, .duration = duration});
}

int64_t lab_job_message(lab *l, uint32_t number, uint64_t id, uint64_t size, uint64_t start,
                        uint64_t duration)
{
    if (!l->jobs || number >= l->jobs->n_channels || !size)
        return LAB_ERR_NODE;
    return add(l, (task){.channel = number, .id = id, .size = size, .ready = start,
                         .duration = duration});
}

int64_t lab_job_after(lab *l, uint32_t number, uint32_t before)
{
    lab_jobs *j = l->jobs;
    /* Who waits was added later: so no task waits for itself, by whatever way. */
    if (!j || number >= j->n_tasks || before >= number)
        return LAB_ERR_NODE;
    if (!make_room((void **)&j->edges, j->n_edges, &j->edges_room, sizeof *j->edges))
        return LAB_ERR_MEMORY;
    j->edges[j->n_edges] = (edge){number, j->tasks[before].edges};
    j->tasks[before].edges = j->n_edges++;
    j->tasks[number].waits++;
    return 0;
}

/* Give a message to its host, to be sent at the end of the task's time. */
static bool post(lab *l, uint32_t number)
{
    lab_jobs *j = l->jobs;
    task *t = &j->tasks[number];
    channel *c = &j->channels[t->channel];
    if (!make_room((void **)&c->sent, c->n_sent, &c->room, sizeof *c->sent))
        return false;
    t->times.begun = t->ready + t->duration;
    if (lab_roce_post(l, c->node, c->connection, t->id, t->size, t->times.begun) < 0)
        return false;
    c->sent[c->n_sent++] = number;
    return true;
}

/* A task is done: those that can begin now, before the others of a list. */
static uint32_t release(lab_jobs *j, const task *t, uint32_t list)
{
    for (uint32_t e = t->edges; e != NONE; e = j->edges[e].next) {
        uint32_t number = j->edges[e].to;
        task *after = &j->tasks[number];
        if (after->ready < t->times.done)
            after->ready = t->times.done;
        if (--after->waits == 0) {
            after->next = list;
            list = number;
        }
    }
    return list;
}

/* Tasks that can begin, and those that others wait for and are done thereby, until there are no more:
 * when time is over is known before it is. `list`: the first of them. */
static void begin(lab *l, uint32_t list)
{
    lab_jobs *j = l->jobs;
    while (list != NONE) {
        uint32_t number = list;
        task *t = &j->tasks[number];
        list = t->next;
        if (t->ready < l->now)
            t->ready = l->now;
        if (t->channel != NONE) {
            j->failed |= !post(l, number);
            continue;
        }
        t->times.begun = t->ready;
        t->times.done = t->ready + t->duration;
        list = release(j, t, list);
    }
}

void lab_job_received(lab *l, uint32_t number, uint64_t now)
{
    lab_jobs *j = l->jobs;
    channel *c = &j->channels[number];
    if (c->received == c->n_sent)
        return; /* a message that is of no job */
    task *t = &j->tasks[c->sent[c->received++]];
    t->times.done = now;
    begin(l, release(j, t, NONE));
}

int64_t lab_job_begin(lab *l)
{
    lab_jobs *j = l->jobs;
    uint32_t list = NONE;
    for (uint32_t i = j ? j->n_tasks : 0; i-- > 0;)
        if (!j->tasks[i].waits && j->tasks[i].times.begun == LAB_NEVER) {
            j->tasks[i].next = list;
            list = i;
        }
    begin(l, list);
    return lab_job_check(l);
}

int64_t lab_job_check(const lab *l) { return l->jobs && l->jobs->failed ? LAB_ERR_MEMORY : 0; }

int64_t lab_job_times(const lab *l, uint32_t number, lab_task_times *out)
{
    if (!l->jobs || number >= l->jobs->n_tasks)
        return LAB_ERR_NODE;
    *out = l->jobs->tasks[number].times;
    return 0;
}

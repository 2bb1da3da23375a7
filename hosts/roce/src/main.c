#include "roles.h"

#include <sys/prctl.h>

volatile sig_atomic_t stop_requested;
volatile sig_atomic_t finish_requested;

static void request(int number)
{
    if (number == SIGUSR1)
        finish_requested = 1;
    else
        stop_requested = 1;
}

int main(int argc, char **argv)
{
    struct options options;
    struct sigaction action = {.sa_handler = request};

    if (!options_parse(argc, argv, &options))
        return 2;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    /* The default timer slack of 50 us is as long as DCQCN's timers. */
    prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
    int status = options.sender ? run_sender(&options) : run_receiver(&options);
    if (fclose(options.log) != 0) {
        perror("fcn-roce: log");
        return 1;
    }
    return status;
}

/* Functional mock-up unit of model exchange, FMI 2.0, around the functions of one tree.

   Values stand in one row: states q and qd, their accelerations, inputs, outputs, parameters. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "@NAME@.h"

#define N @STATES@            /* coordinates */
#define INPUTS @INPUTS@
#define OUTPUTS @OUTPUTS@
#define PARAMETERS @PARAMETERS@
#define RATES N               /* where each kind of value begins */
#define ACCELERATIONS (2 * N)
#define TORQUES (3 * N)
#define PLACES (TORQUES + INPUTS)
#define NUMBERS (PLACES + OUTPUTS)
#define VALUES (NUMBERS + PARAMETERS)

#if defined _WIN32
#define EXPORT __declspec(dllexport)
#elif defined __GNUC__
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

typedef enum { OK, WARNING, DISCARD, ERROR, FATAL, PENDING } Status;
typedef struct {
    void (*logger)(void *, const char *, Status, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*stepFinished)(void *, Status);
    void *environment;
} Callbacks;
typedef struct {
    int discreteStatesNeeded, terminate, nominalsChanged, statesChanged, nextEventDefined;
    double nextEvent;
} EventInfo;
typedef struct {
    double values[VALUES];
    int stale;
} Model;

static const char TOKEN[] = "@TOKEN@";
static const unsigned DRIVEN[] = {@DRIVEN@};  /* coordinates of the inputs */
static const double START[] = {@START@};

static void spread(const double *inputs, double *all) {
    memset(all, 0, N * sizeof *all);
    for (int k = 0; k < INPUTS; k++) {
        all[DRIVEN[k]] = inputs[k];
    }
}

static Status evaluate(Model *model) {
    double torques[N], *at = model->values;
    if (!model->stale) {
        return OK;
    }
    spread(at + TORQUES, torques);
    @NAME@_rates(at, at + RATES, torques, at + NUMBERS, at + ACCELERATIONS, at + PLACES);
    for (int k = ACCELERATIONS; k < TORQUES; k++) {
        if (!isfinite(at[k])) {
            return DISCARD;
        }
    }
    model->stale = 0;
    return OK;
}

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }

EXPORT const char *fmi2GetVersion(void) { return "2.0"; }

EXPORT Status fmi2SetDebugLogging(void *at, int on, size_t count, const char *const kinds[]) {
    (void)at, (void)on, (void)count, (void)kinds;
    return OK;
}

EXPORT Status fmi2Reset(void *at) {
    Model *model = at;
    memset(model->values, 0, sizeof model->values);
    memcpy(model->values, START, 2 * N * sizeof *START);
    memcpy(model->values + NUMBERS, START + 2 * N, PARAMETERS * sizeof *START);
    model->stale = 1;
    return OK;
}

EXPORT void *fmi2Instantiate(const char *name, int kind, const char *token, const char *resources,
                             const Callbacks *callbacks, int visible, int logging) {
    Model *model;
    (void)name, (void)resources, (void)callbacks, (void)visible, (void)logging;
    if (kind != 0 || token == NULL || strcmp(token, TOKEN) != 0) {
        return NULL;  /* model exchange alone, of this description alone */
    }
    model = malloc(sizeof *model);
    if (model != NULL) {
        fmi2Reset(model);
    }
    return model;
}

EXPORT void fmi2FreeInstance(void *at) { free(at); }

EXPORT Status fmi2SetupExperiment(void *at, int toleranced, double tolerance, double start,
                                  int ending, double stop) {
    (void)at, (void)toleranced, (void)tolerance, (void)start, (void)ending, (void)stop;
    return OK;
}

EXPORT Status fmi2GetReal(void *at, const unsigned which[], size_t count, double values[]) {
    Model *model = at;
    Status status = OK;
    for (size_t k = 0; k < count; k++) {
        if (which[k] >= VALUES) {
            return ERROR;
        }
        if (which[k] >= ACCELERATIONS && (which[k] < TORQUES || which[k] >= PLACES)) {
            status = evaluate(model);
        }
        values[k] = model->values[which[k]];
    }
    return status;
}

EXPORT Status fmi2SetReal(void *at, const unsigned which[], size_t count, const double values[]) {
    Model *model = at;
    for (size_t k = 0; k < count; k++) {
        const unsigned place = which[k];
        const int given = place < ACCELERATIONS || (place >= TORQUES && place < PLACES)
                          || (place >= NUMBERS && place < VALUES);
        if (!given) {
            return ERROR;
        }
        model->values[place] = values[k];
        model->stale = 1;
    }
    return OK;
}

EXPORT Status fmi2SetTime(void *at, double time) {
    (void)at, (void)time;
    return OK;
}

EXPORT Status fmi2SetContinuousStates(void *at, const double states[], size_t count) {
    Model *model = at;
    if (count != 2 * N) {
        return ERROR;
    }
    memcpy(model->values, states, 2 * N * sizeof *states);
    model->stale = 1;
    return OK;
}

EXPORT Status fmi2GetContinuousStates(void *at, double states[], size_t count) {
    const Model *model = at;
    if (count != 2 * N) {
        return ERROR;
    }
    memcpy(states, model->values, 2 * N * sizeof *states);
    return OK;
}

EXPORT Status fmi2GetDerivatives(void *at, double rates[], size_t count) {
    Model *model = at;
    const Status status = count == 2 * N ? evaluate(model) : ERROR;
    if (status == OK) {
        memcpy(rates, model->values + RATES, 2 * N * sizeof *rates);
    }
    return status;
}

EXPORT Status fmi2GetNominalsOfContinuousStates(void *at, double nominals[], size_t count) {
    (void)at;
    for (size_t k = 0; k < count; k++) {
        nominals[k] = 1.0;
    }
    return OK;
}

EXPORT Status fmi2GetDirectionalDerivative(void *at, const unsigned of[], size_t results,
                                           const unsigned by[], size_t causes,
                                           const double way[], double slopes[]) {
    Model *model = at;
    double along[VALUES], torques[N], turned[N];
    const double *now = model->values;
    memset(along, 0, sizeof along);
    for (size_t k = 0; k < causes; k++) {
        if (by[k] >= VALUES) {
            return ERROR;
        }
        along[by[k]] = way[k];
    }
    spread(now + TORQUES, torques);
    spread(along + TORQUES, turned);
    @NAME@_rates_along(now, now + RATES, torques, now + NUMBERS, along, along + RATES, turned,
                       along + NUMBERS, along + ACCELERATIONS, along + PLACES);
    for (size_t k = 0; k < results; k++) {
        if (of[k] >= VALUES) {
            return ERROR;
        }
        slopes[k] = along[of[k]];
    }
    return OK;
}

EXPORT Status fmi2NewDiscreteStates(void *at, EventInfo *info) {
    (void)at;
    memset(info, 0, sizeof *info);
    return OK;
}

EXPORT Status fmi2CompletedIntegratorStep(void *at, int kept, int *events, int *end) {
    (void)at, (void)kept;
    *events = 0, *end = 0;
    return OK;
}

EXPORT Status fmi2GetEventIndicators(void *at, double indicators[], size_t count) {
    (void)at, (void)indicators;
    return count == 0 ? OK : ERROR;
}

EXPORT Status fmi2GetFMUstate(void *at, void **kept) {
    if (*kept == NULL && (*kept = malloc(sizeof(Model))) == NULL) {
        return ERROR;
    }
    memcpy(*kept, at, sizeof(Model));
    return OK;
}

EXPORT Status fmi2SetFMUstate(void *at, void *kept) {
    memcpy(at, kept, sizeof(Model));
    return OK;
}

EXPORT Status fmi2FreeFMUstate(void *at, void **kept) {
    (void)at;
    free(*kept);
    *kept = NULL;
    return OK;
}

EXPORT Status fmi2SerializedFMUstateSize(void *at, void *kept, size_t *size) {
    (void)at, (void)kept;
    *size = sizeof(Model);
    return OK;
}

EXPORT Status fmi2SerializeFMUstate(void *at, void *kept, char bytes[], size_t size) {
    (void)at;
    if (size < sizeof(Model)) {
        return ERROR;
    }
    memcpy(bytes, kept, sizeof(Model));
    return OK;
}

EXPORT Status fmi2DeSerializeFMUstate(void *at, const char bytes[], size_t size, void **kept) {
    (void)at;
    if (size != sizeof(Model) || (*kept == NULL && (*kept = malloc(sizeof(Model))) == NULL)) {
        return ERROR;
    }
    memcpy(*kept, bytes, size);
    return OK;
}

/* Modes: there is nothing to do between them. */
#define MODE(name) \
    EXPORT Status name(void *at) { (void)at; return OK; }
MODE(fmi2EnterInitializationMode)
MODE(fmi2ExitInitializationMode)
MODE(fmi2EnterEventMode)
MODE(fmi2EnterContinuousTimeMode)
MODE(fmi2Terminate)

/* There are no values of other types. */
#define NONE(name, type) \
    EXPORT Status name(void *at, const unsigned which[], size_t count, type values[]) { \
        (void)at, (void)which, (void)values; \
        return count == 0 ? OK : ERROR; \
    }
NONE(fmi2GetInteger, int)
NONE(fmi2SetInteger, const int)
NONE(fmi2GetBoolean, int)
NONE(fmi2SetBoolean, const int)
NONE(fmi2GetString, const char *)
NONE(fmi2SetString, const char *const)

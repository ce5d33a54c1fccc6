/* What every launcher has: the explanation of this thread's last failure, and loading once. */

static _Thread_local char text[1024];
static _Thread_local int32_t text_status;

static int32_t device_load(int32_t device);
static void device_unload(void);
static void explain_driver(int32_t code);

static void say(const char *format, long long value) { snprintf(text, sizeof text, format, value); }

static int32_t refuse(int32_t status, const char *format, long long value) {
    say(format, value);
    text_status = status;
    return status;
}

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int32_t loaded_device = -1;

static int32_t load_once(int32_t device) {
    int32_t status = 0;
    pthread_mutex_lock(&load_lock);
    if (device < 0) {
        status = refuse(STATUS_BAD_ARGUMENT, "there is no device %lld", device);
    } else if (loaded_device < 0) {
        status = device_load(device);
        if (status == 0)
            loaded_device = device;
    } else if (loaded_device != device) {
        status = refuse(STATUS_BAD_ARGUMENT, "the code is loaded on device %lld already; unload it first", loaded_device);
    }
    pthread_mutex_unlock(&load_lock);
    return status;
}

static void unload_once(void) {
    pthread_mutex_lock(&load_lock);
    if (loaded_device >= 0) {
        loaded_device = -1;
        device_unload();
    }
    pthread_mutex_unlock(&load_lock);
}

/* The place of a failed launch, or the function when the launch is not known. */
static const char *place_of(const int64_t *report) {
    return report != NULL && report[6] < (int64_t)SITES ? sites[report[6]].place : FUNCTION;
}

/* What the place of a launch is about, such as a tensor; a # with a digit is a number of the report. */
static inline const char *message_of(char *buffer, size_t size, const int64_t *report) {
    if (report == NULL || report[6] >= (int64_t)SITES)
        return "a tensor";
    size_t at = 0;
    for (const char *from = sites[report[6]].message; *from != 0 && at + 24 < size; from++) {
        if (from[0] == '#' && from[1] >= '0' && from[1] < '6')
            at += (size_t)snprintf(buffer + at, size - at, "%lld", (long long)report[*++from - '0']);
        else
            buffer[at++] = *from;
    }
    buffer[at] = 0;
    return buffer;
}

static inline const char *help_of(const int64_t *report) {
    return report != NULL && report[6] < (int64_t)SITES ? sites[report[6]].help : "";
}

static inline long long number_of(const int64_t *report, int index) {
    return report != NULL ? (long long)report[index] : 0;
}

/* Three extents of a launch; empty when it is not known. */
static const char *extents(char *buffer, size_t size, const int64_t *three) {
    buffer[0] = 0;
    if (three != NULL)
        snprintf(buffer, size, "(%lld, %lld, %lld)", (long long)three[0], (long long)three[1], (long long)three[2]);
    return buffer;
}

static void explain_site(int64_t index) {
    const char *help = sites[index].help;
    snprintf(text, sizeof text, "%s: %s%s%s", sites[index].place, sites[index].message, *help ? "; " : "", help);
}

static void explain_driver_at(int32_t code, const int64_t *report) {
    char before[sizeof text];
    explain_driver(code);
    memcpy(before, text, sizeof before);
    snprintf(text, sizeof text, "%.100s: %.900s", place_of(report), before);
}

// SPDX-License-Identifier: Apache-2.0
#include "collector/document/time.h"

#define NS_PER_US  1000LL
#define HOUR_NS    (3600 * WF_NS_PER_S)
#define DAY_NS     (24 * HOUR_NS)
#define HOUR_MS    3600000LL
#define WRAP_MS    (1LL << 32)
#define HALF_WRAP  (1LL << 31)
#define BIT(input) (1U << (input))
/* All inputs from first to last. */
#define RANGE(first, last) ((BIT((last) + 1) - 1) & ~(BIT(first) - 1))

static const struct {
    const char *name;
    uint16_t element;
} inputs[TIME_N_SOURCES] = {
    [TIME_START_NANOSECONDS] = {"flow_start_nanoseconds", 156},
    [TIME_START_MICROSECONDS] = {"flow_start_microseconds", 154},
    [TIME_START_MILLISECONDS] = {"flow_start_milliseconds", 152},
    [TIME_START_DELTA] = {"flow_start_delta_microseconds", 158},
    [TIME_START_UPTIME] = {"flow_start_sys_up_time", 22},
    [TIME_START_SECONDS] = {"flow_start_seconds", 150},
    [TIME_END_NANOSECONDS] = {"flow_end_nanoseconds", 157},
    [TIME_END_MICROSECONDS] = {"flow_end_microseconds", 155},
    [TIME_END_MILLISECONDS] = {"flow_end_milliseconds", 153},
    [TIME_END_DELTA] = {"flow_end_delta_microseconds", 159},
    [TIME_END_UPTIME] = {"flow_end_sys_up_time", 21},
    [TIME_END_SECONDS] = {"flow_end_seconds", 151},
    [TIME_OBSERVED_NANOSECONDS] = {"observation_time_nanoseconds", 325},
    [TIME_OBSERVED_MICROSECONDS] = {"observation_time_microseconds", 324},
    [TIME_OBSERVED_MILLISECONDS] = {"observation_time_milliseconds", 323},
    [TIME_OBSERVED_SECONDS] = {"observation_time_seconds", 322},
    [TIME_COLLECTED] = {"collection_time_milliseconds", 258},
    [TIME_DURATION_MICROSECONDS] = {"flow_duration_microseconds", 162},
    [TIME_DURATION_MILLISECONDS] = {"flow_duration_milliseconds", 161},
    [TIME_BOOT] = {"system_init_time_milliseconds", 160},
    [TIME_EXPORT] = {"export_time", 0},
    [TIME_RECEIVED] = {"receive_time", 0},
};

const char *time_source_name(enum time_input source)
{
    return inputs[source].name;
}

uint16_t time_input_element(enum time_input input)
{
    return inputs[input].element;
}

static bool has(const struct time_record *r, enum time_input input)
{
    return r->present & BIT(input);
}

/* base + count * unit_ns, false when that leaves the years 1677..2262. */
static bool add_units(int64_t base, int64_t count, int64_t unit_ns, int64_t *ns)
{
    int64_t step;
    int64_t sum;
    if (__builtin_mul_overflow(count, unit_ns, &step) || __builtin_add_overflow(base, step, &sum)) {
        return false;
    }
    *ns = sum;
    return true;
}

/* header: 32 bits of uptime when the export time was taken. */
static bool uptime_before_export(const struct time_record *r, int64_t uptime, int64_t *ns)
{
    if (uptime < 0 || uptime >= WRAP_MS) {
        return false;
    }
    int64_t age = r->uptime_ms - uptime;
    if (age < -HALF_WRAP) {
        age += WRAP_MS; /* the header's uptime has wrapped since */
    }
    if (age > WRAP_MS - HOUR_MS) {
        age -= WRAP_MS; /* a little ahead of the header, and of the wrap */
    }
    if (age < -HOUR_MS) {
        return false;
    }
    return add_units(r->export_ns, -age, WF_NS_PER_MS, ns);
}

static bool uptime_after_boot(const struct time_record *r, int64_t uptime, int64_t *ns)
{
    int64_t at;
    int64_t behind;
    if (uptime < 0 || !add_units(r->value[TIME_BOOT], uptime, WF_NS_PER_MS, &at) ||
        __builtin_sub_overflow(r->export_ns + HOUR_NS, at, &behind)) {
        return false;
    }
    if (uptime < WRAP_MS && behind >= WRAP_MS * WF_NS_PER_MS) {
        int64_t wraps = behind / (WRAP_MS * WF_NS_PER_MS);
        return add_units(at, wraps, WRAP_MS * WF_NS_PER_MS, ns);
    }
    *ns = at;
    return true;
}

static bool absolute(const struct time_record *r, enum time_input input, int64_t *ns)
{
    int64_t value = r->value[input];
    if (input == TIME_START_DELTA || input == TIME_END_DELTA) {
        return value >= 0 && add_units(r->export_ns, -value, NS_PER_US, ns);
    }
    if (input == TIME_START_UPTIME || input == TIME_END_UPTIME) {
        if (r->has_uptime) {
            return uptime_before_export(r, value, ns);
        }
        return has(r, TIME_BOOT) && r->value[TIME_BOOT] != 0 && uptime_after_boot(r, value, ns);
    }
    *ns = value;
    return value != 0;
}

/* The first input of the range that tells a time; false when none does. */
static bool first_of(const struct time_record *r, uint32_t range, int64_t *ns,
                     enum time_input *source)
{
    for (uint32_t left = r->present & range; left; left &= left - 1) {
        enum time_input input = (enum time_input)__builtin_ctz(left);
        if (absolute(r, input, ns)) {
            *source = input;
            return true;
        }
    }
    return false;
}

static bool stated_duration(const struct time_record *r, int64_t *ns, enum time_input *input)
{
    for (enum time_input i = TIME_DURATION_MICROSECONDS; i <= TIME_DURATION_MILLISECONDS; i++) {
        int64_t unit = i == TIME_DURATION_MICROSECONDS ? NS_PER_US : WF_NS_PER_MS;
        if (has(r, i) && r->value[i] >= 0 && add_units(0, r->value[i], unit, ns)) {
            *input = i;
            return true;
        }
    }
    return false;
}

/* The difference of two uptimes, which needs no anchor. */
static bool uptime_duration(const struct time_record *r, int64_t *ns)
{
    if (!has(r, TIME_START_UPTIME) || !has(r, TIME_END_UPTIME)) {
        return false;
    }
    uint32_t ms = (uint32_t)r->value[TIME_END_UPTIME] - (uint32_t)r->value[TIME_START_UPTIME];
    *ns = (int64_t)ms * WF_NS_PER_MS;
    return ms < HALF_WRAP;
}

static void settle_duration(const struct time_record *r, bool end_collected, bool stated,
                            int64_t stated_ns, struct time_result *t)
{
    int64_t ns;
    bool both = t->has_start && t->has_end;
    t->has_duration = true;
    if (both && !end_collected && !__builtin_sub_overflow(t->end_ns, t->start_ns, &ns) && ns >= 0) {
        t->duration_ns = ns;
        return;
    }
    t->duration_ns = stated_ns;
    if (!stated) {
        t->has_duration = !both && uptime_duration(r, &t->duration_ns);
    }
}

static void settle_timestamp(const struct time_record *r, enum time_input end_source,
                             struct time_result *t)
{
    t->timestamp_ns = r->export_ns;
    t->source = TIME_EXPORT;
    if (t->has_end && t->end_ns >= r->export_ns - DAY_NS && t->end_ns <= r->export_ns + HOUR_NS) {
        t->timestamp_ns = t->end_ns;
        t->source = end_source;
    }
    if (r->live &&
        (r->export_ns < r->received_ns - DAY_NS || r->export_ns > r->received_ns + DAY_NS)) {
        t->timestamp_ns = r->received_ns;
        t->source = TIME_RECEIVED;
    }
}

void time_resolve(const struct time_record *record, struct time_result *result)
{
    struct time_result t = {0};
    enum time_input source = TIME_EXPORT;
    enum time_input end_source = TIME_EXPORT;
    enum time_input duration_source = TIME_EXPORT;
    int64_t stated_ns = 0;

    t.has_start =
        first_of(record, RANGE(TIME_START_NANOSECONDS, TIME_START_SECONDS), &t.start_ns, &source);
    t.has_end =
        first_of(record, RANGE(TIME_END_NANOSECONDS, TIME_END_SECONDS), &t.end_ns, &end_source);
    bool stated = stated_duration(record, &stated_ns, &duration_source);
    if (!t.has_end && t.has_start && stated) {
        t.has_end = add_units(t.start_ns, stated_ns, 1, &t.end_ns);
        end_source = duration_source;
    }
    if (!t.has_end) {
        t.has_end = first_of(record, RANGE(TIME_OBSERVED_NANOSECONDS, TIME_COLLECTED), &t.end_ns,
                             &end_source);
    }
    if (!t.has_start && t.has_end && stated && end_source != TIME_COLLECTED) {
        t.has_start = add_units(t.end_ns, -stated_ns, 1, &t.start_ns);
    }
    settle_duration(record, end_source == TIME_COLLECTED, stated, stated_ns, &t);
    settle_timestamp(record, end_source, &t);
    *result = t;
}

// SPDX-License-Identifier: Apache-2.0
#include "collector/document/ecs.h"

static bool is_date(enum ecs_value value)
{
    return value >= ECS_SECONDS && value <= ECS_NANOSECONDS;
}

/* The value of one time element in the unit that time.h asks for. */
static void add_time(struct ecs_record *record, enum time_input input, struct time_record *times)
{
    static const enum ecs_value kinds[] = {ECS_SECONDS, ECS_MILLISECONDS, ECS_MICROSECONDS,
                                           ECS_NANOSECONDS};
    enum mapping_role role = ROLE_TIME + input;
    uint64_t number;
    if (ecs_role_unsigned(record, role, &number)) {
        time_record_set(times, input, number > INT64_MAX ? INT64_MAX : (int64_t)number);
        return;
    }
    enum ecs_value value = (enum ecs_value)record->plan->role[role].value;
    if (value != ECS_VARIES && !is_date(value)) {
        return;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        int64_t ns;
        const uint8_t *octets = ecs_role_octets(record, role, kinds[i], NULL);
        if (octets && ecs_date(record, kinds[i], octets, &ns)) {
            time_record_set(times, input, ns);
        }
    }
}

void ecs_times(struct ecs_record *record, const struct decoder_message *message, bool live,
               struct time_result *times)
{
    struct time_record r;
    r.present = 0;
    r.has_uptime = message->has_uptime;
    r.uptime_ms = message->uptime_ms;
    r.export_ns = message->export_ns;
    r.live = live;
    r.received_ns = message->received_ns;
    for (size_t i = 0; i < record->plan->n_times; i++) {
        add_time(record, (enum time_input)record->plan->time[i], &r);
    }
    time_resolve(&r, times);
}

// latency BROKERS INPUT REPORTS PARTITIONS FILE RATE WARM_UP SECONDS
//
// Sends the events of an NDJSON file to topic INPUT at RATE a second, with markers among them, for WARM_UP and then SECONDS seconds, and reads topic
// REPORTS beside that, committed records only. A marker is a push Send of a campaign of its own, so its three rows (by message and day, by
// campaign and day, by campaign) are there once the event has gone all the way. Prints for each marker after the warm-up, in
// milliseconds: from the call that sends it to the last of its rows having arrived here; one a line. Both are times of this process.
//
// In C, on librdkafka, which Tidemark needs anyway: no client for scripts has to be installed.
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PREFIX "latency-marker-"
#define ROWS_OF_A_MARKER 3
#define MARKERS_A_SECOND 20
#define MOST_MARKERS 1000000
#define PATIENCE_SECONDS 60

struct marker {
    double sent;
    double seen;
    int rows;
};

static struct marker *markers;
static atomic_int marker_count;
static atomic_int markers_open;
static atomic_int is_over;
static atomic_int failures;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void wait_until(double time) {
    double seconds = time - now();
    if (seconds <= 0) return;
    struct timespec rest = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
    nanosleep(&rest, NULL);
}

static void fail(const char *format, ...) {
    va_list values;
    va_start(values, format);
    fprintf(stderr, "latency: ");
    vfprintf(stderr, format, values);
    fprintf(stderr, "\n");
    va_end(values);
    exit(1);
}

static void delivered(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque) {
    (void)producer;
    (void)opaque;
    if (message->err) atomic_fetch_add(&failures, 1);
}

static rd_kafka_t *client(rd_kafka_type_t type, const char *brokers, const char *settings[][2]) {
    char error[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    if (rd_kafka_conf_set(conf, "bootstrap.servers", brokers, error, sizeof error)) fail("%s", error);
    for (; (*settings)[0]; settings++)
        if (rd_kafka_conf_set(conf, (*settings)[0], (*settings)[1], error, sizeof error)) fail("%s", error);
    if (type == RD_KAFKA_PRODUCER) rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    rd_kafka_t *handle = rd_kafka_new(type, conf, error, sizeof error);
    if (!handle) fail("%s", error);
    return handle;
}

// MARK: Rows

static void take_row(const rd_kafka_message_t *message) {
    double time = now();
    char key[512];
    size_t length = message->key_len < sizeof key ? message->key_len : sizeof key - 1;
    memcpy(key, message->key, length);
    key[length] = 0;
    const char *found = strstr(key, PREFIX);
    if (!found || !message->payload) return;
    int number = atoi(found + strlen(PREFIX));
    if (number < 0 || number >= atomic_load(&marker_count)) fail("a row of a marker that was not sent: %s", key);
    struct marker *marker = &markers[number];
    if (marker->rows == ROWS_OF_A_MARKER) fail("a fourth row of a marker: %s", key);
    marker->rows++;
    marker->seen = time;
    if (marker->rows == ROWS_OF_A_MARKER) atomic_fetch_sub(&markers_open, 1);
}

static void *read_rows(void *argument) {
    rd_kafka_t *consumer = argument;
    while (!atomic_load(&is_over)) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, 100);
        if (!message) continue;
        if (!message->err) take_row(message);
        rd_kafka_message_destroy(message);
    }
    return NULL;
}

static rd_kafka_t *start_reading(const char *brokers, const char *topic, int partitions) {
    const char *settings[][2] = {
        {"group.id", "tidemark-latency"}, {"enable.auto.commit", "false"}, {"isolation.level", "read_committed"}, {NULL, NULL}};
    rd_kafka_t *consumer = client(RD_KAFKA_CONSUMER, brokers, settings);
    rd_kafka_poll_set_consumer(consumer);
    rd_kafka_topic_partition_list_t *places = rd_kafka_topic_partition_list_new(partitions);
    for (int partition = 0; partition < partitions; partition++)
        rd_kafka_topic_partition_list_add(places, topic, partition)->offset = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_resp_err_t error = rd_kafka_assign(consumer, places);
    if (error) fail("%s", rd_kafka_err2str(error));
    rd_kafka_topic_partition_list_destroy(places);
    return consumer;
}

// MARK: Events

static void send_record(rd_kafka_t *producer, const char *topic, const char *key, size_t key_length, char *value, size_t length) {
    while (1) {
        rd_kafka_resp_err_t error = rd_kafka_producev(
            producer, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_KEY(key, key_length), RD_KAFKA_V_VALUE(value, length),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
        if (!error) return;
        if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL) fail("%s", rd_kafka_err2str(error));
        rd_kafka_poll(producer, 10);
    }
}

// The time is that of the event before: a marker is neither late nor ahead.
static void send_marker(rd_kafka_t *producer, const char *topic, const char *time) {
    int number = atomic_load(&marker_count);
    if (number == MOST_MARKERS) fail("more than %d markers", MOST_MARKERS);
    char id[64], value[1024];
    int id_length = snprintf(id, sizeof id, PREFIX "%07d", number);
    int length = snprintf(
        value, sizeof value,
        "{\"event_type\":\"users.messages.pushnotification.Send\",\"id\":\"%s\",\"user_id\":\"%s\",\"time\":%.*s,"
        "\"campaign_id\":\"%s\",\"message_variation_id\":\"%s\",\"dispatch_id\":\"%s\",\"app_id\":\"a\",\"device_id\":\"%s\","
        "\"platform\":\"ios\"}",
        id, id, (int)strspn(time, "0123456789"), time, id, id, id, id);
    markers[number].sent = now();
    atomic_fetch_add(&markers_open, 1);
    atomic_store(&marker_count, number + 1);
    send_record(producer, topic, id, id_length, value, length);
}

static const char *field(const char *line, const char *name) {
    const char *found = strstr(line, name);
    if (!found) fail("no %s in: %s", name, line);
    return found + strlen(name);
}

static void feed(rd_kafka_t *producer, const char *topic, FILE *file, double rate, double seconds) {
    char *line = NULL;
    size_t room = 0;
    long sent = 0, next_marker = 0, events = (long)(rate * seconds);
    double start = now(), last_send = start;
    uint32_t random = 1;
    for (; sent < events; sent++) {
        ssize_t length = getline(&line, &room, file);
        if (length <= 0) fail("the file has %ld events, %ld are needed", sent, events);
        // Short waits add up until they are worth a call.
        double due = start + sent / rate;
        if (due - now() > 0.001) wait_until(due);
        const char *user = field(line, "\"user_id\":\"");
        send_record(producer, topic, user, strcspn(user, "\""), line, length - 1);
        if (sent >= next_marker) {
            send_marker(producer, topic, field(line, "\"time\":"));
            // Gaps are random, or else markers could keep step with the commits.
            random = random * 1664525 + 1013904223;
            next_marker = sent + 1 + (long)(2 * rate / MARKERS_A_SECOND * (random >> 8) / (1 << 24));
        }
        if (sent % 64 == 0) rd_kafka_poll(producer, 0);
        last_send = now();
    }
    fprintf(stderr, "sent=%ld seconds=%.3f\n", sent, last_send - start);
    free(line);
}

int main(int count, char **arguments) {
    if (count != 9) {
        fprintf(stderr, "usage: latency BROKERS INPUT REPORTS PARTITIONS FILE RATE WARM_UP SECONDS\n");
        return 2;
    }
    const char *brokers = arguments[1], *input = arguments[2];
    double rate = atof(arguments[6]), warm_up = atof(arguments[7]), seconds = atof(arguments[8]);
    FILE *file = fopen(arguments[5], "r");
    if (!file) fail("cannot read %s", arguments[5]);
    markers = calloc(MOST_MARKERS, sizeof *markers);

    rd_kafka_t *consumer = start_reading(brokers, arguments[3], atoi(arguments[4]));
    pthread_t reader;
    pthread_create(&reader, NULL, read_rows, consumer);
    const char *settings[][2] = {{"compression.type", "lz4"}, {"partitioner", "murmur2_random"}, {NULL, NULL}};
    rd_kafka_t *producer = client(RD_KAFKA_PRODUCER, brokers, settings);

    double start = now();
    feed(producer, input, file, rate, warm_up + seconds);
    if (rd_kafka_flush(producer, 30000) || atomic_load(&failures)) fail("%d events were not delivered", atomic_load(&failures));
    for (double end = now() + PATIENCE_SECONDS; atomic_load(&markers_open) && now() < end;) wait_until(now() + 0.05);
    atomic_store(&is_over, 1);
    pthread_join(reader, NULL);
    if (atomic_load(&markers_open)) fail("rows of %d markers did not come", atomic_load(&markers_open));
    for (int number = 0; number < atomic_load(&marker_count); number++)
        if (markers[number].sent >= start + warm_up) printf("%.3f\n", (markers[number].seen - markers[number].sent) * 1e3);
    rd_kafka_consumer_close(consumer);
    rd_kafka_destroy(consumer);
    rd_kafka_destroy(producer);
    return 0;
}

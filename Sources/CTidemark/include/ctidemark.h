#pragma once
// C interface to what Swift cannot import: extraction of known fields from JSON events with simdjson, a call of the
// allocator, and one to the processor. Nothing here throws, and nothing here knows what the fields mean.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One parser with its buffers; use it from one thread at a time.
typedef struct tidemark_json tidemark_json;

/// What a JSON value is; bits, so that sets of them can be tested at once.
enum {
    TIDEMARK_JSON_ABSENT = 0,
    TIDEMARK_JSON_NULL = 1,
    TIDEMARK_JSON_STRING = 2,
    TIDEMARK_JSON_INTEGER = 4,
    TIDEMARK_JSON_DOUBLE = 8,
    TIDEMARK_JSON_BOOL = 16,
    TIDEMARK_JSON_OBJECT = 32,
    TIDEMARK_JSON_ARRAY = 64,
    /// The empty string, which many a reader takes for null.
    TIDEMARK_JSON_EMPTY = 128,
};

/// The known fields, in the order of `tidemark_json_fields.slots`.
enum {
    TIDEMARK_FIELD_ID,
    TIDEMARK_FIELD_USER_ID,
    TIDEMARK_FIELD_TIME,
    TIDEMARK_FIELD_SESSION_ID,
    TIDEMARK_FIELD_EXTERNAL_USER_ID,
    TIDEMARK_FIELD_APP_ID,
    TIDEMARK_FIELD_DEVICE_ID,
    TIDEMARK_FIELD_DISPATCH_ID,
    TIDEMARK_FIELD_PLATFORM,
    TIDEMARK_FIELD_BUTTON_ACTION_TYPE,
    TIDEMARK_FIELD_BUTTON_STRING,
    TIDEMARK_FIELD_BUTTON_ID,
    TIDEMARK_FIELD_CONVERSION_BEHAVIOR_INDEX,
    TIDEMARK_FIELD_IN_CONTROL_GROUP,
    TIDEMARK_FIELD_CAMPAIGN_ID,
    TIDEMARK_FIELD_MESSAGE_VARIATION_ID,
    TIDEMARK_FIELD_CANVAS_ID,
    TIDEMARK_FIELD_CANVAS_VARIATION_ID,
    TIDEMARK_FIELD_CANVAS_STEP_ID,
    TIDEMARK_FIELD_CAMPAIGN_NAME,
    TIDEMARK_FIELD_MESSAGE_VARIATION_NAME,
    TIDEMARK_FIELD_CANVAS_NAME,
    TIDEMARK_FIELD_CANVAS_VARIATION_NAME,
    TIDEMARK_FIELD_CANVAS_STEP_NAME,
    TIDEMARK_FIELD_EVENT_TYPE,
    // The containers of the HTTP shapes; only their kind is meaningful.
    TIDEMARK_FIELD_USER,
    TIDEMARK_FIELD_PROPERTIES,
    TIDEMARK_FIELD_EVENTS,
    TIDEMARK_FIELD_COUNT,
};

/// Room for kinds, rounded up so that they can be tested as words.
#define TIDEMARK_FIELD_ROOM 32

/// The value of one field. A string: its unescaped bytes, in the parser's buffer. An integer (clamped to 64 bits) or
/// a boolean: `start` is null and `count` the number. Anything else: null and 0.
typedef struct {
    const uint8_t *start;
    int64_t count;
} tidemark_json_slot;

/// The known fields of one object; of duplicate keys the last one stands.
typedef struct {
    tidemark_json_slot slots[TIDEMARK_FIELD_ROOM];
    uint8_t kinds[TIDEMARK_FIELD_ROOM];
    /// The union of all kinds that `forbidden` objects to: not zero if some field has a kind it must not have.
    uint8_t objections;
    /// No string among the slots is longer than this.
    uint32_t longest;
} tidemark_json_fields;

/// What a document is at the top.
typedef enum {
    /// A lone event.
    TIDEMARK_JSON_SHAPE_EVENT,
    /// An object with an `events` array and no `event_type`.
    TIDEMARK_JSON_SHAPE_BATCH,
    /// An array at the top.
    TIDEMARK_JSON_SHAPE_LIST,
    /// Something that cannot hold events.
    TIDEMARK_JSON_SHAPE_SCALAR,
} tidemark_json_shape;

/// A parser, or null when memory is short. `forbidden` holds, for each field, the kinds that count as objections.
tidemark_json *tidemark_json_create(const uint8_t forbidden[TIDEMARK_FIELD_ROOM]);
void tidemark_json_destroy(tidemark_json *parser);

/// How many readable bytes must follow a value that is parsed in place.
size_t tidemark_json_padding(void);

/// Parses and validates a whole document; all strings of the document before become invalid.
/// Returns 0, or a code for `tidemark_json_error_text`.
int tidemark_json_parse(tidemark_json *parser, const uint8_t *bytes, size_t count, bool padded);

/// The shape of the parsed document.
tidemark_json_shape tidemark_json_top(const tidemark_json *parser);

/// Moves to the next event. Returns its JSON kind, or `TIDEMARK_JSON_ABSENT` after the last; fields are filled for
/// an object only.
uint8_t tidemark_json_next(tidemark_json *parser);

/// Where the current event of a batch stands in the parsed document: from byte `start` up to byte `end`. Going forward only, all
/// events together cost one pass over the document's structure. `document` is what was parsed, or the bytes of the same length that
/// it was made from. Returns false where there is no batch.
bool tidemark_json_locate(tidemark_json *parser, const uint8_t *document, size_t *start, size_t *end);

/// The fields of the current event. The address is the same for the life of the parser.
const tidemark_json_fields *tidemark_json_current(const tidemark_json *parser);

/// The name of a field as it stands in JSON; static storage.
const char *tidemark_json_field_name(int field);

/// simdjson's words for an error code; static storage.
const char *tidemark_json_error_text(int code);

/// Whether an error code means that a number does not fit into 64 bits, integer or floating point.
bool tidemark_json_is_number_error(int code);

/// Whether an error code says nothing about the document, but that memory is short.
bool tidemark_json_is_memory_error(int code);

/// Whether bytes are text in UTF-8.
bool tidemark_is_utf8(const uint8_t *bytes, size_t count);

/// Has the processor fetch the cache line of an address, so that it is there when it is needed. Any address will do.
static inline void tidemark_prefetch(const void *address) { __builtin_prefetch(address); }

/// Gives memory that was freed, but that the allocator has kept, back to the system, where the allocator has such a call.
void tidemark_give_memory_back(void);

/// Has the allocator keep memory that is freed, where it can be told so: blocks of up to 32 MiB, and 256 MiB at the end of the heap.
void tidemark_keep_freed_memory(void);

#ifdef __cplusplus
}
#endif

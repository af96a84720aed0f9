#define SIMDJSON_EXCEPTIONS 0
#include "ctidemark.h"

#include <simdjson.h>

#include <cstring>
#include <memory>
#include <new>

namespace {

using simdjson::SIMDJSON_PADDING;
using simdjson::internal::tape_type;

constexpr const char *fieldNames[TIDEMARK_FIELD_COUNT] = {
    "id", "user_id", "time", "session_id", "external_user_id", "app_id", "device_id", "dispatch_id", "platform",
    "button_action_type", "button_string", "button_id", "conversion_behavior_index", "in_control_group",
    "campaign_id", "message_variation_id", "canvas_id", "canvas_variation_id", "canvas_step_id", "campaign_name",
    "message_variation_name", "canvas_name", "canvas_variation_name", "canvas_step_name", "event_type", "user",
    "properties", "events",
};

constexpr int noField = -1;
constexpr size_t smallestCapacity = 64 * 1024;
/// A parser that has grown beyond this gives its memory back after a run of small documents.
constexpr size_t largeCapacity = 1024 * 1024;
constexpr unsigned smallDocumentsBeforeShrinking = 1024;

template <size_t N>
inline bool equals(const uint8_t *key, const char (&name)[N]) {
    return std::memcmp(key, name, N - 1) == 0;
}

/// The length decides between at most three candidates, so a key costs one jump and a comparison of constant size.
inline int fieldOf(const uint8_t *key, uint32_t length) {
    switch (length) {
    case 2: return equals(key, "id") ? TIDEMARK_FIELD_ID : noField;
    case 4:
        if (equals(key, "time")) return TIDEMARK_FIELD_TIME;
        return equals(key, "user") ? TIDEMARK_FIELD_USER : noField;
    case 6:
        if (equals(key, "app_id")) return TIDEMARK_FIELD_APP_ID;
        return equals(key, "events") ? TIDEMARK_FIELD_EVENTS : noField;
    case 7: return equals(key, "user_id") ? TIDEMARK_FIELD_USER_ID : noField;
    case 8: return equals(key, "platform") ? TIDEMARK_FIELD_PLATFORM : noField;
    case 9:
        if (equals(key, "device_id")) return TIDEMARK_FIELD_DEVICE_ID;
        if (equals(key, "canvas_id")) return TIDEMARK_FIELD_CANVAS_ID;
        return equals(key, "button_id") ? TIDEMARK_FIELD_BUTTON_ID : noField;
    case 10:
        if (equals(key, "event_type")) return TIDEMARK_FIELD_EVENT_TYPE;
        if (equals(key, "session_id")) return TIDEMARK_FIELD_SESSION_ID;
        return equals(key, "properties") ? TIDEMARK_FIELD_PROPERTIES : noField;
    case 11:
        if (equals(key, "campaign_id")) return TIDEMARK_FIELD_CAMPAIGN_ID;
        if (equals(key, "dispatch_id")) return TIDEMARK_FIELD_DISPATCH_ID;
        return equals(key, "canvas_name") ? TIDEMARK_FIELD_CANVAS_NAME : noField;
    case 13:
        if (equals(key, "campaign_name")) return TIDEMARK_FIELD_CAMPAIGN_NAME;
        return equals(key, "button_string") ? TIDEMARK_FIELD_BUTTON_STRING : noField;
    case 14: return equals(key, "canvas_step_id") ? TIDEMARK_FIELD_CANVAS_STEP_ID : noField;
    case 16:
        if (equals(key, "external_user_id")) return TIDEMARK_FIELD_EXTERNAL_USER_ID;
        if (equals(key, "canvas_step_name")) return TIDEMARK_FIELD_CANVAS_STEP_NAME;
        return equals(key, "in_control_group") ? TIDEMARK_FIELD_IN_CONTROL_GROUP : noField;
    case 18: return equals(key, "button_action_type") ? TIDEMARK_FIELD_BUTTON_ACTION_TYPE : noField;
    case 19: return equals(key, "canvas_variation_id") ? TIDEMARK_FIELD_CANVAS_VARIATION_ID : noField;
    case 20: return equals(key, "message_variation_id") ? TIDEMARK_FIELD_MESSAGE_VARIATION_ID : noField;
    case 21: return equals(key, "canvas_variation_name") ? TIDEMARK_FIELD_CANVAS_VARIATION_NAME : noField;
    case 22: return equals(key, "message_variation_name") ? TIDEMARK_FIELD_MESSAGE_VARIATION_NAME : noField;
    case 25: return equals(key, "conversion_behavior_index") ? TIDEMARK_FIELD_CONVERSION_BEHAVIOR_INDEX : noField;
    default: return noField;
    }
}

/// Whether a key names a branch of an Avro union, as the JSON encoding of Avro wraps every value that is not null.
inline bool isUnionBranch(const uint8_t *key, uint32_t length) {
    switch (length) {
    case 3: return equals(key, "int");
    case 4: return equals(key, "long");
    case 5: return equals(key, "float") || equals(key, "array");
    case 6: return equals(key, "string") || equals(key, "double");
    case 7: return equals(key, "boolean");
    default: return false;
    }
}

/// Reads simdjson's tape directly: the public element API looks every step up again, which costs a third of the time.
///
/// A word is a type in the top byte and a payload below it. Strings: where they stand in the string buffer, length
/// first. Containers: the low 32 bits are one past the closing word. Numbers: the value is the next word.
struct Tape {
    const uint64_t *words;
    const uint8_t *strings;

    tape_type type(size_t at) const { return static_cast<tape_type>(words[at] >> 56); }
    size_t end(size_t at) const { return static_cast<uint32_t>(words[at]) - 1; }

    const uint8_t *string(size_t at, uint32_t &length) const {
        const uint8_t *stored = strings + (words[at] & ((uint64_t(1) << 56) - 1));
        std::memcpy(&length, stored, sizeof length);
        return stored + sizeof length;
    }

    size_t after(size_t at) const {
        switch (type(at)) {
        case tape_type::START_OBJECT:
        case tape_type::START_ARRAY: return end(at) + 1;
        case tape_type::INT64:
        case tape_type::UINT64:
        case tape_type::DOUBLE: return at + 2;
        default: return at + 1;
        }
    }

    uint8_t kind(size_t at) const {
        switch (type(at)) {
        case tape_type::STRING: return TIDEMARK_JSON_STRING;
        case tape_type::NULL_VALUE: return TIDEMARK_JSON_NULL;
        case tape_type::INT64:
        case tape_type::UINT64: return TIDEMARK_JSON_INTEGER;
        case tape_type::DOUBLE: return TIDEMARK_JSON_DOUBLE;
        case tape_type::TRUE_VALUE:
        case tape_type::FALSE_VALUE: return TIDEMARK_JSON_BOOL;
        case tape_type::START_ARRAY: return TIDEMARK_JSON_ARRAY;
        default: return TIDEMARK_JSON_OBJECT;
        }
    }

    /// The value inside an Avro wrapper, or the value itself.
    size_t unwrapped(size_t at) const {
        size_t end = this->end(at);
        if (at + 1 == end) return at;
        uint32_t length;
        const uint8_t *key = string(at + 1, length);
        return isUnionBranch(key, length) && after(at + 2) == end ? at + 2 : at;
    }
};

/// Where the containers of the HTTP shapes stand; 0 where there are none.
struct Containers {
    size_t at[3] = {0, 0, 0};
    size_t eventsMember = 0;
    size_t &operator[](int field) { return at[field - TIDEMARK_FIELD_USER]; }
};

inline bool isSpace(uint8_t byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

inline void clear(tidemark_json_fields &fields) { std::memset(&fields, 0, sizeof fields); }

inline void storeString(const Tape &tape, size_t at, tidemark_json_fields &fields, int field) {
    uint32_t length;
    const uint8_t *start = tape.string(at, length);
    fields.slots[field] = {start, length};
    fields.kinds[field] = length ? TIDEMARK_JSON_STRING : TIDEMARK_JSON_EMPTY;
    if (length > fields.longest) fields.longest = length;
}

/// Everything that is not a bare string.
void storeOther(const Tape &tape, size_t at, tidemark_json_fields &fields, int field) {
    if (tape.type(at) == tape_type::START_OBJECT && field < TIDEMARK_FIELD_USER) at = tape.unwrapped(at);
    if (tape.type(at) == tape_type::STRING) return storeString(tape, at, fields, field);
    tidemark_json_slot &slot = fields.slots[field];
    slot = {nullptr, 0};
    fields.kinds[field] = tape.kind(at);
    switch (tape.type(at)) {
    case tape_type::TRUE_VALUE: slot.count = 1; break;
    case tape_type::INT64: slot.count = static_cast<int64_t>(tape.words[at + 1]); break;
    case tape_type::UINT64: slot.count = INT64_MAX; break;
    default: break;
    }
}

/// Fills `fields` from the object at `object`; notes the containers if asked to.
inline void extract(const Tape &tape, size_t object, tidemark_json_fields &fields, Containers *containers) {
    size_t end = tape.end(object);
    size_t member = 0;
    for (size_t at = object + 1; at < end; member++) {
        uint32_t keyLength;
        const uint8_t *key = tape.string(at, keyLength);
        size_t value = at + 1;
        int field = fieldOf(key, keyLength);
        if (tape.type(value) == tape_type::STRING) {
            at = value + 1;
            if (field != noField) storeString(tape, value, fields, field);
        } else {
            at = tape.after(value);
            if (field == noField) continue;
            storeOther(tape, value, fields, field);
            if (containers && field >= TIDEMARK_FIELD_USER) {
                (*containers)[field] = value;
                if (field == TIDEMARK_FIELD_EVENTS) containers->eventsMember = member;
            }
        }
    }
}

inline bool isVoid(const tidemark_json_fields &fields, int field) {
    uint8_t kind = fields.kinds[field];
    return kind <= TIDEMARK_JSON_NULL || kind == TIDEMARK_JSON_EMPTY;
}

/// Takes from `inner` what `fields` lacks.
void complete(tidemark_json_fields &fields, const tidemark_json_fields &inner) {
    for (int field = 0; field < TIDEMARK_FIELD_EVENT_TYPE; field++) {
        if (isVoid(fields, field) && inner.kinds[field] != TIDEMARK_JSON_ABSENT) {
            fields.slots[field] = inner.slots[field];
            fields.kinds[field] = inner.kinds[field];
        }
    }
    if (inner.longest > fields.longest) fields.longest = inner.longest;
}

}  // namespace

struct tidemark_json {
    simdjson::dom::parser parser;
    std::unique_ptr<uint8_t[]> copy;
    size_t copyCapacity = 0;
    size_t capacity = 0;
    unsigned smallDocuments = 0;

    tidemark_json_shape shape = TIDEMARK_JSON_SHAPE_SCALAR;
    size_t batchMember = 0;
    size_t cursor = 0;
    size_t end = 0;
    bool pending = false;
    /// How many events were handed out, and how far they are located in the document's own bytes.
    size_t handedOut = 0;
    size_t located = 0;
    size_t structural = 0;

    tidemark_json_fields fields;
    tidemark_json_fields inner;
    uint8_t forbidden[TIDEMARK_FIELD_ROOM];

    Tape tape() const { return {parser.doc.tape.get(), parser.doc.string_buf.get()}; }

    /// Room for a document, in powers of two so that slowly growing documents do not reallocate each time.
    bool reserve(size_t count) {
        if (capacity > largeCapacity && count <= smallestCapacity) {
            if (++smallDocuments >= smallDocumentsBeforeShrinking) {
                capacity = 0;
                copy.reset();
                copyCapacity = 0;
            }
        } else {
            smallDocuments = 0;
        }
        if (count <= capacity) return true;
        size_t wanted = smallestCapacity;
        while (wanted < count) wanted *= 2;
        capacity = 0;
        smallDocuments = 0;
        if (parser.doc.allocate(wanted) != simdjson::SUCCESS) return false;
        if (parser.allocate(wanted) != simdjson::SUCCESS) return false;
        capacity = wanted;
        return true;
    }

    const uint8_t *padded(const uint8_t *bytes, size_t count) {
        if (copyCapacity < capacity + SIMDJSON_PADDING) {
            copyCapacity = 0;
            copy.reset(new (std::nothrow) uint8_t[capacity + SIMDJSON_PADDING]);
            if (!copy) return nullptr;
            copyCapacity = capacity + SIMDJSON_PADDING;
        }
        std::memcpy(copy.get(), bytes, count);
        std::memset(copy.get() + count, ' ', SIMDJSON_PADDING);
        return copy.get();
    }

    void fill(const Tape &tape, size_t object, Containers &containers) {
        clear(fields);
        extract(tape, object, fields, &containers);
        // Only an event of the HTTP shape nests its fields; `properties` of any other record is nobody's business.
        if (!isVoid(fields, TIDEMARK_FIELD_EVENT_TYPE)) {
            for (int field : {TIDEMARK_FIELD_USER, TIDEMARK_FIELD_PROPERTIES}) {
                if (fields.kinds[field] != TIDEMARK_JSON_OBJECT) continue;
                clear(inner);
                extract(tape, containers[field], inner, nullptr);
                complete(fields, inner);
            }
        }
        uint8_t objections = 0;
        for (int field = 0; field < TIDEMARK_FIELD_ROOM; field++) objections |= fields.kinds[field] & forbidden[field];
        fields.objections = objections;
    }

    const simdjson::internal::dom_parser_implementation &stage() const { return *parser.implementation; }

    /// The place among the structural characters that follows the value beginning at `place`.
    size_t skipped(const uint8_t *document, size_t place) const {
        const uint32_t *at = stage().structural_indexes.get();
        size_t count = stage().n_structural_indexes;
        size_t depth = 0;
        do {
            uint8_t byte = document[at[place++]];
            // In ASCII the brackets of either kind differ from each other in the same bits.
            if ((byte | 0x20) == '{') depth++;
            else if ((byte | 0x20) == '}') depth--;
        } while (depth > 0 && place < count);
        return place;
    }

    /// The place of the first event of a batch.
    size_t firstElement(const uint8_t *document) const {
        if (shape == TIDEMARK_JSON_SHAPE_LIST) return 1;
        size_t place = 1;
        // Each member: its key, a colon, its value and a comma.
        for (size_t member = 0; member < batchMember; member++) place = skipped(document, place + 2) + 1;
        return place + 3;
    }

    void open() {
        Tape tape = this->tape();
        batchMember = 0;
        handedOut = located = structural = 0;
        pending = false;
        cursor = end = 0;
        switch (tape.type(1)) {
        case tape_type::START_ARRAY:
            shape = TIDEMARK_JSON_SHAPE_LIST;
            cursor = 2;
            end = tape.end(1);
            break;
        case tape_type::START_OBJECT: {
            Containers containers;
            fill(tape, 1, containers);
            if (fields.kinds[TIDEMARK_FIELD_EVENTS] == TIDEMARK_JSON_ARRAY &&
                isVoid(fields, TIDEMARK_FIELD_EVENT_TYPE)) {
                shape = TIDEMARK_JSON_SHAPE_BATCH;
                batchMember = containers.eventsMember;
                size_t events = containers[TIDEMARK_FIELD_EVENTS];
                cursor = events + 1;
                end = tape.end(events);
            } else {
                shape = TIDEMARK_JSON_SHAPE_EVENT;
                pending = true;
            }
            break;
        }
        default: shape = TIDEMARK_JSON_SHAPE_SCALAR;
        }
    }
};

tidemark_json *tidemark_json_create(const uint8_t forbidden[TIDEMARK_FIELD_ROOM]) {
    auto *parser = new (std::nothrow) tidemark_json;
    if (parser) std::memcpy(parser->forbidden, forbidden, TIDEMARK_FIELD_ROOM);
    return parser;
}

void tidemark_json_destroy(tidemark_json *parser) { delete parser; }

size_t tidemark_json_padding(void) { return SIMDJSON_PADDING; }

/// Whether the padding behind a value lies in the same page of memory: it can be read then, whoever it belongs to.
static bool endsInsidePage(const uint8_t *bytes, size_t count) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return false;
#else
    constexpr uintptr_t page = 4096;  // The smallest there is.
    return (reinterpret_cast<uintptr_t>(bytes + count - 1) & (page - 1)) + SIMDJSON_PADDING < page;
#endif
}

int tidemark_json_parse(tidemark_json *parser, const uint8_t *bytes, size_t count, bool padded) {
    parser->pending = false;
    parser->cursor = parser->end = 0;
    parser->shape = TIDEMARK_JSON_SHAPE_SCALAR;
    if (count == 0) return simdjson::EMPTY;
    if (!parser->reserve(count)) return simdjson::MEMALLOC;
    const uint8_t *document = padded || endsInsidePage(bytes, count) ? bytes : parser->padded(bytes, count);
    if (!document) return simdjson::MEMALLOC;
    auto error = parser->parser.parse(document, count, false).error();
    if (error) return error;
    parser->open();
    return simdjson::SUCCESS;
}

tidemark_json_shape tidemark_json_top(const tidemark_json *parser) { return parser->shape; }

uint8_t tidemark_json_next(tidemark_json *parser) {
    if (parser->pending) {
        parser->pending = false;
        return TIDEMARK_JSON_OBJECT;
    }
    if (parser->cursor >= parser->end) return TIDEMARK_JSON_ABSENT;
    Tape tape = parser->tape();
    size_t at = parser->cursor;
    parser->cursor = tape.after(at);
    parser->handedOut++;
    uint8_t kind = tape.kind(at);
    if (kind == TIDEMARK_JSON_OBJECT) {
        Containers containers;
        parser->fill(tape, at, containers);
    }
    return kind;
}

bool tidemark_json_locate(tidemark_json *parser, const uint8_t *document, size_t *start, size_t *end) {
    if (parser->handedOut == 0) return false;
    if (parser->located == 0) {
        parser->structural = parser->firstElement(document);
        parser->located = 1;
    }
    while (parser->located < parser->handedOut) {
        parser->structural = parser->skipped(document, parser->structural) + 1;
        parser->located++;
    }
    const uint32_t *at = parser->stage().structural_indexes.get();
    *start = at[parser->structural];
    // What follows is a comma or the end of the array.
    *end = at[parser->skipped(document, parser->structural)];
    while (*end > *start && isSpace(document[*end - 1])) (*end)--;
    return true;
}

const tidemark_json_fields *tidemark_json_current(const tidemark_json *parser) { return &parser->fields; }

const char *tidemark_json_field_name(int field) {
    return field >= 0 && field < TIDEMARK_FIELD_COUNT ? fieldNames[field] : "";
}

const char *tidemark_json_error_text(int code) {
    return simdjson::error_message(static_cast<simdjson::error_code>(code));
}

bool tidemark_json_is_number_error(int code) {
    return code == simdjson::NUMBER_ERROR || code == simdjson::NUMBER_OUT_OF_RANGE;
}

bool tidemark_json_is_memory_error(int code) { return code == simdjson::MEMALLOC; }

bool tidemark_is_utf8(const uint8_t *bytes, size_t count) {
    return simdjson::validate_utf8(reinterpret_cast<const char *>(bytes), count);
}

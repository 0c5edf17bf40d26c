package inbox

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"unicode/utf8"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/shardmap"
)

// Event is a business event as a consumer recognises it. Take it from what the producer committed, never from what the
// transport added: one event comes with many message IDs, receipt handles and sequence numbers.
type Event struct {
	// ID is the business event's ID, the same in every delivery. Required.
	ID string
	// Type names the fact, for example "OrderAccepted". It is content. Optional.
	Type string
	// Source and SourceVersion say whose fact it is, for example the aggregate and its version. They are content, and are
	// stored for people. Optional; SourceVersion is not negative.
	Source        string
	SourceVersion int64
	// Payload is the event's content. Its bytes are compared, so if a transport may write a document anew, give its
	// canonical form. It is not stored.
	Payload []byte
	// MapVersion is the version of the shard map that places the receipt, one of [Config.Maps]. Zero is the first of
	// them. Whoever chooses must choose the same for every delivery, by the event's own immutable time for example; a
	// different choice is found too, as long as the other version is live.
	MapVersion int
}

// fingerprintV1 is SHA-256 over the fields of an event, each preceded by its length.
const fingerprintV1 = 1

// fingerprint identifies the content of an event.
func (e Event) fingerprint() [sha256.Size]byte {
	fields := []string{"dynafin inbox event 1", e.ID, e.Type, e.Source, strconv.FormatInt(e.SourceVersion, 10), string(e.Payload)}
	size := 0
	for _, field := range fields {
		size += 8 + len(field)
	}
	buf := make([]byte, 0, size)
	for _, field := range fields {
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(field)))
		buf = append(buf, field...)
	}
	return sha256.Sum256(buf)
}

func (e Event) validate() error {
	for _, field := range []struct{ name, text string }{{"Type", e.Type}, {"Source", e.Source}} {
		if !utf8.ValidString(field.text) {
			return &InvalidError{EventID: e.ID, Field: field.name, Reason: "is not valid UTF-8"}
		}
	}
	if e.SourceVersion < 0 {
		return &InvalidError{EventID: e.ID, Field: "SourceVersion", Reason: "is negative"}
	}
	return nil
}

// place is one of the keys under which an event's receipt may stand.
type place struct {
	key keys.Key
	shardmap.Placement
}

// places returns where the receipt belongs, and then where else it may stand.
func (in *Inbox) places(e Event) ([]place, error) {
	if in.err != nil {
		return nil, in.err
	}
	if err := e.validate(); err != nil {
		return nil, err
	}
	all := make([]place, 1, len(in.config.Maps))
	found := false
	for i, m := range in.config.Maps {
		at, err := m.Place(e.ID)
		if err != nil {
			return nil, &InvalidError{EventID: e.ID, Field: "ID", Reason: "is empty or not valid UTF-8", Err: err}
		}
		key, err := keys.Inbox(in.config.Consumer, at.MapVersion, at.Shard, e.ID)
		if err != nil {
			return nil, invalidKey(e.ID, err)
		}
		p := place{key, at}
		if e.MapVersion == m.Version || e.MapVersion == 0 && i == 0 {
			all[0], found = p, true
		} else {
			all = append(all, p)
		}
	}
	if !found {
		return nil, &InvalidError{EventID: e.ID, Field: "MapVersion", Reason: "is " + strconv.Itoa(e.MapVersion) + ", none of Config.Maps"}
	}
	return all, nil
}

package batching

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// ByID gathers the answers of a broker that names the entries in its answer, in whatever order. Names that are not in the
// call are passed over.
type ByID []Answer

// EntryID is the name of an entry in its call.
func EntryID(i int) string { return strconv.Itoa(i) }

func (a ByID) find(id *string) *Answer {
	if id == nil {
		return nil
	}
	i, err := strconv.Atoi(*id)
	if err != nil || i < 0 || i >= len(a) || EntryID(i) != *id {
		return nil
	}
	return &a[i]
}

// Taken notes that the broker took an entry, by message ID and, where there is order, sequence number.
func (a ByID) Taken(id, message, number *string) {
	answer := a.find(id)
	if answer == nil || message == nil {
		return
	}
	if answer.Ack = *message; number != nil && *number != "" {
		answer.Ack += ":" + *number
	}
}

// Refused notes that the broker did not take an entry, and whether it finds the sender at fault.
func (a ByID) Refused(id, code *string, senderFault bool) {
	answer := a.find(id)
	if answer == nil {
		return
	}
	if code == nil || *code == "" {
		answer.Code = "UnknownError"
		return
	}
	answer.Code, answer.Final = *code, senderFault && !Mendable(*code)
}

// AttributeType is the data type of a message attribute, by its name.
func AttributeType(name string) string {
	if name == "schemaVersion" {
		return "Number"
	}
	return "String"
}

// maxNameBytes is how long a deduplication ID may be.
const maxNameBytes = 128

// DeduplicationID returns the event ID if brokers take it as it is, otherwise its SHA-256 in hexadecimal digits.
func DeduplicationID(eventID string) string {
	fits := len(eventID) <= maxNameBytes
	for i := 0; fits && i < len(eventID); i++ {
		fits = eventID[i] > ' ' && eventID[i] <= '~'
	}
	if fits && eventID != "" {
		return eventID
	}
	digest := sha256.Sum256([]byte(eventID))
	return hex.EncodeToString(digest[:])
}

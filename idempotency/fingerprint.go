package idempotency

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// HashV1 is the first version of the fingerprint's algorithm: SHA-256 over typed, length-prefixed values. A stored
// fingerprint carries its version and is always verified with that version's own algorithm.
const HashV1 = 1

// hashCurrent is the version that new records get.
const hashCurrent = HashV1

// Fingerprint identifies a command: tenant, operation, schema version and the command's fields. Fingerprints are
// comparable; the zero value is the fingerprint of nothing.
type Fingerprint struct {
	version int
	sum     [sha256.Size]byte
}

// HashVersion returns the version of the algorithm, such as [HashV1].
func (f Fingerprint) HashVersion() int { return f.version }

// Bytes returns a copy of the hash.
func (f Fingerprint) Bytes() []byte { return f.sum[:] }

// IsZero says whether this is the zero value.
func (f Fingerprint) IsZero() bool { return f == Fingerprint{} }

// String returns the version and the hash in hexadecimal: "v1:9f86d0...". Other records of the same command, such as a
// reserved name, can keep it to recognise the command.
func (f Fingerprint) String() string {
	return "v" + strconv.Itoa(f.version) + ":" + hex.EncodeToString(f.sum[:])
}

// identity is a request as it was at the call: everything a fingerprint covers, in memory that nobody else can change.
type identity struct {
	tenant, key, operation string
	schemaVersion          int
	fields                 []byte // encoded
}

// fingerprint computes the fingerprint with one version's algorithm; ok is false for a version not known here.
func (id *identity) fingerprint(version int) (f Fingerprint, ok bool) {
	switch version {
	case HashV1:
		return Fingerprint{HashV1, id.sumV1()}, true
	default:
		return Fingerprint{}, false
	}
}

// current computes the fingerprint that a new record gets.
func (id *identity) current() Fingerprint {
	f, _ := id.fingerprint(hashCurrent)
	return f
}

// domainV1 keeps the hash apart from every other use of SHA-256 over similar bytes. It and the order below are frozen:
// a changed byte turns every repeat of a command from before the change into a mismatch.
const domainV1 = "dynafin idempotency fingerprint 1"

func (id *identity) sumV1() [sha256.Size]byte {
	var covered []byte
	covered = appendValue(covered, kindString, []byte(domainV1))
	covered = appendValue(covered, kindString, []byte(id.tenant))
	covered = appendValue(covered, kindString, []byte(id.operation))
	covered = appendValue(covered, kindInt, binary.BigEndian.AppendUint64(nil, uint64(id.schemaVersion)))
	covered = appendValue(covered, kindGroup, id.fields)
	return sha256.Sum256(covered)
}

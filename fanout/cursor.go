package fanout

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A cursor is base64url text, without padding, of
//
//	1   format, 1
//	16  digest of the tenant
//	16  digest of the query's name
//	    version of the query, as a varint
//	16  digest of all else that the query reads
//	    number of branches, as a varint, and for each
//	    1   unread, reading or read to its end
//	        while reading: the key attributes behind the partition key, each as a kind, a length and its bytes
//	    number of items at the front, as a varint, and if there are any
//	        the order that they share, as a length and its bytes
//	16      for each: digest of the identity
//	16  SHA-256 of all before, or HMAC with the secret
//
// Every cursor has one spelling: decoding refuses whatever encoding would not have written.

const cursorFormat = 1

const digestBytes = 16

// digest is a shortened SHA-256.
type digest [digestBytes]byte

func digestOf(content []byte) (d digest) {
	sum := sha256.Sum256(content)
	copy(d[:], sum[:])
	return d
}

// status is how far a branch was read.
type status byte

const (
	unread status = iota
	reading
	finished
)

// position is where a branch goes on.
type position struct {
	status status
	after  []types.AttributeValue // while reading: the last key that is done with, without the partition key
}

// front is how far the merged list has come: the order of the last item, and which items of that order were given out, so
// that their copies in other branches are not.
type front struct {
	order []byte
	ids   []digest // none before the first item
}

// passed says whether an item has its place before the front, or at it and was given out already.
func (f *front) passed(p *plan, e entry) bool {
	if len(f.ids) == 0 {
		return false
	}
	if bytes.Equal(e.order, f.order) {
		return slices.Contains(f.ids, e.id)
	}
	return p.before(e.order, f.order)
}

// advance notes that an item was given out. Beyond MaxTies the oldest of one order are forgotten.
func (f *front) advance(e entry) {
	if !bytes.Equal(e.order, f.order) {
		f.order, f.ids = e.order, nil
	}
	if len(f.ids) == MaxTies {
		f.ids = f.ids[1:]
	}
	f.ids = append(f.ids, e.id)
}

// digest covers what the query reads: two queries that differ in any of it do not share cursors.
func (p *plan) digest() digest {
	var b []byte
	for _, name := range []string{p.Table, p.PK, p.SK, p.Index, p.IndexPK, p.IndexSK} {
		b = appendText(b, name)
	}
	for _, bound := range []types.AttributeValue{p.Range.From, p.Range.Through, p.Range.Prefix} {
		if b = append(b, 0); bound != nil {
			b, _ = appendKey(b, bound)
		}
	}
	b = append(b, truth(p.Descending), truth(p.Order != nil), truth(p.Identity != nil))
	for _, branch := range p.Branches {
		b, _ = appendKey(appendText(b, branch.Name), branch.Partition)
	}
	return digestOf(b)
}

func truth(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// binding is the beginning of all cursors of a query.
func (p *plan) binding() []byte {
	tenant, name := digestOf([]byte(p.Tenant)), digestOf([]byte(p.Name))
	b := append([]byte{cursorFormat}, tenant[:]...)
	b = append(b, name[:]...)
	b = binary.AppendUvarint(b, uint64(p.Version))
	return append(b, p.shape[:]...)
}

func (p *plan) encode(positions []position, f front, secret []byte) string {
	b := binary.AppendUvarint(p.binding(), uint64(len(positions)))
	for _, at := range positions {
		b = append(b, byte(at.status))
		for _, value := range at.after {
			b, _ = appendKey(b, value)
		}
	}
	if b = binary.AppendUvarint(b, uint64(len(f.ids))); len(f.ids) > 0 {
		b = appendText(b, string(f.order))
		for _, id := range f.ids {
			b = append(b, id[:]...)
		}
	}
	return base64.RawURLEncoding.EncodeToString(append(b, seal(b, secret)...))
}

// seal is a checksum, or a signature if there is a secret.
func seal(body, secret []byte) []byte {
	var h hash.Hash
	if secret == nil {
		h = sha256.New()
	} else {
		h = hmac.New(sha256.New, secret)
	}
	h.Write([]byte("dynafin fanout cursor"))
	h.Write(body)
	return h.Sum(nil)[:digestBytes]
}

// decode reads a cursor of this query. The secrets are those by which it may be signed, none for a checksum.
func (p *plan) decode(cursor string, secrets [][]byte) ([]position, front, CursorReason) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || strings.ContainsAny(cursor, "\r\n") || len(raw) <= digestBytes || raw[0] != cursorFormat {
		return nil, front{}, Malformed
	}
	body, sum := raw[:len(raw)-digestBytes], raw[len(raw)-digestBytes:]
	genuine := len(secrets) == 0 && hmac.Equal(sum, seal(body, nil))
	for _, secret := range secrets {
		genuine = genuine || hmac.Equal(sum, seal(body, secret))
	}
	if !genuine {
		return nil, front{}, Edited
	}
	r := reader{rest: body[1:]}
	tenant, name, version, shape := r.digest(), r.digest(), r.number(), r.digest()
	switch {
	case r.bad:
		return nil, front{}, Malformed
	case tenant != digestOf([]byte(p.Tenant)):
		return nil, front{}, OtherTenant
	case name != digestOf([]byte(p.Name)):
		return nil, front{}, OtherQuery
	case version != uint64(p.Version):
		return nil, front{}, OtherVersion
	case shape != p.shape:
		return nil, front{}, OtherShape
	}
	positions, f := r.positions(p), r.front()
	if r.bad || len(r.rest) > 0 {
		return nil, front{}, Malformed
	}
	return positions, f, ""
}

// reader takes a cursor apart. After the first fault it returns zeros.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.rest)) {
		r.bad = true
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) digest() (d digest) {
	copy(d[:], r.take(digestBytes))
	return d
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// number reads a varint in its only spelling, the shortest.
func (r *reader) number() uint64 {
	n, length := binary.Uvarint(r.rest)
	if r.bad || length <= 0 || length != len(binary.AppendUvarint(nil, n)) {
		r.bad = true
		return 0
	}
	r.take(uint64(length))
	return n
}

func (r *reader) positions(p *plan) []position {
	if r.number() != uint64(len(p.Branches)) {
		r.bad = true
		return nil
	}
	positions := make([]position, len(p.Branches))
	for i := range positions {
		at := &positions[i]
		if at.status = status(r.byte()); at.status > finished {
			r.bad = true
		}
		if at.status != reading {
			continue
		}
		for range p.rest {
			kind := r.byte()
			value, ok := makeKey(kind, string(r.take(r.number())))
			r.bad = r.bad || !ok
			at.after = append(at.after, value)
		}
	}
	return positions
}

func (r *reader) front() (f front) {
	n := r.number()
	if n > MaxTies {
		r.bad = true
	}
	if r.bad || n == 0 {
		return front{}
	}
	f.order = r.take(r.number())
	for range n {
		f.ids = append(f.ids, r.digest())
	}
	return f
}

package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/txn"
)

// DigestBytes is the size of a [Digest].
const DigestBytes = 24

// Digest stands for a set of postings, in whatever order they were added. The digest of one posting is the first 24 bytes
// of SHA-256 over its stored record, read as two 96-bit numbers; that of many is their sum, each modulo 2^96. The zero
// Digest stands for no postings.
type Digest [DigestBytes]byte

// half is one of the two numbers of a digest, below 2^96, or a sum of many of them.
type half struct{ hi, lo uint64 }

func (d Digest) halves() (x, y half) {
	read := func(b []byte) half {
		return half{hi: uint64(binary.BigEndian.Uint32(b)), lo: binary.BigEndian.Uint64(b[4:])}
	}
	return read(d[:12]), read(d[12:])
}

func digestOf(x, y half) (d Digest) {
	write := func(b []byte, h half) {
		binary.BigEndian.PutUint32(b, uint32(h.hi)) // what is above 2^96 falls away
		binary.BigEndian.PutUint64(b[4:], h.lo)
	}
	write(d[:12], x)
	write(d[12:], y)
	return d
}

// Add returns the digest of both sets together.
func (d Digest) Add(other Digest) Digest {
	ax, ay := d.halves()
	bx, by := other.halves()
	return digestOf(ax.add(bx), ay.add(by))
}

// Sub returns the digest of the set without another that is part of it.
func (d Digest) Sub(other Digest) Digest {
	ax, ay := d.halves()
	bx, by := other.halves()
	return digestOf(ax.sub(bx), ay.sub(by))
}

// String returns the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

func (h half) add(other half) half {
	lo, carry := bits.Add64(h.lo, other.lo, 0)
	hi, _ := bits.Add64(h.hi, other.hi, carry)
	return half{hi, lo}
}

func (h half) sub(other half) half {
	lo, borrow := bits.Sub64(h.lo, other.lo, 0)
	hi, _ := bits.Sub64(h.hi, other.hi, borrow)
	return half{hi, lo}
}

// billion19 is the largest power of ten below 2^64.
const billion19 = 10_000_000_000_000_000_000

// decimal returns the number in decimal digits, as an expression adds it.
func (h half) decimal() string {
	if h.hi == 0 {
		return strconv.FormatUint(h.lo, 10)
	}
	// Two digits of base 10^19 are enough below 10^38.
	upper, lower := bits.Div64(h.hi, h.lo, billion19)
	var buf [40]byte
	text := strconv.AppendUint(buf[:0], upper, 10)
	from := len(text)
	text = text[:from+19]
	for i := from + 18; i >= from; i-- {
		text[i] = byte('0' + lower%10)
		lower /= 10
	}
	return string(text)
}

// parseHalf reads a sum of halves from the decimal digits that DynamoDB returns.
func parseHalf(text string) (half, bool) {
	if text == "" || len(text) > 38 {
		return half{}, false
	}
	var h half
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return half{}, false
		}
		over, lo := bits.Mul64(h.lo, 10)
		lo, carry := bits.Add64(lo, uint64(text[i]-'0'), 0)
		h = half{h.hi*10 + over + carry, lo}
	}
	return h, true
}

// PostingDigest returns the digest of one stored posting: SHA-256 over its partition key, its sort key and every other
// attribute but the marks of its transaction, in the order of their names, each with its type and its length in front.
// ok is false if an attribute is neither text, number nor binary, which no posting has.
func (l *Ledger) PostingDigest(item txn.Item) (d Digest, ok bool) {
	table := l.config.Table
	var buffer [768]byte
	text := append(buffer[:0], "dynafin.ledger.posting.1"...)
	for _, key := range [...]string{table.PK, table.SK} {
		if text, ok = appendValue(text, item[key]); !ok {
			return Digest{}, false
		}
	}
	var space [16]string
	for _, name := range l.digested(item, space[:0]) {
		text = appendText(text, name)
		if text, ok = appendValue(text, item[name]); !ok {
			return Digest{}, false
		}
	}
	sum := sha256.Sum256(text)
	return Digest(sum[:DigestBytes]), true
}

// postingAttributes are what a posting may have besides its key, in the order of their names.
var postingAttributes = [...]string{
	attrAccount, attrAmount, attrAsset, attrClass, attrEffective, attrLine, attrRecorded, attrScale, attrSource, attrTransaction, attrFormat,
}

// digested returns the names that go into a posting's digest, in order. Where only those are there that it may have, which is
// nearly always, nothing needs to be sorted.
func (l *Ledger) digested(item txn.Item, names []string) []string {
	others := 0
	for _, name := range [...]string{l.config.Table.PK, l.config.Table.SK, txn.MarkAttribute, txn.UpdateMarkAttribute} {
		if _, ok := item[name]; ok {
			others++
		}
	}
	for _, name := range postingAttributes {
		if _, ok := item[name]; ok {
			names = append(names, name)
		}
	}
	if len(names)+others == len(item) {
		return names
	}
	names = names[:0]
	for name := range item {
		if name != l.config.Table.PK && name != l.config.Table.SK && name != txn.MarkAttribute && name != txn.UpdateMarkAttribute {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func appendText(to []byte, s string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(s))), s...)
}

// appendValue adds the type and the value. DynamoDB returns a whole number in plain digits, which is how it was written.
func appendValue(to []byte, value types.AttributeValue) ([]byte, bool) {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return appendText(append(to, 'S'), v.Value), true
	case *types.AttributeValueMemberN:
		return appendText(append(to, 'N'), v.Value), true
	case *types.AttributeValueMemberB:
		return appendText(append(to, 'B'), string(v.Value)), true
	}
	return to, false
}

package outbox

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"strconv"
)

// MaxPayloadBytes is how large a payload may be before it is compressed. Without compression [MaxRecordBytes] is the
// limit.
const MaxPayloadBytes = 1 << 20

// encodingDeflate is the value of the attribute encoding of a compressed payload; a plain one has none.
const encodingDeflate = "deflate"

// pack returns the payload as it is stored, compressed if that was asked for and helps. The copy also makes nil a value.
func (o *Outbox) pack(e Event) (payload []byte, encoding string, err error) {
	plain := append([]byte{}, e.Payload...)
	if !o.config.Compress {
		return plain, "", nil
	}
	if len(plain) > MaxPayloadBytes {
		return nil, "", &InvalidError{EventID: e.ID, Field: "Payload",
			Reason: "has " + strconv.Itoa(len(plain)) + " bytes; at most " + strconv.Itoa(MaxPayloadBytes) + " can be compressed"}
	}
	var packed bytes.Buffer
	w, ok := o.writers.Get().(*flate.Writer)
	if !ok {
		if w, err = flate.NewWriter(nil, flate.BestCompression); err != nil {
			return nil, "", &InvalidError{EventID: e.ID, Field: "Payload", Reason: "cannot be compressed", Err: err}
		}
	}
	defer o.writers.Put(w)
	w.Reset(&packed)
	_, err = w.Write(plain)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, "", &InvalidError{EventID: e.ID, Field: "Payload", Reason: "cannot be compressed", Err: err}
	}
	if packed.Len()+len(attrEncoding)+len(encodingDeflate) >= len(plain) {
		return plain, "", nil
	}
	return packed.Bytes(), encodingDeflate, nil
}

// unpack reads the payload of a record. It never makes more than [MaxPayloadBytes] of what is stored, whatever that is.
func unpack(in *reader) []byte {
	stored := in.binary(attrPayload)
	if in.item[attrEncoding] == nil {
		return stored
	}
	if in.text(attrEncoding) != encodingDeflate {
		in.fail(attrEncoding)
		return nil
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(stored)), MaxPayloadBytes+1))
	if err != nil || len(plain) > MaxPayloadBytes {
		in.fail(attrPayload)
		return nil
	}
	return plain
}

package value

// Bytes that a document charges beside its content.
const (
	documentBytes = 3
	elementBytes  = 1
)

// Size returns the bytes DynamoDB charges for the value, without its attribute name.
func (v Value) Size() int {
	switch v.kind {
	case S, B:
		return len(v.data)
	case N:
		return numberSize(v.data)
	case BOOL, NULL:
		return 1
	case SS, BS:
		size := 0
		for c := newCursor(v.data); c.more(); {
			size += len(c.text())
		}
		return size
	case NS:
		size := 0
		for c := newCursor(v.data); c.more(); {
			size += numberSize(c.text())
		}
		return size
	case L:
		size := documentBytes
		for c := newCursor(v.data); c.more(); {
			size += elementBytes + c.entry().Size()
		}
		return size
	case M:
		return documentBytes + countOf(v.data)*elementBytes + v.Entries().Size()
	default:
		return 0
	}
}

// Size returns the bytes DynamoDB charges for the item: names and values.
func (it Item) Size() int {
	size := 0
	for c := newCursor(it.data); c.more(); {
		size += len(c.text())
		size += c.entry().Size()
	}
	return size
}

// numberSize charges a byte for every two digits on either side of the decimal point, one for the number and one for a
// minus sign. Zeros at the ends are free.
func numberSize(key string) int {
	d := decodeNumberKey(key)
	if d.n == 0 {
		return 1
	}
	whole := min(max(d.exp, 0), d.n)
	size := 1 + (whole+1)/2 + (d.n-whole+1)/2
	if d.neg {
		size++
	}
	return size
}

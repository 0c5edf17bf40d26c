package keys_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/dynafin/dynafin/internal/keys"
)

// Whatever is read as a key of some route is exactly what that route writes, and is no other route's key.
func FuzzKeysRead(f *testing.F) {
	all := routes()
	for _, r := range all {
		f.Add(r.pk, r.sk)
	}
	f.Add("TEN#a%23b#ORDER#%25", "META")
	f.Add("TEN#a%2523#ORDER#%2", "META")
	f.Fuzz(func(t *testing.T, pk, sk string) {
		k, owner := keys.Key{PK: pk, SK: sk}, ""
		for _, r := range all {
			c, err := r.read(k)
			if err != nil {
				continue
			}
			if owner != "" {
				t.Fatalf("%+v is a key of %s and of %s", k, owner, r.name)
			}
			owner = r.name
			if back, err := r.write(c); back != k || err != nil {
				t.Fatalf("%s read %+v as %v and wrote %+v, %v", r.name, k, c, back, err)
			}
		}
	})
}

// Whatever can be written is read back as it was, whatever its components hold.
func FuzzKeysWrite(f *testing.F) {
	f.Add("acme", "o-1", "OPEN", int64(1_796_000_000), int64(42), 7)
	f.Add("a#b", "%23", "%", int64(-62135596800), int64(0), 9999)
	f.Add("", "\xff", "#", int64(1<<62), int64(-1), -1)
	all := routes()
	f.Fuzz(func(t *testing.T, a, b, c string, seconds, nanoseconds int64, n int) {
		words := []string{a, b, c}
		for _, r := range all {
			tuple := golden(r.shape)
			for i, kind := range r.shape {
				switch kind {
				case 's', 'k':
					tuple[i] = words[i%len(words)]
				case 't':
					tuple[i] = time.Unix(seconds, nanoseconds).UTC()
				case 'b', 'n':
					tuple[i] = n
				}
			}
			k, err := r.write(tuple)
			if err != nil {
				continue
			}
			if back, err := r.read(k); err != nil || !reflect.DeepEqual(back, tuple) {
				t.Fatalf("%s wrote %v as %+v and read %v, %v", r.name, tuple, k, back, err)
			}
		}
	})
}

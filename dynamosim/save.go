package dynamosim

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/dynafin/dynafin/dynamosim/internal/engine"
)

// MaxSavedBytes is how large a saved database may be once it is uncompressed: [Load] refuses larger ones.
const MaxSavedBytes = 2 << 30

// Now returns the time by the database's clock.
func (db *DB) Now() time.Time { return db.now() }

// Save writes the whole state: tables with their settings and items, what indexes have not heard of yet, streams with their
// records, time to live, request tokens, and the time. [Load] reads it. The same state gives the same bytes.
//
// Left out is what is over within moments, heat, items that are busy and the past that stale reads see, and the counters of
// [DB.Stats]. The form is JSON in gzip, with a version: any later version of this package either reads it or says that it
// cannot.
func (db *DB) Save(w io.Writer) error {
	now := db.now()
	db.mu.Lock()
	saved := db.engine.Save(now)
	db.mu.Unlock()
	packed := gzip.NewWriter(w)
	if err := json.NewEncoder(packed).Encode(saved); err != nil {
		return fmt.Errorf("dynamosim: save: %w", err)
	}
	if err := packed.Close(); err != nil {
		return fmt.Errorf("dynamosim: save: %w", err)
	}
	return nil
}

// SaveFile is [DB.Save] to a file, which is replaced in one step, so that it is never half of a database.
func (db *DB) SaveFile(path string) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".dynamosim-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(file.Name())
		}
	}()
	if err := errors.Join(db.Save(file), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// Load returns a database in the state that [DB.Save] wrote. The options are those of a new one, with these differences:
// Region, Account and Seed default to the saved ones, and Now to a clock that stands still at the time of saving, so that
// nothing comes to pass which had not by then.
//
// The input may come from anywhere: what Save did not write is an [ErrSaved].
func Load(r io.Reader, opts Options) (*DB, error) {
	packed, err := gzip.NewReader(r)
	if err != nil {
		return nil, errSaved.Wrap(err, "dynamosim: load: %v", err)
	}
	limited := &io.LimitedReader{R: packed, N: MaxSavedBytes}
	decoder := json.NewDecoder(limited)
	decoder.DisallowUnknownFields()
	var saved engine.Saved
	if err := decoder.Decode(&saved); err != nil {
		return nil, errSaved.Wrap(err, "dynamosim: load: %v", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errSaved.Wrap(err, "dynamosim: load: more than one document, or a checksum that does not fit")
	}
	if opts.Now == nil {
		opts.Now = func() time.Time { return saved.At }
	}
	seed, region, account := opts.Seed, opts.Region, opts.Account
	opts = opts.withDefaults()
	config := opts.engine()
	config.Seed, config.Region, config.Account = seed, region, account
	e, err := engine.Load(config, &saved)
	if err != nil {
		return nil, errSaved.Wrap(err, "dynamosim: load: %v", err)
	}
	return &DB{now: opts.Now, sleep: opts.Sleep, region: e.Region(), engine: e}, nil
}

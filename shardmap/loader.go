package shardmap

import (
	"context"
	"errors"
	"sync/atomic"
)

// Loader keeps the map of one lane at hand, and never gives out one that is older than the lane's Rules.MaxAge: if it cannot
// read a new one, whoever asks gets an ErrStale. It is safe for concurrent use.
type Loader struct {
	store *Store
	lane  string
	kept  atomic.Pointer[Versions]
	turn  chan struct{} // holds a token while nobody reads
}

// Loader returns a Loader. It reads nothing until it is asked.
func (s *Store) Loader(lane string) *Loader {
	l := &Loader{store: s, lane: lane, turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	return l
}

// Versions returns the map. It reads it when the one at hand has reached half of MaxAge: one caller reads, and the others
// go on with what there is. If the read fails the old map serves until MaxAge. Errors: ErrStale, with the error of the read
// inside; ErrStored, ErrInvalid.
//
// Cost: one [Store.Load] for each half of MaxAge, in every process.
func (l *Loader) Versions(ctx context.Context) (Versions, error) {
	if v, usable, current := l.atHand(); usable && current {
		return v, nil
	} else if usable {
		select {
		case <-l.turn:
		default:
			return v, nil // somebody is reading
		}
	} else {
		select {
		case <-l.turn:
		case <-ctx.Done():
			return Versions{}, &StaleError{Lane: l.lane, Reason: TooOld, Err: ctx.Err()}
		}
	}
	defer func() { l.turn <- struct{}{} }()
	v, usable, current := l.atHand()
	if current {
		return v, nil // read while this call waited
	}
	loaded, err := l.store.Load(ctx, l.lane)
	if err == nil {
		l.kept.Store(&loaded)
		if err = loaded.fresh(); err == nil {
			return loaded, nil
		}
	}
	if usable && errors.Is(err, ErrStale) && v.fresh() == nil {
		return v, nil
	}
	return Versions{}, err
}

// atHand returns the map at hand, and whether it may be used, and need not be read again.
func (l *Loader) atHand() (v Versions, usable, current bool) {
	kept := l.kept.Load()
	if kept == nil || kept.fresh() != nil {
		return Versions{}, false, false
	}
	age := l.store.config.Now().Sub(kept.ReadAt)
	return *kept, true, age >= 0 && age < kept.Rules.MaxAge/2
}

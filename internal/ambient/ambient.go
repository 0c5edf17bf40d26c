// Package ambient is the process's own chance and patience: the defaults of configurations. Everything that decides takes
// these as fields of a Config, so that a test can choose them and one seed is one history.
package ambient

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"math/big"
	"time"
)

// ID draws 128 bits, as 22 characters that are safe in a URL. crypto/rand does not fail: it ends the program instead.
func ID() string {
	var b [16]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Wait draws a wait below the limit, zero if that is not positive.
func Wait(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	n, err := rand.Int(rand.Reader, big.NewInt(int64(limit)))
	if err != nil {
		return limit
	}
	return time.Duration(n.Int64())
}

// Sleep waits, or returns the context's error if that ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/money"
)

// A checkpoint is base64url text, without padding, of the first 16 bytes of SHA-256 over the rest, and the rest: the
// state as JSON. The sum finds accidents; whoever may edit checkpoints may also edit reports.

const (
	checkpointFormat   = 1
	checkpointSumBytes = 16
)

type storedState struct {
	Format     int             `json:"v"`
	Of         string          `json:"of"` // digest of what is verified
	Scale      int             `json:"scale"`
	Phase      verifyPhase     `json:"phase"`
	Month      Month           `json:"month,omitempty"`
	Last       int             `json:"last,omitempty"`
	Sealed     bool            `json:"sealed,omitempty"`
	Bucket     int             `json:"bucket,omitempty"`
	Lane       int             `json:"lane,omitempty"`
	Behind     string          `json:"behind,omitempty"`
	End        bool            `json:"end,omitempty"`
	Before     storedTotals    `json:"before"`
	Seen       storedTotals    `json:"seen"`
	Odd        []storedFinding `json:"odd,omitempty"`
	Pass       int             `json:"pass,omitempty"`
	Tails      int             `json:"tails,omitempty"`
	Unlocated  int64           `json:"unlocated,omitempty"`
	Months     int             `json:"months,omitempty"`
	Postings   int64           `json:"postings,omitempty"`
	Recomputed storedTotals    `json:"recomputed"`
	Moved      []Month         `json:"moved,omitempty"`
	Findings   []storedFinding `json:"findings,omitempty"`
	More       int             `json:"more,omitempty"`
	HalfUnits  int64           `json:"halfUnits,omitempty"`
}

type storedTotals struct {
	Count  int64  `json:"n,omitempty"`
	Minor  string `json:"s,omitempty"` // minor units
	Digest string `json:"d,omitempty"`
}

type storedFinding struct {
	Kind        FindingKind  `json:"k"`
	Month       Month        `json:"m,omitempty"`
	Expected    storedTotals `json:"e"`
	Found       storedTotals `json:"f"`
	Record      string       `json:"r,omitempty"`
	Transaction string       `json:"t,omitempty"`
	Line        int          `json:"l,omitempty"`
	Detail      string       `json:"x"`
}

// identity stands for everything that a checkpoint is bound to.
func (v *verifier) identity() string {
	sum := sha256.Sum256([]byte(keys.Join("verify", v.Tenant, v.Account, v.ref.class, v.ref.code, strconv.Itoa(v.Stripe),
		string(v.From), string(v.Through), strconv.FormatBool(v.Strays), strconv.FormatBool(v.Locate))))
	return hex.EncodeToString(sum[:checkpointSumBytes])
}

func (v *verifier) checkpoint() string {
	r := v.report
	body, err := json.Marshal(storedState{
		Format: checkpointFormat, Of: v.identity(), Scale: v.report.Recomputed.Sum.Currency().Scale(),
		Phase: v.phase, Month: v.month, Last: v.last, Sealed: v.sealed, Bucket: v.at.Bucket, Lane: v.at.Lane, Behind: v.at.Behind, End: v.at.End,
		Before: storeTotals(v.before), Seen: storeTotals(v.seen), Odd: storeFindings(v.odd), Pass: v.pass, Tails: v.tails, Unlocated: v.unlocated,
		Months: r.Months, Postings: r.Postings, Recomputed: storeTotals(r.Recomputed), Moved: r.Moved,
		Findings: storeFindings(r.Findings), More: r.More, HalfUnits: int64(r.Units),
	})
	if err != nil {
		return "" // cannot be: there is nothing in it that JSON has no form for
	}
	sum := sha256.Sum256(body)
	return base64.RawURLEncoding.EncodeToString(append(sum[:checkpointSumBytes:checkpointSumBytes], body...))
}

// restore takes up a verification where a checkpoint left it.
func (v *verifier) restore(checkpoint string) error {
	refuse := func(reason string) error {
		return &CursorError{What: "verification", Tenant: v.Tenant, ID: v.Account, Reason: reason}
	}
	content, err := base64.RawURLEncoding.DecodeString(checkpoint)
	if err != nil || len(content) < checkpointSumBytes || base64.RawURLEncoding.EncodeToString(content) != checkpoint {
		return refuse("is not a checkpoint")
	}
	body := content[checkpointSumBytes:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:checkpointSumBytes], content[:checkpointSumBytes]) {
		return refuse("was changed")
	}
	var s storedState
	if err := json.Unmarshal(body, &s); err != nil || s.Format != checkpointFormat {
		return refuse("is of another version")
	}
	if s.Of != v.identity() {
		return refuse("belongs to another verification")
	}
	currency, ok := currencyOf(v.ref.code, v.ref.class, int64(s.Scale))
	if !ok {
		return refuse("is of another version")
	}
	load := loader{currency: currency}
	v.verifyState = verifyState{
		phase: s.Phase, month: s.Month, last: s.Last, sealed: s.Sealed, at: verifyPosition{s.Bucket, s.Lane, s.Behind, s.End},
		before: load.totals(s.Before), seen: load.totals(s.Seen), odd: load.findings(s.Odd), pass: s.Pass, tails: s.Tails,
		unlocated: s.Unlocated,
		report: Report{
			Place: v.ref.place(), Months: s.Months, Postings: s.Postings, Recomputed: load.totals(s.Recomputed), Moved: s.Moved,
			Findings: load.findings(s.Findings), More: s.More, Units: capacity.Units(s.HalfUnits),
		},
	}
	if load.err != nil {
		return refuse("is of another version")
	}
	return nil
}

func storeTotals(t Totals) storedTotals {
	if t.Sum.Currency() == (money.Currency{}) {
		return storedTotals{}
	}
	return storedTotals{Count: t.Count, Minor: t.Sum.MinorUnits(), Digest: t.Digest.String()}
}

func storeFindings(all []Finding) (stored []storedFinding) {
	for _, f := range all {
		stored = append(stored, storedFinding{
			f.Kind, f.Month, storeTotals(f.Expected), storeTotals(f.Found), f.Record, f.Transaction, f.Line, f.Detail,
		})
	}
	return stored
}

// loader undoes what store does, and keeps the first error.
type loader struct {
	currency money.Currency
	err      error
}

func (l *loader) totals(s storedTotals) (t Totals) {
	if s == (storedTotals{}) {
		return t
	}
	sum, err := money.ParseMinor(s.Minor, l.currency)
	digest, err2 := hex.DecodeString(s.Digest)
	switch {
	case l.err != nil:
	case err != nil:
		l.err = err
	case err2 != nil || len(digest) != DigestBytes:
		l.err = fmt.Errorf("digest %q", s.Digest)
	default:
		t = Totals{Count: s.Count, Sum: sum, Digest: Digest(digest)}
	}
	return t
}

func (l *loader) findings(stored []storedFinding) (all []Finding) {
	for _, s := range stored {
		all = append(all, Finding{
			s.Kind, s.Month, l.totals(s.Expected), l.totals(s.Found), s.Record, s.Transaction, s.Line, s.Detail,
		})
	}
	return all
}

package fanout_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/fanout"
)

// refused fails the test unless the cursor is refused for the reason, before anything is read.
func refused(t *testing.T, r *fanout.Reader, q fanout.Query, cursor string, reasons ...fanout.CursorReason) {
	t.Helper()
	page, err := r.Page(t.Context(), q, cursor, 5)
	var refusal *fanout.CursorError
	if !errors.As(err, &refusal) || !errors.Is(err, fanout.ErrCursor) || !slices.Contains(reasons, refusal.Reason) {
		t.Errorf("%.40q: %v, want a CursorError for one of %q", cursor, err, reasons)
	}
	if page.Usage.Requests != 0 {
		t.Errorf("%.40q: refused after %d requests", cursor, page.Usage.Requests)
	}
	if err != nil && len(cursor) > 20 && strings.Contains(err.Error(), cursor) {
		t.Errorf("the error repeats the cursor: %v", err)
	}
}

// begun returns a query with its first page read, with all three states of a branch in the cursor.
func begun(t *testing.T, b *bench, config fanout.Config) (*fanout.Reader, fanout.Query, string) {
	t.Helper()
	b.spread(t, "SYM#X", 2, 12)
	b.put(t, map[string]string{"PK": "SYM#X#2", "SK": "9999"})
	reader := fanout.New(b.client, config)
	q := b.trades("SYM#X", 4)
	page, err := reader.Page(t.Context(), q, "", 5)
	if err != nil || page.Cursor == "" {
		t.Fatalf("%v, cursor %q", err, page.Cursor)
	}
	return reader, q, page.Cursor
}

func TestAnEditedCursorIsRefused(t *testing.T) {
	t.Parallel()
	for what, config := range map[string]fanout.Config{"checksum": {}, "secret": {Secrets: [][]byte{[]byte("0123456789abcdef")}}} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			reader, q, cursor := begun(t, setup(t), config)
			for i := range len(cursor) {
				for _, other := range []byte{cursor[i] ^ 1, cursor[i] ^ 0x20, 'A', '_', '=', '\n', 0, 0xff} {
					if other == cursor[i] {
						continue
					}
					refused(t, reader, q, cursor[:i]+string([]byte{other})+cursor[i+1:], fanout.Edited, fanout.Malformed)
				}
				if i > 0 {
					refused(t, reader, q, cursor[:i], fanout.Edited, fanout.Malformed)
				}
			}
			raw, err := base64.RawURLEncoding.DecodeString(cursor)
			if err != nil {
				t.Fatal(err)
			}
			for i := range raw {
				for bit := range 8 {
					edited := slices.Clone(raw)
					edited[i] ^= 1 << bit
					refused(t, reader, q, base64.RawURLEncoding.EncodeToString(edited), fanout.Edited, fanout.Malformed)
				}
			}
			for _, other := range []string{cursor + "A", cursor + "AAAA", cursor + "=", " " + cursor, cursor + "\n", cursor + cursor} {
				refused(t, reader, q, other, fanout.Edited, fanout.Malformed)
			}
		})
	}
}

func TestACursorContinuesNothingButItsOwnQuery(t *testing.T) {
	t.Parallel()
	reader, own, cursor := begun(t, setup(t), fanout.Config{})
	for what, c := range map[string]struct {
		change func(*fanout.Query)
		reason fanout.CursorReason
	}{
		"tenant":           {func(q *fanout.Query) { q.Tenant = "other" }, fanout.OtherTenant},
		"no tenant":        {func(q *fanout.Query) { q.Tenant = "" }, fanout.OtherTenant},
		"name":             {func(q *fanout.Query) { q.Name = "AP05.trades" }, fanout.OtherQuery},
		"version":          {func(q *fanout.Query) { q.Version = 1 }, fanout.OtherVersion},
		"table":            {func(q *fanout.Query) { q.Table = "Other" }, fanout.OtherShape},
		"direction":        {func(q *fanout.Query) { q.Descending = true }, fanout.OtherShape},
		"lower bound":      {func(q *fanout.Query) { q.Range.From = fanout.Text("0") }, fanout.OtherShape},
		"upper bound":      {func(q *fanout.Query) { q.Range.Through = fanout.Text("0") }, fanout.OtherShape},
		"prefix":           {func(q *fanout.Query) { q.Range.Prefix = fanout.Text("0") }, fanout.OtherShape},
		"fewer branches":   {func(q *fanout.Query) { q.Branches = q.Branches[1:] }, fanout.OtherShape},
		"another branch":   {func(q *fanout.Query) { q.Branches[0].Partition = fanout.Text("SYM#Y#0") }, fanout.OtherShape},
		"another order":    {func(q *fanout.Query) { q.Order = func(fanout.Attributes) ([]byte, error) { return nil, nil } }, fanout.OtherShape},
		"another identity": {func(q *fanout.Query) { q.Identity = func(fanout.Attributes) ([]byte, error) { return nil, nil } }, fanout.OtherShape},
		"index":            {func(q *fanout.Query) { q.Index, q.IndexPK, q.IndexSK = "ByTime", "shard", "at" }, fanout.OtherShape},
	} {
		t.Run(what, func(t *testing.T) {
			q := own
			q.Branches = slices.Clone(own.Branches)
			c.change(&q)
			refused(t, reader, q, cursor, c.reason)
		})
	}
	own.Strong = true // may change between pages, as the size of a page may
	if _, err := reader.Page(t.Context(), own, cursor, 7); err != nil {
		t.Errorf("the query itself: %v", err)
	}
}

func TestTextThatIsNoCursorIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	reader := fanout.New(b.client, fanout.Config{})
	for _, text := range []string{"x", "cursor", "AQ", "%", "\xff", strings.Repeat("A", 1<<20), base64.RawURLEncoding.EncodeToString(make([]byte, 100))} {
		refused(t, reader, b.trades("SYM#X", 4), text, fanout.Malformed)
	}
}

// A new secret signs, the old one is still accepted, and one that is not in the Config any more is not.
func TestSecretsCanBeReplaced(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, second := []byte("the first secret"), []byte("the second secret")
	_, q, old := begun(t, b, fanout.Config{Secrets: [][]byte{first}})
	both := fanout.New(b.client, fanout.Config{Secrets: [][]byte{second, first}})
	page, err := both.Page(t.Context(), q, old, 1)
	if err != nil {
		t.Fatalf("under both secrets: %v", err)
	}
	later := fanout.New(b.client, fanout.Config{Secrets: [][]byte{second}})
	if _, err := later.Page(t.Context(), q, page.Cursor, 1); err != nil {
		t.Errorf("under the new secret: %v", err)
	}
	refused(t, later, q, old, fanout.Edited)
	refused(t, fanout.New(b.client, fanout.Config{}), q, old, fanout.Edited)
	_, _, unsigned := begun(t, b, fanout.Config{})
	refused(t, later, q, unsigned, fanout.Edited)
}

// Whoever knows this package can forge a cursor where there is no secret. It reaches no other partition and nothing
// outside the range, because the Query says both.
func TestAForgedCursorReadsNothingThatTheQueryDoesNot(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.spread(t, "SYM#X", 1, 30)
	q := b.trades("SYM#X", 1)
	q.Range = fanout.Range{From: fanout.Text("0010"), Through: fanout.Text("0019")}
	var asked []*dynamodb.QueryInput
	reader := fanout.New(clientFunc(func(ctx context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
		asked = append(asked, in)
		return b.client.Query(ctx, in)
	}), fanout.Config{})
	page, err := reader.Page(t.Context(), q, "", 5)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.RawURLEncoding.DecodeString(page.Cursor)
	if err != nil {
		t.Fatal(err)
	}
	forge := func(key string) string {
		return sealed([]byte(strings.Replace(string(raw[:len(raw)-16]), "S\x040014", "S\x04"+key, 1)))
	}
	page, err = reader.Page(t.Context(), q, forge("0017"), 5)
	if err != nil || len(page.Items) != 2 {
		t.Errorf("within the range: %d items, %v; want the last two", len(page.Items), err)
	}
	if page, err = reader.Page(t.Context(), q, forge("0001"), 5); err == nil || len(page.Items) > 0 {
		t.Errorf("outside the range: %d items, %v", len(page.Items), err)
	}
	for _, in := range asked {
		if got := in.ExpressionAttributeValues[":p"].(*types.AttributeValueMemberS).Value; got != "SYM#X#0" {
			t.Errorf("a request for the partition %q", got)
		}
	}
}

// sealed makes a cursor from its content, as documented in cursor.go.
func sealed(body []byte) string {
	sum := sha256.Sum256(append([]byte("dynafin fanout cursor"), body...))
	return base64.RawURLEncoding.EncodeToString(append(body, sum[:16]...))
}

// FuzzCursor: any text is either refused by a typed error, or it is the one spelling of a cursor.
func FuzzCursor(f *testing.F) {
	reader := fanout.New(clientFunc(func(context.Context, *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
		return nil, errors.New("nothing may be read")
	}), fanout.Config{})
	q := fanout.Query{Name: "AP06.trades", Tenant: "acme", Table: "Trades", Branches: shards("SYM#X", 3),
		Index: "ByTime", IndexPK: "shard", IndexSK: "at"}
	run, err := reader.Start(q, "")
	if err != nil {
		f.Fatal(err)
	}
	fresh, err := base64.RawURLEncoding.DecodeString(run.Cursor())
	if err != nil {
		f.Fatal(err)
	}
	body := fresh[:len(fresh)-16]
	header := body[:len(body)-5] // without the number of branches, their states, and the front
	f.Add(body[:0], false)
	f.Add(body, true)
	f.Add([]byte("\x03\x02\x01S\x010S\x05SYM#XS\x011\x00\x01\x010"+strings.Repeat("d", 16)), true)
	f.Add([]byte("\x03\x01N\x0212B\x01\xffS\x00\x02\x02\x00"), true)
	f.Fuzz(func(t *testing.T, content []byte, continues bool) {
		text := string(content)
		if continues {
			text = sealed(append(slices.Clone(header), content...))
		}
		run, err := reader.Start(q, text)
		var refusal *fanout.CursorError
		switch {
		case text == "":
		case err != nil:
			if !errors.As(err, &refusal) {
				t.Fatalf("%v, want a CursorError", err)
			}
		case run.Cursor() != text && run.Cursor() != "":
			t.Fatalf("%q was taken for %q", text, run.Cursor())
		}
	})
}

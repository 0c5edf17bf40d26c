package fanout

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
)

// DefaultConcurrency is how many branches are read at the same time, if a Config does not say.
const DefaultConcurrency = 16

// MinSecretBytes is the shortest secret that signs cursors.
const MinSecretBytes = 16

// MaxTies is how many items of one and the same order are remembered in order to drop their copies in other branches.
const MaxTies = 64

// Client is the one call that this package makes. *dynamodb.Client satisfies it.
type Client interface {
	Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Config says how a Reader works. The zero value works.
type Config struct {
	// Concurrency bounds how many branches one call reads at the same time. Default: DefaultConcurrency.
	Concurrency int
	// Secrets sign cursors: the first signs, all are accepted, so that a secret can be replaced. Each has at least
	// MinSecretBytes. Without any, a cursor has a checksum, which finds accidents; whoever knows this package can forge one.
	Secrets [][]byte
	// Observer, if set, is told of every Page, and of every loop over the items of a Run, by the name of its query: give
	// that a few values, not a key. It is told nothing where another operation of the library reads through the Reader.
	Observer observe.Observer
	// Now tells the time of observations. Default: time.Now.
	Now func() time.Time
}

// Reader reads queries over many branches. It is safe for concurrent use.
type Reader struct {
	client Client
	config Config
	watch  watch.Watch
	err    error
}

// New returns a Reader. What is wrong with the configuration is reported by every use of it, as an [InvalidError].
func New(client Client, config Config) *Reader {
	r := &Reader{client: client, config: config, watch: watch.New("fanout", "", config.Observer, config.Now)}
	r.config.Concurrency = cmp.Or(config.Concurrency, DefaultConcurrency)
	if r.config.Concurrency < 1 {
		r.err = &InvalidError{Field: "Config.Concurrency", Reason: "is negative"}
	}
	r.config.Secrets = nil
	for _, secret := range config.Secrets {
		if len(secret) < MinSecretBytes {
			r.err = &InvalidError{Field: "Config.Secrets", Reason: fmt.Sprintf("has one of fewer than %d bytes", MinSecretBytes)}
		}
		r.config.Secrets = append(r.config.Secrets, append([]byte(nil), secret...))
	}
	return r
}

// Item is one item of the merged list.
type Item struct {
	// Branch is the name of the branch that it was read from.
	Branch string
	// Attributes are the item as DynamoDB returned it.
	Attributes Attributes
}

// Usage is what reading took.
type Usage struct {
	// Requests is how many requests were answered.
	Requests int
	// Evaluated is how many items DynamoDB looked at. It is more than were returned, because a page reads a little ahead in
	// every branch.
	Evaluated int
	// Units are the read units that DynamoDB reported.
	Units capacity.Units
}

// Page is a part of the merged list.
type Page struct {
	// Items are in order, at most as many as were asked for.
	Items []Item
	// Cursor continues behind the last item. It is empty when every branch has been read to its end; only then is the list
	// complete. A page may be short or empty and have a cursor.
	Cursor string
	// Usage is what this page took. It counts beside an error, too.
	Usage Usage
}

// Page returns up to limit items behind a cursor, from the beginning if it is empty. Errors: ErrInvalid, ErrCursor,
// ErrRead, ErrItem; the page then has nothing but its Usage, and the same cursor can be used again.
//
// Cost: see the package documentation.
func (r *Reader) Page(ctx context.Context, q Query, cursor string, limit int) (_ Page, err error) {
	ctx, op := r.watch.Begin(ctx, q.Name)
	defer op.End(&err)
	if limit < 1 || limit > MaxLimit {
		return Page{}, &InvalidError{Query: q.Name, Field: "limit", Reason: fmt.Sprintf("is outside 1 to %d", MaxLimit)}
	}
	run, err := r.Start(q, cursor)
	if err != nil {
		return Page{}, err
	}
	run.expect(limit)
	items := make([]Item, 0, min(limit, pageRoom))
	for len(items) < limit {
		item, ok, err := run.next(ctx)
		if err != nil {
			return Page{Usage: run.usage}, err
		}
		if !ok {
			break
		}
		items = append(items, item)
	}
	return Page{Items: items, Cursor: run.Cursor(), Usage: run.usage}, nil
}

// pageRoom is how much room for items a page gets before anything is known about their number.
const pageRoom = 128

// All returns every item of a query, in order. It is [Reader.Start] without a cursor and [Run.Items].
//
// Cost: that of [Run.Items]. Errors: [ErrInvalid], [ErrRead], [ErrItem].
func (r *Reader) All(ctx context.Context, q Query) iter.Seq2[Item, error] {
	return watch.Each(ctx, &r.watch, q.Name, "", func(ctx context.Context, yield func(Item, error) bool) {
		run, err := r.Start(q, "")
		if err != nil {
			yield(Item{}, err)
			return
		}
		run.Items(ctx)(yield)
	})
}

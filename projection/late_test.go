package projection_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/projection"
)

// between does something before its first query.
type between struct {
	projection.Client
	do func()
}

func (c *between) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if do := c.do; do != nil {
		c.do = nil
		do()
	}
	return c.Client.Query(ctx, in, opts...)
}

// A worker looks at the checkpoint and then at what is parked. In between a late step of one that died fills the gap that it
// knows of: what follows is drained all the same, because nobody else will.
func TestAGapThatIsFilledBehindAWorkersBackIsDrained(t *testing.T) {
	t.Parallel()
	b := setup(t)
	upTo := func(last int64) func(projection.Event) error {
		return func(e projection.Event) error {
			if e.Version > last {
				return errors.New("not yet")
			}
			return nil
		}
	}
	for _, version := range []int64{1, 4, 3} {
		if _, err := b.ns.Apply(t.Context(), changed("order-1", version)); err != nil {
			t.Fatal(err)
		}
	}
	b.refuse = upTo(2)
	if _, err := b.ns.Apply(t.Context(), changed("order-1", 2)); !errors.Is(err, projection.ErrDrain) {
		t.Fatal(err)
	}
	client := &between{Client: b.client, do: func() {
		b.refuse = upTo(3)
		if _, err := b.ns.Apply(t.Context(), changed("order-1", 2)); !errors.Is(err, projection.ErrDrain) {
			t.Error(err)
		}
		b.refuse = nil
	}}
	b.refuse = nil
	out, err := b.projection(client, projection.Config{}).Namespace(1).Apply(t.Context(), changed("order-1", 2))
	if err != nil || out.Result != projection.Stale || out.Version != 4 || out.Drained != 1 || b.seen(t, 1, "order-1") != "1 2 3 4 " {
		t.Errorf("%+v, %v; the view saw %s", out, err, b.seen(t, 1, "order-1"))
	}
}

package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

// Projection tests AP13 on the table of a configuration, whose View and First are not used: the suite has its own.
func Projection(ctx context.Context, client *dynamodb.Client, config projection.Config) error {
	r := begin(ctx, client)
	table := config.WithDefaults().Table
	config.First = 1
	config.View = func(_ context.Context, _ int, e projection.Event) ([]txn.Part, error) {
		return []txn.Part{r.fact(table, fmt.Sprint(e.Source, "-", e.Version))}, nil // it cannot be written twice
	}
	ns := projection.New(client, config).Namespace(1)
	apply := func(source string, version int64, want projection.Result) error {
		out, err := ns.Apply(r.ctx, r.version(source, version))
		if err == nil && out.Result != want {
			err = fmt.Errorf("version %d of %s is %s, want %s", version, source, out.Result, want)
		}
		return err
	}
	at := func(source string, version int64) error {
		cp, err := ns.Checkpoint(r.ctx, r.id+source)
		if err == nil && (cp.Version != version || cp.Events != version || cp.Parked != 0) {
			err = fmt.Errorf("the checkpoint is %+v, want version %d", cp, version)
		}
		return err
	}
	r.promise("versions are applied in order, and a repeat changes nothing", func() error {
		return errors.Join(apply("ordered", 1, projection.Applied), apply("ordered", 2, projection.Applied),
			apply("ordered", 1, projection.Stale), at("ordered", 2))
	})
	r.promise("what is ahead of a gap waits, is listed, and follows", func() error {
		err := errors.Join(apply("gap", 3, projection.Parked), apply("gap", 2, projection.Parked), apply("gap", 3, projection.Parked))
		if err != nil {
			return err
		}
		err = r.eventually(func() (bool, error) {
			for gap, err := range ns.Gaps(r.ctx) {
				if err != nil || gap.Source == r.id+"gap" && gap.Missing == 1 && gap.Parked == 2 {
					return err == nil, err
				}
			}
			return false, nil
		})
		return errors.Join(err, apply("gap", 1, projection.Applied), at("gap", 3))
	})
	r.promise("of many who deliver one version one applies it", func() error {
		errs := compete(func(int) error {
			_, err := ns.Apply(r.ctx, r.version("shared", 1))
			return err
		})
		return errors.Join(append(errs[:], at("shared", 1))...)
	})
	return r.end()
}

func (r *run) version(source string, version int64) projection.Event {
	return projection.Event{Source: r.id + source, Version: version, OccurredAt: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
}

package app

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/export"
	"github.com/dynafin/dynafin/txn"
)

// readUnitBytes is what half a read unit reads of a Scan.
const readUnitBytes = 4096

// Scan reads a whole table, for what no key answers. It is refused unless --scan allows it; the refusal says what it would cost,
// and what else to do. It sees no one moment.
func (a *App) Scan(ctx context.Context, table txn.Table, instead string) (iter.Seq2[txn.Item, error], error) {
	store, err := a.Store(ctx)
	if err != nil {
		return nil, err
	}
	out, err := store.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table.Name})
	if err != nil {
		return nil, err
	}
	items, bytes := aws.ToInt64(out.Table.ItemCount), aws.ToInt64(out.Table.TableSizeBytes)
	units := (bytes + 2*readUnitBytes - 1) / (2 * readUnitBytes)
	cost := fmt.Sprintf("the whole table %s: about %s items, %s read units, %s at --max-rcu %d",
		table.Name, Count(int(items)), Count(int(units)), Span(time.Duration(units)*time.Second/time.Duration(a.flags.maxRCU)), a.flags.maxRCU)
	if !a.flags.scan {
		return nil, Usage("this reads %s; allow it with --scan%s", cost, instead)
	}
	a.Hint("reading %s", cost)
	scan, err := export.NewScan(store, export.ScanConfig{Table: table.Name, Segments: 1, UnitsPerSecond: a.flags.maxRCU, Now: a.Env.Now, Sleep: a.Sleep})
	if err != nil {
		return nil, err
	}
	return func(yield func(txn.Item, error) bool) {
		for r, err := range scan.Records(ctx) {
			if !yield(r.New, err) || err != nil {
				return
			}
		}
	}, nil
}

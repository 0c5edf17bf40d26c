package cases

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/export"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

// facts is how many facts there are, each of 45 KB, so that a page of 1 MB ends before them.
const facts = 30

// rebuilt is the view of the facts: how many there are. Each build has its own.
func rebuilt(client *dynamodb.Client) *projection.Projection {
	return projection.New(client, projection.Config{Name: "facts", Table: store,
		View: func(_ context.Context, namespace int, _ projection.Event) ([]txn.Part, error) {
			return []txn.Part{txn.Update(store, key(fmt.Sprintf("VIEW#%d", namespace)), expression.Add(expression.Name("facts"), expression.Value(1)))}, nil
		},
	})
}

// factIn reads the event of a fact.
func factIn(r export.Record) (e projection.Event, ok bool, err error) {
	pk, _ := r.New["PK"].(*types.AttributeValueMemberS)
	if pk == nil || !strings.HasPrefix(pk.Value, "FACT#") {
		return e, false, nil
	}
	return projection.Event{Source: pk.Value, Version: 1, OccurredAt: opening, Control: 1}, true, nil
}

// A view is built anew from 30 facts of 45 KB: a page has 1 MB. Then the source itself is cut.
func TestCS09_ARebuildHasEverythingOrReadersStayWhereTheyAre(t *testing.T) {
	store30 := func(s *stage) {
		for n := range facts {
			s.must(insert(s.ctx, s.client, "FACT#"+strconv.Itoa(n), fields{"body": strings.Repeat("x", 45_000)}))
		}
	}
	firstPage := func(s *stage) []txn.Item {
		page, err := s.client.Scan(s.ctx, &dynamodb.ScanInput{TableName: aws.String(store.Name), ConsistentRead: aws.Bool(true)})
		s.must(err)
		return page.Items
	}
	twice(t,
		func(s *stage) {
			store30(s)
			s.must(write(s.ctx, s.client, "VIEW#1", fields{"facts": facts})) // what readers see
			n := 0
			for range firstPage(s) {
				n++
			}
			s.must(write(s.ctx, s.client, "VIEW#1", fields{"facts": n})) // the snapshot takes its place
			s.wants("readers see less than there is, and nothing failed", s.value("VIEW#1", "facts") < strconv.Itoa(facts), true)
		},
		func(s *stage) {
			store30(s)
			of := rebuilt(s.client)

			// build makes the next namespace from a source and moves readers if it is proved.
			want := &projection.Totals{Sources: facts, Events: facts, Control: big.NewInt(facts)} // of the manifest
			build := func(number int, source iter.Seq2[export.Record, error]) error {
				sorted := projection.Sorted{Events: func(context.Context) iter.Seq2[projection.Event, error] { return export.Map(source, factIn) }}
				next := of.Namespace(number)
				started, err := next.Start(s.ctx, "ann")
				s.must(err)
				if _, err := next.Load(s.ctx, started, sorted.Entries(s.ctx, ""), nil); err != nil {
					return err
				}
				if _, err := next.Prove(s.ctx, projection.Evidence{Want: want, By: "ann"}); err != nil {
					return err
				}
				before, err := of.Alias(s.ctx)
				s.must(err)
				_, err = next.Cutover(s.ctx, before, "ann")
				return err
			}
			readers := func() int {
				alias, err := of.Alias(s.ctx)
				s.must(err)
				return alias.Namespace
			}

			var page []export.Record
			for _, item := range firstPage(s) {
				page = append(page, export.Record{New: item})
			}
			s.wants("one page is not proved", errors.Is(build(2, list(page...)), projection.ErrUnproved), true)
			s.wants("readers", readers(), 1)

			scan, err := export.NewScan(s.client, export.ScanConfig{Table: store.Name, Consistent: true})
			s.must(err)
			bucket := fstest.MapFS{}
			create := func(name string, content []byte) error { bucket[name] = &fstest.MapFile{Data: content}; return nil }
			dir, err := export.Write(create, export.WriteConfig{Table: store.Name, ExportTime: opening, ItemsPerFile: 10}, scan.Records(s.ctx))
			s.must(err)
			dataset, err := export.Open(bucket, dir, export.Config{})
			s.must(err)
			for name, file := range bucket {
				if strings.Contains(name, "/data/") {
					whole := file.Data
					file.Data = whole[:len(whole)/2]
					s.wants("a cut export is refused", errors.Is(build(3, dataset.Records(s.ctx, export.Position{})), export.ErrChecksum), true)
					file.Data = whole
					break
				}
			}
			s.wants("readers", readers(), 1)

			s.must(build(4, dataset.Records(s.ctx, export.Position{})))
			s.wants("readers, and what they see", []any{readers(), s.value("VIEW#4", "facts")}, []any{4, strconv.Itoa(facts)})
		})
}

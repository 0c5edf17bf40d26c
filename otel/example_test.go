package otel_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/otel"
	"github.com/dynafin/dynafin/txn"
)

// A service hands its providers over, or sets the global ones; here a reader shows what would be exported.
func Example() {
	ctx := context.Background()
	reader := metric.NewManualReader()
	watch, err := otel.New(otel.Config{MeterProvider: metric.NewMeterProvider(metric.WithReader(reader))})
	if err != nil {
		fmt.Println(err)
		return
	}
	db := dynamosim.Open(dynamosim.Options{})
	if err := db.CreateTable("Orders"); err != nil {
		fmt.Println(err)
		return
	}
	orders := txn.Table{Name: "Orders"}
	commits := txn.New(db.Client(), txn.Config{Observer: watch})
	order := txn.Put(orders, orders.Key("ORDER#1", "META"), txn.IfAbsent(), txn.Label("AP01.accept"))
	for range 3 {
		_, _ = commits.Commit(ctx, order) // the second and the third are rejected
	}
	var collected metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &collected); err != nil {
		fmt.Println(err)
	}
	for _, m := range collected.ScopeMetrics[0].Metrics {
		if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == otel.MetricOperations {
			for _, p := range sum.DataPoints {
				outcome, _ := p.Attributes.Value("dynafin.outcome")
				pattern, _ := p.Attributes.Value("dynafin.pattern")
				fmt.Println(pattern.AsString(), outcome.AsString(), p.Value)
			}
		}
	}
	// Unordered output:
	// AP01 ok 1
	// AP01 rejected 2
}

package export_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/export"
)

// A table is read without an export, by a run that was broken off, and written as an export would be.
func ExampleScan() {
	ctx := context.Background()
	db := dynamosim.Open(dynamosim.Options{})
	for _, name := range []string{"Orders", export.DefaultCheckpoints} {
		if err := db.CreateTable(name); err != nil {
			panic(err)
		}
	}
	for n := range 9 {
		item := order(n)
		item["SK"] = &types.AttributeValueMemberS{Value: "META"}
		if _, err := db.Client().PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("Orders"), Item: item}); err != nil {
			panic(err)
		}
	}
	scan, err := export.NewScan(db.Client(), export.ScanConfig{Table: "Orders", Name: "audit-7", Segments: 1, PageSize: 2, UnitsPerSecond: 1000})
	fmt.Println(err)
	n := 0
	for range scan.Records(ctx) {
		if n++; n == 5 {
			break // a crash
		}
	}
	run, err := scan.Run(ctx)
	fmt.Println(run.Items, "of them are done, not", n, err)

	bucket := fstest.MapFS{}
	create := func(name string, content []byte) error {
		bucket[name] = &fstest.MapFile{Data: content}
		return nil
	}
	dir, err := export.Write(create, export.WriteConfig{Table: "Orders", ExportTime: run.StartedAt}, scan.Records(ctx))
	e, openErr := export.Open(bucket, dir, export.Config{})
	fmt.Println("the rest is", e.Manifest().Items, err, openErr)
	// Output:
	// <nil>
	// 4 of them are done, not 5 <nil>
	// the rest is 5 <nil> <nil>
}

// An export is read, from the start and from where an earlier run was. Then a file of it is cut.
func Example() {
	ctx := context.Background()
	bucket := fstest.MapFS{} // in production: os.DirFS, or an fs.FS over S3
	create := func(name string, content []byte) error {
		bucket[name] = &fstest.MapFile{Data: content}
		return nil
	}
	dir, err := export.Write(create, export.WriteConfig{Table: "Orders", ExportTime: day, ItemsPerFile: 2}, same(orders(3)...))
	fmt.Println(dir, err)

	e, err := export.Open(bucket, dir, export.Config{})
	fmt.Println(e.Manifest().Items, "items at", e.Manifest().ExportTime, err)
	stored := ""
	for r, err := range e.Records(ctx, export.Position{}) {
		fmt.Println(r.New["PK"].(*types.AttributeValueMemberS).Value, err)
		if stored = r.At.String(); r.At.Line == 2 {
			break
		}
	}
	behind, err := e.Position(stored)
	for r, err := range e.Records(ctx, behind) {
		fmt.Println("then", r.New["PK"].(*types.AttributeValueMemberS).Value, err)
	}
	fmt.Println(err)

	for name, file := range bucket {
		if strings.HasSuffix(name, ".gz") {
			file.Data = file.Data[:len(file.Data)-1]
		}
	}
	e, _ = export.Open(bucket, dir, export.Config{})
	for _, err := range e.Records(ctx, export.Position{}) {
		fmt.Println("cut:", errors.Is(err, export.ErrChecksum), errors.Is(err, export.ErrDamaged))
	}
	// Output:
	// AWSDynamoDB/01795961880000-0bc40761 <nil>
	// 3 items at 2026-11-29 14:18:00 +0000 UTC <nil>
	// order-0000 <nil>
	// order-0001 <nil>
	// then order-0002 <nil>
	// <nil>
	// cut: true true
}

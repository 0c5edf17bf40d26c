package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

// process surveys the files, imports them one after the other and prints the balances. It returns how many transactions
// were refused; an error says why the import had to stop.
func process(ctx context.Context, o *options, stdin io.Reader, stdout io.Writer, screen *console) (int, error) {
	files, err := openSources(o.files, stdin)
	defer func() {
		for _, file := range files {
			file.remove()
		}
	}()
	if err != nil {
		return 0, err
	}
	found := newSurvey()
	for _, file := range files {
		if err := found.read(ctx, file, func() { screen.progress("%s: reading, %d%%", file.name, file.percent()) }); err != nil {
			return 0, err
		}
	}
	client, config := connect(o)
	b := newBooks(ctx, o.tenant, client, config, found)
	defer b.batcher.Close(ctx)
	if err := errors.Join(createTable(ctx, client, b.book), ctx.Err()); err != nil {
		return 0, err
	}
	if err := b.learn(ctx, o.scale); err != nil {
		return 0, err
	}
	im := &importer{books: b, workers: o.workers,
		complain: func(err error) { screen.say("%v", err) },
		progress: func(done int, file *source) {
			screen.progress("%s: %d transactions, %d%%", file.name, done, file.percent())
		},
	}
	for _, file := range files {
		if err := im.run(ctx, file); err != nil {
			screen.say("%s", im.summary())
			return im.count[bad], err
		}
	}
	screen.say("%s", im.summary())
	for _, note := range found.notes(o.places) {
		screen.say("%s", note)
	}
	rows, err := b.trialBalance(ctx, o.equity)
	if err == nil {
		err = b.print(stdout, rows, o.places)
	}
	if err == nil && o.verify {
		err = b.verify(ctx, screen)
	}
	return im.count[bad], err
}

// connect returns a client of the endpoint or of a new, empty database in this process, and how to retry there. Nearly all
// transactions of a journal meet in a few accounts, so they are patient; an embedded database gets no relief from waiting.
func connect(o *options) (*dynamodb.Client, txn.Config) {
	if o.endpoint == "" {
		return dynamosim.Open(dynamosim.Options{}).Client(), txn.Config{MaxAttempts: 50, BaseDelay: time.Microsecond, MaxDelay: time.Millisecond}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = o.workers
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(o.endpoint),
		Region:       environment("us-east-1", "AWS_REGION", "AWS_DEFAULT_REGION"),
		Credentials:  aws.CredentialsProviderFunc(credentials),
		HTTPClient:   &http.Client{Transport: transport, Timeout: 30 * time.Second},
	}), txn.Config{MaxAttempts: 50, MaxElapsed: 2 * time.Minute, MaxDelay: time.Second}
}

// credentials come from the environment. An emulator wants some, whatever they are.
func credentials(context.Context) (aws.Credentials, error) {
	return aws.Credentials{
		AccessKeyID:     environment("local", "AWS_ACCESS_KEY_ID"),
		SecretAccessKey: environment("local", "AWS_SECRET_ACCESS_KEY"),
		SessionToken:    os.Getenv("AWS_SESSION_TOKEN"),
	}, nil
}

func environment(otherwise string, names ...string) string {
	for _, name := range names {
		if value := os.Getenv(name); value != "" {
			return value
		}
	}
	return otherwise
}

// createTable creates the ledger's table if it is absent, and waits until it can be used.
func createTable(ctx context.Context, client *dynamodb.Client, book *ledger.Ledger) error {
	pk, sk := aws.String("PK"), aws.String("SK")
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String(ledger.DefaultTable),
		BillingMode: types.BillingModePayPerRequest,
		KeySchema:   []types.KeySchemaElement{{AttributeName: pk, KeyType: types.KeyTypeHash}, {AttributeName: sk, KeyType: types.KeyTypeRange}},
		AttributeDefinitions: append(book.IndexAttributes(),
			types.AttributeDefinition{AttributeName: pk, AttributeType: types.ScalarAttributeTypeS},
			types.AttributeDefinition{AttributeName: sk, AttributeType: types.ScalarAttributeTypeS}),
		GlobalSecondaryIndexes: book.Indexes(),
	})
	var exists *types.ResourceInUseException
	if err != nil && !errors.As(err, &exists) {
		return fmt.Errorf("create table %s: %w", ledger.DefaultTable, err)
	}
	ready := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay, o.MaxDelay = time.Second, 5*time.Second })
	if err := ready.Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(ledger.DefaultTable)}, 5*time.Minute); err != nil {
		return fmt.Errorf("wait for table %s: %w", ledger.DefaultTable, err)
	}
	return nil
}

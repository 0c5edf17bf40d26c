package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/examples/brokerage/internal/usage"
)

// wire lies between the SDK and the database, embedded or not. It counts the requests that pass, and it can lose the
// answer to a transaction after DynamoDB has committed it: the failure that tempts programs to do things twice.
type wire struct {
	mu   sync.Mutex
	dice *rand.Rand
	lose float64 // the share of answers that are lost
	sent map[string]int
	lost int

	told     func(fault string)
	patterns *usage.Meter // what the embedded database was used for
	db       *dynamosim.DB
}

func newWire(seed uint64, lose float64) *wire {
	return &wire{dice: rand.New(rand.NewPCG(seed, 0)), lose: lose, sent: map[string]int{}}
}

const transact = "TransactWriteItems"

func (w *wire) fate(c dynamosim.Call) dynamosim.Fate {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent[c.Operation]++
	if c.Operation == transact && w.dice.Float64() < w.lose {
		w.lost++
		if w.told != nil {
			w.told("answer lost")
		}
		return dynamosim.LoseAnswer
	}
	return dynamosim.Deliver
}

// counts returns how many transactions were sent, how many of their answers were lost, and how many requests read items.
func (w *wire) counts() (transactions, lost, reads int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, operation := range [...]string{"GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan"} {
		reads += w.sent[operation]
	}
	return w.sent[transact], w.lost, reads
}

// embedded returns a client of a new, empty database in this process, which lives by the firm's clock. Whatever passes is counted by
// its access pattern, next to the database: answers are lost and workers die in front of that.
func (w *wire) embedded(hours *clock, lag time.Duration) *dynamodb.Client {
	options := dynamosim.Options{Now: hours.now, IndexLag: dynamosim.IndexLag{Max: lag}}
	if hours.speed == 0 { // where all take turns, indexes catch up every so often, and keys are watched
		options.IndexLag.Stepped = lag > 0
		options.Heat = &dynamosim.Heat{WriteUnits: 1_000_000, ReadUnits: 1_000_000}
		seen := hours.now()
		hours.moved = func(now time.Time) {
			if lag > 0 && now.Sub(seen) >= lag {
				seen = now
				w.db.PropagateIndexes(-1)
			}
		}
	}
	w.db = dynamosim.Open(options)
	w.patterns = usage.New(w.db, usage.Brokerage(), w.size)
	return w.db.Client(func(o *dynamodb.Options) {
		o.HTTPClient, o.APIOptions = mortal{dynamosim.Faulty(w.patterns, w.fate)}, append(o.APIOptions, usage.Keep)
	})
}

// size is how large an item is, for the division of a transaction's units.
func (w *wire) size(table string, key map[string]types.AttributeValue) int {
	out, err := w.db.Client().GetItem(context.Background(), &dynamodb.GetItemInput{TableName: aws.String(table), Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return 0
	}
	return capacity.ItemSize(out.Item)
}

// remote returns a client of a DynamoDB endpoint: the service itself, or anything that speaks its protocol.
func (w *wire) remote(endpoint string, workers int) *dynamodb.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = workers
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       environment("us-east-1", "AWS_REGION", "AWS_DEFAULT_REGION"),
		Credentials:  aws.CredentialsProviderFunc(credentials),
		HTTPClient:   mortal{dynamosim.Faulty(&http.Client{Transport: transport, Timeout: 30 * time.Second}, w.fate)},
	})
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

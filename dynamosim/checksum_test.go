package dynamosim_test

import (
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"

	"github.com/dynafin/dynafin/dynamosim"
)

// The SDK holds the checksum of every answer against its body, and logs where they differ: in process and behind a socket.
func TestAClientHasNothingToLog(t *testing.T) {
	db := dynamosim.New(t)
	if err := db.CreateTable("Orders"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(db)
	t.Cleanup(server.Close)
	for name, connect := range map[string]func(*dynamodb.Options){
		"in process": func(*dynamodb.Options) {},
		"a socket":   func(o *dynamodb.Options) { o.HTTPClient, o.BaseEndpoint = server.Client(), aws.String(server.URL) },
	} {
		t.Run(name, func(t *testing.T) {
			var said warnings
			client := db.Client(connect, func(o *dynamodb.Options) { o.Logger = &said })
			ctx := t.Context()
			if _, err := client.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("Orders")}); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("Missing")}); err == nil {
				t.Fatal("a table that is not there was read")
			}
			if len(said.all) > 0 {
				t.Errorf("the SDK logs %q", said.all)
			}
		})
	}
}

// warnings keeps what is logged.
type warnings struct {
	mu  sync.Mutex
	all []string
}

func (l *warnings) Logf(level logging.Classification, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, string(level)+" "+fmt.Sprintf(format, args...))
}

package app

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
)

// Store is the DynamoDB that a run works on.
type Store struct {
	*dynamodb.Client
	// Meter counts what the run consumes.
	Meter *Meter
	// Region is where it is, and Endpoint its address if that is not AWS's.
	Region, Endpoint string
	// Simulator is the saved simulator that it is, or nil.
	Simulator *dynamosim.DB

	// stands is the time of a saved simulator, which stands still.
	stands time.Time
}

// Store connects to the DynamoDB that the flags name, once a run.
func (a *App) Store(ctx context.Context) (*Store, error) {
	if a.store != nil {
		return a.store, nil
	}
	meter := &Meter{now: a.Env.Now, sleep: a.Sleep, maxRead: a.flags.maxRCU}
	var store *Store
	var err error
	switch {
	case a.flags.load != "":
		store, err = a.openSaved(meter)
	case a.Simulator != nil:
		store = &Store{Client: a.Simulator.Client(meter.install, a.network), Region: "us-east-1", Endpoint: "simulator", Simulator: a.Simulator}
	default:
		store, err = a.connect(ctx, meter)
	}
	if err != nil {
		return nil, err
	}
	store.Meter = meter
	a.store = store
	return store, nil
}

// network puts what a test wants between the program and the simulator.
func (a *App) network(o *dynamodb.Options) {
	if a.Network != nil {
		o.HTTPClient, o.RetryMaxAttempts = a.Network(o.HTTPClient), 1
	}
}

func (a *App) openSaved(meter *Meter) (*Store, error) {
	file, err := os.Open(a.flags.load)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	db, err := dynamosim.Load(file, dynamosim.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.flags.load, err)
	}
	return &Store{Client: db.Client(meter.install), Region: db.Client().Options().Region, Endpoint: a.flags.load, Simulator: db, stands: db.Now().UTC()}, nil
}

// connect takes credentials and Region from where the AWS command line takes them.
func (a *App) connect(ctx context.Context, meter *Meter) (*Store, error) {
	var options []func(*config.LoadOptions) error
	if a.flags.region != "" {
		options = append(options, config.WithRegion(a.flags.region))
	}
	c, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, err
	}
	if c.Region == "" {
		if d, err := a.Deployment(); err == nil && len(d.Tables()) == 0 {
			return nil, Usage("which Region? name it with --region, or set AWS_REGION; and %v", d.Missing("PART"))
		}
		return nil, Usage("which Region? name it with --region, or set AWS_REGION")
	}
	client := dynamodb.NewFromConfig(c, meter.install, func(o *dynamodb.Options) {
		if a.flags.endpoint != "" {
			o.BaseEndpoint = aws.String(a.flags.endpoint)
		}
	})
	return &Store{Client: client, Region: c.Region, Endpoint: a.flags.endpoint}, nil
}

// close saves a saved simulator that was written to.
func (a *App) close() error {
	if a.store == nil || a.flags.load == "" || !a.store.Meter.wrote {
		return nil
	}
	return a.store.Simulator.SaveFile(a.flags.load)
}

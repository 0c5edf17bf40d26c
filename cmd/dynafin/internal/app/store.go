package app

import (
	"context"
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
	case a.Simulator != nil:
		store = &Store{Client: a.Simulator.Client(meter.install), Region: "us-east-1", Endpoint: "simulator", Simulator: a.Simulator}
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
		return nil, Usage("which Region? name it with --region, or set AWS_REGION")
	}
	client := dynamodb.NewFromConfig(c, meter.install, func(o *dynamodb.Options) {
		if a.flags.endpoint != "" {
			o.BaseEndpoint = aws.String(a.flags.endpoint)
		}
	})
	return &Store{Client: client, Region: c.Region, Endpoint: a.flags.endpoint}, nil
}

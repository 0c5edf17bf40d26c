package schema

import (
	"context"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
)

// HomeRegion is an option of the SDK's client that holds back every request for another Region with a *RegionError, before
// anything is sent. A replica takes writes, answers conditions from its own copy, and the last writer wins: two Regions that
// both accept an order break every promise of this library, so a client that writes is guarded.
//
//	client := dynamodb.NewFromConfig(config, schema.HomeRegion("eu-west-1"))
func HomeRegion(home string) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(regionGuard(home), middleware.After)
		})
	}
}

func regionGuard(home string) middleware.InitializeMiddleware {
	return middleware.InitializeMiddlewareFunc("dynafin.HomeRegion", func(ctx context.Context, in middleware.InitializeInput,
		next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		if region := awsmiddleware.GetRegion(ctx); region != home {
			return middleware.InitializeOutput{}, middleware.Metadata{},
				&RegionError{Operation: awsmiddleware.GetOperationName(ctx), Home: home, Region: region}
		}
		return next.HandleInitialize(ctx, in)
	})
}

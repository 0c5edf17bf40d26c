package schema_test

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

const anAccount = "123456789012"

// gatekeeper notes what IAM would see of every request that its client sends, and asks judge about it before it is sent.
type gatekeeper struct {
	t    *testing.T
	pks  map[string]string // table, or table/index -> attribute of its partition key
	mu   sync.Mutex
	seen []request
}

func (g *gatekeeper) on(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("gatekeeper", func(ctx context.Context, in middleware.InitializeInput,
			next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			requests := g.requests(in.Parameters)
			g.mu.Lock()
			g.seen = append(g.seen, requests...)
			g.mu.Unlock()
			return next.HandleInitialize(ctx, in)
		}), middleware.After)
	})
}

// take returns what was seen since the last time.
func (g *gatekeeper) take() []request {
	g.mu.Lock()
	defer g.mu.Unlock()
	seen := g.seen
	g.seen = nil
	return seen
}

type item = map[string]types.AttributeValue

// requests returns the accesses of one request: each action of a transaction is judged by itself.
func (g *gatekeeper) requests(parameters any) []request {
	switch in := parameters.(type) {
	case *dynamodb.GetItemInput:
		return []request{g.onKey("GetItem", *in.TableName, in.Key, "")}
	case *dynamodb.PutItemInput:
		return []request{g.onKey("PutItem", *in.TableName, in.Item, "")}
	case *dynamodb.UpdateItemInput:
		return []request{g.onKey("UpdateItem", *in.TableName, in.Key, "")}
	case *dynamodb.DeleteItemInput:
		return []request{g.onKey("DeleteItem", *in.TableName, in.Key, "")}
	case *dynamodb.QueryInput:
		return []request{g.query(in)}
	case *dynamodb.TransactWriteItemsInput:
		return g.transaction(in)
	case *dynamodb.TransactGetItemsInput:
		var all []request
		for _, one := range in.TransactItems {
			all = append(all, g.onKey("GetItem", *one.Get.TableName, one.Get.Key, "TransactGetItems"))
		}
		return all
	case *dynamodb.ScanInput:
		return []request{g.onKey("Scan", *in.TableName, nil, "")}
	case *dynamodb.CreateTableInput, *dynamodb.UpdateTimeToLiveInput:
		return nil // of the test itself
	}
	g.t.Errorf("a request that no primitive is known to make: %T", parameters)
	return nil
}

func (g *gatekeeper) transaction(in *dynamodb.TransactWriteItemsInput) (all []request) {
	const enclosing = "TransactWriteItems"
	for _, one := range in.TransactItems {
		switch {
		case one.Put != nil:
			all = append(all, g.onKey("PutItem", *one.Put.TableName, one.Put.Item, enclosing))
		case one.Update != nil:
			all = append(all, g.onKey("UpdateItem", *one.Update.TableName, one.Update.Key, enclosing))
		case one.Delete != nil:
			all = append(all, g.onKey("DeleteItem", *one.Delete.TableName, one.Delete.Key, enclosing))
		case one.ConditionCheck != nil:
			all = append(all, g.onKey("ConditionCheckItem", *one.ConditionCheck.TableName, one.ConditionCheck.Key, enclosing))
		}
	}
	return all
}

func (g *gatekeeper) onKey(action, table string, key item, enclosing string) request {
	r := access(action, table)
	if pk, ok := key[g.pks[table]].(*types.AttributeValueMemberS); ok {
		r.context["dynamodb:LeadingKeys"] = []string{pk.Value}
	}
	if enclosing != "" {
		r.context["dynamodb:EnclosingOperation"] = []string{enclosing}
	}
	return r
}

func access(action, resource string) request {
	return request{action: "dynamodb:" + action, resource: "arn:aws:dynamodb:eu-west-1:" + anAccount + ":table/" + resource, context: map[string][]string{}}
}

var equality = regexp.MustCompile(`(#?\w+)\s*=\s*(:\w+)`)

// query finds the partition that is asked for in the key condition.
func (g *gatekeeper) query(in *dynamodb.QueryInput) request {
	path := *in.TableName
	if in.IndexName != nil {
		path += "/index/" + *in.IndexName
	}
	r := access("Query", path)
	for _, match := range equality.FindAllStringSubmatch(*in.KeyConditionExpression, -1) {
		name := match[1]
		if strings.HasPrefix(name, "#") {
			name = in.ExpressionAttributeNames[name]
		}
		if value, ok := in.ExpressionAttributeValues[match[2]].(*types.AttributeValueMemberS); ok && name == g.pks[path] {
			r.context["dynamodb:LeadingKeys"] = []string{value.Value}
		}
	}
	if len(r.context) == 0 {
		g.t.Errorf("no partition in %s of %s", *in.KeyConditionExpression, path)
	}
	return r
}

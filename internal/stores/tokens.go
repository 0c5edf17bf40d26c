package stores

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/dynafin/dynafin/dynamosim"
)

// treatTokens makes an endpoint treat request tokens as the options say.
func (o Options) treatTokens(sdk *dynamodb.Options) {
	if o.Tokens == dynamosim.IgnoreTokens {
		sdk.APIOptions = append(sdk.APIOptions, renewTokens)
		return // a token that never comes twice is kept by nothing
	}
	if o.Tokens == dynamosim.MismatchOnRepeat || o.CanceledKeepsToken {
		sdk.HTTPClient = &tokenDesk{next: sdk.HTTPClient, options: o, answers: map[string]answer{}}
	}
}

// renewTokens gives every transaction a token of its own, before it is signed.
func renewTokens(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("RenewTokens", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		if asked, ok := in.Parameters.(*dynamodb.TransactWriteItemsInput); ok {
			renewed := *asked
			renewed.ClientRequestToken = aws.String(rand.Text())
			in.Parameters = &renewed
		}
		return next.HandleInitialize(ctx, in)
	}), middleware.Before)
}

// tokenDesk stands in front of an endpoint and remembers how the transaction of each token ended there.
type tokenDesk struct {
	next    aws.HTTPClient
	options Options

	mu      sync.Mutex
	answers map[string]answer
}

type answer struct {
	status int
	body   []byte
}

const mismatch = `{"__type":"com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException","Message":"` +
	`The request token was used before with other parameters"}`

// Do implements aws.HTTPClient.
func (d *tokenDesk) Do(req *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(req.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
		return d.next.Do(req)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	var in struct{ ClientRequestToken string }
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	if known, ok := d.find(in.ClientRequestToken); ok {
		return known.response(req), nil
	}
	response, err := d.next.Do(req)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	got := answer{status: response.StatusCode}
	if got.body, err = io.ReadAll(response.Body); err != nil {
		return nil, err
	}
	d.keep(in.ClientRequestToken, got)
	return got.response(req), nil
}

func (d *tokenDesk) find(token string) (answer, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known, ok := d.answers[token]
	return known, ok
}

// keep notes what a repeat of the token gets, if the options or this answer make it differ from what the endpoint says.
func (d *tokenDesk) keep(token string, got answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	canceled := got.status == http.StatusBadRequest && bytes.Contains(got.body, []byte("#TransactionCanceledException"))
	switch {
	case token == "":
	case got.status == http.StatusOK && d.options.Tokens == dynamosim.MismatchOnRepeat,
		canceled && d.options.CanceledKeepsToken && d.options.Tokens == dynamosim.MismatchOnRepeat:
		d.answers[token] = answer{http.StatusBadRequest, []byte(mismatch)}
	case canceled && d.options.CanceledKeepsToken:
		d.answers[token] = got
	}
}

func (a answer) response(req *http.Request) *http.Response {
	return &http.Response{
		StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header:        http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		ContentLength: int64(len(a.body)),
		Body:          io.NopCloser(bytes.NewReader(a.body)),
	}
}

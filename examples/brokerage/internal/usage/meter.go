package usage

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
)

// Size tells how many bytes an item has now, 0 if there is none. It is asked after a transaction that updates several items of a
// table, whose sizes are not in the request, if they are more than a unit's worth. Nothing that it does is counted.
type Size func(table string, key map[string]types.AttributeValue) int

// Pattern is what an access pattern used.
type Pattern struct {
	ID string
	// Operations counts items that were written or checked, and reads; Reads of them are reads; Requests are those that they were in.
	Operations, Reads, Requests int
	Read, Write                 capacity.Units
	// Base is the part of Write that items took; the rest is what their index entries took.
	Base capacity.Units
}

// RouteUse is how many operations took a route. An index is taken by what reads it, and by every write that it follows.
type RouteUse struct {
	ID         string
	Operations int
}

// Meter is an aws.HTTPClient that counts what passes, for clients with the option Keep. It is safe for concurrent use.
type Meter struct {
	next   aws.HTTPClient
	routes []Route
	size   Size

	mu          sync.Mutex
	patterns    map[string]*Pattern
	taken       map[string]int
	unknown     map[string]int
	unexplained capacity.Units
	repeats     capacity.Units
}

// New returns a meter in front of a database. Without sizes the units of a transaction are divided by what is in the request.
func New(next aws.HTTPClient, routes []Route, sizes Size) *Meter {
	return &Meter{next: next, routes: routes, size: sizes, patterns: map[string]*Pattern{}, taken: map[string]int{}, unknown: map[string]int{}}
}

// Patterns returns what was used, by ID.
func (m *Meter) Patterns() (all []Pattern) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(m.patterns)) {
		all = append(all, *m.patterns[id])
	}
	return all
}

// Routes returns how often each route was taken, in the order in which New was given them, those that were not as well.
func (m *Meter) Routes() (all []RouteUse) {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := map[string]bool{}
	for _, r := range m.routes {
		if !seen[r.ID] {
			seen[r.ID] = true
			all = append(all, RouteUse{r.ID, m.taken[r.ID]})
		}
	}
	return all
}

// Unknown returns what no route takes, such as a Scan, with how often it was met.
func (m *Meter) Unknown() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.unknown)
}

// Unexplained is how many units of transactions the sizes of items do not explain. They are in no pattern.
func (m *Meter) Unexplained() capacity.Units {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unexplained
}

// Repeats are the read units of transactions that were sent again and found carried out. They are in no pattern.
func (m *Meter) Repeats() capacity.Units {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.repeats
}

// Do passes a request on, asking for what it consumes.
func (m *Meter) Do(req *http.Request) (*http.Response, error) {
	_, operation, ok := strings.Cut(req.Header.Get("X-Amz-Target"), "DynamoDB_20120810.")
	if !ok || !counted[operation] {
		return m.next.Do(req)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	_ = req.Body.Close()
	response, err := m.next.Do(asking(req, body))
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	said, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(said))
	used, err := consumedIn(said)
	if err != nil {
		return nil, err
	}
	m.count(operation, req.Context().Value(inputKey{}), used)
	return response, nil
}

// counted are the operations on items.
var counted = map[string]bool{
	"GetItem": true, "PutItem": true, "UpdateItem": true, "DeleteItem": true, "Query": true, "Scan": true,
	"TransactWriteItems": true, "TransactGetItems": true, "BatchGetItem": true, "BatchWriteItem": true,
}

// asking is the request with the wish to hear of units, by index. It is not signed anew: the database is in this process.
func asking(req *http.Request, body []byte) *http.Request {
	const wish = `"ReturnConsumedCapacity":`
	if bytes.Contains(body, []byte(wish)) {
		body = bytes.Replace(body, []byte(wish+`"TOTAL"`), []byte(wish+`"INDEXES"`), 1)
	} else {
		body = slices.Concat([]byte("{"+wish+`"INDEXES",`), body[1:]) // every operation on items has other members, too
	}
	asked := req.Clone(req.Context())
	asked.Body, asked.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return asked
}

package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"strings"

	"github.com/dynafin/dynafin/dynamosim"
)

// network is the bad network. What becomes of a request follows from the seed, from what the request says, and from how often it was
// sent: not from the order of requests, because a relay sends several at the same time.
type network struct {
	w    *world
	seed uint64
	seen map[string]int
}

// Do implements aws.HTTPClient.
func (n *network) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	fate := dynamosim.Deliver
	switch operation {
	case "TransactWriteItems", "UpdateItem", "PutItem", "DeleteItem":
		if fate, err = n.fate(operation, body); err != nil {
			return nil, err
		}
	}
	return dynamosim.Faulty(n.w.db, func(dynamosim.Call) dynamosim.Fate { return fate }).Do(r)
}

// fate draws what becomes of a request that may change something.
func (n *network) fate(operation string, body []byte) (dynamosim.Fate, error) {
	var request map[string]any
	if err := json.Unmarshal(body, &request); err != nil {
		return 0, err
	}
	delete(request, "ClientRequestToken") // another one each time
	canonical, err := json.Marshal(request)
	if err != nil {
		return 0, err
	}
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	name := operation + string(canonical)
	n.seen[name]++
	chosen := dynamosim.Deliver
	if n.w.dying && operation == "UpdateItem" {
		chosen = dynamosim.LoseAnswer // claims are made, and nobody hears of it
	} else {
		h := fnv.New64a()
		fmt.Fprint(h, n.seed, n.seen[name], name)
		drawn := int(h.Sum64() >> 20 % 1000)
		for _, o := range odds {
			if drawn -= o.part; drawn < 0 {
				chosen = o.fate
				break
			}
		}
	}
	if chosen != dynamosim.Deliver {
		n.w.faults[chosen]++
	}
	return chosen, nil
}

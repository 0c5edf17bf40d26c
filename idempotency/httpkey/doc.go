// Package httpkey makes an HTTP handler safe to repeat: a request with an Idempotency-Key header has its effect once, and
// every repeat gets the first response, byte for byte. It follows the expired draft
// draft-ietf-httpapi-idempotency-key-header-07, on top of package idempotency.
//
//	keys, err := httpkey.New(httpkey.Config{Requests: requests, Client: client, Tenant: authenticated, Observer: log})
//	http.Handle("POST /payments", keys.Wrap(payments))
//
// The Observer is the only one that learns why a request was refused: a client is told 503, and nothing is logged.
// docs/adopting.md adds this to a service that exists, step by step.
//
// # What a client gets
//
//	first request                        the handler's response, after it was stored
//	repeat, completed                    the stored status, chosen headers and body, with Idempotent-Replayed: true
//	repeat, still running                409, Retry-After: the rest of the lease
//	repeat, outcome unknown              409, Retry-After: Config.RepairAfter, until it was found out
//	no key                               400, or the handler without any of this if Config.Optional is set
//	no valid key, or several             400
//	same key, other request              422; nothing of the other one's response is given away
//	body larger than Config.RequestBytesMax   413; nothing was claimed
//	the store does not answer            503, Retry-After: 1; repeat with the same key
//
// The middleware's own responses are application/problem+json (RFC 9457). The key is a string of structured fields or a
// bare token, "x" and x being the same key, of 1 to 255 bytes; parameters and other types are refused. A key belongs to
// the tenant that Config.Tenant says, so take that from what was authenticated.
//
// What makes two requests the same is method, path, query, content type and body; see Config.Operation and Config.Command.
//
// # What a handler has to know
//
// Its response is kept in memory, up to Config.ResponseBytesMax, and sent once it was stored: it cannot be streamed, and
// 1xx responses are left out. Its context ends with the lease. Then:
//
//	it responds with 2xx, 3xx or a definite 4xx    stored, and replayed for ever
//	401, 403, 408, 425, 429                        not stored: nothing happened, a repeat runs the handler again
//	5xx, a panic, a response that is too large, or the client gone and nothing written
//	                                               not stored; what happened is not known, see below
//
// By default a handler's effect counts as [idempotency.External]: unknown means that the request goes to repair, where an
// [idempotency.RepairWorker] with the service's prober finds out. A handler that knows better says so with
// [Exchange.NoEffect], or leaves evidence with [Exchange.Uncertain].
//
// A handler whose whole effect is one DynamoDB transaction commits it with [Exchange.Commit] and Config.Mode
// [idempotency.Transactional]: the response is stored in that transaction, unknown means that nothing was committed, and a
// repeat runs the handler again after a crash. What such a handler writes without Commit is stored by itself: right for a
// refusal, wrong for an effect.
//
// # What a client should do
//
// Repeat what got no answer, a 409 after its Retry-After, and a 503, always with the same key and the same bytes. The client
// of net/http sends a request that has this header again by itself when a connection breaks that it has used before.
//
// # Cost
//
// Begin and Complete of package idempotency: 3 write units for a record of up to 1 KiB, and 2 of the index if external. A
// replay costs 1.
//
// # What it does not do
//
// It does not make the handler atomic; it makes sure that what is unknown is found out. Cookies and other headers that
// Config.Headers does not name are not replayed. Requests of other methods than Config.Methods pass through.
package httpkey

// Package situations draws docs/situations.md: what a client, a service and DynamoDB say to one another when a command comes twice,
// an answer is lost, or a process dies. Nothing is drawn by hand: each situation is played with the real primitives on the embedded
// engine, and every request and answer is written down on its way.
package situations

//go:generate go test -count=1 -run ^TestThePageIsCurrent$ . -update

// Package demo runs a small brokerage on the simulator with a bad network, and checks what must hold in the end: orders that are
// accepted once, whatever was lost; events that are published and take effect once; books that balance. It needs no account, no port
// and no container, and the same seed gives the same run. Some trouble is left on purpose, for the other commands to find and mend.
package demo

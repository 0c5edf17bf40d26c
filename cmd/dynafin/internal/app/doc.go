// Package app is the frame of the program: flags, connection, output, exit codes. Commands stand in packages of their own,
// one for each noun, and have no flags of the frame's and no formats of their own.
//
//	func Command(a *app.App) *cobra.Command { ... }   // of each noun, listed in main
//
//	store, err := a.Store(ctx)                        // the client of --load, --endpoint or AWS, metered
//	d, err := a.Deployment()                          // what is where
//	err = app.Print(a, app.List[item]{...})           // table, json, jsonl or csv
//	return app.Findings("%d events are stuck", n)     // exit code 3
//
// What goes to stdout is data. Progress, hints and the next command go to stderr.
package app

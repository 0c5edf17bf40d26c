// Package look has the commands that read: what they ask the library for, and how it is shown. They change nothing. Each noun
// has a file and a function that returns its verbs.
package look

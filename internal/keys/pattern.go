package keys

import "strings"

// Template returns the grammar of a route, by the name of its function: components stand in braces. It is empty for a
// route that does not exist.
func Template(name string) Key {
	r := routes[name]
	return Key{PK: strings.Join(r.pk, separator), SK: strings.Join(r.sk, separator)}
}

// Pattern returns the partition keys of a route as a pattern for the operator StringLike of IAM: each component is an
// asterisk, but for those that are given, from the first on; an empty one is left open. A pattern is wider than the grammar: an
// asterisk also matches what holds a #. It is empty for a route that does not exist.
func Pattern(name string, known ...string) string {
	segments := append([]string(nil), routes[name].pk...)
	for i, segment := range segments {
		if _, found := componentName(segment); !found {
			continue
		}
		segments[i] = "*"
		if len(known) > 0 {
			if known[0] != "" {
				segments[i] = literal.Replace(escape(known[0]))
			}
			known = known[1:]
		}
	}
	return strings.Join(segments, separator)
}

// literal writes what StringLike would else take for a wildcard or a variable.
var literal = strings.NewReplacer("*", "${*}", "?", "${?}", "$", "${$}")

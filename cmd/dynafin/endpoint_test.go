package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/dynamosim"
)

// The program reaches any endpoint over a socket, with the credentials and the Region that the AWS environment names.
func TestAnyEndpointIsReachedWithTheCredentialsOfTheEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_REGION": "eu-west-1", "AWS_CONFIG_FILE": os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	w := &world{now: start, env: os.Getenv}
	w.db = dynamosim.Open(dynamosim.Options{Now: w.Now})
	if err := outboxTrouble(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.db)
	defer server.Close()
	run := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		env := app.Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: os.Getenv, Now: w.Now,
			Sleep: func(context.Context, time.Duration) error { return nil }, NewID: func() string { return "id" }}
		return app.Run(t.Context(), env, commands...), out.String() + errs.String()
	}
	code, text := run("--endpoint", server.URL, "--table", "outbox:orders=Orders", "outbox", "stats")
	if code != app.ExitFindings || !strings.Contains(text, "7 parked events, 1 stuck event") {
		t.Errorf("exit code %d: %s", code, text)
	}
	code, text = run("--endpoint", server.URL, "--table", "outbox:orders=Orders", "doctor")
	if !strings.Contains(text, server.URL+" answers") || !strings.Contains(text, "EnvConfigCredentials") || !strings.Contains(text, "eu-west-1") {
		t.Errorf("exit code %d: %s", code, text)
	}
	t.Setenv("AWS_REGION", "")
	if code, text := run("--endpoint", server.URL, "--table", "outbox:orders=Orders", "outbox", "stats"); code != app.ExitUsage || !strings.Contains(text, "which Region?") {
		t.Errorf("without a Region: exit code %d: %s", code, text)
	}
	if code, text := run("--endpoint", server.URL, "status"); code != app.ExitUsage || !strings.Contains(text, "which Region?") || !strings.Contains(text, "no deployment file: give --config FILE") {
		t.Errorf("without a Region and a deployment file: exit code %d: %s", code, text)
	}
}

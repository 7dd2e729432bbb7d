package hook

import "testing"

func TestRunsOfTestsAreTold(t *testing.T) {
	for command, want := range map[string]bool{
		"go test ./...": true, "cd sub && go test -run X .": true, "CI=1 npm test": true, "npm run test -- --watch": true, "python -m pytest -q": true, "cargo nextest run": true,
		"make check": true, "make e2e-test": true, "./gradlew :app:test": true, "npx vitest run": true, "bundle exec rake spec": true,
		"go build ./...": false, "git commit -m 'add tests'": false, "cat pytest.ini": false, "ls test": false, "make build": false, "npm install": false, "echo latest": false,
	} {
		if got := RunsTests(command); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
	for output, want := range map[string]bool{
		"--- FAIL: TestX (0.00s)\nFAIL\nFAIL\tx\t0.1s\n": true, "===== 2 failed, 3 passed in 0.2s =====": true, "test result: FAILED. 1 passed; 1 failed": true, "Tests:       1 failed, 2 passed": true,
		"not ok 2 - parses": true, "Exit code: 101\nOutput:\n": true, "  3 failing": true, "12 examples, 1 failure": true,
		"ok  \tx\t0.1s": false, "===== 5 passed in 0.2s =====": false, "test result: ok. 4 passed; 0 failed": false, "Tests:       2 passed": false, "12 examples, 0 failures": false, "Exit code: 0": false,
	} {
		if got := FailedTests(output); got != want {
			t.Errorf("%q: %v", output, got)
		}
	}
}

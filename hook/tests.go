package hook

import (
	"whetstone/internal/late"
)

var (
	testCommand = late.Regexp(`(?m)(?:^|[;&|(])\s*(?:\w+=\S*\s+)*(?:(?:sudo|time|env|timeout \S+)\s+)?(?:go test|cargo (?:test|nextest)|(?:python3? -m )?pytest|(?:npm|pnpm|yarn|bun)(?: run)? test[\w:-]*|npx (?:jest|vitest|mocha|playwright)|jest|vitest|mocha|rspec|(?:bundle exec )?rake (?:test|spec)|phpunit|ctest|(?:\./)?(?:gradlew|mvnw?|gradle)\b[^;&|]*\btest\w*|dotnet test|mix test|swift test|make (?:[\w-]+-)?(?:test|check)|tox|nox|bats)(?:\s|[;&|)]|$)`)
	testFailure = late.Regexp(`(?m)^Exit code: [1-9]|^(?:--- FAIL|FAIL\b)|^=+ .*\b\d+ failed\b|^test result: FAILED|^Tests:\s+\d+ failed|^not ok \d+|^\s*\d+ failing$|^\d+ examples?, [1-9]\d* failures?|^FAILURES!$`)
)

// RunsTests reports whether a command runs a project's tests, as far as its words tell.
func RunsTests(command string) bool {
	if len(command) > maxOwn {
		command = command[:maxOwn]
	}
	return testCommand().MatchString(command)
}

// FailedTests reports whether the output of a run of tests says that some failed: a pipe hides the exit code.
func FailedTests(output string) bool {
	if len(output) > 2*maxOwn {
		output = output[len(output)-2*maxOwn:]
	}
	return testFailure().MatchString(output)
}

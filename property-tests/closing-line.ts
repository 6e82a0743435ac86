/**
 * Closes a test run with the plain line "N passed, N failed, N skipped", which the build reads, and says aloud how many tests on a real
 * control plane were skipped.
 */
import type { Reporter, TestModule } from "vitest/node"

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    let cluster = 0
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      if (module.state() === "failed" && tests.length === 0) count.failed++
      for (const test of tests) {
        const { state } = test.result()
        count[state]++
        if (state === "skipped" && module.moduleId.includes("/cluster-tests/")) cluster++
      }
    }
    if (cluster > 0)
      process.stdout.write(
        `\n${cluster} cluster tests were skipped: npm run cluster:tools builds the control plane that they need\n`
      )
    const skipped = count.skipped + count.pending
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed, ${skipped} skipped\n`)
  }
}

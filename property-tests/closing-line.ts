/** Closes a test run with the plain line "N passed, N failed, N skipped", which the build reads. */
import type { Reporter, TestModule } from "vitest/node"

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      if (module.state() === "failed" && tests.length === 0) count.failed++
      for (const test of tests) count[test.result().state]++
    }
    const skipped = count.skipped + count.pending
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed, ${skipped} skipped\n`)
  }
}

/**
 * Closes a test run with the plain line "N passed, N failed, N skipped", which the build reads, and says aloud how many tests on a real
 * control plane were skipped.
 */
import type { Reporter, TestModule } from "vitest/node"
import { binaries, CONTROL_PLANE } from "../cluster-tests/binaries.ts"

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    let cluster = 0
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      // a file that can't be read, or a hook that failed: then no test of it did
      if (module.state() === "failed" && tests.every((test) => test.result().state !== "failed"))
        count.failed++
      for (const test of tests) {
        const { state } = test.result()
        count[state]++
        if (state === "skipped" && module.moduleId.includes("/cluster-tests/")) cluster++
      }
    }
    const found = binaries(CONTROL_PLANE)
    // others were left out by the caller
    if (cluster > 0 && found._tag === "Missing")
      process.stdout.write(`\n${cluster} cluster tests were skipped: ${found.reason}\n`)
    const skipped = count.skipped + count.pending
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed, ${skipped} skipped\n`)
  }
}

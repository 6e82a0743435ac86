import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Of the files that take minutes: what begins last must not be what takes longest. */
const LONG = ["settle-more", "settle", "plans", "crash", "access"]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONG.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
      return at === -1 ? LONG.length : at
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    include: ["property-tests/**/*.test.ts", "cluster-tests/**/*.test.ts"],
    globalSetup: "./cluster-tests/setup.ts",
    reporters: ["default", "./property-tests/closing-line.ts"],
    sequence: { sequencer: LongestFirst },
    testTimeout: 240_000,
    hookTimeout: 60_000,
    // A story that fails prints its seed and path; nothing is retried.
    retry: 0
  }
})

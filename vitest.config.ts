import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["property-tests/**/*.test.ts", "cluster-tests/**/*.test.ts"],
    globalSetup: "./cluster-tests/setup.ts",
    reporters: ["default", "./property-tests/closing-line.ts"],
    testTimeout: 240_000,
    hookTimeout: 60_000,
    // A story that fails prints its seed and path; nothing is retried.
    retry: 0
  }
})

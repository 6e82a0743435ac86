import { defineConfig } from "vitest/config"
export default defineConfig({ test: { include: ["property-tests/**/*.test.ts"], testTimeout: 240000, bail: 1, reporters: ["dot"] } })

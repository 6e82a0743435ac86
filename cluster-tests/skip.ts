/** Tests that need a real control plane: skipped where its programs are missing, failed where SERVICEGROUP_CLUSTER=required. */
import { test, type TestContext } from "vitest"
import { binaries, CONTROL_PLANE } from "./binaries.ts"

export const available = (): boolean => binaries(CONTROL_PLANE)._tag === "Found"

/** Milliseconds for a test whose faults last so many seconds, besides what it waits for. */
export const lasting = (seconds: number): number => 240_000 + seconds * 1000

/** `timeout`: milliseconds, where the usual ones are less than what is waited for inside. */
export const clusterTest = (name: string, body: () => Promise<void>, timeout = lasting(0)): void => {
  const found = binaries(CONTROL_PLANE)
  testUnless(found._tag === "Missing" ? found.reason : undefined, name, body, timeout)
}

/** A test that can't be where `missing` says what is missing. */
export const testUnless = (
  missing: string | undefined,
  name: string,
  body: (context: TestContext) => Promise<void>,
  timeout = lasting(0)
): void => {
  if (missing === undefined) return test(name, body, timeout)
  if (process.env["SERVICEGROUP_CLUSTER"] !== "required") return test.skip(name)
  test(name, () => {
    throw new Error(`SERVICEGROUP_CLUSTER=required, but ${missing}`)
  })
}

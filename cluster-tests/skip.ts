/** Tests that need a real control plane: skipped where its programs are missing, failed where SERVICEGROUP_CLUSTER=required. */
import { test } from "vitest"
import { binaries, CONTROL_PLANE } from "./binaries.ts"

export const available = (): boolean => binaries(CONTROL_PLANE)._tag === "Found"

/** Milliseconds for a test whose faults last so many seconds, besides what it waits for. */
export const lasting = (seconds: number): number => 240_000 + seconds * 1000

/** `timeout`: milliseconds, where the usual ones are less than what is waited for inside. */
export const clusterTest = (name: string, body: () => Promise<void>, timeout = lasting(0)): void => {
  const found = binaries(CONTROL_PLANE)
  if (found._tag === "Found") return test(name, body, timeout)
  if (process.env["SERVICEGROUP_CLUSTER"] !== "required") return test.skip(name)
  test(name, () => {
    throw new Error(`SERVICEGROUP_CLUSTER=required, but ${found.reason}`)
  })
}

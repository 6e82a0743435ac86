/** Tests that need a real control plane: skipped where its programs are missing, failed where SERVICEGROUP_CLUSTER=required. */
import { test } from "vitest"
import { binaries, CONTROL_PLANE } from "./binaries.ts"

export const available = (): boolean => binaries(CONTROL_PLANE)._tag === "Found"

export const clusterTest = (name: string, body: () => Promise<void>): void => {
  const found = binaries(CONTROL_PLANE)
  if (found._tag === "Found") return test(name, body)
  if (process.env["SERVICEGROUP_CLUSTER"] !== "required") return test.skip(name)
  test(name, () => {
    throw new Error(`SERVICEGROUP_CLUSTER=required, but ${found.reason}`)
  })
}

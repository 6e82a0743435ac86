/**
 * An object apart from what is made up: uids, times, revisions. So two stories with one end have the same objects.
 */
import type { KubeObject } from "../../src/core/kube.ts"

export const essence = (object: KubeObject): unknown =>
  JSON.parse(JSON.stringify(object), (key, value: unknown) =>
    MADE_UP.has(key) ? undefined : withoutUids(value)
  ) as unknown

/** Keys of managedFields name owners by their uid. */
const withoutUids = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, each]) => [key.replace(/\{"uid":"[^"]*"\}/, "uid"), each as unknown])
      )
    : value

const MADE_UP: ReadonlySet<string> = new Set([
  "uid",
  "resourceVersion",
  "time",
  "lastTransitionTime",
  "creationTimestamp"
])

/** What is to be known of a kind to compare what is done with it. */
import fc from "fast-check"
import { fields, metadata } from "./fields.ts"
import { NAMESPACE } from "./turns.ts"

export interface Kind {
  readonly kind: string
  readonly apiVersion: string
  readonly collection: string
  /** of every namespace */
  readonly everywhere: string
  readonly names: readonly string[]
  readonly custom: boolean
  /** has a scale */
  readonly scales: boolean
  readonly object: (name: string) => fc.Arbitrary<object>
  /** undefined where the kind has no status of its own to write */
  readonly status: fc.Arbitrary<object> | undefined
  /** pointers that a JSON patch may go to */
  readonly pointers: readonly string[]
  /** operations of a JSON patch that can be done to most of its objects */
  readonly edits: readonly object[]
  readonly fieldSelectors: readonly string[]
  /** those that the object made at the end of a watch fulfils */
  readonly watchedFields: readonly string[]
}

type Spec = Readonly<Record<string, fc.Arbitrary<unknown>>>

/** A kind of a group and version, by what its objects are made of besides their metadata. */
export const kind = (
  apiVersion: string,
  name: string,
  plural: string,
  rest: Pick<Kind, "status" | "pointers" | "edits" | "fieldSelectors"> & {
    readonly parts: Spec
    readonly cluster?: true
    readonly watchedFields?: readonly string[]
  }
): Kind => {
  const base = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`
  const { parts, cluster, watchedFields = [], ...others } = rest
  const custom = apiVersion.startsWith("superedge.io/")
  const everywhere = `${base}/${plural}`
  return {
    ...others,
    watchedFields,
    kind: name,
    apiVersion,
    everywhere,
    collection: cluster ? everywhere : `${base}/namespaces/${NAMESPACE}/${plural}`,
    names: cluster ? [`${NAMESPACE}-a`, `${NAMESPACE}-b`] : ["a", "b"],
    custom,
    scales: apiVersion === "apps/v1",
    object: (called) =>
      fields({
        apiVersion: fc.constant(apiVersion),
        kind: fc.constant(name),
        metadata: metadata(called, custom),
        ...parts
      })
  }
}

export const condition = {
  type: "Ready",
  status: "True",
  reason: "R",
  message: "m",
  lastTransitionTime: "2020-01-01T00:00:00Z"
}

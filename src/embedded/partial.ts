/**
 * Metadata alone: what a client gets that asks for PartialObjectMetadata, and for which answers it may ask that.
 */
import type { KubeObject, Resource, Response } from "./cluster.ts"
import { internal, notServedAs } from "./status.ts"

/** The metadata of one object, or of each object of a list: a client must know which it gets. */
export type PartialFormat = "PartialObjectMetadata" | "PartialObjectMetadataList"

export const isPartial = (format: string): format is PartialFormat =>
  format.startsWith("PartialObjectMetadata")

/** One object's metadata; `version` is that of the form, `v1` or `v1beta1`. */
export const partial = ({ metadata }: KubeObject, version: string): object => ({
  kind: "PartialObjectMetadata",
  apiVersion: `meta.k8s.io/${version}`,
  metadata
})

/** The metadata of a list's objects; null where there is none, as Go writes it. */
export const partials = (
  metadata: Readonly<Record<string, unknown>>,
  objects: readonly KubeObject[],
  version: string
): object => {
  const { resourceVersion, continue: token, remainingItemCount } = metadata
  return {
    kind: "PartialObjectMetadataList",
    apiVersion: `meta.k8s.io/${version}`,
    metadata: {
      resourceVersion,
      ...(token ? { continue: token } : {}),
      ...(remainingItemCount === undefined ? {} : { remainingItemCount })
    },
    items: objects.length === 0 ? null : objects.map((each) => partial(each, version))
  }
}

/** The refusal of an answer that isn't what was asked for: a list where one object was, or the other way round. */
export const misfit = (format: PartialFormat, resource: Resource, isList: boolean): Response | undefined => {
  if (isList === (format === "PartialObjectMetadataList")) return undefined
  // of a custom kind the server takes any object for a list until it looks into it
  if (resource.custom && !isList) return internal("content is not a list")
  const what = `the requested object is ${isList ? "a list" : "not a list"} (${goType(resource, isList)})`
  return notServedAs(`you requested ${format}, but ${what}`)
}

/** What the server calls a kind within itself. */
const goType = ({ custom, group, kind, listKind }: Resource, isList: boolean): string => {
  if (custom) return "*unstructured.UnstructuredList"
  const home = group === "" || group === "events.k8s.io" ? "core" : group.split(".")[0]
  return `*${home}.${isList ? listKind : kind}`
}

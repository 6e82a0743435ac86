/**
 * What is kept of the objects that the API gives: decoded once, when they arrive, and reduced to what the rules read.
 */
import { child, type Child, type ChildObject } from "../core/child.ts"
import type { ChildKind } from "../core/schema.ts"
import type { Grid } from "../core/grid.ts"
import { isObject } from "../core/json.ts"
import type { StringMap } from "../core/kube.ts"
import { statusDigest } from "../core/status.ts"
import { type Identity, type Malformed, malformed } from "./wire.ts"

export interface SeenNode {
  readonly key: string
  readonly uid: string
  readonly revision: string
  readonly labels: StringMap
}

export interface SeenGrid {
  readonly key: string
  readonly uid: string
  readonly revision: string
  /** without managedFields and states, which weigh more than all the rest */
  readonly grid: Grid
  /** of the status that stands there now */
  readonly statusDigest: string
}

const part = (raw: unknown, name: string): { readonly [key: string]: unknown } => {
  const value = isObject(raw) ? raw[name] : undefined
  return isObject(value) ? value : {}
}

export const seenNode = (raw: unknown, { key, uid, revision }: Identity): SeenNode => ({
  key,
  uid,
  revision,
  labels: part(part(raw, "metadata"), "labels") as StringMap
})

/** A grid of the given kind. What isn't an object where one belongs is taken as absent, so that a rule can refuse it by name. */
export const seenGrid =
  (kind: Grid["kind"]) =>
  (raw: unknown, { key, uid, revision }: Identity): SeenGrid => {
    const { managedFields: _, ...metadata } = part(raw, "metadata")
    const { states: __, ...status } = part(raw, "status")
    const grid = { apiVersion: "superedge.io/v1", kind, metadata, spec: part(raw, "spec"), status }
    return {
      key,
      uid,
      revision,
      grid: grid as unknown as Grid,
      statusDigest: statusDigest(part(raw, "status"))
    }
  }

/** A child of the given kind. `legacy`: field managers whose fields are taken over. */
export const seenChild =
  (kind: ChildKind, legacy: readonly string[]) =>
  (raw: unknown): Child | Malformed =>
    isObject(raw) && isObject(raw["metadata"])
      ? child(kind, raw as unknown as ChildObject, legacy)
      : malformed(`a ${kind} without metadata`)

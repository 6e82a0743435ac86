/**
 * What is kept of the objects that the API gives: decoded once, when they arrive, and reduced to what the rules read.
 */
import { child, type Child, type ChildObject, serviceNameOf } from "../core/child.ts"
import type { ChildKind } from "../core/schema.ts"
import type { Grid } from "../core/grid.ts"
import { isObject } from "../core/json.ts"
import type { StringMap } from "../core/kube.ts"
import type { Rival } from "../core/rivals.ts"
import { type Site, site } from "../core/site.ts"
import { SiteNode } from "../core/site-node.ts"
import { outlineOf, siteStatusDigest } from "../core/site-status.ts"
import { statusDigest } from "../core/status.ts"
import { type Identity, type Malformed, malformed } from "./wire.ts"

export interface SeenNode {
  readonly key: string
  readonly uid: string
  readonly revision: string
  readonly labels: StringMap
  /** as sites see it; undefined where nobody looks after sites */
  readonly site: SiteNode | undefined
}

/** A unit or a group. */
export interface SeenSite {
  readonly key: string
  readonly uid: string
  readonly revision: string
  readonly site: Site
  /** of the status that stands there now */
  readonly statusDigest: string
  /** what of that status is told soon */
  readonly outline: string
  /** those that stand there now */
  readonly conditions: unknown
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

/** A node. `sites`: whether someone looks after sites. */
export const seenNode =
  (sites: boolean) =>
  (raw: unknown, { key, uid, revision }: Identity): SeenNode => ({
    key,
    uid,
    revision,
    labels: part(part(raw, "metadata"), "labels") as StringMap,
    site: sites ? new SiteNode(raw) : undefined
  })

export const seenSite =
  (kind: Site["kind"]) =>
  (raw: unknown, { key, uid, revision }: Identity): SeenSite => ({
    key,
    uid,
    revision,
    site: site(kind, raw),
    statusDigest: siteStatusDigest(part(raw, "status")),
    outline: outlineOf(part(raw, "status")),
    conditions: part(raw, "status")["conditions"]
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

/** A StatefulSet of nobody's: its name and its Service. */
export const seenOther = (raw: unknown, { key, uid, revision }: Identity): Rival => ({
  key,
  uid,
  revision,
  serviceName: serviceNameOf(raw)
})

/**
 * The writes that a pass over sites asks for, each of them one request.
 *
 * Guarantees: a node, a unit or a group is changed or deleted only as it was read (uid and resourceVersion), a unit is made only where none
 * has its name. Nothing is retried here.
 */
import type * as Effect from "effect/Effect"
import { MANAGER } from "../core/child.ts"
import type { FinalizerPatch } from "../core/finalizer.ts"
import { hash } from "../core/hash.ts"
import { stableJson } from "../core/json.ts"
import { mergePatch, type NodePatch } from "../core/node-patch.ts"
import type { NodeUnit } from "../core/site.ts"
import type { Sites } from "../core/sites.ts"
import type { ApiError, ApiService } from "./api.ts"
import { NODE, SITES } from "./kinds.ts"

export type SiteWrite =
  | { readonly _tag: "Node"; readonly name: string; readonly patch: NodePatch }
  | { readonly _tag: "Finalizers"; readonly name: string; readonly patch: FinalizerPatch }
  | { readonly _tag: "Unit"; readonly name: string; readonly unit: NodeUnit }
  | { readonly _tag: "Deletion"; readonly name: string; readonly unit: Sites["unwanted"][number] }

/** All that is to be written, units and groups before nodes. */
export const siteWrites = ({ finalizers, wanted, nodes, unwanted }: Sites): readonly SiteWrite[] => [
  ...finalizers.map((patch): SiteWrite => ({ _tag: "Finalizers", name: patch.name, patch })),
  ...wanted.map((unit): SiteWrite => ({ _tag: "Unit", name: unit.metadata.name, unit })),
  ...nodes.map((patch): SiteWrite => ({ _tag: "Node", name: patch.name, patch })),
  ...unwanted.map((unit): SiteWrite => ({ _tag: "Deletion", name: unit.name, unit }))
]

/** Whether it may change what nodes are to carry: only once it is done, what they want is known. */
export const comesFirst = ({ _tag }: SiteWrite): boolean => _tag === "Finalizers" || _tag === "Unit"

/** The revision that it is made for; undefined where there is no object yet. */
export const revisionOf = (write: SiteWrite): string | undefined =>
  write._tag === "Unit" ? undefined : bodyOf(write).resourceVersion

/** What tells writes apart. */
export const writeKey = (write: SiteWrite): string =>
  write._tag === "Finalizers"
    ? `${write._tag} ${write.patch.kind} ${write.name}`
    : `${write._tag} ${write.name}`

/** The same for two writes that bring about the same, whatever the revision that they were read at. */
export const writeDigest = (write: SiteWrite): string => {
  const { resourceVersion: _, ...what } =
    write._tag === "Unit" ? { resourceVersion: "", ...write.unit } : bodyOf(write)
  return hash(stableJson(what))
}

const bodyOf = (write: Exclude<SiteWrite, { _tag: "Unit" }>) =>
  write._tag === "Deletion" ? write.unit : write.patch

/** Sends one; gives what the server answered. */
export const send = (api: ApiService, write: SiteWrite): Effect.Effect<unknown, ApiError> => {
  switch (write._tag) {
    case "Node":
      return api.merge(NODE, "", write.name, mergePatch(write.patch), { manager: MANAGER })
    case "Finalizers": {
      const { kind, uid, resourceVersion, finalizers } = write.patch
      const patch = { metadata: { uid, resourceVersion, finalizers } }
      return api.merge(SITES[kind], "", write.name, patch, { manager: MANAGER })
    }
    case "Unit": {
      const { unit } = write
      const made = unit.metadata.uid === undefined ? { resourceVersion: "1" } : {}
      const object = { ...unit, metadata: { ...unit.metadata, ...made } }
      return api.apply(SITES.NodeUnit, object, { manager: MANAGER, force: true })
    }
    case "Deletion": {
      const { uid, resourceVersion } = write.unit
      return api.remove(SITES.NodeUnit, "", write.name, { uid, resourceVersion })
    }
  }
}

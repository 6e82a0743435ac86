/**
 * (unit or group, who is in it, what is refused of it) -> its status.
 *
 * Conditions have no times here: `dated` gives them theirs, so that a time changes only when its status does.
 */
import { iso } from "./instant.ts"
import { hash } from "./hash.ts"
import { isObject, stableJson } from "./json.ts"
import type { Condition } from "./kube.ts"
import {
  byText,
  type NodeGroupStatus,
  type NodeUnitStatus,
  refusal,
  type Site,
  type SiteRefusal,
  text
} from "./site.ts"
import type { SiteNode } from "./site-node.ts"
import { own } from "./value.ts"
import { naming } from "./words.ts"

/** What of an object is refused: all of it (`whole`) or parts, and what its owner should know besides. */
export interface Told {
  readonly whole: SiteRefusal | undefined
  readonly refused: readonly SiteRefusal[]
  readonly notices: readonly SiteRefusal[]
}

interface Verdict {
  readonly status: "True" | "False"
  readonly reason: string
  readonly message: string
}

const no = (reason: string, message: string): Verdict => ({ status: "False", reason, message })

const MESSAGE_LIMIT = 2000
const SEVERAL = 10

const together = (refusals: readonly SiteRefusal[]): string => {
  const rest = refusals.length - SEVERAL
  const all = refusals.slice(0, SEVERAL).map(({ message }) => message)
  const whole = all.join("; ") + (rest > 0 ? `; and ${rest} more` : "")
  return whole.length <= MESSAGE_LIMIT
    ? whole
    : `${whole.slice(0, MESSAGE_LIMIT - 1).replace(/[\uD800-\uDBFF]$/, "")}…`
}

const degraded = ({ refused, notices }: Told): Verdict => {
  const [first, notice] = [refused[0], notices[0]]
  if (first !== undefined) {
    const one = refused.every(({ reason }) => reason === first.reason)
    return { status: "True", reason: one ? first.reason : "SeveralReasons", message: together(refused) }
  }
  return notice === undefined ? no("AsExpected", "nothing is refused") : no(notice.reason, together(notices))
}

const conditions = ({ generation }: Site, ready: Verdict, told: Told): readonly Condition[] => [
  { type: "Ready", ...ready, observedGeneration: generation },
  { type: "Degraded", ...degraded(told), observedGeneration: generation }
]

const unserved = (site: Site, { whole }: Told): Verdict | undefined => {
  if (whole !== undefined) return no(whole.reason, together([whole]))
  return site.deleting ? no("Deleting", "its nodes are cleaned, then it goes") : undefined
}

/** Characters; the server takes objects of about 1.5 MB. */
const LIST_LIMIT = 400_000

/** The first names, as many as fit: five thousand nodes may have names of 253 characters. */
const fitting = (names: readonly string[]): readonly string[] => {
  let left = LIST_LIMIT
  const end = names.findIndex((name) => (left -= name.length + 3) < 0)
  return end === -1 ? names : names.slice(0, end)
}

/** The status of a unit with these nodes. */
export const unitStatus = (unit: Site, members: Iterable<SiteNode>, told: Told): NodeUnitStatus => {
  const all = [...members]
  const named = (ready: boolean): readonly string[] =>
    all
      .filter((node) => node.ready === ready)
      .map(({ name }) => name)
      .sort()
  const [readyNodes, notReadyNodes] = [named(true), named(false)]
  const readyRate = `${readyNodes.length}/${all.length}`
  const verdict = (): Verdict => {
    if (all.length === 0) return no("NoNodes", "no node is named or selected, or none of them exists")
    if (notReadyNodes.length > 0)
      return no("NodesNotReady", `${readyRate} nodes are ready, waiting for ${naming(notReadyNodes)}`)
    return { status: "True", reason: "AllNodesReady", message: `${readyRate} nodes are ready` }
  }
  return {
    observedGeneration: unit.generation,
    nodes: all.length,
    readyRate,
    readyNodes: fitting(readyNodes),
    notReadyNodes: fitting(notReadyNodes),
    conditions: conditions(unit, unserved(unit, told) ?? verdict(), told)
  }
}

/** The status of a group with these units, which have so many nodes. */
export const groupStatus = (
  group: Site,
  members: Iterable<Site>,
  nodes: number,
  told: Told
): NodeGroupStatus => {
  const nodeUnits = [...members].map(({ name }) => name).sort()
  const verdict =
    nodeUnits.length === 0
      ? no("NoUnits", "no unit is named, selected or found, or none of them exists")
      : ({
          status: "True",
          reason: "HasUnits",
          message: `${nodeUnits.length} ${nodeUnits.length === 1 ? "unit" : "units"}`
        } as const)
  return {
    observedGeneration: group.generation,
    nodeUnits,
    unitNumber: nodeUnits.length,
    nodes,
    conditions: conditions(group, unserved(group, told) ?? verdict, told)
  }
}

/** A text that is the same for two statuses exactly where they say the same, times and what others write aside. */
export const siteStatusDigest = (shown: object): string => {
  const at = (field: string): unknown => own(shown, field)
  const conditions = (Array.isArray(at("conditions")) ? (at("conditions") as readonly unknown[]) : [])
    .filter((each) => CONDITIONS.includes(text(own(each, "type"))))
    .map((each) =>
      ["type", "status", "reason", "message", "observedGeneration"].map((field) => own(each, field))
    )
    .sort((a, b) => byText(text(a[0]), text(b[0])))
  return hash(stableJson([FIELDS.map(at), conditions]))
}

/** What of a status changes as nodes and units come and go, and not with the readiness of nodes. */
export const outlineOf = (shown: object): string =>
  JSON.stringify(["nodes", "unitNumber"].map((field) => own(shown, field)))

const CONDITIONS: readonly string[] = ["Ready", "Degraded"]
const FIELDS = [
  "observedGeneration",
  "nodes",
  "readyRate",
  "readyNodes",
  "notReadyNodes",
  "nodeUnits",
  "unitNumber"
]

/** Fields that are kept and have no effect here. */
export const idleFields = (site: Site): readonly SiteRefusal[] => {
  const idle = (field: string, instead: string): SiteRefusal =>
    refusal(site, "FieldHasNoEffect", `spec.${field}`, `is kept and has no effect here; ${instead}`)
  const { spec } = site
  const list: unknown = own(spec, "workload")
  if (site.kind === "NodeGroup")
    return Array.isArray(list) && list.length > 0
      ? [idle("workload", "make a grid whose key is this group")]
      : []
  const level = own(spec, "autonomyLevel")
  const found: SiteRefusal[] = []
  if (level === "L4" || level === "L5")
    found.push(idle("autonomyLevel", "units have no control plane of their own"))
  for (const field of ["unitCredentialConfigMapRef", "unitClusterInfo"])
    if (isObject(own(spec, field))) found.push(idle(field, "units have no control plane of their own"))
  return found
}

/**
 * The conditions with their transition times: the time that stands there now where the status is the same, else this one.
 *
 * @param before the conditions that the object has
 * @param now the time of day, in milliseconds since the epoch
 */
export const dated = (shown: readonly Condition[], before: unknown, now: number): readonly Condition[] =>
  shown.map((condition) => {
    const known = (Array.isArray(before) ? (before as readonly unknown[]) : []).find(
      (each) => own(each, "type") === condition.type && own(each, "status") === condition.status
    )
    const since = own(known, "lastTransitionTime")
    return { ...condition, lastTransitionTime: typeof since === "string" ? since : iso(now) }
  })

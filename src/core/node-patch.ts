/**
 * (node, what its units give it) -> what the node must gain and lose.
 *
 * What someone else put there stays: a label or annotation that is not ours alone, a taint or a cordon that we did not give. Where it
 * stands in the way of what a unit wants, that is told.
 */
import { type Bundle, labelsFor, type Wish } from "./bundle.ts"
import { type Complaints, quoted, refusedWish } from "./complaints.ts"
import { MANAGER } from "./child.ts"
import type { JsonObject, ManagedFieldsEntry } from "./kube.ts"
import { cordonOf, taintsOf } from "./node-spec.ts"
import { byText, GIVEN, type Site, type Taint } from "./site.ts"
import type { Ledger } from "./ledger.ts"
import type { SiteNode } from "./site-node.ts"
import { naming } from "./words.ts"

type Changes = { readonly [key: string]: string | null }

/** What to write to a node, under the revision that was read. Absent: nothing changes there. */
export interface NodePatch {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  /** null: taken away */
  readonly labels?: Changes
  /** null: taken away; `site.superedge.io/given` among them */
  readonly annotations?: Changes
  /** who owns what is given, where the server would not keep it by itself */
  readonly managedFields?: readonly ManagedFieldsEntry[]
  /** the whole list */
  readonly taints?: readonly Taint[]
  readonly unschedulable?: boolean
}

/** The patch as a JSON merge patch (RFC 7386): the server refuses it where the node is another one, or has changed since. */
export const mergePatch = ({
  uid,
  resourceVersion,
  labels,
  annotations,
  managedFields,
  taints,
  unschedulable
}: NodePatch): object => ({
  metadata: {
    ...(uid !== "" && { uid }),
    ...(resourceVersion !== "" && { resourceVersion }),
    ...(labels !== undefined && { labels }),
    ...(annotations !== undefined && { annotations }),
    ...(managedFields !== undefined && { managedFields })
  },
  ...((taints !== undefined || unschedulable !== undefined) && {
    spec: {
      ...(taints !== undefined && { taints: taints.length === 0 ? null : taints }),
      ...(unschedulable !== undefined && { unschedulable: unschedulable ? true : null })
    }
  })
})

/** Labels that the kubelet keeps as they are. */
const KUBELETS: ReadonlySet<string> = new Set([
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch"
])

/** The patch that a node needs, `undefined` where it needs none. What can't be given is added to the complaints. */
export const nodePatch = (
  node: SiteNode,
  bundle: Bundle,
  ledger: Ledger,
  complaints: Complaints
): NodePatch | undefined => {
  for (const each of bundle.clashes) complaints.add(each, node.name)
  const before = ledger.read(node.at("annotations", GIVEN))
  const taints = taintsOf(node, bundle, before, complaints)
  const cordon = cordonOf(node, bundle, before)
  const wished = labelsFor(bundle, (key) => node.at("labels", key))
  for (const [group, units] of bundle.contested)
    complainOfTwo(node, group, units, wished.get(group.name)?.value ?? "", complaints)
  const labels = changes("labels", node, wished, bundle.spared.labels, complaints)
  const annotations = changes("annotations", node, bundle.annotations, bundle.spared.annotations, complaints)
  const written = ledger.write(bundle, taints.ours, cordon.ours)
  if (node.at("annotations", GIVEN) !== written) annotations.push([GIVEN, written ?? null])
  const { list } = taints
  const { set } = cordon
  if (labels.length + annotations.length === 0 && list === undefined && set === undefined) return undefined
  return {
    name: node.name,
    uid: node.uid,
    resourceVersion: node.resourceVersion,
    ...(labels.length > 0 && { labels: sorted(labels) }),
    ...(annotations.length > 0 && { annotations: sorted(annotations) }),
    ...(!node.tracked && ownedBy(labels, annotations)),
    ...(list !== undefined && { taints: list }),
    ...(set !== undefined && { unschedulable: set })
  }
}

type Change = readonly [string, string | null]

/**
 * Of a node of which nobody owns anything the server keeps no owners, whatever is written (until an apply comes): so the first
 * patch says them itself.
 */
const ownedBy = (
  labels: readonly Change[],
  annotations: readonly Change[]
): Pick<NodePatch, "managedFields"> => {
  const set = (place: string, changes: readonly Change[]): JsonObject => {
    const given = changes.filter(([, value]) => value !== null).map(([key]) => [`f:${key}`, {}] as const)
    return given.length === 0 ? {} : { [`f:${place}`]: Object.fromEntries(given) }
  }
  const owned = { ...set("labels", labels), ...set("annotations", annotations) }
  const nothing = Object.keys(owned).length === 0
  const fieldsV1 = { "f:metadata": owned }
  const entry = { manager: MANAGER, operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1 }
  return nothing ? {} : { managedFields: [entry] }
}

const sorted = (all: readonly Change[]): Changes =>
  Object.fromEntries([...all].sort(([a], [b]) => byText(a, b)))

const complainOfTwo = (
  node: SiteNode,
  group: Site,
  units: readonly Site[],
  value: string,
  complaints: Complaints
): void => {
  const hold = naming(units.map(({ name }) => name).sort())
  const says = `${hold} of NodeGroup ${group.name} hold the same nodes, which keep ${group.name}=${value}`
  const advice = "leave each node to one unit of a group"
  for (const about of [...units, group]) {
    const path = about.kind === "NodeUnit" ? "spec" : "spec.nodeUnits"
    complaints.add({ about, reason: "NodeInTwoUnits", path, says, advice }, node.name)
  }
}

const changes = (
  place: "labels" | "annotations",
  node: SiteNode,
  wishes: ReadonlyMap<string, Wish<string>>,
  spared: ReadonlySet<string>,
  complaints: Complaints
): Change[] => {
  const found: Change[] = []
  for (const [key, wish] of wishes) {
    const live = node.at(place, key)
    if (live === wish.value) continue
    const kubelets = place === "labels" && KUBELETS.has(key)
    const ours = live === undefined || (node.ours[place].has(key) && !spared.has(key))
    if (ours && !kubelets) found.push([key, wish.value])
    else if (kubelets)
      refusedWish(
        complaints,
        node.name,
        wish,
        "WellKnownLabel",
        "where the kubelet keeps what it says itself",
        "remove the entry"
      )
    else {
      const owner = node.others(place, key).join(", ")
      const by = owner === "" ? "" : `, set by ${owner}`
      refusedWish(complaints, node.name, wish, "ValueTaken", `where there is ${quoted(live ?? "")}${by}`)
    }
  }
  for (const key of node.ours[place])
    if (key !== GIVEN && node.at(place, key) !== undefined && !wishes.has(key) && !spared.has(key))
      found.push([key, null])
  return found
}

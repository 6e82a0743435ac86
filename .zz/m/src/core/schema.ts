/**
 * How Kubernetes merges the fields of a Deployment, a StatefulSet and a Service, and what it fills in.
 *
 * Only what differs from the rule for everything else is listed: an object is merged field by field, a list is
 * one value. Taken from the API server's OpenAPI document (`x-kubernetes-list-type`, `-list-map-keys`, `-map-type`)
 * and, for values that it fills in inside of lists and objects that are one value, from its defaulting functions
 * (`SetDefaults_*`); the tests hold the table against the document, line by line.
 */

import type { Json } from "./kube.ts"

export type ChildKind = "Deployment" | "StatefulSet" | "Service"

/** The parts of a Kubernetes object that are looked at; whatever they hold, nothing here throws. */
export interface Manageable {
  readonly metadata?: unknown
  readonly spec?: unknown
}

/** A field by which the items of a keyed list are told apart, and its value where an item doesn't name it. */
interface Key {
  readonly name: string
  readonly absent: Json | undefined
}

/**
 * - `Parts`: an object, merged field by field (also: any plain value, and what isn't known here)
 * - `Keyed`: a list, merged item by item; the items are told apart by `keys`
 * - `Set`: a list of plain values, each there or not
 * - `Whole`: an object or a list that is one value; `fields` are those of the object, or of the list's items
 * - `Quantity`: an amount such as `500m`, rounded up to thousandths where `milli`
 */
export interface Shape {
  readonly _tag: "Parts" | "Keyed" | "Set" | "Whole" | "Quantity"
  readonly fields: ReadonlyMap<string, Shape>
  /** The shape of every value of a map (labels, resource lists). */
  readonly every: Shape | undefined
  /** Fields of one value that the server fills in. */
  readonly filled: readonly string[]
  readonly keys: readonly Key[]
  /** The order of a keyed list's items has a meaning (`$(VAR)` in env, the start of containers). */
  readonly ordered: boolean
  /** The items of a keyed list are one value each. */
  readonly wholeItems: boolean
  readonly milli: boolean
  /** Inside of one value: what the server puts where the field is absent. */
  readonly absent: Json | undefined
  /** Inside of one value: `0`, `""` or `{}` says something that absence doesn't. */
  readonly counts: boolean
  /** Inside of one value: the server's own, never compared. */
  readonly ignored: boolean
}

type Table = { readonly [field: string]: Shape | Table }

const isShape = (entry: Shape | Table): entry is Shape => typeof entry["_tag"] === "string"

const base: Shape = {
  _tag: "Parts",
  fields: new Map(),
  every: undefined,
  filled: [],
  keys: [],
  ordered: false,
  wholeItems: false,
  milli: false,
  absent: undefined,
  counts: false,
  ignored: false
}

const fieldsOf = (table: Table): ReadonlyMap<string, Shape> =>
  new Map(Object.entries(table).map(([name, entry]) => [name, isShape(entry) ? entry : parts(entry)]))

const parts = (table: Table): Shape => {
  const fields = fieldsOf(table)
  const filled = [...fields].flatMap(([name, { absent }]) => (absent === undefined ? [] : [name]))
  return { ...base, fields, filled }
}

/** `keys` as in `"containerPort protocol=TCP"`. */
const keyed = (keys: string, item: Table | "whole" = {}): Shape => ({
  ...base,
  _tag: "Keyed",
  keys: keys.split(" ").map((key) => {
    const [name = "", absent] = key.split("=")
    return { name, absent }
  }),
  fields: item === "whole" ? base.fields : fieldsOf(item),
  wholeItems: item === "whole"
})
const ordered = (keys: string, item: Table): Shape => ({ ...keyed(keys, item), ordered: true })
const whole = (table: Table = {}): Shape => ({ ...parts(table), _tag: "Whole" })
const map = (every: Shape): Shape => ({ ...base, every })
const or = (absent: Json): Shape => ({ ...base, absent })

/** What everything that isn't listed is: an object is merged, a list is one value. */
export const unlisted: Shape = base

const set: Shape = { ...base, _tag: "Set" }
const counts: Shape = { ...base, counts: true }
const ignored: Shape = { ...base, ignored: true }
const quantity: Shape = { ...base, _tag: "Quantity" }
const strings = map(base)
const wholeStrings: Shape = { ...strings, _tag: "Whole" }
const amounts = map({ ...quantity, milli: true })
const resources = { limits: amounts, requests: amounts, claims: keyed("name") }
const meta = {
  labels: strings,
  annotations: strings,
  finalizers: set,
  ownerReferences: keyed("uid", "whole")
}

const selector = whole({ matchLabels: strings })
const innerSelector = { ...parts({ matchLabels: strings }), counts: true }
const affinityTerm = { labelSelector: innerSelector, namespaceSelector: innerSelector }
const podAffinity = {
  preferredDuringSchedulingIgnoredDuringExecution: whole({ podAffinityTerm: affinityTerm }),
  requiredDuringSchedulingIgnoredDuringExecution: whole(affinityTerm)
}
const affinity = {
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: whole() },
  podAffinity,
  podAntiAffinity: podAffinity
}

const fieldRef = whole({ apiVersion: or("v1") })
const resourceFieldRef = whole({ divisor: quantity })
const container = {
  env: ordered("name", {
    valueFrom: {
      configMapKeyRef: whole(),
      secretKeyRef: whole(),
      fileKeyRef: whole(),
      fieldRef,
      resourceFieldRef
    }
  }),
  ports: keyed("containerPort protocol=TCP"),
  resources,
  volumeDevices: keyed("devicePath"),
  volumeMounts: keyed("mountPath", { bindMountOptions: set })
}

const items = whole({ mode: counts })
const files = whole({ mode: counts, fieldRef, resourceFieldRef })
const claim = {
  dataSource: whole(),
  selector: { ...selector, counts: true },
  resources: { limits: amounts, requests: amounts },
  storageClassName: counts,
  volumeMode: or("Filesystem")
}
const secretRef = { secretRef: whole() }
const volume = {
  cephfs: secretRef,
  cinder: secretRef,
  flexVolume: { ...secretRef, options: strings },
  iscsi: secretRef,
  rbd: secretRef,
  scaleIO: secretRef,
  storageos: secretRef,
  csi: { nodePublishSecretRef: whole(), volumeAttributes: strings },
  configMap: { items },
  secret: { items },
  downwardAPI: { items: files },
  emptyDir: { sizeLimit: quantity },
  ephemeral: { volumeClaimTemplate: { metadata: meta, spec: claim } },
  projected: {
    sources: whole({
      configMap: { items },
      secret: { items },
      downwardAPI: { items: files },
      clusterTrustBundle: { labelSelector: innerSelector },
      podCertificate: { userAnnotations: strings },
      serviceAccountToken: { expirationSeconds: or(3600) }
    })
  }
}

const pod = {
  affinity,
  containers: ordered("name", container),
  dnsConfig: { options: whole({ value: counts }) },
  ephemeralContainers: keyed("name", container),
  evictionResponders: keyed("name", "whole"),
  hostAliases: keyed("ip"),
  imagePullSecrets: keyed("name", "whole"),
  initContainers: ordered("name", container),
  nodeSelector: wholeStrings,
  overhead: amounts,
  resourceClaims: keyed("name"),
  resources,
  schedulingGates: keyed("name"),
  tolerations: whole({ tolerationSeconds: counts }),
  topologySpreadConstraints: keyed("topologyKey whenUnsatisfiable", { labelSelector: selector }),
  volumes: keyed("name", volume)
}

const workload = { selector, template: { metadata: meta, spec: pod } }
const claimTemplate = whole({
  apiVersion: or("v1"),
  kind: or("PersistentVolumeClaim"),
  metadata: { labels: strings, annotations: strings },
  spec: claim,
  status: ignored
})

/** The shape of a field of an object, or of an item of a list. */
export const shapeOf = (shape: Shape, field: string): Shape =>
  shape.fields.get(field) ?? shape.every ?? unlisted

/** The shape of a child of this kind, from its root. */
export const shapes: { readonly [kind in ChildKind]: Shape } = {
  Deployment: parts({ metadata: meta, spec: workload }),
  StatefulSet: parts({ metadata: meta, spec: { ...workload, volumeClaimTemplates: claimTemplate } }),
  Service: parts({ metadata: meta, spec: { ports: keyed("port protocol=TCP"), selector: wholeStrings } })
}

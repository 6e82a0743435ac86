/**
 * NodeUnits and NodeGroups as people write them: those that the CRDs take whole, and those that they refuse, with what the refusal says. Judged
 * on the embedded cluster and on a real API server.
 */
export interface SiteObject {
  readonly apiVersion: string
  readonly kind: "NodeUnit" | "NodeGroup"
  readonly metadata: { readonly name: string; readonly finalizers?: readonly string[] }
  readonly spec?: object
}

export const VERSIONS = ["v1alpha2", "v1alpha1"] as const
export type Version = (typeof VERSIONS)[number]

export const site = (
  kind: SiteObject["kind"],
  name: string,
  spec?: object,
  version: Version = "v1alpha2"
) => ({
  apiVersion: `site.superedge.io/${version}`,
  kind,
  metadata: { name },
  ...(spec === undefined ? {} : { spec })
})

/** Where objects of a kind are, and one of them where it is named. */
export const sitePath = (kind: SiteObject["kind"], version: Version, name?: string): string => {
  const all = `/apis/site.superedge.io/${version}/${kind.toLowerCase()}s`
  return name === undefined ? all : `${all}/${name}`
}

/** Where an object is, or is made. */
export const pathOf = ({ apiVersion, kind, metadata }: SiteObject, named = true): string =>
  sitePath(kind, apiVersion.endsWith("2") ? "v1alpha2" : "v1alpha1", named ? metadata.name : undefined)

/** The spec of an object that was taken, with what is preset. */
export const wholeOf = ({ kind, spec }: SiteObject): object | undefined =>
  kind === "NodeUnit" && spec !== undefined ? { type: "edge", ...spec } : spec

const taint = { key: "edge.example.com/site", value: "beijing", effect: "NoExecute" }
const selector = {
  matchLabels: { "topology.kubernetes.io/zone": "bj", "kubernetes.io/os": "linux", empty: "" },
  matchExpressions: [
    { key: "gpu", operator: "NotIn", values: ["none", ""] },
    { key: "zone", operator: "Exists" },
    { key: "old", operator: "DoesNotExist", values: [] }
  ],
  annotations: { "example.com/Owner": "the team, of course" }
}
const given = {
  labels: { beijing: "nodeunits.superedge.io", location: "beijing", "example.com/x": "" },
  annotations: { note: "any text: {}" },
  taints: [taint, { key: "gpu", effect: "PreferNoSchedule", timeAdded: "2022-07-01T10:00:00Z" }]
}

/** As YAML reads a field after whose colon nothing stands. */
const nothing = { labels: null, annotations: null, taints: null }
const nobody = { matchLabels: null, matchExpressions: null, annotations: null }

export const GOOD: readonly { readonly what: string; readonly object: SiteObject }[] = [
  {
    what: "a unit of named nodes",
    object: site("NodeUnit", "named", {
      autonomyLevel: "L3",
      nodes: ["edge1", "edge2", "edge2"],
      type: "edge",
      unschedulable: false
    })
  },
  {
    what: "a unit with every field of v1alpha2",
    object: site("NodeUnit", "whole", {
      type: "other",
      unschedulable: true,
      nodes: [],
      selector,
      setNode: given,
      taints: [taint],
      autonomyLevel: "L5",
      unitCredentialConfigMapRef: { name: "whole-cm", namespace: "kins-system" },
      unitClusterInfo: { storageType: "built-in-etcd", parameters: { "service-cidr": "10.3.0.0/16" } }
    })
  },
  {
    what: "a unit as v1alpha1 spells it",
    object: site(
      "NodeUnit",
      "older",
      { type: "cloud", unschedulable: false, nodes: ["n1"], selector, setnode: given, taints: [taint] },
      "v1alpha1"
    )
  },
  {
    what: "the unit of all nodes",
    object: site("NodeUnit", "unit-node-all", {
      type: "other",
      selector: { matchLabels: { "kubernetes.io/os": "linux" } }
    })
  },
  { what: "a unit that says nothing", object: site("NodeUnit", "says-nothing") },
  {
    what: "a unit whose fields are null",
    object: site("NodeUnit", "nulls", {
      nodes: null,
      selector: null,
      setnode: null,
      setNode: nothing,
      taints: null
    })
  },
  {
    what: "a group whose fields are null",
    object: site("NodeGroup", "null-group", { nodeUnits: null, selector: nobody, autoFindNodeKeys: null })
  },
  { what: "a unit of 63 characters", object: site("NodeUnit", "u".repeat(63), { type: "master" }) },
  { what: "a unit with dots in its name", object: site("NodeUnit", "1.bei-jing.cn", { type: "edge" }) },
  {
    what: "a group with every field of v1alpha2",
    object: site("NodeGroup", "whole-group", {
      nodeUnits: ["beijing", "guangzhou"],
      selector,
      autoFindNodeKeys: ["zone", "topology.kubernetes.io/region"],
      workload: [{ name: "web", type: "deploy", selector }]
    })
  },
  {
    what: "a group as v1alpha1 spells it",
    object: site(
      "NodeGroup",
      "older-group",
      {
        nodeunits: ["beijing"],
        selector: {},
        autofindnodekeys: ["zone"],
        workload: [{ name: "web", type: "pod" }]
      },
      "v1alpha1"
    )
  },
  { what: "a group of 63 characters", object: site("NodeGroup", "g".repeat(63), {}) }
]

interface Bad {
  readonly what: string
  readonly object: SiteObject
  /** the field, and what to do */
  readonly says: string
}

const KEY = "label key"
const LIMIT = "must have at most 63 characters"
const VALUE = "should match '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$'"
const bad = (what: string, object: SiteObject, ...says: readonly string[]): Bad => ({
  what,
  object,
  says: says.join(": ")
})
const unit = (spec: object, version?: Version): SiteObject => site("NodeUnit", "bad", spec, version)
const group = (spec: object, version?: Version): SiteObject => site("NodeGroup", "bad", spec, version)
const expressing = (expression: object): object => ({ selector: { matchExpressions: [expression] } })
const tainting = (taint: object): object => ({ setNode: { taints: [taint] } })

export const BAD: readonly Bad[] = [
  bad("a unit of 64 characters", site("NodeUnit", "u".repeat(64), {}), LIMIT),
  bad("a unit of 64 characters in v1alpha1", site("NodeUnit", "u".repeat(64), {}, "v1alpha1"), LIMIT),
  bad("a group of 64 characters", site("NodeGroup", "g".repeat(64), {}), LIMIT),
  bad("a unit in capital letters", site("NodeUnit", "Beijing", {}), "metadata.name"),
  bad("a misspelt selector", unit({ selektor: {} }), 'unknown field "spec.selektor"'),
  bad("a misspelt setNode", unit({ setNodes: {} }), 'unknown field "spec.setNodes"'),
  bad("a misspelt field of v1alpha1", unit({ taint: [] }, "v1alpha1"), 'unknown field "spec.taint"'),
  bad("a misspelt field in setNode", unit({ setNode: { label: {} } }), 'unknown field "spec.setNode.label"'),
  bad("a misspelt nodeUnits", group({ nodeUnit: [] }), 'unknown field "spec.nodeUnit"'),
  bad("a type that there isn't", unit({ type: "Edge" }), "spec.type", 'Unsupported value: "Edge"'),
  bad("a node that is no list", unit({ nodes: "n1" }), "spec.nodes", "Invalid value"),
  bad(
    "a number for a label",
    unit({ setNode: { labels: { x: 1 } } }),
    "spec.setNode.labels.x",
    "Invalid value"
  ),
  bad(
    "an illegal key in matchLabels",
    unit({ selector: { matchLabels: { "a b": "c" } } }),
    "spec.selector.matchLabels",
    "Invalid value: must have label keys"
  ),
  bad("an illegal value in matchLabels", unit({ selector: { matchLabels: { a: "b c" } } }), VALUE),
  bad(
    "an illegal key of an expression",
    group(expressing({ key: "a b", operator: "Exists" })),
    "spec.selector.matchExpressions[0].key",
    'Invalid value: "a b"',
    `must be a ${KEY}`
  ),
  bad(
    "an operator that there isn't",
    unit(expressing({ key: "a", operator: "Equals", values: ["b"] })),
    "spec.selector.matchExpressions[0].operator",
    'Unsupported value: "Equals"'
  ),
  bad(
    "In without values",
    unit(expressing({ key: "a", operator: "In" })),
    "spec.selector.matchExpressions[0].values",
    "Invalid value: must be given for In and NotIn"
  ),
  bad(
    "Exists with a value",
    group(expressing({ key: "a", operator: "Exists", values: ["b"] })),
    "spec.selector.matchExpressions[0].values",
    "Invalid value: must be given for In and NotIn"
  ),
  bad(
    "an expression without a key",
    unit(expressing({ operator: "Exists" })),
    "spec.selector.matchExpressions[0].key",
    "Required value"
  ),
  bad(
    "an illegal key in setNode",
    unit({ setNode: { labels: { "a/b/c": "d" } } }),
    "spec.setNode.labels",
    "Invalid value: must have label keys"
  ),
  bad(
    "an illegal value in setNode",
    unit({ setNode: { labels: { a: "-b" } } }),
    "spec.setNode.labels.a",
    'Invalid value: "-b"',
    `spec.setNode.labels.a in body ${VALUE}`
  ),
  bad(
    "a value of 64 characters in setnode",
    unit({ setnode: { labels: { a: "b".repeat(64) } } }, "v1alpha1"),
    "spec.setnode.labels.a",
    "Too long"
  ),
  bad(
    "a taint's effect that there isn't",
    unit(tainting({ key: "a", effect: "Evict" })),
    "spec.setNode.taints[0].effect",
    'Unsupported value: "Evict"'
  ),
  bad(
    "a taint without an effect",
    unit(tainting({ key: "a" })),
    "spec.setNode.taints[0].effect",
    "Required value"
  ),
  bad(
    "an illegal key of a taint",
    unit(tainting({ key: "a b", effect: "NoSchedule" })),
    "spec.setNode.taints[0].key",
    'Invalid value: "a b"',
    `must be a ${KEY}`
  ),
  bad(
    "an illegal value of a taint",
    unit(tainting({ key: "a", value: "b c", effect: "NoSchedule" })),
    "spec.setNode.taints[0].value",
    'Invalid value: "b c"'
  ),
  bad(
    "an illegal key of a taint of v1alpha1",
    unit({ taints: [{ key: "", effect: "NoSchedule" }] }, "v1alpha1"),
    "spec.taints[0].key",
    'Invalid value: ""',
    `must be a ${KEY}`
  ),
  bad(
    "an illegal key to find units by",
    group({ autoFindNodeKeys: ["zone", "a b"] }),
    "spec.autoFindNodeKeys[1]",
    'Invalid value: "a b"',
    `must be a ${KEY}`
  ),
  bad(
    "an illegal key to find units by in v1alpha1",
    group({ autofindnodekeys: [""] }, "v1alpha1"),
    "spec.autofindnodekeys[0]",
    'Invalid value: ""',
    `must be a ${KEY}`
  )
]

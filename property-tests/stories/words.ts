/**
 * What a story's users write: grids in a few words, the objects that those words stand for, and edits of them.
 *
 * The oracle reads the words, the controller reads the objects: neither can be right by looking at the other.
 */
import type { KubeObject } from "../../src/core/kube.ts"

export type GridKind = "DeploymentGrid" | "StatefulSetGrid" | "ServiceGrid"

export interface Slot {
  readonly kind: GridKind
  readonly namespace: string
  readonly name: string
}

/** The grids that a story may have. Two of them want one name: `app` + `edge-a`, `app-edge` + `a`. */
export const SLOTS: readonly Slot[] = [
  { kind: "DeploymentGrid", namespace: "default", name: "app" },
  { kind: "DeploymentGrid", namespace: "default", name: "app-edge" },
  { kind: "StatefulSetGrid", namespace: "default", name: "app" },
  { kind: "ServiceGrid", namespace: "default", name: "app" },
  { kind: "DeploymentGrid", namespace: "edge", name: "app" }
]

export const KEYS = ["zone", "example.io/park"] as const
export const UNITS = ["a", "edge-a", "b", "Zone_A"] as const
export const POOL = ["t1", "t2"] as const

/** How a template, or a whole grid, can be wrong. */
export type Flaw = "twice" | "mismatch" | "illegal" | "typo" | "otherSelector"

/** A workload's template, or a Service's. */
export interface Words {
  /** image `nginx:<n>`; of a Service, its port */
  readonly image: number
  readonly replicas: number | undefined
  /** so many environment variables; of a Service, further ports */
  readonly env: number
  readonly minReady: number | undefined
  /** strategy Recreate, or updateStrategy OnDelete; of a Service, type NodePort */
  readonly recreate: boolean
  readonly flaw: Flaw | undefined
}

export interface GridWords {
  readonly key: string
  readonly template: Words | undefined
  readonly pool: ReadonlyMap<string, Words>
  readonly templates: ReadonlyMap<string, string>
  readonly fallback: string | undefined
  readonly team: string | undefined
  readonly grace: string | undefined
  readonly autoDelete: boolean
}

export type Edit =
  | { readonly _tag: "Template"; readonly of: string; readonly change: Partial<Words> }
  | { readonly _tag: "NoTemplate"; readonly of: string }
  | { readonly _tag: "Assign"; readonly unit: string; readonly name: string | undefined }
  | {
      readonly _tag: "Whole"
      readonly change: Partial<Pick<GridWords, "key" | "fallback" | "team" | "grace" | "autoDelete">>
    }

export const plain: Words = {
  image: 1,
  replicas: 2,
  env: 1,
  minReady: undefined,
  recreate: false,
  flaw: undefined
}

export const simple: GridWords = {
  key: "zone",
  template: plain,
  pool: new Map(),
  templates: new Map(),
  fallback: undefined,
  team: undefined,
  grace: undefined,
  autoDelete: false
}

export const edited = (grid: GridWords, edit: Edit): GridWords => {
  switch (edit._tag) {
    case "Template": {
      if (edit.of === "") return { ...grid, template: { ...(grid.template ?? plain), ...edit.change } }
      const changed = { ...(grid.pool.get(edit.of) ?? plain), ...edit.change }
      return { ...grid, pool: new Map(grid.pool).set(edit.of, changed) }
    }
    case "NoTemplate":
      if (edit.of === "") return { ...grid, template: undefined }
      return { ...grid, pool: new Map([...grid.pool].filter(([name]) => name !== edit.of)) }
    case "Assign": {
      const others = [...grid.templates].filter(([unit]) => unit !== edit.unit)
      return {
        ...grid,
        templates: new Map(edit.name === undefined ? others : [...others, [edit.unit, edit.name]])
      }
    }
    case "Whole":
      return { ...grid, ...edit.change }
  }
}

const envOf = ({ env, flaw }: Words): readonly object[] => {
  const all = Array.from({ length: env }, (_, i) => ({ name: `E${i}`, value: `${i}` }))
  return flaw === "twice" ? [...all, { name: "X", value: "1" }, { name: "X", value: "2" }] : all
}

const workloadSpec = (kind: GridKind, words: Words): object => {
  const { image, replicas, minReady, recreate, flaw } = words
  const app = flaw === "otherSelector" ? "other" : "web"
  const env = envOf(words)
  const container = {
    name: "c",
    image: `nginx:${image}`,
    ...(env.length > 0 && { env }),
    ...(flaw === "typo" && { imagee: "x" }),
    ...(flaw === "illegal" && { ports: [{ containerPort: 70_000 }] })
  }
  return {
    ...(replicas !== undefined && { replicas }),
    ...(minReady !== undefined && { minReadySeconds: minReady }),
    ...(recreate &&
      (kind === "StatefulSetGrid"
        ? { updateStrategy: { type: "OnDelete" } }
        : { strategy: { type: "Recreate" } })),
    ...(kind === "StatefulSetGrid" && { serviceName: "app-svc" }),
    selector: { matchLabels: { app: flaw === "mismatch" ? "nobody" : app } },
    template: {
      metadata: { labels: { app } },
      spec: { nodeSelector: { disk: "ssd" }, containers: [container] }
    }
  }
}

/** The ports of a Service, as its words have them. */
export const portsOf = ({
  image,
  env,
  flaw
}: Words): readonly { readonly name: string; readonly port: number }[] => [
  { name: "p", port: flaw === "illegal" ? 70_000 : 80 + image },
  ...Array.from({ length: env }, (_, i) => ({ name: `p${i}`, port: 9000 + i })),
  ...(flaw === "twice" ? [{ name: "x", port: 80 + image }] : [])
]

const serviceSpec = (words: Words): object => ({
  selector: { app: "web" },
  ...(words.recreate && { type: "NodePort" }),
  ...(words.flaw === "typo" && { selektor: {} }),
  ports: portsOf(words).map(({ name, port }) => ({ name, port, targetPort: 8080 }))
})

const specOf = (kind: GridKind, words: Words): object =>
  kind === "ServiceGrid" ? serviceSpec(words) : workloadSpec(kind, words)

/** A grid as its user writes it. */
export const gridObject = ({ kind, namespace, name }: Slot, words: GridWords): KubeObject => {
  const { key, template, pool, templates, fallback, team, grace, autoDelete } = words
  const each = [...pool].map(([entry, one]) => [entry, specOf(kind, one)] as const)
  const pools = kind !== "ServiceGrid" && {
    ...(pool.size > 0 && { templatePool: Object.fromEntries(each) }),
    ...(templates.size > 0 && { templates: Object.fromEntries(templates) }),
    ...(fallback !== undefined && { defaultTemplateName: fallback }),
    ...(autoDelete && { autoDeleteUnusedTemplate: true })
  }
  return {
    apiVersion: "superedge.io/v1",
    kind,
    metadata: {
      name,
      namespace,
      ...(team !== undefined && { labels: { team, "app.kubernetes.io/managed-by": "Helm" } }),
      ...(grace !== undefined && { annotations: { "superedge.io/unit-grace": grace } })
    },
    spec: { gridUniqKey: key, ...(template !== undefined && { template: specOf(kind, template) }), ...pools }
  } as KubeObject
}

/** The plural of the grids that a plural of children belongs to. */
export const GRIDS_OF: Readonly<Record<string, string>> = {
  deployments: "deploymentgrids",
  statefulsets: "statefulsetgrids",
  services: "servicegrids"
}

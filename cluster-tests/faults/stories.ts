/**
 * Six stories in chapters: what a user does, and what children there must be afterwards, written down by hand. A chapter begins when the one before
 * has come to its end, whatever went wrong on the way; so each child is created and deleted as often as the story says.
 */
import { at } from "../client.ts"
import { until } from "../deadline.ts"
import { deployment, type Edited, withImage } from "../specs.ts"
import type { Stage } from "../stage.ts"

interface Chapter {
  readonly does: (stage: Stage) => Promise<unknown>
  /** by name: in words, see `looks` */
  readonly children: Readonly<Record<string, string>>
}

export interface Story {
  readonly name: string
  readonly chapters: readonly Chapter[]
  /** `created echo-a` -> how often */
  readonly counts: Readonly<Record<string, number>>
}

/** A grid `echo` in the units a and b. */
export const rolledOut = async (stage: Stage): Promise<void> => {
  await stage.units({ a: ["bj-1"], b: ["gz-1"] })
  await stage.create("DeploymentGrid", "echo", { gridUniqKey: stage.key, template: deployment() })
}

const edit = (change: (grid: Edited) => unknown) => (stage: Stage) =>
  stage.edit("DeploymentGrid", "echo", (grid: Edited) => void change(grid))

/** Gives it the image echo:n. */
export const newImage = (n: number): ((stage: Stage) => Promise<void>) =>
  edit(({ spec }) => {
    for (const container of spec.template.template.spec.containers) container.image = `echo:${n}`
  })

/** What a child with the image echo:n looks like. */
export const rolling = (n: number): string => `echo:${n} x1 rolling`

/** Its children with the image echo:n. */
export const bothWith = (n: number) => ({ "echo-a": rolling(n), "echo-b": rolling(n) })

export const BOTH = bothWith(1)
const CREATED = { "created echo-a": 1, "created echo-b": 1 }

export const STORIES: readonly Story[] = [
  {
    name: "roll-out to three units, with a service",
    chapters: [
      {
        does: async (stage) => {
          await stage.units({ a: ["bj-1"], b: ["gz-1", "gz-2"], c: ["bj-3"] })
          await stage.create("DeploymentGrid", "echo", { gridUniqKey: stage.key, template: deployment() })
          await stage.create("ServiceGrid", "echo", {
            gridUniqKey: stage.key,
            template: { selector: { app: "echo" }, ports: [{ port: 80 }] }
          })
        },
        children: { ...BOTH, "echo-c": rolling(1), "echo-svc": "80" }
      }
    ],
    counts: { ...CREATED, "created echo-c": 1, "created echo-svc": 1 }
  },
  {
    name: "change of an image, end of a variable",
    chapters: [
      { does: rolledOut, children: BOTH },
      {
        does: edit(({ spec }) => {
          for (const container of spec.template.template.spec.containers) {
            container.image = "echo:2"
            container.env.pop()
          }
        }),
        children: bothWith(2)
      }
    ],
    counts: CREATED
  },
  {
    name: "unit that goes and comes back",
    chapters: [
      { does: rolledOut, children: BOTH },
      { does: (stage) => stage.units({ a: ["bj-1"] }), children: { "echo-a": rolling(1) } },
      { does: (stage) => stage.units({ a: ["bj-1"], b: ["gz-3"] }), children: BOTH }
    ],
    counts: { ...CREATED, "deleted echo-b": 1, "created echo-b": 2 }
  },
  {
    name: "switch of the strategy, and back",
    chapters: [
      { does: rolledOut, children: BOTH },
      {
        does: edit(({ spec }) => (spec.template.strategy = { type: "Recreate" })),
        children: { "echo-a": "echo:1 x1 recreate", "echo-b": "echo:1 x1 recreate" }
      },
      { does: edit(({ spec }) => delete spec.template.strategy), children: BOTH }
    ],
    counts: CREATED
  },
  {
    name: "canary from the pool, and its end",
    chapters: [
      { does: rolledOut, children: BOTH },
      {
        does: edit(({ spec }) => {
          spec.templatePool = { next: withImage("echo:2") }
          spec.templates = { b: "next" }
          spec.autoDeleteUnusedTemplate = true
        }),
        children: { "echo-a": rolling(1), "echo-b": rolling(2) }
      },
      {
        does: edit(({ spec }) => {
          spec.template = withImage("echo:2")
          delete spec.templates
        }),
        children: bothWith(2)
      }
    ],
    counts: CREATED
  },
  {
    name: "grid that is deleted and made again",
    chapters: [
      { does: rolledOut, children: BOTH },
      {
        does: async (stage) => {
          await stage.client.remove(stage.path("DeploymentGrid", "echo"))
          await stage.create("DeploymentGrid", "echo", {
            gridUniqKey: stage.key,
            template: withImage("echo:2")
          })
        },
        children: bothWith(2)
      }
    ],
    counts: { "created echo-a": 2, "created echo-b": 2 }
  }
]

/** Waits for a chapter's children, each owned by the grid that is there now, and for statuses that speak of the grids as they are. */
export const came = (stage: Stage, children: Readonly<Record<string, string>>): Promise<unknown> =>
  until({ what: `the children ${JSON.stringify(children)}`, seconds: 120 }, async () => {
    const found = [
      ...(await stage.client.items(stage.path("Deployment"))),
      ...(await stage.client.items(stage.path("Service")))
    ]
    const there = found
      .filter((each) => at(each, "metadata", "labels", "superedge.io/grid-selector") === "echo")
      .filter((each) => at(each, "metadata", "name") !== STRANGER)
    const seen = Object.fromEntries(there.map((each) => [String(at(each, "metadata", "name")), looks(each)]))
    if (!same(seen, children)) throw new Error(`there are ${JSON.stringify(seen)}`)
    const grids = [
      ...(await stage.client.items(stage.path("DeploymentGrid"))),
      ...(await stage.client.items(stage.path("ServiceGrid")))
    ]
    const uids = new Set(grids.map((grid) => at(grid, "metadata", "uid")))
    for (const each of there)
      if (!uids.has(at(each, "metadata", "ownerReferences", 0, "uid")))
        throw new Error(`${String(at(each, "metadata", "name"))} is owned by none of the grids`)
    for (const grid of grids)
      if (at(grid, "status", "observedGeneration") !== at(grid, "metadata", "generation"))
        throw new Error(`a status is old: ${JSON.stringify(at(grid, "status"))}`)
    return true
  })

const same = (a: object, b: object): boolean => sorted(a) === sorted(b)

const sorted = (of: object): string =>
  Object.entries(of)
    .map((pair) => JSON.stringify(pair))
    .sort()
    .join()

/** `echo:1 x1 rolling` of a Deployment, the port of a Service. */
const looks = (child: unknown): string => {
  const port = at(child, "spec", "ports", 0, "port")
  const container = at(child, "spec", "template", "spec", "containers", 0)
  const strategy = at(child, "spec", "strategy", "type") === "Recreate" ? "recreate" : "rolling"
  const what =
    port === undefined
      ? `${String(at(container, "image"))} x${String(at(child, "spec", "replicas"))} ${strategy}`
      : String(port)
  return at(child, "metadata", "deletionTimestamp") === undefined ? what : `${what}, being deleted`
}

const STRANGER = "echo-stranger"

/** Objects that are none of the controller's business: one has the grid's label and another owner, one has nothing. Gives how they are. */
export const bystanders = async (stage: Stage): Promise<() => Promise<readonly unknown[]>> => {
  const maps = `/api/v1/namespaces/${stage.namespace}/configmaps`
  const owner = await stage.client.create(maps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "owner" }
  })
  const ownerReferences = [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      name: "owner",
      uid: at(owner, "metadata", "uid"),
      controller: true
    }
  ]
  const labels = { "superedge.io/grid-selector": "echo", "superedge.io/grid-uniq-key": stage.key }
  await stage.create("Deployment", STRANGER, deployment(), { labels, ownerReferences })
  await stage.create("Deployment", "plain", deployment())
  return () => Promise.all([STRANGER, "plain"].map((name) => stage.get("Deployment", name)))
}

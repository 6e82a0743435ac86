/**
 * RBAC: what the ClusterRole of the manifests says of sites is exactly what the controller does for them. One controller does everything that it
 * ever does to units, groups and nodes; with all verbs nothing is refused, and with any one of them removed the server refuses just that, and the
 * grids go on. Then what a controller does that was away.
 *
 * On a control plane of its own with OwnerReferencesPermissionEnforcement. One test after another: they share the controller and its role.
 */
import { afterAll, describe, expect } from "vitest"
import { account, ROLES, type Rule } from "./accounts.ts"
import { heard, type Heard, isWrite } from "./audit.ts"
import { at } from "./client.ts"
import { type Controller, controller, deployed } from "./controller.ts"
import { until } from "./deadline.ts"
import { node } from "./nodes.ts"
import { ownPlane } from "./own-plane.ts"
import { GRID_ROLES, SITE_RULES } from "./rules.ts"
import { clusterTest } from "./skip.ts"
import { deployment } from "./specs.ts"
import { Sites } from "./sites.ts"
import { condition } from "./stage.ts"

const NAMESPACE = "sites"
const ACCOUNT = `${NAMESPACE}:controller`
const MARK = "nodeunits.superedge.io"
const GIVEN = "site.superedge.io/given"
const FINALIZER = "site.superedge.io/finalizer"

let running: Controller | undefined

const plane = ownPlane(
  { controllers: "none", admission: ["OwnerReferencesPermissionEnforcement"] },
  async (begun) => {
    await deployed(begun)
    for (const name of ["n1", "n2", "n3"]) await node(begun.client, name, { tour: "a" })
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }
    await begun.client.create("/api/v1/namespaces", namespace)
    await account(begun.client, NAMESPACE, "controller", ROLES)
    running = await controller(begun, ACCOUNT, ["--namespace", NAMESPACE, "--max-nodes-changed", "100%"])
    await running.ready()
  }
)
afterAll(() => running?.kill())

describe("the rules about sites", () => {
  clusterTest("are, with those about grids, the rules of the manifest, each once", () => {
    const said = (rules: readonly Rule[]): readonly string[] =>
      rules.map((rule) => JSON.stringify(rule)).sort()
    const all = said([...ROLES.cluster, ...ROLES.own])
    expect(said([...GRID_ROLES.cluster, ...GRID_ROLES.own, ...SITE_RULES])).toEqual(all)
    expect(new Set(all).size).toBe(all.length)
    expect(DEEDS.map(({ needs }) => needs).sort()).toEqual(SITE_RULES.map(textOf).sort())
    return Promise.resolve()
  })

  clusterTest(
    "with all their verbs are refused nothing, in anything that the controller ever does",
    async () => {
      const sites = new Sites(plane().client)
      await sites.comes("NodeUnit", "unit-node-all", "all nodes", (unit) => at(unit, "status", "nodes") === 3)
      for (const { does, done } of DEEDS) {
        await does(sites, "whole")
        await done(sites, "whole")
      }
      const before = await sites.carries(
        "n2",
        "nothing of units",
        ({ labels }) => labels["whole-given"] === undefined
      )
      const unit = "everything"
      const setNode = {
        labels: { [`${unit}-label`]: "x", "kubernetes.io/hostname": "other" },
        annotations: { [`${unit}-note`]: "y" },
        taints: [{ key: `${unit}-taint`, effect: "NoExecute" }]
      }
      await sites.make("NodeUnit", unit, { nodes: ["n2"], setNode, unschedulable: true })
      const full = await sites.carries("n2", "all that its unit gives", ({ labels }) => labels[unit] === MARK)
      expect(full).toMatchObject({ cordoned: true, taints: [`${unit}-taint:NoExecute`] })
      await sites.told(
        "NodeUnit",
        unit,
        "a refusal",
        (found) => condition(found, "Degraded", "reason") === "WellKnownLabel"
      )
      await until({ what: "an event about it", seconds: 30 }, () =>
        requests().some(
          ({ resource, name, code }) => resource === "events" && name.startsWith(unit) && code < 300
        )
      )
      await sites.edit("NodeUnit", unit, {
        spec: { unschedulable: null, setNode: { labels: { "kubernetes.io/hostname": null } } }
      })
      await sites.carries("n2", "no cordon", ({ cordoned }) => !cordoned)
      await sites.remove("NodeUnit", unit)
      await sites.goes("NodeUnit", unit)
      expect(await sites.carried("n2")).toEqual(before)
      expect(refusals()).toEqual([])
    }
  )

  for (const rule of SITE_RULES) {
    const id = textOf(rule) === "patch nodes" ? "R158 " : ""
    clusterTest(
      `${id}have no superfluous verb, and the grids go on without it: ${textOf(rule)}`,
      async () => {
        const sites = new Sites(plane().client)
        const name = textOf(rule).replace(/\W/g, "-")
        const deed = DEEDS.find(({ needs }) => needs === textOf(rule))
        if (deed === undefined) throw new Error("nothing is done that needs it")
        await deed.begins?.(sites, name)
        const earlier = refusals().length
        await allowed(rule, false)
        if (deed.atStart === true) await restarted()
        await deed.does(sites, name)
        await until({ what: `a refusal: ${deed.says}`, seconds: 45 }, () => refusals().length > earlier)
        await deed.tells?.(sites, name)
        await gridsGoOn(name)
        for (const { message } of refusals().slice(earlier)) expect(message).toContain(deed.says)
        await allowed(rule, true)
        await deed.done(sites, name)
      }
    )
  }
})

describe("a controller that comes back", () => {
  clusterTest("writes nothing to what is settled", async () => {
    const sites = new Sites(plane().client)
    await cleared(sites)
    const spec = {
      nodes: ["n1"],
      setNode: { labels: { "back-x": "1", "back-y": "2" }, taints: [taint("back-a"), taint("back-b")] }
    }
    await sites.make("NodeUnit", "back", spec)
    await sites.make("NodeGroup", "backs", { nodeUnits: ["back"] })
    await sites.told("NodeGroup", "backs", "its node", (group) => at(group, "status", "nodes") === 1)
    await sites.told("NodeUnit", "back", "its node", (unit) => at(unit, "status", "nodes") === 1)
    await restarted()
    await running?.ready()
    const before = requests().length
    // what comes after the first pass over everything is told apart by a unit that only then is made
    await sites.make("NodeUnit", "late", { nodes: ["n3"] })
    await sites.told("NodeUnit", "late", "its node", (unit) => at(unit, "status", "nodes") === 1)
    const written = requests()
      .slice(before)
      .filter((each) => isWrite(each) && each.resource !== "events")
      .map(({ verb, resource, name }) => `${verb} ${resource} ${name}`)
    expect(written.filter((each) => !/ (late|n3)$/.test(each))).toEqual([])
  })

  clusterTest("takes away what was taken from setNode meanwhile, and only that", async () => {
    const sites = new Sites(plane().client)
    await plane().client.patch("/api/v1/nodes/n1", "merge", { spec: { taints: [taint("own")] } })
    const before = await sites.carries("n1", "three taints", ({ taints }) => taints.length === 3)
    await running?.kill()
    await sites.edit("NodeUnit", "back", {
      spec: { setNode: { labels: { "back-y": null }, taints: [taint("back-a")] } }
    })
    running = running?.again()
    const after = await sites.carries("n1", "no back-y", ({ labels }) => labels["back-y"] === undefined)
    const { "back-y": _, ...labels } = before.labels
    expect(after.labels).toEqual(labels)
    expect(before.taints.toSorted()).toEqual(["back-a:NoSchedule", "back-b:NoSchedule", "own:NoSchedule"])
    expect(after.taints.toSorted()).toEqual(["back-a:NoSchedule", "own:NoSchedule"])
    expect(JSON.parse(after.annotations[GIVEN] ?? "")).toEqual({ back: { taints: ["back-a:NoSchedule"] } })
  })
})

/** Something that the controller does, and can't do without one rule. */
interface Deed {
  /** the rule, as `textOf` says it */
  readonly needs: string
  /** what the server says to whoever lacks it */
  readonly says: string
  /** whether only a controller that begins does it */
  readonly atStart?: boolean
  /** what must be there before */
  readonly begins?: (sites: Sites, name: string) => Promise<unknown>
  /** makes the controller do it */
  readonly does: (sites: Sites, name: string) => Promise<unknown>
  /** waits until a condition says that it can't */
  readonly tells?: (sites: Sites, name: string) => Promise<unknown>
  /** waits until it is done */
  readonly done: (sites: Sites, name: string) => Promise<unknown>
}

const cannot = (verb: string, resource: string): Pick<Deed, "needs" | "says"> => ({
  needs: `${verb} ${resource}`,
  says: `cannot ${verb} resource "${resource}"`
})

const hasFinalizer = (object: unknown): boolean =>
  ((at(object, "metadata", "finalizers") ?? []) as readonly unknown[]).includes(FINALIZER)

const cannotBeWritten = (unit: unknown): boolean =>
  condition(unit, "Degraded", "reason") === "NodeNotWritten" &&
  String(condition(unit, "Degraded", "message")).includes(`cannot patch resource "nodes"`)

/** Labels n3 so that a group finds a unit called as `name`, small, with an end. */
const found = (name: string, value: string | null): Promise<unknown> =>
  plane().client.patch("/api/v1/nodes/n3", "merge", { metadata: { labels: { [`${name}-key`]: value } } })

const finds = async (sites: Sites, name: string): Promise<void> => {
  await found(name, `${name}-found`)
  await sites.make("NodeGroup", `${name}-finder`, { autoFindNodeKeys: [`${name}-key`] })
}

const isFound = (sites: Sites, name: string): Promise<unknown> =>
  sites.carries(
    "n3",
    "the label of a found unit",
    ({ labels }) => labels[`${name}-finder`] === `${name}-found`
  )

const DEEDS: readonly Deed[] = [
  {
    ...cannot("patch", "nodes"),
    begins: async (sites, name) => {
      await sites.make("NodeUnit", `${name}-given`, { nodes: ["n2"], setNode: { taints: [taint(name)] } })
      await sites.carries("n2", "its unit's taint", ({ taints }) => taints.length > 0)
    },
    does: async (sites, name) => {
      await sites.make("NodeUnit", `${name}-wanted`, { nodes: ["n1"] })
      await sites.remove("NodeUnit", `${name}-given`)
    },
    tells: async (sites, name) => {
      await sites.comes("NodeUnit", `${name}-wanted`, "that it can't be given", cannotBeWritten)
      const stays = await sites.comes(
        "NodeUnit",
        `${name}-given`,
        "that it can't be cleaned",
        cannotBeWritten
      )
      expect(condition(stays, "Ready", "reason")).toBe("Deleting")
      expect((await sites.carried("n2")).taints).not.toEqual([])
    },
    done: async (sites, name) => {
      await sites.carries("n1", "its unit's label", ({ labels }) => labels[`${name}-wanted`] === MARK)
      await sites.goes("NodeUnit", `${name}-given`)
      expect((await sites.carried("n2")).taints).toEqual([])
    }
  },
  { ...cannot("create", "nodeunits"), does: finds, done: isFound },
  {
    needs: "update nodegroups/finalizers",
    says: "cannot set blockOwnerDeletion",
    does: (sites, name) => finds(sites, `${name}-block`),
    done: (sites, name) => isFound(sites, `${name}-block`)
  },
  {
    ...cannot("delete", "nodeunits"),
    begins: async (sites, name) => {
      await finds(sites, `${name}-gone`)
      await isFound(sites, `${name}-gone`)
    },
    does: (_, name) => found(`${name}-gone`, null),
    done: (sites, name) => sites.goes("NodeUnit", `${name}-gone-found`)
  },
  {
    ...cannot("patch", "nodeunits"),
    does: (sites, name) => sites.make("NodeUnit", `${name}-held`, {}),
    done: (sites, name) => sites.comes("NodeUnit", `${name}-held`, "a finalizer", hasFinalizer)
  },
  {
    ...cannot("patch", "nodegroups"),
    does: (sites, name) => sites.make("NodeGroup", `${name}-held-group`, {}),
    done: (sites, name) => sites.comes("NodeGroup", `${name}-held-group`, "a finalizer", hasFinalizer)
  },
  ...(["NodeUnit", "NodeGroup"] as const).flatMap((kind): readonly Deed[] => {
    const plural = `${kind.toLowerCase()}s`
    return [
      {
        ...cannot("patch", `${plural}/status`),
        does: (sites, name) => sites.make(kind, `${name}-told-${plural}`, {}),
        done: (sites, name) => sites.told(kind, `${name}-told-${plural}`, "a status", () => true)
      },
      ...["list", "watch"].map((verb): Deed => {
        const named = (name: string): string => `${name}-${verb}-${plural}`
        return {
          ...cannot(verb, plural),
          atStart: true,
          does: (sites, name) => sites.make(kind, named(name), {}),
          done: (sites, name) => sites.told(kind, named(name), "a status", () => true)
        }
      })
    ]
  })
]

/** Deletes all units and groups but the one that is always there. */
const cleared = async (sites: Sites): Promise<void> => {
  for (const kind of ["NodeGroup", "NodeUnit"] as const) {
    const names = (await sites.names(kind)).filter((name) => name !== "unit-node-all")
    await Promise.all(names.map((name) => sites.remove(kind, name)))
    await Promise.all(names.map((name) => sites.goes(kind, name)))
  }
}

const taint = (key: string) => ({ key, effect: "NoSchedule" })

const textOf = ({ verbs, resources }: Rule): string => [...verbs, ...resources].join(" ")

const requests = (): readonly Heard[] => heard(plane().audit, ACCOUNT, `:${ACCOUNT}`)

const refusals = (): readonly Heard[] => requests().filter(({ code }) => code === 403)

/** Ends the controller and begins it anew. Without waiting for its readiness, which may not come. */
const restarted = async (): Promise<void> => {
  await running?.kill()
  running = running?.again()
}

/** Takes a rule from the controller's role, or gives it back; is there when the server acts on that. */
const allowed = async (rule: Rule, allow: boolean): Promise<void> => {
  const { client } = plane()
  const rules = allow ? ROLES.cluster : ROLES.cluster.filter((other) => other !== rule)
  await client.patch(`/apis/rbac.authorization.k8s.io/v1/clusterroles/${NAMESPACE}-controller`, "merge", {
    rules
  })
  const [resource = "", subresource = ""] = (rule.resources[0] ?? "").split("/")
  const resourceAttributes = { group: rule.apiGroups[0], resource, subresource, verb: rule.verbs[0] }
  await until({ what: `a role ${allow ? "with" : "without"} ${textOf(rule)}`, seconds: 30 }, async () => {
    const review = await client.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { user: `system:serviceaccount:${ACCOUNT}`, resourceAttributes }
    })
    return at(review, "status", "allowed") === allow
  })
}

/** Makes a grid, and waits for its child. */
const gridsGoOn = async (name: string): Promise<void> => {
  const { client } = plane()
  const grid = `grid-${name}`
  await client.create(`/apis/superedge.io/v1/namespaces/${NAMESPACE}/deploymentgrids`, {
    apiVersion: "superedge.io/v1",
    kind: "DeploymentGrid",
    metadata: { name: grid },
    spec: { gridUniqKey: "tour", template: deployment() }
  })
  await until({ what: `the child of ${grid}`, seconds: 30 }, () =>
    client.find(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments/${grid}-a`)
  )
}

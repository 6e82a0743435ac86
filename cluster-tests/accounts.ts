/** Service accounts that may do what the manifest's roles say, or a part of it. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parseAllDocuments } from "yaml"
import { at, type Client } from "./client.ts"

export interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

export interface Roles {
  /** in the whole cluster */
  readonly cluster: readonly Rule[]
  /** in the account's own namespace */
  readonly own: readonly Rule[]
}

const DOCUMENTS = parseAllDocuments(
  readFileSync(join(import.meta.dirname, "../manifests/controller/access.yaml"), "utf8")
).map((document) => document.toJSON() as unknown)

const rulesOf = (kind: "ClusterRole" | "Role"): readonly Rule[] =>
  (at(
    DOCUMENTS.find((object) => at(object, "kind") === kind),
    "rules"
  ) ?? []) as readonly Rule[]

/** One rule for each group, resource and verb. */
const single = (rules: readonly Rule[]): readonly Rule[] =>
  rules.flatMap(({ apiGroups, resources, verbs, ...names }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => ({ apiGroups: [group], resources: [resource], ...names, verbs: [verb] }))
      )
    )
  )

/** The manifest's roles, in rules of one verb. */
export const ROLES: Roles = { cluster: single(rulesOf("ClusterRole")), own: single(rulesOf("Role")) }

const RBAC = "rbac.authorization.k8s.io"

/** Makes an account in a namespace that is there, and binds it to roles of its own; gives it as namespace:name. */
export const account = async (
  client: Client,
  namespace: string,
  name: string,
  roles: Roles
): Promise<string> => {
  const within = `/namespaces/${namespace}`
  await client.create(`/api/v1${within}/serviceaccounts`, {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name }
  })
  const bind = async (place: string, prefix: string, role: string, rules: readonly Rule[]): Promise<void> => {
    const path = `/apis/${RBAC}/v1${place}`
    const plural = `${prefix.toLowerCase()}role`
    const head = (kind: string): object => ({ apiVersion: `${RBAC}/v1`, kind, metadata: { name: role } })
    await client.create(`${path}/${plural}s`, { ...head(`${prefix}Role`), rules })
    await client.create(`${path}/${plural}bindings`, {
      ...head(`${prefix}RoleBinding`),
      roleRef: { apiGroup: RBAC, kind: `${prefix}Role`, name: role },
      subjects: [{ kind: "ServiceAccount", name, namespace }]
    })
  }
  await bind("", "Cluster", `${namespace}-${name}`, roles.cluster)
  await bind(within, "", name, roles.own)
  return `${namespace}:${name}`
}

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

interface Grant {
  /** the account, as namespace:name */
  readonly account: string
  /** for the whole cluster, or for its own namespace alone */
  readonly kind: "ClusterRole" | "Role"
  /** of the role and of its binding */
  readonly name: string
  readonly rules: readonly Rule[]
}

/** What there is of RBAC in the cluster, or in the account's namespace. */
const pathOf = ({ kind, account }: Pick<Grant, "kind" | "account">): string => {
  const [namespace = ""] = account.split(":")
  return `/apis/${RBAC}/v1${kind === "Role" ? `/namespaces/${namespace}` : ""}`
}

/** Makes a role of these rules. */
const granted = (client: Client, grant: Grant): Promise<unknown> =>
  client.create(`${pathOf(grant)}/${grant.kind.toLowerCase()}s`, {
    apiVersion: `${RBAC}/v1`,
    kind: grant.kind,
    metadata: { name: grant.name },
    rules: grant.rules
  })

const bound = (client: Client, grant: Grant): Promise<unknown> => {
  const [namespace = "", name = ""] = grant.account.split(":")
  return client.create(`${pathOf(grant)}/${grant.kind.toLowerCase()}bindings`, {
    apiVersion: `${RBAC}/v1`,
    kind: `${grant.kind}Binding`,
    metadata: { name: grant.name },
    roleRef: { apiGroup: RBAC, kind: grant.kind, name: grant.name },
    subjects: [{ kind: "ServiceAccount", name, namespace }]
  })
}

export interface Revocable {
  readonly revoke: () => Promise<unknown>
  /** Gives again what was revoked. */
  readonly allow: () => Promise<unknown>
}

/** Lets an account (namespace:name) do something more in the whole cluster, until that is revoked. */
export const revocable = async (
  client: Client,
  account: string,
  role: string,
  rules: readonly Rule[]
): Promise<Revocable> => {
  const grant: Grant = { account, kind: "ClusterRole", name: role, rules }
  await granted(client, grant)
  await bound(client, grant)
  return {
    revoke: () => client.remove(`${pathOf(grant)}/clusterrolebindings/${role}`),
    allow: () => bound(client, grant)
  }
}

/** Makes an account in a namespace that is there, and binds it to roles of its own; gives it as namespace:name. */
export const account = async (
  client: Client,
  namespace: string,
  name: string,
  roles: Roles
): Promise<string> => {
  await client.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name }
  })
  const made = `${namespace}:${name}`
  const grants: readonly Grant[] = [
    { account: made, kind: "ClusterRole", name: `${namespace}-${name}`, rules: roles.cluster },
    { account: made, kind: "Role", name, rules: roles.own }
  ]
  for (const grant of grants) {
    await granted(client, grant)
    await bound(client, grant)
  }
  return made
}

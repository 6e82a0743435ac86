/**
 * Which cluster, and as whom: kubeconfig files, or the service account of the pod.
 *
 * The rules are kubectl's: `--kubeconfig` alone; else the files of KUBECONFIG, of which the first to name a thing
 * wins and those that aren't there are skipped; else `~/.kube/config`; else the pod's own account.
 *
 * *Guarantees*: a file that can't be read or a field that can't be used is named. Paths are relative to the file
 * that they stand in. Contents of certificates and tokens are not read here, since they change while we run.
 * *Assumes*: nothing about who wrote the files.
 * *Does not*: write them; follow HTTPS_PROXY (only `proxy-url`).
 */
import * as Effect from "effect/Effect"
import { accessSync, readFileSync } from "node:fs"
import { isIPv6 } from "node:net"
import { delimiter, dirname, isAbsolute, join } from "node:path"
import { parse } from "yaml"
import { isObject } from "../core/json.ts"
import { type Access, Misconfigured } from "./settings.ts"
import { brief } from "./wire.ts"

/** Bytes that stand in a file, or in the kubeconfig itself. `field` is for messages. */
export type Source =
  | { readonly _tag: "File"; readonly path: string; readonly field: string }
  | { readonly _tag: "Inline"; readonly bytes: Buffer; readonly field: string }

export type Credential =
  | { readonly _tag: "Anonymous" }
  | { readonly _tag: "Token"; readonly token: string }
  | { readonly _tag: "TokenFile"; readonly path: string; readonly field: string }
  | { readonly _tag: "Basic"; readonly username: string; readonly password: string }
  /** an exec plugin or an auth provider, as the kubeconfig describes it */
  | { readonly _tag: "Plugin"; readonly user: Fields; readonly field: string }

/** How to reach one cluster, as one user. */
export interface Target {
  /** `https://host:port`, with a path where there is one, without a slash at the end */
  readonly server: string
  readonly ca: Source | undefined
  readonly cert: Source | undefined
  readonly key: Source | undefined
  readonly insecure: boolean
  readonly serverName: string | undefined
  readonly proxy: string | undefined
  readonly credential: Credential
  readonly impersonate: Readonly<Record<string, string | readonly string[]>>
}

type Fields = { readonly [key: string]: unknown }

export interface Environment {
  readonly [name: string]: string | undefined
}

/** Where Kubernetes mounts the account of a pod. */
export const mounted = "/var/run/secrets/kubernetes.io/serviceaccount"

/** The cluster and the user that flags and environment name. `account` is the folder of the pod's account. */
export const target = (
  access: Access,
  environment: Environment,
  account: string
): Effect.Effect<Target, Misconfigured> =>
  Effect.try({
    try: () => {
      const files = named(access, environment)
      if (files !== undefined) return chosen(merged(files), access.context)
      const host = environment["KUBERNETES_SERVICE_HOST"]
      if (host !== undefined && host !== "" && exists(join(account, "token"))) {
        return inCluster(host, environment["KUBERNETES_SERVICE_PORT"] ?? "443", account)
      }
      throw new Misconfigured({
        message:
          "no cluster: give --kubeconfig, set KUBECONFIG, write ~/.kube/config, or run in a pod that has a service account"
      })
    },
    catch: (error) =>
      error instanceof Misconfigured ? error : new Misconfigured({ message: `kubeconfig: ${String(error)}` })
  })

const inCluster = (host: string, port: string, account: string): Target => ({
  server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
  ca: { _tag: "File", path: join(account, "ca.crt"), field: "the service account's ca.crt" },
  cert: undefined,
  key: undefined,
  insecure: false,
  serverName: undefined,
  proxy: undefined,
  credential: { _tag: "TokenFile", path: join(account, "token"), field: "the service account's token" },
  impersonate: {}
})

/** One thing of a kubeconfig: its name, its fields, and where they stand. */
interface Entry {
  readonly file: string
  readonly fields: Fields
}

interface Merged {
  readonly files: readonly string[]
  readonly current: string | undefined
  readonly contexts: ReadonlyMap<string, Entry>
  readonly clusters: ReadonlyMap<string, Entry>
  readonly users: ReadonlyMap<string, Entry>
}

const missing = (error: unknown): boolean => isObject(error) && error["code"] === "ENOENT"

const named = (access: Access, environment: Environment): readonly string[] | undefined => {
  if (access.kubeconfig !== "") return [access.kubeconfig]
  const listed = (environment["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "")
  if (listed.length > 0) {
    const there = listed.filter((path) => listed.length === 1 || exists(path))
    if (there.length > 0) return there
    throw new Misconfigured({ message: `KUBECONFIG: none of ${listed.join(", ")} exists` })
  }
  const home = environment["HOME"]
  const usual = home === undefined || home === "" ? undefined : join(home, ".kube", "config")
  return usual !== undefined && exists(usual) ? [usual] : undefined
}

/** A file that is there and can't be read counts as there: it is reported when it is loaded, never passed over. */
const exists = (path: string): boolean => {
  try {
    accessSync(path)
    return true
  } catch (error) {
    return !missing(error)
  }
}

const merged = (files: readonly string[]): Merged => {
  const parsed = files.map((file) => ({ file, fields: parsedFile(file) }))
  const current = parsed.map(({ fields }) => fields["current-context"])
  return {
    files,
    current: current.find((name): name is string => typeof name === "string" && name !== ""),
    contexts: entries(parsed, "contexts", "context"),
    clusters: entries(parsed, "clusters", "cluster"),
    users: entries(parsed, "users", "user")
  }
}

const parsedFile = (file: string): Fields => {
  const fail = (why: string) => new Misconfigured({ message: `kubeconfig ${file}: ${why}` })
  let text: string
  try {
    text = readFileSync(file, "utf8")
  } catch (error) {
    throw fail(reason(error))
  }
  let value: unknown
  try {
    value = parse(text)
  } catch (error) {
    throw fail(`no YAML: ${reason(error)}`)
  }
  if (!isObject(value)) throw fail(`it is ${brief(value)}, not a Config`)
  return value
}

const reason = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? ""

const entries = (parsed: readonly Entry[], list: string, of: string): ReadonlyMap<string, Entry> => {
  const all = new Map<string, Entry>()
  for (const { file, fields } of parsed) {
    const listed = fields[list] ?? []
    if (!Array.isArray(listed)) {
      throw new Misconfigured({ message: `kubeconfig ${file}: ${list} is ${brief(listed)}, not a list` })
    }
    for (const entry of listed as readonly unknown[]) {
      const { name, [of]: content } = isObject(entry) ? entry : {}
      if (typeof name !== "string" || all.has(name)) continue
      all.set(name, { file, fields: isObject(content) ? content : {} })
    }
  }
  return all
}

const chosen = (config: Merged, wanted: string): Target => {
  const where = `kubeconfig ${config.files.join(", ")}`
  const name = wanted === "" ? config.current : wanted
  if (name === undefined)
    throw new Misconfigured({ message: `${where}: current-context isn't set, and no --context` })
  const find = (all: ReadonlyMap<string, Entry>, kind: string, key: unknown, field: string): Entry => {
    const entry = typeof key === "string" ? all.get(key) : undefined
    if (entry !== undefined) return entry
    const known = [...all.keys()].join(", ")
    throw new Misconfigured({
      message: `${where}: ${field} names the ${kind} ${brief(key)}, which isn't there (there are: ${known || "none"})`
    })
  }
  const context = find(config.contexts, "context", name, wanted === "" ? "current-context" : "--context")
  const at = `contexts[name=${name}].context`
  const cluster = find(config.clusters, "cluster", context.fields["cluster"], `${at}.cluster`)
  const anonymous = { file: context.file, fields: {} }
  const user =
    (context.fields["user"] ?? "") === ""
      ? anonymous
      : find(config.users, "user", context.fields["user"], `${at}.user`)
  const clusterReader = reader(cluster, `clusters[name=${brief(context.fields["cluster"])}].cluster`)
  const userReader = reader(user, `users[name=${brief(context.fields["user"])}].user`)
  return { ...clusterOf(clusterReader), ...userOf(userReader) }
}

/** Reads the fields of one entry; what has the wrong type is refused with its whole path. */
const reader = (entry: Entry, at: string) => {
  const field = (name: string): string => `kubeconfig ${entry.file}: ${at}.${name}`
  const fail = (name: string, why: string) => new Misconfigured({ message: `${field(name)} ${why}` })
  const text = (name: string): string | undefined => {
    const value = entry.fields[name] ?? undefined
    if (value === undefined || value === "") return undefined
    if (typeof value === "string") return value
    throw fail(name, `is ${brief(value)}, a text was expected`)
  }
  const path = (name: string): string | undefined => {
    const value = text(name)
    return value === undefined || isAbsolute(value) ? value : join(dirname(entry.file), value)
  }
  /** The data field wins over the file, as in kubectl. */
  const source = (name: string): Source | undefined => {
    const data = text(`${name}-data`)
    if (data !== undefined) {
      const bytes = Buffer.from(data, "base64")
      if (bytes.length === 0) throw fail(`${name}-data`, "is no base64")
      return { _tag: "Inline", bytes, field: field(`${name}-data`) }
    }
    const file = path(name)
    return file === undefined ? undefined : { _tag: "File", path: file, field: field(name) }
  }
  return { fields: entry.fields, field, fail, text, path, source }
}

type Reader = ReturnType<typeof reader>

const clusterOf = ({ fields, fail, text, source }: Reader) => {
  const server = text("server")
  if (server === undefined) throw fail("server", "is missing")
  const url = URL.canParse(server) ? new URL(server) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw fail("server", `is ${brief(server)}, a URL such as https://host:6443 was expected`)
  }
  const proxy = text("proxy-url")
  if (proxy !== undefined && !/^https?:\/\//.test(proxy)) {
    throw fail("proxy-url", `is ${brief(proxy)}; only http:// and https:// proxies are supported`)
  }
  return {
    server: url.origin + url.pathname.replace(/\/+$/, ""),
    ca: source("certificate-authority"),
    insecure: fields["insecure-skip-tls-verify"] === true,
    serverName: text("tls-server-name"),
    proxy
  }
}

const userOf = (user: Reader) => ({
  cert: user.source("client-certificate"),
  key: user.source("client-key"),
  credential: credentialOf(user),
  impersonate: impersonation(user)
})

const credentialOf = ({ fields, field, text, path }: Reader): Credential => {
  const file = path("tokenFile")
  // A file wins over a token that stands beside it, as in kubectl: it is the one that is renewed.
  if (file !== undefined) return { _tag: "TokenFile", path: file, field: field("tokenFile") }
  const token = text("token")
  if (token !== undefined) return { _tag: "Token", token }
  const username = text("username")
  if (username !== undefined) return { _tag: "Basic", username, password: text("password") ?? "" }
  for (const plugin of ["exec", "auth-provider"]) {
    if (isObject(fields[plugin])) return { _tag: "Plugin", user: fields, field: field(plugin) }
  }
  return { _tag: "Anonymous" }
}

const impersonation = ({ fields, text }: Reader): Target["impersonate"] => {
  const strings = (value: unknown): readonly string[] =>
    Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : []
  const extra = fields["as-user-extra"]
  const extras = Object.entries(isObject(extra) ? extra : {})
  const user = text("as")
  const uid = text("as-uid")
  const groups = strings(fields["as-groups"])
  return {
    ...(user !== undefined && { "Impersonate-User": user }),
    ...(uid !== undefined && { "Impersonate-Uid": uid }),
    ...(groups.length > 0 && { "Impersonate-Group": groups }),
    ...Object.fromEntries(
      extras.map(([key, values]) => [`Impersonate-Extra-${encodeURIComponent(key)}`, strings(values)])
    )
  }
}

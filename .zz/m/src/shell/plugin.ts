/**
 * Credentials from exec plugins and auth providers (OIDC, and the older ones of clouds), through client-node.
 *
 * A module of its own because client-node is large: it is loaded only where a kubeconfig asks for a plugin, and a
 * controller with a service account never does.
 *
 * *Guarantees*: what a plugin said is used until it expires; the plugin is told the protocol that it is asked for.
 * *Assumes*: it is asked by one caller at a time.
 * *Does not*: let a plugin ask a person anything; hand it a terminal.
 */
import { KubeConfig } from "@kubernetes/client-node"
import type { RequestOptions } from "node:https"
import { isObject } from "../core/json.ts"

interface Granted {
  readonly headers: Readonly<Record<string, string>>
  readonly cert?: string
  readonly key?: string
}

/** Asks the plugin of a kubeconfig's user. Each call of `plugin` begins with an empty cache. */
export const plugin = (user: { readonly [key: string]: unknown }): (() => Promise<Granted>) => {
  const config = new KubeConfig()
  const { exec, "auth-provider": authProvider } = user
  config.loadFromOptions({
    // Only headers are wanted from it: the address is never called.
    clusters: [{ name: "cluster", server: "https://cluster.invalid", skipTLSVerify: false }],
    users: [{ name: "user", ...(isObject(exec) ? { exec: informed(exec) } : { authProvider }) }],
    contexts: [{ name: "context", cluster: "cluster", user: "user" }],
    currentContext: "context"
  })
  return async () => {
    const options: RequestOptions = {}
    await config.applyToHTTPSOptions(options)
    const headers = Object.entries(options.headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      String(value)
    ])
    return {
      headers: Object.fromEntries(headers) as Record<string, string>,
      ...(options.cert !== undefined && { cert: String(options.cert) }),
      ...(options.key !== undefined && { key: String(options.key) })
    }
  }
}

/** The exec section with KUBERNETES_EXEC_INFO, which plugins read to know the protocol's version. */
const informed = (exec: { readonly [key: string]: unknown }) => {
  const env = Array.isArray(exec["env"]) ? (exec["env"] as readonly unknown[]) : []
  const info = { kind: "ExecCredential", apiVersion: exec["apiVersion"], spec: { interactive: false } }
  return { ...exec, env: [...env, { name: "KUBERNETES_EXEC_INFO", value: JSON.stringify(info) }] }
}

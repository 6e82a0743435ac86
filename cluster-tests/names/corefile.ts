/** The shipped Corefiles, at home in a test: what is changed are domain and resolver, and what two on one node can't share. */
import { readFileSync } from "node:fs"
import { join } from "node:path"

export type Form = "daemon" | "serving"

/** A name of the world, which a block of its own stands in for. */
export const OUTSIDE = { name: "www.outside.test", address: "192.0.2.80" }

/** Where each CoreDNS answers. */
export const DNS_PORTS: Readonly<Record<Form, number>> = { daemon: 5353, serving: 53 }
/** Where it says whether it is ready. */
export const READY: Readonly<Record<Form, string>> = { daemon: "127.0.0.1:8181", serving: "127.0.0.1:51011" }

interface Home {
  readonly form: Form
  readonly domain: string
  /** of the daemon form */
  readonly hostsFile: string
  /** how a CoreDNS without a wrapper is let in */
  readonly kubeconfig: string
}

export const corefile = ({ form, domain, hostsFile, kubeconfig }: Home): string => {
  const outside = DNS_PORTS[form] + 1
  const own: readonly Change[] =
    form === "serving"
      ? []
      : [
          [".:53 {", `.:${DNS_PORTS[form]} {`],
          // pods answer at this port
          ["health :8080", "health 127.0.0.1:8180"],
          ["/etc/servicegroup/dns/hosts", hostsFile],
          ["pods insecure", `pods insecure\n        kubeconfig ${kubeconfig}`]
        ]
  const changes: readonly Change[] = [
    ["cluster.local", domain],
    ["/etc/resolv.conf", `127.0.0.1:${outside}`],
    ...own
  ]
  return `${changes.reduce(changed, readFileSync(SHIPPED[form], "utf8"))}
.:${outside} {
    bind 127.0.0.1
    hosts {
        ${OUTSIDE.address} ${OUTSIDE.name}
    }
}
`
}

type Change = readonly [from: string, to: string]

const MANIFESTS = join(import.meta.dirname, "../../manifests")
const SHIPPED: Readonly<Record<Form, string>> = {
  daemon: join(MANIFESTS, "dns/Corefile"),
  serving: join(MANIFESTS, "wrapper-dns/Corefile")
}

const changed = (text: string, [from, to]: Change): string => {
  if (!text.includes(from)) throw new Error(`the shipped Corefile has no "${from}"`)
  return text.replaceAll(from, to)
}

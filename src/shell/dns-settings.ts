/**
 * What the DNS daemon is told when it starts; flags and variables as in settings.ts.
 */
import * as Options from "@effect/cli/Options"
import {
  type Access,
  access,
  type Address,
  anAddress,
  aText,
  clusterDomain,
  logFormat,
  nodeName,
  relistInterval,
  setting
} from "./settings.ts"

export interface DnsOptions {
  readonly access: Access
  readonly node: string
  readonly hostsFile: string
  readonly clusterDomain: string
  /** seconds */
  readonly relistInterval: number
  /** undefined: off */
  readonly healthAddress: Address | undefined
  readonly logFormat: "json" | "text"
}

const aPath = (text: string): { readonly value: string } | undefined =>
  text === "" || text.endsWith("/") ? undefined : aText(text)

/** Every flag of the daemon. */
export const dnsOptions: Options.Options<DnsOptions> = Options.all({
  access,
  node: nodeName("the name of the Node whose pods ask"),
  hostsFile: setting({
    flag: "hosts-file",
    says: "the hosts file to keep, in a folder that CoreDNS mounts",
    otherwise: "/etc/servicegroup/dns/hosts",
    accepts: "the path of a file",
    read: aPath
  }),
  clusterDomain,
  relistInterval,
  healthAddress: setting({
    flag: "health-address",
    says: "where /livez, /readyz and /metrics are served",
    otherwise: "127.0.0.1:51008",
    accepts: "host:port, :port, [IPv6]:port, or off",
    read: anAddress
  }),
  logFormat
})

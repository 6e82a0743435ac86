/**
 * What the wrapper is told when it starts; flags and variables as in settings.ts.
 */
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import type { ServerOptions } from "node:https"
import { createSecureContext } from "node:tls"
import {
  type Access,
  access,
  aDuration,
  type Address,
  anAddress,
  aSwitch,
  aText,
  DAY_S,
  logFormat,
  Misconfigured,
  nodeName,
  relistInterval,
  setting,
  someDurations
} from "./settings.ts"
import { why } from "./why.ts"

export interface WrapperSettings {
  readonly access: Access
  readonly node: string
  readonly listen: Address
  /** undefined: off */
  readonly dnsListen: Address | undefined
  /** paths; empty: none */
  readonly tlsCert: string
  readonly tlsKey: string
  readonly tlsClientCa: string
  /** the folder of the snapshot; undefined: off */
  readonly snapshot: string | undefined
  /** seconds */
  readonly snapshotInterval: number
  /** seconds */
  readonly relistInterval: number
  readonly mostWatches: number
  readonly logRequests: boolean
  /** the folder where profiles go; undefined: off */
  readonly profile: string | undefined
  /** undefined: off */
  readonly healthAddress: Address | undefined
  readonly logFormat: "json" | "text"
}

const anAddressAlways = (text: string): { readonly value: Address } | undefined => {
  const read = anAddress(text)
  return read?.value === undefined ? undefined : { value: read.value }
}

const aFolder = (text: string): { readonly value: string | undefined } => ({
  value: text === "off" ? undefined : text
})

const aNumber =
  (least: number, most: number) =>
  (text: string): { readonly value: number } | undefined => {
    const value = /^\d{1,7}$/.test(text) ? Number(text) : -1
    return value >= least && value <= most ? { value } : undefined
  }

const file = (flag: string, says: string): Options.Options<string> =>
  setting({ flag, says, otherwise: "", accepts: "a path", read: aText })

/** Every flag of the wrapper. */
export const wrapperOptions: Options.Options<WrapperSettings> = Options.all({
  access,
  node: nodeName("the name of the Node whose surroundings are shown"),
  listen: setting({
    flag: "listen",
    says: "where kube-proxy and CoreDNS are served",
    otherwise: "127.0.0.1:51006",
    accepts: "host:port or [IPv6]:port; anything but loopback needs --tls-client-ca-file",
    read: anAddressAlways
  }),
  dnsListen: setting({
    flag: "dns-listen",
    says: "where a CoreDNS is served that gives the pods of StatefulSetGrids their short names in this node's units, too",
    otherwise: "off",
    accepts: "host:port, [IPv6]:port, or off; anything but loopback needs --tls-client-ca-file",
    read: anAddress
  }),
  tlsCert: file(
    "tls-cert-file",
    "the certificate to serve with, read once, at the start; without it plain HTTP"
  ),
  tlsKey: file("tls-key-file", "the key of that certificate"),
  tlsClientCa: file(
    "tls-client-ca-file",
    "who signed the certificates that clients have to show; without it none is asked for"
  ),
  snapshot: setting({
    flag: "snapshot",
    says: "the folder that keeps what was seen last, for a start without the API server",
    otherwise: "/var/lib/servicegroup",
    accepts: "a folder, or off",
    read: aFolder
  }),
  snapshotInterval: setting({
    flag: "snapshot-interval",
    says: "how often it is written at most while things change; it is written at once when the API server is lost, and on stop",
    otherwise: "5m",
    accepts: `${someDurations}, from 1s to 24h`,
    read: aDuration(1, DAY_S)
  }),
  relistInterval,
  mostWatches: setting({
    flag: "most-watches",
    says: "how many watches may be open at each address; more are told 429",
    otherwise: "1000",
    accepts: "a number from 1 to 100000",
    read: aNumber(1, 100_000)
  }),
  logRequests: setting({
    flag: "log-requests",
    says: "log each request once it is over",
    otherwise: "off",
    accepts: "on or off",
    read: aSwitch
  }),
  profile: setting({
    flag: "profile",
    says: "a folder to which SIGUSR2 writes half a minute's CPU profile and what the memory is used for",
    otherwise: "off",
    accepts: "a folder, or off",
    read: aFolder
  }),
  healthAddress: setting({
    flag: "health-address",
    says: "where /livez, /readyz and /metrics are served",
    otherwise: "127.0.0.1:51007",
    accepts: "host:port, :port, [IPv6]:port, or off",
    read: anAddress
  }),
  logFormat
})

const LOOPBACK = /^(?:127\.|localhost$|::1$)/

/** What to serve with, or undefined for plain HTTP; fails where that would let others in than the machine itself. */
export const tls = (o: WrapperSettings): Effect.Effect<ServerOptions | undefined, Misconfigured> =>
  Effect.gen(function* () {
    const plain = o.tlsCert === "" && o.tlsKey === ""
    if (plain !== (o.tlsCert === "" || o.tlsKey === ""))
      return yield* new Misconfigured({
        message: "--tls-cert-file and --tls-key-file go together: one of them is missing"
      })
    if (plain && o.tlsClientCa !== "")
      return yield* new Misconfigured({
        message: "--tls-client-ca-file needs --tls-cert-file and --tls-key-file"
      })
    for (const [flag, address] of [
      ["listen", o.listen],
      ["dns-listen", o.dnsListen]
    ] as const)
      if (address !== undefined && !LOOPBACK.test(address.host ?? "") && o.tlsClientCa === "")
        return yield* new Misconfigured({
          message: `--${flag} ${address.text} is no loopback address: whoever reaches it would be served. Listen on 127.0.0.1, or give --tls-cert-file, --tls-key-file and --tls-client-ca-file`
        })
    if (plain) return undefined
    const cert = yield* read("tls-cert-file", o.tlsCert, (pem) => createSecureContext({ cert: whole(pem) }))
    const key = yield* read("tls-key-file", o.tlsKey, (pem) => {
      if (new X509Certificate(cert).checkPrivateKey(keyIn(pem))) return
      throw new Error(`it is not the key of --tls-cert-file ${o.tlsCert}`)
    })
    if (o.tlsClientCa === "") return { cert, key }
    const ca = yield* read("tls-client-ca-file", o.tlsClientCa, whole)
    return { cert, key, ca, requestCert: true, rejectUnauthorized: true }
  })

/** The bytes of a file; fails where they can't be read, or the check throws. */
const read = (
  flag: string,
  path: string,
  check: (pem: Buffer) => unknown
): Effect.Effect<Buffer, Misconfigured> =>
  Effect.try({
    try: () => {
      const pem = readFileSync(path)
      check(pem)
      return pem
    },
    catch: (error) => new Misconfigured({ message: `--${flag} ${path}: ${why(error)}` })
  })

/** The same bytes, if each certificate in them can be read. Where authorities are expected, Node passes over what it can't read, and then lets nobody in. */
const whole = (pem: Buffer): Buffer => {
  const each = pem.toString("latin1").match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g)
  if (each === null) throw new Error("there is no whole certificate in it (PEM)")
  for (const one of each) new X509Certificate(one)
  return pem
}

const keyIn = (pem: Buffer): KeyObject => {
  try {
    return createPrivateKey(pem)
  } catch (error) {
    throw new Error(`there is no key in it that can be read (PEM, without a passphrase): ${why(error)}`)
  }
}

/** Certificates made on the spot, in DER by hand, so that no private key lies in the repository. */
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto"

export interface Certified {
  /** PEM */
  readonly cert: string
  /** PEM */
  readonly key: string
}

/** An authority: signs for 127.0.0.1, further IPv4 addresses, and `server.test`, under a common name. */
export interface Authority {
  readonly cert: string
  readonly certify: (commonName: string, addresses?: readonly string[]) => Certified
}

export const authority = (commonName: string): Authority => {
  const pair = keys()
  const isAuthority = extension([0x55, 0x1d, 0x13], true, sequence(der(0x01, Buffer.from([0xff]))))
  const issue = (subject: string, publicKey: KeyObject, extensions: Buffer): string =>
    pem(certificate(commonName, subject, publicKey, extensions, pair.privateKey))
  return {
    cert: issue(commonName, pair.publicKey, isAuthority),
    certify: (name, addresses = []) => {
      const leaf = keys()
      const bytes = (address: string): Buffer => Buffer.from(address.split(".").map(Number))
      const places = ["127.0.0.1", ...addresses].map((address) => der(0x87, bytes(address)))
      const names = sequence(...places, der(0x82, Buffer.from("server.test")))
      return {
        cert: issue(name, leaf.publicKey, extension([0x55, 0x1d, 0x11], false, names)),
        key: leaf.privateKey.export({ type: "pkcs8", format: "pem" }) as string
      }
    }
  }
}

const keys = (): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } =>
  generateKeyPairSync("ec", { namedCurve: "P-256" })

const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  const size = body.length
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}
const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts)
const oid = (...bytes: readonly number[]): Buffer => der(0x06, Buffer.from(bytes))
const time = (text: string): Buffer => der(0x18, Buffer.from(text))
const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))

const nameOf = (commonName: string): Buffer =>
  sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(commonName)))))

const extension = (id: readonly number[], critical: boolean, value: Buffer): Buffer =>
  sequence(oid(...id), ...(critical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value))

let serial = 0

const certificate = (
  issuer: string,
  subject: string,
  publicKey: KeyObject,
  extensions: Buffer,
  by: KeyObject
): Buffer => {
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1, ++serial])),
    ecdsaWithSha256,
    nameOf(issuer),
    sequence(time("20200101000000Z"), time("21200101000000Z")),
    nameOf(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(extensions))
  )
  const signature = sign("sha256", body, createPrivateKey(by.export({ type: "pkcs8", format: "pem" })))
  return sequence(body, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature))
}

const pem = (bytes: Buffer): string => {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? []
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n")
}
